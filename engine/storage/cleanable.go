package storage

import (
	"fmt"

	"loglab/engine/kafka"
)

// CleanBound is what keeps the cleaner from going further.
type CleanBound int8

const (
	// BoundActive: the active segment is never cleaned.
	BoundActive CleanBound = iota + 1
	// BoundLastStable: nothing at the last stable offset or above is, and so nothing of an open transaction or
	// above the high watermark.
	BoundLastStable
	// BoundMinLag: a segment holds a record that is younger than min.compaction.lag.ms.
	BoundMinLag
)

var cleanBounds = [...]string{BoundActive: "active segment", BoundLastStable: "last stable offset", BoundMinLag: "min.compaction.lag.ms"}

// String names the bound.
func (b CleanBound) String() string { return cleanBounds[b] }

// CleanVerdict says whether a log is to be cleaned, and by which rule.
type CleanVerdict int8

const (
	// CleanByRatio: the dirty ratio is above min.cleanable.dirty.ratio.
	CleanByRatio CleanVerdict = iota + 1
	// CleanByMaxLag: the ratio is not, but a dirty segment began longer than max.compaction.lag.ms ago.
	CleanByMaxLag
	// NotCompacted: cleanup.policy does not contain compact.
	NotCompacted
	// NothingToClean: no dirty byte lies before the bound.
	NothingToClean
	// TooClean: the dirty ratio is not above min.cleanable.dirty.ratio.
	TooClean
)

var cleanVerdicts = [...]string{
	CleanByRatio: "dirty ratio", CleanByMaxLag: "max.compaction.lag.ms", NotCompacted: "not compacted", NothingToClean: "nothing to clean", TooClean: "too clean",
}

// String names the verdict in a few words.
func (v CleanVerdict) String() string { return cleanVerdicts[v] }

// Cleanable is what the cleaner knows of a log before it chooses one: what is dirty, how far it may go, and whether
// it is worth it.
//
//	0                 first dirty offset        first uncleanable offset
//	│ clean bytes      │ cleanable bytes         │ not to be cleaned now …
type Cleanable struct {
	// FirstDirtyOffset is where the part begins that was never cleaned, inclusive: the checkpoint or the log
	// start offset.
	FirstDirtyOffset kafka.Offset
	// FirstUncleanableOffset is where the cleaner stops, exclusive: always the base offset of a segment. It may
	// lie below FirstDirtyOffset if the bound lies in the segment where the dirty part begins.
	FirstUncleanableOffset kafka.Offset
	// Bound is what stops it there; of equal ones the first in the order above.
	Bound CleanBound
	// BoundOffset is the bound itself, before it is moved down to the start of its segment.
	BoundOffset kafka.Offset
	// CheckpointReset says that the checkpoint lay outside the log and has to be set to FirstDirtyOffset.
	CheckpointReset bool
	// CleanBytes is the size of the segments that begin below FirstDirtyOffset.
	CleanBytes int
	// CleanableBytes is the size of those from the one with FirstDirtyOffset up to FirstUncleanableOffset; the
	// first of them may count on both sides.
	CleanableBytes int
	// Overdue is by how many ms the oldest dirty segment has passed max.compaction.lag.ms; 0 if it has not.
	Overdue kafka.Millis
	// Verdict says whether the log is to be cleaned.
	Verdict CleanVerdict
	// Why is the rule with its numbers, for example "350 of 700 bytes are dirty, 0.5 ≤
	// min.cleanable.dirty.ratio 0.5".
	Why string
}

// Eligible says that the log is to be cleaned.
func (c Cleanable) Eligible() bool { return c.Verdict == CleanByRatio || c.Verdict == CleanByMaxLag }

// Ratio is the share of the bytes below FirstUncleanableOffset that are dirty, 0 if there are none.
//
// Source: LogToClean.cleanableRatio.
func (c Cleanable) Ratio() float64 {
	if c.CleanBytes+c.CleanableBytes == 0 {
		return 0
	}
	return float64(c.CleanableBytes) / float64(c.CleanBytes+c.CleanableBytes)
}

