package storage

import (
	"errors"
	"fmt"
	"math"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// TruncateTo cuts the log so that nothing at offset or above is left, and gives the number of records that
// went. Whole batches go: if offset lies inside one, all of it. The log end offset becomes offset, and the
// log start offset too if it was above. Segments that begin above offset are removed with their files, the one
// that holds it becomes active; its indexes are cut, never rebuilt. Leader epochs that began at offset or above
// are forgotten. At the log end offset or above, only those are, and no record goes. What was read
// or cloned before keeps its bytes. It panics if offset is negative.
//
// The error means that a segment holds something that is not a batch; the log is then as it was.
//
// Simplified: files of removed segments go at once. Kafka renames them to .deleted and removes them after
// file.delete.delay.ms.
//
// Simplified: the clock is that of the last append; it only counts for a segment that becomes empty or holds no
// timestamp.
//
// Source: UnifiedLog.truncateTo, LocalLog.truncateTo, LogSegment.truncateTo.
func (l *Log) TruncateTo(offset kafka.Offset) (removed int, err error) {
	switch {
	case offset < 0:
		panic(fmt.Sprintf("storage: %s: truncate to offset %d", l.dir, offset))
	case offset >= l.logEndOffset:
		l.truncateEpochsFromEnd(l.logEndOffset)
		return 0, nil
	}
	kept := l.floorSegment(offset)
	for i := max(kept+1, 0); i <= len(l.sealed); i++ {
		_, records := wholeBatches(l.disk.Bytes(l.segmentAt(i).log))
		removed += records
	}
	if kept < 0 { // offset lies before the first segment
		l.TruncateFullyAndStartAt(offset)
		return removed, nil
	}
	last := *l.segmentAt(kept)
	cut, err := l.cutPosition(&last, offset)
	if err != nil {
		return 0, err
	}
	_, records := wholeBatches(l.disk.Bytes(last.log)[cut:])
	for i := kept + 1; i <= len(l.sealed); i++ {
		l.segmentAt(i).remove(l.disk)
	}
	l.sealed = l.sealed[:kept:kept]
	last.truncate(l.disk, offset, cut, l.clock)
	l.active = last
	l.setLogEndOffset(offset)
	l.truncateEpochsFromEnd(offset)
	l.logStartOffset = min(l.logStartOffset, offset)
	l.rebuildProducers(&l.producers, l.segments(), offset, false)
	return removed + records, nil
}

// TruncateFullyAndStartAt removes every segment and begins an empty one at offset, which becomes both log
// start offset and log end offset. All leader epochs are forgotten. It is what a follower does whose log
// ends before the leader's begins. It panics if offset is negative.
//
// Source: UnifiedLog.truncateFullyAndStartAt.
func (l *Log) TruncateFullyAndStartAt(offset kafka.Offset) {
	if offset < 0 {
		panic(fmt.Sprintf("storage: %s: start at offset %d", l.dir, offset))
	}
	for i := range len(l.sealed) + 1 {
		l.segmentAt(i).remove(l.disk)
	}
	l.sealed = nil
	l.active = l.createSegment(offset, l.clock)
	l.setLogEndOffset(offset)
	l.logStartOffset = offset
	l.epochs = nil
	l.writeLeaderEpochCheckpoint()
	for _, snapshot := range l.producerSnapshots() {
		l.disk.Remove(snapshot.file)
	}
	l.producers = producers{end: offset, snapshot: offset}
}

// IncrementLogStartOffset moves the log start offset up to offset and reports whether it moved; a lower
// offset changes nothing. Leader epochs that ended before it are forgotten; segments stay until retention
// removes them. The caller has made sure that offset is not above the high watermark. It panics if offset
// is above the log end offset.
//
// Source: UnifiedLog.maybeIncrementLogStartOffset.
func (l *Log) IncrementLogStartOffset(offset kafka.Offset) bool {
	if offset > l.logEndOffset {
		panic(fmt.Sprintf("storage: %s: log start offset %d > log end offset %d", l.dir, offset, l.logEndOffset))
	}
	if offset <= l.logStartOffset {
		return false
	}
	l.logStartOffset = offset
	l.recoveryPoint = max(l.recoveryPoint, offset)
	l.truncateEpochsFromStart(offset)
	l.noteProducersFrom(&l.producers, offset)
	return true
}

// setLogEndOffset moves the log end offset down, and the recovery point if it would lie above.
//
// Source: LocalLog.updateLogEndOffset.
func (l *Log) setLogEndOffset(offset kafka.Offset) {
	l.logEndOffset = offset
	l.recoveryPoint = min(l.recoveryPoint, offset)
}

// cutPosition is where a segment's bytes end when nothing at offset or above is left: the first byte of the
// first batch with a last offset ≥ offset. All batches before it are looked at.
func (l *Log) cutPosition(s *segment, offset kafka.Offset) (int, error) {
	bytes := l.disk.Bytes(s.log)
	before := newSegment(s.base, s.log, s.offsetIndex, s.timeIndex, s.modified)
	for position := 0; ; {
		batch, err := record.Parse(bytes[position:])
		switch {
		case errors.Is(err, record.ErrEnd):
			return position, nil
		case err != nil:
			return position, l.damaged(s, position, err)
		case batch.LastOffset() >= offset:
			return position, nil
		case !before.canFollow(&batch, offset):
			return position, l.damaged(s, position, fmt.Errorf("offsets %d to %d after %d", batch.BaseOffset, batch.LastOffset(), before.lastOffset))
		}
		before.lastOffset = batch.LastOffset()
		position += batch.Size()
	}
}

// wholeBatches counts the whole batches at the start of b: their bytes and their records.
func wholeBatches(b []byte) (size, records int) {
	for {
		batch, err := record.Parse(b[size:])
		if err != nil {
			return size, records
		}
		size += batch.Size()
		records += int(batch.RecordsCount)
	}
}

// remove deletes the segment's files.
func (s *segment) remove(disk *simdisk.Disk) {
	if file, exists := s.transactionIndex(disk); exists {
		disk.Remove(file)
	}
	disk.Remove(s.log)
	disk.Remove(s.offsetIndex)
	disk.Remove(s.timeIndex)
}

// truncate cuts the segment's file to size bytes and its indexes to what lies below offset. Indexes that contradict
// what is left go.
//
// Source: LogSegment.truncateTo, OffsetIndex.truncateTo, TimeIndex.truncateTo, TransactionIndex.truncateTo.
func (s *segment) truncate(disk *simdisk.Disk, offset kafka.Offset, size int, now kafka.Timestamp) {
	_, at := lookupOffset(disk.Bytes(s.offsetIndex), s.base, offset-1, nil)
	disk.Truncate(s.offsetIndex, (at+1)*offsetEntrySize)
	times := s.timeEntries(disk)
	for times > 0 && timeEntryAt(disk.Bytes(s.timeIndex), s.base, times-1).Offset >= offset {
		times--
	}
	disk.Truncate(s.timeIndex, times*timeEntrySize)
	s.truncateAborted(disk, offset)
	disk.Truncate(s.log, size)
	s.modified = now
	if size == 0 {
		s.created = now
		s.firstBatchTimestamp = kafka.NoTimestamp
	}
	s.bytesSinceLastIndexEntry = 0
	if s.load(disk, math.MaxInt64) != nil {
		disk.Truncate(s.offsetIndex, 0)
		disk.Truncate(s.timeIndex, 0)
		if err := s.reload(disk, math.MaxInt64); err != nil {
			panic("storage: " + err.Error()) // cutPosition has looked at all batches
		}
	}
}

// reload reads from the segment's files what else is known of it: last offset, largest timestamp and last
// time index entry. The largest timestamp is the last one in the time index, or a larger one of a batch
// behind. The error says that the batches behind it cannot be read, do not lie below end, or are not those of the
// indexes.
//
// Simplified: the largest timestamp is always right. Kafka looks it up when it is first needed: after a restart
// and a truncation that empties the time index, it may hold a segment for one without timestamps.
//
// Source: LogSegment.readNextOffset, readMaxTimestampAndOffsetSoFar and readLargestTimestamp.
func (s *segment) reload(disk *simdisk.Disk, end kafka.Offset) error {
	bytes, offsets, times := disk.Bytes(s.log), disk.Bytes(s.offsetIndex), disk.Bytes(s.timeIndex)
	s.largest = TimeEntry{Timestamp: kafka.NoTimestamp, Offset: s.base}
	indexed := s.base - 1
	if n := len(times) / timeEntrySize; n > 0 {
		s.largest = timeEntryAt(times, s.base, n-1)
		indexed = s.largest.Offset
	}
	s.lastTimeIndexed = s.largest.Timestamp
	s.lastOffset = s.base - 1
	from, number := lookupOffset(offsets, s.base, s.largest.Offset, nil)
	next := max(number, 0) // the index entry that the scan comes to next
	for position := from.Position; ; {
		batch, err := record.Parse(bytes[position:])
		if next < s.offsetEntries(disk) {
			if e := offsetEntryAt(offsets, s.base, next); e.Position == position && e.Offset == batch.LastOffset() {
				next++
			} else if e.Position <= position {
				return fmt.Errorf("offset index entry %d: offset %d at byte %d, the segment has another batch at byte %d", next, e.Offset, e.Position, position)
			}
		}
		switch {
		case errors.Is(err, record.ErrEnd) && s.lastOffset < indexed:
			return fmt.Errorf("time index: last offset is %d, the segment ends with %d", indexed, s.lastOffset)
		case errors.Is(err, record.ErrEnd):
			return nil
		case err != nil:
			return fmt.Errorf("%s at byte %d: %w", disk.Path(s.log), position, err)
		case batch.LastOffset() <= indexed && batch.MaxTimestamp > s.lastTimeIndexed:
			return fmt.Errorf("time index: the largest timestamp up to offset %d is %d, the batch at byte %d has %d", indexed, s.lastTimeIndexed, position, batch.MaxTimestamp)
		case !s.canFollow(&batch, end):
			return fmt.Errorf("%s at byte %d: offsets %d to %d after %d, below %d", disk.Path(s.log), position, batch.BaseOffset, batch.LastOffset(), s.lastOffset, end)
		}
		if batch.MaxTimestamp > s.largest.Timestamp {
			s.largest = TimeEntry{Timestamp: batch.MaxTimestamp, Offset: batch.LastOffset()}
		}
		s.lastOffset = batch.LastOffset()
		position += batch.Size()
	}
}
