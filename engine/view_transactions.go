package engine

import (
	"slices"

	"loglab/engine/broker"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/txn"
)

// TransactionalView is a transactional.id of the run with its coordinator.
type TransactionalView struct {
	TransactionalID string               `json:"transactional_id"`
	Partition       kafka.TopicPartition `json:"transaction_state_partition"`
	Coordinator     kafka.NodeID         `json:"coordinator"`    // the leader of that partition; empty: none that runs
	Held            *txn.TransactionView `json:"held,omitempty"` // what the coordinator has of it; nil: nothing
}

// transactionalViews gives the transactional.ids of the run, by id.
func (c *Cluster) transactionalViews(image metadata.Image) (list []TransactionalView) {
	ids := c.spec.transactionalIDs()
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		v := TransactionalView{TransactionalID: id, Partition: TransactionsPartition(id)}
		p, _ := image.Partition(v.Partition)
		for _, b := range c.brokers {
			if held, leads := b.TransactionHeld(id); leads && b.Node() == broker.NodeID(p.Leader) && b.Up() {
				v.Coordinator, v.Held = b.Node(), held
			}
		}
		list = append(list, v)
	}
	return list
}
