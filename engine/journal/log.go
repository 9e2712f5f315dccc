package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// TopicCreated says that a topic and its empty partitions exist.
type TopicCreated struct {
	Topic             string             `json:"topic"`
	Partitions        int                `json:"partitions"`
	ReplicationFactor int                `json:"replication_factor"`
	Replicas          [][]kafka.BrokerID `json:"replicas,omitempty"` // by partition, the preferred leader first; nil where there is one broker, and of __consumer_offsets
}

// Kind gives the kind's name.
func (TopicCreated) Kind() string { return "TopicCreated" }

// Text gives name and count, and the replicas of each partition.
func (b TopicCreated) Text() string {
	text := fmt.Sprintf("%s partitions=%d", b.Topic, b.Partitions)
	if len(b.Replicas) > 0 {
		text += " replicas=" + b.placement(",", " ")
	}
	return text
}

// Sentence gives name and counts, and where the replicas are.
func (b TopicCreated) Sentence() string {
	s := fmt.Sprintf("Topic %s was created with %s, replication factor %d.", b.Topic, kafka.Count(b.Partitions, "partition"), b.ReplicationFactor)
	if len(b.Replicas) > 0 {
		s += " Replicas by partition, the preferred leader first: " + b.placement(", ", "; ") + "."
	}
	return s
}

// placement writes the replicas of each partition: "0:1,2 1:2,3".
func (b TopicCreated) placement(between, behind string) string {
	parts := make([]string, len(b.Replicas))
	for i, replicas := range b.Replicas {
		parts[i] = fmt.Sprintf("%d:%s", i, listed(replicas, between))
	}
	return strings.Join(parts, behind)
}

// PartitionsAdded says that a topic has more partitions; no record was moved.
type PartitionsAdded struct {
	Topic string `json:"topic"`
	From  int    `json:"from"` // partitions before
	To    int    `json:"to"`   // partitions now
}

// Kind gives the kind's name.
func (PartitionsAdded) Kind() string { return "PartitionsAdded" }

// Text gives name and counts.
func (b PartitionsAdded) Text() string {
	return fmt.Sprintf("%s partitions=%d→%d", b.Topic, b.From, b.To)
}

// Sentence gives name and counts.
func (b PartitionsAdded) Sentence() string {
	return fmt.Sprintf("Topic %s has %s now, it had %d. The new ones are empty: no record moves. Clients learn of them at their next Metadata request.",
		b.Topic, kafka.Count(b.To, "partition"), b.From)
}

// BatchAppended says that a leader appended a record batch to its log.
type BatchAppended struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	BaseOffset     kafka.Offset         `json:"base_offset"`
	LastOffset     kafka.Offset         `json:"last_offset"` // inclusive
	Bytes          int                  `json:"bytes"`
	Segment        kafka.Offset         `json:"segment"`  // base offset of the segment
	Position       int                  `json:"position"` // of the batch in the segment's file
}

// Kind gives the kind's name.
func (BatchAppended) Kind() string { return "BatchAppended" }

// Records is the number of offsets that the batch covers.
func (b BatchAppended) Records() int { return int(b.LastOffset-b.BaseOffset) + 1 }

// Text gives offsets, size and place.
func (b BatchAppended) Text() string {
	return fmt.Sprintf("%s %d..%d %dB segment=%d@%d", b.TopicPartition, b.BaseOffset, b.LastOffset, b.Bytes, b.Segment, b.Position)
}

// Sentence says where the batch stands.
func (b BatchAppended) Sentence() string {
	offsets := fmt.Sprintf("offset %d", b.BaseOffset)
	if b.LastOffset > b.BaseOffset {
		offsets = fmt.Sprintf("offsets %d to %d", b.BaseOffset, b.LastOffset)
	}
	return fmt.Sprintf("%s got %s in a batch of %s bytes: %s, at byte %s of %020d.log.",
		b.TopicPartition, kafka.Count(b.Records(), "record"), kafka.Thousands(b.Bytes), offsets, kafka.Thousands(b.Position), b.Segment)
}

// SegmentRolled says that a new segment was begun.
type SegmentRolled struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Base           kafka.Offset         `json:"base_offset"` // of the new segment
	Reason         string               `json:"reason"`      // the rule with its numbers and setting
}

// Kind gives the kind's name.
func (SegmentRolled) Kind() string { return "SegmentRolled" }

// Text gives the new segment and the rule.
func (b SegmentRolled) Text() string {
	return fmt.Sprintf("%s base=%d %s", b.TopicPartition, b.Base, b.Reason)
}

// Sentence gives the new segment and the rule.
func (b SegmentRolled) Sentence() string {
	return fmt.Sprintf("%s began the segment %020d.log: %s.", b.TopicPartition, b.Base, b.Reason)
}

// IndexEntryAdded says that the offset index got an entry.
type IndexEntryAdded struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"`   // the batch's last offset
	Position       int                  `json:"position"` // the batch's first byte
	Interval       int                  `json:"index_interval_bytes"`
}

// Kind gives the kind's name.
func (IndexEntryAdded) Kind() string { return "IndexEntryAdded" }

// Text gives the entry.
func (b IndexEntryAdded) Text() string {
	return fmt.Sprintf("%s %d@%d", b.TopicPartition, b.Offset, b.Position)
}

// Sentence gives the entry and why it was due.
func (b IndexEntryAdded) Sentence() string {
	return fmt.Sprintf("%s got the index entry offset %d at byte %s: more than index.interval.bytes = %s bytes had come since the last.",
		b.TopicPartition, b.Offset, kafka.Thousands(b.Position), kafka.Thousands(b.Interval))
}

// HighWatermarkAdvanced says that a leader made more records visible to consumers.
type HighWatermarkAdvanced struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           kafka.Offset         `json:"from"`
	To             kafka.Offset         `json:"to"` // exclusive
	LogEndOffset   kafka.Offset         `json:"log_end_offset"`
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
}

// Kind gives the kind's name.
func (HighWatermarkAdvanced) Kind() string { return "HighWatermarkAdvanced" }

// Text gives both marks.
func (b HighWatermarkAdvanced) Text() string {
	return fmt.Sprintf("%s %d→%d leo=%d epoch=%d", b.TopicPartition, b.From, b.To, b.LogEndOffset, b.LeaderEpoch)
}

// Sentence says what may be read now.
func (b HighWatermarkAdvanced) Sentence() string {
	return fmt.Sprintf("%s: consumers may read up to offset %d (high watermark %d, was %d); every in-sync replica has that much.",
		b.TopicPartition, b.To-1, b.To, b.From)
}

// ProduceRefused says that a leader did not append a batch.
type ProduceRefused struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Error          string               `json:"error"` // Kafka's name of the code
	Why            string               `json:"why"`
}

// Kind gives the kind's name.
func (ProduceRefused) Kind() string { return "ProduceRefused" }

// Text gives the code and the reason.
func (b ProduceRefused) Text() string {
	return fmt.Sprintf("%s %s: %s", b.TopicPartition, b.Error, b.Why)
}

// Sentence gives the code and the reason.
func (b ProduceRefused) Sentence() string {
	return fmt.Sprintf("%s refused a batch with %s: %s. Nothing was written.", b.TopicPartition, b.Error, b.Why)
}
