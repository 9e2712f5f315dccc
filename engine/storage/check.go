package storage

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// incoming is a batch that has passed the checks of what is in it: a producer's, or a coordinator's marker.
type incoming struct {
	batch        record.Batch       // as the producer sent it; its bytes are shared with the caller
	maxTimestamp kafka.Timestamp    // what the header will say: the largest CreateTime, or now
	restamp      bool               // under CreateTime: the header says something else
	marker       *TransactionMarker // nil for a batch of records
	coordinator  bool               // this broker's coordinator wrote it, no client
}

// check holds a produce request's bytes against the rules for a batch from a client, in Kafka's
// order: exactly one batch, base offset, size, CRC, what else the header says, then each record.
//
// Source: ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords, LogValidator.
func (c *Config) check(b []byte, now kafka.Timestamp) (incoming, *Refusal) {
	batch, refusal := onlyBatch(b)
	if refusal != nil {
		return incoming{}, refusal
	}
	if batch.BaseOffset != 0 {
		return incoming{}, refuse(kerr.InvalidRecord, "base offset is %s, a producer sends 0", kafka.Thousands(batch.BaseOffset))
	}
	if refusal := c.checkSize(batch); refusal != nil {
		return incoming{}, refusal
	}
	if err := batch.CheckCRC(); err != nil {
		return incoming{}, refuse(kerr.CorruptMessage, "%v", err)
	}
	if refusal := checkHeader(batch); refusal != nil {
		return incoming{}, refusal
	}
	in := incoming{batch: batch}
	in.maxTimestamp, refusal = c.checkRecords(batch, now)
	if c.MessageTimestampType == record.LogAppendTime {
		in.maxTimestamp = now
	}
	in.restamp = batch.MaxTimestamp != in.maxTimestamp || batch.Attributes.TimestampType() != record.CreateTime
	return in, refusal
}

// checkSize holds a batch against max.message.bytes.
func (c *Config) checkSize(b record.Batch) *Refusal {
	if b.Size() <= c.MaxMessageBytes {
		return nil
	}
	return refuse(kerr.MessageTooLarge, "batch of %s bytes > max.message.bytes %s", kafka.Thousands(b.Size()), kafka.Thousands(c.MaxMessageBytes))
}

// magicAt is where a batch says its format. It is looked at before the batch is known to be one.
const magicAt = 16

// onlyBatch returns the one batch in b. Bytes after it that are less than a batch are left off.
func onlyBatch(b []byte) (record.Batch, *Refusal) {
	batch, err := record.Parse(b)
	switch {
	case errors.Is(err, record.ErrEnd), errors.Is(err, record.ErrTorn):
		return batch, refuse(kerr.InvalidRecord, "no whole batch in %s bytes: %v", kafka.Thousands(len(b)), err)
	case len(b) > magicAt && b[magicAt] < record.Magic:
		return batch, refuse(kerr.InvalidRecord, "magic is %d, a produce request takes only %d", int8(b[magicAt]), record.Magic)
	case err != nil:
		return batch, refuse(kerr.CorruptMessage, "%v", err)
	}
	switch _, err := record.Parse(b[batch.Size():]); {
	case err == nil:
		return batch, refuse(kerr.InvalidRecord, "a second batch at byte %s, a produce request takes one for a partition", kafka.Thousands(batch.Size()))
	case errors.Is(err, record.ErrCorrupt):
		return batch, refuse(kerr.CorruptMessage, "after the batch, at byte %s: %v", kafka.Thousands(batch.Size()), err)
	}
	return batch, nil
}

