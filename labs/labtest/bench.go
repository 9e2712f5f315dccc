package labtest

import (
	"testing"

	"loglab/labs"
	"loglab/labs/view"
)

// BenchBuild draws frames of runs, by name, replayed before.
func BenchBuild(b *testing.B, lab *labs.Lab, queries map[string]string) {
	for name, query := range queries {
		b.Run(name, func(b *testing.B) {
			f := Replay(b, lab, query)
			for b.Loop() {
				f.View = f.Cluster.View()
				lab.Build(f, &view.Page{})
			}
		})
	}
}

// BenchTick runs ticks of runs, by name, with the journal kept, each from its start again after a thousand.
func BenchTick(b *testing.B, lab *labs.Lab, queries map[string]string) {
	for name, query := range queries {
		b.Run(name, func(b *testing.B) {
			start := Replay(b, lab, query).Cluster
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
