package partitions

import (
	"context"
	"fmt"
	"testing"

	"loglab/engine"
	"loglab/labs"
)

func benchAddress(b *testing.B, query string) labs.Address {
	b.Helper()
	a, err := labs.Parse(Lab(), labs.Pages, query)
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// BenchmarkTick runs the lab as it starts, 1,000 ticks at a time, journal kept.
func BenchmarkTick(b *testing.B) {
	a := benchAddress(b, "")
	b.ReportAllocs()
	for n := 0; n < b.N; n += 1000 {
		s, err := spec(a.Values)
		if err != nil {
			b.Fatal(err)
		}
		c, err := engine.New(s, 1)
		if err != nil {
			b.Fatal(err)
		}
		for range 1000 {
			if err := c.Tick(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ticks/s")
}

// BenchmarkClone clones a run of 1,000 ticks and lets the clone run one tick.
func BenchmarkClone(b *testing.B) {
	c, err := labs.Replay(benchAddress(b, "t=1000"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Clone().Tick(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPage makes the page of an address: of a run that is nowhere in memory, and a step on.
func BenchmarkPage(b *testing.B) {
	for _, tick := range []int{20, 500, 5000} {
		a := benchAddress(b, fmt.Sprintf("t=%d", tick))
		b.Run(fmt.Sprintf("cold/t=%d", tick), func(b *testing.B) {
			for b.Loop() {
				if _, err := labs.NewRuns(1<<30).Page(context.Background(), a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("step", func(b *testing.B) {
		runs := labs.NewRuns(1 << 30)
		t := 0
		for b.Loop() {
			if t = t + 1; t > labs.MaxTick {
				t, runs = 1, labs.NewRuns(1<<30)
			}
			if _, err := runs.Page(context.Background(), benchAddress(b, fmt.Sprintf("t=%d", t))); err != nil {
				b.Fatal(err)
			}
		}
	})
}
