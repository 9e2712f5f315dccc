package group

import (
	"loglab/engine/coordinator"
	"loglab/engine/kafka"
)

// PartitionFor gives the partition of __consumer_offsets that keeps a group; its leader is the group's coordinator.
//
// Source: GroupCoordinatorService.partitionFor.
func PartitionFor(groupID string, partitions int) kafka.Partition {
	return coordinator.PartitionFor(groupID, partitions)
}
