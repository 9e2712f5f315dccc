package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// RecordProcessed says that an application is done with a record.
type RecordProcessed struct {
	Group          string               `json:"group"`
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"`
	Thread         int                  `json:"thread"` // from 1; 0: the poll loop
	Times          int                  `json:"times"`  // processed in this group so far, this time included
	Effect         string               `json:"effect"` // what the sink made of it
}

// Kind gives the kind's name.
func (RecordProcessed) Kind() string { return "RecordProcessed" }

// Text gives the record and how often it was processed.
func (b RecordProcessed) Text() string {
	return fmt.Sprintf("%s %s@%d times=%d %s%s", b.Group, b.TopicPartition, b.Offset, b.Times, b.Effect, b.thread(" thread=%d"))
}

// Sentence gives the record, how often it was processed and what the sink did.
func (b RecordProcessed) Sentence() string {
	times := ""
	if b.Times > 1 {
		times = fmt.Sprintf(" once more: it is the %s time in group %s", ordinal(b.Times), b.Group)
	}
	return fmt.Sprintf("Processed the record of %s at offset %d%s%s. %s.", b.TopicPartition, b.Offset, times, b.thread(" in thread %d"), b.Effect)
}

func (b RecordProcessed) thread(format string) string {
	if b.Thread == 0 {
		return ""
	}
	return fmt.Sprintf(format, b.Thread)
}

func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// ProcessingFailed says that an application's handler failed at a record.
type ProcessingFailed struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"`
	Attempt        int                  `json:"attempt"` // from 1
	Then           string               `json:"then"`    // what the application does
}

// Kind gives the kind's name.
func (ProcessingFailed) Kind() string { return "ProcessingFailed" }

// Text gives the record and the attempt.
func (b ProcessingFailed) Text() string {
	return fmt.Sprintf("%s@%d attempt=%d: %s", b.TopicPartition, b.Offset, b.Attempt, b.Then)
}

// Sentence gives the record, the attempt and what follows.
func (b ProcessingFailed) Sentence() string {
	return fmt.Sprintf("The handler failed at the record of %s at offset %d, attempt %d: %s.", b.TopicPartition, b.Offset, b.Attempt, b.Then)
}

// DeadLetterSent says that a record stands in the dead-letter topic.
type DeadLetterSent struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"` // of the record
	Offset         kafka.Offset         `json:"offset"`
	To             kafka.TopicPartition `json:"to"`
	At             kafka.Offset         `json:"at"`
}

// Kind gives the kind's name.
func (DeadLetterSent) Kind() string { return "DeadLetterSent" }

// Text gives both places.
func (b DeadLetterSent) Text() string {
	return fmt.Sprintf("%s@%d → %s@%d", b.TopicPartition, b.Offset, b.To, b.At)
}

// Sentence gives both places.
func (b DeadLetterSent) Sentence() string {
	return fmt.Sprintf("The record of %s at offset %d stands in the dead-letter topic: %s, offset %d.", b.TopicPartition, b.Offset, b.To, b.At)
}

// CommitOffset is one partition of a commit.
type CommitOffset struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"` // the next to read
}

// CommitSent says that a consumer commits offsets.
type CommitSent struct {
	Group      string             `json:"group"`
	How        string             `json:"how"` // "commitSync after the batch", …
	Generation kafka.GenerationID `json:"generation"`
	Offsets    []CommitOffset     `json:"offsets"`                // sorted
	Epoch      kafka.MemberEpoch  `json:"member_epoch,omitempty"` // of the consumer protocol, instead of a generation; 0: the classic one
}

// Kind gives the kind's name.
func (CommitSent) Kind() string { return "CommitSent" }

// Text gives the offsets.
func (b CommitSent) Text() string {
	return fmt.Sprintf("%s %s %s: %s", b.Group, positionName(b.Generation, b.Epoch, "="), offsetList(b.Offsets, " "), b.How)
}

// Sentence gives the offsets.
func (b CommitSent) Sentence() string {
	return fmt.Sprintf("Commits %s for group %s (%s).", offsetList(b.Offsets, ", "), b.Group, b.How)
}

func offsetList(list []CommitOffset, separator string) string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = fmt.Sprintf("%s→%d", o.TopicPartition, o.Offset)
	}
	return strings.Join(names, separator)
}

