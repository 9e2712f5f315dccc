package storage

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// A batch whose records are more than record.MaxDecompressedBytes once they are decompressed, and one that claims
// more records than it has, are opened and served as bytes. Who looks into them gets an error, and no memory to match
// the claim is taken.
func TestBombs(t *testing.T) {
	bomb := func(codec record.Codec) []byte {
		b := record.NewBuilder(record.Options{Codec: codec})
		b.Append(startTime, []byte("k"), make([]byte, record.MaxDecompressedBytes))
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return batch
	}
	for name, batch := range map[string][]byte{
		"gzip":           bomb(record.Gzip),
		"snappy":         bomb(record.Snappy),
		"lz4":            bomb(record.LZ4),
		"zstd":           bomb(record.Zstd),
		"a forged count": edit(oneRecord(startTime), func(b []byte) { binary.BigEndian.PutUint32(b[57:], math.MaxInt32) }),
	} {
		l := newLog(func(c *Config) { c.Compact, c.MinCleanableDirtyRatio = true, 0 })
		l.disk.Append(l.active.log, stamped(batch, 0, 0))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		opened, recovered := Open(l.disk, "orders-0", l.config, startTime, false, 0)
		if opened.LogEndOffset() != 1 || recovered.DroppedBytes != 0 {
			t.Fatalf("%s: log end offset %d, recovered %+v", name, opened.LogEndOffset(), recovered)
		}
		if read, err := opened.Read(0, 1, 1, true); err != nil || len(read.Bytes) != len(batch) {
			t.Errorf("%s: %d bytes, %v", name, len(read.Bytes), err)
		}
		if _, err := opened.OffsetForTimestamp(startTime); err != nil != (name != "a forged count") || err != nil && !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: lookup by time: %v", name, err)
		}
		opened.roll(1, startTime)
		if _, err := opened.Clean(opened.Cleanable(kafka.NoOffset, 1, startTime), startTime); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: cleaned: %v", name, err)
		}
		if removed, err := opened.TruncateTo(0); err != nil || removed < 1 {
			t.Errorf("%s: truncated: %d records, %v", name, removed, err)
		}
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 16*record.MaxDecompressedBytes {
			t.Errorf("%s: %d bytes were allocated", name, taken)
		}
	}
}
