package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// control is what a learner who presses Tab lands on.
type control struct {
	Index   int     // among all controls of the page; -1: none of them
	Name    string  // the beginning of its HTML; "" past the last one
	Ring    bool    // it is drawn as the one with the focus
	Covered string  // what covers it; "" when it can be seen
	Panel   float64 // where the panel around it begins, in pixels from the top of the page; -1: in none
}

// TestTabReachesEverything goes through the page by Tab alone.
func TestTabReachesEverything(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		width int
		look  string
	}{"wide": {1280, ""}, "narrow": {320, ""}, "projector": {1280, "&size=projector"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, serve(t).url)
			b.media("prefers-reduced-motion", "reduce")
			b.size(test.width, 800)
			b.open(explorer + "&do=3:pause+c1&do=5:pause+c9&t=8&at=record:orders-2:1" + test.look)
			names := findControls(b)
			if len(names) < 50 {
				t.Fatalf("the page has %d controls; there must be more", len(names))
			}
			reached := make([]bool, len(names))
			last := control{Panel: -1}
			for range names {
				c := nextControl(b)
				if c.Name == "" {
					break
				}
				switch {
				case c.Index < 0:
					t.Fatalf("Tab leads to %s, which is no control", c.Name)
				case reached[c.Index]:
					t.Errorf("Tab leads a second time to %s", c.Name)
				case !c.Ring:
					t.Errorf("the focus cannot be seen on %s", c.Name)
				case c.Covered != "":
					t.Errorf("%s has the focus and is covered by %s", c.Name, c.Covered)
				case test.width == 320 && c.Panel >= 0 && c.Panel < last.Panel: // one panel stands below the other
					t.Errorf("Tab leads up from %s to %s", last.Name, c.Name)
				}
				reached[c.Index] = true
				last = c
			}
			for i, name := range names {
				if !reached[i] {
					t.Errorf("Tab never leads to %s", name)
				}
			}
		})
	}
}

// findControls lists what can be operated, and keeps it in the page for nextControl. The bytes of a field that go on in the
// next line are one control: Tab leads to their first.
func findControls(b *tab) (names []string) {
	b.t.Helper()
	return eval[[]string](b, `(() => {
		const can = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]'
		window.controls = [...document.querySelectorAll(can)].filter(e => e.checkVisibility({ visibilityProperty: true }) && !e.disabled)
		const first = field => document.querySelector('a.b:not([tabindex])[data-field="' + field + '"]')
		window.controls = controls.filter(e => !(e.matches('a.b[tabindex="-1"]') && first(e.dataset.field)))
		return controls.map(e => e.outerHTML.slice(0, 100))
	})()`)
}

// nextControl presses Tab.
func nextControl(b *tab) control {
	b.t.Helper()
	b.press(kb.Tab)
	return eval[control](b, `(() => {
		const element = document.activeElement, style = getComputedStyle(element), box = element.getClientRects()[0] ?? new DOMRect()
		const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
		const panel = element.closest('#lab .panel, #lab .card')
		return {
			Index: controls.indexOf(element), Name: element === document.body ? '' : element.outerHTML.slice(0, 100),
			Ring: element.matches(':focus-visible') && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
			Covered: element.contains(top) ? '' : top?.outerHTML.slice(0, 100) ?? 'the edge of the window',
			Panel: panel ? Math.round(panel.getBoundingClientRect().top + scrollY) : -1,
		}
	})()`)
}

func TestShortcuts(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	b.open(explorer + "&t=5&pace=10")
	for _, stroke := range []struct {
		key  string
		tick int
	}{{kb.ArrowRight, 6}, {kb.ArrowLeft, 5}, {kb.ArrowLeft, 4}, {kb.End, 20}, {kb.Home, 0}, {kb.ArrowRight, 1}} {
		b.press(stroke.key)
		b.waitTick(stroke.tick)
	}
	b.press(" ")
	b.waitFor(shownTick + " >= 3")
	b.press(" ")
	b.waitFor("document.querySelector('#play').textContent === 'Play'")

	b.press("?")
	b.waitFor("document.querySelector('#help').open")
	b.waitText("#help", "step back")
	b.press("?")
	b.waitFor("!document.querySelector('#help').open")
	b.press("?")
	b.press(kb.Escape)
	b.waitFor("!document.querySelector('#help').open")
	if id := b.focused(); id == "body" {
		t.Error("closing the list of keys loses the focus")
	}

	// With another key held they are the browser's own.
	tick := b.tick()
	b.press(kb.ArrowRight, chromedp.ModifierCtrl)
	b.press(kb.End, chromedp.ModifierShift)
	b.press(kb.ArrowRight)
	b.waitTick(tick + 1)
}

