package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
)

// compared holds files against the log of a segment.
func compared(name string, log []byte, files SegmentFiles) []Finding {
	c := NewComparison(name, files)
	for {
		batch, err := record.Parse(log)
		if err == nil {
			err = batch.CheckCRC()
		}
		if err == record.ErrEnd {
			err = nil
		}
		if err != nil || len(log) == 0 {
			found, _ := c.Finish(err)
			return found
		}
		c.Add(batch)
		log = log[batch.Size():]
	}
}

// filesOf gives the files of segment i of a log as its directory has them.
func filesOf(l *Log, i int) (name string, log []byte, files SegmentFiles) {
	s := l.Segments()
	files = SegmentFiles{OffsetIndex: notNil(s[i].OffsetIndex), TimeIndex: notNil(s[i].TimeIndex), Next: kafka.NoOffset}
	if i+1 < len(s) {
		files.Next = s[i+1].BaseOffset
	}
	read := func(suffix string) []byte {
		f, exists := l.disk.Open(l.dir + "/" + SegmentFileName(s[i].BaseOffset, suffix))
		if !exists {
			return nil
		}
		return notNil(l.disk.Bytes(f))
	}
	files.TransactionIndex, files.ProducerSnapshot = read(TransactionIndexSuffix), read(ProducerSnapshotSuffix)
	return SegmentFileName(s[i].BaseOffset, LogSuffix), s[i].Bytes, files
}

func notNil(b []byte) []byte { return append([]byte{}, b...) }

// What the engine writes agrees with itself, whatever the codec, the interval and the timestamps.
func TestComparisonOfOurFiles(t *testing.T) {
	rnd := prng.New(7)
	segments, entries := 0, 0
	for codec := record.None; codec <= record.Zstd; codec++ {
		for _, interval := range []int{0, 1, 200, 4096} {
			for _, timestamps := range []record.TimestampType{record.CreateTime, record.LogAppendTime} {
				l := newLog(func(c *Config) {
					c.SegmentBytes, c.IndexIntervalBytes, c.MessageTimestampType = 9000, interval, timestamps
				})
				options := record.Options{Codec: codec, Producer: &record.Producer{ID: 1000, Epoch: 2}}
				for i := range 300 {
					now := startTime + kafka.Timestamp(i)
					batch := buildBatch(options, entry{now - kafka.Timestamp(rnd.IntN(50)), fmt.Sprint("k", i), "value"}, entry{now, "-", ""})
					mustAppend(t, l, batch, 0, now)
					options.Producer.BaseSequence += 2
				}
				for i := range l.Segments() {
					name, log, files := filesOf(l, i)
					segments++
					entries += (len(files.OffsetIndex) + len(files.TimeIndex)) / 8
					if i > 0 && files.ProducerSnapshot == nil {
						t.Errorf("%s has no snapshot", name)
					}
					for _, f := range compared(name, log, files) {
						t.Errorf("%v, interval %d, %v: %v", codec, interval, timestamps, f)
					}
				}
			}
		}
	}
	if segments < 100 || entries < 5000 {
		t.Errorf("only %d segments and about %d entries", segments, entries)
	}
}

// What the cleaner leaves is a log with gaps and emptied batches, and agrees too.
func TestComparisonOfCleanedFiles(t *testing.T) {
	l := newLog(func(c *Config) { c.Compact, c.SegmentBytes, c.IndexIntervalBytes = true, 700, 0 })
	options := record.Options{Producer: &record.Producer{ID: 7, Epoch: 0}}
	for i := range 60 {
		now := startTime + kafka.Timestamp(i)
		mustAppend(t, l, buildBatch(options, entry{now, fmt.Sprint("k", i%4), "v"}), 0, now)
		options.Producer.BaseSequence++
	}
	if _, err := l.Clean(l.Cleanable(kafka.NoOffset, l.LogEndOffset(), startTime+100), startTime+100); err != nil {
		t.Fatal(err)
	}
	for i := range l.Segments() {
		name, log, files := filesOf(l, i)
		for _, f := range compared(name, log, files) {
			t.Error(f)
		}
	}
}

