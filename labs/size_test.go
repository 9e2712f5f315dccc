package labs_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"loglab/labs"
)

// What the caches say they hold is about what they hold, so that their budget is one of memory.
func TestCacheBytesAreTrue(t *testing.T) {
	for _, run := range []struct{ lab, query string }{
		{"partitions", "rate=3"}, {"partitions", "rate=20"}, {"partitions", "partitions=64&consumers=64&rate=100&keys=1000"},
		{"partitions", "keys=" + someKeys(400) + "&at=node:c1"},
		{"replication", ""}, {"replication", "rate=10&every=1&partitions=6"}, {"replication", "brokers=9&rf=9&partitions=6&rate=10&every=1"},
		{"replication", "do=20:kill+b1&do=60:start+b1"},
		{"segments", ""}, {"segments", "policy=compact&dirty-ratio=0&deletions=3"}, {"segments", "rate=20&batch-size=0&segment-bytes=65536&keys=100"},
		{"offsets", ""}, {"offsets", "rate=5&consumers=4&process=5&commit=after-batch"}, {"offsets", "rate=20&consumers=16&process=20&partitions=12&records=20&commit=after-batch&second=running&audit-consumers=16"},
	} {
		r := labs.NewRuns(1 << 40)
		before := heapBytes()
		for tick := 200; tick < 240; tick++ {
			if _, err := r.Page(context.Background(), parseOf(t, run.lab, strings.TrimPrefix(fmt.Sprintf("%s&t=%d", run.query, tick), "&"))); err != nil {
				t.Fatal(err)
			}
		}
		held, said := heapBytes()-before, r.Stats().CacheBytes
		if said < held*3/4 || said > held*3/2 {
			t.Errorf("%s %.60s: 40 steps take %d bytes, said to be %d", run.lab, run.query, held, said)
		}
		runtime.KeepAlive(r)
	}
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one's finalizers let go
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func someKeys(n int) string {
	text := ""
	for i := range n {
		text += fmt.Sprintf("key%d%%0A", i)
	}
	return text
}
