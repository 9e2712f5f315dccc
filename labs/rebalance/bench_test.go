package rebalance

import (
	"testing"

	"loglab/labs/labtest"
	"loglab/labs/view"
)

// BenchmarkBuild draws frames of runs of different sizes, replayed before.
func BenchmarkBuild(b *testing.B) {
	for name, query := range map[string]string{
		"start": "t=3", "newcomer": newcomer + "&t=12", "settled": newcomer + "&t=22",
		"largest": "topics=4&partitions=64&rate=25&members=16&assignor=sticky&do=2:leave+billing-16&t=40", "long": newcomer + "&t=2000",
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
