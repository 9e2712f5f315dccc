package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const (
	// addresses of ready-made runs, as their links have them
	orderLost = explorer + "&partitions=3&baseline=3&work=5&rate=6&do=8:add-partitions+orders+to+6&t=40&horizon=60"
	checked   = explorer + "&partitions=3&baseline=3&work=5&destination=versions&rate=6&do=8:add-partitions+orders+to+6&t=40&horizon=60"
)

// pick chooses an option of a field by typing its text.
func (b *tab) pick(selector, option string) {
	b.t.Helper()
	b.focus(selector)
	b.press(option)
	b.waitFor(fmt.Sprintf("document.querySelector(%s).value === %s", quote(selector), quote(option)))
}

// ready is the selector of a ready-made run's link.
func ready(b *tab, title string) string {
	b.t.Helper()
	return "#" + eval[string](b, fmt.Sprintf("[...document.querySelectorAll('.ready a')].find(a => a.innerText === %s || a.textContent === %[1]s).id", quote(title)))
}

// The order experiment by mouse: lost, the two records of a key, its causes, and both remedies.
func TestOrderAcrossAPartitionChange(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer)
	b.click("#ready summary")
	b.click(ready(b, "Partitions added while writing"))
	b.waitAddress(orderLost)
	b.waitText("#picture-title", "6 partitions")
	b.waitText("#reading", "came to the destination after a newer one")
	b.waitText("#reading", "None of the 10 keys that stayed is among them.")
	if n := b.count("#late tbody tr"); n < 3 {
		t.Errorf("%d keys with late events are listed", n)
	}
	if n := b.count("#keys .item.late"); n < 3 {
		t.Errorf("%d keys are marked as seen in the wrong order", n)
	}
	b.shot("order-lost")

	older := b.text("#late tbody tr td:nth-of-type(2) button") // "event 5, tick 31, orders-0@40"
	b.click("#late tbody tr td:nth-of-type(2) button")
	place := older[strings.LastIndex(older, " ")+1:]
	b.waitText("#inspector-title", "Record "+strings.Replace(place, "@", " ", 1))
	version, _, _ := strings.Cut(older, ",")
	b.waitText("#inspector", version) // its value
	if n := b.count(".cell.late"); n == 0 {
		t.Error("no record in the strips is marked as seen in the wrong order")
	}

	b.click(ready(b, "Second remedy: check versions"))
	b.waitAddress(checked)
	b.waitText("#reading", "It refused all of them.")
	b.click(ready(b, "First remedy: drain first"))
	b.waitTick(60)
	if reading := b.text("#reading"); strings.Contains(reading, "after a newer one") {
		t.Errorf("drained first, the reading says:\n%s", reading)
	}
	b.back()
	b.waitAddress(checked)
}

// The same by the keyboard alone.
func TestReadyMadeRunByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer)
	b.focus("#ready summary")
	b.press(kb.Enter)
	b.focus(ready(b, "Partitions added while writing"))
	b.press(kb.Enter)
	b.waitAddress(orderLost)
	b.focus("#late tbody tr td:nth-of-type(1) button")
	b.press(kb.Enter)
	b.waitText("#inspector-title", "Record orders-")
}

// The same without a script.
func TestReadyMadeRunWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain(explorer)
	b.click("#ready summary")
	b.click(ready(b, "Partitions added while writing"))
	b.waitAddress(orderLost)
	b.waitText("#late", "after a newer one")
	b.click("#late tbody tr td:nth-of-type(1) button")
	b.waitText("#inspector-title", "Record orders-")
}

