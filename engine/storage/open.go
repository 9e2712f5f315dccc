package storage

import (
	"fmt"
	"math"
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// Recovered says what Open found in the segments that it had to read batch by batch, and what it dropped.
// It is zero after a clean stop.
type Recovered struct {
	// Segments is the number of segments that were read from their first byte.
	Segments int
	// Bytes and Records are what these hold now.
	Bytes, Records int
	// DroppedBytes is what was cut off behind the last whole batch with a right CRC, or stood in later
	// segments.
	DroppedBytes int
	// DroppedRecords counts the records of the whole batches in it; those of a torn batch are not known.
	DroppedRecords int
	// DroppedSegments is the number of later segments, which were removed.
	DroppedSegments int
	// EpochsRebuilt says that leader-epoch-checkpoint could not be read: the leader epochs are those of the batches.
	EpochsRebuilt bool
}

// Open makes a log of the files in directory dir, as a broker does when it starts; without files, an empty
// one as New does. now is the broker's clock. After a clean stop the files are taken as they are. If not, the
// segments from the one that holds recoveryPoint on are read batch by batch: what follows the last whole batch
// with a right CRC is cut off, later segments are removed, and the indexes are written anew. The producers
// come from the newest snapshot that is whole and the batches behind it, leader epochs from their checkpoint
// and the batches that were read. Where a file ends between two batches, nothing tells that some are missing: later
// segments stay.
//
// The log start offset is the base offset of the first segment. A broker whose log began later, by
// DeleteRecords or the leader's word, calls IncrementLogStartOffset with what it has in
// log-start-offset-checkpoint, or TruncateFullyAndStartAt if the log ends below that. It panics if config is not valid.
//
// Simplified: a segment without timestamps counts as last written when the log was opened; Kafka has the
// time of the file.
//
// Simplified: index files that contradict their segment make it be read batch by batch, and a leader-epoch-checkpoint
// that cannot be read is made anew from the batches. Kafka trusts the indexes of a segment that was synced, and
// leaves a log directory whose checkpoint it cannot read.
//
// Source: org.apache.kafka.storage.internals.log.LogLoader, UnifiedLog.create.
func Open(disk *simdisk.Disk, dir string, config Config, now kafka.Timestamp, cleanShutdown bool, recoveryPoint kafka.Offset) (*Log, Recovered) {
	if err := config.Validate(); err != nil {
		panic("storage: " + dir + ": " + err.Error())
	}
	l := &Log{disk: disk, dir: dir, config: config, clock: now}
	l.removeLeftovers()
	segments, unindexed := l.loadSegments(now)
	recovered := Recovered{}
	if recovered.EpochsRebuilt = !l.loadLeaderEpochs(); recovered.EpochsRebuilt {
		l.rebuildLeaderEpochs(segments)
	}
	if len(segments) > 0 {
		segments = l.recoverSegments(segments, unindexed, cleanShutdown, recoveryPoint, &recovered)
	} else {
		segments = []segment{l.createSegment(0, now)}
	}
	last := len(segments) - 1
	l.sealed, l.active = slices.Clip(segments[:last]), segments[last]
	l.logStartOffset, l.logEndOffset = segments[0].base, l.active.lastOffset+1
	l.recoveryPoint = l.logEndOffset
	if !cleanShutdown {
		l.recoveryPoint = max(l.logStartOffset, min(recoveryPoint, l.logEndOffset))
	}
	l.truncateEpochsFromEnd(l.logEndOffset)
	l.removeStraySnapshots(segments)
	l.rebuildProducers(&l.producers, segments, l.logEndOffset, cleanShutdown)
	return l, recovered
}

// loadSegments finds the segments of the directory, by base offset. An index file that is missing is made; the
// base offsets of segments without an offset index are listed, too. An index file without a segment is removed.
//
// Source: LogLoader.loadSegmentFiles.
func (l *Log) loadSegments(now kafka.Timestamp) (segments []segment, unindexed []kafka.Offset) {
	for _, path := range l.disk.List(l.dir) {
		for _, suffix := range []string{OffsetIndexSuffix, TimeIndexSuffix, TransactionIndexSuffix} {
			if base, is := l.offsetInName(path, suffix); is {
				if _, exists := l.disk.Open(l.dir + "/" + SegmentFileName(base, LogSuffix)); !exists {
					orphan, _ := l.disk.Open(path)
					l.disk.Remove(orphan)
				}
			}
		}
		base, is := l.offsetInName(path, LogSuffix)
		if !is {
			continue
		}
		name := l.dir + "/" + SegmentFileName(base, "")
		log, _ := l.disk.Open(path)
		index, exists := l.disk.Open(name + OffsetIndexSuffix)
		if !exists {
			index = l.disk.Create(name + OffsetIndexSuffix)
			unindexed = append(unindexed, base)
		}
		times, exists := l.disk.Open(name + TimeIndexSuffix)
		if !exists {
			times = l.disk.Create(name + TimeIndexSuffix)
		}
		segments = append(segments, newSegment(base, log, index, times, now))
	}
	return segments, unindexed
}

// recoverSegments reads the segments that need it, in order, and looks into the others' files only where they end. It
// returns those that are left.
//
// Source: LogLoader.recoverLog.
func (l *Log) recoverSegments(segments []segment, unindexed []kafka.Offset, cleanShutdown bool, recoveryPoint kafka.Offset, recovered *Recovered) []segment {
	for i := 0; i < len(segments); i++ {
		s, end := &segments[i], kafka.Offset(math.MaxInt64)
		unflushed := !cleanShutdown
		if i+1 < len(segments) {
			end = segments[i+1].base
			unflushed = unflushed && end > recoveryPoint
		}
		asItIs := !unflushed && !slices.Contains(unindexed, s.base) && s.load(l.disk, end) == nil
		if !asItIs && l.recoverSegment(segments, i, end, recovered) && unflushed {
			for _, later := range segments[i+1:] {
				bytes := l.disk.Bytes(later.log)
				_, records := wholeBatches(bytes)
				recovered.DroppedBytes += len(bytes)
				recovered.DroppedRecords += records
				recovered.DroppedSegments++
				later.remove(l.disk)
			}
			segments = segments[:i+1]
		}
		s.loadFirstBatch(l.disk)
	}
	return segments
}

// recoverSegment reads segment i batch by batch. It writes its indexes anew by the rule of an append, and
// the entry that closes the time index; notes leader epochs above those that are known; and takes a snapshot
// of the producers at the end. What follows the last whole batch with a right CRC is cut off; dropped says
// that there was something. end is where the next segment begins.
//
// Simplified: a batch whose offsets cannot stand there counts as damaged. Kafka empties the segment, or splits it.
//
// Source: LogLoader.recoverSegment, LogSegment.recover.
func (l *Log) recoverSegment(segments []segment, i int, end kafka.Offset, recovered *Recovered) (dropped bool) {
	s := &segments[i]
	*s = newSegment(s.base, s.log, s.offsetIndex, s.timeIndex, s.modified)
	var p producers
	l.rebuildProducers(&p, segments, s.base, false)
	l.disk.Truncate(s.offsetIndex, 0)
	l.disk.Truncate(s.timeIndex, 0)
	s.truncateAborted(l.disk, 0)
	bytes, size := l.disk.Bytes(s.log), 0
	for {
		batch, err := record.Parse(bytes[size:])
		if err == nil {
			err = batch.CheckCRC()
		}
		if err != nil || !s.canFollow(&batch, end) {
			break
		}
		a := Appended{LastOffset: batch.LastOffset(), Position: size, Bytes: batch.Size()}
		s.noteAppended(l.disk, &a, batch.MaxTimestamp, l.config.IndexIntervalBytes)
		if latest, _ := l.LatestEpoch(); batch.PartitionLeaderEpoch > latest {
			l.AssignEpochStartOffset(batch.PartitionLeaderEpoch, batch.BaseOffset)
		}
		if completed := p.apply(&batch, batch.MaxTimestamp); completed != nil {
			p.complete(l.disk, s, *completed)
		}
		p.end = batch.NextOffset()
		size += batch.Size()
		recovered.Records += int(batch.RecordsCount)
	}
	s.maybeAppendTimeEntry(l.disk)
	s.bytesSinceLastIndexEntry = 0
	l.takeProducerSnapshot(&p)
	recovered.Segments++
	recovered.Bytes += size
	if size == len(bytes) {
		return false
	}
	_, records := wholeBatches(bytes[size:])
	recovered.DroppedBytes += len(bytes) - size
	recovered.DroppedRecords += records
	l.disk.Truncate(s.log, size)
	return true
}

// canFollow says whether the batch's offsets can stand behind what the segment holds, below end.
func (s *segment) canFollow(b *record.Batch, end kafka.Offset) bool {
	return b.BaseOffset > s.lastOffset && b.LastOffset() >= b.BaseOffset && b.LastOffset()-s.base <= math.MaxInt32 && b.LastOffset() < end
}

// load takes the segment's files as they are. A piece of an entry at the end of an index is cut off. The error says
// how the files contradict each other.
//
// Source: LogSegment.sanityCheck, AbstractIndex.
func (s *segment) load(disk *simdisk.Disk, end kafka.Offset) error {
	if err := s.checkIndexes(disk); err != nil {
		return err
	}
	if err := s.reload(disk, end); err != nil {
		return err
	}
	return s.checkAborted(disk)
}

// checkIndexes holds the index files against themselves and against the size of the .log file.
//
// Source: OffsetIndex.sanityCheck, TimeIndex.sanityCheck.
func (s *segment) checkIndexes(disk *simdisk.Disk) error {
	whole := func(f simdisk.File, entrySize int) []byte { return disk.Bytes(f)[:disk.Size(f)/entrySize*entrySize] }
	offsets, err := ParseOffsetIndex(whole(s.offsetIndex, offsetEntrySize), s.base)
	if err != nil {
		return err
	}
	times, err := ParseTimeIndex(whole(s.timeIndex, timeEntrySize), s.base)
	if err != nil {
		return err
	}
	if n, size := len(offsets), s.size(disk); n > 0 && offsets[n-1].Position >= size {
		return fmt.Errorf("offset index entry %d: position is %d, the segment has %d bytes", n-1, offsets[n-1].Position, size)
	}
	disk.Truncate(s.offsetIndex, len(offsets)*offsetEntrySize)
	disk.Truncate(s.timeIndex, len(times)*timeEntrySize)
	return nil
}

// loadFirstBatch notes the timestamp by which the segment rolls.
//
// Source: LogSegment.loadFirstBatchTimestamp.
func (s *segment) loadFirstBatch(disk *simdisk.Disk) {
	if first, err := record.Parse(disk.Bytes(s.log)); err == nil {
		s.firstBatchTimestamp = first.MaxTimestamp
	}
}

// removeStraySnapshots removes the snapshots that belong to no segment, but for the newest of them if it
// stands behind the base offset of the last segment: a clean stop left it.
//
// Source: ProducerStateManager.removeStraySnapshots.
func (l *Log) removeStraySnapshots(segments []segment) {
	var strays []producerSnapshot
	for _, snapshot := range l.producerSnapshots() {
		if !slices.ContainsFunc(segments, func(s segment) bool { return s.base == snapshot.offset }) {
			strays = append(strays, snapshot)
		}
	}
	for i, stray := range strays {
		if i < len(strays)-1 || stray.offset < segments[len(segments)-1].base {
			l.disk.Remove(stray.file)
		}
	}
}
