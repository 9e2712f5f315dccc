package group

import (
	"math"

	"loglab/engine/kafka"
	"loglab/engine/partitioner"
)

// PartitionFor gives the partition of __consumer_offsets that keeps a group; its leader is the group's coordinator.
//
// Source: GroupCoordinatorService.partitionFor, Utils.abs: the absolute value of Java's hash code, where that of the
// smallest number is 0, modulo the number of partitions. It is not the mask that the producer uses.
func PartitionFor(groupID string, partitions int) kafka.Partition {
	hash := partitioner.JavaStringHashCode(groupID)
	if hash == math.MinInt32 {
		hash = 0
	}
	return kafka.Partition(int(max(hash, -hash)) % partitions)
}