func TestEnterOnACell(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	b.open(explorer + "&t=8")
	const cell = "#strip-orders-2 .cell[data-offset='3']"
	b.focus(cell)
	id := b.focused()
	b.press(kb.Enter)
	b.waitText("#inspector-title", "orders-2 3")
	if got := b.focused(); got != id {
		t.Errorf("the focus is on %q after the inspector opened, want the cell %s", got, id)
	}
	b.waitFor(fmt.Sprintf("document.querySelector(%s).ariaCurrent === 'true'", quote(cell)))

	// The space bar presses the button that has the focus and does not play.
	b.press(kb.Tab)
	b.press(" ")
	b.waitText("#inspector-title", "orders-2 4")
	if site.streams.Load() != 0 || b.text("#play") != "Play" {
		t.Error("the space bar on a record began to play")
	}

	// Enter on a focused control of the transport, over and over.
	b.focus("#step")
	for range 5 {
		b.press(kb.Enter)
	}
	b.waitTick(13)
	if got := b.focused(); got != "step" {
		t.Errorf("the focus is on %q, want step", got)
	}
}

// What is typed into a field is no shortcut, and a morph leaves it alone.
func TestTypingIsNoShortcut(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	b.open(explorer + "&t=5")
	frames := site.frames.Load()
	for _, field := range []string{"#set-own-keys", "#command-do", "#set-partitions", "#set-assignor"} {
		b.click(field)
		b.press("? 1" + kb.ArrowLeft + kb.ArrowRight + kb.Home + kb.End)
	}
	if eval[bool](b, "document.querySelector('#help').open") {
		t.Error("a question mark typed into a field opened the list of keys")
	}
	if got := eval[string](b, "document.querySelector('#set-own-keys').value"); got != "? 1" {
		t.Errorf("the field holds %q, want %q", got, "? 1")
	}
	if got := site.frames.Load(); got != frames || b.tick() != 5 {
		t.Errorf("typing asked for %d frames and shows tick %d", got-frames, b.tick())
	}
}

// Text that is typed and not yet sent stays over steps and over the frames of a stream; sent at last, it
// goes along with the tick then shown.
func TestTypedTextStays(t *testing.T) {
	t.Parallel()
	for field, text := range map[string]string{
		"#set-partitions": "9",
		"#set-own-keys":   "plum",
		"#command-do":     "9:produce p0 plum",
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, serve(t).url)
			b.open(explorer + "&t=5&pace=10")
			b.paste(field, text)
			check := func(when string) {
				t.Helper()
				if got := eval[string](b, fmt.Sprintf("document.querySelector(%s).value", quote(field))); got != text {
					t.Errorf("%s the field holds %q, want %q", when, got, text)
				}
			}
			b.click("#step")
			b.waitTick(6)
			check("after a step")
			b.click("#play")
			b.waitFor(shownTick + " >= 7")
			b.focus(field)
			b.waitFor(shownTick + " >= 9")
			check("while playing")
			if got := b.focused(); "#"+got != field {
				t.Errorf("while playing the focus is on %q, want %s", got, field)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=5")
	entries := b.entries()
	b.paste("#set-partitions", "7")
	b.press(kb.ArrowUp) // 8
	b.click("#step")    // the form still holds the 8, and the tick of the frame then shown
	b.waitTick(6)
	b.click("#set-partitions")
	b.press(kb.Enter)
	b.waitAddress(explorer + "&partitions=8&t=6")
	b.waitText("#picture-title", "8 partitions")
	if got := b.count(".lane"); got != 8 {
		t.Errorf("%d partitions are drawn, want 8", got)
	}
	if n := b.entries(); n != entries+1 {
		t.Errorf("the history had %d entries and has %d, want one more", entries, n)
	}
	b.focus("#set-assignor")
	b.press("roundrobin") // a list is chosen from by typing
	b.click("#setup button")
	b.waitAddress(explorer + "&partitions=8&assignor=roundrobin&t=6")
	b.back()
	b.waitAddress(explorer + "&partitions=8&t=6")
	b.waitFor("document.querySelector('#set-assignor').value === 'range'")
}
