package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// PositionValidated says that a consumer's position lies in the log of a new leader.
type PositionValidated struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Position       kafka.Offset         `json:"position"`
	Epoch          kafka.LeaderEpoch    `json:"epoch"`      // of the last record read
	EndOffset      kafka.Offset         `json:"end_offset"` // of that epoch in the leader's log, exclusive
}

// Kind gives the kind's name.
func (PositionValidated) Kind() string { return "PositionValidated" }

// Text gives the position and the leader's answer.
func (b PositionValidated) Text() string {
	return fmt.Sprintf("%s @%d epoch=%d end=%d", b.TopicPartition, b.Position, b.Epoch, b.EndOffset)
}

// Sentence gives the comparison.
func (b PositionValidated) Sentence() string {
	return fmt.Sprintf("The leader of %s has epoch %d up to offset %d, which is not below the position %d: nothing that was read is missing there, and reading goes on.",
		b.TopicPartition, b.Epoch, b.EndOffset, b.Position)
}

// LogTruncationDetected says that a consumer has read records that the new leader does not have.
type LogTruncationDetected struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Position       kafka.Offset         `json:"position"`
	Epoch          kafka.LeaderEpoch    `json:"epoch"`           // of the last record read
	DivergingEpoch kafka.LeaderEpoch    `json:"diverging_epoch"` // the largest of the leader that is not above Epoch; -1: none
	EndOffset      kafka.Offset         `json:"end_offset"`      // of that epoch in the leader's log, exclusive; -1: none
	Policy         string               `json:"auto_offset_reset"`
}

// Kind gives the kind's name.
func (LogTruncationDetected) Kind() string { return "LogTruncationDetected" }

// Text gives the position, the divergence and the policy.
func (b LogTruncationDetected) Text() string {
	return fmt.Sprintf("%s @%d epoch=%d leader epoch=%d end=%d auto.offset.reset=%s", b.TopicPartition, b.Position, b.Epoch, b.DivergingEpoch, b.EndOffset, b.Policy)
}

// Sentence says what was read in vain and what the consumer does.
func (b LogTruncationDetected) Sentence() string {
	s := fmt.Sprintf("The log of %s was truncated: the position is %d, last record of epoch %d, but the new leader", b.TopicPartition, b.Position, b.Epoch)
	if b.EndOffset < 0 {
		s += " knows no such epoch."
	} else {
		s += fmt.Sprintf(" has epoch %d only up to offset %d. Records from there on were read and are in the log no longer.", b.DivergingEpoch, b.EndOffset)
	}
	switch {
	case b.Policy == "none":
		return s + " With auto.offset.reset=none the consumer reports an error and reads no further."
	case b.EndOffset < 0:
		return s + fmt.Sprintf(" The position is reset by auto.offset.reset=%s.", b.Policy)
	}
	return s + fmt.Sprintf(" Reading goes on at offset %d.", b.EndOffset)
}

// PreferredReplicaChosen says that a leader sent a consumer to another replica of a partition.
type PreferredReplicaChosen struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Replica        kafka.NodeID         `json:"replica"`
	Rack           string               `json:"client_rack"`
	For            kafka.Millis         `json:"metadata_max_age_ms"`
}

// Kind gives the kind's name.
func (PreferredReplicaChosen) Kind() string { return "PreferredReplicaChosen" }

// Text gives the replica and the rack.
func (b PreferredReplicaChosen) Text() string {
	return fmt.Sprintf("%s %s client.rack=%s for %dms", b.TopicPartition, b.Replica, b.Rack, b.For)
}

// Sentence gives the rule and until when it holds.
func (b PreferredReplicaChosen) Sentence() string {
	return fmt.Sprintf("The leader of %s names %s as the replica to read from for client.rack=%s. The consumer fetches there for metadata.max.age.ms = %s ms, then asks the leader again.",
		b.TopicPartition, b.Replica, b.Rack, kafka.Thousands(b.For))
}
