package storage

import (
	"errors"
	"math"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// AppendAsFollower puts what a leader's fetch response holds at the end of the log: several whole batches,
// with their offsets and leader epochs as they are. A last batch that is cut is left off, as it will come
// again. The bytes are copied. Each leader epoch that is new here is noted with the batch that begins it.
// All batches go into one segment; if they roll, the first of the answers says so. Nothing is checked that
// the leader has checked, the CRC apart. now is this broker's clock.
//
// Offsets may leave gaps, as in a log that was cleaned, but must rise and begin at the log end offset or
// above. The error is a *Refusal, and nothing has changed: CORRUPT_MESSAGE, RECORD_LIST_TOO_LARGE if the
// batches together are larger than segment.bytes, or UNKNOWN_SERVER_ERROR for offsets and
// epochs out of order or too far from each other, for which Kafka has exceptions without a code, one of them
// [UnexpectedAppendOffset]. An answer without
// batches is empty.
//
// Simplified: a batch of a later leader epoch than the one that the follower fetched in is taken; Kafka leaves
// it and those behind it off.
//
// Source: UnifiedLog.appendAsFollower, analyzeAndValidateRecords.
func (l *Log) AppendAsFollower(batches []byte, now kafka.Timestamp) ([]Appended, error) {
	l.clock = now
	list, in, refusal := l.checkReplicated(batches)
	if refusal != nil {
		return nil, refusal
	}
	if len(list) == 0 {
		return nil, nil
	}
	for _, b := range list {
		l.AssignEpochStartOffset(b.PartitionLeaderEpoch, b.BaseOffset)
	}
	roll := l.maybeRoll(in, now)
	position := l.active.size(l.disk)
	l.disk.Append(l.active.log, batches[:in.bytes])
	answers := make([]Appended, 0, len(list))
	var completed []CompletedTransaction
	for _, b := range list {
		appended := Appended{
			BaseOffset:    b.BaseOffset,
			LastOffset:    b.LastOffset(),
			LogAppendTime: kafka.NoTimestamp,
			Bytes:         b.Size(),
			SegmentBase:   l.active.base,
			Position:      position,
		}
		l.active.noteAppended(l.disk, &appended, b.MaxTimestamp, l.config.IndexIntervalBytes)
		if appended.Completed = l.producers.apply(&b, b.MaxTimestamp); appended.Completed != nil {
			completed = append(completed, *appended.Completed)
		}
		position += b.Size()
		answers = append(answers, appended)
	}
	l.producers.complete(l.disk, &l.active, completed...)
	answers[0].Roll = roll
	l.active.modified = now
	l.logEndOffset = in.last + 1
	l.producers.end = l.logEndOffset
	return answers, nil
}

// checkReplicated cuts a fetch response into its whole batches and holds them against what a follower checks.
func (l *Log) checkReplicated(b []byte) (list []record.Batch, in arrival, refusal *Refusal) {
	in = arrival{base: kafka.NoOffset, last: kafka.NoOffset, maxTimestamp: kafka.NoTimestamp}
	for {
		batch, err := record.Parse(b[in.bytes:])
		if errors.Is(err, record.ErrEnd) || errors.Is(err, record.ErrTorn) {
			break
		}
		if err == nil {
			err = batch.CheckCRC()
		}
		switch {
		case err != nil:
			return nil, in, refuse(kerr.CorruptMessage, "at byte %s of the fetched batches: %v", kafka.Thousands(in.bytes), err)
		case batch.BaseOffset <= in.last || batch.NextOffset() <= batch.BaseOffset:
			return nil, in, refuse(kerr.UnknownServerError, "offsets %s to %s at byte %s of the fetched batches, after %s",
				kafka.Thousands(batch.BaseOffset), kafka.Thousands(batch.LastOffset()), kafka.Thousands(in.bytes), kafka.Thousands(in.last))
		case batch.PartitionLeaderEpoch < 0:
			return nil, in, refuse(kerr.UnknownServerError, "leader epoch is %d at byte %s of the fetched batches",
				batch.PartitionLeaderEpoch, kafka.Thousands(in.bytes))
		}
		if len(list) == 0 {
			in.base = batch.BaseOffset
		}
		in.last = batch.LastOffset()
		in.bytes += batch.Size()
		in.maxTimestamp = max(in.maxTimestamp, batch.MaxTimestamp)
		list = append(list, batch)
	}
	switch {
	case len(list) == 0:
		return nil, in, nil
	case in.base < l.logEndOffset:
		refusal := refuse(kerr.UnknownServerError, "fetched batches begin at offset %s, below the log end offset %s",
			kafka.Thousands(in.base), kafka.Thousands(l.logEndOffset))
		refusal.Exception = UnexpectedAppendOffset
		return nil, in, refusal
	case in.last-in.base > math.MaxInt32:
		return nil, in, refuse(kerr.UnknownServerError, "fetched offsets %s to %s do not fit into one segment",
			kafka.Thousands(in.base), kafka.Thousands(in.last))
	case in.bytes > l.config.SegmentBytes:
		return nil, in, refuse(kerr.RecordListTooLarge, "fetched batches of %s bytes > segment.bytes %s",
			kafka.Thousands(in.bytes), kafka.Thousands(l.config.SegmentBytes))
	}
	return list, in, nil
}
