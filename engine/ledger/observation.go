package ledger

import (
	"loglab/engine/assignor"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/replication"
	"loglab/engine/storage"
)

// Observation is the cluster at one moment as a checker sees it. It is only read.
type Observation struct {
	Tick      kafka.Tick
	Journal   *journal.Journal // of the whole run
	Image     metadata.Image   // the controller's
	Unclean   bool             // unclean.leader.election.enable of the controller's own configuration
	Brokers   []BrokerState    // by number
	Promises  []Promise        // that came since the last observation
	Positions []Position       // of the consumers
	Group     assignor.Group   // what the members' partitions were worked out from
	Assignor  string
	Assigned  []Assigned   // in the order of Group.Members
	Groups    []GroupState // with a coordinator

	Transactions   []TransactionState
	ReadsCommitted func(consumer kafka.NodeID) bool // isolation.level is read_committed
}

// BrokerState is one broker.
type BrokerState struct {
	ID       kafka.BrokerID
	Runs     bool           // its process does
	Epoch    int64          // broker epoch; -1: none
	Image    metadata.Image // what it knows
	Replicas []ReplicaState // sorted; of one that does not run what stands on its disk
}

// ReplicaState is one replica. Of one that is not open only the segments' bytes are known.
type ReplicaState struct {
	TopicPartition kafka.TopicPartition
	Segments       []storage.Segment // oldest first
	Open           bool
	Role           replication.Role
	State          metadata.Partition // as its broker knows it
	LogStartOffset kafka.Offset       // inclusive
	HighWatermark  kafka.Offset       // exclusive
	LogEndOffset   kafka.Offset       // exclusive

	LastStableOffset kafka.Offset // exclusive
	Attached         []Attached   // of a leader: the followers that have fetched in its epoch
}

// Attached is a follower whose fetch the leader has taken: their logs agree up to where it was.
type Attached struct {
	ID    kafka.BrokerID
	Epoch int64 // its broker epoch
}

// Promise is a record that was acknowledged with acks=all.
type Promise struct {
	Record         int // its number
	Producer       kafka.NodeID
	TopicPartition kafka.TopicPartition
	Offset         kafka.Offset
	Key, Value     []byte
	Tick           kafka.Tick // when it was handed in
	// Coordinated is the partition of __transaction_state that keeps the producer's transactional.id; no topic: it has none.
	Coordinated kafka.TopicPartition
}

// Position is what a consumer reads next; kafka.NoOffset: not known yet.
type Position struct {
	Node           kafka.NodeID
	TopicPartition kafka.TopicPartition
	Offset         kafka.Offset
}

// Assigned is what a member of the group was given, of the group's one topic.
type Assigned struct {
	Member     kafka.MemberID
	Partitions []kafka.Partition // sorted
}
