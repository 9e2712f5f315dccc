package ui

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"loglab/labs/view"
)

// mode says what of a frame can be operated.
type mode struct {
	still    bool // nothing: links are words
	closed   bool // there is no inspector: records, members and messages open nothing
	embedded bool // what leads out of the lab opens a window of its own
}

type modeKey struct{}

// WithMode gives the context in which the pieces of p are drawn. Without it everything can be operated.
func WithMode(ctx context.Context, p *view.Page) context.Context {
	return context.WithValue(ctx, modeKey{}, mode{still: p.Still, closed: p.Still || p.Minimal, embedded: p.Embedded})
}

func modeOf(ctx context.Context) mode {
	m, _ := ctx.Value(modeKey{}).(mode)
	return m
}

// away is what a link needs that would lead a frame in another site's page out of the lab: the other pages
// may not be framed.
func away(ctx context.Context, href string) templ.OrderedAttributes {
	if !modeOf(ctx).embedded || strings.HasPrefix(href, "/embed/") || strings.HasPrefix(href, "#") {
		return nil
	}
	return templ.OrderedAttributes{{Key: "target", Value: "_blank"}, {Key: "rel", Value: "noopener"}}
}

// scrollable is what a box needs that may scroll and holds no control of its own, so that keys can scroll it.
func scrollable(ctx context.Context) templ.OrderedAttributes {
	if m := modeOf(ctx); !m.closed || m.still {
		return nil
	}
	return templ.OrderedAttributes{{Key: "tabindex", Value: "0"}}
}

// leads says whether an address in prose leads to anything: without an inspector no causes can be shown.
func leads(ctx context.Context, href string) bool {
	m := modeOf(ctx)
	return href != "" && !m.still && !(m.closed && strings.Contains(href, "&why="))
}
