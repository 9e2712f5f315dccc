package record

import (
	"bytes"
	"errors"
	"testing"

	"loglab/engine/kafka"
)

func addVectors(f *testing.F) {
	for _, v := range []string{v1, v1b, v2, v2b, v3, v4, v5, v6, v7, v8, v3Horizon, vLogAppendTime} {
		f.Add(unhex(f, v))
	}
	for _, v := range javaCompressed {
		f.Add(unhex(f, v.hex))
	}
}

// FuzzParse: nothing panics; every answer is one of the three errors or a batch; a header with a right
// CRC is written back as it was; the anatomy covers every byte.
func FuzzParse(f *testing.F) {
	addVectors(f)
	f.Add(withRecords(f, -1, "0c000000010100"))
	f.Fuzz(func(t *testing.T, b []byte) {
		batch, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrEnd) && !errors.Is(err, ErrTorn) && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		raw := batch.Bytes()
		if batch.Size() != len(raw) || !bytes.Equal(raw, b[:batch.Size()]) {
			t.Fatalf("Size is %d, Bytes has %d", batch.Size(), len(raw))
		}
		if batch.CheckCRC() == nil {
			again := append([]byte(nil), raw...)
			clear(again[:HeaderSize])
			encodeHeader(again, batch)
			wantBytes(t, "written back", again, raw)
		}
		fields, err := Anatomy(b)
		checkCoverage(t, "anatomy", fields, raw)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("Anatomy: %v", err)
		}
	})
}

// FuzzRecords gives any bytes as the records of a sound batch: nothing panics, and records that can be
// decoded are the same after they are written and read again.
func FuzzRecords(f *testing.F) {
	for _, v := range []string{v1, v2, v6, v7, v8} {
		raw := unhex(f, v)
		f.Add(raw[HeaderSize:], int32(3), uint8(0))
	}
	for _, v := range javaCompressed {
		f.Add(unhex(f, v.hex)[HeaderSize:], int32(3), uint8(v.codec))
	}
	f.Fuzz(func(t *testing.T, data []byte, count int32, attributes uint8) {
		raw := append(unhex(t, v1)[:HeaderSize], data...)
		header := decodeHeader(raw)
		header.Attributes, header.RecordsCount, header.LastOffsetDelta = Attributes(attributes), count, 1<<30
		encodeHeader(raw, header)
		batch := parse(t, raw)
		records, err := batch.Records()
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		if len(records) != int(count) {
			t.Fatalf("%d records, the header says %d", len(records), count)
		}
		for _, r := range records {
			if _, err := DecodeControl(r); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("DecodeControl: %v", err)
			}
		}
		if batch.Attributes.TimestampType() == LogAppendTime {
			return // the deltas are not the timestamps
		}
		again, err := Retain(batch, records, kafka.NoTimestamp)
		if err != nil {
			return // offsets out of order, which only the leader checks
		}
		back, err := parse(t, again).Records()
		if err != nil || len(back) != len(records) {
			t.Fatalf("%d records come back, want %d: %v", len(back), len(records), err)
		}
		for i, r := range records {
			b := back[i]
			if b.Offset != r.Offset || b.Timestamp != r.Timestamp || !bytes.Equal(b.Key, r.Key) || !bytes.Equal(b.Value, r.Value) || len(b.Headers) != len(r.Headers) {
				t.Fatalf("record %d: %+v, want %+v", i, b, r)
			}
		}
	})
}
