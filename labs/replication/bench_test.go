package replication

import (
	"testing"

	"loglab/labs"
	"loglab/labs/view"
)

// BenchmarkBuild draws frames of runs of different lengths, replayed before.
func BenchmarkBuild(b *testing.B) {
	for name, query := range map[string]string{
		"start": "t=40", "crash": "acks=1&rate=0&" + leaderDies + "&t=40", "nine brokers": "brokers=9&rf=9&partitions=6&rate=10&every=1&t=60", "10,000 records": "rate=10&every=1&t=1000",
	} {
		b.Run(name, func(b *testing.B) {
			a, err := labs.Parse(Lab(), labs.Pages, query)
			if err != nil {
				b.Fatal(err)
			}
			c, err := labs.Replay(a)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				build(labs.Frame{Address: a, Cluster: c, View: c.View()}, &view.Page{})
			}
		})
	}
}
