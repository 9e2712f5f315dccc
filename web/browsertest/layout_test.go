package browsertest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// largest is the partition explorer with everything at its upper bound, as far as one address can hold it.
func largest() string {
	query := url.Values{
		"v": {"1"}, "partitions": {"64"}, "baseline": {"63"}, "consumers": {"64"}, "keys": {"1000"}, "rate": {"100"}, "t": {"40"},
		"horizon": {"5000"}, "seed": {"18446744073709551615"}, "at": {"record:orders-5:3"}, "size": {"projector"}, "pace": {"10"},
	}
	return "/lab/partitions?" + query.Encode()
}

// largestTwo is the largest beside another.
func largestTwo() string { return largest() + "&vs=partitioner:crc32" }

// longKeys are the longest keys that fit an address, a few.
func longKeys() string {
	keys := strings.Repeat("W", 700) + "\n" + strings.Repeat("i", 700) + "\n" + strings.Repeat("word ", 140) + "\nshort"
	return explorer + "&keys=" + url.QueryEscape(keys) + "&t=8&at=record:orders-0:0"
}

// manyCommands is a run with as many commands as an address may have.
func manyCommands() string {
	return explorer + strings.Repeat("&do=3:wait+1ms", 200) + "&t=5"
}

func TestNothingIsWiderThanTheWindow(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for name, address := range map[string]string{
		"home": "/", "glossary": "/glossary", "make-embed": "/make-embed?url=/lab/partitions", "term": "/glossary/leader-epoch", "lesson": "/lesson/log", "start": explorer,
		"mid-run with inspector":   explorer + "&t=20&at=record:orders-2:3",
		"message in the inspector": explorer + "&t=6&at=message:48",
		"batch in the inspector":   explorer + "&t=20&at=batch:orders-2:3",
		"way to an offset":         explorer + "&rate=8&t=30&at=find:orders-1:33",
		"why":                      explorer + "&t=20&why=200",
		"projector":                explorer + "&t=20&at=segment:orders-2:0&theme=dark&size=projector",
		"embed":                    "/embed" + explorer + "&t=20&at=record:orders-2:3", "minimal": "/embed" + explorer + "&t=20&chrome=minimal",
		"still": "/embed" + explorer + "&t=20&still=1", "wide still": "/embed" + explorer + "&partitions=64&rate=100&t=40&size=projector&still=1",
		"many partitions": explorer + "&partitions=64&consumers=64&keys=1000&rate=100&t=40",
		"largest":         largest(), "long keys": longKeys(), "many commands": manyCommands(),
		"two runs": explorer + "&t=14&vs=work:20&at=vs:record:orders-2:3", "two large runs": largestTwo(), "two in a minimal frame": "/embed" + explorer + "&t=14&vs=partitions:12&chrome=minimal",
		"replication": replication + leaderDies + "&t=26&at=replica:orders-0:1", "nine brokers": largestCluster, "two clusters": replication + leaderAlone + "&t=44&vs=min-isr:2",
		"offsets": offsets + beforeCommit + "&t=18&at=record:orders-0:3", "two groups": largestGroup + "&at=group:audit", "two of offsets": offsets + beforeCommit + "&t=18&vs=commit:before", "still offsets": "/embed" + offsets + committedFirst + "&t=4&still=1",
		"projected offsets": offsets + twoGroups + "&t=9&size=projector", "minimal offsets": "/embed" + largestGroup + "&chrome=minimal", "a commit": offsets + beforeCommit + "&t=18&at=record:__consumer_offsets-9:3",
		"a still cluster": "/embed" + largestCluster + "&still=1", "links cut": replication + "&do=3:cut+b1+b2&do=3:delay+b2+controller+500ms&do=3:pause+b3&t=14", "projected cluster": replication + leaderDies + "&t=40&size=projector",
		"two stills": "/embed" + explorer + "&t=14&vs=partitions:12&still=1", "two projected": explorer + "&t=14&vs=keys:a%0A" + strings.Repeat("W", 700) + "&size=projector",
		"wide table": "/lesson/fit", "printouts": "/lesson/offsets",
	} {
		checkWidth(b, name, address)
	}
}

