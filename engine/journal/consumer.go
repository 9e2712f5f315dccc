package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// MetadataLearned says that a client learned of a topic's partitions and leaders.
type MetadataLearned struct {
	Topic      string `json:"topic"`
	Partitions int    `json:"partitions"`
	Before     int    `json:"before"` // partitions that it knew until now; 0: none
}

// Kind gives the kind's name.
func (MetadataLearned) Kind() string { return "MetadataLearned" }

// Text gives name and count.
func (b MetadataLearned) Text() string { return fmt.Sprintf("%s partitions=%d", b.Topic, b.Partitions) }

// Sentence gives name and count.
func (b MetadataLearned) Sentence() string {
	if b.Before > 0 {
		return fmt.Sprintf("The client learned from a Metadata response that %s has %s; it knew of %d.", b.Topic, kafka.Count(b.Partitions, "partition"), b.Before)
	}
	return fmt.Sprintf("The client learned from a Metadata response that %s has %s.", b.Topic, kafka.Count(b.Partitions, "partition"))
}

// PartitionsAssigned says which partitions a member of a group reads from now on.
type PartitionsAssigned struct {
	Group      string                 `json:"group"`
	Assignor   string                 `json:"assignor"`
	Partitions []kafka.TopicPartition `json:"partitions"` // sorted; empty: the member is idle
	Rule       string                 `json:"rule"`       // the assignor's arithmetic
}

// Kind gives the kind's name.
func (PartitionsAssigned) Kind() string { return "PartitionsAssigned" }

// Text gives the list.
func (b PartitionsAssigned) Text() string {
	return fmt.Sprintf("%s %s [%s]", b.Group, b.Assignor, b.list(" "))
}

// Sentence gives the list and the rule.
func (b PartitionsAssigned) Sentence() string {
	if len(b.Partitions) == 0 {
		return fmt.Sprintf("Assigned no partition in group %s by the %s assignor: %s.", b.Group, b.Assignor, b.Rule)
	}
	return fmt.Sprintf("Assigned %s in group %s by the %s assignor: %s.", b.list(", "), b.Group, b.Assignor, b.Rule)
}

func (b PartitionsAssigned) list(separator string) string {
	var names []string
	for _, tp := range b.Partitions {
		names = append(names, tp.String())
	}
	return strings.Join(names, separator)
}

// PositionReset says where a consumer begins to read a partition for which it has no position, or none that
// lies in the log.
type PositionReset struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	To             kafka.Offset         `json:"to"`
	Policy         string               `json:"auto_offset_reset"`
	From           kafka.Offset         `json:"from"` // the position given up; -1: there was none
}

// Kind gives the kind's name.
func (PositionReset) Kind() string { return "PositionReset" }

// Text gives the position and the policy.
func (b PositionReset) Text() string {
	if b.From >= 0 {
		return fmt.Sprintf("%s %d→%d auto.offset.reset=%s", b.TopicPartition, b.From, b.To, b.Policy)
	}
	return fmt.Sprintf("%s →%d auto.offset.reset=%s", b.TopicPartition, b.To, b.Policy)
}

// Sentence gives the position and the policy.
func (b PositionReset) Sentence() string {
	if b.From >= 0 {
		return fmt.Sprintf("Reading of %s goes on at offset %d: the log does not hold the position %d, and auto.offset.reset=%s asks the leader for that end of the log.",
			b.TopicPartition, b.To, b.From, b.Policy)
	}
	return fmt.Sprintf("Reading of %s begins at offset %d: there was no position, and auto.offset.reset=%s asks the leader for that end of the log.",
		b.TopicPartition, b.To, b.Policy)
}

// FetchParked says that a broker keeps a fetch that it cannot answer with enough data yet.
type FetchParked struct {
	From     kafka.NodeID `json:"from"`
	MinBytes int32        `json:"fetch_min_bytes"`
	MaxWait  kafka.Millis `json:"fetch_max_wait_ms"`
}

// Kind gives the kind's name.
func (FetchParked) Kind() string { return "FetchParked" }

// Text gives the client and both settings.
func (b FetchParked) Text() string {
	return fmt.Sprintf("%s min=%dB wait=%dms", b.From, b.MinBytes, b.MaxWait)
}

// Sentence says until when.
func (b FetchParked) Sentence() string {
	return fmt.Sprintf("The fetch of %s waits here: fewer than fetch.min.bytes = %d bytes are there for it; it is answered when they are, or after fetch.max.wait.ms = %s ms.",
		b.From, b.MinBytes, kafka.Thousands(b.MaxWait))
}

