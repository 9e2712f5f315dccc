package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// embedded is the start of the lab for another site's page.
const embedded = "/embed" + explorer

// sandboxes are the ways in which an author's system lets a frame run scripts.
var sandboxes = map[string]string{
	"plain":       "",
	"same-origin": "allow-scripts allow-forms allow-same-origin",
	"opaque":      "allow-scripts allow-forms", // its origin is null, also for its own server
}

// In another site's page the lab does all it does, and leaves that page's history alone.
func TestEmbeddedInAnotherSite(t *testing.T) {
	t.Parallel()
	for name, sandbox := range sandboxes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host(t, func(app string) string { return iframe("lab", app+embedded+"&pace=10", sandbox) })
			f := h.frame("lab")
			f.ready()
			entries := h.entries()
			f.click("#step")
			f.untilTick(1)
			f.click("#step")
			f.click("#back")
			f.untilTick(1)
			f.untilAddress(embedded + "&t=1&pace=10")
			f.click("#do-pause-c1") // at a page of its own this would be an entry of the history
			f.untilAddress(embedded + "&do=1:pause+c1&t=1&pace=10")
			f.click("#preset-more")
			f.until("document.querySelector('#picture-title').textContent.includes('6 partitions')")
			f.click("#reading a[href*='partitions=7']") // a link in prose
			f.untilAddress(embedded + "&partitions=7&baseline=6&do=1:pause+c1&t=1&pace=10")
			f.click("#play")
			f.until("document.querySelector('#play').textContent === 'Pause'")
			f.untilTick(20)
			f.until("document.querySelector('#play').textContent === 'Play'")
			f.click("#strip-orders-2 .cell[data-offset='0']")
			f.until("document.querySelector('#inspector-title').textContent.startsWith('Record orders-2 0')")
			f.click("#set-partitions")
			h.press(kb.End + kb.Backspace + "3")
			h.press(kb.Enter)
			f.until("document.querySelector('#picture-title').textContent.includes('3 partitions')")
			f.untilAddress(embedded + "&partitions=3&baseline=6&do=1:pause+c1&t=20&pace=10")
			f.click("#set-own-keys")
			h.press("zebra")
			f.click("#own-keys button") // posted, and answered with an address
			f.untilAddress(embedded + "&partitions=3&baseline=6&keys=zebra&do=1:pause+c1&t=20&pace=10")
			f.until("document.querySelector('#keys').textContent.includes('zebra')")
			if n := h.entries(); n != entries {
				t.Errorf("the history of the page around had %d entries and has %d", entries, n)
			}
			if got, want := evalIn[string](f, "document.querySelector('#whole').href"), h.app+explorer+"&partitions=3&baseline=6&keys=zebra&do=1:pause+c1&t=20&pace=10"; got != want {
				t.Errorf("the link to the lab leads to %s, want %s", got, want)
			}
			if f.name == "lab" {
				h.shot("host-" + name)
			}
		})
	}
}

// Where a frame may run no script, its links and forms still work.
func TestEmbeddedWithoutScripts(t *testing.T) {
	t.Parallel()
	h := host(t, func(app string) string { return iframe("lab", app+embedded, "allow-forms") })
	f := h.frame("lab")
	f.until("document.querySelector('#lab')")
	f.click("#step")
	f.untilAddress(embedded + "&t=1")
	f.click("#play")
	f.untilTick(20)
	f.click("#set-partitions")
	h.press(kb.End + kb.Backspace + "3")
	h.press(kb.Enter)
	f.untilAddress(embedded + "&partitions=3&t=20")
	f.until("document.readyState === 'complete'")
	h.expect("Blocked script execution")
}

