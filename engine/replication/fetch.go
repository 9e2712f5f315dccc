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

// Consumer stands in a fetch for the broker that a consumer is not.
const Consumer kafka.BrokerID = -1

// Fetch is what a fetch asks of one partition.
type Fetch struct {
	Replica            kafka.BrokerID    // Consumer for none
	ReplicaEpoch       int64             // the follower's broker epoch; -1: not told
	Offset             kafka.Offset      // the follower's log end offset, or the consumer's position
	LogStartOffset     kafka.Offset      // the follower's
	CurrentLeaderEpoch kafka.LeaderEpoch // as the asker knows it; kafka.NoLeaderEpoch: not checked
	LastFetchedEpoch   kafka.LeaderEpoch // of the record before Offset; kafka.NoLeaderEpoch: not told
	MaxBytes           int
	MinOneMessage      bool
	Committed          bool // isolation.level of a consumer is read_committed
}

// Fetched is what a fetch gets. The offsets are those before the fetch had any effect.
type Fetched struct {
	Read             storage.Read
	HighWatermark    kafka.Offset
	LastStableOffset kafka.Offset
	LogStartOffset   kafka.Offset
	LogEndOffset     kafka.Offset
	Diverging        *storage.EpochEntry          // with the end offset as StartOffset; nil: the logs agree
	Aborted          []storage.AbortedTransaction // for a reader of committed records: those whose records it leaves out
}

// CheckEpoch compares the leader epoch that an asker knows with the replica's. A replica that does not lead
// answers only consumers that may read from followers.
//
// Source: Partition.checkCurrentLeaderEpoch, localLogWithEpochOrThrow.
func (r *Replica) CheckEpoch(asked kafka.LeaderEpoch, leaderOnly bool) *kerr.Error {
	switch {
	case asked != kafka.NoLeaderEpoch && asked < r.state.LeaderEpoch:
		return kerr.FencedLeaderEpoch
	case asked != kafka.NoLeaderEpoch && asked > r.state.LeaderEpoch:
		return kerr.UnknownLeaderEpoch
	case leaderOnly && r.role != Leader, r.role == Offline:
		return kerr.NotLeaderForPartition
	}
	return nil
}

// ReadFor reads for a fetch: a follower up to the log end offset, a consumer up to the high watermark, of committed records
// up to the last stable offset. Where
// the logs diverge there is nothing but the last epoch that they may share and its end. The error is a
// *storage.Refusal. Nothing is changed.
//
// Source: Partition.fetchRecords, readRecords.
func (r *Replica) ReadFor(f Fetch) (Fetched, error) {
	got := Fetched{
		HighWatermark: r.highWatermark, LastStableOffset: r.LastStableOffset(),
		LogStartOffset: r.Log.LogStartOffset(), LogEndOffset: r.Log.LogEndOffset(),
	}
	fromFollower := f.Replica != Consumer
	if failed := r.CheckEpoch(f.CurrentLeaderEpoch, fromFollower); failed != nil {
		return got, &storage.Refusal{Err: failed, Why: fmt.Sprintf("the leader epoch is %d here, the request names %d", r.state.LeaderEpoch, f.CurrentLeaderEpoch)}
	}
	if fromFollower && !slices.ContainsFunc(r.followers, func(k follower) bool { return k.id == f.Replica }) {
		return got, &storage.Refusal{Err: kerr.UnknownLeaderEpoch, Why: fmt.Sprintf("broker %d is none of the replicas", f.Replica)}
	}
	if f.LastFetchedEpoch != kafka.NoLeaderEpoch && r.config.Sabotage != sabotage.LogsMayDiverge {
		diverging, err := r.diverging(f)
		if err != nil || diverging != nil {
			got.Diverging = diverging
			return got, err
		}
	}
	upTo := r.highWatermark
	if f.Committed && r.config.Sabotage != sabotage.ReadsUnstable {
		upTo = got.LastStableOffset
	}
	if fromFollower || r.config.Sabotage == sabotage.ReadsBeyondMark {
		upTo = got.LogEndOffset
	}
	var err error
	got.Read, err = r.Log.Read(f.Offset, f.MaxBytes, upTo, f.MinOneMessage)
	if err == nil && f.Committed && !fromFollower && r.config.Sabotage != sabotage.AbortedUnlisted {
		got.Aborted, err = r.Log.AbortedTransactions(f.Offset, got.Read)
	}
	return got, err
}

