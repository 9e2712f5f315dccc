package storage

import (
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
	found := TimestampLookup{
		Offset:           kafka.NoOffset,
		Timestamp:        kafka.NoTimestamp,
		LeaderEpoch:      kafka.NoLeaderEpoch,
		SegmentBase:      kafka.NoOffset,
		TimeEntryNumber:  -1,
		IndexEntryNumber: -1,
	}
	for i := 0; i <= len(l.sealed); i++ {
		if s := l.segmentAt(i); s.largestTimestamp() >= target {
			err := l.searchTimestamp(s, target, &found)
			return found, err
		}
	}
	return found, nil
}

// searchTimestamp looks for the target in one segment.
//
// Source: FileRecords.searchForTimestamp.
func (l *Log) searchTimestamp(s *segment, target kafka.Timestamp, found *TimestampLookup) error {
	found.SegmentBase = s.base
	found.TimeEntry, found.TimeEntryNumber = lookupTime(l.disk.Bytes(s.timeIndex), s.base, target)
	start := max(found.TimeEntry.Offset, l.logStartOffset)
	found.IndexEntry, found.IndexEntryNumber = lookupOffset(l.disk.Bytes(s.offsetIndex), s.base, start, nil)
	found.Position = found.IndexEntry.Position
	bytes := l.disk.Bytes(s.log)
	for found.Position < len(bytes) {
		batch, err := record.Parse(bytes[found.Position:])
		if err != nil {
			return l.damaged(s, found.Position, err)
		}
		found.BatchesScanned++
		if batch.MaxTimestamp >= target {
			scan := batch.Scan()
			for scan.Next() {
				if r := scan.Record(); r.Timestamp >= target && r.Offset >= l.logStartOffset {
					found.Offset, found.Timestamp, found.LeaderEpoch = r.Offset, r.Timestamp, batch.PartitionLeaderEpoch
					return nil
				}
			}
			if err := scan.Err(); err != nil {
				return l.damaged(s, found.Position, err)
			}
		}
		found.Position += batch.Size()
	}
	return nil
}
