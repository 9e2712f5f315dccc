package txn

import (
	"slices"

	"loglab/engine/kafka"
)

// TransactionView is a transactional id at one moment, a value that never changes: what is written of it, and to which
// state it is to come next.
type TransactionView struct {
	TransactionalID          string                 `json:"transactional_id"`
	State                    State                  `json:"state"`
	PendingState             State                  `json:"pending_state"` // that it comes to when the markers, or its record, are written; empty: none
	ProducerID               kafka.ProducerID       `json:"producer_id"`
	ProducerEpoch            kafka.ProducerEpoch    `json:"producer_epoch"`       // -1: its first InitProducerID is not written yet
	LastProducerEpoch        kafka.ProducerEpoch    `json:"last_producer_epoch"`  // that its producer had before; -1: not known
	PreviousProducerID       kafka.ProducerID       `json:"previous_producer_id"` // before the last change; -1: none, or not known
	NextProducerID           kafka.ProducerID       `json:"next_producer_id"`     // when the transaction is complete; -1: the same
	Partitions               []kafka.TopicPartition `json:"partitions"`           // in a state that begins with Prepare those whose markers are missing; sorted
	Start                    kafka.Timestamp        `json:"start"`                // of the transaction; -1: there is none
	LastUpdate               kafka.Timestamp        `json:"last_update"`
	Timeout                  kafka.Millis           `json:"timeout_ms"`                 // transaction.timeout.ms
	ClientTransactionVersion int16                  `json:"client_transaction_version"` // 2: each transaction raises the epoch
	TimesOut                 kafka.Millis           `json:"times_out"`                  // when the coordinator aborts it, if it is Ongoing then; 0: never
}

// View gives the transactional ids in order.
func (c *Coordinator) View() []TransactionView {
	views := make([]TransactionView, 0, len(c.transactions))
	for _, t := range c.transactions {
		views = append(views, TransactionView{
			TransactionalID: t.id, State: t.state, PendingState: t.pending, ProducerID: t.producerID, ProducerEpoch: t.epoch,
			LastProducerEpoch: t.lastProducerEpoch, PreviousProducerID: t.previousProducerID, NextProducerID: t.nextProducerID,
			Partitions: slices.Clone(t.partitions), Start: t.start, LastUpdate: t.updated, Timeout: t.timeout,
			ClientTransactionVersion: t.client, TimesOut: c.timesOut(t).due,
		})
	}
	return views
}