// diverging says where the asker's log can still agree with this one; nil: nothing speaks against it.
//
// Source: Partition.readRecords; KIP-595.
func (r *Replica) diverging(f Fetch) (*storage.EpochEntry, error) {
	epoch, end, ok := r.Log.EndOffsetForEpoch(f.LastFetchedEpoch)
	switch {
	case !ok:
		return nil, &storage.Refusal{Err: kerr.OffsetOutOfRange, Why: fmt.Sprintf("the leader epoch %d of the last fetched record is not known here", f.LastFetchedEpoch)}
	case f.Offset < r.Log.LogStartOffset():
		return nil, &storage.Refusal{Err: kerr.OffsetOutOfRange, Why: fmt.Sprintf("offset %s < log start offset %s", kafka.Thousands(f.Offset), kafka.Thousands(r.Log.LogStartOffset()))}
	case epoch < f.LastFetchedEpoch || end < f.Offset:
		return &storage.EpochEntry{Epoch: epoch, StartOffset: end}, nil
	}
	return nil, nil
}

// Effect says what a follower's fetch changed at the leader.
type Effect struct {
	Moved    bool // the high watermark
	Proposed bool // to take the follower into the in-sync replicas
	// LogEndBefore is the follower's log end offset as it was known before; -1: it was not.
	LogEndBefore kafka.Offset
	Stale        bool // the fetch came from an earlier run of the follower: nothing was noted
}

// Fetched notes how far a follower has come: the offset of its fetch. LeaderEnd is the log end offset that
// ReadFor gave.
//
// Source: Partition.updateFollowerFetchState, Replica.updateFetchStateOrThrow.
func (r *Replica) Fetched(now kafka.Millis, f Fetch, leaderEnd kafka.Offset, image *metadata.Image) Effect {
	at := slices.IndexFunc(r.followers, func(k follower) bool { return k.id == f.Replica })
	known := &r.followers[at]
	if b, ok := image.Broker(f.Replica); ok && f.ReplicaEpoch != -1 && b.Epoch > f.ReplicaEpoch {
		return Effect{Stale: true}
	}
	effect := Effect{LogEndBefore: known.logEndOffset}
	switch {
	case f.Offset >= leaderEnd:
		known.lastCaughtUp = max(known.lastCaughtUp, now)
	case f.Offset >= known.lastFetchLeaderEnd && known.lastFetchLeaderEnd != unknown:
		known.lastCaughtUp = max(known.lastCaughtUp, known.lastFetch)
	}
	known.logStartOffset, known.logEndOffset, known.brokerEpoch = f.LogStartOffset, f.Offset, f.ReplicaEpoch
	known.lastFetch, known.lastFetchLeaderEnd = now, max(leaderEnd, known.lastFetchLeaderEnd)
	effect.Proposed = r.maybeExpand(known, image)
	if effect.LogEndBefore != known.logEndOffset {
		effect.Moved = r.advance(now, image)
	}
	return effect
}

// Candidate is a replica that a consumer may read from.
type Candidate struct {
	ID           kafka.BrokerID
	LogEndOffset kafka.Offset
	LastCaughtUp kafka.Millis
}

// Candidates gives the followers that a consumer at an offset may read from: those in sync whose log holds it.
//
// Source: ReplicaManager.findPreferredReadReplica.
func (r *Replica) Candidates(offset kafka.Offset) []Candidate {
	var list []Candidate
	for i := range r.followers {
		f := &r.followers[i]
		if slices.Contains(r.state.ISR, f.id) && f.logEndOffset >= offset && f.logStartOffset <= offset {
			list = append(list, Candidate{f.id, f.logEndOffset, f.lastCaughtUp})
		}
	}
	return list
}
