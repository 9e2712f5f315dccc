package labs

import (
	"errors"
	"fmt"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// StoredRecord is a record as it stands in a segment.
type StoredRecord struct {
	record.Record
	LeaderEpoch  kafka.LeaderEpoch // of its batch; -1: no leader has stamped it
	Control      bool              // a marker of a transaction, that no application is given
	BatchStart   bool              // the first of its batch
	SegmentStart bool              // the first of its segment
}

// RecordsFrom reads the records with offsets from first, up to count of them, out of a log's segments.
func RecordsFrom(segments []storage.Segment, first kafka.Offset, count int) []StoredRecord {
	var list []StoredRecord
	for _, segment := range segments {
		if segment.LastOffset < first {
			continue
		}
		data := segment.Bytes
		for len(list) < count {
			b, err := record.Parse(data)
			if errors.Is(err, record.ErrEnd) {
				break
			}
			if err != nil {
				panic(fmt.Sprintf("segment %d: %v", segment.BaseOffset, err))
			}
			data = data[b.Size():]
			if b.LastOffset() < first {
				continue
			}
			for scanner := b.Scan(); scanner.Next() && len(list) < count; {
				if r := scanner.Record(); r.Offset >= first {
					starts := r.Offset == b.BaseOffset
					list = append(list, StoredRecord{r, b.PartitionLeaderEpoch, b.Attributes.Control(), starts, starts && b.BaseOffset == segment.FirstOffset})
				}
			}
		}
	}
	return list
}

// SegmentsOf gives a replica's segments, from its disk where its broker is down.
func SegmentsOf(r engine.ReplicaView) []storage.Segment {
	switch {
	case r.Online:
		return r.Replica.Segments
	case r.OnDisk != nil:
		return r.OnDisk.Segments
	}
	return nil
}

// HoleText says in short which offsets from next up to an offset have no record; empty: all have.
func HoleText(next, offset kafka.Offset) string {
	switch n := offset - next; {
	case n <= 0:
		return ""
	case n == 1:
		return "·"
	default:
		return fmt.Sprintf("·%d·", n)
	}
}
