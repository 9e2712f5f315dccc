package record

import (
	"fmt"

	"loglab/engine/kafka"
)

// Retain writes a batch anew with only some of its records, as the cleaner does. Base offset, last
// offset, leader epoch, producer id, epoch, base sequence, flags and codec stay; the records keep
// offset and timestamp. maxTimestamp becomes the largest that is left. With a delete horizon other
// than NoTimestamp, that becomes the base timestamp and the timestamp deltas are written anew;
// without one the base timestamp is the first record's. A batch with a horizon keeps it only if the
// caller passes it on.
//
// Without records what is left is the header alone: an emptied batch (count 0, base timestamp -1),
// which still tells the last sequence of its producer. Its maxTimestamp stays, its codec and
// delete horizon go.
//
// The records must be some of b's, in order. The slice belongs to the caller. A batch that keeps all its
// records and gets no new horizon is not written anew: the cleaner copies its bytes.
//
// Source: MemoryRecords.filterTo, DefaultRecordBatch.writeEmptyHeader; KIP-534.
func Retain(b Batch, records []Record, horizon kafka.Timestamp) ([]byte, error) {
	header := b
	header.RecordsCount = int32(len(records))
	header.Attributes &^= deleteHorizonBit
	if len(records) == 0 {
		header.Attributes &^= codecMask
		header.BaseTimestamp = kafka.NoTimestamp
		batch := make([]byte, HeaderSize)
		encodeHeader(batch, header)
		return batch, nil
	}
	header.BaseTimestamp = records[0].Timestamp
	if horizon != kafka.NoTimestamp {
		header.Attributes |= deleteHorizonBit
		header.BaseTimestamp = horizon
	}
	builder := NewBuilder(Options{})
	latest := records[0].Timestamp
	last := int64(-1)
	for _, r := range records {
		if delta := int64(r.OffsetDelta); delta <= last || delta > int64(b.LastOffsetDelta) {
			return nil, fmt.Errorf("offset delta %d after %d: allowed are larger ones up to %d", delta, last, b.LastOffsetDelta)
		}
		last = int64(r.OffsetDelta)
		latest = max(latest, r.Timestamp)
		builder.buffer = appendRecord(builder.buffer, r.OffsetDelta, int64(r.Timestamp-header.BaseTimestamp), r.Key, r.Value, r.Headers)
	}
	if b.Attributes.TimestampType() == CreateTime {
		header.MaxTimestamp = latest
	}
	return builder.finish(header)
}
