package controller

import (
	"slices"

	"loglab/engine/metadata"
	"loglab/engine/sabotage"
)

// sabotaged breaks a rule about epochs in what the controller knows, if a test wants that: a partition epoch falls, or
// a change of the leader leaves the leader epoch.
func (c *Controller) sabotaged(before, after metadata.Image) metadata.Image {
	if c.config.Sabotage != sabotage.EpochFalls && c.config.Sabotage != sabotage.EpochStands {
		return after
	}
	after.Topics = slices.Clone(after.Topics)
	for t := range after.Topics {
		after.Topics[t].Partitions = slices.Clone(after.Topics[t].Partitions)
		for i := range after.Topics[t].Partitions {
			p := &after.Topics[t].Partitions[i]
			if t >= len(before.Topics) || i >= len(before.Topics[t].Partitions) || p.PartitionEpoch == before.Topics[t].Partitions[i].PartitionEpoch {
				continue
			}
			if c.config.Sabotage == sabotage.EpochFalls {
				p.PartitionEpoch -= 2
			} else {
				p.LeaderEpoch = before.Topics[t].Partitions[i].LeaderEpoch
			}
		}
	}
	return after
}
