package storage

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// Read is what a fetch gets from the log, and how it was found.
type Read struct {
	// Bytes begins with the batch that holds the asked offset, so possibly below it, and is the
	// same as in the segment. The last batch may be cut. Empty if there was nothing to return. The
	// slice is shared, never changes and must not be changed.
	Bytes []byte
	// FirstEntryIncomplete says that not even the first batch fits into a limit above 0. A broker then
	// sends nothing rather than a piece of a batch.
	FirstEntryIncomplete bool
	// SegmentBase is the base offset of the segment that was read; NoOffset if none was.
	SegmentBase kafka.Offset
	// Lookup is how the first batch was found there.
	Lookup Lookup
}

// Lookup is the way from an offset to a batch in one segment: an entry of the offset index, then
// batch headers one after another.
type Lookup struct {
	// IndexEntry is the entry with the greatest offset ≤ the target; if there is none, the
	// segment's base offset at position 0.
	IndexEntry OffsetEntry
	// IndexEntryNumber is the entry's place in the index, from 0; -1 if there is none.
	IndexEntryNumber int
	// BatchesScanned is the number of headers that were read from there, the batch found included.
	BatchesScanned int
	// Position is the first byte of the batch that was found.
	Position int
}

// BytesScanned is the number of bytes that were stepped over between the index entry's position and
// the batch that was found.
func (l Lookup) BytesScanned() int { return l.Position - l.IndexEntry.Position }

// Read returns bytes from the batch that holds from on, at most maxBytes of one segment and nothing
// of the batch that holds upTo or of later ones. upTo is exclusive: the high watermark for a
// consumer, the last stable offset under read_committed, the log end offset for a follower. If
// minOneMessage is set, the first batch is returned whole even if it is larger than maxBytes. A
// negative maxBytes counts as 0.
//
// From upTo to the log end offset the answer is empty. Below the log start offset or above the log
// end offset the error is a *Refusal with OFFSET_OUT_OF_RANGE. Any other error means that the segment
// holds something that is not a batch.
//
// Source: UnifiedLog.read, LocalLog.read, LogSegment.read.
func (l *Log) Read(from kafka.Offset, maxBytes int, upTo kafka.Offset, minOneMessage bool) (Read, error) {
	none := Read{SegmentBase: kafka.NoOffset, Lookup: Lookup{IndexEntryNumber: -1}}
	if from < l.logStartOffset {
		return none, refuse(kerr.OffsetOutOfRange, "offset %s < log start offset %s", kafka.Thousands(from), kafka.Thousands(l.logStartOffset))
	}
	if from > l.logEndOffset {
		return none, refuse(kerr.OffsetOutOfRange, "offset %s > log end offset %s", kafka.Thousands(from), kafka.Thousands(l.logEndOffset))
	}
	if from >= upTo {
		return none, nil
	}
	for i := l.floorSegment(from); i <= len(l.sealed); i++ {
		s := l.segmentAt(i)
		if s.lastOffset < from || s.lastOffset < s.base { // nothing from there on, or nothing at all
			continue
		}
		first, lookup, err := l.locate(s, from)
		if err != nil {
			return none, err
		}
		end, err := l.endPosition(s, upTo)
		if err != nil {
			return none, err
		}
		limit := max(maxBytes, 0)
		if minOneMessage {
			limit = max(limit, first.Size())
		}
		stop := min(end, lookup.Position+limit)
		return Read{
			Bytes:                l.disk.Bytes(s.log)[lookup.Position:stop:stop],
			FirstEntryIncomplete: limit > 0 && limit < first.Size(),
			SegmentBase:          s.base,
			Lookup:               lookup,
		}, nil
	}
	return none, nil
}

// endPosition is where a read up to offset upTo, exclusive, has to stop in the segment: the first
// byte of the batch that holds upTo.
//
// Source: LogOffsetMetadata.relativePositionInSegment, LocalLog.convertToOffsetMetadataOrThrow.
func (l *Log) endPosition(s *segment, upTo kafka.Offset) (int, error) {
	if upTo > s.lastOffset {
		return s.size(l.disk), nil
	}
	_, lookup, err := l.locate(s, upTo)
	return lookup.Position, err
}

// locate finds the first batch of the segment whose last offset is ≥ offset. There must be one.
func (l *Log) locate(s *segment, offset kafka.Offset) (record.Batch, Lookup, error) {
	batch, lookup, err := locate(l.disk.Bytes(s.log), l.disk.Bytes(s.offsetIndex), s.base, offset, nil)
	if err != nil {
		err = l.damaged(s, lookup.Position, err)
	}
	return batch, lookup, err
}

// damaged names the place of a fault in a segment.
func (l *Log) damaged(s *segment, position int, err error) error {
	return fmt.Errorf("%s at byte %d: %w", l.disk.Path(s.log), position, err)
}
