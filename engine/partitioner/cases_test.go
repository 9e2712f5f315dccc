package partitioner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// PART-01: one key, 15 partitions, three producers, three partitions.
func TestPART01SameKeyDifferentPartition(t *testing.T) {
	key := []byte("TT0124")
	for name, want := range map[string]kafka.Partition{"murmur2": 10, "crc32": 9, "crc32-random": 9, "fnv1a": 2} {
		if got, ok := byName(t, name).Partition(key, 15); !ok || got != want {
			t.Errorf("%s: got %d, %t, want %d", name, got, ok, want)
		}
	}
	if got := byName(t, "murmur2").Hash(key).Unsigned(); got != 2852638518 {
		t.Errorf("murmur2 unsigned: got %d, want 2852638518", got)
	}
}

// PART-04: an empty key is hashed by murmur2 and is no key for consistent_random; a null key is a key
// for nobody but librdkafka's consistent, which takes its CRC-32 for 0.
func TestPART04EmptyKeyIsNotANullKey(t *testing.T) {
	type answer struct {
		Partition kafka.Partition
		OK        bool
	}
	var null []byte
	empty := []byte{}
	for _, test := range []struct {
		name        string
		key         []byte
		n           int32
		want        answer
		description string
	}{
		{"murmur2", empty, 6, answer{3, true}, "empty key"},
		{"murmur2", empty, 3, answer{0, true}, "empty key"},
		{"murmur2", null, 6, answer{0, false}, "null key"},
		{"crc32-random", empty, 6, answer{0, false}, "empty key"},
		{"crc32-random", null, 6, answer{0, false}, "null key"},
		{"crc32", empty, 6, answer{0, true}, "empty key"},
		{"crc32", null, 6, answer{0, true}, "null key"},
		{"fnv1a", null, 6, answer{0, false}, "null key"},
		{"fnv1a-reference", null, 6, answer{0, false}, "null key"},
		{"kafkajs-legacy", null, 6, answer{0, false}, "null key"},
		{"murmur3", null, 6, answer{0, false}, "null key"},
		{"java-hashcode", null, 6, answer{0, false}, "null key"},
	} {
		partition, ok := byName(t, test.name).Partition(test.key, test.n)
		if got := (answer{partition, ok}); got != test.want {
			t.Errorf("%s, %s, %d partitions: got %v, want %v", test.name, test.description, test.n, got, test.want)
		}
	}
	if got := byName(t, "murmur2").Hash(empty).Unsigned(); got != 275646681 {
		t.Errorf("murmur2 of no bytes: got %d, want 275646681", got)
	}
}

// PART-05: what adding partitions does to six keys.
func TestPART05AddingPartitionsMovesKeys(t *testing.T) {
	keys := []string{"user-1", "user-2", "user-3", "user-4", "user-5", "user-6"}
	murmur2 := byName(t, "murmur2")
	three := partitionsOf(t, murmur2, 3, keys...)
	moved := func(after []kafka.Partition) (count int) {
		for i := range three {
			if three[i] != after[i] {
				count++
			}
		}
		return count
	}
	if diff := cmp.Diff([]kafka.Partition{2, 2, 2, 1, 1, 2}, three); diff != "" {
		t.Errorf("3 partitions (-want +got):\n%s", diff)
	}
	for _, test := range []struct {
		n     int32
		want  []kafka.Partition
		moved int
	}{
		{4, []kafka.Partition{0, 0, 3, 3, 2, 1}, 6},
		{6, []kafka.Partition{2, 2, 5, 1, 4, 5}, 3},
	} {
		after := partitionsOf(t, murmur2, test.n, keys...)
		if diff := cmp.Diff(test.want, after); diff != "" {
			t.Errorf("%d partitions (-want +got):\n%s", test.n, diff)
		}
		if got := moved(after); got != test.moved {
			t.Errorf("3 to %d partitions: %d keys moved, want %d", test.n, got, test.moved)
		}
	}
}

// PART-06: ten records of 100 bytes without a key, three partitions. A record of 100 bytes without
// key and headers takes 109 bytes in a batch (§1.2), after the 61 bytes of the batch's header.
func TestPART06KeylessRecordsStick(t *testing.T) {
	const seed, records, recordBytes, headerBytes = 6, 10, 109, 61
	candidates := Candidates{WithLeader: []kafka.Partition{0, 1, 2}, PartitionCount: 3}

	rnd := prng.New(seed)
	sticky := NewSticky(16384)
	perPartition := map[kafka.Partition]int{}
	for i := range records {
		perPartition[sticky.Partition(rnd, candidates)]++
		bytes := recordBytes
		if i == 0 {
			bytes += headerBytes
		}
		if change, switched := sticky.Appended(bytes, true, rnd, candidates); switched {
			t.Errorf("seed %d: switched after record %d: %+v", seed, i+1, change)
		}
	}
	if len(perPartition) != 1 {
		t.Errorf("seed %d: sticky used %d partitions, want 1: %v", seed, len(perPartition), perPartition)
	}

	var turn RoundRobin
	counts := make([]int, 3)
	for range records {
		counts[turn.Partition(candidates)]++
	}
	if diff := cmp.Diff([]int{4, 3, 3}, counts); diff != "" {
		t.Errorf("round robin (-want +got):\n%s", diff)
	}
}

// PART-06: about 150 records of 100 bytes go to one partition before the switch, if each batch is
// gone before the next record comes.
func TestPART06SwitchAfterAbout150Records(t *testing.T) {
	const seed, recordBytes = 6, 109
	candidates := Candidates{WithLeader: []kafka.Partition{0, 1, 2}, PartitionCount: 3}
	rnd := prng.New(seed)
	sticky := NewSticky(16384)
	first := sticky.Partition(rnd, candidates)
	for record := 1; ; record++ {
		change, switched := sticky.Appended(recordBytes, false, rnd, candidates)
		if !switched {
			continue
		}
		if record != 151 || change.From != first || change.ProducedBytes != 16459 || change.BatchSize != 16384 || change.Forced {
			t.Errorf("seed %d: record %d: %+v, want the switch from %d after record 151 with 16459 bytes", seed, record, change, first)
		}
		return
	}
}