// Cleanable says what the cleaner could do with the log. checkpoint is what the broker has in
// cleaner-offset-checkpoint for it, NoOffset if it has nothing. now is the broker's clock.
//
// Source: LogCleanerManager.cleanableOffsets, calculateCleanableBytes and grabFilthiestCompactedLog, LogToClean.
func (l *Log) Cleanable(checkpoint, lastStableOffset kafka.Offset, now kafka.Timestamp) Cleanable {
	c := Cleanable{FirstDirtyOffset: checkpoint, Bound: BoundActive, BoundOffset: l.active.base}
	if checkpoint == kafka.NoOffset {
		c.FirstDirtyOffset = l.logStartOffset
	} else if checkpoint < l.logStartOffset || checkpoint > l.logEndOffset {
		c.FirstDirtyOffset, c.CheckpointReset = l.logStartOffset, true
	}
	if lastStableOffset < c.BoundOffset {
		c.Bound, c.BoundOffset = BoundLastStable, lastStableOffset
	}
	dirty := l.sealedFrom(c.FirstDirtyOffset)
	if lag := l.config.MinCompactionLagMillis; lag > 0 {
		for i := range dirty {
			if dirty[i].largestTimestamp() > now-kafka.Timestamp(lag) {
				if dirty[i].base < c.BoundOffset {
					c.Bound, c.BoundOffset = BoundMinLag, dirty[i].base
				}
				break
			}
		}
	}
	c.FirstUncleanableOffset = l.active.base
	if beyond := l.sealedFrom(max(c.FirstDirtyOffset, c.BoundOffset)); len(beyond) > 0 {
		c.FirstUncleanableOffset = beyond[0].base
	}
	first := l.floorSegment(min(c.FirstDirtyOffset, c.FirstUncleanableOffset))
	for i := range l.sealed {
		s := &l.sealed[i]
		if s.base < c.FirstDirtyOffset {
			c.CleanBytes += s.size(l.disk)
		}
		if c.FirstDirtyOffset < c.FirstUncleanableOffset && i >= first && s.base < c.FirstUncleanableOffset {
			c.CleanableBytes += s.size(l.disk)
		}
	}
	if l.active.base < c.FirstDirtyOffset {
		c.CleanBytes += l.active.size(l.disk)
	}
	c.Overdue = overdue(dirty, now-kafka.Timestamp(l.config.MaxCompactionLagMillis))
	c.judge(&l.config)
	return c
}

// sealedFrom gives the segments behind and with the one that holds offset, without the active one; none if offset is
// not below that.
//
// Source: LogSegments.nonActiveLogSegmentsFrom.
func (l *Log) sealedFrom(offset kafka.Offset) []segment {
	return l.sealed[min(max(0, l.floorSegment(offset)), len(l.sealed)):]
}

// overdue is by how much the oldest first batch of the segments lies before a time; 0 if it does not.
//
// Source: LogCleanerManager.maxCompactionDelay.
func overdue(dirty []segment, before kafka.Timestamp) kafka.Millis {
	delay := kafka.Timestamp(0)
	for i := range dirty {
		if first := dirty[i].firstBatchTimestamp; first > 0 && first < before {
			delay = max(delay, before-first)
		}
	}
	return kafka.Millis(delay)
}

// judge says whether the log is to be cleaned.
//
// Source: LogCleanerManager.grabFilthiestCompactedLog.
func (c *Cleanable) judge(config *Config) {
	above := c.Ratio() > config.MinCleanableDirtyRatio
	c.Why = fmt.Sprintf("%s of %s bytes are dirty, %.4g %s min.cleanable.dirty.ratio %v", kafka.Thousands(c.CleanableBytes),
		kafka.Thousands(c.CleanBytes+c.CleanableBytes), c.Ratio(), relation(above, ">", "≤"), config.MinCleanableDirtyRatio)
	switch {
	case !config.Compact:
		c.Verdict, c.Why = NotCompacted, "cleanup.policy does not contain compact"
	case c.CleanableBytes == 0:
		c.Verdict = NothingToClean
		c.Why = fmt.Sprintf("no dirty bytes below offset %s, bound by: %v", kafka.Thousands(c.FirstUncleanableOffset), c.Bound)
	case above:
		c.Verdict = CleanByRatio
	case c.Overdue > 0 && c.CleanableBytes > 0:
		c.Verdict = CleanByMaxLag
		c.Why = fmt.Sprintf("a dirty segment began %s ms longer ago than max.compaction.lag.ms %s", kafka.Thousands(c.Overdue), kafka.Thousands(config.MaxCompactionLagMillis))
	default:
		c.Verdict = TooClean
	}
}

// Filthiest gives the place of the log that the cleaner takes: the eligible one with the highest ratio, of equal
// ones the first. It is -1 if none is eligible; the cleaner then sleeps for log.cleaner.backoff.ms, 15 s.
//
// Simplified: of logs with the same ratio the first of the list is cleaned. Kafka's order is that of its hash map.
//
// Source: LogCleanerManager.grabFilthiestCompactedLog.
func Filthiest(logs []Cleanable) int {
	best := -1
	for i, c := range logs {
		if c.Eligible() && (best < 0 || c.Ratio() > logs[best].Ratio()) {
			best = i
		}
	}
	return best
}
