package offsets

import (
	"testing"

	"loglab/labs/labtest"
)

// BenchmarkBuild draws frames of runs of different lengths.
func BenchmarkBuild(b *testing.B) {
	labtest.BenchBuild(b, Lab(), map[string]string{
		"start": "t=3", "crash": batches + "commit=after-batch&do=4:crash+billing-1+before+commit&t=18", "two groups": "partitions=12&records=20&rate=20&consumers=16&commit=auto&second=running&audit-consumers=16&t=30",
		"5,000 records": "rate=10&consumers=4&process=10&commit=after-batch&t=500",
	})
}

// BenchmarkTick runs the lab's default, and one in which all is busy. One core: GOMAXPROCS=1.
func BenchmarkTick(b *testing.B) {
	labtest.BenchTick(b, Lab(), map[string]string{"default": "", "busy": "rate=10&consumers=4&process=10&commit=after-batch"})
}
