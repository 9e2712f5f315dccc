package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// TransactionVerificationAsked says that a leader asks the coordinator of a transaction about the partition that a batch
// goes to, before it appends the first one.
type TransactionVerificationAsked struct {
	TransactionalID string                 `json:"transactional_id"`
	ProducerID      kafka.ProducerID       `json:"producer_id"`
	ProducerEpoch   kafka.ProducerEpoch    `json:"producer_epoch"`
	Partitions      []kafka.TopicPartition `json:"partitions"`
	VerifyOnly      bool                   `json:"verify_only"` // the producer has added them itself
}

// Kind gives the kind's name.
func (TransactionVerificationAsked) Kind() string { return "TransactionVerificationAsked" }

// Text gives the transaction and the partitions.
func (b TransactionVerificationAsked) Text() string {
	return fmt.Sprintf("%s pid=%d epoch=%d %s verify_only=%t", b.TransactionalID, b.ProducerID, b.ProducerEpoch, partitionList(b.Partitions, ","), b.VerifyOnly)
}

// Sentence gives the rule.
func (b TransactionVerificationAsked) Sentence() string {
	if b.VerifyOnly {
		return fmt.Sprintf("The first batch of a transaction in %s waits: the leader asks the coordinator of %s whether the producer has added the partition (AddPartitionsToTxn, verify only; transaction.partition.verification.enable).",
			partitionList(b.Partitions, ", "), b.TransactionalID)
	}
	return fmt.Sprintf("The first batch of a transaction in %s waits: the leader has the coordinator of %s add the partition to the transaction (AddPartitionsToTxn; with transaction.version = 2 the producer need not).",
		partitionList(b.Partitions, ", "), b.TransactionalID)
}

// TransactionVerificationFailed says that a leader does not append a batch: its transaction's coordinator said no, or could
// not be asked.
type TransactionVerificationFailed struct {
	TransactionalID string               `json:"transactional_id"`
	TopicPartition  kafka.TopicPartition `json:"topic_partition"`
	Error           string               `json:"error"` // that the client is told
	Why             string               `json:"why"`
}

// Kind gives the kind's name.
func (TransactionVerificationFailed) Kind() string { return "TransactionVerificationFailed" }

// Text gives partition, error and reason.
func (b TransactionVerificationFailed) Text() string {
	return fmt.Sprintf("%s %s %s: %s", b.TransactionalID, b.TopicPartition, b.Error, b.Why)
}

// Sentence gives the answer and the reason.
func (b TransactionVerificationFailed) Sentence() string {
	return fmt.Sprintf("Nothing is appended to %s: %s. The client is answered %s.", b.TopicPartition, b.Why, b.Error)
}

// TransactionEnded says that the marker of a transaction is in a partition's log.
type TransactionEnded struct {
	TopicPartition   kafka.TopicPartition `json:"topic_partition"`
	ProducerID       kafka.ProducerID     `json:"producer_id"`
	ProducerEpoch    kafka.ProducerEpoch  `json:"producer_epoch"` // of the marker
	Marker           string               `json:"marker"`         // COMMIT or ABORT
	Offset           kafka.Offset         `json:"offset"`         // that the marker has
	CoordinatorEpoch int32                `json:"coordinator_epoch"`
	FirstOffset      kafka.Offset         `json:"first_offset"` // of the transaction here; -1: it had nothing here
	HighWatermark    kafka.Offset         `json:"high_watermark"`
	LastStableOffset kafka.Offset         `json:"last_stable_offset"`
}

// Kind gives the kind's name.
func (TransactionEnded) Kind() string { return "TransactionEnded" }

// Text gives the marker and where the last stable offset is.
func (b TransactionEnded) Text() string {
	return fmt.Sprintf("%s %s pid=%d epoch=%d offset=%d first=%d hw=%d lso=%d", b.TopicPartition, b.Marker, b.ProducerID, b.ProducerEpoch, b.Offset, b.FirstOffset, b.HighWatermark, b.LastStableOffset)
}

// Sentence gives what the marker ends, and why readers of committed records may have to wait still.
func (b TransactionEnded) Sentence() string {
	s := fmt.Sprintf("%s: the %s marker of producer id %s takes offset %s", b.TopicPartition, b.Marker, kafka.Thousands(b.ProducerID), kafka.Thousands(b.Offset))
	if b.FirstOffset < 0 {
		return s + ". No transaction of that producer was open here."
	}
	s += fmt.Sprintf(" and ends the transaction that began at %s.", kafka.Thousands(b.FirstOffset))
	if b.Offset >= b.HighWatermark {
		s += fmt.Sprintf(" It counts when it is below the high watermark, now %s:", kafka.Thousands(b.HighWatermark))
	}
	return s + fmt.Sprintf(" read_committed reads up to the last stable offset, %s.", kafka.Thousands(b.LastStableOffset))
}

// MarkerRefused says that a leader did not append the marker of a transaction.
type MarkerRefused struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	ProducerID     kafka.ProducerID     `json:"producer_id"`
	ProducerEpoch  kafka.ProducerEpoch  `json:"producer_epoch"`
	Error          string               `json:"error"`
	Why            string               `json:"why"`
}

// Kind gives the kind's name.
func (MarkerRefused) Kind() string { return "MarkerRefused" }

// Text gives error and reason.
func (b MarkerRefused) Text() string {
	return fmt.Sprintf("%s pid=%d epoch=%d %s: %s", b.TopicPartition, b.ProducerID, b.ProducerEpoch, b.Error, b.Why)
}

// Sentence gives error and reason.
func (b MarkerRefused) Sentence() string {
	return fmt.Sprintf("%s: the marker of producer id %s is refused: %s, %s.", b.TopicPartition, kafka.Thousands(b.ProducerID), b.Error, b.Why)
}

// MarkerRetried says that a leader has not written a marker, and is asked again.
type MarkerRetried struct {
	TransactionalID string               `json:"transactional_id"`
	TopicPartition  kafka.TopicPartition `json:"topic_partition"`
	Error           string               `json:"error"`
	Retry           kafka.Millis         `json:"retry_ms"`
}

// Kind gives the kind's name.
func (MarkerRetried) Kind() string { return "MarkerRetried" }

// Text gives partition and error.
func (b MarkerRetried) Text() string {
	return fmt.Sprintf("%s %s %s retry=%d", b.TransactionalID, b.TopicPartition, b.Error, b.Retry)
}

// Sentence gives what is not done yet.
func (b MarkerRetried) Sentence() string {
	return fmt.Sprintf("The leader of %s has not written the marker of %s: %s. It is asked again in %s ms; until then the transaction is not complete.", b.TopicPartition, b.TransactionalID, b.Error, kafka.Thousands(b.Retry))
}

// MarkersGivenUp says that a coordinator asks for no more markers of a transaction: another one has taken over.
type MarkersGivenUp struct {
	TransactionalID string               `json:"transactional_id"`
	TopicPartition  kafka.TopicPartition `json:"topic_partition"`
	Error           string               `json:"error"`
}

// Kind gives the kind's name.
func (MarkersGivenUp) Kind() string { return "MarkersGivenUp" }

// Text gives partition and error.
func (b MarkersGivenUp) Text() string {
	return fmt.Sprintf("%s %s %s", b.TransactionalID, b.TopicPartition, b.Error)
}

// Sentence gives the rule.
func (b MarkersGivenUp) Sentence() string {
	return fmt.Sprintf("The leader of %s refused the marker of %s: %s. This coordinator sends no more markers of that transaction; a later one does.", b.TopicPartition, b.TransactionalID, b.Error)
}
