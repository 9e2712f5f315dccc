package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"loglab/engine/kafka"
)

// OffsetEntry is one entry of an offset index: the batch that ends with Offset begins at Position.
//
//	 0                 4                 8
//	┌─────────────────┬─────────────────┐
//	│ offset − base   │ position        │
//	│ int32           │ int32           │
//	└─────────────────┴─────────────────┘
//
// Source: org.apache.kafka.storage.internals.log.OffsetIndex.
type OffsetEntry struct {
	// Offset is the last offset of the batch.
	Offset kafka.Offset
	// Position is the batch's first byte in the segment.
	Position int
}

const offsetEntrySize = 8

// appendOffsetEntry adds the bytes of one entry to b.
func appendOffsetEntry(b []byte, base kafka.Offset, e OffsetEntry) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(e.Offset-base))
	return binary.BigEndian.AppendUint32(b, uint32(e.Position))
}

// offsetEntryAt reads entry i.
func offsetEntryAt(b []byte, base kafka.Offset, i int) OffsetEntry {
	e := b[i*offsetEntrySize:]
	return OffsetEntry{
		Offset:   base + kafka.Offset(int32(binary.BigEndian.Uint32(e))),
		Position: int(int32(binary.BigEndian.Uint32(e[4:]))),
	}
}

// ParseOffsetIndex reads an offset index file of the segment with this base offset. Offsets and
// positions must rise from entry to entry. Zeros after the first entry are no entries: the file of a
// running broker's active segment is filled up with them. The caller owns the slice; on an error it
// holds the entries before the one at fault.
//
// Source: OffsetIndex.sanityCheck, DumpLogSegments.dumpIndex.
func ParseOffsetIndex(b []byte, base kafka.Offset) ([]OffsetEntry, error) {
	var entries []OffsetEntry
	for i := range len(b) / offsetEntrySize {
		e := offsetEntryAt(b, base, i)
		if i > 0 && e.Offset == base && onlyZeros(b[i*offsetEntrySize:]) {
			return entries, nil
		}
		after := OffsetEntry{Offset: base - 1, Position: -1}
		if i > 0 {
			after = entries[i-1]
		}
		if e.Offset <= after.Offset {
			return entries, fmt.Errorf("offset index entry %d (byte %d): offset is %d, must be above %d", i, i*offsetEntrySize, e.Offset, after.Offset)
		}
		if e.Position <= after.Position {
			return entries, fmt.Errorf("offset index entry %d (byte %d): position is %d, must be above %d", i, i*offsetEntrySize, e.Position, after.Position)
		}
		entries = append(entries, e)
	}
	if rest := len(b) % offsetEntrySize; rest != 0 {
		return entries, fmt.Errorf("offset index entry %d (byte %d): only %d of %d bytes", len(entries), len(b)-rest, rest, offsetEntrySize)
	}
	return entries, nil
}

// lookupOffset gives the entry with the greatest offset ≤ target and its number in the file. If there
// is none, it gives the start of the segment and -1. Its steps are added to way, unless that is nil.
//
// Simplified: an index is searched by plain binary search. Kafka first looks whether the target is
// in the last 8,192 bytes, which are likely to be in memory; the answer is the same, the steps differ.
//
// Source: OffsetIndex.lookup, AbstractIndex.indexSlotRangeFor.
func lookupOffset(b []byte, base, target kafka.Offset, way *[]SearchStep) (OffsetEntry, int) {
	i := floor(len(b)/offsetEntrySize, target, func(i int) kafka.Offset { return offsetEntryAt(b, base, i).Offset }, way)
	if way != nil {
		for n := range *way {
			(*way)[n].Offset = offsetEntryAt(b, base, (*way)[n].Middle).Offset
		}
	}
	if i < 0 {
		return OffsetEntry{Offset: base}, -1
	}
	return offsetEntryAt(b, base, i), i
}

// onlyZeros says that no byte of b is anything else.
func onlyZeros(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
