package storage

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// threeSegments is a log of three segments in all codecs: two idempotent producers, one with transactions, of which
// two are aborted, and one without an id; three leader epochs, timestamps that rise and fall.
func threeSegments(t testing.TB) *Log {
	t.Helper()
	l := newLog(func(c *Config) { c.SegmentBytes, c.IndexIntervalBytes = 760, 100 })
	next := map[kafka.ProducerID]kafka.Sequence{}
	for i := range kafka.Timestamp(18) {
		options := record.Options{Codec: record.Codec(i % 5)}
		if id := kafka.ProducerID(i % 4); id > 0 {
			options.Transactional = id == 3
			options.Producer = &record.Producer{ID: id, BaseSequence: next[id]}
			next[id] += 2
		}
		ts := startTime + 10*i - 25*(i%4)
		mustAppend(t, l, buildBatch(options, entry{ts, "k", "v"}, entry{ts + 1, "k", "w"}), kafka.LeaderEpoch(i/7), startTime)
		if kind, ends := map[kafka.Timestamp]record.ControlType{5: record.Abort, 11: record.Abort, 16: record.Commit}[i]; ends {
			if _, err := l.AppendEndTxnMarker(marker(kind, 3, 0, 1), kafka.LeaderEpoch(i/7), startTime); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(l.Segments()) != 3 {
		t.Fatalf("segments %v, want three", bases(l))
	}
	return l
}

// cut shortens a file of the disk.
func cut(disk *simdisk.Disk, path string, size int) {
	f, _ := disk.Open(path)
	disk.Truncate(f, size)
}

// piece is what is left of a segment.
type piece struct {
	base  kafka.Offset
	bytes []byte // whole batches
}

// closedAfterAppending is the directory of a log that got these pieces by appends, rolled where they begin, and was
// closed. Without leader-epoch-checkpoint: a log that lost records may know that an epoch began at one of them.
func closedAfterAppending(t *testing.T, config Config, pieces []piece) map[string]string {
	t.Helper()
	l := New(new(simdisk.Disk), "orders-0", config, startTime)
	for _, p := range pieces {
		if p.base > 0 {
			l.roll(p.base, startTime)
		}
		for b := p.bytes; len(b) > 0; {
			batch, err := record.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.AppendAsFollower(batch.Bytes(), startTime); err != nil {
				t.Fatal(err)
			}
			b = b[batch.Size():]
		}
	}
	l.logEndOffset = max(l.logEndOffset, l.active.base)
	l.Close()
	return withoutEpochs(l)
}

// withoutEpochs is every file of the log's disk but leader-epoch-checkpoint, and a .txnindex that has become empty.
func withoutEpochs(l *Log) map[string]string {
	files := contents(l.disk)
	maps.DeleteFunc(files, func(path, content string) bool {
		return path == "orders-0/"+LeaderEpochCheckpoint || content == "" && strings.HasSuffix(path, TransactionIndexSuffix)
	})
	return files
}

// checkOpened holds a log that was opened after an unclean stop against the pieces that must be left: its files are
// those of a log that got them by appends, it can be read, and it goes on.
func checkOpened(t *testing.T, l *Log, pieces []piece, epochs []EpochEntry) error {
	t.Helper()
	if diff := cmp.Diff(closedAfterAppending(t, l.config, pieces), withoutEpochs(l)); diff != "" {
		return fmt.Errorf("files (-appended +recovered):\n%s", diff)
	}
	known := slices.DeleteFunc(slices.Clone(epochs), func(e EpochEntry) bool { return e.StartOffset >= l.LogEndOffset() })
	if !slices.Equal(l.LeaderEpochs(), known) {
		return fmt.Errorf("leader epochs %v, want %v", l.LeaderEpochs(), known)
	}
	return readOn(t, l)
}

// readOn reads all records of a log by offset and by time, and appends to it what its producers would send next.
func readOn(t *testing.T, l *Log) error {
	t.Helper()
	all := decodeLog(t, l)
	for offset := l.LogStartOffset(); offset < l.LogEndOffset(); offset++ {
		read, err := l.Read(offset, 1, l.LogEndOffset(), true)
		if want, _ := all.read(offset, 1, l.LogEndOffset(), true); err != nil || string(read.Bytes) != string(want) {
			return fmt.Errorf("read %d: %d bytes, %v; want %d", offset, len(read.Bytes), err, len(want))
		}
	}
	emptyAhead := slices.ContainsFunc(l.sealed, func(s segment) bool { return s.size(l.disk) == 0 }) // a lookup stops there, as in Kafka
	for target := startTime - 60; target < startTime+180 && !emptyAhead; target += 13 {
		found, err := l.OffsetForTimestamp(target)
		if want := all.firstAt(target); err != nil || found.Offset != want {
			return fmt.Errorf("timestamp T%+d: offset %d, %v; want %d", target-startTime, found.Offset, err, want)
		}
	}
	last := map[kafka.ProducerID]record.Batch{}
	for _, b := range all {
		if b.batch.ProducerID >= 0 && !b.batch.Attributes.Control() {
			last[b.batch.ProducerID] = b.batch
		}
	}
	for _, p := range l.Producers() {
		if len(p.Batches) == 0 {
			continue // its marker alone is left
		}
		if p.TransactionFirstOffset >= 0 {
			mustEnd(t, l, record.Commit, p.ProducerID, p.ProducerEpoch, 1)
		}
		b, known := last[p.ProducerID]
		if !known {
			return fmt.Errorf("producer %d has no batch in the log: %+v", p.ProducerID, p)
		}
		delete(last, p.ProducerID)
		again := slices.Clone(b.Bytes())
		record.Stamp(again, 0, -1)
		if a, err := l.Append(again, 9, startTime); err != nil || !a.Duplicate || a.BaseOffset != b.BaseOffset {
			return fmt.Errorf("the last batch of producer %d again: %+v, %v; want a duplicate of offset %d", p.ProducerID, a, err, b.BaseOffset)
		}
		end := l.LogEndOffset()
		if a := mustAppend(t, l, sent(p.ProducerID, p.ProducerEpoch, b.LastSequence()+1, 1, "next"), 9, startTime); a.BaseOffset != end {
			return fmt.Errorf("the next batch of producer %d is at %d, the log ended at %d", p.ProducerID, a.BaseOffset, end)
		}
	}
	if len(last) > 0 {
		return fmt.Errorf("nothing is known of the producers of %v", last)
	}
	return nil
}

// A power loss may cut the log at each of its bytes, with the later segments there or empty: what is left is every
// whole batch before the cut, in files that appends would have left, and Recovered tells of the rest. Segments below
// the recovery point were synced and are not read. Where the cut lies between two batches, nothing tells of it, and
// later segments stay, as in Kafka.
func TestPowerLossAtEveryByte(t *testing.T) {
	original := threeSegments(t)
	segments := original.Segments()
	for k, s := range segments {
		for size := range len(s.Bytes) + 1 {
			for _, laterEmpty := range []bool{false, true} {
				for _, point := range []kafka.Offset{0, s.BaseOffset} {
					disk := original.disk.Clone()
					cut(disk, "orders-0/"+SegmentFileName(s.BaseOffset, LogSuffix), size)
					for _, later := range segments[k+1:] {
						if laterEmpty {
							cut(disk, "orders-0/"+SegmentFileName(later.BaseOffset, LogSuffix), 0)
						}
					}
					pieces, want := leftAfterCut(segments, k, size, laterEmpty, point)
					opened, recovered := Open(disk, "orders-0", original.config, startTime, false, point)
					err := checkOpened(t, opened, pieces, original.LeaderEpochs())
					if err != nil || recovered != want {
						t.Fatalf("segment %d cut to %d bytes, later ones empty: %v, recovery point %d: recovered %+v, want %+v; %v",
							s.BaseOffset, size, laterEmpty, point, recovered, want, err)
					}
				}
			}
		}
	}
}

// leftAfterCut says what is left of segments, and what Open is to say of it, when segment k is cut to size bytes and
// the later ones are whole or empty.
func leftAfterCut(segments []Segment, k, size int, laterEmpty bool, point kafka.Offset) (pieces []piece, r Recovered) {
	whole, _ := wholeBatches(segments[k].Bytes[:size])
	for i, s := range segments {
		p := piece{s.BaseOffset, s.Bytes}
		switch {
		case i == k:
			p.bytes = s.Bytes[:whole]
			r.DroppedBytes = size - whole
		case i > k && laterEmpty:
			p.bytes = nil
		}
		_, records := wholeBatches(p.bytes)
		if i > k && r.DroppedBytes > 0 {
			r.DroppedSegments++
			r.DroppedBytes += len(p.bytes)
			r.DroppedRecords += records
			continue
		}
		pieces = append(pieces, p)
		if i+1 == len(segments) || segments[i+1].BaseOffset > point {
			r.Segments++
			r.Bytes += len(p.bytes)
			r.Records += records
		}
	}
	return pieces, r
}

// Every other file may be cut at each of its bytes, too, whether the broker had stopped cleanly or not, and whichever
// segments are read: no record goes, lookups find what they found, and the producers are known. A cut
// leader-epoch-checkpoint is made anew from the batches; an empty one says that there are no epochs.
func TestOtherFilesCutAtEveryByte(t *testing.T) {
	killed := threeSegments(t)
	closed := killed.Clone(killed.disk.Clone())
	closed.Close()
	var pieces []piece
	for _, s := range killed.Segments() {
		pieces = append(pieces, piece{s.BaseOffset, s.Bytes})
	}
	checkpoint := "orders-0/" + LeaderEpochCheckpoint
	for path, content := range contents(closed.disk) {
		if strings.HasSuffix(path, LogSuffix) {
			continue
		}
		for size := range len(content) + 1 {
			for _, stop := range []struct {
				clean bool
				point kafka.Offset
			}{{false, 0}, {false, pieces[2].base}, {true, 0}} {
				disk := closed.disk.Clone()
				cut(disk, path, size)
				opened, recovered := Open(disk, "orders-0", killed.config, startTime, stop.clean, stop.point)
				epochs := killed.LeaderEpochs()
				if path == checkpoint && size == 0 {
					epochs = opened.LeaderEpochs()
				}
				var err error
				switch {
				case recovered.DroppedBytes+recovered.DroppedRecords+recovered.DroppedSegments > 0:
					err = errors.New("something was dropped")
				case recovered.EpochsRebuilt != (path == checkpoint && 0 < size && size < len(content)):
					err = errors.New("the leader epochs were rebuilt, or not")
				case stop.clean || stop.point > 0: // the indexes of segments that are not read need not be whole
					if err = readOn(t, opened); !slices.Equal(opened.LeaderEpochs()[:len(epochs)], epochs) {
						err = fmt.Errorf("leader epochs %v, want %v", opened.LeaderEpochs(), epochs)
					}
				default:
					err = checkOpened(t, opened, pieces, epochs)
				}
				if err != nil {
					t.Fatalf("%s cut to %d of %d bytes, %+v: %+v, %v", path, size, len(content), stop, recovered, err)
				}
			}
		}
	}
}

// Below the recovery point nothing should be lost. If it is nonetheless, the whole batches are left and the later
// segments with them.
func TestDamageBelowTheRecoveryPoint(t *testing.T) {
	original := threeSegments(t)
	segments := original.Segments()
	for size := range len(segments[0].Bytes) {
		disk := original.disk.Clone()
		cut(disk, "orders-0/"+SegmentFileName(0, LogSuffix), size)
		opened, _ := Open(disk, "orders-0", original.config, startTime, false, segments[2].BaseOffset)
		whole, _ := wholeBatches(segments[0].Bytes[:size])
		left := slices.Concat(segments[0].Bytes[:whole], segments[1].Bytes, segments[2].Bytes)
		if !bytes.Equal(allBytes(opened), left) {
			t.Fatalf("cut to %d bytes: %d bytes are left, want %d", size, opened.Size(), len(left))
		}
		if err := readOn(t, opened); err != nil {
			t.Fatalf("cut to %d bytes: %v", size, err)
		}
	}
}

// Index files that contradict their segment make it be read batch by batch, after a clean stop too, and are then what
// they were.
func TestIndexesThatContradictTheirSegment(t *testing.T) {
	closed := threeSegments(t)
	closed.Close()
	name := "orders-0/" + SegmentFileName(closed.sealed[1].base, "")
	want := contents(closed.disk)
	last := func(b []byte, size int) []byte { return b[len(b)-size:] }
	for says, tc := range map[string]struct {
		suffix string
		change func(b []byte) []byte
	}{
		"a position between two batches":      {OffsetIndexSuffix, func(b []byte) []byte { last(b, 1)[0]++; return b }},
		"a position behind the end":           {OffsetIndexSuffix, func(b []byte) []byte { last(b, 4)[0] = 1; return b }},
		"a negative position":                 {OffsetIndexSuffix, func(b []byte) []byte { last(b, 4)[0] = 0xff; return b }},
		"the offset of another batch":         {OffsetIndexSuffix, func(b []byte) []byte { last(b, 8)[3]++; return b }},
		"an entry twice":                      {OffsetIndexSuffix, func(b []byte) []byte { return append(b, last(b, 8)...) }},
		"a largest timestamp below a batch's": {TimeIndexSuffix, func(b []byte) []byte { last(b, 12)[7] -= 4; return b }},
		"a time at an offset behind the end":  {TimeIndexSuffix, func(b []byte) []byte { last(b, 4)[0] = 1; return b }},
		"an abort behind the end":             {TransactionIndexSuffix, func(b []byte) []byte { last(b, 16)[0] = 1; return b }},
		"an abort before the segment":         {TransactionIndexSuffix, func(b []byte) []byte { last(b, 16)[7] = 1; return b }},
		"another version":                     {TransactionIndexSuffix, func(b []byte) []byte { b[1] = 1; return b }},
	} {
		disk := closed.disk.Clone()
		f, exists := disk.Open(name + tc.suffix)
		if !exists {
			t.Fatalf("there is no %s", name+tc.suffix)
		}
		changed := tc.change(slices.Clone(disk.Bytes(f)))
		disk.Truncate(f, 0)
		disk.Append(f, changed)
		opened, recovered := Open(disk, "orders-0", closed.config, startTime, true, 0)
		if diff := cmp.Diff(want, contents(disk)); diff != "" || recovered.Segments != 1 || recovered.DroppedBytes != 0 {
			t.Errorf("%s: recovered %+v, files (-closed +opened):\n%s", says, recovered, diff)
		}
		if err := readOn(t, opened); err != nil {
			t.Errorf("%s: %v", says, err)
		}
	}
}
