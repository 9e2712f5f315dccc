package storage

import (
	"fmt"
	"math"

	"loglab/engine/kafka"
)

// RollReason is the part of the rule that made a segment roll. If several hold, it is the first of
// them in this order.
type RollReason int8

const (
	// RollSize: the batch would take the segment past segment.bytes.
	RollSize RollReason = iota + 1
	// RollTime: segment.ms, or max.compaction.lag.ms on a compacted topic, has passed.
	RollTime
	// RollOffsetIndexFull: the offset index has no room left in segment.index.bytes.
	RollOffsetIndexFull
	// RollTimeIndexFull: the time index has only the one slot left that the roll itself needs.
	RollTimeIndexFull
	// RollOffsetRange: the batch's last offset is too far from the base offset for an index entry.
	RollOffsetRange
)

var rollReasons = [...]string{
	RollSize:            "size",
	RollTime:            "time",
	RollOffsetIndexFull: "offset index full",
	RollTimeIndexFull:   "time index full",
	RollOffsetRange:     "offset range",
}

// String names the reason in one to three words.
func (r RollReason) String() string { return rollReasons[r] }

// Roll says that an append began a new segment and why.
type Roll struct {
	// Base is the base offset of the new segment: the batch's first offset.
	Base kafka.Offset
	// Reason is the part of the rule that held.
	Reason RollReason
	// Why is the rule with its numbers and the setting, for example
	// "size 980 + 120 > segment.bytes 1,000".
	Why string
	// TimeEntry is the entry that closes the old segment's time index; nil if the last entry
	// already had the largest timestamp.
	TimeEntry *TimeEntry
}

// arrival is what the roll rule looks at: the batches of one append, together.
type arrival struct {
	bytes        int
	base, last   kafka.Offset // of the first and of the last record, both inclusive
	maxTimestamp kafka.Timestamp
}

// maybeRoll seals the active segment and begins a new one at the first offset of what arrives if that may
// not go into it.
//
// Source: UnifiedLog.maybeRoll.
func (l *Log) maybeRoll(in arrival, now kafka.Timestamp) *Roll {
	reason, why := l.shouldRoll(in, now)
	if reason == 0 {
		return nil
	}
	size := l.active.size(l.disk)
	roll := &Roll{Base: in.base, Reason: reason, Why: why, TimeEntry: l.roll(in.base, now)}
	l.disk.Reserve(l.active.log, min(size+in.bytes, l.config.SegmentBytes)) // a guess: about what the last one took
	return roll
}

// roll seals the active segment, which is not empty or begins below base, and begins an empty one at base. It
// returns the entry that closes the old one's time index, or nil.
//
// Source: UnifiedLog.roll, LocalLog.roll.
func (l *Log) roll(base kafka.Offset, now kafka.Timestamp) *TimeEntry {
	entry := l.active.becomeInactive(l.disk)
	l.producers.end = base
	l.takeProducerSnapshot(&l.producers)
	l.recoveryPoint = max(l.recoveryPoint, base)
	l.sealed = append(l.sealed, l.active)
	l.active = l.createSegment(base, now)
	return entry
}

// shouldRoll says whether the active segment may not take what arrives. Time is told by timestamps: the
// largest that arrives against that of the segment's first batch. Only if the first batch has none, the
// clock decides. An empty segment rolls only for the offset range: else it would be replaced by one just
// like it.
//
// Source: LogSegment.shouldRoll and timeWaitedForRoll.
func (l *Log) shouldRoll(in arrival, now kafka.Timestamp) (RollReason, string) {
	s := &l.active
	size := s.size(l.disk)
	if size == 0 {
		return l.offsetRange(in.last)
	}
	if size > l.config.SegmentBytes-in.bytes {
		return RollSize, fmt.Sprintf("size %s + %s > segment.bytes %s",
			kafka.Thousands(size), kafka.Thousands(in.bytes), kafka.Thousands(l.config.SegmentBytes))
	}
	waited, since := now-s.created, "ms since the segment was created"
	if s.firstBatchTimestamp >= 0 {
		waited, since = in.maxTimestamp-s.firstBatchTimestamp, "ms after the segment's first batch"
	}
	if limit, setting := l.config.maxSegmentMillis(); waited > kafka.Timestamp(limit) {
		return RollTime, fmt.Sprintf("%s %s > %s %s", kafka.Thousands(waited), since, setting, kafka.Thousands(limit))
	}
	if entries, slots := s.offsetEntries(l.disk), l.config.SegmentIndexBytes/offsetEntrySize; entries >= slots {
		return RollOffsetIndexFull, fmt.Sprintf("offset index has %s entries ≥ segment.index.bytes %s / %d",
			kafka.Thousands(entries), kafka.Thousands(l.config.SegmentIndexBytes), offsetEntrySize)
	}
	if entries, slots := s.timeEntries(l.disk), l.config.SegmentIndexBytes/timeEntrySize-1; entries >= slots {
		return RollTimeIndexFull, fmt.Sprintf("time index has %s entries ≥ segment.index.bytes %s / %d - 1",
			kafka.Thousands(entries), kafka.Thousands(l.config.SegmentIndexBytes), timeEntrySize)
	}
	return l.offsetRange(in.last)
}

// offsetRange says whether an offset is too far from the active segment's base offset for an index entry.
//
// Source: LogSegment.canConvertToRelativeOffset.
func (l *Log) offsetRange(last kafka.Offset) (RollReason, string) {
	if last-l.active.base <= math.MaxInt32 {
		return 0, ""
	}
	return RollOffsetRange, fmt.Sprintf("last offset %s - base offset %s > %s, the greatest int32",
		kafka.Thousands(last), kafka.Thousands(l.active.base), kafka.Thousands(math.MaxInt32))
}
