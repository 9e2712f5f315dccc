package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// SegmentsDeleted says that a check of retention took the oldest segments out of a log. Their records can be read
// no more; their files stay for a while.
type SegmentsDeleted struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Segments       []kafka.Offset       `json:"segments"` // base offsets, oldest first
	Bytes          int                  `json:"bytes"`    // of their .log files
	Rule           string               `json:"rule"`     // the setting that it goes by, or "log start offset"
	Why            string               `json:"why"`      // of the newest of them, with its numbers
	LogStartFrom   kafka.Offset         `json:"log_start_from"`
	LogStartTo     kafka.Offset         `json:"log_start_to"`
	RolledAt       kafka.Offset         `json:"rolled_at"` // base offset of an empty segment that was begun as all went; -1: none was
	FileDelay      kafka.Millis         `json:"file_delete_delay_ms"`
}

// Kind gives the kind's name.
func (SegmentsDeleted) Kind() string { return "SegmentsDeleted" }

// Text gives the segments, the rule and the log start offset.
func (b SegmentsDeleted) Text() string {
	return fmt.Sprintf("%s segments=%s %dB %s start=%d→%d: %s", b.TopicPartition, listed(b.Segments, ","), b.Bytes, b.Rule, b.LogStartFrom, b.LogStartTo, b.Why)
}

// Sentence gives what went, by which rule, and what stays for a while.
func (b SegmentsDeleted) Sentence() string {
	s := fmt.Sprintf("%s let go of %s (%s bytes: %s) by %s: %s. %s; a fetch from below is answered with OFFSET_OUT_OF_RANGE. The files stay with the suffix .deleted for file.delete.delay.ms = %s.",
		b.TopicPartition, kafka.Count(len(b.Segments), "segment"), kafka.Thousands(b.Bytes), listed(b.Segments, ", "), b.Rule, b.Why,
		b.begins(), kafka.Thousands(b.FileDelay))
	if b.RolledAt != kafka.NoOffset {
		s += fmt.Sprintf(" As all segments went, the empty one at offset %s was begun first.", kafka.Thousands(b.RolledAt))
	}
	return s
}

// begins says where the log begins now.
func (b SegmentsDeleted) begins() string {
	if b.LogStartFrom == b.LogStartTo {
		return fmt.Sprintf("The log begins at offset %s, as before", kafka.Thousands(b.LogStartTo))
	}
	return fmt.Sprintf("The log begins at offset %s now, it did at %s", kafka.Thousands(b.LogStartTo), kafka.Thousands(b.LogStartFrom))
}

// SegmentsKept says that a check of retention found no segment to delete. It is told again only when it is for
// another reason than the last time.
type SegmentsKept struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Oldest         kafka.Offset         `json:"oldest"` // base offset of the oldest segment
	Why            []string             `json:"why"`    // what each rule says of it
	Interval       kafka.Millis         `json:"check_interval_ms"`
	Setting        string               `json:"check_interval_setting"` // a compacted log is checked by the cleaner's
}

// Kind gives the kind's name.
func (SegmentsKept) Kind() string { return "SegmentsKept" }

// Text gives the oldest segment and the reasons.
func (b SegmentsKept) Text() string {
	return fmt.Sprintf("%s oldest=%d: %s", b.TopicPartition, b.Oldest, strings.Join(b.Why, "; "))
}

// Sentence gives the reasons and when the next check is.
func (b SegmentsKept) Sentence() string {
	return fmt.Sprintf("A check of retention left all segments of %s: the oldest one (%s) stays, and newer ones never go before it: %s. The check comes every %s = %s.",
		b.TopicPartition, kafka.Thousands(b.Oldest), strings.Join(b.Why, "; "), b.Setting, kafka.Thousands(b.Interval))
}

// FilesRemoved says that files which were no part of a log any more went from the disk.
type FilesRemoved struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Files          []string             `json:"files"` // without the directory, in the order in which they were given up
	Bytes          int                  `json:"bytes"`
	Delay          kafka.Millis         `json:"file_delete_delay_ms"`
}

// Kind gives the kind's name.
func (FilesRemoved) Kind() string { return "FilesRemoved" }

// Text gives the number of files and their size.
func (b FilesRemoved) Text() string {
	return fmt.Sprintf("%s files=%d %dB", b.TopicPartition, len(b.Files), b.Bytes)
}

// Sentence gives the files and the rule.
func (b FilesRemoved) Sentence() string {
	return fmt.Sprintf("%s of %s with %s bytes went from the disk: file.delete.delay.ms = %s are over.",
		kafka.Count(len(b.Files), ".deleted file"), b.TopicPartition, kafka.Thousands(b.Bytes), kafka.Thousands(b.Delay))
}