// Adding partitions by the page's own buttons, led by the reading; what is seen keeps its order.
func TestTheReadingLeadsThroughAddingPartitions(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&rate=6&t=6&horizon=80")
	b.click("#do-stop-p0")
	b.waitText(".given", "stop-sending p0")
	b.waitText("#node-p0", "application stopped")
	b.waitText("#reading", "step on until it does, then until all are read")
	b.stepTo(b.tick() + 4)
	b.waitText("#reading", "The readers are at the end")
	b.click("#reading a[href*=add-partitions]")
	b.waitText("#reading", "The request for more partitions is on its way.")
	b.waitText(".way", "CreatePartitions request")
	b.stepTo(b.tick() + 14)
	b.waitText("#picture-title", "6 partitions")
	b.waitText("#reading", "Every producer knows of all 6 partitions")
	b.click("#reading a[href*=start-sending]")
	b.waitText(".given", "start-sending p0")
	b.press(kb.End)
	b.waitTick(80)
	if n := b.count("#late"); n != 0 {
		t.Error("events were seen late")
	}
	for i := range 6 {
		if words := b.text(fmt.Sprintf("#strip-orders-%d .who", i)); strings.Contains(words, "nobody") || strings.Contains(words, "\n0 records") {
			t.Errorf("orders-%d: %q", i, words)
		}
	}
}

// Settings of the producers: a second client, the choice of a key, the way keys are drawn.
func TestProducerSettings(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=16")
	b.pick("#set-second", "crc32-random")
	b.click("#producers button")
	b.waitAddress(explorer + "&second=crc32-random&t=16")
	b.waitText("#split caption", "Two clients, one topic:")
	b.waitText("#node-p1", "p1")
	if n := b.count("#keys .item.split"); n < 10 {
		t.Errorf("%d keys are marked as split", n)
	}
	b.pick("#set-second", "none")
	b.pick("#set-key-by", "region")
	b.click("#producers button")
	b.waitAddress(explorer + "&key-by=region&t=16")
	b.waitText("#reading", "24 orders share 3 keys")
	b.pick("#set-key-by", "entity")
	b.pick("#set-draw", "hot-key")
	b.paste("#set-hot", "80")
	b.paste("#set-rate", "10")
	b.click("#producers button")
	b.waitAddress(explorer + "&draw=hot-key&hot=80&rate=10&t=16")
	b.waitText("#reading", "The hottest key is order-1: ")
	b.paste("#set-own-keys", "a x30\nb x10\nc")
	b.click("#own-keys button")
	b.waitAddress(explorer + "&keys=a+x30%0Ab+x10%0Ac&draw=hot-key&hot=80&rate=10&t=16")
}

// A number that changed in the tick shown is a link; it opens the causes and brings them into sight.
func TestChangedNumbersLeadToTheirCauses(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=9")
	b.click("#strip-orders-1 a.number")
	b.waitText("#inspector-title", "Why event ")
	b.waitText("#inspector", "It began with a timer of")
	b.waitFor("(box => box.top < innerHeight && box.bottom > 0)(document.querySelector('#inspector-title').getBoundingClientRect())")
	b.click("#close")
	b.waitText("#inspector-title", "Inspector")
	b.click("#reading a[href*='why=']")
	b.waitText("#inspector-title", "Why event ")
}

// The set-up stays from frame to frame of a run. What is set is set at the tick then shown, and what another
// run has set stands in the fields.
func TestTheSetUpFollowsTheRun(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer)
	b.stepTo(3)
	b.click("#preset-more")
	b.waitAddress(explorer + "&partitions=6&t=3")
	b.waitFor("document.querySelector('#set-partitions').value === '6'")
	b.waitText("#preset-more", "8 partitions")
	b.press(kb.ArrowRight)
	b.waitTick(4)
	b.paste("#set-consumers", "2")
	b.press(kb.Enter)
	b.waitAddress(explorer + "&partitions=6&consumers=2&t=4")
	b.click("#back")
	b.waitTick(3)
	b.paste("#set-own-keys", "zebra")
	b.click("#own-keys button") // posted
	b.waitAddress(explorer + "&partitions=6&consumers=2&keys=zebra&t=3")
	b.back()
	b.waitAddress(explorer + "&partitions=6&consumers=2&t=3")
	b.back()
	b.waitAddress(explorer + "&partitions=6&t=4")
	b.waitFor("document.querySelector('#set-consumers').value === '6'")
}
