package offsets

import (
	"testing"

	"loglab/labs/labtest"
	"loglab/labs/view"
)

// BenchmarkBuild draws frames of runs of different lengths, replayed before.
func BenchmarkBuild(b *testing.B) {
	for name, query := range map[string]string{
		"start": "t=3", "crash": batches + "commit=after-batch&do=4:crash+billing-1+before+commit&t=18", "two groups": "partitions=12&records=20&rate=20&consumers=16&commit=auto&second=running&audit-consumers=16&t=30",
		"5,000 records": "rate=10&consumers=4&process=10&commit=after-batch&t=500",
	} {
		b.Run(name, func(b *testing.B) {
			f := labtest.Replay(b, Lab(), query)
			for b.Loop() {
				f.View = f.Cluster.View()
				build(f, &view.Page{})
			}
		})
	}
}

// BenchmarkTick runs the lab's default, and one in which all is busy, with the journal kept. One core: GOMAXPROCS=1.
func BenchmarkTick(b *testing.B) {
	for name, query := range map[string]string{"default": "", "busy": "rate=10&consumers=4&process=10&commit=after-batch"} {
		b.Run(name, func(b *testing.B) {
			start := labtest.Replay(b, Lab(), query).Cluster
			c, left := start, 0
			for b.Loop() {
				if left == 0 {
					c, left = start.Clone(), 1000
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
