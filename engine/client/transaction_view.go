package client

import (
	"fmt"
	"slices"

	"loglab/engine/kafka"
)

// TransactionView is what can be seen of a transactional producer's transactions: an immutable value.
type TransactionView struct {
	TransactionalID string                 `json:"transactional_id"`
	Version         int                    `json:"transaction_version"`
	Timeout         kafka.Millis           `json:"transaction_timeout_ms"`
	State           TransactionState       `json:"transaction_state"`
	Error           string                 `json:"error,omitempty"`                         // of an error state
	Coordinator     kafka.NodeID           `json:"transaction_coordinator"`                 // empty: not known
	Partitions      []kafka.TopicPartition `json:"partitions_in_transaction"`               // sorted
	Adding          []kafka.TopicPartition `json:"partitions_to_be_added"`                  // sorted; only in version 1
	Offsets         []ProgressView         `json:"offsets_to_be_added,omitempty"`           // of a group, as Next
	Number          int                    `json:"transaction_number"`                      // of transactions begun
	Records         int                    `json:"records_in_transaction"`                  // handed in since it began
	Committed       int                    `json:"transactions_committed"`                  // by this process
	Aborted         int                    `json:"transactions_aborted"`                    // by this process
	ByHand          bool                   `json:"transaction_begun_by_hand,omitempty"`     // the open one
	Asking          string                 `json:"transaction_request_under_way,omitempty"` // the API
}

// transactionView gives the state of a producer's transactions; nil for one without.
func (p *Producer) transactionView() *TransactionView {
	if !p.config.transactional() {
		return nil
	}
	t := &p.txn
	v := &TransactionView{
		TransactionalID: p.config.TransactionalID, Version: p.config.TransactionVersion, Timeout: p.config.TransactionTimeout,
		State: t.state, Error: t.failure, Coordinator: t.coordinator, Partitions: slices.Clone(t.within), Number: t.number, Records: t.records,
		Committed: t.committed, Aborted: t.aborted, ByHand: p.app.byHand,
	}
	v.Adding = slices.Clone(t.fresh)
	for _, tp := range t.adding {
		v.Adding = plus(v.Adding, tp)
	}
	for _, o := range t.offsets {
		v.Offsets = append(v.Offsets, ProgressView{o.tp, o.offset, kafka.NoOffset})
	}
	if t.correlation != 0 {
		v.Asking = txnNames[t.current.kind]
	}
	return v
}

// txnDoes says what the sender does when it wakes, in words.
func (p *Producer) txnDoes() string {
	if p.txn.state == Uninitialized {
		return "begins with initTransactions"
	}
	return fmt.Sprintf("sends %s", txnNames[p.txn.current.kind])
}
