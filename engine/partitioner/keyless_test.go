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

// §3.1: lengths 0, 3, 1 give weights 4, 1, 3; the cases without weights are those of
// updatePartitionLoadStats and partitionReady.
func TestStickyWeights(t *testing.T) {
	for _, test := range []struct {
		name       string
		queues     []int
		withLeader []kafka.Partition
		want       *Load
	}{
		{"the lengths of the facts", []int{0, 3, 1}, []kafka.Partition{0, 1, 2},
			&Load{Partitions: []kafka.Partition{0, 1, 2}, Queues: []int{0, 3, 1}, Weights: []int{4, 1, 3}}},
		{"only partitions with a leader, and the longest of theirs", []int{0, 9, 3, 1}, []kafka.Partition{0, 2, 3},
			&Load{Partitions: []kafka.Partition{0, 2, 3}, Queues: []int{0, 3, 1}, Weights: []int{4, 1, 3}}},
		{"equal among those with a leader, but not every partition has one", []int{2, 2, 2}, []kafka.Partition{0, 2},
			&Load{Partitions: []kafka.Partition{0, 2}, Queues: []int{2, 2}, Weights: []int{1, 1}}},
		{"one with a leader", []int{5, 0}, []kafka.Partition{0},
			&Load{Partitions: []kafka.Partition{0}, Queues: []int{5}, Weights: []int{1}}},
		{"equal and complete", []int{2, 2, 2}, []kafka.Partition{0, 1, 2}, nil},
		{"some partition has had no record", nil, []kafka.Partition{0, 1, 2}, nil},
		{"no leader", []int{0, 3, 1}, nil, nil},
		{"one partition", []int{7}, []kafka.Partition{0}, nil},
	} {
		const seed = 1
		rnd := prng.New(seed)
		candidates := Candidates{WithLeader: test.withLeader, PartitionCount: int32(max(1, len(test.queues)))}
		sticky := NewSticky(1)
		sticky.UpdateLoad([]int{0, 1}, Candidates{WithLeader: []kafka.Partition{0, 1}, PartitionCount: 2})
		sticky.UpdateLoad(test.queues, candidates)
		sticky.Partition(rnd, candidates)
		change, _ := sticky.Appended(1, false, rnd, candidates)
		if diff := cmp.Diff(test.want, change.Load); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// Of the eight numbers that can be drawn for weights 4, 1, 3, the first four mean the first partition, the
// fifth the second, the last three the third. The same numbers are drawn here from the same seed.
func TestStickyDrawsByWeight(t *testing.T) {
	const seed, draws = 413, 8_000
	rnd, numbers := prng.New(seed), prng.New(seed)
	candidates := Candidates{WithLeader: []kafka.Partition{0, 2, 5}, PartitionCount: 6}
	sticky := NewSticky(1)
	sticky.UpdateLoad([]int{0, 7, 3, 7, 7, 1}, candidates)
	sticky.Partition(rnd, candidates)
	places := []kafka.Partition{0, 0, 0, 0, 2, 5, 5, 5}
	want := map[kafka.Partition]int{}
	got := map[kafka.Partition]int{sticky.partition: 1}
	for range draws - 1 {
		change, _ := sticky.Appended(1, false, rnd, candidates)
		got[change.To]++
	}
	for range draws {
		want[places[numbers.IntN(8)]]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("seed %d (-want +got):\n%s", seed, diff)
	}
	for partition, share := range map[kafka.Partition]int{0: draws / 2, 2: draws / 8, 5: draws * 3 / 8} {
		if got[partition] < share-150 || got[partition] > share+150 {
			t.Errorf("seed %d: partition %d came %d times of %d, want about %d", seed, partition, got[partition], draws, share)
		}
	}
}

// KIP-480: any record that needs a new batch in the sticky partition moves it, to another one if two have a
// leader; a new batch elsewhere does not.
func TestSticky480(t *testing.T) {
	const seed = 480
	rnd := prng.New(seed)
	candidates := Candidates{WithLeader: []kafka.Partition{0, 2, 4}, PartitionCount: 5}
	var sticky Sticky480
	current := sticky.Partition(rnd, candidates)
	for other := range kafka.Partition(5) {
		if other == current {
			continue
		}
		if change, ok := sticky.NewBatch(other, rnd, candidates); ok || sticky.Partition(rnd, candidates) != current {
			t.Fatalf("seed %d: a new batch in %d moved the sticky partition %d: %+v", seed, other, current, change)
		}
	}
	const moves = 6_000
	counts := map[[2]kafka.Partition]int{}
	for range moves {
		change, ok := sticky.NewBatch(current, rnd, candidates)
		next := sticky.Partition(rnd, candidates)
		if want := (Switch{From: current, To: next}); !ok || change != want || next == current {
			t.Fatalf("seed %d: a new batch in %d gave %+v and then partition %d, want another one", seed, current, change, next)
		}
		counts[[2]kafka.Partition{current, next}]++
		current = next
	}
	if len(counts) != 6 {
		t.Errorf("seed %d: %v, want moves between partitions 0, 2 and 4 only", seed, counts)
	}
	for pair, n := range counts {
		if n < moves/6-150 || n > moves/6+150 {
			t.Errorf("seed %d: %v came %d times of %d, want about a sixth", seed, pair, n, moves)
		}
	}
}

func TestSticky480WithFewLeaders(t *testing.T) {
	const seed = 481
	rnd := prng.New(seed)
	one := Candidates{WithLeader: []kafka.Partition{3}, PartitionCount: 4}
	var sticky Sticky480
	if change, ok := sticky.NewBatch(1, rnd, one); ok || sticky.Partition(rnd, one) != 3 {
		t.Errorf("seed %d: before the first draw: %+v, %t, then partition %d, want no switch and 3", seed, change, ok, sticky.Partition(rnd, one))
	}
	if change, ok := sticky.NewBatch(3, rnd, one); ok || sticky.Partition(rnd, one) != 3 {
		t.Errorf("seed %d: the only leader: %+v, %t, want no switch", seed, change, ok)
	}
	two := Candidates{WithLeader: []kafka.Partition{0, 1}, PartitionCount: 4}
	if sticky.Partition(rnd, two) != 3 {
		t.Errorf("seed %d: the partition that lost its leader was left before a new batch was needed", seed)
	}
	sticky.NewBatch(3, rnd, two)
	if got := sticky.Partition(rnd, two); got > 1 {
		t.Errorf("seed %d: %d has no leader", seed, got)
	}
	none := Candidates{PartitionCount: 2}
	stayed := 0
	for range 1000 {
		current := sticky.Partition(rnd, none)
		if _, ok := sticky.NewBatch(current, rnd, none); !ok {
			stayed++
		}
	}
	if stayed < 400 || stayed > 600 {
		t.Errorf("seed %d: without a leader the same of 2 partitions came %d times of 1000, want about half", seed, stayed)
	}
}
