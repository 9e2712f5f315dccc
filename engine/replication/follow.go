package replication

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/sabotage"
	"loglab/engine/storage"
)

// AppendAsFollower takes what a fetch has brought: the batches as the leader has them, then its high watermark
// as far as the own log has it, then its log start offset. It returns what was appended and the high watermark
// before.
//
// Source: ReplicaFetcherThread.processPartitionData.
func (r *Replica) AppendAsFollower(clock kafka.Timestamp, batches []byte, highWatermark, logStartOffset kafka.Offset) (appended []storage.Appended, from kafka.Offset, err error) {
	from = r.highWatermark
	if len(batches) > 0 {
		start := r.beginWithBatch(batches)
		if appended, err = r.Log.AppendAsFollower(batches, clock); err != nil {
			return nil, from, err
		}
		r.Log.IncrementLogStartOffset(start)
	}
	r.highWatermark = r.clamp(highWatermark)
	if r.config.Sabotage == sabotage.MarkUnclamped {
		r.highWatermark = highWatermark
	}
	r.Log.OnHighWatermarkUpdated(min(r.highWatermark, r.Log.LogEndOffset()))
	if logStartOffset > r.Log.LogStartOffset() && logStartOffset <= r.highWatermark {
		r.Log.IncrementLogStartOffset(logStartOffset)
	}
	return appended, from, nil
}

// beginWithBatch lets a log without records begin where the first batch does, if that lies lower: the leader's log start
// offset can stand within a batch, as DeleteRecords goes by records, and a fetch brings whole batches. It returns the
// log start offset, which stays what it is.
//
// Source: Partition.appendRecordsToFollowerOrFutureReplica, UnexpectedAppendOffsetException.
func (r *Replica) beginWithBatch(batches []byte) (start kafka.Offset) {
	start = r.Log.LogStartOffset()
	if b, err := record.Parse(batches); err == nil && start == r.Log.LogEndOffset() && b.BaseOffset < start && b.LastOffset() >= start {
		r.Log.TruncateFullyAndStartAt(b.BaseOffset)
	}
	return start
}

// Truncation says what a truncation took away.
type Truncation struct {
	From, To      kafka.Offset // log end offset before and after
	Records       int          // that are gone
	Bytes         []byte       // the batches that are gone, whole; shared with what was the log
	HighWatermark kafka.Offset // before
	Why           string
}

// TruncateToAgree cuts the log to where it can still agree with the leader's, which has answered that of the
// epochs up to the last fetched one its last is epoch and ends at end.
//
// Source: AbstractFetcherThread.truncateOnFetchResponse, getOffsetTruncationState; KIP-279, KIP-595.
func (r *Replica) TruncateToAgree(epoch kafka.LeaderEpoch, end kafka.Offset) (Truncation, error) {
	to, agreed := r.Log.TruncationOffset(epoch, end)
	own, ownEnd, known := r.Log.EndOffsetForEpoch(epoch)
	why := fmt.Sprintf("epoch %d ends at offset %s at the leader and at %s here", epoch, kafka.Thousands(end), kafka.Thousands(ownEnd))
	switch {
	case !agreed:
		why = fmt.Sprintf("this log has no epoch %d, the last that the leader may share with it; its epoch %d ends at offset %s", epoch, own, kafka.Thousands(ownEnd))
	case !known:
		why = fmt.Sprintf("epoch %d ends at offset %s at the leader, and this log has no epochs", epoch, kafka.Thousands(end))
	}
	return r.truncate(to, why)
}

// TruncateTo cuts the log to a leader's log end offset that is below its own.
//
// Source: AbstractFetcherThread.fetchOffsetAndTruncate.
func (r *Replica) TruncateTo(end kafka.Offset) (Truncation, error) {
	return r.truncate(end, fmt.Sprintf("the leader's log ends at offset %s", kafka.Thousands(end)))
}

func (r *Replica) truncate(to kafka.Offset, why string) (Truncation, error) {
	t := Truncation{From: r.Log.LogEndOffset(), To: to, HighWatermark: r.highWatermark, Why: why, Bytes: r.batchesFrom(to)}
	var err error
	if t.Records, err = r.Log.TruncateTo(to); err != nil {
		return t, err
	}
	t.To = r.Log.LogEndOffset()
	r.highWatermark = min(r.highWatermark, t.To)
	return t, nil
}

// batchesFrom gives the batches that end at or behind an offset.
func (r *Replica) batchesFrom(offset kafka.Offset) (batches []byte) {
	for _, s := range r.Log.Segments() {
		for data := s.Bytes; s.LastOffset >= offset && len(data) > 0; {
			b, err := record.Parse(data)
			if err != nil {
				break
			}
			if b.LastOffset() >= offset {
				batches = append(batches, b.Bytes()...)
			}
			data = data[b.Size():]
		}
	}
	return batches
}

// StartAnew empties the log and lets it begin at the leader's log start offset, which lies above its end.
//
// Source: AbstractFetcherThread.fetchOffsetAndTruncate.
func (r *Replica) StartAnew(at kafka.Offset) Truncation {
	t := Truncation{From: r.Log.LogEndOffset(), To: at, HighWatermark: r.highWatermark, Why: fmt.Sprintf("the leader's log begins at offset %s", kafka.Thousands(at))}
	t.Records = int(t.From - r.Log.LogStartOffset())
	r.Log.TruncateFullyAndStartAt(at)
	r.highWatermark = at
	return t
}
