package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// TransactionalIDInitialised says that a producer begins, or goes on, with a transactional id: the producer id and epoch
// that it gets are written.
type TransactionalIDInitialised struct {
	TransactionalID  string              `json:"transactional_id"`
	From             string              `json:"from"` // the state before; it is Empty now
	ProducerID       kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch    kafka.ProducerEpoch `json:"producer_epoch"`
	OldProducerID    kafka.ProducerID    `json:"old_producer_id"`
	OldProducerEpoch kafka.ProducerEpoch `json:"old_producer_epoch"` // -1: none
	Timeout          kafka.Millis        `json:"transaction_timeout_ms"`
	Why              string              `json:"why"`
}

// Kind gives the kind's name.
func (TransactionalIDInitialised) Kind() string { return "TransactionalIDInitialised" }

// Text gives producer id and epoch.
func (b TransactionalIDInitialised) Text() string {
	return fmt.Sprintf("%s %s→Empty pid=%d→%d epoch=%d→%d timeout=%d: %s", b.TransactionalID, b.From, b.OldProducerID, b.ProducerID, b.OldProducerEpoch, b.ProducerEpoch, b.Timeout, b.Why)
}

// Sentence gives the rule and the setting.
func (b TransactionalIDInitialised) Sentence() string {
	return fmt.Sprintf("Transactional id %s has producer id %s with epoch %d now: %s. Each of its transactions may stay open for transaction.timeout.ms = %s ms.",
		b.TransactionalID, kafka.Thousands(b.ProducerID), b.ProducerEpoch, b.Why, kafka.Thousands(b.Timeout))
}

// TransactionFenced says that a producer begins with a transactional id whose transaction is open: the coordinator aborts
// that first.
type TransactionFenced struct {
	TransactionalID string              `json:"transactional_id"`
	From            kafka.NodeID        `json:"from"` // that sent InitProducerID
	ProducerID      kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch   kafka.ProducerEpoch `json:"producer_epoch"`
	NewEpoch        kafka.ProducerEpoch `json:"new_epoch"` // with which the transaction is aborted
	Partitions      int                 `json:"partitions"`
}

// Kind gives the kind's name.
func (TransactionFenced) Kind() string { return "TransactionFenced" }

// Text gives the epochs.
func (b TransactionFenced) Text() string {
	return fmt.Sprintf("%s from=%s pid=%d epoch=%d→%d partitions=%d", b.TransactionalID, b.From, b.ProducerID, b.ProducerEpoch, b.NewEpoch, b.Partitions)
}

// Sentence gives the rule.
func (b TransactionFenced) Sentence() string {
	return fmt.Sprintf("%s begins with transactional id %s while a transaction of it is open, with %s. The coordinator aborts that with epoch %d, so that the producer which has epoch %d is fenced, and %s is to ask again.",
		b.From, b.TransactionalID, kafka.Count(b.Partitions, "partition"), b.NewEpoch, b.ProducerEpoch, b.From)
}

// PartitionsAddedToTransaction says that partitions are part of a transaction: it is written.
type PartitionsAddedToTransaction struct {
	TransactionalID string                 `json:"transactional_id"`
	From            string                 `json:"from"` // the state before; it is Ongoing now
	ProducerID      kafka.ProducerID       `json:"producer_id"`
	ProducerEpoch   kafka.ProducerEpoch    `json:"producer_epoch"`
	Added           []kafka.TopicPartition `json:"added"`
	Partitions      int                    `json:"partitions"` // of the transaction now
	Begins          bool                   `json:"begins"`     // a transaction begins with them
	ByBroker        bool                   `json:"by_broker"`  // their leader has added them, at the first write to them
	Group           string                 `json:"group"`      // whose offsets the partition keeps; empty: none
	Timeout         kafka.Millis           `json:"transaction_timeout_ms"`
}

// Kind gives the kind's name.
func (PartitionsAddedToTransaction) Kind() string { return "PartitionsAddedToTransaction" }

// Text gives the partitions.
func (b PartitionsAddedToTransaction) Text() string {
	text := fmt.Sprintf("%s %s→Ongoing pid=%d epoch=%d added=%s partitions=%d", b.TransactionalID, b.From, b.ProducerID, b.ProducerEpoch, partitionsOrNone(b.Added), b.Partitions)
	if b.Group != "" {
		text += " group=" + b.Group
	}
	return text
}

