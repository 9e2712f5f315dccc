package storage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// model is what a log must hold, told in the simplest way.
type model struct {
	batches []record.Batch
	start   kafka.Offset
	end     kafka.Offset
}

func (m *model) append(bytes []byte) {
	for len(bytes) > 0 {
		b, err := record.Parse(bytes)
		if err != nil {
			panic(err)
		}
		m.batches = append(m.batches[:len(m.batches):len(m.batches)], b)
		m.end = b.NextOffset()
		bytes = bytes[b.Size():]
	}
}

func (m *model) truncate(offset kafka.Offset) (removed int) {
	if offset >= m.end {
		return 0
	}
	for n := len(m.batches); n > 0 && m.batches[n-1].LastOffset() >= offset; n-- {
		removed += int(m.batches[n-1].RecordsCount)
		m.batches = m.batches[:n-1]
	}
	m.end, m.start = offset, min(m.start, offset)
	return removed
}

// check holds a log against the model: bytes, offsets, indexes, leader epochs, and a read from each batch.
func (m *model) check(l *Log) error {
	var all []byte
	for _, b := range m.batches {
		all = append(all, b.Bytes()...)
	}
	if got := allBytes(l); !bytes.Equal(got, all) {
		return fmt.Errorf("%d bytes, want %d", len(got), len(all))
	}
	if l.LogEndOffset() != m.end || l.LogStartOffset() != m.start {
		return fmt.Errorf("offsets %d to %d, want %d to %d", l.LogStartOffset(), l.LogEndOffset(), m.start, m.end)
	}
	for _, b := range m.batches {
		if b.LastOffset() < m.start {
			continue
		}
		read, err := l.Read(max(b.BaseOffset, m.start), 1, m.end, true)
		if err != nil || !bytes.Equal(read.Bytes, b.Bytes()) {
			return fmt.Errorf("read at %d: %d bytes, %v; want %d", b.BaseOffset, len(read.Bytes), err, b.Size())
		}
		epoch := kafka.NoLeaderEpoch
		for _, e := range l.LeaderEpochs() {
			if e.StartOffset <= max(b.BaseOffset, m.start) {
				epoch = e.Epoch
			}
		}
		if epoch != b.PartitionLeaderEpoch {
			return fmt.Errorf("the epoch at offset %d is %d, want %d: %v", b.BaseOffset, epoch, b.PartitionLeaderEpoch, l.LeaderEpochs())
		}
	}
	if err := m.checkProducers(l); err != nil {
		return err
	}
	if err := m.checkAborted(l); err != nil {
		return err
	}
	return checkIndexes(l)
}

// checkAborted holds each .txnindex against the markers of its segment. Of a transaction that began before the log
// start offset the beginning may be forgotten.
func (m *model) checkAborted(l *Log) error {
	open := map[kafka.ProducerID]kafka.Offset{}
	for _, s := range l.Segments() {
		entries, err := ParseTransactionIndex(indexOf(l, s.BaseOffset))
		if err != nil {
			return err
		}
		markers := map[kafka.Offset]AbortedTransaction{}
		for b := s.Bytes; len(b) > 0; {
			batch, err := record.Parse(b)
			if err != nil {
				return err
			}
			b = b[batch.Size():]
			first, began := open[batch.ProducerID]
			switch {
			case batch.Attributes.Control():
				delete(open, batch.ProducerID)
				if began && isAbort(&batch) {
					markers[batch.BaseOffset] = AbortedTransaction{ProducerID: batch.ProducerID, FirstOffset: first, LastOffset: batch.BaseOffset}
				}
			case batch.Attributes.Transactional() && !began:
				open[batch.ProducerID] = batch.BaseOffset
			}
		}
		for _, e := range entries {
			want, aborted := markers[e.LastOffset]
			delete(markers, e.LastOffset)
			if e.LastStableOffset = 0; !aborted || e != want && want.FirstOffset >= m.start {
				return fmt.Errorf("segment %d: .txnindex says %+v, want %+v", s.BaseOffset, e, want)
			}
		}
		for _, missing := range markers {
			if missing.FirstOffset >= m.start {
				return fmt.Errorf("segment %d: .txnindex lacks %+v", s.BaseOffset, missing)
			}
		}
	}
	return nil
}

// isAbort says whether a control batch is the marker of an aborted transaction.
func isAbort(b *record.Batch) bool {
	scan := b.Scan()
	if !scan.Next() {
		return false
	}
	c, err := record.DecodeControl(scan.Record())
	return err == nil && c.Type == record.Abort
}

