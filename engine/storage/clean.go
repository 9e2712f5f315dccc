package storage

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// Clean removes the records that later ones of the same key have replaced. It notes the keys of the dirty part
// that c tells of, and then writes all segments from the oldest to the end of what it noted anew, as many into one
// as segment.bytes and segment.index.bytes allow. Of a key in the noted part only the last record is left; one
// without a value, a tombstone, goes once its delete horizon has passed, which the first cleaning that meets it
// sets to now + delete.retention.ms. Records without a key go. Offsets never change, and what lies from c's bound
// on is not touched: the newest record of a key may stand there and an older one stay below.
//
// The files that are replaced stay with the suffix .deleted until RemoveDeletedFiles; what was read or cloned
// before keeps its bytes. c must be what Cleanable gave for the log as it is now; it need not be eligible. If
// there is nothing between c's offsets, nothing is done. now is this broker's clock. The caller keeps Checkpoint
// in cleaner-offset-checkpoint.
//
// An error means that a segment or a .txnindex holds something that cannot be read, or is [ErrIndexFull]. Segments
// before it may have been cleaned; Kafka leaves such a log alone from then on.
//
// Simplified: batches that were compressed are compressed again by the lab's own codecs. What they write, Kafka
// reads, but its own bytes differ.
//
// Simplified: a cleaning is done at once. Kafka's thread takes its time, and stops if the log is truncated or
// moved meanwhile.
//
// Source: org.apache.kafka.storage.internals.log.Cleaner, method doClean.
func (l *Log) Clean(c Cleanable, now kafka.Timestamp) (Cleaned, error) {
	done := Cleaned{FirstDirtyOffset: c.FirstDirtyOffset, Checkpoint: c.FirstDirtyOffset}
	if c.FirstUncleanableOffset > l.active.base {
		panic(fmt.Sprintf("storage: %s: clean up to %d, the active segment begins at %d", l.dir, c.FirstUncleanableOffset, l.active.base))
	}
	if c.FirstDirtyOffset >= c.FirstUncleanableOffset {
		return done, nil
	}
	l.clock = now
	keys, full, err := l.buildOffsetMap(c.FirstDirtyOffset, c.FirstUncleanableOffset)
	if err != nil {
		return done, err
	}
	done.Keys, done.KeyRoom, done.MapFull = len(keys.offsets), keys.room, full
	run := cleaning{log: l, now: now, keys: keys, end: c.FirstUncleanableOffset, done: &done}
	at := 0
	for _, size := range l.groupSegments(keys.latest+1, c.FirstUncleanableOffset) {
		if err := run.cleanGroup(at, size); err != nil {
			return done, err
		}
		at++
	}
	done.Checkpoint = keys.latest + 1
	return done, nil
}

// groupSegments cuts the segments that begin below end into groups that are to become one each, and gives their
// sizes, from the oldest on. In a group the .log files together have at most segment.bytes, the index files of
// each kind at most segment.index.bytes, and the offsets fit into index entries.
//
// Source: Cleaner.groupSegmentsBySize.
func (l *Log) groupSegments(end, firstUncleanable kafka.Offset) (sizes []int) {
	list := l.sealed
	for len(list) > 0 && list[len(list)-1].base >= end {
		list = list[:len(list)-1]
	}
	for len(list) > 0 {
		bytes, offsets, times := 0, 0, 0
		n := 0
		for ; n < len(list); n++ {
			s := &list[n]
			bytes += s.size(l.disk)
			offsets += l.disk.Size(s.offsetIndex)
			times += l.disk.Size(s.timeIndex)
			if n == 0 {
				continue
			}
			last := firstUncleanable - 1
			if n+1 < len(list) {
				last = list[n+1].base - 1
			}
			if bytes > l.config.SegmentBytes || offsets > l.config.SegmentIndexBytes || times > l.config.SegmentIndexBytes ||
				s.size(l.disk) > 0 && last-list[0].base > math.MaxInt32 {
				break
			}
		}
		sizes = append(sizes, n)
		list = list[n:]
	}
	return sizes
}

