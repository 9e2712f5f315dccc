package coordinator

import (
	"math"

	"loglab/engine/kafka"
	"loglab/engine/partitioner"
)

// PartitionFor gives the partition of an internal topic that keeps a group or a transactional id; its leader is the
// coordinator.
//
// Source: GroupCoordinatorService.partitionFor, TransactionStateManager.partitionFor, Utils.abs: the absolute value of
// Java's hash code, where that of the smallest number is 0, modulo the number of partitions. It is not the mask that
// the producer uses.
func PartitionFor(id string, partitions int) kafka.Partition {
	hash := partitioner.JavaStringHashCode(id)
	if hash == math.MinInt32 {
		hash = 0
	}
	return kafka.Partition(int(max(hash, -hash)) % partitions)
}
