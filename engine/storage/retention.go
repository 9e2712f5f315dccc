package storage

import (
	"fmt"

	"loglab/engine/kafka"
)

// RetentionRule is one of the rules by which old segments go.
type RetentionRule int8

const (
	// RetentionLogStart: all of a segment lies below the log start offset. It holds whatever cleanup.policy says.
	RetentionLogStart RetentionRule = iota + 1
	// RetentionSize: without the segment the log still has retention.bytes.
	RetentionSize
	// RetentionTime: the segment's largest timestamp is older than retention.ms.
	RetentionTime
)

var retentionRules = [...]string{RetentionLogStart: "log start offset", RetentionSize: "retention.bytes", RetentionTime: "retention.ms"}

// String names what the rule goes by: the setting, or "log start offset".
func (r RetentionRule) String() string { return retentionRules[r] }

// SegmentVerdict is what one rule says of one segment.
type SegmentVerdict int8

const (
	// SegmentGoes: the rule holds.
	SegmentGoes SegmentVerdict = iota + 1
	// SegmentStays: the rule does not hold.
	SegmentStays
	// SegmentNotReplicated: a record in it is at the high watermark or above.
	SegmentNotReplicated
	// SegmentLast: it is the last one and empty, so there is nothing to delete.
	SegmentLast
	// SegmentBehind: an older segment stays, so it was not looked at.
	SegmentBehind
)

var segmentVerdicts = [...]string{
	SegmentGoes: "goes", SegmentStays: "stays", SegmentNotReplicated: "not replicated", SegmentLast: "empty", SegmentBehind: "behind one that stays",
}

// String names the verdict in a few words.
func (v SegmentVerdict) String() string { return segmentVerdicts[v] }

// SegmentCheck is what one rule says of one segment, and by which numbers.
type SegmentCheck struct {
	// BaseOffset names the segment.
	BaseOffset kafka.Offset
	// UpperBound is the base offset of the next segment, or the log end offset: exclusive.
	UpperBound kafka.Offset
	// Bytes is the size of the .log file.
	Bytes int
	// Verdict is what came of it.
	Verdict SegmentVerdict
	// Value and Limit are the numbers that were compared; 0 where the segment was not looked at.
	//
	//	RetentionLogStart     UpperBound ≤ log start offset
	//	RetentionSize         bytes above retention.bytes ≥ bytes of the segment
	//	RetentionTime         ms since the largest timestamp > retention.ms
	//	SegmentNotReplicated  UpperBound > high watermark
	Value, Limit int64
	// Why is the same with the setting, for example
	// "largest timestamp 1,011 ms ago > retention.ms 1,000".
	Why string
}

// RetentionCheck is one rule, held against each segment from the oldest on until one stays.
type RetentionCheck struct {
	Rule RetentionRule
	// Off says why the rule is not asked; empty if it is. Segments is then empty.
	Off string
	// Segments are all that there were, oldest first.
	Segments []SegmentCheck
	// Deleted is how many of them went.
	Deleted int
	// RolledAt is the base offset of the empty segment that was begun because all of them went; NoOffset if none was.
	RolledAt kafka.Offset
}

// Retention says what a check of old segments did.
type Retention struct {
	// Checks are the rules in Kafka's order. Each sees what the one before it has left.
	Checks []RetentionCheck
	// Deleted is how many segments went.
	Deleted int
	// LogStartFrom and LogStartTo are the log start offset before and after.
	LogStartFrom, LogStartTo kafka.Offset
}

// DeleteOldSegments holds the segments against the rules of retention, in Kafka's order: log start offset, size,
// time; without delete in cleanup.policy only the first. Segments go from the oldest on up to the first that
// stays, never one that reaches above the high watermark, and never an empty last one. If all go, the active one
// is rolled first: the log is then empty and begins at its end. The log start offset moves at once to the first
// segment that is left; the files stay with the suffix .deleted until RemoveDeletedFiles. now is this
// broker's clock.
//
// A broker calls it every log.retention.check.interval.ms, 5 minutes, for logs without compact in cleanup.policy;
// with compact, the cleaner thread does after each of its rounds. Followers do it by themselves.
//
// Source: UnifiedLog.deleteOldSegments, LogManager.cleanupLogs, LogCleaner.CleanerThread.cleanFilthiestLog.
func (l *Log) DeleteOldSegments(highWatermark kafka.Offset, now kafka.Timestamp) Retention {
	return l.deleteOld(highWatermark, now, true)
}

// ForeseeOldSegments says what DeleteOldSegments would do. It is for a clone on a clone of the disk, which cannot be used
// for anything else then: the files of segments that go are left as they are.
func (l *Log) ForeseeOldSegments(highWatermark kafka.Offset, now kafka.Timestamp) Retention {
	return l.deleteOld(highWatermark, now, false)
}

// deleteOld is DeleteOldSegments, with the files or without.
func (l *Log) deleteOld(highWatermark kafka.Offset, now kafka.Timestamp, files bool) Retention {
	l.clock = now
	r := Retention{LogStartFrom: l.logStartOffset}
	for _, rule := range []RetentionRule{RetentionLogStart, RetentionSize, RetentionTime} {
		check := RetentionCheck{Rule: rule, Off: l.config.retentionOff(rule), RolledAt: kafka.NoOffset}
		if check.Off == "" {
			check.Segments, check.Deleted = l.checkSegments(rule, highWatermark, now)
			if check.Deleted > 0 {
				check.RolledAt = l.deleteOldest(check.Deleted, now, files)
			}
		}
		r.Deleted += check.Deleted
		r.Checks = append(r.Checks, check)
	}
	r.LogStartTo = l.logStartOffset
	return r
}