// checkProducers holds the last batch of each producer against the log. Of a producer that has nothing from the
// log start offset on, nothing need be known.
func (m *model) checkProducers(l *Log) error {
	known := map[kafka.ProducerID]ProducerState{}
	for _, p := range l.Producers() {
		known[p.ProducerID] = p
	}
	last := map[kafka.ProducerID]record.Batch{}
	for _, b := range m.batches {
		if b.ProducerID >= 0 && b.BaseOffset >= m.start && !b.Attributes.Control() {
			last[b.ProducerID] = b
		}
	}
	for id, b := range last {
		p := known[id]
		want := ProducerBatch{b.BaseSequence, b.LastSequence(), b.BaseOffset, b.LastOffset(), b.MaxTimestamp}
		if n := len(p.Batches); n > 0 && p.CoordinatorEpoch >= 0 {
			want.Timestamp = p.Batches[n-1].Timestamp // in a snapshot it is that of the marker
		}
		if n := len(p.Batches); n == 0 || p.Batches[n-1] != want || p.ProducerEpoch != b.ProducerEpoch {
			return fmt.Errorf("producer %d: %+v, the last batch in the log is %+v", id, p, want)
		}
	}
	for id, p := range known {
		if n := len(p.Batches); n > 0 && p.Batches[n-1].LastOffset >= m.end {
			return fmt.Errorf("producer %d: %+v, the log ends at %d", id, p, m.end)
		}
	}
	return nil
}

// checkIndexes holds every index entry against the batches of its segment.
func checkIndexes(l *Log) error {
	for _, s := range l.Segments() {
		offsets, err := ParseOffsetIndex(s.OffsetIndex, s.BaseOffset)
		if err != nil {
			return err
		}
		for _, e := range offsets {
			if b, err := record.Parse(s.Bytes[e.Position:]); err != nil || b.LastOffset() != e.Offset {
				return fmt.Errorf("segment %d: index entry %v points to %d, %v", s.BaseOffset, e, b.LastOffset(), err)
			}
		}
		times, err := ParseTimeIndex(s.TimeIndex, s.BaseOffset)
		if err != nil {
			return err
		}
		largest, at := TimeEntry{Timestamp: kafka.NoTimestamp, Offset: s.BaseOffset}, 0
		for size := 0; size < len(s.Bytes); {
			b, err := record.Parse(s.Bytes[size:])
			if err != nil {
				return err
			}
			if b.MaxTimestamp > largest.Timestamp {
				largest = TimeEntry{Timestamp: b.MaxTimestamp, Offset: b.LastOffset()}
			}
			if at < len(times) && times[at].Offset == b.LastOffset() {
				if times[at].Timestamp != largest.Timestamp {
					return fmt.Errorf("segment %d: time index entry %v, the largest so far is %v", s.BaseOffset, times[at], largest)
				}
				at++
			}
			size += b.Size()
		}
		if at != len(times) || s.LargestTimestamp != largest.Timestamp {
			return fmt.Errorf("segment %d: %d of %d time index entries have a batch; largest timestamp %d, want %d", s.BaseOffset, at, len(times), s.LargestTimestamp, largest.Timestamp)
		}
	}
	return nil
}

// modelled is a log with its model.
type modelled struct {
	log   *Log
	model model
}

func (m modelled) clone() modelled {
	disk := m.log.disk.Clone()
	return modelled{m.log.Clone(disk), m.model}
}

// nextOf is a batch that the log must take from a producer. From id 4 on it has transactions.
func (m *modelled) nextOf(r *rand.Rand, id kafka.ProducerID) []byte {
	p := ProducerState{}
	if known := m.log.producers.get(id); known != nil {
		p = *known
	}
	if id >= 4 {
		return transactional(id, 0, record.IncrementSequence(p.LastSequence(), 1), slices.Repeat([]entry{{startTime, "k", "v"}}, 1+r.IntN(3))...)
	}
	if r.IntN(10) == 0 {
		return sent(id, p.ProducerEpoch+1, 0, 1+r.IntN(3), "v")
	}
	return sent(id, p.ProducerEpoch, record.IncrementSequence(p.LastSequence(), 1), 1+r.IntN(3), "v")
}

