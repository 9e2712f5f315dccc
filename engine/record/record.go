package record

import (
	"slices"

	"loglab/engine/kafka"
)

// A record is its length and then, in these bytes:
//
//	┌────────┬───────────┬─────────────┬─────────┬─────────┬─────┬───────────┬───────┬─────────────┬─────────
//	│ length │attributes │ timestamp Δ │ offset Δ│ key len │ key │ value len │ value │ header count│ headers …
//	│ varint │ 1 byte, 0 │ varlong     │ varint  │ varint  │     │ varint    │       │ varint      │
//	└────────┴───────────┴─────────────┴─────────┴─────────┴─────┴───────────┴───────┴─────────────┴─────────
//	 a header: key length varint, key, value length varint, value; length -1 is null (not for a header's key)
const (
	// minRecordSize is the size of a record with null key, null value and no headers.
	minRecordSize = 7

	// minHeaderSize is the size of a header with an empty key and a null or empty value.
	minHeaderSize = 2

	// maxRecordOverhead is Kafka's bound for length, attributes, timestamp Δ and offset Δ.
	maxRecordOverhead = 5 + 1 + 10 + 5
)

// Header is a key and value that travel with a record and that the log never looks at. Keys may
// repeat; their order is kept.
//
// Source: KIP-82.
type Header struct {
	// Key is usually UTF-8; whatever bytes were written are kept. It can be empty, not null.
	Key string
	// Value is nil for null; an empty slice is an empty value.
	Value []byte
}

// Record is one decoded record. Key, Value and header values share the batch's bytes (or, if it is
// compressed, one slice of decompressed data for the whole batch) and must not be changed.
//
// Source: org.apache.kafka.common.record.DefaultRecord.
type Record struct {
	// Offset is the batch's base offset plus OffsetDelta.
	Offset kafka.Offset
	// OffsetDelta as written. Also what the record's sequence number counts by: it survives
	// cleaning, the index in the batch does not.
	OffsetDelta int32
	// Timestamp is the base timestamp plus TimestampDelta, or under LogAppendTime the batch's
	// maxTimestamp.
	Timestamp kafka.Timestamp
	// TimestampDelta as written, in milliseconds. It may be negative.
	TimestampDelta int64
	// Key is nil for null; an empty slice is an empty key.
	Key []byte
	// Value is nil for null, which on a compacted topic is a tombstone; an empty slice is an empty
	// value.
	Value []byte
	// Headers in the order written; nil if there are none.
	Headers []Header
	// Position is where the record's length field begins in the record data, which follows the
	// batch's header; in a compressed batch it is a position in the decompressed data.
	Position int
	// Size is the number of bytes of the record, its length field included.
	Size int
}

// RecordSize is the number of bytes of a record in a batch, its length field included.
//
// Source: DefaultRecord.sizeInBytes.
func RecordSize(offsetDelta int32, timestampDelta int64, key, value []byte, headers ...Header) int {
	body := bodySize(offsetDelta, timestampDelta, key, value, headers)
	return sizeVarint(int64(body)) + body
}

// RecordSizeUpperBound is what a producer reckons with before it knows a record's place in a
// batch: its bytes plus 21 for length, attributes, timestamp Δ and offset Δ at their longest. A
// batch that can take the record has HeaderSize more.
//
// Source: DefaultRecord.recordSizeUpperBound, AbstractRecords.estimateSizeInBytesUpperBound.
func RecordSizeUpperBound(key, value []byte, headers ...Header) int {
	return maxRecordOverhead + fieldsSize(key, value, headers)
}

// bodySize is what the record's length field says.
func bodySize(offsetDelta int32, timestampDelta int64, key, value []byte, headers []Header) int {
	return 1 + sizeVarint(timestampDelta) + sizeVarint(int64(offsetDelta)) + fieldsSize(key, value, headers)
}

// fieldsSize is the size of key, value and headers with their lengths and the header count. A null takes
// one byte, as does an empty one.
func fieldsSize(key, value []byte, headers []Header) int {
	size := sizeLength(len(key)) + len(key) + sizeLength(len(value)) + len(value) + 1
	if len(headers) > 0 {
		size += headersSize(headers) - 1
	}
	return size
}

func headersSize(headers []Header) int {
	size := sizeLength(len(headers))
	for _, h := range headers {
		size += sizeLength(len(h.Key)) + len(h.Key) + sizeLength(len(h.Value)) + len(h.Value)
	}
	return size
}

// appendRecord appends one record to dst. It is what encoding costs, so it finds the size first and
// then writes by index.
func appendRecord(dst []byte, offsetDelta int32, timestampDelta int64, key, value []byte, headers []Header) []byte {
	body := bodySize(offsetDelta, timestampDelta, key, value, headers)
	start := len(dst)
	end := start + sizeLength(body) + body
	if end > cap(dst) {
		dst = slices.Grow(dst, end-start)
	}
	dst = dst[:end]
	at := putUvarint(dst, start, uint64(body)<<1)
	dst[at] = 0 // attributes
	at = putUvarint(dst, at+1, zigzag64(timestampDelta))
	at = putUvarint(dst, at, uint64(zigzag32(offsetDelta)))
	at = putBytes(dst, at, key)
	at = putBytes(dst, at, value)
	if len(headers) == 0 {
		dst[at] = 0
		return dst
	}
	at = putUvarint(dst, at, uint64(len(headers))<<1)
	for _, h := range headers {
		at = putUvarint(dst, at, uint64(len(h.Key))<<1)
		at += copy(dst[at:], h.Key)
		at = putBytes(dst, at, h.Value)
	}
	return dst
}

// putBytes writes p with its length at b[at:] and returns the position after it. A nil p is null.
func putBytes(b []byte, at int, p []byte) int {
	if p == nil {
		b[at] = 1 // -1 in zigzag
		return at + 1
	}
	at = putUvarint(b, at, uint64(len(p))<<1)
	return at + copy(b[at:], p)
}
