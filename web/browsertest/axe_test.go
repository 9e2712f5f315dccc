package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// state is a page that is worth looking at in every look and size.
type state struct{ name, address, complaint string }

var states = []state{
	{name: "home", address: "/"},
	{name: "lab-start", address: explorer},
	{name: "lab-record", address: explorer + "&partitions=6&do=3:pause+c1&do=30:resume+c1&t=12&at=record:orders-2:1"},
	{name: "lab-rejected", address: explorer + "&do=3:pause+c9&do=4:produce+p0+zebra&t=9&why=200"},
	{name: "glossary", address: "/glossary"},
	{name: "term", address: "/glossary/leader-epoch"},
	{name: "error", address: explorer + "&t=9999", complaint: "400 (Bad Request)"},
}

// look is a way a page can look.
type look struct {
	name, system string // what the reader's system asks for
	theme        string // what the address asks for; "" follows the system
}

// looks has one for each theme; that of an address must win over that of the system.
var looks = []look{
	{name: "light", system: "light"},
	{name: "dark", system: "dark"},
	{name: "light-on-dark", system: "dark", theme: "light"},
	{name: "dark-on-light", system: "light", theme: "dark"},
	{name: "projector", system: "light", theme: "projector"},
}

// in is the state's address in a look; only labs have themes of their own.
func (s state) in(l look) (address string, ok bool) {
	if l.theme == "" {
		return s.address, true
	}
	return s.address + "&theme=" + l.theme, strings.HasPrefix(s.name, "lab-")
}

// TestAccessibility runs axe-core on every state, in every look, on a wide and a narrow window.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(filepath.Join("..", "..", "third_party", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("the accessibility checker is missing: run `make test`, or `go run ./tools/fetchassets axe` (%v)", err)
	}
	site := serve(t)
	for _, width := range []int{320, 1280} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			b := newTab(t, site.url)
			b.size(width, 800)
			// The browser's protocol adds a script to each page; the page's policy does not bind it.
			b.call(func(ctx context.Context) error {
				_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: string(axe)})
				return err
			})
			for _, s := range states {
				for _, l := range looks {
					address, ok := s.in(l)
					if !ok {
						continue
					}
					b.media("prefers-color-scheme", l.system, "prefers-reduced-motion", "reduce")
					b.open(address)
					if s.complaint != "" {
						b.expect(s.complaint)
					}
					for _, violation := range violations(b) {
						t.Errorf("%s, %s: %s", s.name, l.name, violation)
					}
					b.shot(fmt.Sprintf("%s-%s-%d", s.name, l.name, width))
				}
			}
		})
	}
}

// violations are what axe-core finds wrong with the page, sorted.
func violations(b *tab) []string {
	b.t.Helper()
	found := eval[[]string](b, `axe.run({ resultTypes: ['violations'] }).then(result => result.violations.map(v =>
		v.id + ', ' + v.impact + ': ' + v.help + '\n' + v.nodes.slice(0, 3).map(n => '  ' + n.html.slice(0, 200) + '\n    ' + n.any.concat(n.all, n.none).map(c => c.message).join('; ')).join('\n')))`)
	slices.Sort(found)
	return found
}
