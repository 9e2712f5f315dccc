package storage

import (
	"encoding/binary"
	"fmt"

	"loglab/engine/kafka"
)

// TimeEntry is one entry of a time index: up to the batch that ends with Offset no record has a
// timestamp above Timestamp, and that batch holds one that has it.
//
//	 0                                   8                12
//	┌───────────────────────────────────┬─────────────────┐
//	│ timestamp                         │ offset − base   │
//	│ int64                             │ int32           │
//	└───────────────────────────────────┴─────────────────┘
//
// Source: org.apache.kafka.storage.internals.log.TimeIndex.
type TimeEntry struct {
	// Timestamp is the largest timestamp so far.
	Timestamp kafka.Timestamp
	// Offset is the last offset of the batch that Timestamp was first met in.
	Offset kafka.Offset
}

const timeEntrySize = 12

// appendTimeEntry adds the bytes of one entry to b.
func appendTimeEntry(b []byte, base kafka.Offset, e TimeEntry) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(e.Timestamp))
	return binary.BigEndian.AppendUint32(b, uint32(e.Offset-base))
}

// timeEntryAt reads entry i.
func timeEntryAt(b []byte, base kafka.Offset, i int) TimeEntry {
	e := b[i*timeEntrySize:]
	return TimeEntry{
		Timestamp: kafka.Timestamp(binary.BigEndian.Uint64(e)),
		Offset:    base + kafka.Offset(int32(binary.BigEndian.Uint32(e[8:]))),
	}
}

// ParseTimeIndex reads a time index file of the segment with this base offset. Timestamps and
// offsets must rise from entry to entry. Zeros after the first entry are no entries: the file of a
// running broker's active segment is filled up with them. The caller owns the slice; on an error it
// holds the entries before the one at fault.
//
// Source: TimeIndex.sanityCheck, DumpLogSegments.dumpTimeIndex.
func ParseTimeIndex(b []byte, base kafka.Offset) ([]TimeEntry, error) {
	var entries []TimeEntry
	for i := range len(b) / timeEntrySize {
		e := timeEntryAt(b, base, i)
		if i > 0 && e.Offset == base && onlyZeros(b[i*timeEntrySize:]) {
			return entries, nil
		}
		after := TimeEntry{Timestamp: kafka.NoTimestamp, Offset: base - 1}
		if i > 0 {
			after = entries[i-1]
		}
		if e.Timestamp <= after.Timestamp {
			return entries, fmt.Errorf("time index entry %d (byte %d): timestamp is %d, must be above %d", i, i*timeEntrySize, e.Timestamp, after.Timestamp)
		}
		if e.Offset <= after.Offset {
			return entries, fmt.Errorf("time index entry %d (byte %d): offset is %d, must be above %d", i, i*timeEntrySize, e.Offset, after.Offset)
		}
		entries = append(entries, e)
	}
	if rest := len(b) % timeEntrySize; rest != 0 {
		return entries, fmt.Errorf("time index entry %d (byte %d): only %d of %d bytes", len(entries), len(b)-rest, rest, timeEntrySize)
	}
	return entries, nil
}

// lookupTime gives the entry with the greatest timestamp ≤ target and its number in the file. If
// there is none, it gives the start of the segment without a timestamp and -1. The steps of the search are
// added to way, unless that is nil.
//
// Source: TimeIndex.lookup.
func lookupTime(b []byte, base kafka.Offset, target kafka.Timestamp, way *[]SearchStep) (TimeEntry, int) {
	i := floor(len(b)/timeEntrySize, target, func(i int) kafka.Timestamp { return timeEntryAt(b, base, i).Timestamp }, way)
	if way != nil {
		for n := range *way {
			e := timeEntryAt(b, base, (*way)[n].Middle)
			(*way)[n].Offset, (*way)[n].Timestamp = e.Offset, e.Timestamp
		}
	}
	if i < 0 {
		return TimeEntry{Timestamp: kafka.NoTimestamp, Offset: base}, -1
	}
	return timeEntryAt(b, base, i), i
}
