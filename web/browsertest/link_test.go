package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// addresses are states worth linking to.
var addresses = []string{
	explorer,
	explorer + "&t=7",
	explorer + "&partitions=7&consumers=3&assignor=roundrobin&t=12&at=record:orders-1:2",
	explorer + "&keyless=round-robin&keys=0&seed=42&t=9",
	explorer + "&keys=0&seed=7&t=30",
	explorer + "&do=2:pause+c1&do=5:produce+p0+%22%3Cb%3E+%22&do=6:resume+c1&do=9:pause+c9&t=8&at=segment:orders-2:0",
	explorer + "&do=4:wait+1s&t=6&at=message:40&size=projector",
	explorer + "&t=10&why=60",
}

// A link opened at another server, started anew, shows the same frame, byte for byte.
func TestLinkReopenedElsewhere(t *testing.T) {
	t.Parallel()
	one, other := start(t, "127.0.0.1:0"), start(t, "127.0.0.1:0")
	here, there := newTab(t, one.url), newTab(t, other.url)
	const outer = "document.querySelector('#lab').outerHTML"
	for _, address := range addresses {
		if diff := cmp.Diff(get(t, one.url+"/frame"+address), get(t, other.url+"/frame"+address)); diff != "" {
			t.Errorf("%s: the frames of two processes differ (-one +other):\n%s", address, diff)
		}
		here.open(address)
		there.open(address)
		if got := there.address(); got != address {
			t.Errorf("%s is not canonical: the browser shows %s", address, got)
		}
		if diff := cmp.Diff(eval[string](here, outer), eval[string](there, outer)); diff != "" {
			t.Errorf("%s: the pages of two processes differ (-one +other):\n%s", address, diff)
		}
	}
}

// What a learner has come to by pressing is what the link shows to somebody else.
func TestLinkOfAJourney(t *testing.T) {
	t.Parallel()
	one, other := start(t, "127.0.0.1:0"), start(t, "127.0.0.1:0")
	b := newTab(t, one.url)
	b.open(explorer + "&pace=10")
	b.click("#preset-more")
	b.waitText("#picture-title", "6 partitions")
	b.press(kb.End)
	b.waitTick(20)
	b.click("#do-pause-c1")
	b.waitText(".given", "pause c1")
	for range 12 {
		b.press(kb.ArrowRight)
	}
	b.waitTick(32)
	b.press(kb.Home)
	b.waitTick(0)
	b.press(" ")
	b.waitTick(20)
	b.waitFor("document.querySelector('#play').textContent === 'Play'")
	b.click("#strip-orders-2 .cell[data-offset='3']")
	b.waitText("#inspector-title", "orders-2 3")
	link := b.address()
	b.waitAddress(explorer + "&partitions=6&do=20:pause+c1&t=20&at=record:orders-2:3&pace=10")

	// A morph may write attributes in another order, so nodes are compared and not text; the set-up, which
	// stays from frame to frame, by its words and by what its fields hold.
	if same := eval[bool](b, `(async () => {
		const html = await (await fetch('/frame' + location.pathname + location.search)).text()
		const fresh = new DOMParser().parseFromString(html, 'text/html').querySelector('#lab')
		const words = setUp => setUp.textContent + [...setUp.querySelectorAll('input, select, textarea')].map(field => field.name + '=' + field.value).sort()
		const shown = document.querySelector('#lab').cloneNode(true)
		const same = ['#ready-runs', '#set-up'].every(part => words(document.querySelector(part)) === words(fresh.querySelector(part)))
		for (const page of [shown, fresh]) for (const part of page.querySelectorAll('.of-run')) part.remove()
		return same && shown.isEqualNode(fresh)
	})()`); !same {
		t.Error("the page after the journey is not the frame of its address")
	}
	if diff := cmp.Diff(get(t, one.url+"/frame"+link), get(t, other.url+"/frame"+link)); diff != "" {
		t.Errorf("%s: the frames of two processes differ (-one +other):\n%s", link, diff)
	}
}

// What is said of it stays long enough to be read, though frames arrive.
func TestCopyLinkWhilePlaying(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&horizon=2000&pace=10")
	eval[bool](b, "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { window.copied = text } }, configurable: true }) && true")
	b.click("#play")
	b.waitFor(shownTick + " >= 2")
	eval[bool](b, keepNotes)
	eval[bool](b, `document.querySelector('#copy').click() ?? true`)
	b.waitFor("window.copied")
	b.waitFor("new Set(notes.filter(n => n.note === 'The link is copied.').map(n => n.tick)).size >= 2")
	b.waitFor("document.querySelector('#net').textContent === ''")
	b.press(" ")
}

// In an embedded frame the field with the link stays while frames arrive.
func TestCopyLinkInAnEmbedWhilePlaying(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open("/embed" + explorer + "&pace=5&horizon=200")
	eval[bool](b, "Object.defineProperty(navigator, 'clipboard', { value: undefined }) && true") // as in a frame that may not copy
	b.click("#play")
	b.waitTick(2)
	b.click("#copy")
	b.waitFor("document.querySelector('#share-link').checkVisibility()")
	link := eval[string](b, "document.querySelector('#share-link').value")
	tick := b.tick()
	b.waitFor(fmt.Sprintf("+/^tick ([0-9]+)/.exec(document.querySelector('#clock').textContent)[1] > %d", tick+2))
	if got := eval[string](b, "document.querySelector('#share-link').checkVisibility() ? document.querySelector('#share-link').value : 'hidden'"); got != link || !strings.HasPrefix(link, b.site+"/lab/") {
		t.Errorf("after frames the field holds %q, it held %q", got, link)
	}
}

// The link is copied, or where a browser does not allow that, selected in a field.
func TestCopyLink(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer)
	b.click("#step")
	b.waitTick(1)
	eval[bool](b, "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { window.copied = text } }, configurable: true }) && true")
	eval[bool](b, keepNotes)
	b.click("#copy")
	b.waitFor(noted("The link is copied"))
	if got, want := eval[string](b, "window.copied"), b.site+explorer+"&t=1"; got != want {
		t.Errorf("%q was copied, want %q", got, want)
	}
	eval[bool](b, "Object.defineProperty(navigator, 'clipboard', { value: undefined }) && true") // as on plain HTTP
	b.click("#copy")
	b.waitFor(noted("The link is selected"))
	if got, want := eval[string](b, "getSelection().toString()"), b.site+explorer+"&t=1"; got != want {
		t.Errorf("%q is selected, want %q", got, want)
	}
}
