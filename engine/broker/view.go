package broker

import (
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/replication"
	"loglab/engine/storage"
	"loglab/engine/txn"
)

// View is what can be seen of a broker from outside: an immutable value.
type View struct {
	ID       kafka.BrokerID
	State    State
	Rack     string
	Epoch    int64          // broker epoch; -1: none
	Fenced   bool           // as the controller last told it
	Image    metadata.Image // what it knows of the cluster
	Delay    kafka.Millis   // of each write to its disk
	Fetches  int            // that wait for data
	Produces int            // that wait for the in-sync replicas
	Replicas []ReplicaView  // sorted; those on the disk of a broker that is down are not opened

	Coordinators []CoordinatorView // sorted by partition
}

// CoordinatorView is the coordinator that lives on one partition of an internal topic.
type CoordinatorView struct {
	TopicPartition kafka.TopicPartition
	Writes         int                   // that are not on every in-sync replica
	Groups         []group.GroupView     // of a partition of __consumer_offsets, by id
	Transactions   []txn.TransactionView // of a partition of __transaction_state, by id
}

// ReplicaView is one replica.
type ReplicaView struct {
	TopicPartition kafka.TopicPartition
	Role           replication.Role
	State          metadata.Partition // as this broker knows it
	MinISR         int                // effective
	Proposal       *replication.Proposal
	LogStartOffset kafka.Offset // inclusive
	HighWatermark  kafka.Offset // exclusive
	LastStable     kafka.Offset // last stable offset, exclusive
	LogEndOffset   kafka.Offset // exclusive
	EpochStart     kafka.Offset // of a leader
	Epochs         []storage.EpochEntry
	Followers      []replication.FollowerView // what a leader knows of the others
	Segments       []storage.Segment          // oldest first
	Bytes          int                        // of all .log files
	Producers      []storage.ProducerState
}

// View gives the broker's state.
func (b *Broker) View(now kafka.Millis) View {
	v := View{
		ID: b.config.ID, State: b.state, Rack: b.config.Rack, Epoch: b.epoch, Fenced: b.lifecycle.fenced, Image: b.image, Delay: b.delay,
		Fetches: len(b.parkedFetches), Produces: len(b.parkedProduces),
	}
	for _, r := range b.replicas {
		v.Replicas = append(v.Replicas, ReplicaView{
			TopicPartition: r.TopicPartition, Role: r.Role(), State: r.State(), MinISR: r.MinISR(), Proposal: r.Proposal(),
			LogStartOffset: r.Log.LogStartOffset(), HighWatermark: r.HighWatermark(), LastStable: r.LastStableOffset(), LogEndOffset: r.Log.LogEndOffset(), EpochStart: r.EpochStart(),
			Epochs: r.Log.LeaderEpochs(), Followers: r.Followers(now, &b.image), Segments: r.Log.Segments(), Bytes: r.Log.Size(), Producers: r.Log.Producers(),
		})
	}
	for _, h := range b.coordinators {
		shown := CoordinatorView{TopicPartition: h.tp}
		if h.group != nil {
			shown.Groups = h.group.View()
		} else {
			shown.Transactions = h.txn.View()
		}
		for _, w := range b.coordinatorWrites {
			if w.tp == h.tp {
				shown.Writes++
			}
		}
		v.Coordinators = append(v.Coordinators, shown)
	}
	return v
}

// LogBytes is the size of all .log files together, the metadata log's apart.
func (b *Broker) LogBytes() int {
	bytes := 0
	for _, r := range b.replicas {
		bytes += r.Log.Size()
	}
	return bytes
}

// FileCount is how many files are on the broker's disk.
func (b *Broker) FileCount() int { return b.disk.Files() }

// CloneBytes estimates the memory that a clone takes by itself once it has gone on: its list of files, what
// it knows of each replica, and the active segments.
func (b *Broker) CloneBytes() int {
	const perFile, perReplica, perCoordinator = 56, 800, 4000
	bytes := perFile*b.disk.Files() + perCoordinator*len(b.coordinators)
	for _, r := range b.replicas {
		bytes += perReplica + r.Log.CloneBytes()
	}
	if b.metadata.log != nil {
		bytes += b.metadata.log.CloneBytes()
	}
	return bytes
}

// Replica gives the broker's replica of a partition, nil while none is open. It is only read.
func (b *Broker) Replica(tp kafka.TopicPartition) *replication.Replica { return b.replica(tp) }

// LogOnDisk gives what the disk holds of a partition, its process running or not; nil: nothing.
func (b *Broker) LogOnDisk(tp kafka.TopicPartition) []storage.Segment {
	return storage.Peek(b.disk, tp.String())
}

// Knows says whether the broker's metadata has a topic with that many partitions.
func (b *Broker) Knows(topic string, partitions int) bool {
	known, ok := b.image.Topic(topic)
	return ok && len(known.Partitions) >= partitions
}

// GroupHeld gives what this broker has of a group as its coordinator, nil if it knows of no such group; leads is false
// where it is not the coordinator.
func (b *Broker) GroupHeld(p kafka.Partition, id string) (held *group.GroupView, leads bool) {
	h := b.coordinator(kafka.TopicPartition{Topic: group.Topic, Partition: p})
	if h == nil {
		return nil, false
	}
	for _, g := range h.group.View() {
		if g.ID == id {
			return &g, true
		}
	}
	return nil, true
}

// TransactionHeld gives what this broker has of a transactional.id as its coordinator, nil if it knows of none; leads is
// false where it is not the coordinator.
func (b *Broker) TransactionHeld(id string) (held *txn.TransactionView, leads bool) {
	h := b.coordinator(b.transactionsPartition(id))
	if h == nil {
		return nil, false
	}
	for _, t := range h.txn.View() {
		if t.TransactionalID == id {
			return &t, true
		}
	}
	return nil, true
}
