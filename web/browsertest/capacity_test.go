package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// The calculator needs no script and no mouse: from the first page by Tab to its link, into a field, and Enter.
func TestCapacityByKeysWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.size(320, 800)
	b.openPlain("/")
	b.focus("main a[href='/capacity']")
	b.press(kb.Enter)
	b.waitText("h1", "Capacity")
	b.waitText("#results", "42 min 52 s")

	b.paste("#set-consumers", "5")
	b.press(kb.Enter)
	b.waitAddress("/capacity?consumers=5")
	b.waitText("#results", "never")
	b.waitFor("Math.abs(document.querySelector('#results').getBoundingClientRect().top) < innerHeight / 2")

	// The browser holds the bounds by itself; an address that was written by hand gets its answer at the field.
	b.openPlain("/capacity?consumers=0")
	b.expect("400 (Bad Request)")
	b.waitText("#set-consumers-wrong", `consumers is "0": a whole number from 1 to 100,000 is allowed.`)
	b.click("#results a[href='#set-consumers']")
	b.paste("#set-consumers", "10")
	b.click("#capacity button")
	b.waitText("#results", "1 h")
}

// The results and the form with mistakes pass axe-core in every look and width, and are no wider than the window, at the
// largest numbers too.
func TestCapacityIsAccessible(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	states := []state{
		{name: "capacity", address: "/capacity?rate=50000&partitions=6000&consumers=3&downtime=43200"},
		{name: "capacity-largest", address: "/capacity?rate=10000000&size=1048576&compressed=100&peak=10000&retention=87600&partitions=200000&groups=1000&consumers=100000&speed=10000000&downtime=43200"},
		{name: "capacity-wrong", address: "/capacity?rate=0&rf=7&peak=" + strings.Repeat("9", 400), complaint: "400 (Bad Request)"},
	}
	for _, s := range states {
		checkWidth(b, s.name, s.address)
		if s.complaint != "" {
			b.expect(s.complaint) // of every width
		}
	}
	checkAccessibleOn(t, site, states)
}
