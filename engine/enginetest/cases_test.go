package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
	"loglab/engine/journal"
)

// placements runs one record of each key and gives the partitions they stand in.
func placements(t *testing.T, partitioner string, partitions int, keys ...string) map[string]int {
	t.Helper()
	spec := orders(partitions, 1)
	spec.Producers[0].Config.Partitioner = partitioner
	c := start(t, spec)
	for _, key := range keys {
		give(t, c, fmt.Sprintf("produce p0 %q %q", key, key))
	}
	tick(t, c, 5)
	found := map[string]int{}
	for p := range partitions {
		for _, content := range contents(t, c, p) {
			_, key, _ := strings.Cut(content, ":")
			found[key] = p
		}
	}
	return found
}

// PART-01: one key, three clients, three partitions of fifteen.
func TestPART01(t *testing.T) {
	for partitioner, want := range map[string]int{"murmur2": 10, "crc32-random": 9, "crc32": 9, "fnv1a": 2} {
		if got := placements(t, partitioner, 15, "TT0124")["TT0124"]; got != want {
			t.Errorf("%s: TT0124 stands in partition %d, want %d", partitioner, got, want)
		}
	}
}

// PART-04: an empty key is a key for murmur2 and none for consistent_random; a null key never is.
func TestPART04(t *testing.T) {
	send := func(partitioner, keyless, command string, partitions int) []int {
		spec := orders(partitions, 1)
		spec.Producers[0].Config.Partitioner, spec.Producers[0].Config.Keyless = partitioner, keyless
		c := start(t, spec)
		for range 60 {
			give(t, c, command)
			tick(t, c, 1)
		}
		tick(t, c, 5)
		return counts(c)
	}
	if got, want := send("murmur2", "sticky", `produce p0 ""`, 6), []int{0, 0, 0, 60, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("empty key, murmur2, 6 partitions: %v, want %v", got, want)
	}
	if got, want := send("murmur2", "sticky", `produce p0 ""`, 3), []int{60, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("empty key, murmur2, 3 partitions: %v, want %v", got, want)
	}
	for name, got := range map[string][]int{
		"null key, murmur2, round-robin":         send("murmur2", "round-robin", "produce p0", 6),
		"empty key, crc32-random, round-robin":   send("crc32-random", "round-robin", `produce p0 ""`, 6),
		"null key, long values, murmur2, sticky": send("murmur2", "sticky", "produce p0 - "+strings.Repeat("v", 2000), 6),
	} {
		used := 0
		for _, n := range got {
			if n > 0 {
				used++
			}
		}
		if used < 2 {
			t.Errorf("%s: %v, want more than one partition over time", name, got)
		}
	}
}

// PART-05, the placements: adding partitions moves keys, and only by the modulus.
func TestPART05Placements(t *testing.T) {
	keys := []string{"user-1", "user-2", "user-3", "user-4", "user-5", "user-6"}
	for partitions, want := range map[int][]int{3: {2, 2, 2, 1, 1, 2}, 4: {0, 0, 3, 3, 2, 1}, 6: {2, 2, 5, 1, 4, 5}} {
		found := placements(t, "murmur2", partitions, keys...)
		for i, key := range keys {
			if found[key] != want[i] {
				t.Errorf("%d partitions: %s stands in %d, want %d", partitions, key, found[key], want[i])
			}
		}
	}
}

// PART-06: records without a key stay in one partition until batch.size bytes have gone there.
func TestPART06(t *testing.T) {
	spec := orders(3, 3)
	spec.Producers[0].Workload = engine.Workload{Rate: 10, Every: 10, ValueBytes: 100}
	c := start(t, spec)
	tick(t, c, 2)
	first := counts(c)
	slices.Sort(first)
	if want := []int{0, 0, 10}; !slices.Equal(first, want) {
		t.Errorf("10 records of 100 bytes: %v (sorted), want %v", first, want)
	}
	tick(t, c, 20)
	handed := 0
	for _, e := range events(c) {
		switch b := e.Body.(type) {
		case journal.RecordPartitioned:
			handed++
		case journal.StickyPartitionSwitched:
			// 15 batches of 10 records: the switch is due at 16,384 bytes and waits for the end of the batch.
			if handed != 150 || b.BatchSize != 16384 || b.Bytes < 16384 || b.Bytes >= 2*16384 {
				t.Errorf("switched after %d records and %d bytes with batch.size %d, want 150 records and at least 16384 bytes", handed, b.Bytes, b.BatchSize)
			}
			return
		}
	}
	t.Errorf("no switch in %d records", handed)
}

// PART-06, the old rule: round robin gives 10 records as 4, 3, 3.
func TestPART06RoundRobin(t *testing.T) {
	spec := orders(3, 3)
	spec.Producers[0].Config.Keyless = "round-robin"
	spec.Producers[0].Workload = engine.Workload{Rate: 10, Every: 10, ValueBytes: 100}
	c := start(t, spec)
	tick(t, c, 2)
	if got, want := counts(c), []int{4, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("10 records: %v, want %v", got, want)
	}
}

// BAS-01: two producers and one consumer: the log is ordered by arrival, one consumer reads all of it.
func TestBAS01(t *testing.T) {
	spec := orders(1, 1)
	spec.Producers = append(spec.Producers, spec.Producers[0])
	c := start(t, spec)
	give(t, c, "produce p0 - a1")
	tick(t, c, 1)
	give(t, c, "produce p1 - b1")
	tick(t, c, 1)
	give(t, c, "produce p0 - a2")
	tick(t, c, 6)
	if diff := cmp.Diff([]string{"0:a1", "1:b1", "2:a2"}, contents(t, c, 0)); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	var next, read int64
	for _, e := range events(c) {
		if b, ok := e.Body.(journal.RecordsRead); ok {
			if e.Node != "c0" || int64(b.From) != next {
				t.Errorf("%s read from %d, want c0 to read from %d", e.Node, b.From, next)
			}
			next = int64(b.To)
			read += int64(b.Records)
		}
	}
	if read != 3 || next != 3 {
		t.Errorf("c0 read %d records up to %d, want 3 up to 3", read, next)
	}
}