// checkWidth wants a page no wider than the window.
func checkWidth(b *tab, name, address string) {
	t := b.t
	t.Helper()
	for _, width := range []int{320, 640, 1280} { // 640: 1280 at a zoom of 200 %
		b.size(width, 800)
		b.open(address)
		if got := eval[int](b, "document.documentElement.scrollWidth"); got > width {
			t.Errorf("%s at %d px is %d px wide; what reaches over the edge:\n%s", name, width, got, strings.Join(overTheEdge(b, width), "\n"))
			b.shot(fmt.Sprintf("wide-%s-%d", strings.ReplaceAll(name, " ", "-"), width))
		}
	}
}

// overTheEdge lists the first few elements that make the page wide, the outermost of each.
func overTheEdge(b *tab, width int) []string {
	return eval[[]string](b, fmt.Sprintf(`(() => {
		const over = e => e.getBoundingClientRect().right > %d + 1
		const clipped = e => e && (getComputedStyle(e).overflowX !== 'visible' || clipped(e.parentElement))
		return [...document.querySelectorAll('body *')].filter(e => over(e) && !over(e.parentElement) && !clipped(e.parentElement))
			.slice(0, 5).map(e => Math.round(e.getBoundingClientRect().right) + ' px: ' + e.outerHTML.slice(0, 120))
	})()`, width))
}

// Messages stand between the nodes, and cover neither them nor each other, however long they wait.
func TestMessagesCoverNothing(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, width := range []int{320, 640, 1000, 1280, 1920} {
		b.size(width, 1000)
		for _, look := range []string{"&t=10", "&t=10&size=projector", "&t=10&vs=rate:6"} {
			b.open(explorer + "&do=3:pause+b1" + look)
			covered := eval[[]string](b, `[...document.querySelectorAll('.network')].flatMap(network => {
				const boxes = [...network.querySelectorAll('.message, .stop > *')].map(e => [e.textContent.trim(), e.getBoundingClientRect()])
				return boxes.flatMap(([text, a], i) => boxes.slice(i + 1)
					.filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
					.map(([other]) => text + ' / ' + other))
			})`)
			if len(covered) > 0 {
				t.Errorf("%s at %d px: these meet: %q", look, width, covered)
			}
		}
	}
}

// The page stays small enough for a morph to be quick and for a screen reader to be of use.
func TestElements(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for name, address := range map[string]string{
		"many partitions":  explorer + "&partitions=64&consumers=64&keys=1000&rate=100&t=40",
		"largest":          largest(),
		"batch":            explorer + "&partitions=64&consumers=64&keys=1000&rate=100&t=40&at=batch:orders-5:3",
		"why":              explorer + "&partitions=64&consumers=64&keys=1000&rate=100&t=40&why=5000",
		"one partition":    explorer + "&partitions=1&keys=1000&rate=100&t=200&at=batch:orders-0:500",
		"many commands":    manyCommands(),
		"two runs":         explorer + "&t=14&vs=work:20&at=vs:record:orders-2:3",
		"two large runs":   largestTwo(),
		"two with causes":  explorer + "&partitions=64&consumers=64&keys=1000&rate=100&second=crc32-random&t=40&vs=baseline:7&why=vs:5000",
		"two and message":  strings.Replace(largestTwo(), "at=record%3Aorders-5%3A3", "at=vs:message:3194", 1),
		"nine brokers":     largestCluster + "&at=record:orders-0:80@b2",
		"nine by three":    replication + "&brokers=9&rf=3&partitions=6&rate=10&every=1&t=60&at=node:b1",
		"nine twice":       largestCluster + "&vs=acks:1&at=replica:orders-0:1",
		"two groups":       largestGroup + "&at=record:orders-0:3",
		"a large group":    largestGroup + "&at=group:billing",
		"two groups twice": largestGroup + "&vs=sink:idempotent&at=partition:orders-1",
		"a commit":         largestGroup + "&do=30:crash+billing-01&at=record:__consumer_offsets-9:30",
		"two with a find":  explorer + "&partitions=64&consumers=64&keys=1000&rate=100&t=40&vs=work:1&at=vs:find:orders-5:33",
	} {
		checkElements(b, name, address)
	}
}