// cleanGroup writes the n sealed segments from number first on into one, which takes their place.
//
// Source: Cleaner.cleanSegments.
func (c *cleaning) cleanGroup(first, n int) error {
	l := c.log
	group := slices.Clone(l.sealed[first : first+n])
	report := CleanedGroup{}
	c.out, c.transactions.kept = c.out[:0], nil
	for k := range group {
		s := &group[k]
		end := s.lastOffset + 1
		if k+1 < n {
			end = group[k+1].base
		}
		aborted, err := l.abortedTransactions(first+k, l.logStartOffset, end)
		if err != nil {
			return err
		}
		c.transactions.add(aborted)
		if err := c.cleanSegment(s); err != nil {
			return err
		}
		report.From = append(report.From, s.base)
		report.BytesBefore += s.size(l.disk)
	}
	report.BytesAfter = len(c.out)
	c.done.Groups = append(c.done.Groups, report)
	cleaned, err := l.writeCleaned(group[0].base, c.out, c.transactions.kept, c.now)
	if err != nil {
		return err
	}
	cleaned.modified = group[n-1].modified
	l.swap(cleaned, first, n, c.now)
	return nil
}

// ErrIndexFull says that the index entries of a cleaned segment do not fit into segment.index.bytes. The sizes of
// the old ones are looked at before, but a time index that is not closed yet has room for one entry less. Kafka's
// cleaner fails at the same place. It takes a segment.index.bytes that is very small.
//
// Source: TimeIndex.maybeAppend, OffsetIndex.append.
var ErrIndexFull = errors.New("the index entries of a cleaned segment do not fit into segment.index.bytes")

// writeCleaned makes the files of a cleaned segment, with indexes by the rule of an append, and syncs them.
//
// Source: UnifiedLog.createNewCleanedSegment, Cleaner.cleanInto.
func (l *Log) writeCleaned(base kafka.Offset, batches []byte, aborted []AbortedTransaction, now kafka.Timestamp) (segment, error) {
	create := func(suffix string) simdisk.File {
		return l.disk.Create(l.dir + "/" + SegmentFileName(base, suffix) + CleanedSuffix)
	}
	s := newSegment(base, create(LogSuffix), create(OffsetIndexSuffix), create(TimeIndexSuffix), now)
	l.disk.Reserve(s.log, len(batches))
	l.disk.Append(s.log, batches)
	for position := 0; position < len(batches); {
		b, err := record.Parse(batches[position:])
		if err != nil {
			panic(fmt.Sprintf("storage: %s: cleaned batch at byte %d: %v", l.dir, position, err))
		}
		a := Appended{LastOffset: b.LastOffset(), Position: position, Bytes: b.Size()}
		offsetsFull := s.offsetEntries(l.disk) >= l.config.SegmentIndexBytes/offsetEntrySize
		timesFull := s.timeEntries(l.disk) >= l.config.SegmentIndexBytes/timeEntrySize-1
		s.noteAppended(l.disk, &a, b.MaxTimestamp, l.config.IndexIntervalBytes)
		if a.IndexEntry != nil && (offsetsFull || timesFull) {
			s.remove(l.disk)
			return s, ErrIndexFull
		}
		position += b.Size()
	}
	s.becomeInactive(l.disk)
	if len(aborted) > 0 {
		var entries []byte
		for _, t := range aborted {
			entries = appendAbortedTransaction(entries, t)
		}
		index := create(TransactionIndexSuffix)
		l.disk.Append(index, entries)
		l.disk.Sync(index)
	}
	return s, nil
}

// swap puts a cleaned segment in the place of the n sealed ones from number first on. The snapshots of the
// producers at the others' base offsets go, too.
//
// Source: UnifiedLog.replaceSegments, LocalLog.replaceSegments.
func (l *Log) swap(cleaned segment, first, n int, now kafka.Timestamp) {
	l.renameSegment(cleaned.base, CleanedSuffix, SwapSuffix)
	old := l.sealed[first : first+n]
	for i := range old {
		l.giveUpSegment(old[i].base, now)
	}
	l.renameSegment(cleaned.base, SwapSuffix, "")
	for i := 1; i < n; i++ {
		l.giveUpSnapshot(old[i].base, now)
	}
	l.sealed = slices.Concat(l.sealed[:first], []segment{cleaned}, l.sealed[first+n:])
}

// renameSegment gives a segment's files another suffix.
func (l *Log) renameSegment(base kafka.Offset, from, to string) {
	for _, suffix := range []string{LogSuffix, OffsetIndexSuffix, TimeIndexSuffix, TransactionIndexSuffix} {
		path := l.dir + "/" + SegmentFileName(base, suffix)
		if file, exists := l.disk.Open(path + from); exists {
			l.disk.Rename(file, path+to)
		}
	}
}
