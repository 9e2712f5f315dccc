package browsertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// benchPages are the pages that are measured.
var benchPages = map[string]string{
	"start":           explorer,
	"many partitions": explorer + "&partitions=64&consumers=64&keys=1000&rate=100",
	"200 batches":     segments + "&rate=10&value-bytes=200&batch-size=0&segment-bytes=65536&do=0:wait+19s",
}

// BenchmarkPressToPaint measures the time from a press on Step until the next frame is painted, a hundred
// times at ten a second: a message task after the animation frame that follows the change of the page.
// Every frame is asked for the first time.
func BenchmarkPressToPaint(b *testing.B) {
	for name, address := range benchPages {

		b.Run(name, func(b *testing.B) {
			const presses = 100
			var millis []float64
			for b.Loop() {
				p := newTab(b, serve(b).url)
				p.open(address)
				eval[bool](p, `(() => {
					window.paints = []
					window.painted = count => new Promise(done => { const look = () => paints.length >= count ? done(true) : setTimeout(look, 1); look() })
					let pressed
					addEventListener('click', event => { pressed = event.timeStamp }, true)
					new MutationObserver(() => requestAnimationFrame(() => {
						const channel = new MessageChannel()
						channel.port1.onmessage = () => paints.push(performance.now() - pressed)
						channel.port2.postMessage(0)
					})).observe(document.querySelector('#clock'), { childList: true, characterData: true, subtree: true })
					return true
				})()`)
				at := p.pointOf("#step")
				for i := range presses {
					p.clickAt(at)
					eval[bool](p, fmt.Sprintf("painted(%d)", i+1))
					time.Sleep(100 * time.Millisecond) // a hand is not faster
				}
				millis = append(millis, eval[[]float64](p, "paints")...)
				p.waitTick(presses)
			}
			slices.Sort(millis)
			b.ReportMetric(millis[len(millis)/2], "median-ms")
			b.ReportMetric(millis[len(millis)*95/100], "p95-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkMorph is how long the page takes to put the next frame in the place of the one shown, until all of its scripts
// are done: the frames of ten ticks, forth, back and forth. The first two steps of a page, in which the browser still
// compiles the scripts, are counted for themselves.
func BenchmarkMorph(b *testing.B) {
	for name, address := range benchPages {
		b.Run(name, func(b *testing.B) {
			const compiling = 2
			var first, millis []float64
			for b.Loop() {
				p := newTab(b, serve(b).url)
				p.open(address)
				times := eval[[]float64](p, `(async () => {
					const frames = [], times = []
					for (let t = 1; t <= 10; t++) frames.push(await (await fetch('/frame' + location.pathname + location.search + '&t=' + t + '&has=' + document.querySelector('#set-up').dataset.run)).text())
					for (const html of [...frames, ...frames.slice(1, -1).reverse(), ...frames]) { // forth, back and forth: each is one step from the last
						await new Promise(done => setTimeout(done, 50))
						const began = performance.now()
						document.dispatchEvent(new CustomEvent('datastar-fetch', { detail: { type: 'datastar-patch-elements', el: document.querySelector('#lab'), argsRaw: { elements: html } } }))
						times.push(performance.now() - began)
					}
					return times
				})()`)
				first, millis = append(first, times[:compiling]...), append(millis, times[compiling:]...)
			}
			slices.Sort(millis)
			b.ReportMetric(slices.Max(first), "first-max-ms")
			b.ReportMetric(millis[len(millis)/2], "median-ms")
			b.ReportMetric(millis[len(millis)*95/100], "p95-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkFirstLoadBytes counts the bytes that a first visit to the lab takes from the network, headers
// included, and those of one step.
func BenchmarkFirstLoadBytes(b *testing.B) {
	for b.Loop() {
		p := newTab(b, serve(b).url)
		bytes := p.countBytes()
		p.open(explorer + "&t=12")
		// The icon is asked for after the page is loaded.
		p.poll("icon and page are there", func() (bool, error) { return bytes()["icon.svg"] > 0 && bytes()["page"] > 0, nil })
		total := 0.0
		for name, n := range bytes() {
			total += n
			b.ReportMetric(n, name+"-B")
		}
		b.ReportMetric(total, "all-B")
		p.click("#step")
		p.waitTick(13)
		p.poll("the frame is counted", func() (bool, error) { return bytes()["frame"] > 0, nil })
		b.ReportMetric(bytes()["frame"], "step-B")
		b.ReportMetric(0, "ns/op")
	}
}

// countBytes begins to count what requests take from the network. The result gives the bytes by what was
// asked for: "page", "frame", or the name of a file without its hash.
func (b *tab) countBytes() (bytes func() map[string]float64) {
	b.t.Helper()
	var mu sync.Mutex
	names := map[network.RequestID]string{}
	counts := map[string]float64{}
	err := chromedp.Listen(b.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			name := "page"
			switch path := strings.TrimPrefix(e.Request.URL, b.site); {
			case strings.HasPrefix(path, "/frame/"):
				name = "frame"
			case strings.HasPrefix(path, "/static/"):
				parts := strings.Split(path[len("/static/"):], ".")
				name = parts[0] + "." + parts[len(parts)-1]
			}
			names[e.RequestID] = name
		case *network.EventLoadingFinished:
			counts[names[e.RequestID]] += e.EncodedDataLength
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return func() map[string]float64 {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(counts)
	}
}