// checkElements wants a page of few elements.
func checkElements(b *tab, name, address string) {
	t := b.t
	t.Helper()
	const most = 1200
	b.open(address)
	n := b.count("#lab, #lab *")
	t.Logf("%s: %d elements", name, n)
	if n >= most {
		parts := eval[string](b, `[...document.querySelectorAll('#lab [id]')].map(e => [e.querySelectorAll('*').length, e.id])
			.sort((x, y) => y[0] - x[0]).slice(0, 12).map(([n, id]) => id + ' ' + n).join(', ')`)
		t.Errorf("%s: #lab has %d elements, fewer than %d are allowed; most are in %s", name, n, most, parts)
	}
}

// A record's name is cut where it is too long, with an ellipsis, and never by the edge of its cell.
func TestNamesOfRecordsFit(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, look := range []string{"", "&size=projector"} {
		b.open(explorer + "&keys=" + url.QueryEscape("zebra\nWWWWW\nMMMMMMMM\n\"a\tb\"\nключи") + "&t=12" + look)
		cut := eval[[]string](b, `[...document.querySelectorAll('.cell[data-offset]')].filter(cell => {
			const name = document.createRange()
			name.selectNodeContents(cell.firstChild)
			const word = name.getBoundingClientRect(), box = cell.getBoundingClientRect()
			return word.left < box.left || word.right > box.right
		}).map(cell => cell.firstChild.data)`)
		slices.Sort(cut)
		if cut = slices.Compact(cut); len(cut) > 0 {
			t.Errorf("look %q: the edge of the cell cuts the names %q", look, cut)
		}
	}
}

// So is the word below it, which says how a reader stands to the record.
func TestWordsOfRecordsFit(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, width := range []int{320, 1280, 1920} {
		b.size(width, 1000)
		for _, address := range []string{
			delivery + "&do=1:crash+billing-1+after+offsets&do=18:start+billing-1&do=18:wait+2500ms&t=31", delivery + "&t=14", offsets + beforeCommit + "&t=18", offsets + "&t=3", explorer + "&t=12",
		} {
			for _, look := range []string{"", "&size=projector", "&vs=rate:1"} {
				b.open(address + look)
				cut := eval[[]string](b, `[...document.querySelectorAll('.strip .cell')].flatMap(cell => {
					const style = getComputedStyle(cell, '::after'), word = style.content.replaceAll('"', '')
					const pen = document.createElement('canvas').getContext('2d')
					pen.font = style.font
					pen.letterSpacing = style.letterSpacing
					return word === 'none' || pen.measureText(word).width <= cell.clientWidth + 1 ? [] : [word]
				})`)
				slices.Sort(cut)
				if cut = slices.Compact(cut); len(cut) > 0 {
					t.Errorf("%s at %d px: the edge of the cell cuts the words %q", address+look, width, cut)
				}
			}
		}
	}
}

// Where a strip is wider than its place, many systems put a bar below it that takes room; the browser of these tests draws
// none. It must not cover the flags. At the width that a laptop leaves, what a lab starts with needs no bar.
func TestABarBelowAStripCoversNothing(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	const laptop, bar = 1265, 15
	b.size(laptop, 800)
	for _, address := range []string{
		explorer + "&t=12", offsets + beforeCommit + "&t=8", offsets + twoGroups + "&t=9", "/lab/delivery?v=1&t=20", "/lab/delivery?v=1&brokers=3&t=30", "/lab/sandbox?v=1&t=20", "/lab/sandbox?v=1&groups=2&t=20",
		explorer + "&t=14&vs=work:20", "/lab/delivery?v=1&t=20&size=projector",
	} {
		b.open(address)
		wide := eval[[]string](b, `[...document.querySelectorAll('.strip')].filter(s => s.scrollWidth > s.clientWidth).map(s => s.ariaLabel)`)
		if len(wide) > 0 {
			t.Errorf("%s: strips %q are wider than their places", address, wide)
		}
		covered := eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('.strip')].filter(s => {
			s.style.borderBottom = '%dpx solid'
			return getComputedStyle(s).overflowX != 'visible' && s.scrollHeight > s.clientHeight
		}).map(s => s.ariaLabel + ': ' + s.scrollHeight + ' in ' + s.clientHeight)`, bar))
		if len(covered) > 0 {
			t.Errorf("%s: a bar covers what stands below in %q", address, covered)
		}
	}
}
