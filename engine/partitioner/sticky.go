package partitioner

import (
	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// Sticky places records without a key as the Java producer does since 3.3: it stays with one
// partition until at least batch.size bytes have gone there, then draws another. There is one Sticky
// a producer and topic. Copying it clones it. Make one with [NewSticky].
//
// A producer uses it for each record in this order:
//
//  1. Partition says where the record goes.
//  2. If that partition's queue holds no incomplete batch, Appended with 0 bytes; if it switched, start
//     again: a switch that an incomplete batch had postponed happens before the record, not after it.
//  3. The record is appended.
//  4. Appended with the bytes that it added.
//
// Source: KIP-794; classes BuiltInPartitioner and RecordAccumulator.
//
// Simplified: the sticky partitioner draws every partition with a leader with the same chance. Kafka's
// gives shorter queues a higher chance once their lengths differ
// (partitioner.adaptive.partitioning.enable), and can leave out partitions on slow brokers
// (partitioner.availability.timeout.ms).
type Sticky struct {
	batchSize     int64
	producedBytes int64 // to the current partition, since it was drawn
	partition     kafka.Partition
	chosen        bool // false until the first draw
}

// Switch is one change of the sticky partition: "switched from 2 to 0 after 16,410 bytes".
type Switch struct {
	From, To      kafka.Partition // may be equal: the draw can give the same partition again
	ProducedBytes int64           // bytes that went to From by the sticky path since it was drawn
	BatchSize     int64           // batch.size: the bytes at which a switch becomes due
	// Forced says that the switch came although the queue of From held an incomplete batch, because
	// ProducedBytes had reached twice BatchSize.
	Forced bool
}

// NewSticky returns a Sticky that has chosen no partition yet. batchSize is batch.size in bytes; below
// 1 counts as 1, as in Kafka, where batch.size=0 turns batching off.
func NewSticky(batchSize int32) Sticky {
	return Sticky{batchSize: max(1, int64(batchSize))}
}

// Partition returns where the next record without a key goes. It draws the first time only; after
// that only Appended changes the answer, so a partition that loses its leader is kept until then.
func (s *Sticky) Partition(rnd *prng.Rand, candidates Candidates) kafka.Partition {
	if !s.chosen {
		s.partition = draw(rnd, candidates)
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
		To:            draw(rnd, candidates),
		ProducedBytes: s.producedBytes,
		BatchSize:     s.batchSize,
		Forced:        forced,
	}
	s.partition, s.producedBytes = change.To, 0
	return change, true
}

// draw returns one candidate, each with the same chance.
func draw(rnd *prng.Rand, candidates Candidates) kafka.Partition {
	return candidates.at(rnd.IntN(candidates.count()))
}
