package partitioner

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// Candidates are the partitions that a record without a key may go to.
type Candidates struct {
	WithLeader     []kafka.Partition // those whose leader the client knows, sorted; only read
	PartitionCount int32             // all partitions of the topic, at least 1
}

// count returns how many partitions there are to choose from.
func (c Candidates) count() int {
	if len(c.WithLeader) > 0 {
		return len(c.WithLeader)
	}
	if c.PartitionCount < 1 {
		panic(fmt.Sprintf("partitioner: a topic of %d partitions; it must have at least 1", c.PartitionCount))
	}
	return int(c.PartitionCount)
}

// at returns the choice number i, in [0, count): one with a leader, or any partition if none has one.
func (c Candidates) at(i int) kafka.Partition {
	if len(c.WithLeader) > 0 {
		return c.WithLeader[i]
	}
	return kafka.Partition(i)
}

// draw returns one of them, each with the same chance.
func (c Candidates) draw(rnd *prng.Rand) kafka.Partition {
	return c.at(rnd.IntN(c.count()))
}