// RecordsRead says that a consumer took records out of a fetch response and moved its position.
type RecordsRead struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           kafka.Offset         `json:"from"` // position before
	To             kafka.Offset         `json:"to"`   // position after: the next offset to read
	Records        int                  `json:"records"`
	Skipped        int                  `json:"skipped"` // came before the position, because whole batches are sent

	// What the position moved over without the application's seeing it.
	Aborted int `json:"aborted,omitempty"` // records of aborted transactions, by isolation.level = read_committed
	Markers int `json:"markers,omitempty"` // control records
}

// Kind gives the kind's name.
func (RecordsRead) Kind() string { return "RecordsRead" }

// Text gives the move of the position.
func (b RecordsRead) Text() string {
	text := fmt.Sprintf("%s %d→%d records=%d skipped=%d", b.TopicPartition, b.From, b.To, b.Records, b.Skipped)
	if b.Aborted > 0 {
		text += fmt.Sprintf(" aborted=%d", b.Aborted)
	}
	if b.Markers > 0 {
		text += fmt.Sprintf(" markers=%d", b.Markers)
	}
	return text
}

// Sentence gives the move of the position.
func (b RecordsRead) Sentence() string {
	s := fmt.Sprintf("Read %s of %s; the position moves from %d to %d.", kafka.Count(b.Records, "record"), b.TopicPartition, b.From, b.To)
	if b.Skipped > 0 {
		s += fmt.Sprintf(" %s before the position came along, because a response begins with the whole batch that holds it.", kafka.Count(b.Skipped, "record"))
	}
	if b.Aborted > 0 {
		s += fmt.Sprintf(" It skips %s of aborted transactions (isolation.level = read_committed).", kafka.Count(b.Aborted, "record"))
	}
	if b.Markers > 0 {
		s += fmt.Sprintf(" It moves over %s, which no application is given.", kafka.Count(b.Markers, "transaction marker"))
	}
	return s
}

// FetchFailed says that a consumer got an error for one partition.
type FetchFailed struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Position       kafka.Offset         `json:"position"`
	Error          string               `json:"error"`
}

// Kind gives the kind's name.
func (FetchFailed) Kind() string { return "FetchFailed" }

// Text gives the code.
func (b FetchFailed) Text() string {
	return fmt.Sprintf("%s @%d %s", b.TopicPartition, b.Position, b.Error)
}

// Sentence gives the code.
func (b FetchFailed) Sentence() string {
	return fmt.Sprintf("The fetch of %s at offset %d was answered with %s.", b.TopicPartition, b.Position, b.Error)
}

// EventSeenLate says that the destination was given an event of an entity after a newer one.
type EventSeenLate struct {
	Entity         string               `json:"entity"` // empty: records without a key
	Version        int                  `json:"version"`
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"`
	Newer          int                  `json:"newer_version"` // seen before it
	NewerAt        kafka.TopicPartition `json:"newer_topic_partition"`
	NewerOffset    kafka.Offset         `json:"newer_offset"`
	NewerTick      kafka.Tick           `json:"newer_tick"`
	Refused        bool                 `json:"refused"` // the destination checks versions
}

// Kind gives the kind's name.
func (EventSeenLate) Kind() string { return "EventSeenLate" }

// Text gives both events.
func (b EventSeenLate) Text() string {
	done := "taken"
	if b.Refused {
		done = "refused"
	}
	return fmt.Sprintf("%q event %d %s@%d after event %d %s@%d %s", b.Entity, b.Version, b.TopicPartition, b.Offset, b.Newer, b.NewerAt, b.NewerOffset, done)
}

// Sentence gives both events and what the destination did.
func (b EventSeenLate) Sentence() string {
	whose := "the records without a key"
	if b.Entity != "" {
		whose = b.Entity
	}
	s := fmt.Sprintf("Event %d of %s (%s, offset %d) was seen after its event %d (%s, offset %d, tick %d).",
		b.Version, whose, b.TopicPartition, b.Offset, b.Newer, b.NewerAt, b.NewerOffset, b.NewerTick)
	if b.Refused {
		return s + fmt.Sprintf(" The destination has version %d and refuses version %d.", b.Newer, b.Version)
	}
	return s + " The destination checks no versions: the older event overwrites the newer."
}
