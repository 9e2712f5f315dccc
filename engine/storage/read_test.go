package storage

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// §2.4 and trap 3: out of range is only what lies below the start or above the end.
func TestReadBounds(t *testing.T) {
	l := newLog(nil)
	for range 10 {
		mustAppend(t, l, v1, 0, startTime)
	}
	l.logStartOffset = 5
	const offsetOutOfRange = 1
	tests := []struct {
		from, upTo kafka.Offset
		code       int16
		why        string
		bytes      int
	}{
		{4, 10, offsetOutOfRange, "offset 4 < log start offset 5", 0},
		{5, 10, 0, "", 350},
		{5, 7, 0, "", 140},
		{7, 7, 0, "", 0},
		{9, 7, 0, "", 0},
		{10, 7, 0, "", 0},
		{10, 10, 0, "", 0},
		{11, 7, offsetOutOfRange, "offset 11 > log end offset 10", 0},
		{5, 99, 0, "", 350},
		{10, 99, 0, "", 0},
	}
	for _, tt := range tests {
		read, err := l.Read(tt.from, 1000, tt.upTo, true)
		if codeOf(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("read %d up to %d: %v, want code %d %q", tt.from, tt.upTo, err, tt.code, tt.why)
		}
		if len(read.Bytes) != tt.bytes {
			t.Errorf("read %d up to %d: %d bytes, want %d", tt.from, tt.upTo, len(read.Bytes), tt.bytes)
		}
	}
}

// §2.4: the limit is in bytes and may cut the last batch; minOneMessage saves the first.
func TestReadLimit(t *testing.T) {
	l := newLog(nil)
	for i := range 3 {
		mustAppend(t, l, withSequence(v2, kafka.Sequence(3*i)), 0, startTime) // 104 bytes
	}
	tests := []struct {
		maxBytes      int
		minOneMessage bool
		bytes         int
		incomplete    bool
	}{
		{1000, false, 312, false},
		{208, false, 208, false},
		{207, false, 207, false},
		{104, false, 104, false},
		{103, false, 103, true},
		{0, false, 0, false},
		{-1, false, 0, false},
		{103, true, 104, false},
		{0, true, 104, false},
		{105, true, 105, false},
	}
	for _, tt := range tests {
		read, err := l.Read(1, tt.maxBytes, 9, tt.minOneMessage)
		if err != nil {
			t.Fatal(err)
		}
		if len(read.Bytes) != tt.bytes || read.FirstEntryIncomplete != tt.incomplete {
			t.Errorf("limit %d, min one %v: %d bytes, incomplete %v; want %d, %v",
				tt.maxBytes, tt.minOneMessage, len(read.Bytes), read.FirstEntryIncomplete, tt.bytes, tt.incomplete)
		}
	}
}

// Trap 13: the answer begins with the whole batch that holds the offset; a high watermark in the
// middle of a batch shows nothing of it.
func TestReadServesWholeBatches(t *testing.T) {
	l := newLog(nil)
	for i := range 3 {
		mustAppend(t, l, withSequence(v2, kafka.Sequence(3*i)), 0, startTime) // offsets 0-2, 3-5, 6-8
	}
	log := l.Segments()[0].Bytes
	tests := []struct {
		from, upTo kafka.Offset
		want       []byte
	}{
		{4, 9, log[104:]},
		{5, 8, log[104:208]},
		{3, 5, nil},
		{2, 3, log[:104]},
	}
	for _, tt := range tests {
		read, err := l.Read(tt.from, 1000, tt.upTo, true)
		if err != nil || !bytes.Equal(read.Bytes, tt.want) {
			t.Errorf("read %d up to %d: %d bytes, %v; want %d bytes", tt.from, tt.upTo, len(read.Bytes), err, len(tt.want))
		}
	}
}