// retentionOff says why a rule is not asked, or nothing.
func (c *Config) retentionOff(rule RetentionRule) string {
	switch {
	case rule == RetentionLogStart:
		return ""
	case !c.Delete:
		return "cleanup.policy does not contain delete"
	case rule == RetentionSize && c.RetentionBytes < 0:
		return fmt.Sprintf("retention.bytes is %d: no limit", c.RetentionBytes)
	case rule == RetentionTime && c.RetentionMillis < 0:
		return fmt.Sprintf("retention.ms is %d: no limit", c.RetentionMillis)
	}
	return ""
}

// checkSegments asks one rule about all segments and counts those that go: the first so many.
//
// Source: UnifiedLog.deletableSegments.
func (l *Log) checkSegments(rule RetentionRule, highWatermark kafka.Offset, now kafka.Timestamp) (checks []SegmentCheck, gone int) {
	excess := l.Size() - l.config.RetentionBytes
	for i := range len(l.sealed) + 1 {
		s := l.segmentAt(i)
		c := SegmentCheck{BaseOffset: s.base, UpperBound: l.logEndOffset, Bytes: s.size(l.disk)}
		if i < len(l.sealed) {
			c.UpperBound = l.segmentAt(i + 1).base
		}
		switch {
		case gone < i:
			c.Verdict, c.Why = SegmentBehind, fmt.Sprintf("segment %s stays, and older ones go first", kafka.Thousands(checks[gone].BaseOffset))
		case highWatermark < c.UpperBound:
			c.Verdict, c.Value, c.Limit = SegmentNotReplicated, int64(c.UpperBound), int64(highWatermark)
			c.Why = fmt.Sprintf("reaches up to %s > high watermark %s", kafka.Thousands(c.UpperBound), kafka.Thousands(highWatermark))
		case i == len(l.sealed) && c.Bytes == 0:
			c.Verdict, c.Why = SegmentLast, "the last segment is empty"
		default:
			l.ask(rule, &c, s, i == len(l.sealed), excess, now)
		}
		if c.Verdict == SegmentGoes {
			gone++
			excess -= c.Bytes
		}
		checks = append(checks, c)
	}
	return checks, gone
}

// ask holds one segment against a rule. excess is by how much the log with it is above retention.bytes.
//
// Source: UnifiedLog.deleteLogStartOffsetBreachedSegments, deleteRetentionSizeBreachedSegments and
// deleteRetentionMsBreachedSegments.
func (l *Log) ask(rule RetentionRule, c *SegmentCheck, s *segment, active bool, excess int, now kafka.Timestamp) {
	holds := false
	switch rule {
	case RetentionLogStart:
		c.Value, c.Limit = int64(c.UpperBound), int64(l.logStartOffset)
		holds = !active && c.UpperBound <= l.logStartOffset
		c.Why = fmt.Sprintf("next segment %s %s log start offset %s", kafka.Thousands(c.UpperBound), relation(holds, "≤", ">"), kafka.Thousands(l.logStartOffset))
		if active {
			c.Why = "no segment begins after it"
		}
	case RetentionSize:
		c.Value, c.Limit = int64(excess), int64(c.Bytes)
		holds = excess >= c.Bytes
		size := excess + l.config.RetentionBytes
		c.Why = fmt.Sprintf("size %s - retention.bytes %s = %s %s %s bytes of the segment", kafka.Thousands(size),
			kafka.Thousands(l.config.RetentionBytes), kafka.Thousands(excess), relation(holds, "≥", "<"), kafka.Thousands(c.Bytes))
		if excess < 0 {
			c.Why = fmt.Sprintf("size %s < retention.bytes %s", kafka.Thousands(size), kafka.Thousands(l.config.RetentionBytes))
		}
	case RetentionTime:
		c.Value, c.Limit = int64(now-s.largestTimestamp()), int64(l.config.RetentionMillis)
		holds = c.Value > c.Limit
		what := "largest timestamp"
		if s.largest.Timestamp < 0 {
			what = "no timestamps, last written"
		}
		if c.Value < 0 {
			c.Why = fmt.Sprintf("%s %s ms in the future, retention.ms %s", what, kafka.Thousands(-c.Value), kafka.Thousands(c.Limit))
			break
		}
		c.Why = fmt.Sprintf("%s %s ms ago %s retention.ms %s", what, kafka.Thousands(c.Value), relation(holds, ">", "≤"), kafka.Thousands(c.Limit))
	}
	c.Verdict = SegmentStays
	if holds {
		c.Verdict = SegmentGoes
	}
}

// relation gives the sign for a rule that holds or not.
func relation(holds bool, yes, no string) string {
	if holds {
		return yes
	}
	return no
}

// deleteOldest takes the oldest n segments out of the log. If these are all, it rolls first, and returns the base
// offset of the new segment; else NoOffset. Without files, these keep their names.
//
// Source: UnifiedLog.deleteSegments, LocalLog.removeAndDeleteSegments.
func (l *Log) deleteOldest(n int, now kafka.Timestamp, files bool) (rolledAt kafka.Offset) {
	rolledAt = kafka.NoOffset
	if n > len(l.sealed) {
		rolledAt = l.logEndOffset
		l.roll(rolledAt, now)
	}
	l.IncrementLogStartOffset(l.segmentAt(n).base)
	gone := l.sealed[:n]
	l.sealed = l.sealed[n:]
	if !files {
		return rolledAt
	}
	for _, s := range gone {
		l.giveUpSegment(s.base, now)
	}
	for _, s := range gone {
		l.giveUpSnapshot(s.base, now)
	}
	return rolledAt
}
