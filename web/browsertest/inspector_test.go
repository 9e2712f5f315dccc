package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// pointAt moves the mouse over the middle of an element.
func (b *tab) pointAt(selector string) {
	b.t.Helper()
	at := b.pointOf(selector)
	b.do(chromedp.MouseEvent(chromedp.MouseMoved, at.X, at.Y))
}

// markedBytes are the bytes drawn as those of the field pointed at, markedFields the names of its lines.
const (
	dark         = "e => getComputedStyle(e).backgroundColor === getComputedStyle(document.querySelector('h1')).color"
	markedBytes  = "[...document.querySelectorAll('.hex [data-field]')].filter(" + dark + ").map(e => e.innerText).join(' ')"
	markedFields = "[...document.querySelectorAll('.byte-fields tr[data-field]')].filter(" + dark + ").map(e => e.querySelector('th').innerText).join(' ')"
)

// expectMarks waits until exactly these bytes and this field are marked.
func expectMarks(t *testing.T, b *tab, what, bytes, field string) {
	t.Helper()
	b.waitFor(fmt.Sprintf("%s === %s && %s === %s || undefined", markedBytes, quote(bytes), markedFields, quote(field)))
}

// To point at bytes marks their field, and to point at a field marks its bytes; so does the focus.
func TestBytesAndFieldsMarkEachOther(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.media("prefers-reduced-motion", "reduce")
	b.size(1280, 2600)                             // nothing scrolls under the mouse
	b.open(explorer + "&t=12&at=batch:orders-1:2") // the record order-8 = "event 1"
	const timestamp = "00 00 01 9b 76 da a8 14"
	b.waitText("#inspector-title", "Batch orders-1 2")

	b.pointAt("#batch-byte-1")
	expectMarks(t, b, "the bytes of batchLength", "00 00 00 5b", "batchLength")
	b.pointAt("#batch-field-7 td")
	expectMarks(t, b, "the line of baseTimestamp", timestamp, "baseTimestamp") // over two lines
	b.pointAt(".hex a:not([id])[data-field='batch-field-7']")
	expectMarks(t, b, "the second part of baseTimestamp", timestamp, "baseTimestamp")
	b.pointAt("#inspector-title")
	expectMarks(t, b, "nothing", "", "")

	b.focus("#batch-byte-3")
	expectMarks(t, b, "the bytes of magic, by focus", "02", "magic")
	b.press(kb.Tab)
	if got := b.focused(); got != "batch-byte-4" {
		t.Errorf("Tab leads from the bytes of magic to %s, want those of the crc", got)
	}
	b.waitFor(markedFields + " === 'crc'")
	b.focus("#batch-field-18 a")
	b.waitFor(markedFields + " === 'key'")
	expectMarks(t, b, "the key's line, by focus", "6f 72 64 65 72 2d 38", "key")
	b.press(kb.Enter) // brings the bytes into sight; the address stays
	expectMarks(t, b, "the key's line, pressed", "6f 72 64 65 72 2d 38", "key")
	if got := eval[string](b, "location.hash"); got != "" {
		t.Errorf("the address ends in %s after that", got)
	}

	// A step keeps what has the focus marked.
	b.pointAt("h1")
	b.focus("#batch-byte-3")
	b.press(kb.ArrowRight)
	b.waitTick(13)
	b.waitFor(markedFields + " === 'magic'")
}

// Without a script a field's name leads to its bytes and marks them, and the other way round.
func TestBytesAndFieldsWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.size(1280, 900)
	b.openPlain(explorer + "&t=12&at=batch:orders-1:2")
	b.click("#batch-field-4 a")
	b.waitFor("location.hash === '#batch-byte-4'")
	b.pointAt("#inspector-title")
	b.waitFor("(" + dark + ")(document.querySelector('#batch-byte-4'))")
	b.click("#batch-byte-1")
	b.waitFor("location.hash === '#batch-field-1'")
	b.pointAt("#inspector-title")
	b.waitFor(markedFields + ".includes('batchLength')")

	// Offsets are found by a form.
	b.click("#open-segment")
	b.waitText("#inspector-title", "Segment orders-1 0")
	b.paste("#find-offset", "5")
	b.click("#find button")
	b.waitAddress(explorer + "&t=12&at=find:orders-1:5")
	b.waitText("#inspector-title", "Find offset 5 in orders-1")
}

// From a record to its batch, its segment and the way to an offset, by the keyboard alone.
func TestInspectorByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(explorer + "&t=30&rate=8")
	follow := func(selector, title string) {
		t.Helper()
		b.focus(selector)
		b.press(kb.Enter)
		b.waitText("#inspector-title", title)
	}
	follow("#strip-orders-1 .cell", "Record orders-1")
	follow("#open-batch", "Batch orders-1")
	follow("#open-segment", "Segment orders-1")
	b.focus("#find-offset")
	b.press("a", chromedp.ModifierCtrl)
	b.press("17" + kb.Enter)
	b.waitAddress(explorer + "&rate=8&t=30&at=find:orders-1:17")
	b.waitText("#inspector", "entry 1, offset 14, is the greatest ≤ 17 of 2 entries")
	follow("#scan tr.selected button", "Batch orders-1 16")
}

// Whatever is opened, the page with the most on it stays small enough.
func TestElementsOfEveryInspector(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	const most = 1200
	many := explorer + "&partitions=64&consumers=64&keys=1000&rate=100&t=40&horizon=5000&do=1:pause+c5"
	b.open(many)
	targets := eval[[]string](b, "[...document.querySelectorAll('#picture [name=at]')].map(e => e.value)")
	kinds := map[string]int{}
	for _, target := range targets {
		kind, _, _ := strings.Cut(target, ":")
		if kinds[kind]++; kinds[kind] > 6 {
			continue
		}
		also := []string{target}
		if kind == "record" {
			also = append(also, strings.Replace(target, "record", "batch", 1), strings.Replace(target, "record", "find", 1))
		}
		for _, target := range also {
			b.open(many + "&at=" + target)
			n := b.count("#lab, #lab *")
			t.Logf("%s: %d elements, %d of them in the inspector", target, n, b.count("#inspector *"))
			if n >= most {
				t.Errorf("%s: #lab has %d elements, fewer than %d are allowed", target, n, most)
			}
		}
	}
	got := slices.Sorted(func(yield func(string) bool) {
		for kind := range kinds {
			if !yield(kind) {
				return
			}
		}
	})
	if diff := cmp.Diff([]string{"message", "node", "record", "segment"}, got); diff != "" {
		t.Errorf("what the picture offers (-want +got):\n%s", diff)
	}
}
