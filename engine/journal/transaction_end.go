package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// TransactionMarkersQueued says that a coordinator asks for the markers of a transaction.
type TransactionMarkersQueued struct {
	TransactionalID    string                 `json:"transactional_id"`
	Marker             string                 `json:"marker"` // COMMIT or ABORT
	ProducerID         kafka.ProducerID       `json:"producer_id"`
	ProducerEpoch      kafka.ProducerEpoch    `json:"producer_epoch"`
	CoordinatorEpoch   int32                  `json:"coordinator_epoch"`
	TransactionVersion int16                  `json:"transaction_version"`
	Partitions         []kafka.TopicPartition `json:"partitions"`
}

// Kind gives the kind's name.
func (TransactionMarkersQueued) Kind() string { return "TransactionMarkersQueued" }

// Text gives marker and partitions.
func (b TransactionMarkersQueued) Text() string {
	return fmt.Sprintf("%s %s pid=%d epoch=%d coordinator-epoch=%d version=%d %s", b.TransactionalID, b.Marker, b.ProducerID, b.ProducerEpoch, b.CoordinatorEpoch, b.TransactionVersion, texts(b.Partitions, ","))
}

// Sentence gives the rule.
func (b TransactionMarkersQueued) Sentence() string {
	return fmt.Sprintf("The coordinator asks the leaders of %s to write the marker %s of transactional id %s: producer id %s, epoch %d, coordinator epoch %d. They are asked until they have.",
		texts(b.Partitions, ", "), b.Marker, b.TransactionalID, kafka.Thousands(b.ProducerID), b.ProducerEpoch, b.CoordinatorEpoch)
}

// TransactionMarkersWritten says that markers of a transaction are written, as the coordinator has heard.
type TransactionMarkersWritten struct {
	TransactionalID string                 `json:"transactional_id"`
	Partitions      []kafka.TopicPartition `json:"partitions"`
	Left            []kafka.TopicPartition `json:"left"` // that miss theirs
}

// Kind gives the kind's name.
func (TransactionMarkersWritten) Kind() string { return "TransactionMarkersWritten" }

// Text gives the partitions.
func (b TransactionMarkersWritten) Text() string {
	return fmt.Sprintf("%s %s left=%s", b.TransactionalID, texts(b.Partitions, ","), partitionsOrNone(b.Left))
}

// Sentence gives what is left to do.
func (b TransactionMarkersWritten) Sentence() string {
	s := fmt.Sprintf("The transaction of %s needs no marker in %s any more.", b.TransactionalID, texts(b.Partitions, ", "))
	if len(b.Left) == 0 {
		return s + " That was the last one: the coordinator writes that the transaction is complete."
	}
	return s + fmt.Sprintf(" The marker is missing in %s.", texts(b.Left, ", "))
}

// TransactionCompleted says that a transaction is over: it is written that all its markers are.
type TransactionCompleted struct {
	TransactionalID string              `json:"transactional_id"`
	From            string              `json:"from"`
	To              string              `json:"to"` // CompleteCommit or CompleteAbort
	ProducerID      kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch   kafka.ProducerEpoch `json:"producer_epoch"` // of the next transaction
	OldProducerID   kafka.ProducerID    `json:"old_producer_id"`
	Took            kafka.Millis        `json:"took_ms"` // since its first partition was added
}

// Kind gives the kind's name.
func (TransactionCompleted) Kind() string { return "TransactionCompleted" }

// Text gives the states and who may go on.
func (b TransactionCompleted) Text() string {
	return fmt.Sprintf("%s %s→%s pid=%d→%d epoch=%d took=%d", b.TransactionalID, b.From, b.To, b.OldProducerID, b.ProducerID, b.ProducerEpoch, b.Took)
}

// Sentence gives the rule.
func (b TransactionCompleted) Sentence() string {
	s := fmt.Sprintf("The transaction of %s is over, %s ms after it began: %s. A new one may begin, with producer id %s and epoch %d.",
		b.TransactionalID, kafka.Thousands(b.Took), b.To, kafka.Thousands(b.ProducerID), b.ProducerEpoch)
	if b.ProducerID != b.OldProducerID {
		s += fmt.Sprintf(" Producer id %s has used up its epochs.", kafka.Thousands(b.OldProducerID))
	}
	return s
}

// TransactionWriteFailed says that a change of a transactional id could not be written and does not hold.
type TransactionWriteFailed struct {
	TransactionalID string       `json:"transactional_id"`
	State           string       `json:"state"` // in which it stays
	To              string       `json:"to"`
	Error           string       `json:"error"` // of the append
	Why             string       `json:"why"`
	Retry           kafka.Millis `json:"retry_ms"` // after which it is written again at the latest; 0: not by itself
}

// Kind gives the kind's name.
func (TransactionWriteFailed) Kind() string { return "TransactionWriteFailed" }