// What Read gives out is the segment's memory, and appending to it can't write into the log.
func TestReadSharesMemory(t *testing.T) {
	l := newLog(nil)
	mustAppend(t, l, v1, 0, startTime)
	first, err := l.Read(0, 1000, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Segments()[0].Bytes; &got[0] != &first.Bytes[0] {
		t.Error("the read is a copy")
	}
	mustAppend(t, l, v1, 0, startTime)
	_ = append(first.Bytes, bytes.Repeat([]byte("garbage"), 10)...)
	second, err := l.Read(1, 1000, 2, true)
	if want := append(unhex("0000000000000001 0000003a 00000000"), v1[16:]...); err != nil || !bytes.Equal(second.Bytes, want) {
		t.Errorf("the second batch is %x, %v; want %x", second.Bytes, err, want)
	}
}

// A segment that holds garbage is an error with its place, not a panic and not a refusal.
func TestReadOfADamagedSegment(t *testing.T) {
	l := newLog(nil)
	for range 3 {
		mustAppend(t, l, v1, 0, startTime)
	}
	l.disk.Truncate(l.active.log, 100)
	want := "orders-0/00000000000000000000.log at byte 70: torn batch"
	if _, err := l.Read(2, 1000, 3, true); !errors.Is(err, record.ErrTorn) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("read: %v, want %q", err, want)
	}
	if _, err := l.OffsetForTimestamp(startTime); err != nil {
		t.Errorf("the first batch is whole: %v", err)
	}
	l.active.largest.Timestamp = startTime + 5
	if _, err := l.OffsetForTimestamp(startTime + 5); !errors.Is(err, record.ErrTorn) {
		t.Errorf("timestamp lookup: %v, want %q", err, want)
	}
}

// A log of random batches answers every read and every timestamp as a search through all of its
// records does, and its indexes are what §2.3 makes of its segments.
func TestLookupsAgreeWithAFullSearch(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := randomLog(t, r)
		all := decodeLog(t, l)
		for range 300 {
			from := kafka.Offset(r.Int64N(int64(l.LogEndOffset()) + 1))
			upTo := kafka.Offset(r.Int64N(int64(l.LogEndOffset()) + 1))
			maxBytes, minOne := r.IntN(1500), r.IntN(2) == 0
			read, err := l.Read(from, maxBytes, upTo, minOne)
			if err != nil {
				t.Fatalf("seed %d: read %d: %v", seed, from, err)
			}
			want, base := all.read(from, maxBytes, upTo, minOne)
			if !bytes.Equal(read.Bytes, want) || read.SegmentBase != base {
				t.Fatalf("seed %d: read %d up to %d, %d bytes, min one %v: %d bytes of segment %d, want %d of %d",
					seed, from, upTo, maxBytes, minOne, len(read.Bytes), read.SegmentBase, len(want), base)
			}
		}
		for target := startTime - 60; target < startTime+700; target++ {
			found, err := l.OffsetForTimestamp(target)
			if want := all.firstAt(target); err != nil || found.Offset != want {
				t.Fatalf("seed %d: timestamp T%+d: offset %d, %v; want %d", seed, target-startTime, found.Offset, err, want)
			}
		}
		for i, s := range l.Segments() {
			offsets, times := rebuildIndexes(t, s, l.config.IndexIntervalBytes, i < len(l.sealed))
			if diff := cmp.Diff(offsets, s.OffsetEntries()); diff != "" {
				t.Fatalf("seed %d: offset index of segment %d (-§2.3 +got):\n%s", seed, s.BaseOffset, diff)
			}
			if diff := cmp.Diff(times, s.TimeEntries()); diff != "" {
				t.Fatalf("seed %d: time index of segment %d (-§2.3 +got):\n%s", seed, s.BaseOffset, diff)
			}
		}
	}
}

// randomLog appends 60 random batches with a random configuration. Timestamps rise unevenly and
// sometimes fall.
func randomLog(t *testing.T, r *rand.Rand) *Log {
	config := DefaultConfig()
	config.SegmentBytes = 400 + r.IntN(2000)
	config.SegmentMillis = kafka.Millis(50 + r.IntN(500))
	config.IndexIntervalBytes = r.IntN(400)
	if r.IntN(4) == 0 {
		config.MessageTimestampType = record.LogAppendTime
	}
	l := New(new(simdisk.Disk), "orders-0", config, startTime)
	for i := range kafka.Timestamp(60) {
		batch, now := randomBatch(r, startTime+10*i)
		mustAppend(t, l, batch, kafka.LeaderEpoch(i/20), now)
	}
	return l
}

