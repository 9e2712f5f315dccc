package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// LogCleaned says that the cleaner wrote the segments of a compacted log anew, without the records that later ones
// of the same key have replaced.
type LogCleaned struct {
	TopicPartition   kafka.TopicPartition `json:"topic_partition"`
	FirstDirtyOffset kafka.Offset         `json:"first_dirty_offset"` // where the dirty part began, inclusive
	Checkpoint       kafka.Offset         `json:"checkpoint"`         // where it begins now
	Keys             int                  `json:"keys"`               // in the offset map
	RecordsRead      int                  `json:"records_read"`
	Removed          []RemovedRecord      `json:"removed"` // by offset
	SegmentsBefore   []kafka.Offset       `json:"segments_before"`
	SegmentsAfter    []kafka.Offset       `json:"segments_after"`
	BytesBefore      int                  `json:"bytes_before"`
	BytesAfter       int                  `json:"bytes_after"`
	Tombstones       []kafka.Offset       `json:"tombstones"` // base offsets of the batches that were given a delete horizon
	DeleteRetention  kafka.Millis         `json:"delete_retention_ms"`
	Why              string               `json:"why"` // the log was worth it
}

// RemovedRecord is a record that a cleaning took away.
type RemovedRecord struct {
	Offset kafka.Offset `json:"offset"`
	Reason string       `json:"reason"`
	By     kafka.Offset `json:"by"` // the last record of its key that the cleaner knew; -1: that is not the reason
}

// Kind gives the kind's name.
func (LogCleaned) Kind() string { return "LogCleaned" }

// Text gives the range and what is left.
func (b LogCleaned) Text() string {
	return fmt.Sprintf("%s dirty=%d..%d keys=%d records=%d-%d segments=%s→%s %d→%dB: %s", b.TopicPartition, b.FirstDirtyOffset, b.Checkpoint-1, b.Keys,
		b.RecordsRead, len(b.Removed), listed(b.SegmentsBefore, ","), listed(b.SegmentsAfter, ","), b.BytesBefore, b.BytesAfter, b.Why)
}

// Sentence gives what the cleaner went by, what went, and what that saved.
func (b LogCleaned) Sentence() string {
	s := fmt.Sprintf("The cleaner cleaned %s (%s). It noted the last offset of %s %s, then wrote %s anew as %s: %s read, %s gone, %s bytes before, %s after.",
		b.TopicPartition, b.Why, kafka.Count(b.Keys, "key"), b.dirty(),
		kafka.Count(len(b.SegmentsBefore), "segment"), kafka.Count(len(b.SegmentsAfter), "segment"),
		kafka.Count(b.RecordsRead, "record"), kafka.Thousands(len(b.Removed)), kafka.Thousands(b.BytesBefore), kafka.Thousands(b.BytesAfter))
	if reasons := b.reasons(); reasons != "" {
		s += " Gone: " + reasons + "."
	}
	if n := len(b.Tombstones); n > 0 {
		s += fmt.Sprintf(" %s met for the first time and may go with a cleaning once delete.retention.ms = %s have passed.",
			kafka.Count(n, "batch")+" with a tombstone or a marker "+were(n), kafka.Thousands(b.DeleteRetention))
	}
	return s
}

// dirty names the dirty part.
func (b LogCleaned) dirty() string {
	if b.FirstDirtyOffset == b.Checkpoint-1 {
		return "at offset " + kafka.Thousands(b.FirstDirtyOffset)
	}
	return fmt.Sprintf("between offsets %s and %s", kafka.Thousands(b.FirstDirtyOffset), kafka.Thousands(b.Checkpoint-1))
}

// reasons counts why records went.
func (b LogCleaned) reasons() string {
	var order []string
	counts := map[string]int{} // only looked up
	for _, r := range b.Removed {
		if counts[r.Reason] == 0 {
			order = append(order, r.Reason)
		}
		counts[r.Reason]++
	}
	for i, reason := range order {
		order[i] = fmt.Sprintf("%s %s", kafka.Thousands(counts[reason]), reason)
	}
	return strings.Join(order, ", ")
}

// LogNotCleaned says that the cleaner looked at a compacted log and left it. It is told again only when it is for
// another reason than the last time.
type LogNotCleaned struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Why            string               `json:"why"`
	Backoff        kafka.Millis         `json:"backoff_ms"`
}

// Kind gives the kind's name.
func (LogNotCleaned) Kind() string { return "LogNotCleaned" }

// Text gives the reason.
func (b LogNotCleaned) Text() string { return fmt.Sprintf("%s: %s", b.TopicPartition, b.Why) }

// Sentence gives the reason and when the cleaner looks again.
func (b LogNotCleaned) Sentence() string {
	return fmt.Sprintf("The cleaner left %s: %s. It looks again every log.cleaner.backoff.ms = %s.", b.TopicPartition, b.Why, kafka.Thousands(b.Backoff))
}

// CleaningFailed says that the cleaner cannot clean a log, and leaves it alone until the broker starts again.
type CleaningFailed struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Error          string               `json:"error"`
}

// Kind gives the kind's name.
func (CleaningFailed) Kind() string { return "CleaningFailed" }

// Text gives the error.
func (b CleaningFailed) Text() string { return fmt.Sprintf("%s: %s", b.TopicPartition, b.Error) }

// Sentence gives the error and what follows.
func (b CleaningFailed) Sentence() string {
	return fmt.Sprintf("The cleaner cannot clean %s: %s. It leaves this log alone until the broker starts again.", b.TopicPartition, b.Error)
}
