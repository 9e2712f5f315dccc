package storage

import (
	"bytes"
	"errors"
	"testing"

	"loglab/engine/kafka"
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
				if got, n := lookupTime(again, base, target); got != want || n != at {
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
