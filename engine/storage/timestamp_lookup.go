package storage

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// TimestampLookup is the answer to "which offset does this time begin at", and how it was found.
type TimestampLookup struct {
	// Offset is the first record, in offset order, whose timestamp is ≥ the target; NoOffset if
	// there is none.
	Offset kafka.Offset
	// Timestamp is that record's timestamp; NoTimestamp if there is none.
	Timestamp kafka.Timestamp
	// LeaderEpoch is the epoch of the record's batch; NoLeaderEpoch if there is none.
	LeaderEpoch kafka.LeaderEpoch
	// SegmentBase is the base offset of the segment that was searched: the first one whose largest
	// timestamp is ≥ the target. NoOffset if there is none.
	SegmentBase kafka.Offset
	// TimeEntry is the time index entry with the greatest timestamp ≤ the target; if there is none,
	// the segment's base offset without a timestamp.
	TimeEntry TimeEntry
	// TimeEntryNumber is the entry's place in the time index, from 0; -1 if there is none.
	TimeEntryNumber int
	// IndexEntry is the offset index entry that TimeEntry's offset led to: where the scan began.
	IndexEntry OffsetEntry
	// IndexEntryNumber is its place in the offset index, from 0; -1 if there is none.
	IndexEntryNumber int
	// BatchesScanned is the number of batches that were looked at from there, the one with the
	// answer included.
	BatchesScanned int
	// Position is the first byte of the batch with the answer.
	Position int
}

// OffsetForTimestamp finds the first record, in offset order, whose timestamp is ≥ target. Later
// records may have lower timestamps. The earliest and the latest offset, which ListOffsets asks for
// by special timestamps, are LogStartOffset and LogEndOffset. An error means that the segment holds
// something that is not a batch.
//
// Source: UnifiedLog.fetchOffsetByTimestamp, LogSegment.findOffsetByTimestamp.
func (l *Log) OffsetForTimestamp(target kafka.Timestamp) (TimestampLookup, error) {
	found := noTimestamp()
	for i := 0; i <= len(l.sealed); i++ {
		if s := l.segmentAt(i); s.largestTimestamp() >= target {
			err := locateTimestamp(l.disk.Bytes(s.log), l.disk.Bytes(s.offsetIndex), l.disk.Bytes(s.timeIndex), s.base, l.logStartOffset, target, &found, nil)
			if err != nil {
				return found, l.damaged(s, found.Position, err)
			}
			return found, nil
		}
	}
	return found, nil
}

// noTimestamp is the answer where no record is found.
func noTimestamp() TimestampLookup {
	return TimestampLookup{
		Offset: kafka.NoOffset, Timestamp: kafka.NoTimestamp, LeaderEpoch: kafka.NoLeaderEpoch, SegmentBase: kafka.NoOffset,
		TimeEntryNumber: -1, IndexEntryNumber: -1,
	}
}

// locateTimestamp looks for the target in one segment's files. The error is that of [record.Parse] or of a
// scan at found.Position. The way is noted in way, unless that is nil.
//
// Source: LogSegment.findOffsetByTimestamp, FileRecords.searchForTimestamp.
func locateTimestamp(log, index, timeIndex []byte, base, logStart kafka.Offset, target kafka.Timestamp, found *TimestampLookup, way *FoundTimestamp) error {
	var times, offsets *[]SearchStep
	if way != nil {
		times, offsets = &way.TimeSearch, &way.Search
	}
	found.SegmentBase = base
	found.TimeEntry, found.TimeEntryNumber = lookupTime(timeIndex, base, target, times)
	found.IndexEntry, found.IndexEntryNumber = lookupOffset(index, base, max(found.TimeEntry.Offset, logStart), offsets)
	found.Position = found.IndexEntry.Position
	for found.Position < len(log) {
		batch, err := record.Parse(log[found.Position:])
		if err != nil {
			return err
		}
		found.BatchesScanned++
		if way != nil {
			way.Scanned = append(way.Scanned, batch)
		}
		if batch.MaxTimestamp >= target {
			scan := batch.Scan()
			for scan.Next() {
				if r := scan.Record(); r.Timestamp >= target && r.Offset >= logStart {
					found.Offset, found.Timestamp, found.LeaderEpoch = r.Offset, r.Timestamp, batch.PartitionLeaderEpoch
					return nil
				}
			}
			if err := scan.Err(); err != nil {
				return err
			}
		}
		found.Position += batch.Size()
	}
	return nil
}

// FoundTimestamp is how the first record from a time on is found, step by step.
type FoundTimestamp struct {
	TimestampLookup
	// Segment is the place of the segment in the list that was searched; -1 if none has such a record.
	Segment int
	// TimeSearch is the binary search in the segment's time index, and Search that in its offset index for the
	// offset that the time index gave; each is empty if the index is.
	TimeSearch, Search []SearchStep
	// Scanned are the batches that were looked at, the one with the answer last. They share the segment's bytes.
	Scanned []record.Batch
}

// FindTimestamp goes the way of [Log.OffsetForTimestamp] through segments as they were at one moment, the oldest
// first, and notes it. logStart is the log start offset then. An error means that a segment holds something that is
// not a batch.
//
// Simplified: a segment whose records have no timestamps is passed over. Kafka takes the time at which its file was
// last written for it.
func FindTimestamp(segments []Segment, logStart kafka.Offset, target kafka.Timestamp) (FoundTimestamp, error) {
	found := FoundTimestamp{TimestampLookup: noTimestamp(), Segment: -1}
	for i, s := range segments {
		if s.LargestTimestamp < target {
			continue
		}
		found.Segment = i
		err := locateTimestamp(s.Bytes, s.OffsetIndex, s.TimeIndex, s.BaseOffset, logStart, target, &found.TimestampLookup, &found)
		if err != nil {
			return found, fmt.Errorf("%s at byte %d: %w", SegmentFileName(s.BaseOffset, LogSuffix), found.Position, err)
		}
		return found, nil
	}
	return found, nil
}
