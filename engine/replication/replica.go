package replication

import (
	"math"
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/sabotage"
	"loglab/engine/storage"
)

// Role is what a replica is to its partition.
type Role string

// The roles.
const (
	Leader   Role = "leader"
	Follower Role = "follower"
	Offline  Role = "offline" // the partition has no leader, or none is known yet
)

// Replica is one broker's replica of one partition. Make it with New. It is not safe for concurrent use.
//
// Source: kafka.cluster.Partition, kafka.cluster.Replica.
type Replica struct {
	TopicPartition kafka.TopicPartition
	TopicID        [16]byte
	Log            *storage.Log

	self          kafka.BrokerID
	highWatermark kafka.Offset // exclusive
	role          Role
	state         metadata.Partition // as the broker's metadata has it; never written
	config        Config

	epochStart kafka.Offset // of the leader epoch: the log end offset when this broker took office
	followers  []follower   // of the other replicas, in assignment order
	proposal   *Proposal    // nil: none is under way; never written once made
}

// Config holds the settings that matter here under Kafka's names.
type Config struct {
	MinInsyncReplicas int          // min.insync.replicas
	ReplicaLagTimeMax kafka.Millis // replica.lag.time.max.ms

	Sabotage sabotage.Rule // that a test breaks
}

// follower is what a leader knows of another replica, from its fetches.
//
// Source: kafka.cluster.ReplicaState.
type follower struct {
	id                 kafka.BrokerID
	logStartOffset     kafka.Offset // -1: unknown
	logEndOffset       kafka.Offset // the offset of its last fetch; -1: unknown
	lastCaughtUp       kafka.Millis // when it last had all that the leader had
	lastFetch          kafka.Millis
	lastFetchLeaderEnd kafka.Offset // the leader's log end offset at lastFetch; -1: unknown
	brokerEpoch        int64        // of its last fetch; -1: unknown
}

// longAgo is a time before any other.
const longAgo kafka.Millis = math.MinInt64 / 2

// unknown stands for an offset that a follower has not told yet.
const unknown kafka.Offset = -1

// New makes a replica that has no role yet. HighWatermark is what the broker had checkpointed; it is cut to
// what the log has.
func New(self kafka.BrokerID, tp kafka.TopicPartition, topicID [16]byte, log *storage.Log, highWatermark kafka.Offset) *Replica {
	r := &Replica{TopicPartition: tp, TopicID: topicID, Log: log, self: self, role: Offline}
	r.state.Leader, r.state.LeaderEpoch, r.state.PartitionEpoch = metadata.NoLeader, kafka.NoLeaderEpoch, -1
	r.highWatermark = r.clamp(highWatermark)
	return r
}

// clamp gives the offset of the log that is nearest to a high watermark.
//
// Source: UnifiedLog.updateHighWatermark.
func (r *Replica) clamp(offset kafka.Offset) kafka.Offset {
	return min(max(offset, r.Log.LogStartOffset()), r.Log.LogEndOffset())
}

// Role gives the replica's role.
func (r *Replica) Role() Role { return r.role }

// State gives what the broker's metadata says of the partition. It is shared and must not be changed.
func (r *Replica) State() metadata.Partition { return r.state }

// HighWatermark gives the replica's own high watermark, exclusive.
func (r *Replica) HighWatermark() kafka.Offset { return r.highWatermark }

// LastStableOffset is how far a reader of committed records may go, exclusive: to the first record of a transaction that
// is open, else to the high watermark.
func (r *Replica) LastStableOffset() kafka.Offset { return r.Log.LastStableOffset(r.highWatermark) }

// EpochStart gives where the leader epoch of a leader began.
func (r *Replica) EpochStart() kafka.Offset { return r.epochStart }

// Config gives the settings.
func (r *Replica) Config() Config { return r.config }

// SetConfig changes the settings.
func (r *Replica) SetConfig(c Config) { r.config = c }

// Change says what became of a replica when its broker learned of a new state of its partition.
type Change struct {
	Stale     bool // the state is older than what is known: nothing was done
	Before    Role
	After     Role
	NewEpoch  bool // the leader epoch is a new one
	NewLeader bool // follower: it has another leader, or the same in a new epoch
	// HighWatermarkFrom is the high watermark before. Becoming the leader can move it.
	HighWatermarkFrom kafka.Offset
}

// Become takes in what the metadata now says of the partition. Now is the broker's virtual time.
//
// Source: Partition.makeLeader and makeFollower.
func (r *Replica) Become(now kafka.Millis, state metadata.Partition, image *metadata.Image) Change {
	change := Change{Before: r.role, After: r.role, HighWatermarkFrom: r.highWatermark}
	if state.PartitionEpoch < r.state.PartitionEpoch {
		change.Stale = true
		return change
	}
	change.NewEpoch = state.LeaderEpoch > r.state.LeaderEpoch
	wasLeader, before := r.role == Leader, r.state.Leader
	r.state = state
	switch state.Leader {
	case r.self:
		r.role, r.proposal = Leader, nil
		if change.NewEpoch {
			r.takeOffice(now, !wasLeader)
		}
		r.advance(now, image)
	case metadata.NoLeader:
		r.role, r.proposal, r.followers = Offline, nil, nil
	default:
		r.role, r.proposal, r.followers = Follower, nil, nil
		change.NewLeader = change.NewEpoch || before != state.Leader
	}
	change.After = r.role
	return change
}

// takeOffice begins a leader epoch: the log notes where it starts, and what is known of the followers is
// forgotten. A follower counts as caught up now if it is in sync, so that it has time to fetch.
//
// Source: Partition.makeLeader, Replica.resetReplicaState.
func (r *Replica) takeOffice(now kafka.Millis, newLeader bool) {
	r.epochStart = r.Log.LogEndOffset()
	r.Log.AssignEpochStartOffset(r.state.LeaderEpoch, r.epochStart)
	known := r.followers
	r.followers = nil
	for _, id := range r.state.Replicas {
		if id == r.self {
			continue
		}
		f := follower{id: id, logStartOffset: unknown, logEndOffset: unknown, lastFetch: longAgo, lastFetchLeaderEnd: unknown, lastCaughtUp: longAgo, brokerEpoch: -1}
		if at := slices.IndexFunc(known, func(k follower) bool { return k.id == id }); at >= 0 && !newLeader {
			f.logStartOffset, f.logEndOffset, f.brokerEpoch = known[at].logStartOffset, known[at].logEndOffset, known[at].brokerEpoch
			f.lastFetchLeaderEnd = r.epochStart
		}
		if slices.Contains(r.state.ISR, id) {
			f.lastCaughtUp = now
			if !newLeader {
				f.lastFetch = now
			}
		}
		r.followers = append(r.followers, f)
	}
}

// Clone gives a replica in the same state whose log is on another disk, which must be a clone of its disk.
func (r *Replica) Clone(log *storage.Log) *Replica {
	c := *r
	c.Log = log
	c.followers = slices.Clone(r.followers)
	return &c
}
