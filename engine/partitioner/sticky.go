package partitioner

import (
	"math"
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// Sticky places records without a key as the Java producer does since 3.3: it stays with one
// partition until at least batch.size bytes have gone there, then draws another. Partitions with
// shorter queues are drawn more often (partitioner.adaptive.partitioning.enable, on by default). There
// is one Sticky a producer and topic. Copying it clones it. Make one with [NewSticky].
//
// A producer calls UpdateLoad whenever its sender checks which batches are ready, and for each record,
// in this order:
//
//  1. Partition says where the record goes.
//  2. If that partition's queue holds no incomplete batch, Appended with 0 bytes; if it switched, start
//     again: a switch that an incomplete batch had postponed happens before the record, not after it.
//  3. The record is appended.
//  4. Appended with the bytes that it added.
//
// Source: KIP-794; classes BuiltInPartitioner and RecordAccumulator.
//
// Simplified: no partition is left out because its broker is slow to take batches:
// partitioner.availability.timeout.ms is always 0, Kafka's default.
type Sticky struct {
	batchSize     int64
	producedBytes int64 // to the current partition, since it was drawn
	partition     kafka.Partition
	chosen        bool  // false until the first draw
	load          *Load // nil: no weights; shared by copies, never written
}

// Load is the lengths of a producer's queues when its sender last looked, and the weights they give.
// The three slices belong together and are only read.
type Load struct {
	Partitions []kafka.Partition // those with a leader, sorted
	Queues     []int             // batches in the queue of each
	Weights    []int             // of each in the draw: the longest queue + 1, less its own queue
}

// Switch is one change of the sticky partition: "switched from 2 to 0 after 16,410 bytes".
type Switch struct {
	From, To      kafka.Partition // may be equal: the draw can give the same partition again
	ProducedBytes int64           // bytes that went to From by the sticky path since it was drawn
	BatchSize     int64           // batch.size: the bytes at which a switch becomes due
	// Forced says that the switch came although the queue of From held an incomplete batch, because
	// ProducedBytes had reached twice BatchSize.
	Forced bool
	Load   *Load // the weights that To was drawn by; nil if every partition had the same chance
}

// NewSticky returns a Sticky that has chosen no partition yet. batchSize is batch.size in bytes; below
// 1 counts as 1, as in Kafka, where batch.size=0 turns batching off.
func NewSticky(batchSize int32) Sticky {
	return Sticky{batchSize: max(1, int64(batchSize))}
}

// UpdateLoad takes the lengths of the queues, in batches, by partition; nil as long as some partition
// has had no record yet, for until then Kafka knows only some of the queues. There are no weights
// without lengths, without a leader, with one partition, or when all partitions have a leader and queues
// of the same length.
//
// Source: RecordAccumulator.partitionReady, BuiltInPartitioner.updatePartitionLoadStats.
func (s *Sticky) UpdateLoad(queues []int, candidates Candidates) {
	s.load = nil
	if len(queues) < 2 || len(candidates.WithLeader) == 0 {
		return
	}
	longest, shortest := math.MinInt, math.MaxInt
	for _, partition := range candidates.WithLeader {
		longest, shortest = max(longest, queues[partition]), min(shortest, queues[partition])
	}
	n := len(candidates.WithLeader)
	if longest == shortest && n == len(queues) {
		return
	}
	load := Load{Partitions: candidates.WithLeader, Queues: make([]int, n), Weights: make([]int, n)}
	for i, partition := range load.Partitions {
		load.Queues[i], load.Weights[i] = queues[partition], longest+1-queues[partition]
	}
	s.load = &load
}

// Partition returns where the next record without a key goes. It draws the first time only; after
// that only Appended changes the answer, so a partition that loses its leader is kept until then.
func (s *Sticky) Partition(rnd *prng.Rand, candidates Candidates) kafka.Partition {
	if !s.chosen {
		s.partition = s.draw(rnd, candidates)
		s.chosen = true
	}
	return s.partition
}

// Appended reports that a record has made the current partition's queue longer by bytes (how much
// the estimated size of its batch grew, at least 0), and that the queue now ends in a batch that can
// take more records (incompleteBatch). It returns the switch to another partition, if that is due.
// Records with a key or a partition of their own are not reported. Partition comes before it.
func (s *Sticky) Appended(bytes int, incompleteBatch bool, rnd *prng.Rand, candidates Candidates) (Switch, bool) {
	s.producedBytes += int64(bytes)
	due := s.producedBytes >= s.batchSize && !incompleteBatch
	forced := s.producedBytes >= 2*s.batchSize && incompleteBatch
	if !due && !forced {
		return Switch{}, false
	}
	change := Switch{
		From:          s.partition,
		To:            s.draw(rnd, candidates),
		ProducedBytes: s.producedBytes,
		BatchSize:     s.batchSize,
		Forced:        forced,
		Load:          s.load,
	}
	s.partition, s.producedBytes = change.To, 0
	return change, true
}

// draw returns one partition, by the weights if there are any, else each candidate with the same chance.
//
// Source: BuiltInPartitioner.nextPartition.
func (s *Sticky) draw(rnd *prng.Rand, candidates Candidates) kafka.Partition {
	if s.load == nil {
		return candidates.draw(rnd)
	}
	sums, sum := make([]int, len(s.load.Weights)), 0
	for i, weight := range s.load.Weights {
		sum += weight
		sums[i] = sum
	}
	first, _ := slices.BinarySearch(sums, rnd.IntN(sum)+1) // the first sum above the number drawn
	return s.load.Partitions[first]
}