// checkHeader holds the header's fields against each other.
//
// Source: LogValidator.validateBatch.
func checkHeader(b record.Batch) *Refusal {
	switch {
	case b.RecordsCount <= 0:
		return refuse(kerr.InvalidRecord, "recordsCount is %s, at least 1 is needed", kafka.Thousands(b.RecordsCount))
	case int64(b.LastOffsetDelta)+1 != int64(b.RecordsCount):
		return refuse(kerr.InvalidRecord, "lastOffsetDelta is %s, %s records need %s",
			kafka.Thousands(b.LastOffsetDelta), kafka.Thousands(b.RecordsCount), kafka.Thousands(b.RecordsCount-1))
	case b.Attributes.Control():
		return refuse(kerr.InvalidRecord, "a client may not write control records")
	case b.ProducerID >= 0 && b.BaseSequence < 0:
		return refuse(kerr.InvalidRecord, "base sequence is %s, producer id %s needs 0 or more",
			kafka.Thousands(b.BaseSequence), kafka.Thousands(b.ProducerID))
	}
	return nil
}

// checkRecords reads every record and returns the largest timestamp, NoTimestamp if none has one.
// All records are read before the first fault decides; a timestamp out of bounds decides over a missing key.
//
// Simplified: a batch whose offset deltas are not 0, 1, 2 … is refused with INVALID_RECORD. Kafka
// takes it as it is, or compresses it anew with the right deltas.
//
// Simplified: a compressed block that its codec cannot have written is refused with INVALID_RECORD; Kafka
// answers UNKNOWN_SERVER_ERROR in most such cases.
//
// Source: LogValidator.validateRecord and processRecordErrors.
func (c *Config) checkRecords(b record.Batch, now kafka.Timestamp) (kafka.Timestamp, *Refusal) {
	largest := kafka.NoTimestamp
	var noKey, badTime *Refusal
	next := int32(0)
	scan := b.Scan()
	for ; scan.Next(); next++ {
		r := scan.Record()
		if r.OffsetDelta != next {
			return largest, refuse(kerr.InvalidRecord, "record %s has offset delta %s", kafka.Thousands(next), kafka.Thousands(r.OffsetDelta))
		}
		largest = max(largest, r.Timestamp)
		if c.Compact && r.Key == nil {
			if noKey == nil {
				noKey = refuse(kerr.InvalidRecord, "record %s has no key, cleanup.policy compact needs one", kafka.Thousands(next))
			}
			continue
		}
		if refusal := c.checkTimestamp(b, r.Timestamp, next, now); refusal != nil {
			if badTime == nil {
				badTime = refusal
			}
		}
	}
	if err := scan.Err(); err != nil {
		if b.Attributes.Codec() > record.Zstd {
			return largest, refuse(kerr.UnknownServerError, "%v", err)
		}
		return largest, refuse(kerr.InvalidRecord, "%v", err)
	}
	if badTime != nil {
		return largest, badTime
	}
	return largest, noKey
}

// checkTimestamp holds one record's timestamp against the leader's clock. Differences wrap around as
// in Kafka, whose answer for timestamps near the ends of int64 is the same.
//
// Source: LogValidator.validateTimestamp.
func (c *Config) checkTimestamp(b record.Batch, ts kafka.Timestamp, index int32, now kafka.Timestamp) *Refusal {
	if c.MessageTimestampType == record.LogAppendTime || ts == kafka.NoTimestamp {
		if b.Attributes.TimestampType() == record.LogAppendTime {
			return refuse(kerr.InvalidTimestamp, "timestamp type is LogAppendTime, which only the leader may set")
		}
		return nil
	}
	before := now - ts
	if before > kafka.Timestamp(c.TimestampBeforeMaxMillis) {
		return refuse(kerr.InvalidTimestamp, "record %s: timestamp %d is %s ms before the leader's clock > message.timestamp.before.max.ms %s",
			kafka.Thousands(index), ts, kafka.Thousands(before), kafka.Thousands(c.TimestampBeforeMaxMillis))
	}
	if -before > kafka.Timestamp(c.TimestampAfterMaxMillis) {
		return refuse(kerr.InvalidTimestamp, "record %s: timestamp %d is %s ms after the leader's clock > message.timestamp.after.max.ms %s",
			kafka.Thousands(index), ts, kafka.Thousands(-before), kafka.Thousands(c.TimestampAfterMaxMillis))
	}
	return nil
}
