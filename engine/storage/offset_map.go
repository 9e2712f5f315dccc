package storage

import (
	"loglab/engine/kafka"
	"loglab/engine/record"
)

// offsetMap says where each key of the dirty part was last written.
//
// Simplified: keys are compared by themselves. Kafka keeps their MD5 hashes and takes keys with equal hashes for
// one.
//
// Source: org.apache.kafka.storage.internals.log.SkimpyOffsetMap.
type offsetMap struct {
	offsets map[string]kafka.Offset
	room    int          // the most keys
	latest  kafka.Offset // inclusive: what lies behind is not in the map
}

// get gives the last offset of a key, NoOffset if the dirty part does not have it.
func (m *offsetMap) get(key []byte) kafka.Offset {
	if offset, known := m.offsets[string(key)]; known {
		return offset
	}
	return kafka.NoOffset
}

// buildOffsetMap reads the dirty part, from start up to end, which is the base offset of a segment. Keys of aborted
// transactions are left out. If the map is full, it ends with the last record or batch that was noted; full says so.
//
// Source: Cleaner.buildOffsetMap and buildOffsetMapForSegment.
func (l *Log) buildOffsetMap(start, end kafka.Offset) (m offsetMap, full bool, err error) {
	slots := l.config.DedupeBufferBytes / slotSize
	m = offsetMap{offsets: map[string]kafka.Offset{}, room: int(float64(slots) * dedupeLoadFactor), latest: kafka.NoOffset}
	first := max(0, l.floorSegment(start))
	var transactions cleanedTransactions
	aborted, err := l.abortedTransactions(first, l.logStartOffset, end)
	if err != nil {
		return m, false, err
	}
	transactions.add(aborted)
	for i := first; i < len(l.sealed) && l.sealed[i].base < end; i++ {
		if full, err = l.mapSegment(&m, &l.sealed[i], start, &transactions); full || err != nil {
			return m, full, err
		}
		m.latest = l.segmentAt(i+1).base - 1
	}
	return m, false, nil
}

// dedupeLoadFactor is log.cleaner.io.buffer.load.factor.
const dedupeLoadFactor = 0.9

// mapSegment notes the keys of one segment.
func (l *Log) mapSegment(m *offsetMap, s *segment, start kafka.Offset, transactions *cleanedTransactions) (full bool, err error) {
	entry, _ := lookupOffset(l.disk.Bytes(s.offsetIndex), s.base, start, nil)
	bytes := l.disk.Bytes(s.log)
	for position := entry.Position; position < len(bytes); {
		batch, err := record.Parse(bytes[position:])
		if err != nil {
			return false, l.damaged(s, position, err)
		}
		if batch.Attributes.Control() {
			transactions.onControl(&batch)
		} else if !transactions.onData(&batch) {
			if full, err := m.note(&batch, start); full || err != nil {
				return full, l.damagedIf(s, position, err)
			}
		}
		if batch.LastOffset() >= start {
			m.latest = batch.LastOffset()
		}
		position += batch.Size()
	}
	return false, nil
}

// note puts the keys of a batch into the map. As in Kafka, a full map ends the round even if the next key is in it.
func (m *offsetMap) note(b *record.Batch, start kafka.Offset) (full bool, err error) {
	scan := b.Scan()
	for scan.Next() {
		r := scan.Record()
		if r.Key == nil || r.Offset < start {
			continue
		}
		if len(m.offsets) >= m.room {
			return true, nil
		}
		m.offsets[string(r.Key)] = r.Offset
		m.latest = r.Offset
	}
	return false, scan.Err()
}

// damagedIf is damaged, unless err is nil.
func (l *Log) damagedIf(s *segment, position int, err error) error {
	if err == nil {
		return nil
	}
	return l.damaged(s, position, err)
}
