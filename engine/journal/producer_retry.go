package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// BatchRetried says that a producer keeps a batch that failed and sends it again.
type BatchRetried struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Records        int                  `json:"records"`
	Error          string               `json:"error"`
	Attempt        int                  `json:"attempt"` // that failed, from 1
	Backoff        kafka.Millis         `json:"backoff_ms"`
	BaseSequence   kafka.Sequence       `json:"base_sequence"` // -1: the producer is not idempotent
}

// Kind gives the kind's name.
func (BatchRetried) Kind() string { return "BatchRetried" }

// Text gives the error, the attempt and the wait.
func (b BatchRetried) Text() string {
	s := fmt.Sprintf("%s records=%d %s attempt=%d backoff=%dms", b.TopicPartition, b.Records, b.Error, b.Attempt, b.Backoff)
	if b.BaseSequence >= 0 {
		s += fmt.Sprintf(" sequence=%d", b.BaseSequence)
	}
	return s
}

// Sentence gives the rule and what a copy can do.
func (b BatchRetried) Sentence() string {
	s := fmt.Sprintf("Attempt %d for %s of %s failed with %s, which may pass. The batch goes back to the front of its queue and is sent again after %s ms (retry.backoff.ms = 100, doubled each time, at most retry.backoff.max.ms = 1,000), or at once when the leader changes.",
		b.Attempt, kafka.Count(b.Records, "record"), b.TopicPartition, b.Error, kafka.Thousands(b.Backoff))
	if b.BaseSequence >= 0 {
		return s + fmt.Sprintf(" It keeps its base sequence %d, by which the leader knows a copy.", b.BaseSequence)
	}
	return s + " It carries no sequence: if the first copy was written, the second one is written too."
}

// BatchSplit says that a producer divides a batch that the broker found too large.
type BatchSplit struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Records        int                  `json:"records"`
	Bytes          int                  `json:"bytes"`
	Into           int                  `json:"into"`   // batches
	Target         int                  `json:"target"` // bytes that each may take
}

// Kind gives the kind's name.
func (BatchSplit) Kind() string { return "BatchSplit" }

// Text gives the sizes.
func (b BatchSplit) Text() string {
	return fmt.Sprintf("%s records=%d %dB into=%d target=%dB", b.TopicPartition, b.Records, b.Bytes, b.Into, b.Target)
}

// Sentence gives the sizes and the rule.
func (b BatchSplit) Sentence() string {
	return fmt.Sprintf("The leader of %s refused a batch of %s bytes with MESSAGE_TOO_LARGE. The producer divides its %s into %s of at most %s bytes and sends them again; that counts as no attempt.",
		b.TopicPartition, kafka.Thousands(b.Bytes), kafka.Count(b.Records, "record"), kafka.Count(b.Into, "batch"), kafka.Thousands(b.Target))
}

// BatchExpired says that a producer gave up a batch because its time was over.
type BatchExpired struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Records        int                  `json:"records"`
	Timeout        kafka.Millis         `json:"delivery_timeout_ms"`
	Attempts       int                  `json:"attempts"` // that failed
	InFlight       bool                 `json:"in_flight"`
}

// Kind gives the kind's name.
func (BatchExpired) Kind() string { return "BatchExpired" }

// Text gives the setting and the attempts.
func (b BatchExpired) Text() string {
	s := fmt.Sprintf("%s records=%d delivery.timeout.ms=%d attempts=%d", b.TopicPartition, b.Records, b.Timeout, b.Attempts)
	if b.InFlight {
		s += " in flight"
	}
	return s
}

// Sentence says what is known of the records.
func (b BatchExpired) Sentence() string {
	s := fmt.Sprintf("The producer gave up %s for %s: delivery.timeout.ms = %s ms passed since the batch was begun.", kafka.Count(b.Records, "record"), b.TopicPartition, kafka.Thousands(b.Timeout))
	if b.InFlight || b.Attempts > 0 {
		return s + " The batch was sent before, so it may stand in the log all the same."
	}
	return s + " The batch was never sent."
}

// ProducerIDAssigned says that an idempotent producer got its producer id.
type ProducerIDAssigned struct {
	ProducerID    kafka.ProducerID    `json:"producer_id"`
	ProducerEpoch kafka.ProducerEpoch `json:"producer_epoch"`
}

// Kind gives the kind's name.
func (ProducerIDAssigned) Kind() string { return "ProducerIDAssigned" }

// Text gives id and epoch.
func (b ProducerIDAssigned) Text() string {
	return fmt.Sprintf("id=%d epoch=%d", b.ProducerID, b.ProducerEpoch)
}

// Sentence says what the id is for.
func (b ProducerIDAssigned) Sentence() string {
	return fmt.Sprintf("The producer got producer id %d, epoch %d (enable.idempotence = true). With it each batch carries a sequence, and a leader writes no batch twice.", b.ProducerID, b.ProducerEpoch)
}

// ProducerEpochBumped says that an idempotent producer began its sequences anew in some partitions.
type ProducerEpochBumped struct {
	ProducerID kafka.ProducerID       `json:"producer_id"`
	From       kafka.ProducerEpoch    `json:"from"`
	To         kafka.ProducerEpoch    `json:"to"`         // -1: the last epoch was used up, a new id is asked for
	Partitions []kafka.TopicPartition `json:"partitions"` // sorted
	Why        string                 `json:"why"`
}

// Kind gives the kind's name.
func (ProducerEpochBumped) Kind() string { return "ProducerEpochBumped" }

// Text gives both epochs, the partitions and the reason.
func (b ProducerEpochBumped) Text() string {
	return fmt.Sprintf("id=%d epoch=%d→%d [%s] %s", b.ProducerID, b.From, b.To, b.list(" "), b.Why)
}

// Sentence gives the reason and the consequence.
func (b ProducerEpochBumped) Sentence() string {
	next := fmt.Sprintf("raises its own epoch from %d to %d", b.From, b.To)
	if b.To < 0 {
		next = fmt.Sprintf("has used up its epochs (%d was the last) and asks for a new producer id", b.From)
	}
	return fmt.Sprintf("The producer %s: %s. Sequences of %s begin again at 0, and what is still to be sent there is numbered anew.", next, b.Why, b.list(", "))
}

func (b ProducerEpochBumped) list(separator string) string {
	var names []string
	for _, tp := range b.Partitions {
		names = append(names, tp.String())
	}
	return strings.Join(names, separator)
}

// ProducerMemoryLost says what went with a producer's process.
type ProducerMemoryLost struct {
	Records  int `json:"records"`   // that were not acknowledged
	InFlight int `json:"in_flight"` // those of them that were sent
}

// Kind gives the kind's name.
func (ProducerMemoryLost) Kind() string { return "ProducerMemoryLost" }

// Text gives the counts.
func (b ProducerMemoryLost) Text() string {
	return fmt.Sprintf("records=%d in-flight=%d", b.Records, b.InFlight)
}

// Sentence says what is lost for certain.
func (b ProducerMemoryLost) Sentence() string {
	return fmt.Sprintf("The process ended with %s in its memory that had no acknowledgement. %s of them had been sent and may be written; the others are lost.",
		kafka.Count(b.Records, "record"), kafka.Thousands(b.InFlight))
}
