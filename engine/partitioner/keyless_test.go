package partitioner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// §3.1, KIP-794: a switch is due at batch.size, waits for an incomplete batch, and is forced at twice
// batch.size.
func TestStickySwitchesByBytes(t *testing.T) {
	type appended struct {
		bytes      int
		incomplete bool
		want       *Switch // without From and To
	}
	const seed = 794
	candidates := Candidates{WithLeader: []kafka.Partition{0, 1, 2, 3}, PartitionCount: 4}
	for _, test := range []struct {
		name      string
		batchSize int32
		steps     []appended
	}{
		{"due at batch.size, one byte earlier not", 16384, []appended{
			{16383, false, nil},
			{1, false, &Switch{ProducedBytes: 16384, BatchSize: 16384}},
			{16383, false, nil},
		}},
		{"the record that passes batch.size counts whole", 16384, []appended{
			{16301, false, nil},
			{109, false, &Switch{ProducedBytes: 16410, BatchSize: 16384}},
		}},
		{"an incomplete batch postpones, its end switches before the next record", 16384, []appended{
			{16384, true, nil},
			{5000, true, nil},
			{0, false, &Switch{ProducedBytes: 21384, BatchSize: 16384}},
			{16383, true, nil},
		}},
		{"forced at twice batch.size", 16384, []appended{
			{32767, true, nil},
			{1, true, &Switch{ProducedBytes: 32768, BatchSize: 16384, Forced: true}},
			{1, true, nil},
		}},
		{"a complete batch at twice batch.size is no forced switch", 100, []appended{
			{500, false, &Switch{ProducedBytes: 500, BatchSize: 100}},
		}},
		{"batch.size 0 counts as 1", 0, []appended{
			{0, false, nil},
			{1, true, nil},
			{1, true, &Switch{ProducedBytes: 2, BatchSize: 1, Forced: true}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rnd := prng.New(seed)
			sticky := NewSticky(test.batchSize)
			current := sticky.Partition(rnd, candidates)
			for i, step := range test.steps {
				change, switched := sticky.Appended(step.bytes, step.incomplete, rnd, candidates)
				if switched != (step.want != nil) {
					t.Fatalf("seed %d, step %d: switched %t: %+v", seed, i, switched, change)
				}
				if switched {
					want := *step.want
					want.From, want.To = current, sticky.Partition(rnd, candidates)
					if diff := cmp.Diff(want, change); diff != "" {
						t.Errorf("seed %d, step %d (-want +got):\n%s", seed, i, diff)
					}
				}
				current = sticky.Partition(rnd, candidates)
			}
		})
	}
}

func TestStickyDrawsEvenlyAmongPartitionsWithALeader(t *testing.T) {
	const seed, draws = 3, 30_000
	for _, test := range []struct {
		name       string
		candidates Candidates
		want       []kafka.Partition
	}{
		{"three of five have a leader", Candidates{WithLeader: []kafka.Partition{0, 2, 4}, PartitionCount: 5}, []kafka.Partition{0, 2, 4}},
		{"none has a leader", Candidates{PartitionCount: 3}, []kafka.Partition{0, 1, 2}},
	} {
		rnd := prng.New(seed)
		sticky := NewSticky(1)
		counts := map[kafka.Partition]int{}
		same := 0
		for range draws {
			counts[sticky.Partition(rnd, test.candidates)]++
			change, switched := sticky.Appended(1, false, rnd, test.candidates)
			if !switched {
				t.Fatalf("%s, seed %d: not switched", test.name, seed)
			}
			if change.From == change.To {
				same++
			}
		}
		if len(counts) != len(test.want) {
			t.Errorf("%s, seed %d: got %v, want only %v", test.name, seed, counts, test.want)
		}
		for _, partition := range test.want {
			if counts[partition] < draws/3-500 || counts[partition] > draws/3+500 {
				t.Errorf("%s, seed %d: partition %d came %d times of %d, want about a third", test.name, seed, partition, counts[partition], draws)
			}
		}
		// §3.1: the same partition may be drawn again.
		if same < draws/3-500 || same > draws/3+500 {
			t.Errorf("%s, seed %d: the same partition came again %d times of %d, want about a third", test.name, seed, same, draws)
		}
	}
}

func TestStickyKeepsAPartitionThatLosesItsLeader(t *testing.T) {
	const seed = 1
	rnd := prng.New(seed)
	sticky := NewSticky(16384)
	before := sticky.Partition(rnd, Candidates{WithLeader: []kafka.Partition{5}, PartitionCount: 6})
	after := sticky.Partition(rnd, Candidates{WithLeader: []kafka.Partition{0, 1}, PartitionCount: 6})
	if before != 5 || after != 5 {
		t.Errorf("seed %d: got %d then %d, want 5 and 5", seed, before, after)
	}
}

func TestStickyCopyIsAClone(t *testing.T) {
	const seed = 8
	candidates := Candidates{PartitionCount: 64}
	rnd := prng.New(seed)
	sticky := NewSticky(10)
	sticky.Partition(rnd, candidates)
	sticky.Appended(9, false, rnd, candidates)

	clone, cloneRnd := sticky, *rnd
	for i := range 20 {
		want, _ := sticky.Appended(i, false, rnd, candidates)
		got, _ := clone.Appended(i, false, &cloneRnd, candidates)
		if got != want {
			t.Fatalf("seed %d, step %d: the clone gives %+v, the original %+v", seed, i, got, want)
		}
	}
}

func TestRoundRobinTurn(t *testing.T) {
	for _, test := range []struct {
		name       string
		start      uint32
		candidates Candidates
		want       []kafka.Partition
	}{
		{"starts at the first", 0, Candidates{WithLeader: []kafka.Partition{0, 1, 2}, PartitionCount: 3}, []kafka.Partition{0, 1, 2, 0}},
		{"skips those without a leader", 0, Candidates{WithLeader: []kafka.Partition{1, 4}, PartitionCount: 5}, []kafka.Partition{1, 4, 1}},
		{"no leader at all", 0, Candidates{PartitionCount: 2}, []kafka.Partition{0, 1, 0}},
		{"from a drawn start", 5, Candidates{PartitionCount: 3}, []kafka.Partition{2, 0, 1}},
		{"starts over after 2^31 records", 1<<31 - 1, Candidates{PartitionCount: 4}, []kafka.Partition{3, 0, 1}},
	} {
		turn := RoundRobin{Next: test.start}
		var got []kafka.Partition
		for range test.want {
			got = append(got, turn.Partition(test.candidates))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
