package segments

import (
	"testing"

	"loglab/labs/labtest"
)

// BenchmarkBuild draws frames of runs of different lengths.
func BenchmarkBuild(b *testing.B) {
	labtest.BenchBuild(b, Lab(), map[string]string{
		"start": "t=14", "200 batches": "rate=10&value-bytes=200&batch-size=0&segment-bytes=65536&t=20", "just cleaned": "deletions=3&policy=compact&dirty-ratio=0&t=15",
		"25,000 batches": "batch-size=0&rate=100&keys=1000&segment-bytes=1048576&t=500", "1,000 segments": "rate=100&batch-size=0&segment-bytes=280&t=30",
		"a file beside 1,000 segments": "rate=100&batch-size=0&segment-bytes=280&t=30&at=file:orders-0:00000000000000000000.index:0",
	})
}

// BenchmarkTick runs ticks of a second, a minute and an hour. One core: GOMAXPROCS=1.
func BenchmarkTick(b *testing.B) {
	labtest.BenchTick(b, Lab(), map[string]string{
		"second": "reader=on&retention-ms=60000", "minute": "tick-ms=60000&every=20000&reader=on&retention-ms=600000", "hour": "tick-ms=3600000&every=600000&reader=on&policy=compact",
	})
}
