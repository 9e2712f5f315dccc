package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// KIP-480: between two requests all records without a key go to one partition, after each to another.
func TestSticky480LeavesAPartitionWithItsBatch(t *testing.T) {
	spec := orders(4, 1)
	spec.Producers[0].Config.Keyless = "sticky-480"
	spec.Producers[0].Workload = engine.Workload{Rate: 10, Every: 10, ValueBytes: 100}
	c := start(t, spec)
	tick(t, c, 40)
	const none = kafka.Partition(-1)
	before, now, batches := none, none, 0
	for _, e := range events(c) {
		switch b := e.Body.(type) {
		case journal.BatchesSent:
			before, now, batches = now, none, batches+1
		case journal.RecordPartitioned:
			p := b.TopicPartition.Partition
			if now != none && p != now || p == before {
				t.Fatalf("after %d requests: a record in partition %d, the one before it in %d, the last batch in %d", batches, p, now, before)
			}
			now = p
		}
	}
	if batches < 30 {
		t.Errorf("%d requests in 40 ticks", batches)
	}
}

// KIP-480: a record with a key that needs a new batch in the sticky partition makes the producer leave it.
func TestSticky480IsMovedByKeys(t *testing.T) {
	spec := orders(2, 1)
	spec.Producers[0].Config.Keyless = "sticky-480"
	c := start(t, spec)
	give(t, c, "produce p0 - a")
	tick(t, c, 3)
	key := map[int]string{}
	for i := 0; len(key) < 2; i++ {
		name := fmt.Sprint("user-", i)
		key[placements(t, "murmur2", 2, name)[name]] = name
	}
	sticky := slices.Index(counts(c), 1)
	give(t, c, fmt.Sprintf("produce p0 %s k", key[sticky]))
	tick(t, c, 3)
	switches := stickySwitches(c)
	want := journal.StickyPartitionSwitched{From: kafka.Partition(sticky), To: kafka.Partition(1 - sticky), Rule: "sticky-480"}
	if diff := cmp.Diff(want, switches[len(switches)-1]); diff != "" {
		t.Errorf("the last switch (-want +got):\n%s", diff)
	}
	give(t, c, fmt.Sprintf("produce p0 %s k", key[sticky]))
	tick(t, c, 3)
	if n := len(stickySwitches(c)); n != len(switches) {
		t.Errorf("%d switches after a record in the other partition, want %d as before", n, len(switches))
	}
}

// A batch without room for a record is full, although the record goes to another partition: it does not
// wait for linger.ms.
func TestABatchWithoutRoomIsSentAtOnce(t *testing.T) {
	spec := orders(2, 1)
	spec.Producers[0].Config.Keyless = "sticky-480"
	spec.Producers[0].Config.Linger, spec.Producers[0].Config.BatchSize = 1000, 3000
	c := start(t, spec)
	give(t, c, "produce p0 - "+strings.Repeat("a", 2000))
	tick(t, c, 5)
	if got := counts(c); slices.Max(got) > 0 {
		t.Fatalf("%v: a batch of one record did not wait for linger.ms", got)
	}
	give(t, c, "produce p0 - "+strings.Repeat("b", 2000))
	tick(t, c, 5)
	// A request takes the batches of both partitions.
	if got, want := counts(c), []int{1, 1}; !slices.Equal(got, want) {
		t.Errorf("2,000 bytes and 2,000 more with batch.size 3,000: %v, want %v", got, want)
	}
}

// KIP-794: once every partition has had a record, a switch is drawn by the lengths of the queues.
func TestStickySwitchesByQueueLengths(t *testing.T) {
	spec := orders(3, 1)
	spec.Producers[0].Config.MaxInFlight, spec.Producers[0].Config.BatchSize = 1, 1000
	spec.Producers[0].Workload = engine.Workload{Rate: 12, Every: 10, ValueBytes: 300}
	c := start(t, spec)
	tick(t, c, 60)
	had := map[kafka.Partition]bool{}
	weighted := 0
	for _, e := range events(c) {
		switch b := e.Body.(type) {
		case journal.RecordPartitioned:
			had[b.TopicPartition.Partition] = true
		case journal.StickyPartitionSwitched:
			if len(b.Weights) == 0 {
				continue
			}
			weighted++
			if len(had) < 3 {
				t.Errorf("%s: weights before every partition had a record", b.Text())
			}
			longest := slices.Max(b.Queues)
			for i, queue := range b.Queues {
				if b.Partitions[i] != kafka.Partition(i) || b.Weights[i] != longest+1-queue {
					t.Errorf("%s: partition %d has the wrong weight", b.Text(), i)
				}
			}
		}
	}
	if weighted == 0 {
		t.Error("no switch was drawn by queue lengths")
	}
}

func stickySwitches(c *engine.Cluster) []journal.StickyPartitionSwitched {
	var list []journal.StickyPartitionSwitched
	for _, e := range events(c) {
		if b, ok := e.Body.(journal.StickyPartitionSwitched); ok {
			list = append(list, b)
		}
	}
	return list
}