// spoilt is a segment with base offset 100: batches of one record of 70 bytes with offsets 100 to 109, but for
// an aborted transaction of producer 1000 with offsets 104 and 105 and its marker at 106; timestamps rise. What a test
// spoils is a copy.
type spoilt struct {
	name  string
	log   []byte
	files SegmentFiles
}

func newSpoilt(t *testing.T) *spoilt {
	t.Helper()
	s := &spoilt{name: SegmentFileName(100, LogSuffix)}
	s.files.Next = 110
	for i := range kafka.Offset(10) {
		ts := startTime + kafka.Timestamp(i)
		batch := oneRecord(ts)
		switch i {
		case 4, 5:
			batch = buildBatch(record.Options{Transactional: true, Producer: &record.Producer{ID: 1000, Epoch: 2, BaseSequence: kafka.Sequence(i + 1)}}, entry{ts, "k", "v"})
		case 6:
			var err error
			if batch, err = (record.EndTxnMarker{Type: record.Abort}).Build(ts, 1000, 3); err != nil {
				t.Fatal(err)
			}
		}
		record.Stamp(batch, 100+i, 0)
		if i == 3 || i == 6 || i == 9 {
			s.files.OffsetIndex = appendOffsetEntry(s.files.OffsetIndex, 100, OffsetEntry{Offset: 100 + i, Position: len(s.log)})
			s.files.TimeIndex = appendTimeEntry(s.files.TimeIndex, 100, TimeEntry{Timestamp: ts, Offset: 100 + i})
		}
		s.log = append(s.log, batch...)
	}
	s.files.TransactionIndex = appendAbortedTransaction(nil, AbortedTransaction{ProducerID: 1000, FirstOffset: 104, LastOffset: 106, LastStableOffset: 107})
	s.files.ProducerSnapshot = encodeProducerSnapshot([]ProducerSnapshotEntry{
		{ProducerID: 1000, ProducerEpoch: 2, LastSequence: 4, LastOffset: 90, OffsetDelta: 1, Timestamp: startTime, CoordinatorEpoch: -1, TransactionFirstOffset: -1},
		{ProducerID: 2000, ProducerEpoch: 0, LastSequence: 9, LastOffset: 99, OffsetDelta: 0, Timestamp: startTime, CoordinatorEpoch: -1, TransactionFirstOffset: 99},
	})
	return s
}

// cutIndexes removes the entries of the last batch.
func (s *spoilt) cutIndexes() {
	s.files.OffsetIndex, s.files.TimeIndex = s.files.OffsetIndex[:16], s.files.TimeIndex[:24]
}

