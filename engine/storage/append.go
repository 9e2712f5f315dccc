package storage

import (
	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/sabotage"
)

// Appended says what an append did.
type Appended struct {
	// BaseOffset is the offset of the batch's first record.
	BaseOffset kafka.Offset
	// LastOffset is the offset of its last record, inclusive.
	LastOffset kafka.Offset
	// LogAppendTime is what the records' timestamps became under LogAppendTime; NoTimestamp under
	// CreateTime. For a duplicate it is the batch's largest timestamp under both, as in Kafka.
	LogAppendTime kafka.Timestamp
	// Duplicate says that the batch was in the log already: offsets and time are those of the first time, and
	// nothing was written.
	Duplicate bool
	// Bytes is the size of the batch; 0 for a duplicate.
	Bytes int
	// SegmentBase is the base offset of the segment that took it; NoOffset for a duplicate.
	SegmentBase kafka.Offset
	// Position is its first byte in that segment.
	Position int
	// Roll is nil unless the append began a new segment.
	Roll *Roll
	// IndexEntry is the offset index entry that was due; nil for none.
	IndexEntry *OffsetEntry
	// TimeEntry is the time index entry that was due; nil for none.
	TimeEntry *TimeEntry
	// Completed is the transaction that the batch ended; nil if it is no marker, or its producer had none open.
	Completed *CompletedTransaction
}

// Append checks a producer's batch, gives it the next offsets and the leader epoch, and puts it at
// the end of the log: the leader's append. The batch is copied, never written. now is the leader's
// clock. The first append of an epoch also notes where the epoch began.
//
// A batch that an idempotent producer sends again, one of its last five, is not written: the answer is that
// of the first time, with Duplicate set.
//
// The error is a *Refusal: INVALID_RECORD, MESSAGE_TOO_LARGE, CORRUPT_MESSAGE, INVALID_TIMESTAMP or
// RECORD_LIST_TOO_LARGE, then for an idempotent producer INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER
// or INVALID_TXN_STATE. If a batch breaks several rules, the first in the order of check decides. As in
// Kafka the producer is looked at only after the roll: such a refused batch, and a duplicate, may have begun
// a segment and the epoch. Appended then holds Roll. It panics if epoch is negative.
//
// Source: UnifiedLog.appendAsLeader, analyzeAndValidateProducerState.
func (l *Log) Append(batch []byte, epoch kafka.LeaderEpoch, now kafka.Timestamp) (Appended, error) {
	l.clock = now
	in, refusal := l.config.check(batch, now)
	if refusal != nil {
		return Appended{}, refusal
	}
	return l.append(in, epoch, now)
}

// AppendAsCoordinator is [Log.Append] for records that this broker's own coordinator writes, in a producer's transaction or
// in none: their sequence is not looked at, only the epoch of the producer.
//
// Source: AppendOrigin.COORDINATOR.
func (l *Log) AppendAsCoordinator(batch []byte, epoch kafka.LeaderEpoch, now kafka.Timestamp) (Appended, error) {
	l.clock = now
	parsed, err := record.Parse(batch)
	if err != nil {
		panic("storage: " + l.dir + ": a coordinator's batch: " + err.Error())
	}
	if refusal := l.config.checkSize(parsed); refusal != nil {
		return Appended{}, refusal
	}
	return l.append(incoming{batch: parsed, maxTimestamp: parsed.MaxTimestamp, coordinator: true}, epoch, now)
}

// append puts what was checked by itself at the end of the log, unless its size or its producer forbids it.
func (l *Log) append(in incoming, epoch kafka.LeaderEpoch, now kafka.Timestamp) (Appended, error) {
	size := in.batch.Size()
	if size > l.config.SegmentBytes {
		return Appended{}, refuse(kerr.RecordListTooLarge, "batch of %s bytes > segment.bytes %s",
			kafka.Thousands(size), kafka.Thousands(l.config.SegmentBytes))
	}
	base := l.logEndOffset
	if l.config.Sabotage == sabotage.OffsetsRepeat && base > l.active.base {
		base--
	}
	last := base + kafka.Offset(in.batch.LastOffsetDelta)
	l.AssignEpochStartOffset(epoch, base)
	roll := l.maybeRoll(arrival{bytes: size, base: base, last: last, maxTimestamp: in.maxTimestamp}, now)
	switch {
	case in.marker != nil:
		if refusal := l.producers.checkMarker(in.marker); refusal != nil && !(l.config.Sabotage == sabotage.OldMarkersAccepted && refusal.Err == kerr.TransactionCoordinatorFenced) {
			return Appended{Roll: roll}, refusal
		}
	case in.coordinator:
		if refusal := l.producers.checkEpoch(&in.batch); refusal != nil {
			return Appended{Roll: roll}, refusal
		}
	case in.batch.ProducerID >= 0 && l.config.Sabotage != sabotage.SequencesUnchecked:
		if first := l.producers.duplicate(&in.batch); first != nil {
			return duplicateOf(first, roll), nil
		}
		if refusal := l.producers.check(&in.batch); refusal != nil && !(l.config.Sabotage == sabotage.OldEpochsAccepted && refusal.Err == kerr.InvalidProducerEpoch) {
			return Appended{Roll: roll}, refusal
		}
	}

	appended := Appended{
		BaseOffset:    base,
		LastOffset:    last,
		LogAppendTime: kafka.NoTimestamp,
		Bytes:         size,
		SegmentBase:   l.active.base,
		Position:      l.active.size(l.disk),
		Roll:          roll,
	}
	stored := l.disk.Append(l.active.log, in.batch.Bytes())
	record.Stamp(stored, base, epoch)
	switch {
	case l.config.MessageTimestampType == record.LogAppendTime:
		record.StampLogAppendTime(stored, now)
		appended.LogAppendTime = now
	case in.restamp:
		record.StampCreateTime(stored, in.maxTimestamp)
	}
	l.active.noteAppended(l.disk, &appended, in.maxTimestamp, l.config.IndexIntervalBytes)
	l.active.modified = now
	l.logEndOffset = last + 1
	if in.batch.ProducerID >= 0 {
		in.batch.BaseOffset = base
		if appended.Completed = l.producers.apply(&in.batch, in.maxTimestamp); appended.Completed != nil {
			l.producers.complete(l.disk, &l.active, *appended.Completed)
		}
	}
	l.producers.end = l.logEndOffset
	return appended, nil
}

// duplicateOf is the answer to a batch that is in the log already.
func duplicateOf(first *ProducerBatch, roll *Roll) Appended {
	return Appended{
		Duplicate:     true,
		BaseOffset:    first.BaseOffset,
		LastOffset:    first.LastOffset,
		LogAppendTime: first.Timestamp,
		SegmentBase:   kafka.NoOffset,
		Roll:          roll,
	}
}