// Text gives the change and the error.
func (b TransactionWriteFailed) Text() string {
	text := fmt.Sprintf("%s %s to=%s %s: %s", b.TransactionalID, b.State, b.To, b.Error, b.Why)
	if b.Retry > 0 {
		text += fmt.Sprintf(" retry=%d", b.Retry)
	}
	return text
}

// Sentence gives the rule.
func (b TransactionWriteFailed) Sentence() string {
	s := fmt.Sprintf("Transactional id %s stays in state %s: that it comes to %s could not be written, %s.", b.TransactionalID, b.State, b.To, b.Why)
	if b.Retry > 0 {
		s += fmt.Sprintf(" The coordinator writes it again, after request.timeout.ms = %s ms at the latest.", kafka.Thousands(b.Retry))
	}
	return s
}

// TransactionalIDExpired says that a transactional id is forgotten: its tombstone is written.
type TransactionalIDExpired struct {
	TransactionalID string              `json:"transactional_id"`
	State           string              `json:"state"` // the last one
	ProducerID      kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch   kafka.ProducerEpoch `json:"producer_epoch"`
	Unused          kafka.Millis        `json:"unused_ms"`
	Expiration      kafka.Millis        `json:"transactional_id_expiration_ms"`
}

// Kind gives the kind's name.
func (TransactionalIDExpired) Kind() string { return "TransactionalIDExpired" }

// Text gives the times.
func (b TransactionalIDExpired) Text() string {
	return fmt.Sprintf("%s %s pid=%d epoch=%d unused=%d expiration=%d", b.TransactionalID, b.State, b.ProducerID, b.ProducerEpoch, b.Unused, b.Expiration)
}

// Sentence gives the rule and the setting.
func (b TransactionalIDExpired) Sentence() string {
	return fmt.Sprintf("The coordinator forgets transactional id %s, unused for %s ms in state %s: transactional.id.expiration.ms = %s ms are over. It gets a tombstone. A producer that comes back has to begin with InitProducerID and gets a new producer id.",
		b.TransactionalID, kafka.Thousands(b.Unused), b.State, kafka.Thousands(b.Expiration))
}

// TransactionsLoaded says that a broker became the coordinator of the transactional ids of one partition of
// __transaction_state.
type TransactionsLoaded struct {
	Records          int   `json:"records"` // read from the log
	TransactionalIDs int   `json:"transactional_ids"`
	Ongoing          int   `json:"ongoing"` // transactions that are open
	Ending           int   `json:"ending"`  // whose end is decided: their markers are written again
	CoordinatorEpoch int32 `json:"coordinator_epoch"`
}

// Kind gives the kind's name.
func (TransactionsLoaded) Kind() string { return "TransactionsLoaded" }

// Text gives the counts.
func (b TransactionsLoaded) Text() string {
	return fmt.Sprintf("records=%d ids=%d ongoing=%d ending=%d coordinator-epoch=%d", b.Records, b.TransactionalIDs, b.Ongoing, b.Ending, b.CoordinatorEpoch)
}

// Sentence says what was found, and what becomes of it.
func (b TransactionsLoaded) Sentence() string {
	s := fmt.Sprintf("The transaction coordinator read %s of the partition's log and knows %s now. Its markers carry coordinator epoch %d, the leader epoch of the partition: those of older coordinators are refused after them.",
		kafka.Count(b.Records, "record"), kafka.Count(b.TransactionalIDs, "transactional id"), b.CoordinatorEpoch)
	if b.Ongoing > 0 {
		s += fmt.Sprintf(" %s %s open, and the time for that runs on from the beginning of the transaction.", kafka.Count(b.Ongoing, "transaction"), are(b.Ongoing))
	}
	if b.Ending > 0 {
		s += fmt.Sprintf(" The end of %s was decided: the markers are written, or written again.", kafka.Count(b.Ending, "transaction"))
	}
	return s
}

// TransactionCoordinatorResigned says that a broker is no longer the coordinator of the transactional ids of a partition.
type TransactionCoordinatorResigned struct {
	TransactionalIDs int `json:"transactional_ids"`
	Answered         int `json:"answered"` // requests that waited
}

// Kind gives the kind's name.
func (TransactionCoordinatorResigned) Kind() string { return "TransactionCoordinatorResigned" }

// Text gives the counts.
func (b TransactionCoordinatorResigned) Text() string {
	return fmt.Sprintf("ids=%d answered=%d", b.TransactionalIDs, b.Answered)
}

// Sentence says what those who wait are told.
func (b TransactionCoordinatorResigned) Sentence() string {
	return fmt.Sprintf("The broker leads the partition no longer and coordinates its %s no more. %s waited and %s answered with NOT_COORDINATOR. Markers that are missing are asked for by the new coordinator.",
		kafka.Count(b.TransactionalIDs, "transactional id"), kafka.Count(b.Answered, "request"), were(b.Answered))
}
