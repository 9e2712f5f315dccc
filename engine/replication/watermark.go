package replication

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/sabotage"
	"loglab/engine/storage"
)

// MinISR is how many in-sync replicas a write with acks=all needs, and the high watermark to move: no more
// than the partition has replicas.
//
// Source: Partition.effectiveMinIsr.
func (r *Replica) MinISR() int { return min(r.config.MinInsyncReplicas, len(r.state.Replicas)) }

// UnderMinISR says whether the committed in-sync replicas are too few.
func (r *Replica) UnderMinISR() bool { return len(r.state.ISR) < r.MinISR() }

// advance moves the high watermark as far as every replica that counts has the log: those in the maximal ISR,
// and those that are caught up and may join it. Below min.insync.replicas it stands still.
//
// Source: Partition.maybeIncrementLeaderHW.
func (r *Replica) advance(now kafka.Millis, image *metadata.Image) bool {
	if r.UnderMinISR() {
		return false
	}
	to := r.Log.LogEndOffset()
	for i := range r.followers {
		f := &r.followers[i]
		if f.logEndOffset < to && (r.inMaximalISR(f.id) || r.caughtUp(f, now) && eligible(f, image)) {
			to = f.logEndOffset
		}
	}
	if to <= r.highWatermark {
		return false
	}
	r.highWatermark = to
	r.Log.OnHighWatermarkUpdated(to)
	return true
}

// caughtUp says whether a follower has all that the leader has, or had it replica.lag.time.max.ms ago or
// later.
//
// Source: ReplicaState.isCaughtUp.
func (r *Replica) caughtUp(f *follower, now kafka.Millis) bool {
	return f.logEndOffset == r.Log.LogEndOffset() || now-f.lastCaughtUp <= r.config.ReplicaLagTimeMax
}

// eligible says whether a replica may join the in-sync replicas as far as its broker goes: it is registered,
// not fenced, not shutting down, and the fetch came from its present run.
//
// Source: Partition.isReplicaIsrEligible.
func eligible(f *follower, image *metadata.Image) bool {
	b, ok := image.Broker(f.id)
	return ok && !b.Fenced && !b.InControlledShutdown && (f.brokerEpoch == -1 || f.brokerEpoch == b.Epoch)
}

// inMaximalISR says whether a replica is in the in-sync replicas, or may be while a proposal is under way.
//
// Source: PartitionState.maximalIsr; KIP-497.
func (r *Replica) inMaximalISR(id kafka.BrokerID) bool {
	return slices.Contains(r.state.ISR, id) || r.proposal != nil && slices.Contains(r.proposal.ISR, id)
}

// MaximalISR is the number of replicas of which inMaximalISR is true.
func (r *Replica) maximalISR() int {
	n := len(r.state.ISR)
	if r.proposal != nil {
		n = max(n, len(r.proposal.ISR))
	}
	return n
}

// AppendAsLeader appends a producer's batch; acks is the request's, -1 for all. Moved says whether the high
// watermark moved with it, as it does when the leader alone is in sync. The error is a *storage.Refusal.
//
// Source: Partition.appendRecordsToLeader.
func (r *Replica) AppendAsLeader(now kafka.Millis, clock kafka.Timestamp, batch []byte, acks int16, image *metadata.Image) (appended storage.Appended, moved bool, err error) {
	return r.appendAsLeader(now, acks, image, func() (storage.Appended, error) { return r.Log.Append(batch, r.state.LeaderEpoch, clock) })
}

// AppendAsCoordinator appends with acks=all what a coordinator of this broker writes.
func (r *Replica) AppendAsCoordinator(now kafka.Millis, clock kafka.Timestamp, batch []byte, image *metadata.Image) (appended storage.Appended, moved bool, err error) {
	return r.appendAsLeader(now, -1, image, func() (storage.Appended, error) {
		return r.Log.AppendAsCoordinator(batch, r.state.LeaderEpoch, clock)
	})
}

// AppendMarker appends the end of a transaction with acks=all.
func (r *Replica) AppendMarker(now kafka.Millis, clock kafka.Timestamp, m storage.TransactionMarker, image *metadata.Image) (appended storage.Appended, moved bool, err error) {
	return r.appendAsLeader(now, -1, image, func() (storage.Appended, error) {
		return r.Log.AppendEndTxnMarker(m, r.state.LeaderEpoch, clock)
	})
}

func (r *Replica) appendAsLeader(now kafka.Millis, acks int16, image *metadata.Image, write func() (storage.Appended, error)) (appended storage.Appended, moved bool, err error) {
	if acks == -1 && r.UnderMinISR() {
		return storage.Appended{}, false, &storage.Refusal{Err: kerr.NotEnoughReplicas, Why: fmt.Sprintf(
			"acks=all, and %s in sync is fewer than min.insync.replicas = %d", kafka.Count(len(r.state.ISR), "replica"), r.MinISR())}
	}
	appended, err = write()
	if err != nil || appended.Duplicate {
		return appended, false, err
	}
	if r.config.Sabotage == sabotage.MarkFalls {
		r.highWatermark = r.Log.LogStartOffset()
	}
	return appended, r.advance(now, image), nil
}

// DeleteRecords moves the log start offset up to an offset, or to the high watermark for -1. It returns where it is asked to
// be, and where it was. The error is a *storage.Refusal.
//
// Source: Partition.deleteRecordsOnLeader, UnifiedLog.maybeIncrementLogStartOffset.
func (r *Replica) DeleteRecords(upTo kafka.Offset) (asked, from kafka.Offset, err error) {
	from = r.Log.LogStartOffset()
	if upTo == -1 {
		upTo = r.highWatermark
	}
	switch {
	case r.role != Leader:
		return upTo, from, &storage.Refusal{Err: kerr.NotLeaderForPartition, Why: "this replica does not lead"}
	case r.Log.Config().Compact && !r.Log.Config().Delete:
		return upTo, from, &storage.Refusal{Err: kerr.PolicyViolation, Why: "cleanup.policy does not contain delete"}
	case upTo < 0 || upTo > r.highWatermark:
		return upTo, from, &storage.Refusal{Err: kerr.OffsetOutOfRange, Why: fmt.Sprintf("offset %d is not between 0 and the high watermark %s", upTo, kafka.Thousands(r.highWatermark))}
	}
	r.Log.IncrementLogStartOffset(upTo)
	return upTo, from, nil
}

// LowWatermark is the lowest log start offset that a leader knows of: its own and those of the replicas whose brokers
// live. It is -1 while one has not told its own.
//
// Source: Partition.lowWatermarkIfLeader.
func (r *Replica) LowWatermark(image *metadata.Image) kafka.Offset {
	low := r.Log.LogStartOffset()
	for i := range r.followers {
		f := &r.followers[i]
		if b, ok := image.Broker(f.id); ok && !b.Fenced {
			low = min(low, f.logStartOffset)
		}
	}
	return low
}

// Acknowledged says whether a write with acks=all that ends before upTo can be answered, and with which error,
// nil for none.
//
// Source: Partition.checkEnoughReplicasReachOffset.
func (r *Replica) Acknowledged(upTo kafka.Offset) (done bool, failed *kerr.Error) {
	switch {
	case r.role != Leader:
		return true, kerr.NotLeaderForPartition
	case r.highWatermark < upTo && r.config.Sabotage != sabotage.AcknowledgesEarly:
		return false, nil
	case r.maximalISR() < r.MinISR():
		return true, kerr.NotEnoughReplicasAfterAppend
	}
	return true, nil
}