// change does something drawn to the log and to its model.
func (m *modelled) change(t *testing.T, r *rand.Rand, step int) {
	l := m.log
	switch op := r.IntN(20); {
	case op < 2:
		before, m0 := len(allBytes(l)), marker(record.ControlType(r.IntN(2)), kafka.ProducerID(4+r.IntN(2)), 0, 1)
		if _, err := l.AppendEndTxnMarker(m0, kafka.LeaderEpoch(step/15), startTime+kafka.Timestamp(10*step)); err != nil {
			t.Fatal(err)
		}
		m.model.append(allBytes(l)[before:])
	case op < 12:
		before := len(allBytes(l))
		batch, now := randomBatch(r, startTime+kafka.Timestamp(10*step))
		if id := kafka.ProducerID(r.IntN(6)); id > 0 {
			batch = m.nextOf(r, id)
		}
		mustAppend(t, l, batch, kafka.LeaderEpoch(step/15), now)
		m.model.append(allBytes(l)[before:])
	case op < 15:
		var bytes []byte
		next := l.LogEndOffset()
		for range 1 + r.IntN(4) {
			batch, _ := randomBatch(r, startTime+kafka.Timestamp(10*step))
			next += kafka.Offset(r.IntN(5) / 4)
			b, err := record.Parse(stamped(batch, next, kafka.LeaderEpoch(step/15)))
			if err != nil {
				t.Fatal(err)
			}
			if len(bytes)+b.Size() > l.config.SegmentBytes {
				break
			}
			bytes = append(bytes, b.Bytes()...)
			next = b.NextOffset()
		}
		if _, err := l.AppendAsFollower(append(bytes, 1, 2, 3), startTime+kafka.Timestamp(10*step)); err != nil {
			t.Fatal(err)
		}
		m.model.append(bytes)
	case op < 17:
		offset := max(0, l.LogEndOffset()-kafka.Offset(r.IntN(12)))
		if r.IntN(5) == 0 {
			offset = kafka.Offset(r.IntN(int(l.LogEndOffset()) + 1))
		}
		removed, err := l.TruncateTo(offset)
		if want := m.model.truncate(offset); err != nil || removed != want {
			t.Fatalf("truncate to %d: %d records, %v; want %d", offset, removed, err, want)
		}
	case op == 17:
		m.restart(t, r)
	case op == 18:
		offset := l.LogStartOffset() + kafka.Offset(r.IntN(3))
		moves := offset > l.LogStartOffset() && offset <= l.LogEndOffset()
		if moved := offset <= l.LogEndOffset() && l.IncrementLogStartOffset(offset); moved != moves {
			t.Fatalf("log start offset to %d: moved %v", offset, moved)
		}
		m.model.start = l.LogStartOffset()
	case r.IntN(8) == 0:
		offset := kafka.Offset(r.IntN(100))
		l.TruncateFullyAndStartAt(offset)
		m.model = model{start: offset, end: offset}
	}
}

// restart stops the log, cleanly or not, perhaps after losing the end of the active segment's file, and opens
// it again.
func (m *modelled) restart(t *testing.T, r *rand.Rand) {
	l, start := m.log, m.log.LogStartOffset()
	clean := r.IntN(3) == 0
	lost, whole := 0, 0
	switch {
	case clean:
		l.Close()
		m.model.lose(l.active.base, l.disk.Size(l.active.log))
	case r.IntN(2) == 0:
		size := l.disk.Size(l.active.log)
		if lost = r.IntN(size + 1); r.IntN(3) == 0 {
			lost = 0
		}
		l.disk.Truncate(l.active.log, size-lost)
		whole, _ = wholeBatches(l.disk.Bytes(l.active.log))
		lost = size - lost - whole
		m.model.lose(l.active.base, whole)
	case r.IntN(2) == 0:
		l.Flush(l.LogEndOffset())
		fallthrough
	default:
		l.disk.LoseUnsynced()
		whole, _ = wholeBatches(l.disk.Bytes(l.active.log))
		m.model.lose(l.active.base, whole)
	}
	opened, recovered := Open(l.disk, "orders-0", l.config, l.clock, clean, l.RecoveryPoint())
	if clean && recovered != (Recovered{}) || !clean && (recovered.Segments == 0 || recovered.DroppedBytes != lost || recovered.DroppedSegments != 0 || recovered.DroppedRecords != 0) {
		t.Fatalf("clean %v: recovered %+v, %d bytes were torn", clean, recovered, lost)
	}
	opened.IncrementLogStartOffset(min(start, opened.LogEndOffset()))
	m.log, m.model.start = opened, min(start, opened.LogEndOffset())
}

// lose takes the batches of the segment with this base offset that do not lie in its first size bytes.
func (m *model) lose(base kafka.Offset, size int) {
	kept := 0
	for _, b := range m.batches {
		if b.BaseOffset >= base {
			if size < b.Size() {
				break
			}
			size -= b.Size()
		}
		kept++
	}
	m.batches = m.batches[:kept]
	m.end = base
	if kept > 0 {
		m.end = max(base, m.batches[kept-1].NextOffset())
	}
}

// Logs that are appended to, truncated and cloned in any order hold what a plain list of batches holds, and
// no clone sees a change.
func TestLogsHoldTheirModel(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		logs := []modelled{{log: New(new(simdisk.Disk), "orders-0", cloneConfig(), startTime)}}
		var frozen []modelled
		var states []state
		for step := range 200 {
			at := r.IntN(len(logs))
			switch {
			case r.IntN(12) == 0:
				clone := logs[at].clone()
				frozen, states = append(frozen, clone), append(states, stateOf(clone.log))
			case r.IntN(12) == 0 && len(frozen) > 0:
				next := frozen[r.IntN(len(frozen))].clone()
				logs = append(logs[:0:0], append(logs, next)...)
				logs = logs[max(0, len(logs)-3):]
			default:
				logs[at].change(t, r, step)
				if err := logs[at].model.check(logs[at].log); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
			}
		}
		for i, f := range frozen {
			if diff := cmp.Diff(states[i], stateOf(f.log), sameBytes); diff != "" {
				t.Fatalf("seed %d: clone %d changed (-then +now):\n%s", seed, i, diff)
			}
		}
	}
}
