package storage

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// SearchStep is one step of a binary search for the greatest offset or timestamp ≤ the target: of the places
// from Low up to High, exclusive, that may be above the target or not, the one in the middle was looked at.
type SearchStep struct {
	Low, High, Middle int
	// Offset is that of the entry in the middle.
	Offset kafka.Offset
	// Timestamp is that of the entry in the middle, in a time index.
	Timestamp kafka.Timestamp
	// Above says that it is above the target: the search goes on below it, else after it.
	Above bool
}

// floor searches n numbers that rise for the greatest one ≤ target. It returns its place, or -1 if all are
// above. The steps are added to way, unless that is nil, without what stands in the middle.
func floor[T ~int64](n int, target T, at func(i int) T, way *[]SearchStep) int {
	low, high := 0, n
	for low < high {
		step := SearchStep{Low: low, High: high, Middle: (low + high) / 2}
		step.Above = at(step.Middle) > target
		if step.Above {
			high = step.Middle
		} else {
			low = step.Middle + 1
		}
		if way != nil {
			*way = append(*way, step)
		}
	}
	return low - 1
}

// locate finds in a segment's files the first batch whose last offset is ≥ offset, on the way that Lookup
// describes. The error is that of [record.Parse] at the lookup's position. The way is noted in found,
// unless that is nil.
//
// Source: LogSegment.translateOffset, FileRecords.searchForOffsetFromPosition.
func locate(log, index []byte, base, offset kafka.Offset, found *Found) (record.Batch, Lookup, error) {
	var lookup Lookup
	var way *[]SearchStep
	if found != nil {
		way = &found.Search
	}
	lookup.IndexEntry, lookup.IndexEntryNumber = lookupOffset(index, base, offset, way)
	lookup.Position = lookup.IndexEntry.Position
	for {
		batch, err := record.Parse(log[min(max(lookup.Position, 0), len(log)):]) // an entry may point anywhere
		if err != nil {
			return batch, lookup, err
		}
		lookup.BatchesScanned++
		if found != nil {
			found.Scanned = append(found.Scanned, batch)
		}
		if batch.LastOffset() >= offset {
			return batch, lookup, nil
		}
		lookup.Position += batch.Size()
	}
}

// Found is how a read finds the batch that holds an offset, step by step.
type Found struct {
	// Segment is the place of the segment in the list that was searched.
	Segment int
	// PassedOver counts the segments before it that have a base offset ≤ the target but nothing from
	// the target on; 0 unless one is empty or was cleaned.
	PassedOver int
	// Search is the binary search in the segment's offset index; empty if the index is.
	Search []SearchStep
	// Lookup is what the search and the scan came to.
	Lookup Lookup
	// Scanned are the batches whose headers were read, the one found last. They share the segment's
	// bytes.
	Scanned []record.Batch
}

// Find goes the way of [Log.Read] through segments as they were at one moment, the oldest first, and notes
// it: the last segment whose base offset is ≤ offset, or the first after it with something from offset on;
// in it the offset index; from there batch after batch. ok is false if no segment holds the offset or a
// later one. An error means that a segment holds something that is not a batch.
//
// Source: LocalLog.read, LogSegment.read.
func Find(segments []Segment, offset kafka.Offset) (found Found, ok bool, err error) {
	first := floor(len(segments), offset, func(i int) kafka.Offset { return segments[i].BaseOffset }, nil)
	for i := max(first, 0); first >= 0 && i < len(segments); i++ {
		s := segments[i]
		if s.LastOffset < offset { // NoOffset if it is empty
			continue
		}
		found.Segment, found.PassedOver = i, i-first
		_, found.Lookup, err = locate(s.Bytes, s.OffsetIndex, s.BaseOffset, offset, &found)
		if err != nil {
			return found, false, fmt.Errorf("%s at byte %d: %w", SegmentFileName(s.BaseOffset, LogSuffix), found.Lookup.Position, err)
		}
		return found, true, nil
	}
	return found, false, nil
}
