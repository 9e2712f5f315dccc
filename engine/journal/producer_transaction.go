package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// TransactionsReady says that a transactional producer has its producer id and can begin transactions.
type TransactionsReady struct {
	TransactionalID string              `json:"transactional_id"`
	ProducerID      kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch   kafka.ProducerEpoch `json:"producer_epoch"`
	Raised          bool                `json:"raised"` // the epoch was raised after an error; false: initTransactions
}

// Kind gives the kind's name.
func (TransactionsReady) Kind() string { return "TransactionsReady" }

// Text gives id and epoch.
func (b TransactionsReady) Text() string {
	return fmt.Sprintf("%s id=%d epoch=%d", b.TransactionalID, b.ProducerID, b.ProducerEpoch)
}

// Sentence says what the epoch means for others.
func (b TransactionsReady) Sentence() string {
	if b.Raised {
		return fmt.Sprintf("InitProducerId has raised the epoch of producer id %d to %d after an error in the transaction before. All sequences begin again at 0.", b.ProducerID, b.ProducerEpoch)
	}
	return fmt.Sprintf("initTransactions is done: the coordinator gave transactional.id %s producer id %d, epoch %d. A transaction that a process before it left open is aborted, and whoever still writes with a smaller epoch is fenced.", b.TransactionalID, b.ProducerID, b.ProducerEpoch)
}

// TransactionCoordinatorFound says that a transactional producer knows its coordinator.
type TransactionCoordinatorFound struct {
	TransactionalID string       `json:"transactional_id"`
	Coordinator     kafka.NodeID `json:"coordinator"`
}

// Kind gives the kind's name.
func (TransactionCoordinatorFound) Kind() string { return "TransactionCoordinatorFound" }

// Text gives the broker.
func (b TransactionCoordinatorFound) Text() string {
	return fmt.Sprintf("%s %s", b.TransactionalID, b.Coordinator)
}

// Sentence gives the broker and why it is that one.
func (b TransactionCoordinatorFound) Sentence() string {
	return fmt.Sprintf("The transaction coordinator of transactional.id %s is %s: it leads the id's partition of __transaction_state.", b.TransactionalID, b.Coordinator)
}

// TransactionCoordinatorLost says that a transactional producer asks again who its coordinator is.
type TransactionCoordinatorLost struct {
	TransactionalID string       `json:"transactional_id"`
	Coordinator     kafka.NodeID `json:"coordinator"`
	Why             string       `json:"why"`
}

// Kind gives the kind's name.
func (TransactionCoordinatorLost) Kind() string { return "TransactionCoordinatorLost" }

// Text gives the broker and the reason.
func (b TransactionCoordinatorLost) Text() string {
	return fmt.Sprintf("%s %s: %s", b.TransactionalID, b.Coordinator, b.Why)
}

// Sentence gives the broker and the reason.
func (b TransactionCoordinatorLost) Sentence() string {
	return fmt.Sprintf("%s does not count as the coordinator of transactional.id %s any more: %s. The producer asks for it again.", b.Coordinator, b.TransactionalID, b.Why)
}

// TransactionRequestRetried says that a request of a transactional producer is sent again.
type TransactionRequestRetried struct {
	TransactionalID string       `json:"transactional_id"`
	API             string       `json:"api"`
	Error           string       `json:"error"`
	Backoff         kafka.Millis `json:"backoff_ms"`
}

// Kind gives the kind's name.
func (TransactionRequestRetried) Kind() string { return "TransactionRequestRetried" }

// Text gives the error and the wait.
func (b TransactionRequestRetried) Text() string {
	return fmt.Sprintf("%s %s %s backoff=%dms", b.TransactionalID, b.API, b.Error, b.Backoff)
}

// Sentence gives the error and the wait.
func (b TransactionRequestRetried) Sentence() string {
	why := ""
	if b.Error == "CONCURRENT_TRANSACTIONS" {
		why = ": the coordinator is not done with the transaction before"
	}
	return fmt.Sprintf("%s of transactional.id %s was answered with %s%s. The producer sends it again after %s ms, and no records meanwhile.", b.API, b.TransactionalID, b.Error, why, kafka.Thousands(b.Backoff))
}

