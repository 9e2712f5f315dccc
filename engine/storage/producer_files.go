package storage

import (
	"slices"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// producerSnapshot is a snapshot file on disk.
type producerSnapshot struct {
	offset kafka.Offset // exclusive: what the file holds goes up to here
	file   simdisk.File
}

// producerSnapshots lists the log's snapshot files by offset.
func (l *Log) producerSnapshots() (list []producerSnapshot) {
	for _, path := range l.disk.List(l.dir) {
		if offset, ok := l.offsetInName(path, ProducerSnapshotSuffix); ok {
			file, _ := l.disk.Open(path)
			list = append(list, producerSnapshot{offset, file})
		}
	}
	return list
}

// offsetInName reads the offset in the name of one of the log's files, if it ends in suffix. A name that
// SegmentFileName does not give is not one of them.
func (l *Log) offsetInName(path, suffix string) (kafka.Offset, bool) {
	name := strings.TrimPrefix(path, l.dir+"/")
	offset, err := strconv.ParseInt(strings.TrimSuffix(name, suffix), 10, 64)
	return kafka.Offset(offset), err == nil && offset >= 0 && name == SegmentFileName(kafka.Offset(offset), suffix)
}

// takeProducerSnapshot writes a snapshot file with what is known of the producers, unless the newest one goes
// as far. It is synced.
//
// Simplified: a snapshot lists the producers by id. Kafka's order is that of its hash map.
//
// Source: ProducerStateManager.takeSnapshot.
func (l *Log) takeProducerSnapshot(p *producers) {
	if p.end <= p.snapshot {
		return
	}
	entries := make([]ProducerSnapshotEntry, 0, len(p.states))
	for _, s := range p.states {
		entries = append(entries, s.snapshotEntry())
	}
	path := l.dir + "/" + SegmentFileName(p.end, ProducerSnapshotSuffix)
	if old, exists := l.disk.Open(path); exists {
		l.disk.Remove(old)
	}
	file := l.disk.Create(path)
	l.disk.Append(file, encodeProducerSnapshot(entries))
	l.disk.Sync(file)
	p.snapshot = p.end
}

// snapshotEntry is what a snapshot keeps of a producer: of its batches only the last.
func (p *ProducerState) snapshotEntry() ProducerSnapshotEntry {
	e := ProducerSnapshotEntry{
		ProducerID: p.ProducerID, ProducerEpoch: p.ProducerEpoch, LastSequence: record.NoSequence, LastOffset: kafka.NoOffset,
		Timestamp: p.LastTimestamp, CoordinatorEpoch: p.CoordinatorEpoch, TransactionFirstOffset: p.TransactionFirstOffset,
	}
	if n := len(p.Batches); n > 0 {
		last := p.Batches[n-1]
		e.LastSequence, e.LastOffset, e.OffsetDelta = last.LastSequence, last.LastOffset, int32(last.LastOffset-last.BaseOffset)
	}
	return e
}

// state is the producer that a snapshot's entry tells of.
//
// Source: ProducerStateManager.readSnapshot.
func (e *ProducerSnapshotEntry) state() *ProducerState {
	p := &ProducerState{
		ProducerID: e.ProducerID, ProducerEpoch: e.ProducerEpoch, LastTimestamp: e.Timestamp, CoordinatorEpoch: e.CoordinatorEpoch,
		TransactionFirstOffset: max(e.TransactionFirstOffset, kafka.NoOffset),
	}
	if e.LastOffset >= 0 {
		base := record.NoSequence
		if e.LastSequence >= 0 {
			base = record.IncrementSequence(e.LastSequence, -e.OffsetDelta)
		}
		p.Batches = []ProducerBatch{{
			BaseSequence: base, LastSequence: e.LastSequence, BaseOffset: e.LastOffset - kafka.Offset(e.OffsetDelta), LastOffset: e.LastOffset, Timestamp: e.Timestamp,
		}}
	}
	return p
}

// rebuildProducers brings p to what it was at offset end: from the newest snapshot that can be used, then
// batch by batch. On the way it takes snapshots where the last two segments begin, and one at end. If there
// was no producer before the log was cut, there is none after. A log without any snapshot that was stopped
// cleanly has no producers either.
//
// Source: UnifiedLog.rebuildProducerState.
func (l *Log) rebuildProducers(p *producers, segments []segment, end kafka.Offset, afterCleanStop bool) {
	last := len(segments) - 1
	if afterCleanStop && len(l.producerSnapshots()) == 0 {
		for i := max(0, last-1); i <= last; i++ {
			p.end = segments[i].base
			l.takeProducerSnapshot(p)
		}
		p.end = end
		l.takeProducerSnapshot(p)
		return
	}
	noneBefore := len(p.states) == 0 && p.end >= end
	l.reloadProducers(p, end)
	if end > p.end && !noneBefore {
		for i := range segments {
			s := &segments[i]
			if s.base >= end || i < last && segments[i+1].base <= p.end {
				continue
			}
			start := max(s.base, p.end, l.logStartOffset)
			p.end = start
			if i >= last-1 {
				l.takeProducerSnapshot(p)
			}
			l.applySegment(p, s, start, end)
		}
	}
	p.end = end
	l.takeProducerSnapshot(p)
}

// applySegment reads a segment's batches from the one that holds start up to the one that holds end.
func (l *Log) applySegment(p *producers, s *segment, start, end kafka.Offset) {
	_, lookup, err := l.locate(s, start)
	if err != nil {
		return // nothing from start on
	}
	bytes := l.disk.Bytes(s.log)
	for position := lookup.Position; ; {
		batch, err := record.Parse(bytes[position:])
		if err != nil || batch.LastOffset() >= end {
			return
		}
		if completed := p.apply(&batch, batch.MaxTimestamp); completed != nil {
			p.completed = append(p.completed, *completed) // its entry in .txnindex is there
		}
		position += batch.Size()
	}
}

// reloadProducers removes the snapshots that lie outside the log, which ends at end, and if p is of another
// offset loads the newest that is left and whole. Producers that have expired are left out.
//
// Source: ProducerStateManager.truncateAndReload and loadFromSnapshot.
func (l *Log) reloadProducers(p *producers, end kafka.Offset) {
	var kept []producerSnapshot
	for _, snapshot := range l.producerSnapshots() {
		if snapshot.offset > end || snapshot.offset <= l.logStartOffset {
			l.disk.Remove(snapshot.file)
		} else {
			kept = append(kept, snapshot)
		}
	}
	if p.end == end {
		l.noteProducersFrom(p, l.logStartOffset)
		return
	}
	for _, snapshot := range slices.Backward(kept) {
		entries, err := ParseProducerSnapshot(l.disk.Bytes(snapshot.file))
		if err != nil {
			l.disk.Remove(snapshot.file)
			continue
		}
		*p = producers{end: snapshot.offset, snapshot: snapshot.offset}
		for i := range entries {
			if state := entries[i].state(); !l.config.expired(state, l.clock) {
				p.put(state)
			}
		}
		return
	}
	*p = producers{end: l.logStartOffset, snapshot: l.logStartOffset}
}

// noteProducersFrom notes that the log begins at start.
//
// Source: ProducerStateManager.onLogStartOffsetIncremented.
func (l *Log) noteProducersFrom(p *producers, start kafka.Offset) {
	p.forgetCompleted(start)
	p.end, p.snapshot = max(p.end, start), start
	if list := l.producerSnapshots(); len(list) > 0 {
		p.snapshot = list[len(list)-1].offset
	}
}
