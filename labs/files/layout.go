package files

import (
	"encoding/binary"
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// Sizes of what the files are made of, and where fields of a batch begin.
const (
	offsetEntrySize      = 8
	timeEntrySize        = 12
	transactionEntrySize = 34
	snapshotHeaderSize   = 10
	snapshotEntrySize    = 46

	atBatchLength     = 8
	atLastOffsetDelta = 23
)

// number is one number of a fixed width.
type number struct {
	name    string
	width   int
	meaning func(v int64) string // nil: the name says all
}

// entry takes the bytes of one entry apart.
func entry(at int, raw []byte, prefix string, covered bool, numbers []number) []inspect.Part {
	var parts []inspect.Part
	for _, n := range numbers {
		if len(raw) < n.width {
			break
		}
		v := signed(raw[:n.width])
		f := view.ByteField{Name: prefix + n.name, Value: fmt.Sprint(v)}
		if n.meaning != nil {
			f.Meaning = n.meaning(v)
		}
		parts = append(parts, inspect.Part{At: at, Raw: raw[:n.width], Field: f, Covered: covered})
		at, raw = at+n.width, raw[n.width:]
	}
	if len(raw) > 0 {
		parts = append(parts, left(at, raw, "the file ends inside this field"))
	}
	return parts
}

// signed reads a big-endian number of 1, 2, 4 or 8 bytes.
func signed(raw []byte) int64 {
	switch len(raw) {
	case 1:
		return int64(int8(raw[0]))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(raw)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(raw)))
	}
	return int64(binary.BigEndian.Uint64(raw))
}

// left is bytes that are no field, and why.
func left(at int, raw []byte, why string) inspect.Part {
	return inspect.Part{At: at, Raw: raw, Field: view.ByteField{Name: "unreadable", Value: kafka.Count(len(raw), "byte"), Meaning: why}}
}

// spare is the zeros behind the entries of an index.
func spare(at int, raw []byte) inspect.Part {
	return inspect.Part{At: at, Raw: raw, Field: view.ByteField{
		Name: "preallocated", Value: kafka.Count(len(raw), "zero byte"),
		Meaning: "no entries: the active segment's index has its full segment.index.bytes and is cut when the segment rolls",
	}}
}

// offsetEntry is an entry of an offset index of the segment with that base offset.
func offsetEntry(base kafka.Offset) []number {
	return []number{
		{"relativeOffset", 4, func(v int64) string {
			return fmt.Sprintf("offset %d = base offset %d + %d: the last of its batch", int64(base)+v, base, v)
		}},
		{"position", 4, func(v int64) string {
			return fmt.Sprintf("the batch begins at byte %s of the .log", kafka.Thousands(v))
		}},
	}
}

// timeEntry is an entry of a time index of the segment with that base offset.
func timeEntry(base kafka.Offset) []number {
	return []number{
		{"timestamp", 8, func(v int64) string {
			return inspect.Moment(kafka.Timestamp(v)) + ": the largest of the segment up to here"
		}},
		{"relativeOffset", 4, func(v int64) string {
			return fmt.Sprintf("offset %d = base offset %d + %d: the last of the batch that has it", int64(base)+v, base, v)
		}},
	}
}

// transactionEntry is an entry of a transaction index.
var transactionEntry = []number{
	{"version", 2, nil},
	{"producerId", 8, nil},
	{"firstOffset", 8, func(int64) string { return "of the aborted transaction" }},
	{"lastOffset", 8, func(int64) string { return "the offset of its ABORT marker" }},
	{"lastStableOffset", 8, func(int64) string { return "after the abort" }},
}

// snapshotHeader begins a producer snapshot; snapshotEntry tells of one producer.
var (
	snapshotHeader = []number{{"version", 2, nil}, {"crc", 4, nil}, {"entries", 4, func(v int64) string {
		return kafka.Count(int(v), "producer")
	}}}
	snapshotEntry = []number{
		{"producerId", 8, nil},
		{"producerEpoch", 2, nil},
		{"lastSequence", 4, func(int64) string { return "of its last batch" }},
		{"lastOffset", 8, func(int64) string { return "of its last batch" }},
		{"offsetDelta", 4, func(v int64) string { return fmt.Sprintf("its last batch has %s", kafka.Count(int(v)+1, "offset")) }},
		{"timestamp", 8, func(v int64) string { return inspect.Moment(kafka.Timestamp(v)) + ", of its last batch" }},
		{"coordinatorEpoch", 4, func(v int64) string {
			if v < 0 {
				return "no transaction marker so far"
			}
			return "of its last transaction marker"
		}},
		{"currentTxnFirstOffset", 8, func(v int64) string {
			if v < 0 {
				return "no transaction is open"
			}
			return "where its open transaction begins"
		}},
	}
)

// batchHeader is the header of a batch, for one that cannot be parsed.
var batchHeader = []number{
	{"baseOffset", 8, nil},
	{"batchLength", 4, func(v int64) string {
		return fmt.Sprintf("bytes that should follow this field: the batch has %s", kafka.Thousands(v+12))
	}},
	{"partitionLeaderEpoch", 4, nil},
	{"magic", 1, func(v int64) string {
		if v != record.Magic {
			return "not record batch v2"
		}
		return "record batch v2"
	}},
	{"crc", 4, nil},
	{"attributes", 2, nil},
	{"lastOffsetDelta", 4, nil},
	{"baseTimestamp", 8, nil},
	{"maxTimestamp", 8, nil},
	{"producerId", 8, nil},
	{"producerEpoch", 2, nil},
	{"baseSequence", 4, nil},
	{"recordsCount", 4, nil},
}
