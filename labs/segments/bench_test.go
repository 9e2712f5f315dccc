package segments

import (
	"testing"

	"loglab/labs/labtest"
	"loglab/labs/view"
)

// The runs of the benchmarks.
const (
	batches200 = "batch-size=0&rate=10&segment-bytes=16384&t=20"
	cleans     = "policy=compact&dirty-ratio=0&deletions=3&rate=4&t=40"
	largeLog   = "batch-size=0&rate=100&keys=1000&segment-bytes=1048576&t=500"
)

// BenchmarkBuild draws frames of runs of different lengths, replayed before.
func BenchmarkBuild(b *testing.B) {
	for name, query := range map[string]string{"start": "t=14", "200 batches": batches200, "just cleaned": cleans, "50,000 batches": largeLog} {
		b.Run(name, func(b *testing.B) {
			f := labtest.Replay(b, Lab(), query)
			for b.Loop() {
				f.View = f.Cluster.View()
				build(f, &view.Page{})
			}
		})
	}
}

// BenchmarkTick runs ticks of a second, a minute and an hour, with the journal kept. One core: GOMAXPROCS=1.
func BenchmarkTick(b *testing.B) {
	for name, query := range map[string]string{"second": "reader=on", "minute": "tick-ms=60000&every=20000&reader=on", "hour": "tick-ms=3600000&every=600000&reader=on&policy=compact"} {
		b.Run(name, func(b *testing.B) {
			start := labtest.Replay(b, Lab(), query).Cluster
			c, left := start, 0
			for b.Loop() {
				if left == 0 {
					c, left = start.Clone(), 500
				}
				left--
				if err := c.Tick(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ticks/s")
		})
	}
}