// Sentence gives the rule and the setting.
func (b PartitionsAddedToTransaction) Sentence() string {
	s := fmt.Sprintf("The transaction of %s, producer id %s with epoch %d, has %s more: %s.", b.TransactionalID, kafka.Thousands(b.ProducerID), b.ProducerEpoch,
		kafka.Count(len(b.Added), "partition"), partitionsText(b.Added))
	switch {
	case b.Group != "":
		s += fmt.Sprintf(" It keeps the offsets of group %s, which count when the transaction is committed.", b.Group)
	case b.ByBroker:
		s += " The leader of a partition adds it at the first write to it."
	default:
		s += " The producer adds a partition before it writes to it."
	}
	if b.Begins {
		s += fmt.Sprintf(" The transaction begins with that, and may stay open for transaction.timeout.ms = %s ms.", kafka.Thousands(b.Timeout))
	}
	return s + " When it ends, each of its partitions gets a marker."
}

// TransactionStateChanged says that the end of a transaction is decided: it is written whether it is committed or aborted.
type TransactionStateChanged struct {
	TransactionalID  string              `json:"transactional_id"`
	From             string              `json:"from"`
	To               string              `json:"to"` // PrepareCommit or PrepareAbort
	ProducerID       kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch    kafka.ProducerEpoch `json:"producer_epoch"` // of the markers
	OldProducerEpoch kafka.ProducerEpoch `json:"old_producer_epoch"`
	Partitions       int                 `json:"partitions"` // that get a marker
	Answered         bool                `json:"answered"`   // EndTxn is answered with that
	Why              string              `json:"why"`
}

// Kind gives the kind's name.
func (TransactionStateChanged) Kind() string { return "TransactionStateChanged" }

// Text gives the states and epochs.
func (b TransactionStateChanged) Text() string {
	return fmt.Sprintf("%s %s→%s pid=%d epoch=%d→%d partitions=%d: %s", b.TransactionalID, b.From, b.To, b.ProducerID, b.OldProducerEpoch, b.ProducerEpoch, b.Partitions, b.Why)
}

// Sentence gives the rule.
func (b TransactionStateChanged) Sentence() string {
	s := fmt.Sprintf("The transaction of %s goes from %s to %s: %s. That is written on every in-sync replica, so it stands, whoever crashes.", b.TransactionalID, b.From, b.To, b.Why)
	if b.ProducerEpoch != b.OldProducerEpoch {
		s += fmt.Sprintf(" The epoch of producer id %s rises from %d to %d with that.", kafka.Thousands(b.ProducerID), b.OldProducerEpoch, b.ProducerEpoch)
	}
	if b.Answered {
		s += " EndTxn is answered now, before any marker is written."
	}
	return s
}

// TransactionTimedOut says that a transaction was open for too long: the coordinator aborts it.
type TransactionTimedOut struct {
	TransactionalID string              `json:"transactional_id"`
	ProducerID      kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch   kafka.ProducerEpoch `json:"producer_epoch"`
	NewEpoch        kafka.ProducerEpoch `json:"new_epoch"` // with which it is aborted
	Timeout         kafka.Millis        `json:"transaction_timeout_ms"`
	Open            kafka.Millis        `json:"open_ms"` // since the first partition was added
	Interval        kafka.Millis        `json:"interval_ms"`
}

// Kind gives the kind's name.
func (TransactionTimedOut) Kind() string { return "TransactionTimedOut" }

// Text gives the times and epochs.
func (b TransactionTimedOut) Text() string {
	return fmt.Sprintf("%s open=%d timeout=%d pid=%d epoch=%d→%d", b.TransactionalID, b.Open, b.Timeout, b.ProducerID, b.ProducerEpoch, b.NewEpoch)
}

// Sentence gives the rule and the settings.
func (b TransactionTimedOut) Sentence() string {
	return fmt.Sprintf("The transaction of %s has been open for %s ms, longer than transaction.timeout.ms = %s ms. The coordinator, which looks every transaction.abort.timed.out.transaction.cleanup.interval.ms = %s ms, aborts it with epoch %d: the producer, which has epoch %d, is fenced.",
		b.TransactionalID, kafka.Thousands(b.Open), kafka.Thousands(b.Timeout), kafka.Thousands(b.Interval), b.NewEpoch, b.ProducerEpoch)
}

// TransactionRequestRefused says that a transaction coordinator answered a request with an error.
type TransactionRequestRefused struct {
	API             string       `json:"api"`
	TransactionalID string       `json:"transactional_id"`
	From            kafka.NodeID `json:"from"`
	Error           string       `json:"error"`
	Why             string       `json:"why"`
}

// Kind gives the kind's name.
func (TransactionRequestRefused) Kind() string { return "TransactionRequestRefused" }

// Text gives request and code.
func (b TransactionRequestRefused) Text() string {
	return fmt.Sprintf("%s %s from=%s %s: %s", b.TransactionalID, b.API, b.From, b.Error, b.Why)
}

// Sentence gives the code and the rule.
func (b TransactionRequestRefused) Sentence() string {
	return fmt.Sprintf("The %s request of %s for transactional id %s was answered with %s: %s.", b.API, b.From, b.TransactionalID, b.Error, b.Why)
}
