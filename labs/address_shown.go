package labs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/labs/view"
)

// Range is the ticks that an address lets be shown, both ends included. The zero Range stands for all.
type Range struct{ From, To int }

// String gives the text in an address, "12..18"; empty for the zero Range.
func (r Range) String() string {
	if r == (Range{}) {
		return ""
	}
	return fmt.Sprintf("%d..%d", r.From, r.To)
}

// parseRange reads the text in an address. The first tick is smaller than the last.
func parseRange(text string) (r Range, ok bool) {
	from, to, ok := strings.Cut(text, "..")
	for _, end := range []struct {
		text string
		tick *int
	}{{from, &r.From}, {to, &r.To}} {
		n, err := strconv.ParseUint(end.text, 10, 16)
		ok = ok && err == nil
		*end.tick = int(n)
	}
	return r, ok && r.From < r.To && r.To <= MaxTick
}

// What a frame can look like, besides what it shows.
var (
	themes  = []string{"light", "dark"} // else the reader's system decides
	sizes   = []string{"projector"}     // large, for the back of a room
	chromes = []string{"minimal"}       // transport, picture and reading
	stills  = []string{"1"}
)

// setShown takes a parameter that says how much of a frame is shown, and how.
func (a *Address) setShown(name, value string) error {
	allow := func(values []string) error {
		if slices.Contains(values, value) {
			return nil
		}
		verb := "allowed are "
		if len(values) == 1 {
			verb = "allowed is "
		}
		return refuse(name, value, verb+strings.Join(values, ", "))
	}
	switch name {
	case "range":
		r, ok := parseRange(value)
		if !ok {
			return refuse(name, value, fmt.Sprintf("FROM..TO is allowed, two ticks from 0 to %d, the first before the last, as in 12..18", MaxTick))
		}
		a.Range = r
		return nil
	case "theme":
		a.Theme = value
		return allow(themes)
	case "size":
		a.Size = value
		return allow(sizes)
	case "still":
		a.Still = true
		return allow(stills)
	case "chrome":
		a.Chrome = value
		return allow(chromes)
	}
	panic("labs: setShown of " + name)
}

// stayInRange moves the tick shown to the nearest of the range, and the horizon to its end: a range says
// where playing ends, so an address with one has no horizon of its own.
func (a *Address) stayInRange() {
	if a.Range != (Range{}) {
		a.Horizon = a.Range.To
		*a = a.WithTick(a.T)
	}
}

// First is the smallest tick that can be shown.
func (a Address) First() int { return a.Range.From }

// Last is the greatest tick that can be shown.
func (a Address) Last() int {
	if a.Range != (Range{}) {
		return a.Range.To
	}
	return MaxTick
}

// WithTheme gives the same frame in another look.
func (a Address) WithTheme(theme string) Address {
	a.Theme = theme
	return a
}

// WithSize gives the same frame in another size.
func (a Address) WithSize(size string) Address {
	a.Size = size
	return a
}

// Whole gives the same frame on the lab's own page, with all of its controls and every tick.
func (a Address) Whole() Address {
	if a.Range != (Range{}) {
		a.Range, a.Horizon = Range{}, max(a.standardHorizon(), a.Range.To)
	}
	a.Site, a.Still, a.Chrome = Pages, false, ""
	return a
}

// themeLinks lets the reader choose the colours of the page.
func themeLinks(a Address) []view.Link {
	return choices(a, "look-", "system", themes, Address.WithTheme)
}

// sizeLinks lets the reader choose how large the page is.
func sizeLinks(a Address) []view.Link { return choices(a, "size-", "normal", sizes, Address.WithSize) }

// choices leads to the same frame with each of some values and, under the name of standard, with none; the
// one in use is inactive.
func choices(a Address, id, standard string, values []string, with func(Address, string) Address) []view.Link {
	list := []view.Link{Replace(id+standard, standard, with(a, ""))}
	for _, value := range values {
		list = append(list, Replace(id+value, value, with(a, value)))
	}
	here := a.String()
	for i := range list {
		list[i].Inactive = list[i].Href == here
	}
	return list
}

// whole leads to the lab's own page, where that shows more than the page of the address; nil: it does not.
func whole(a Address) *view.Link {
	to := a.Whole()
	if to.String() == a.String() {
		return nil
	}
	text := "Show the whole lab at this tick"
	if a.Site == Embeds {
		text = "Open this frame in Log Lab"
	}
	return &view.Link{ID: "whole", Text: text, Href: to.String()}
}
