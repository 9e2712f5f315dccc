package storage

import (
	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// Appended says what an append did.
type Appended struct {
	// BaseOffset is the offset of the batch's first record.
	BaseOffset kafka.Offset
	// LastOffset is the offset of its last record, inclusive.
	LastOffset kafka.Offset
	// LogAppendTime is what the records' timestamps became under LogAppendTime; NoTimestamp under
	// CreateTime.
	LogAppendTime kafka.Timestamp
	// Bytes is the size of the batch.
	Bytes int
	// SegmentBase is the base offset of the segment that took it.
	SegmentBase kafka.Offset
	// Position is its first byte in that segment.
	Position int
	// Roll is nil unless the append began a new segment.
	Roll *Roll
	// IndexEntry is the offset index entry that was due; nil for none.
	IndexEntry *OffsetEntry
	// TimeEntry is the time index entry that was due; nil for none.
	TimeEntry *TimeEntry
}

// Append checks a producer's batch, gives it the next offsets and the leader epoch, and puts it at
// the end of the log: the leader's append. The batch is copied, never written. now is the leader's
// clock. The first append of an epoch also notes where the epoch began.
//
// The error is a *Refusal: INVALID_RECORD, MESSAGE_TOO_LARGE, CORRUPT_MESSAGE, INVALID_TIMESTAMP or
// RECORD_LIST_TOO_LARGE. If a batch breaks several rules, the first in the order of check decides.
// It panics if epoch is negative.
//
// Source: UnifiedLog.appendAsLeader.
func (l *Log) Append(batch []byte, epoch kafka.LeaderEpoch, now kafka.Timestamp) (Appended, error) {
	l.clock = now
	in, refusal := l.config.check(batch, now)
	if refusal != nil {
		return Appended{}, refusal
	}
	size := len(in.bytes)
	if size > l.config.SegmentBytes {
		return Appended{}, refuse(kerr.RecordListTooLarge, "batch of %s bytes > segment.bytes %s",
			kafka.Thousands(size), kafka.Thousands(l.config.SegmentBytes))
	}
	base := l.logEndOffset
	last := base + kafka.Offset(in.lastOffsetDelta)
	l.AssignEpochStartOffset(epoch, base)
	roll := l.maybeRoll(arrival{bytes: size, base: base, last: last, maxTimestamp: in.maxTimestamp}, now)

	appended := Appended{
		BaseOffset:    base,
		LastOffset:    last,
		LogAppendTime: kafka.NoTimestamp,
		Bytes:         size,
		SegmentBase:   l.active.base,
		Position:      l.active.size(l.disk),
		Roll:          roll,
	}
	stored := l.disk.Append(l.active.log, in.bytes)
	record.Stamp(stored, base, epoch)
	switch {
	case l.config.MessageTimestampType == record.LogAppendTime:
		record.StampLogAppendTime(stored, now)
		appended.LogAppendTime = now
	case in.restamp:
		record.StampCreateTime(stored, in.maxTimestamp)
	}
	l.active.noteAppended(l.disk, &appended, in.maxTimestamp, l.config.IndexIntervalBytes)
	l.active.modified = now
	l.logEndOffset = last + 1
	return appended, nil
}
