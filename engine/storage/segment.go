package storage

import (
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// segment is what the log knows about one segment beside its files.
//
// Source: org.apache.kafka.storage.internals.log.LogSegment.
type segment struct {
	base                        kafka.Offset
	log, offsetIndex, timeIndex simdisk.File

	created             kafka.Timestamp // the broker's clock when the segment was made
	firstBatchTimestamp kafka.Timestamp // the first batch's largest timestamp, or NoTimestamp
	lastOffset          kafka.Offset    // of the last batch; base-1 if there is none
	largest             TimeEntry       // largest timestamp so far, NoTimestamp if there is none
	lastTimeIndexed     kafka.Timestamp // timestamp of the last time index entry, or NoTimestamp

	bytesSinceLastIndexEntry int
	modified                 kafka.Timestamp // when the .log file was last written, by the broker's clock
}

// largestTimestamp is the largest timestamp of a record, or where none has one the time at which the file
// was last written.
//
// Source: LogSegment.largestTimestamp.
func (s *segment) largestTimestamp() kafka.Timestamp {
	if s.largest.Timestamp >= 0 {
		return s.largest.Timestamp
	}
	return s.modified
}

// createSegment makes the three files of an empty segment.
func (l *Log) createSegment(base kafka.Offset, now kafka.Timestamp) segment {
	path := l.dir + "/" + SegmentFileName(base, "")
	s := newSegment(base, l.disk.Create(path+LogSuffix), l.disk.Create(path+OffsetIndexSuffix), l.disk.Create(path+TimeIndexSuffix), now)
	if l.config.SegmentBytes <= reserved {
		l.disk.Reserve(s.log, l.config.SegmentBytes)
	}
	return s
}

// reserved is the size up to which a segment gets all of its room at once, so that its bytes are never moved:
// the clones of a log keep every array that they were moved out of.
const reserved = 64 << 10

// newSegment is what is known of a segment as long as its files have not been looked at.
func newSegment(base kafka.Offset, log, offsetIndex, timeIndex simdisk.File, now kafka.Timestamp) segment {
	return segment{
		base:                base,
		log:                 log,
		offsetIndex:         offsetIndex,
		timeIndex:           timeIndex,
		modified:            now,
		created:             now,
		firstBatchTimestamp: kafka.NoTimestamp,
		lastOffset:          base - 1,
		largest:             TimeEntry{Timestamp: kafka.NoTimestamp, Offset: base},
		lastTimeIndexed:     kafka.NoTimestamp,
	}
}

func (s *segment) size(disk *simdisk.Disk) int { return disk.Size(s.log) }

func (s *segment) offsetEntries(disk *simdisk.Disk) int {
	return disk.Size(s.offsetIndex) / offsetEntrySize
}

func (s *segment) timeEntries(disk *simdisk.Disk) int {
	return disk.Size(s.timeIndex) / timeEntrySize
}

// noteAppended does what goes with the append of a batch: it keeps the largest timestamp so far and
// writes index entries if more than interval bytes have been appended since the last ones. The entries
// go into a too. The first batch of a segment is never indexed.
//
// Source: LogSegment.append.
func (s *segment) noteAppended(disk *simdisk.Disk, a *Appended, maxTimestamp kafka.Timestamp, interval int) {
	if a.Position == 0 {
		s.firstBatchTimestamp = maxTimestamp
	}
	s.lastOffset = a.LastOffset
	if maxTimestamp > s.largest.Timestamp {
		s.largest = TimeEntry{Timestamp: maxTimestamp, Offset: a.LastOffset}
	}
	if s.bytesSinceLastIndexEntry > interval {
		a.IndexEntry = &OffsetEntry{Offset: a.LastOffset, Position: a.Position}
		var b [offsetEntrySize]byte
		disk.Append(s.offsetIndex, appendOffsetEntry(b[:0], s.base, *a.IndexEntry))
		a.TimeEntry = s.maybeAppendTimeEntry(disk)
		s.bytesSinceLastIndexEntry = 0
	}
	s.bytesSinceLastIndexEntry += a.Bytes
}

// maybeAppendTimeEntry writes the largest timestamp so far to the time index unless the last entry
// already says it. It returns the entry or nil.
//
// Source: TimeIndex.maybeAppend.
func (s *segment) maybeAppendTimeEntry(disk *simdisk.Disk) *TimeEntry {
	if s.largest.Timestamp <= s.lastTimeIndexed {
		return nil
	}
	entry := s.largest
	var b [timeEntrySize]byte
	disk.Append(s.timeIndex, appendTimeEntry(b[:0], s.base, entry))
	s.lastTimeIndexed = entry.Timestamp
	return &entry
}

// becomeInactive closes the books of a segment that has been rolled: the largest timestamp goes to
// the time index, whatever the interval says, and the files are synced. It returns the entry or nil.
//
// Source: LogSegment.onBecomeInactiveSegment, UnifiedLog.roll.
func (s *segment) becomeInactive(disk *simdisk.Disk) *TimeEntry {
	entry := s.maybeAppendTimeEntry(disk)
	s.sync(disk)
	return entry
}

// sync makes the segment's files survive a power loss.
//
// Source: LogSegment.flush.
func (s *segment) sync(disk *simdisk.Disk) {
	disk.Sync(s.log)
	disk.Sync(s.offsetIndex)
	disk.Sync(s.timeIndex)
	if file, exists := s.transactionIndex(disk); exists {
		disk.Sync(file)
	}
}

// Segment is a segment as it was at one moment. It is a value; the bytes are shared with the log,
// never change and must not be changed.
type Segment struct {
	// BaseOffset names the files. No record in the segment has a lower offset.
	BaseOffset kafka.Offset
	// FirstOffset is the base offset of the first batch, NoOffset if the segment is empty.
	FirstOffset kafka.Offset
	// LastOffset is the last offset of the last batch, inclusive; NoOffset if the segment is empty.
	LastOffset kafka.Offset
	// LargestTimestamp is the largest timestamp of a record; NoTimestamp if none has one. Retention
	// by time goes by it.
	LargestTimestamp kafka.Timestamp
	// Bytes is the content of the .log file: whole batches.
	Bytes []byte
	// OffsetIndex is the content of the .index file.
	OffsetIndex []byte
	// TimeIndex is the content of the .timeindex file.
	TimeIndex []byte
	// TransactionIndex is the content of the .txnindex file; nil if there is none, as no transaction was aborted here.
	TransactionIndex []byte
}

func (s *segment) view(disk *simdisk.Disk) Segment {
	v := Segment{
		BaseOffset:       s.base,
		FirstOffset:      kafka.NoOffset,
		LastOffset:       kafka.NoOffset,
		LargestTimestamp: s.largest.Timestamp,
		Bytes:            disk.Bytes(s.log),
		OffsetIndex:      disk.Bytes(s.offsetIndex),
		TimeIndex:        disk.Bytes(s.timeIndex),
	}
	if file, exists := s.transactionIndex(disk); exists {
		v.TransactionIndex = disk.Bytes(file)
	}
	if first, err := record.Parse(v.Bytes); err == nil {
		v.FirstOffset, v.LastOffset = first.BaseOffset, s.lastOffset
	}
	return v
}

// OffsetEntries decodes the offset index. The caller owns the slice.
func (s Segment) OffsetEntries() []OffsetEntry {
	entries := make([]OffsetEntry, len(s.OffsetIndex)/offsetEntrySize)
	for i := range entries {
		entries[i] = offsetEntryAt(s.OffsetIndex, s.BaseOffset, i)
	}
	return entries
}

// TimeEntries decodes the time index. The caller owns the slice.
func (s Segment) TimeEntries() []TimeEntry {
	entries := make([]TimeEntry, len(s.TimeIndex)/timeEntrySize)
	for i := range entries {
		entries[i] = timeEntryAt(s.TimeIndex, s.BaseOffset, i)
	}
	return entries
}
