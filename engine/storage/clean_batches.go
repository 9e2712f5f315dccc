package storage

import (
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/sabotage"
)

// cleaning is one run of the cleaner through a log.
type cleaning struct {
	log          *Log
	now          kafka.Timestamp
	keys         offsetMap
	end          kafka.Offset // exclusive: the first uncleanable offset
	transactions cleanedTransactions
	out          []byte          // the batches of the segment that is being written
	retained     []record.Record // room for those of one batch
	done         *Cleaned
}

// cleanSegment adds what stays of a segment to out.
//
// Source: Cleaner.cleanInto, MemoryRecords.filterTo.
func (c *cleaning) cleanSegment(s *segment) error {
	bytes := c.log.disk.Bytes(s.log)
	for position := 0; position < len(bytes); {
		batch, err := record.Parse(bytes[position:])
		if err == nil {
			err = c.cleanBatch(&batch)
		}
		if err != nil {
			return c.log.damaged(s, position, err)
		}
		position += batch.Size()
	}
	return nil
}

// cleanBatch adds what stays of a batch to out.
func (c *cleaning) cleanBatch(b *record.Batch) error {
	report := CleanedBatch{
		BaseOffset: b.BaseOffset, LastOffset: b.LastOffset(), Fate: BatchRemoved,
		RecordsBefore: int(b.RecordsCount), BytesBefore: b.Size(), Needed: c.neededFor(b),
	}
	horizon, hasHorizon := b.DeleteHorizon()
	report.DeleteHorizon = horizon
	control := b.Attributes.Control()
	discard, emptyTransaction := false, false
	if control {
		emptyTransaction = c.transactions.onControl(b)
		discard = emptyTransaction && hasHorizon && horizon <= c.now
	} else {
		discard = c.transactions.onData(b)
	}

	kept, tombstones, err := c.filter(b, discard, !hasHorizon || c.now < horizon)
	if err != nil {
		return err
	}
	before := len(c.out)
	if report.HorizonSet = len(kept) > 0 && !hasHorizon && (tombstones || emptyTransaction); report.HorizonSet {
		report.DeleteHorizon = c.now + kafka.Timestamp(c.log.config.DeleteRetentionMillis)
	}
	switch {
	case len(kept) > 0 && len(kept) == int(b.RecordsCount) && !report.HorizonSet:
		report.Fate = BatchKept
		c.out = append(c.out, b.Bytes()...)
	case len(kept) > 0:
		report.Fate = BatchRewritten
		err = c.write(b, kept, report.DeleteHorizon)
	case report.Needed != NeededForNothing:
		report.Fate, report.DeleteHorizon = BatchEmptied, kafka.NoTimestamp
		err = c.write(b, nil, kafka.NoTimestamp)
	}
	report.RecordsAfter, report.BytesAfter = len(kept), len(c.out)-before
	c.done.Batches = append(c.done.Batches, report)
	c.done.RecordsRead += int(b.RecordsCount)
	return err
}

// usedAttributes are the bits of a batch's attributes that mean something. Kafka writes no others.
//
// Source: DefaultRecordBatch.computeAttributes.
const usedAttributes record.Attributes = 0x7f

// write adds a batch with other records to out.
func (c *cleaning) write(b *record.Batch, records []record.Record, horizon kafka.Timestamp) error {
	header := *b
	header.Attributes &= usedAttributes
	batch, err := record.Retain(header, records, horizon)
	c.out = append(c.out, batch...)
	return err
}

// neededFor says why a batch's header would stay without records.
//
// Source: Cleaner.cleanInto, method checkBatchRetention.
func (c *cleaning) neededFor(b *record.Batch) NeededFor {
	if known := c.log.producers.get(b.ProducerID); known != nil && b.ProducerID >= 0 {
		if n := len(known.Batches); n > 0 {
			if b.LastOffset() == known.Batches[n-1].LastOffset {
				return NeededForProducer
			}
		} else if b.Attributes.Control() && b.ProducerEpoch == known.ProducerEpoch {
			return NeededForProducer
		}
	}
	if b.NextOffset() == c.end {
		return NeededForRound
	}
	return NeededForNothing
}

// filter gives the records of a batch that stay, and whether one of them is a tombstone. The slice holds until the
// next call.
//
// Source: Cleaner.shouldRetainRecord, MemoryRecords.filterBatch.
func (c *cleaning) filter(b *record.Batch, discard, keepTombstones bool) (kept []record.Record, tombstones bool, err error) {
	kept = c.retained[:0]
	control := b.Attributes.Control()
	scan := b.Scan()
	for scan.Next() {
		r := scan.Record()
		gone := RemovedRecord{Offset: r.Offset, By: kafka.NoOffset}
		switch {
		case discard && control:
			gone.Reason = ExpiredMarker
		case discard:
			gone.Reason = AbortedData
		case control || r.Offset > c.keys.latest:
		case r.Key == nil:
			gone.Reason = Keyless
		default:
			if last := c.keys.get(r.Key); r.Offset < last || r.Offset == last && c.log.config.Sabotage == sabotage.CleansTooMuch {
				gone.Reason, gone.By = Superseded, last
			} else if r.Value == nil && !keepTombstones {
				gone.Reason = ExpiredTombstone
			}
		}
		if gone.Reason != 0 {
			c.done.Removed = append(c.done.Removed, gone)
			continue
		}
		kept = append(kept, r)
		tombstones = tombstones || r.Value == nil
	}
	c.retained = kept
	return kept, tombstones, scan.Err()
}
