package browsertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// BenchmarkPressToPaint measures the time from a press on Step until the next frame is painted, a hundred
// times: a message task after the animation frame that follows the change of the page. Every frame is
// asked for the first time.
func BenchmarkPressToPaint(b *testing.B) {
	for name, address := range map[string]string{
		"start":           explorer,
		"many partitions": explorer + "&partitions=64&consumers=64&keys=1000&rate=100",
	} {
		b.Run(name, func(b *testing.B) {
			const presses = 100
			var millis []float64
			for b.Loop() {
				tab := newTab(b, serve(b).url)
				tab.open(address)
				eval[bool](tab, `(() => {
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
				at := tab.pointOf("#step")
				for i := range presses {
					tab.clickAt(at)
					eval[bool](tab, fmt.Sprintf("painted(%d)", i+1))
				}
				millis = append(millis, eval[[]float64](tab, "paints")...)
				tab.waitTick(presses)
			}
			slices.Sort(millis)
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
		tab := newTab(b, serve(b).url)
		bytes := tab.countBytes()
		tab.open(explorer + "&t=12")
		// The icon is asked for after the page is loaded.
		tab.poll("icon and page are there", func() (bool, error) { return len(bytes()) == 5, nil })
		total := 0.0
		for path, n := range bytes() {
			total += n
			b.ReportMetric(n, map[bool]string{true: "page-B", false: strings.SplitN(path, ".", 2)[0] + extension(path) + "-B"}[path == "partitions"])
		}
		b.ReportMetric(total, "all-B")
		tab.click("#step")
		tab.waitTick(13)
		b.ReportMetric(bytes()["frame"], "step-B")
		b.ReportMetric(0, "ns/op")
	}
}

// extension is what follows the last dot of a path, the dot included.
func extension(path string) string { return path[max(strings.LastIndexByte(path, '.'), 0):] }

// countBytes begins to count what each request takes from the network. The result gives the bytes by the
// last element of the path; a frame counts as "frame".
func (b *tab) countBytes() (bytes func() map[string]float64) {
	b.t.Helper()
	var mu sync.Mutex
	names := map[network.RequestID]string{}
	counts := map[string]float64{}
	b.call(func(ctx context.Context) error {
		return chromedp.Listen(b.ctx, func(event any) {
			mu.Lock()
			defer mu.Unlock()
			switch e := event.(type) {
			case *network.EventRequestWillBeSent:
				path, _, _ := strings.Cut(strings.TrimPrefix(e.Request.URL, b.site), "?")
				names[e.RequestID] = path[strings.LastIndexByte(path, '/')+1:]
				if strings.HasPrefix(path, "/frame/") {
					names[e.RequestID] = "frame"
				}
			case *network.EventLoadingFinished:
				counts[names[e.RequestID]] += e.EncodedDataLength
			}
		})
	})
	return func() map[string]float64 {
		mu.Lock()
		defer mu.Unlock()
		c := map[string]float64{}
		for name, n := range counts {
			c[name] = n
		}
		return c
	}
}