// CommitAccepted says that a consumer's commit was answered: the offsets are in __consumer_offsets.
type CommitAccepted struct {
	Group   string         `json:"group"`
	Offsets []CommitOffset `json:"offsets"` // sorted
}

// Kind gives the kind's name.
func (CommitAccepted) Kind() string { return "CommitAccepted" }

// Text gives the offsets.
func (b CommitAccepted) Text() string {
	return fmt.Sprintf("%s %s", b.Group, offsetList(b.Offsets, " "))
}

// Sentence gives the offsets.
func (b CommitAccepted) Sentence() string {
	return fmt.Sprintf("The commit of %s for group %s is done.", offsetList(b.Offsets, ", "), b.Group)
}

// CommitFailed says that a consumer's commit failed, or was not sent at all.
type CommitFailed struct {
	Group   string         `json:"group"`
	Offsets []CommitOffset `json:"offsets"` // sorted
	Error   string         `json:"error"`   // of the answer, or the exception of the client
	Then    string         `json:"then"`    // what the application does
}

// Kind gives the kind's name.
func (CommitFailed) Kind() string { return "CommitFailed" }

// Text gives the error.
func (b CommitFailed) Text() string {
	return fmt.Sprintf("%s %s %s: %s", b.Group, offsetList(b.Offsets, " "), b.Error, b.Then)
}

// Sentence gives the error.
func (b CommitFailed) Sentence() string {
	return fmt.Sprintf("The commit of %s for group %s failed with %s: %s.", offsetList(b.Offsets, ", "), b.Group, b.Error, b.Then)
}

// CrashArmed says that a consumer will crash at a point of its application.
type CrashArmed struct {
	At string `json:"at"` // "after processing orders-0 @6"
}

// Kind gives the kind's name.
func (CrashArmed) Kind() string { return "CrashArmed" }

// Text gives the point.
func (b CrashArmed) Text() string { return b.At }

// Sentence gives the point.
func (b CrashArmed) Sentence() string { return fmt.Sprintf("It will crash %s.", b.At) }

// ConsumerCrashed says that a consumer's process ended at once.
type ConsumerCrashed struct {
	At string `json:"at"` // the armed point; empty: now
}

// Kind gives the kind's name.
func (ConsumerCrashed) Kind() string { return "ConsumerCrashed" }

// Text gives the point.
func (b ConsumerCrashed) Text() string { return b.At }

// Sentence gives the point and what follows.
func (b ConsumerCrashed) Sentence() string {
	at := ""
	if b.At != "" {
		at = " " + b.At
	}
	return fmt.Sprintf("The process crashes%s. What it had not committed it has forgotten; the group does not notice before its session ends.", at)
}

// SinkFull says that a processed record waits for the sink.
type SinkFull struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Offset         kafka.Offset         `json:"offset"`
	Capacity       int                  `json:"capacity"` // effects a tick, of all consumers together
	Wait           kafka.Millis         `json:"wait_ms"`
}

// Kind gives the kind's name.
func (SinkFull) Kind() string { return "SinkFull" }

// Text gives the capacity.
func (b SinkFull) Text() string {
	return fmt.Sprintf("%s@%d capacity=%d wait=%dms", b.TopicPartition, b.Offset, b.Capacity, b.Wait)
}

// Sentence gives the capacity.
func (b SinkFull) Sentence() string {
	return fmt.Sprintf("The record of %s at offset %d waits %s ms for the sink, which takes %s a tick of all consumers together.", b.TopicPartition, b.Offset, kafka.Thousands(b.Wait), kafka.Count(b.Capacity, "effect"))
}

// PositionMoved says that an application moved its position by seek.
type PositionMoved struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           kafka.Offset         `json:"from"` // -1: there was none
	To             kafka.Offset         `json:"to"`
	Why            string               `json:"why"`
}

// Kind gives the kind's name.
func (PositionMoved) Kind() string { return "PositionMoved" }

// Text gives both offsets.
func (b PositionMoved) Text() string {
	return fmt.Sprintf("%s %d→%d %s", b.TopicPartition, b.From, b.To, b.Why)
}

// Sentence gives both offsets.
func (b PositionMoved) Sentence() string {
	return fmt.Sprintf("seek moves the position in %s to %d: %s. What is committed stays as it is.", b.TopicPartition, b.To, b.Why)
}