// ProducerTransactionBegun says that an application has called beginTransaction.
type ProducerTransactionBegun struct {
	TransactionalID string              `json:"transactional_id"`
	Number          int                 `json:"number"` // of this producer's transactions, from 1
	ProducerID      kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch   kafka.ProducerEpoch `json:"producer_epoch"`
}

// Kind gives the kind's name.
func (ProducerTransactionBegun) Kind() string { return "ProducerTransactionBegun" }

// Text gives number, id and epoch.
func (b ProducerTransactionBegun) Text() string {
	return fmt.Sprintf("%s %d id=%d epoch=%d", b.TransactionalID, b.Number, b.ProducerID, b.ProducerEpoch)
}

// Sentence says that nobody learns of it.
func (b ProducerTransactionBegun) Sentence() string {
	return fmt.Sprintf("beginTransaction: transaction %d of transactional.id %s begins, with producer id %d, epoch %d. No request says so: the coordinator learns of it by the first partition.", b.Number, b.TransactionalID, b.ProducerID, b.ProducerEpoch)
}

// ProducerPartitionsAdded says that the coordinator has answered AddPartitionsToTxn.
type ProducerPartitionsAdded struct {
	TransactionalID string                 `json:"transactional_id"`
	Partitions      []kafka.TopicPartition `json:"partitions"` // sorted
}

// Kind gives the kind's name.
func (ProducerPartitionsAdded) Kind() string { return "ProducerPartitionsAdded" }

// Text gives the partitions.
func (b ProducerPartitionsAdded) Text() string {
	return fmt.Sprintf("%s [%s]", b.TransactionalID, texts(b.Partitions, " "))
}

// Sentence says what may be sent now.
func (b ProducerPartitionsAdded) Sentence() string {
	return fmt.Sprintf("The coordinator counts %s as part of the transaction of %s: from now on records may go there.", texts(b.Partitions, ", "), b.TransactionalID)
}

// OffsetsSentToTransaction says that a producer asks a group's coordinator to commit offsets with its transaction.
type OffsetsSentToTransaction struct {
	TransactionalID string             `json:"transactional_id"`
	Group           string             `json:"group"`
	Member          kafka.MemberID     `json:"member_id"`
	Generation      kafka.GenerationID `json:"generation"` // or the member epoch
	Offsets         []CommitOffset     `json:"offsets"`    // sorted
}

// Kind gives the kind's name.
func (OffsetsSentToTransaction) Kind() string { return "OffsetsSentToTransaction" }

// Text gives the offsets.
func (b OffsetsSentToTransaction) Text() string {
	return fmt.Sprintf("%s %s generation=%d %s", b.TransactionalID, b.Group, b.Generation, offsetList(b.Offsets, " "))
}

// Sentence gives the offsets and when they count.
func (b OffsetsSentToTransaction) Sentence() string {
	return fmt.Sprintf("sendOffsetsToTransaction: %s for group %s. They count when the transaction of %s is committed, and never if it is aborted.", offsetList(b.Offsets, ", "), b.Group, b.TransactionalID)
}

// OffsetsAddedToTransaction says that a group's coordinator keeps the offsets of a transaction.
type OffsetsAddedToTransaction struct {
	TransactionalID string `json:"transactional_id"`
	Group           string `json:"group"`
}

// Kind gives the kind's name.
func (OffsetsAddedToTransaction) Kind() string { return "OffsetsAddedToTransaction" }

// Text gives the group.
func (b OffsetsAddedToTransaction) Text() string {
	return fmt.Sprintf("%s %s", b.TransactionalID, b.Group)
}

// Sentence says what the offsets wait for.
func (b OffsetsAddedToTransaction) Sentence() string {
	return fmt.Sprintf("The coordinator of group %s keeps the offsets of the transaction of %s until its marker comes.", b.Group, b.TransactionalID)
}