// Each way to spoil a file gives one finding, of its kind, at the entry and byte that was spoiled.
func TestComparisonFindsWhatIsSpoiled(t *testing.T) {
	be := binary.BigEndian
	for _, tc := range []struct {
		name  string
		spoil func(s *spoilt)
		want  Finding
	}{
		{"nothing", func(s *spoilt) {}, Finding{}},
		{"files that are not there", func(s *spoilt) { s.files = SegmentFiles{Next: kafka.NoOffset} }, Finding{}},
		{"indexes without entries", func(s *spoilt) { s.files.OffsetIndex, s.files.TimeIndex = []byte{}, []byte{} }, Finding{}},
		{"preallocated indexes", func(s *spoilt) {
			s.files.OffsetIndex, s.files.TimeIndex = append(s.files.OffsetIndex, make([]byte, 1<<20)...), append(s.files.TimeIndex, make([]byte, 12*1000)...)
		}, Finding{}},
		{"preallocated without entries", func(s *spoilt) { s.files.OffsetIndex, s.files.TimeIndex = make([]byte, 800), make([]byte, 1200) }, Finding{}},

		{"name of 19 digits", func(s *spoilt) { s.name = s.name[1:] },
			Finding{WrongName, "0000000000000000100.log", -1, -1, -1, `the name "0000000000000000100.log"`, "the base offset in 20 digits and .log"}},
		{"name that is no number", func(s *spoilt) { s.name = "orders.log" },
			Finding{WrongName, "orders.log", -1, -1, -1, `the name "orders.log"`, "the base offset in 20 digits and .log"}},
		{"first batch below the name", func(s *spoilt) { be.PutUint64(s.log, 99) },
			Finding{WrongFirstOffset, "log", -1, 0, 99, "base offset 99", "100 or more, as the file's name says"}},
		{"a batch that repeats an offset", func(s *spoilt) { be.PutUint64(s.log[140:], 101) },
			Finding{WrongBatchOrder, "log", -1, 140, 101, "base offset 101", "above 101, with which the batch before it ends"}},
		{"a batch far above the next one", func(s *spoilt) { be.PutUint64(s.log[70:], 1000); s.files.Next = -1 },
			Finding{WrongBatchOrder, "log", -1, 140, 102, "base offset 102", "above 1000, with which the batch before it ends"}},
		{"a batch that ends before it begins", func(s *spoilt) { be.PutUint32(s.log[140+23:], math.MaxUint32); seal(s.log[140:210]) },
			Finding{WrongBatchOrder, "log", -1, 140, 102, "last offset 101", "102 or more, the batch's base offset"}},
		{"a batch too far above the name", func(s *spoilt) { s.files.Next = -1; be.PutUint64(s.log[638:], 100+math.MaxInt32+1); s.cutIndexes() },
			Finding{WrongOffsetRange, "log", -1, 638, 2147483748, "last offset 2147483748", "at most 2147483747, the file's name + 2147483647"}},
		{"next segment too early", func(s *spoilt) { s.files.Next = 109 },
			Finding{WrongNextSegment, "log", -1, 638, 109, "last offset 109", "below 109, where the next segment begins"}},
		{"a bad checksum in the last batch", func(s *spoilt) { s.log[638+65]++ },
			Finding{WrongBatch, "log", -1, 638, -1, "corrupt batch: byte 17: crc is", "a whole batch"}},
		{"a torn tail", func(s *spoilt) { s.log = s.log[:638+69] },
			Finding{WrongBatch, "log", -1, 638, -1, "torn batch: byte 0: the batch has 70 bytes, only 69 are there", "a whole batch"}},

		{"index position off by one", func(s *spoilt) { s.files.OffsetIndex[15]++ },
			Finding{WrongPosition, "index", 1, 8, 106, "position 421", "the first byte of a batch, as 420 of the one that ends with offset 106"}},
		{"index position of another batch", func(s *spoilt) { be.PutUint32(s.files.OffsetIndex[12:], 350) },
			Finding{WrongOffset, "index", 1, 8, 106, "offset 106", "105, with which the batch at byte 350 ends"}},
		{"index offset off by one", func(s *spoilt) { s.files.OffsetIndex[3]++ },
			Finding{WrongOffset, "index", 0, 0, 104, "offset 104", "103, with which the batch at byte 210 ends"}},
		{"index position behind the log", func(s *spoilt) { be.PutUint32(s.files.OffsetIndex[4:], 708) },
			Finding{WrongPosition, "index", 0, 0, 103, "position 708", "a batch in the 708 bytes of the log"}},
		{"negative index position", func(s *spoilt) { s.files.OffsetIndex[4] = 0x80 },
			Finding{WrongPosition, "index", 0, 0, 103, "position -2147483438", "a batch in the 708 bytes of the log"}},
		{"index entry twice", func(s *spoilt) { copy(s.files.OffsetIndex[8:], s.files.OffsetIndex[:8]) },
			Finding{WrongEntryOrder, "index", 1, 8, 103, "offset 103", "above 103, as in entry 0"}},
		{"index entries exchanged", func(s *spoilt) { exchange(s.files.OffsetIndex, 8) },
			Finding{WrongEntryOrder, "index", 1, 8, 103, "offset 103", "above 106, as in entry 0"}},
		{"zeros before an index entry", func(s *spoilt) { clear(s.files.OffsetIndex[8:16]) },
			Finding{WrongEntryOrder, "index", 1, 8, 100, "offset 100", "above 103, as in entry 0"}},
		{"an index entry cut", func(s *spoilt) { s.files.OffsetIndex = s.files.OffsetIndex[:21] },
			Finding{WrongLength, "index", 2, 16, -1, "5 bytes behind the last whole entry", "entries of 8 bytes"}},

		{"time of another batch", func(s *spoilt) { s.files.TimeIndex[7]-- },
			Finding{WrongTimestamp, "timeindex", 0, 0, 103, "timestamp 1700000000002", "1700000000003, the largest of the batch at byte 210"}},
		{"time that an earlier batch has", func(s *spoilt) {
			setTime(s.log[70:140], startTime+50)
			setTime(s.log[210:280], startTime+50)
			be.PutUint64(s.files.TimeIndex, uint64(startTime+50))
			s.files.TimeIndex = s.files.TimeIndex[:12]
		}, Finding{WrongTimestamp, "timeindex", 0, 0, 103, "timestamp 1700000000050", "above 1700000000050, which the batch that ends with offset 101 has"}},
		{"time entry's offset off by one", func(s *spoilt) { s.files.TimeIndex[11]++ },
			Finding{WrongTimestamp, "timeindex", 0, 0, 104, "timestamp 1700000000003", "1700000000004, the largest of the batch at byte 280"}},
		{"time entry behind the log", func(s *spoilt) { s.files.TimeIndex[35] = 10 },
			Finding{WrongOffset, "timeindex", 2, 24, 110, "offset 110", "at most 109, the last of the log"}},
		{"time entry below the segment", func(s *spoilt) { be.PutUint32(s.files.TimeIndex[8:], math.MaxUint32) },
			Finding{WrongOffset, "timeindex", 0, 0, 99, "offset 99", "the last offset of a batch: none holds 99"}},
		{"time entry twice", func(s *spoilt) { copy(s.files.TimeIndex[12:], s.files.TimeIndex[:12]) },
			Finding{WrongEntryOrder, "timeindex", 1, 12, 103, "timestamp 1700000000003", "above 1700000000003, as in entry 0"}},
		{"time entries exchanged", func(s *spoilt) { exchange(s.files.TimeIndex, 12) },
			Finding{WrongEntryOrder, "timeindex", 1, 12, 103, "timestamp 1700000000003", "above 1700000000006, as in entry 0"}},
		{"a time entry cut", func(s *spoilt) { s.files.TimeIndex = s.files.TimeIndex[:35] },
			Finding{WrongLength, "timeindex", 2, 24, -1, "11 bytes behind the last whole entry", "entries of 12 bytes"}},

		{"aborted transaction, version", func(s *spoilt) { s.files.TransactionIndex[1] = 1 },
			Finding{WrongVersion, "txnindex", 0, 0, 106, "version 1", "0"}},
		{"aborted transaction, producer", func(s *spoilt) { s.files.TransactionIndex[9]++ },
			Finding{WrongTransaction, "txnindex", 0, 0, 106, "first offset 104 of producer 1001",
				"the first offset of that producer's transaction: the batch there has offsets 104 to 104, which are of producer 1000"}},
		{"aborted transaction, first offset of no transaction", func(s *spoilt) { s.files.TransactionIndex[17]-- },
			Finding{WrongTransaction, "txnindex", 0, 0, 106, "first offset 103 of producer 1000",
				"the first offset of that producer's transaction: the batch there has offsets 103 to 103, which are of no transaction"}},
		{"aborted transaction, its second offset", func(s *spoilt) { s.files.TransactionIndex[17]++ },
			Finding{WrongTransaction, "txnindex", 0, 0, 106, "first offset 105 of producer 1000", "at most 104, where the transaction has a batch"}},
		{"aborted transaction, last offset", func(s *spoilt) { s.files.TransactionIndex[25]++ },
			Finding{WrongMarker, "txnindex", 0, 0, 107, "last offset 107 of producer 1000", "the offset of a marker that aborts that producer's transaction"}},
		{"aborted transaction, last offset behind the log", func(s *spoilt) { s.files.TransactionIndex[25] = 200 },
			Finding{WrongMarker, "txnindex", 0, 0, 200, "last offset 200", "at most 109, the last of the log"}},
		{"aborted transaction, last stable offset", func(s *spoilt) { s.files.TransactionIndex[33]++ },
			Finding{WrongLastStableOffset, "txnindex", 0, 0, 106, "last stable offset 108", "at most 107, behind the marker, or where a transaction of another producer begins"}},
		{"aborted transaction, last stable offset behind the log", func(s *spoilt) { s.files.TransactionIndex[33] = 200 },
			Finding{WrongLastStableOffset, "txnindex", 0, 0, 106, "last stable offset 200", "at most 107, behind the marker, or where a transaction of another producer begins"}},
		{"aborted transaction that was committed", func(s *spoilt) {
			marker, _ := record.EndTxnMarker{Type: record.Commit}.Build(startTime+6, 1000, 3)
			record.Stamp(marker, 106, 0)
			copy(s.log[420:], marker)
		}, Finding{WrongMarker, "txnindex", 0, 0, 106, "last offset 106 of producer 1000", "the offset of a marker that aborts that producer's transaction"}},
		{"aborted transaction twice", func(s *spoilt) { s.files.TransactionIndex = bytes.Repeat(s.files.TransactionIndex, 2) },
			Finding{WrongEntryOrder, "txnindex", 1, 34, 106, "last offset 106", "above 106, as in entry 0"}},
		{"aborted transaction missing", func(s *spoilt) { s.files.TransactionIndex = []byte{} },
			Finding{MissingEntry, "txnindex", -1, -1, 106, "no entry", "one for the transaction of producer 1000 from offset 104 on, which the marker at 106 aborts"}},
		{"aborted transaction cut", func(s *spoilt) { s.files.TransactionIndex = append(s.files.TransactionIndex, 0) },
			Finding{WrongLength, "txnindex", 1, 34, -1, "1 byte behind the last whole entry", "entries of 34 bytes"}},

		{"snapshot too short", func(s *spoilt) { s.files.ProducerSnapshot = s.files.ProducerSnapshot[:9] },
			Finding{WrongLength, "snapshot", -1, 0, -1, "9 bytes", "a header of 10"}},
		{"snapshot's version", func(s *spoilt) { s.files.ProducerSnapshot[1] = 2 },
			Finding{WrongVersion, "snapshot", -1, 0, -1, "version 2", "1"}},
		{"snapshot's checksum", func(s *spoilt) { s.files.ProducerSnapshot[40]++ },
			Finding{WrongChecksum, "snapshot", -1, 2, -1, "CRC ", "as the bytes from 6 on have"}},
		{"snapshot's count", func(s *spoilt) { s.files.ProducerSnapshot[9] = 3; sealSnapshot(s.files.ProducerSnapshot) },
			Finding{WrongLength, "snapshot", -1, 6, -1, "a count of 3 entries", "as many as the 92 bytes behind it hold, each of 46"}},
		{"snapshot of a later time", func(s *spoilt) { s.files.ProducerSnapshot[10+46+21]++; sealSnapshot(s.files.ProducerSnapshot) },
			Finding{WrongProducer, "snapshot", 1, 56, 100, "last offset 100 of producer 2000", "below 100, of which the snapshot is"}},
		{"snapshot's transaction of a later time", func(s *spoilt) { s.files.ProducerSnapshot[10+46+45]++; sealSnapshot(s.files.ProducerSnapshot) },
			Finding{WrongProducer, "snapshot", 1, 56, 99, "an open transaction of producer 2000 from offset 100 on", "below 100, of which the snapshot is"}},
		{"snapshot with a producer twice", func(s *spoilt) {
			copy(s.files.ProducerSnapshot[56:64], s.files.ProducerSnapshot[10:])
			sealSnapshot(s.files.ProducerSnapshot)
		}, Finding{WrongProducer, "snapshot", 1, 56, 99, "producer 1000", "one entry a producer: there is one before"}},
		{"snapshot's offset delta", func(s *spoilt) { s.files.ProducerSnapshot[10+25] = 91; sealSnapshot(s.files.ProducerSnapshot) },
			Finding{WrongProducer, "snapshot", 0, 10, 90, "offset delta 91 of producer 1000", "0 to 90, its last offset"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSpoilt(t)
			tc.spoil(s)
			got := compared(s.name, s.log, s.files)
			if tc.want == (Finding{}) {
				if len(got) > 0 {
					t.Errorf("found %v, want nothing", got)
				}
				return
			}
			if tc.want.Kind != WrongName {
				tc.want.File = SegmentFileName(100, "."+tc.want.File)
			}
			if len(got) == 1 && (tc.want.Kind == WrongBatch || tc.want.Kind == WrongChecksum) { // the checksums themselves are not repeated here
				got[0].Found, got[0].Expected = cutTo(got[0].Found, tc.want.Found), got[0].Expected[max(0, len(got[0].Expected)-len(tc.want.Expected)):]
			}
			if diff := cmp.Diff([]Finding{tc.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func cutTo(text, want string) string { return text[:min(len(text), len(want))] }

// seal makes a batch's checksum right again, setTime its timestamps too.
func seal(batch []byte) { binary.BigEndian.PutUint32(batch[17:], crcOf(batch)) }

func setTime(batch []byte, ts kafka.Timestamp) {
	binary.BigEndian.PutUint64(batch[27:], uint64(ts))
	binary.BigEndian.PutUint64(batch[35:], uint64(ts))
	seal(batch)
}

func sealSnapshot(b []byte) {
	binary.BigEndian.PutUint32(b[2:], crcOf(append(make([]byte, 21), b[6:]...)))
}

// exchange puts the second entry of a file before the first.
func exchange(b []byte, size int) {
	first := bytes.Clone(b[:size])
	copy(b, b[size:2*size])
	copy(b[size:], first)
}

// Each file is counted by itself: what agrees, what does not, and what a broken log leaves open.
func TestComparisonCountsEntries(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(s *spoilt)
		want  []ComparedFile // index, timeindex, txnindex, snapshot
	}{
		{"nothing", func(s *spoilt) {}, []ComparedFile{{Entries: 3, Agree: 3}, {Entries: 3, Agree: 3}, {Entries: 1, Agree: 1}, {Entries: 2, Agree: 2}}},
		{"preallocated", func(s *spoilt) { s.files.OffsetIndex = append(s.files.OffsetIndex, make([]byte, 800)...) },
			[]ComparedFile{{Entries: 3, Agree: 3}, {Entries: 3, Agree: 3}, {Entries: 1, Agree: 1}, {Entries: 2, Agree: 2}}},
		{"one of each", func(s *spoilt) {
			s.files.OffsetIndex[15]++
			s.files.TimeIndex[7]--
			s.files.TransactionIndex[33]++
			s.files.ProducerSnapshot[10+25] = 91
			sealSnapshot(s.files.ProducerSnapshot)
		}, []ComparedFile{{Entries: 3, Agree: 2, Findings: 1}, {Entries: 3, Agree: 2, Findings: 1}, {Entries: 1, Findings: 1}, {Entries: 2, Agree: 1, Findings: 1}}},
		{"the log broken at byte 280, a snapshot's checksum", func(s *spoilt) { s.log[280+65]++; s.files.ProducerSnapshot[40]++ },
			[]ComparedFile{{Entries: 3, Agree: 1, NotCompared: 2}, {Entries: 3, Agree: 1, NotCompared: 2}, {Entries: 1, NotCompared: 1}, {Entries: 2, NotCompared: 2, Findings: 1}}},
		{"no files", func(s *spoilt) { s.files = SegmentFiles{Next: kafka.NoOffset} }, nil},
	} {
		s := newSpoilt(t)
		tc.spoil(s)
		c := NewComparison(s.name, s.files)
		var fault error
		for log := s.log; len(log) > 0; {
			batch, err := record.Parse(log)
			if err == nil {
				err = batch.CheckCRC()
			}
			if fault = err; err != nil {
				break
			}
			c.Add(batch)
			log = log[batch.Size():]
		}
		c.Finish(fault)
		for i, suffix := range []string{OffsetIndexSuffix, TimeIndexSuffix, TransactionIndexSuffix, ProducerSnapshotSuffix} {
			if tc.want != nil {
				tc.want[i].Name = SegmentFileName(100, suffix)
			}
		}
		if diff := cmp.Diff(tc.want, c.Files()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// Of a file that is wrong all over, the first thousand findings are kept and the others counted.
func TestComparisonIsBounded(t *testing.T) {
	s := newSpoilt(t)
	s.files.OffsetIndex = bytes.Repeat([]byte{0, 0, 0, 9, 0, 0, 0, 1}, 5000)
	c := NewComparison(s.name, s.files)
	for log := s.log; len(log) > 0; {
		batch, err := record.Parse(log)
		if err != nil {
			t.Fatal(err)
		}
		c.Add(batch)
		log = log[batch.Size():]
	}
	found, more := c.Finish(nil)
	if len(found) != 1000 || more != 4000 || found[999].Entry != 999 {
		t.Errorf("%d findings and %d more, the last of entry %d; want 1000 and 4000, entry 999", len(found), more, found[len(found)-1].Entry)
	}
	if got := c.Files()[0]; got.Entries != 5000 || got.Agree != 0 || got.NotCompared != 0 || got.Findings != 5000 {
		t.Errorf("the index has %+v, want 5000 entries that all disagree", got)
	}
}

// Whatever the bytes, a comparison ends without a panic, keeps a bounded list, and names places that are there.
func FuzzComparison(f *testing.F) {
	f.Add("00000000000000000100.log", int64(110), []byte{}, []byte{}, []byte{}, []byte{}, []byte{})
	f.Add("", int64(-1), []byte{1}, []byte{}, []byte{}, []byte{}, []byte{}) // a log without a name is told of under that
	f.Add("x", int64(-1), oneRecord(startTime), unhex("00000002 00000000 00000032 00001068"), unhex("0000018bcfe5680500000002 000000000000000000000000"),
		unhex("0000 00000000000003e8 0000000000000064 0000000000000067 0000000000000068"), encodeProducerSnapshot(nil))
	f.Fuzz(func(t *testing.T, name string, next int64, log, offsets, times, aborted, producers []byte) {
		files := SegmentFiles{OffsetIndex: offsets, TimeIndex: times, TransactionIndex: aborted, ProducerSnapshot: producers, Next: kafka.Offset(next)}
		size := len(log) + len(offsets) + len(times) + len(aborted) + len(producers)
		for _, found := range compared(name, log, files) {
			if found.Kind.String() == "" || found.File == "" && name != "" || found.Found == "" || found.Expected == "" || found.Byte > int64(size) || found.Entry > size {
				t.Errorf("%+v", found)
			}
		}
	})
}