// Nine frames share the six connections that a browser has to a server without TLS. All play, and a step
// in one is answered while they do, whether or not the frames may know of each other.
func TestNineEmbedsOnOnePage(t *testing.T) {
	t.Parallel()
	name := func(i int) string { return fmt.Sprintf("lab%d", i) }
	h := host(t, func(app string) string {
		var frames strings.Builder
		for i := range 9 {
			sandbox := []string{"", sandboxes["opaque"]}[i%2]
			frame := iframe(name(i), fmt.Sprintf("%s%s&seed=%d&horizon=2000&pace=5&chrome=minimal", app, embedded, i+2), sandbox)
			frames.WriteString(strings.NewReplacer("<p>", "", "</p>", "", `width="900" height="600"`, `width="400" height="250"`).Replace(frame))
		}
		return frames.String()
	})
	h.size(1280, 900) // all of them are in sight
	for i := range 9 {
		h.frame(name(i)).ready()
	}
	for i := range 9 {
		h.frame(name(i)).click("#play")
	}
	for i := range 9 {
		h.frame(name(i)).until("document.querySelector('#play').textContent === 'Pause' && " + shownTick + " > 1")
	}
	last := h.frame(name(8))
	last.click("#play") // pauses
	last.until("document.querySelector('#play').textContent === 'Play'")
	at := evalIn[int](last, shownTick)
	last.click("#step")
	last.untilTick(at + 1)
	last.click("#step")
	last.untilTick(at + 2)
	for i := range 8 {
		f := h.frame(name(i))
		at := evalIn[int](f, shownTick)
		f.until(fmt.Sprintf("document.querySelector('#play').textContent === 'Pause' && %s > %d", shownTick, at))
	}
	if n := h.server.streams.Load(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
	h.shot("host-nine")
}

// What plays out of sight waits, and goes on where it was.
func TestAnEmbedScrolledAwayWaits(t *testing.T) {
	t.Parallel()
	h := host(t, func(app string) string {
		return iframe("lab", app+embedded+"&horizon=2000&pace=10", "") + strings.Repeat("<p>words</p>", 300)
	})
	f := h.frame("lab")
	f.ready()
	f.click("#play")
	f.until(shownTick + " > 2")
	eval[bool](h.tab, "scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }), true")
	h.poll("no frame is asked for", func() (bool, error) {
		before := h.server.frames.Load()
		evalIn[int](f, "new Promise(resolve => setTimeout(resolve, 500, 0))")
		return h.server.frames.Load() == before, nil
	})
	at := evalIn[int](f, shownTick)
	eval[bool](h.tab, "scrollTo({ top: 0, behavior: 'instant' }), true")
	f.until(fmt.Sprintf("%s > %d", shownTick, at))
}

// Chromium stops at every frame, even an empty one, unless the page around it says otherwise; the code to copy
// does, for a still.
func TestAStillTakesNoFocusAndNoKeys(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.openPlain(explorer + "&t=12&still=1")
	code := eval[string](b, "document.querySelector('#share-embed').value")
	h := host(t, func(app string) string {
		return `<button id="before">before</button>` + strings.NewReplacer("<iframe ", `<iframe name="lab" `, b.site, app).Replace(code) + `<button id="after">after</button>`
	})
	f := h.frame("lab")
	f.ready()
	h.focus("#before")
	h.press(kb.Tab)
	if got := h.focused(); got != "after" {
		t.Errorf("after Tab the focus is on %s, want it past the picture", got)
	}
	f.click(".cell")
	h.press(kb.ArrowRight + kb.End + " ")
	if got := evalIn[string](f, "document.activeElement.localName"); got != "body" {
		t.Errorf("in the still %s has the focus", got)
	}
	f.untilTick(12)
	if n := h.server.frames.Load(); n != 0 {
		t.Errorf("%d frames were asked for", n)
	}
	for _, width := range []int{320, 900} {
		h.size(width+40, 800)
		eval[bool](h.tab, fmt.Sprintf("document.querySelector('iframe').width = %d, true", width))
		if got := evalIn[[]string](f, "[...document.querySelectorAll('*')].filter(e => /auto|scroll/.test(getComputedStyle(e).overflow)).map(e => e.className)"); len(got) > 0 {
			t.Errorf("%d px wide, these boxes scroll and so take keys: %q", width, got)
		}
	}
}

// No key, press or play leaves the ticks of a range.
func TestARangeIsNotLeft(t *testing.T) {
	t.Parallel()
	h := host(t, func(app string) string {
		return iframe("lab", app+"/embed/lab/partitions?range=12..14&pace=10", "")
	})
	f := h.frame("lab")
	f.ready()
	f.untilAddress(embedded + "&t=12&range=12..14&pace=10")
	f.click("#say") // the focus goes into the frame
	for _, test := range []struct {
		key  string
		tick int
	}{
		{kb.ArrowLeft, 12}, {kb.Home, 12}, {kb.ArrowRight, 13}, {kb.End, 14}, {kb.ArrowRight, 14}, {kb.ArrowLeft, 13},
		{strings.Repeat(kb.ArrowRight, 5), 14}, {strings.Repeat(kb.ArrowLeft, 5), 12}, {" ", 14},
	} {
		h.press(test.key)
		f.untilTick(test.tick)
		f.until("document.querySelector('#play').textContent === 'Play'")
	}
	f.untilAddress(embedded + "&t=14&range=12..14&pace=10")
	f.click("#jump-t")
	h.press(kb.Home)
	f.untilTick(12)
	h.press(kb.End)
	f.untilTick(14)
}

// The code is that of the frame shown, and works where it is pasted.
func TestCopyEmbed(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	b.open(explorer)
	b.click("#do-pause-c1")
	b.click("#step")
	b.waitAddress(explorer + "&do=0:pause+c1&t=1")
	eval[bool](b, "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { window.copied = text } }, configurable: true }) && true")
	eval[bool](b, keepNotes)
	b.click("#copy-embed")
	b.waitFor(noted("is copied"))
	code := eval[string](b, "window.copied")
	if want := fmt.Sprintf(`<iframe title="Partition explorer, tick 1" src="%s" `, strings.ReplaceAll(site.url+embedded+"&do=0:pause+c1&t=1", "&", "&amp;")); !strings.HasPrefix(code, want) {
		t.Errorf("the code is %s, want it to begin with %s", code, want)
	}
	eval[bool](b, "Object.defineProperty(navigator, 'clipboard', { value: undefined }) && true") // as on plain HTTP
	b.click("#copy-embed")
	b.waitFor(noted("is selected"))
	if got := eval[string](b, "getSelection().toString()"); got != code {
		t.Errorf("selected is %s, want %s", got, code)
	}
	if got := eval[string](b, "document.querySelector('#share-link').value"); got != site.url+explorer+"&do=0:pause+c1&t=1" {
		t.Errorf("the other field has the link %s", got)
	}
	b.shot("copy-embed")
	b.press(kb.Escape)
	b.waitFor("!document.querySelector('#share').open")
	if got := b.focused(); got != "copy" {
		t.Errorf("after Escape the focus is on %s", got)
	}

	h := host(t, func(string) string { return strings.Replace(code, "<iframe ", `<iframe name="lab" `, 1) })
	f := h.frame("lab")
	f.ready()
	f.untilTick(1)
	f.until("document.querySelector('.given').textContent.includes('pause c1')")
}

// An embedded frame gives the link to the lab's own page; a browser that lets it have no clipboard gets a
// selected field.
func TestCopyLinkInAnEmbed(t *testing.T) {
	t.Parallel()
	h := host(t, func(app string) string { return iframe("lab", app+embedded+"&chrome=minimal", sandboxes["opaque"]) })
	f := h.frame("lab")
	f.ready()
	f.click("#step")
	f.untilTick(1)
	evalIn[bool](f, keepNotes)
	f.click("#copy")
	f.until(noted("is selected"))
	if got, want := evalIn[string](f, "document.querySelector('#share-link').value"), h.app+explorer+"&t=1"; got != want {
		t.Errorf("the link is %s, want %s", got, want)
	}
}
