package partitioner

import (
	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// Sticky480 places records without a key as the Java producer did from 2.4 to 3.2: it stays with one
// partition until that needs a new batch, then draws another. There is one Sticky480 a producer and
// topic. Copying it clones it, and the zero value has chosen no partition yet.
//
// A producer uses it for each record in this order:
//
//  1. Partition says where a record without a key goes.
//  2. If the last batch of the record's partition, with a key or without, does not take the record,
//     NewBatch. This holds for the very first record too, so its partition is drawn twice.
//  3. Partition says again where a record without a key goes. It goes there, into a new batch or not.
//
// Source: KIP-480; classes DefaultPartitioner and StickyPartitionCache, KafkaProducer.doSend (3.2).
type Sticky480 struct {
	partition kafka.Partition
	chosen    bool // false until the first draw
}

// Partition returns where the next record without a key goes. It draws the first time only; after that
// only NewBatch changes the answer, so a partition that loses its leader is kept until then.
func (s *Sticky480) Partition(rnd *prng.Rand, candidates Candidates) kafka.Partition {
	if !s.chosen {
		s.partition, s.chosen = s.next(rnd, candidates), true
	}
	return s.partition
}

// NewBatch reports that a record, with a key or without, needs a new batch in a partition (onNewBatch).
// It returns the switch to another partition, which comes if the sticky partition is that one. Before the
// first draw it draws and returns no switch.
func (s *Sticky480) NewBatch(in kafka.Partition, rnd *prng.Rand, candidates Candidates) (Switch, bool) {
	if !s.chosen {
		s.Partition(rnd, candidates)
		return Switch{}, false
	}
	if in != s.partition {
		return Switch{}, false
	}
	change := Switch{From: s.partition, To: s.next(rnd, candidates)}
	s.partition = change.To
	return change, change.To != change.From
}

// next draws until the partition is not the present one, if at least two have a leader.
//
// Source: StickyPartitionCache.nextPartition.
func (s *Sticky480) next(rnd *prng.Rand, candidates Candidates) kafka.Partition {
	if len(candidates.WithLeader) == 1 {
		return candidates.WithLeader[0]
	}
	drawn := candidates.draw(rnd)
	for s.chosen && drawn == s.partition && len(candidates.WithLeader) > 1 {
		drawn = candidates.draw(rnd)
	}
	return drawn
}
