package storage

import (
	"bytes"
	"errors"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// Whatever the bytes, an offset index is parsed or refused; what was parsed formats back to the same
// bytes, and the binary search agrees with a plain one.
func FuzzOffsetIndex(f *testing.F) {
	f.Add(unhex("00000002 00000000 00000032 00001068"), int64(100))
	f.Add(unhex("00000002 00000046 00000000 00000000"), int64(0))
	f.Add(unhex("00000002 00000046 000000"), int64(0))
	f.Add(unhex("80000000 ffffffff"), int64(-1<<63))
	f.Fuzz(func(t *testing.T, b []byte, number int64) {
		base := kafka.Offset(number)
		entries, err := ParseOffsetIndex(b, base)
		var again []byte
		for _, e := range entries {
			again = appendOffsetEntry(again, base, e)
		}
		if !bytes.HasPrefix(b, again) {
			t.Fatalf("%v formats to %x, not to the start of %x", entries, again, b)
		}
		if err == nil && !onlyZeros(b[len(again):]) {
			t.Fatalf("bytes %x were passed over", b[len(again):])
		}
		for _, near := range entries {
			for target := near.Offset - 1; target <= near.Offset+1; target++ {
				want, at := OffsetEntry{Offset: base}, -1
				for i, e := range entries {
					if e.Offset <= target {
						want, at = e, i
					}
				}
				if got, n := lookupOffset(again, base, target, nil); got != want || n != at {
					t.Fatalf("lookup %d: %v number %d, want %v number %d", target, got, n, want, at)
				}
			}
		}
	})
}

// The same for a time index.
func FuzzTimeIndex(f *testing.F) {
	f.Add(unhex("0000018bcfe5680500000002 0000018bcfe56b8400000033"), int64(100))
	f.Add(unhex("0000018bcfe5680500000002 000000000000000000000000"), int64(0))
	f.Add(unhex("0000018bcfe568050000"), int64(0))
	f.Add(unhex("7fffffffffffffff 7fffffff"), int64(1<<63-1))
	f.Fuzz(func(t *testing.T, b []byte, number int64) {
		base := kafka.Offset(number)
		entries, err := ParseTimeIndex(b, base)
		var again []byte
		for _, e := range entries {
			again = appendTimeEntry(again, base, e)
		}
		if !bytes.HasPrefix(b, again) {
			t.Fatalf("%v formats to %x, not to the start of %x", entries, again, b)
		}
		if err == nil && !onlyZeros(b[len(again):]) {
			t.Fatalf("bytes %x were passed over", b[len(again):])
		}
		for _, near := range entries {
			for _, target := range []kafka.Timestamp{near.Timestamp - 1, near.Timestamp, near.Timestamp + 1} {
				want, at := TimeEntry{Timestamp: kafka.NoTimestamp, Offset: base}, -1
				for i, e := range entries {
					if e.Timestamp <= target {
						want, at = e, i
					}
				}
				if got, n := lookupTime(again, base, target, nil); got != want || n != at {
					t.Fatalf("lookup %d: %v number %d, want %v number %d", target, got, n, want, at)
				}
			}
		}
	})
}

// Whatever a producer sends, the log takes it or refuses it, and what it took can be read back.
func FuzzAppend(f *testing.F) {
	f.Add(v1, int64(startTime), false)
	f.Add(v2, int64(startTime), true)
	f.Add(edit(v1, func(b []byte) { b[60] = 9 }), int64(0), true)
	f.Add(edit(v1, func(b []byte) { b[22] = 7 }), int64(0), true)
	f.Fuzz(func(t *testing.T, b []byte, now int64, rightCRC bool) {
		if rightCRC && len(b) > 61 {
			b = edit(b, func([]byte) {})
		}
		message := bytes.Clone(b)
		l := newLog(func(c *Config) { c.Compact = true })
		appended, err := l.Append(message, 0, kafka.Timestamp(now))
		if !bytes.Equal(message, b) {
			t.Fatal("the producer's message was written")
		}
		if err != nil {
			if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || l.LogEndOffset() != 0 || l.Size() != 0 {
				t.Fatalf("refused with %v, end offset %d, %d bytes", err, l.LogEndOffset(), l.Size())
			}
			return
		}
		read, err := l.Read(appended.LastOffset, 1, l.LogEndOffset(), true)
		if err != nil || len(read.Bytes) != appended.Bytes {
			t.Fatalf("%d bytes appended, %d read: %v", appended.Bytes, len(read.Bytes), err)
		}
		if crc := crcOf(read.Bytes); !bytes.Equal(read.Bytes[17:21], []byte{byte(crc >> 24), byte(crc >> 16), byte(crc >> 8), byte(crc)}) {
			t.Fatalf("stored crc is %x, want %08x", read.Bytes[17:21], crc)
		}
	})
}

// Whatever a leader sends, a follower takes it or refuses it; and whatever is in a segment's file after a crash,
// the log opens with its whole batches. Both logs can be read from each batch.
func FuzzReplicaAndRecovery(f *testing.F) {
	two := append(stamped(v1, 0, 0), stamped(v2, 1, 3)...)
	f.Add(two, false)
	f.Add(two[:100], false)
	f.Add(stamped(v2, 1<<62, 1), true)
	f.Add(edit(v1, func(b []byte) { b[23] = 0xff }), true)
	f.Fuzz(func(t *testing.T, b []byte, rightCRC bool) {
		if rightCRC && len(b) > 61 {
			b = edit(b, func([]byte) {})
		}
		message := bytes.Clone(b)
		follower := newLog(func(c *Config) { c.SegmentBytes = 300 })
		answers, err := follower.AppendAsFollower(message, startTime)
		if !bytes.Equal(message, b) {
			t.Fatal("the message was written")
		}
		if size := follower.Size(); err != nil && size != 0 || !bytes.HasPrefix(b, allBytes(follower)) {
			t.Fatalf("%v, %d batches, %d bytes", err, len(answers), size)
		}
		readAll(t, follower)

		crashed := newLog(nil)
		crashed.disk.Append(crashed.active.log, b)
		opened, recovered := Open(crashed.disk, "orders-0", crashed.config, startTime, false, 0)
		if opened.Size() != recovered.Bytes || recovered.Bytes+recovered.DroppedBytes != len(b) || !bytes.HasPrefix(b, allBytes(opened)) {
			t.Fatalf("%d of %d bytes, %+v", opened.Size(), len(b), recovered)
		}
		readAll(t, opened)
	})
}

// readAll reads a log from its start to its end.
func readAll(t *testing.T, l *Log) {
	t.Helper()
	for offset := l.LogStartOffset(); offset < l.LogEndOffset(); {
		read, err := l.Read(offset, 1, l.LogEndOffset(), true)
		if err != nil {
			t.Fatalf("read at %d: %v", offset, err)
		}
		batch, err := record.Parse(read.Bytes)
		if err != nil || batch.NextOffset() <= offset {
			t.Fatalf("read at %d: batch up to %d, %v", offset, batch.LastOffset(), err)
		}
		offset = batch.NextOffset()
	}
}

// Whatever the text, a checkpoint is parsed or refused, and what was parsed comes back from its text.
func FuzzOffsetCheckpoint(f *testing.F) {
	f.Add([]byte("0\n2\nbilling 3 0\norders 2 1099511627776\n"))
	f.Add([]byte("0\n1\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		offsets, err := ParseOffsetCheckpoint(b)
		if err != nil {
			return
		}
		text := FormatOffsetCheckpoint(offsets)
		again, err := ParseOffsetCheckpoint(text)
		if err != nil || len(again) != len(offsets) || !bytes.Equal(FormatOffsetCheckpoint(again), text) {
			t.Fatalf("%q became %q, %v", b, text, err)
		}
	})
}