// randomBatch makes one of one to five records around a time, compressed now and then.
func randomBatch(r *rand.Rand, now kafka.Timestamp) ([]byte, kafka.Timestamp) {
	var entries []entry
	for range 1 + r.IntN(5) {
		ts := now + kafka.Timestamp(r.IntN(100)-50)
		entries = append(entries, entry{ts, "key", strings.Repeat("v", r.IntN(40))})
	}
	options := record.Options{}
	if r.IntN(3) == 0 {
		options.Codec = record.Codec(r.IntN(5))
	}
	return buildBatch(options, entries...), now
}

// decodedLog is a log as a list of batches.
type decodedLog []decodedBatch

type decodedBatch struct {
	segment kafka.Offset
	batch   record.Batch
	records []record.Record
}

func decodeLog(t *testing.T, l *Log) decodedLog {
	var all decodedLog
	for _, s := range l.Segments() {
		for b := s.Bytes; len(b) > 0; {
			batch, err := record.Parse(b)
			if err == nil {
				err = batch.CheckCRC()
			}
			if err != nil {
				t.Fatal(err)
			}
			records, err := batch.Records()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, decodedBatch{s.BaseOffset, batch, records})
			b = b[batch.Size():]
		}
	}
	return all
}

// read is Read without any index: all bytes of one segment from the batch that holds from to the one
// that holds upTo, and then the limit.
func (all decodedLog) read(from kafka.Offset, maxBytes int, upTo kafka.Offset, minOneMessage bool) ([]byte, kafka.Offset) {
	var answer []byte
	segment := kafka.NoOffset
	if from >= upTo {
		return nil, segment
	}
	limit := maxBytes
	for _, b := range all {
		if b.batch.LastOffset() < from {
			continue
		}
		if segment == kafka.NoOffset {
			segment = b.segment
			if minOneMessage {
				limit = max(limit, b.batch.Size())
			}
		}
		if b.segment != segment || b.batch.LastOffset() >= upTo {
			break
		}
		answer = append(answer, b.batch.Bytes()...)
	}
	return answer[:min(limit, len(answer))], segment
}

// firstAt is the first record whose timestamp is at least target.
func (all decodedLog) firstAt(target kafka.Timestamp) kafka.Offset {
	for _, b := range all {
		for _, r := range b.records {
			if r.Timestamp >= target {
				return r.Offset
			}
		}
	}
	return kafka.NoOffset
}

// rebuildIndexes walks a segment with the rule of §2.3.
func rebuildIndexes(t *testing.T, s Segment, interval int, sealed bool) ([]OffsetEntry, []TimeEntry) {
	offsets, times := []OffsetEntry{}, []TimeEntry{}
	maxTimestampSoFar, offsetOfMax := kafka.NoTimestamp, s.BaseOffset
	lastIndexed := kafka.NoTimestamp
	indexTime := func() {
		if maxTimestampSoFar > lastIndexed {
			times = append(times, TimeEntry{maxTimestampSoFar, offsetOfMax})
			lastIndexed = maxTimestampSoFar
		}
	}
	bytesSinceLastIndexEntry := 0
	for position := 0; position < len(s.Bytes); {
		batch, err := record.Parse(s.Bytes[position:])
		if err != nil {
			t.Fatal(err)
		}
		if batch.MaxTimestamp > maxTimestampSoFar {
			maxTimestampSoFar, offsetOfMax = batch.MaxTimestamp, batch.LastOffset()
		}
		if bytesSinceLastIndexEntry > interval {
			offsets = append(offsets, OffsetEntry{batch.LastOffset(), position})
			indexTime()
			bytesSinceLastIndexEntry = 0
		}
		bytesSinceLastIndexEntry += batch.Size()
		position += batch.Size()
	}
	if sealed {
		indexTime()
	}
	return offsets, times
}
