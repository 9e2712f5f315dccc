package engine

import (
	"slices"
	"strconv"

	"loglab/engine/broker"
	"loglab/engine/client"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/replication"
	"loglab/engine/simnet"
	"loglab/engine/storage"
	"loglab/engine/txn"
)

// View is the cluster at one moment as an immutable value: sorted slices, no live pointers. Its JSON
// names are those of the command line's "state".
type View struct {
	Tick              kafka.Tick          `json:"tick"`
	Now               kafka.Millis        `json:"now_ms"` // virtual time
	Controller        ControllerView      `json:"controller"`
	Brokers           []BrokerView        `json:"brokers"`
	Partitions        []PartitionView     `json:"partitions"`                             // of the run's topics in the order of the spec, by index
	Offsets           []PartitionView     `json:"offsets_partitions,omitempty"`           // of __consumer_offsets, those on which a group lives
	TransactionStates []PartitionView     `json:"transaction_state_partitions,omitempty"` // of __transaction_state, those on which a transactional.id lives
	Groups            []GroupView         `json:"groups"`
	Transactions      []TransactionalView `json:"transactions,omitempty"` // by transactional.id
	Producers         []ProducerView      `json:"producers"`
	Source            SourceView          `json:"source"`             // what the producers' applications have published
	Destination       DestinationView     `json:"destination"`        // what the consumers' applications have written
	UnderWay          []MessageView       `json:"messages_under_way"` // in the order of delivery
	Faulty            []LinkView          `json:"faulty_links"`       // by sender, then receiver
}

// LinkView is the way from one node to another where something is wrong with it.
type LinkView struct {
	From   kafka.NodeID `json:"from"`
	To     kafka.NodeID `json:"to"`
	Cut    bool         `json:"cut"`      // nothing passes
	Delay  kafka.Millis `json:"delay_ms"` // on top of the network's latency
	Drop   int          `json:"drop"`     // of the next messages to arrive
	Double int          `json:"double"`   // of the next messages to arrive
}

// SourceView is what the source of the producers' applications has given out.
type SourceView = client.SourceView

// WriterView is all that can be seen of a producer, of its own process or inside an application.
type WriterView = client.ProducerView

// Sight is one event as the destination saw it.
type Sight = client.Sight

// DestinationView is what the destination of the consumers' applications holds.
type DestinationView = client.DestinationView

// ControllerView is the controller.
type ControllerView struct {
	Node         kafka.NodeID   `json:"node"`
	Paused       bool           `json:"paused"`
	LogEndOffset kafka.Offset   `json:"metadata_log_end_offset"`
	Image        metadata.Image `json:"-"` // what holds
}

// BrokerView is one broker. What it knows of the cluster may be older than what the controller has.
type BrokerView struct {
	ID             kafka.BrokerID `json:"id"`
	Node           kafka.NodeID   `json:"node"`
	Rack           string         `json:"rack"`
	State          broker.State   `json:"state"`
	Paused         bool           `json:"paused"`
	Fenced         bool           `json:"fenced"`            // as the controller has it
	Epoch          int64          `json:"broker_epoch"`      // -1: none yet
	MetadataOffset kafka.Offset   `json:"metadata_offset"`   // it has applied the records below
	DiskDelay      kafka.Millis   `json:"disk_delay_ms"`     // of each write
	LastHeartbeat  kafka.Millis   `json:"last_heartbeat_ms"` // virtual time, as the controller has it
	Session        bool           `json:"session"`           // the controller counts its process as alive by LastHeartbeat
	Parked         int            `json:"parked_fetches"`
	Waiting        int            `json:"parked_produces"`
	Image          metadata.Image `json:"-"` // what it knows
}

// Up says whether the broker's process runs.
func (b BrokerView) Up() bool { return b.State != broker.Down && b.State != broker.PowerOff }

// PartitionView is one partition as the controller has it, with the replicas as they are.
type PartitionView struct {
	kafka.TopicPartition
	Leader         kafka.BrokerID    `json:"leader"` // -1: none
	LeaderEpoch    kafka.LeaderEpoch `json:"leader_epoch"`
	PartitionEpoch int32             `json:"partition_epoch"`
	ISR            []kafka.BrokerID  `json:"isr"`
	ELR            []kafka.BrokerID  `json:"eligible_leader_replicas"`
	LastKnownELR   []kafka.BrokerID  `json:"last_known_eligible_leader_replicas"`
	MinISR         int               `json:"min_insync_replicas"` // effective: at most the number of replicas
	Replicas       []ReplicaView     `json:"replicas"`            // in the order of assignment
	Log            LogView           `json:"-"`                   // of the replica that clients are served from
}

// LogView is one replica's log with its bytes.
type LogView struct {
	LogStartOffset   kafka.Offset      // inclusive
	HighWatermark    kafka.Offset      // exclusive
	LastStableOffset kafka.Offset      // exclusive
	LogEndOffset     kafka.Offset      // exclusive
	Segments         []storage.Segment // oldest first
	Bytes            int               // of all .log files
}

// ReplicaView is one replica.
type ReplicaView struct {
	Broker           kafka.BrokerID   `json:"broker"`
	Online           bool             `json:"online"`             // its broker's process runs and has opened it
	Role             replication.Role `json:"role"`               // as its broker believes
	LogStartOffset   kafka.Offset     `json:"log_start_offset"`   // inclusive
	LogEndOffset     kafka.Offset     `json:"log_end_offset"`     // exclusive
	HighWatermark    kafka.Offset     `json:"high_watermark"`     // exclusive
	LastStableOffset kafka.Offset     `json:"last_stable_offset"` // exclusive
	Segments         int              `json:"segments"`
	Bytes            int              `json:"log_bytes"`

	Replica *broker.ReplicaView `json:"-"` // all that its broker has of it; nil: it is not online
	OnDisk  *LogOnDisk          `json:"-"` // what its broker would find if it were started; nil: it is online, or nothing
}

// GroupView is one consumer group.
type GroupView struct {
	ID       string       `json:"id"`
	Assignor string       `json:"assignor"`
	Members  []MemberView `json:"members"`
	Lag      int64        `json:"lag"` // records between position and high watermark, over all partitions
	// Divided is how many partitions the members share: those of the topic that the first member knew of
	// when they were divided.
	Divided int  `json:"divided"`
	Waiting bool `json:"waiting"` // more are known, and the group waits for a paused member to divide them
	*CoordinatedView
}

// MemberView is one member of a group.
type MemberView struct {
	ID         kafka.MemberID `json:"id"`
	Alive      bool           `json:"alive"` // its process runs
	Paused     bool           `json:"paused"`
	Assignment []PositionView `json:"assignment"`         // sorted by partition; empty: idle
	Rule       string         `json:"rule"`               // the assignor's arithmetic for this member
	Known      int            `json:"known_partitions"`   // as its metadata has it
	Refresh    kafka.Millis   `json:"metadata_due_at_ms"` // when it asks again

	Producer *client.ProducerView `json:"-"` // of an application that writes to a topic; nil: it does not

	*client.MemberView // of a group with a coordinator; nil: of one without
}

// PositionView is how far a member has read one partition.
type PositionView struct {
	kafka.TopicPartition
	Position kafka.Offset `json:"position"` // next to read; -1: not known yet
	Read     int          `json:"records_read"`
	End      kafka.Offset `json:"end"` // exclusive: the high watermark, under read_committed the last stable offset
	Lag      int64        `json:"lag"` // end minus position
}

// ProducerView is one producer in numbers of records.
type ProducerView struct {
	ID           kafka.NodeID `json:"id"`
	Alive        bool         `json:"alive"` // its process runs
	Paused       bool         `json:"paused"`
	Produced     int          `json:"produced"`
	Waiting      int          `json:"waiting"` // in batches not sent yet
	Acknowledged int          `json:"acknowledged"`
	Failed       int          `json:"failed"`
	Skew         kafka.Millis `json:"clock_skew_ms"`      // by which its clock is ahead; below 0: behind
	Sending      bool         `json:"sending"`            // its application hands in the workload
	Known        int          `json:"known_partitions"`   // as its metadata has it
	Refresh      kafka.Millis `json:"metadata_due_at_ms"` // when it asks again

	Producer *client.ProducerView `json:"-"` // all of it
}

// MessageView is one message on its way.
type MessageView struct {
	ID      uint64       `json:"id"`
	From    kafka.NodeID `json:"from"`
	To      kafka.NodeID `json:"to"`
	API     string       `json:"api"`
	Version int16        `json:"version"`
	Answer  bool         `json:"response"`
	DueAt   kafka.Millis `json:"due_at_ms"`
	Held    bool         `json:"held"` // it has arrived and waits for a paused process

	Message *simnet.Message `json:"-"` // frozen
}

// View gives the cluster's state.
func (c *Cluster) View() View {
	v := View{Tick: c.tick, Now: c.now, Brokers: []BrokerView{}, Groups: []GroupView{}, Producers: []ProducerView{}, UnderWay: []MessageView{}, Faulty: c.faultyLinks()}
	c.viewCluster(&v)
	static := GroupView{ID: c.spec.Group.Name, Assignor: c.spec.Group.Assignor, Members: []MemberView{}, Divided: c.divided}
	for _, n := range c.clients {
		if n.consumer != nil {
			if !n.consumer.IsMember() {
				static.Members = append(static.Members, c.memberView(n.consumer, v.Partitions))
			}
			continue
		}
		p := n.producer.View()
		v.Producers = append(v.Producers, ProducerView{
			ID: p.Node, Alive: p.Alive, Paused: c.inboxOf(p.Node) != nil, Produced: p.Produced, Waiting: p.Waiting, Acknowledged: p.Acknowledged, Failed: p.Failed,
			Skew: n.producer.Skew(), Sending: p.Sending, Known: p.Known, Refresh: p.Refresh, Producer: &p,
		})
	}
	for _, m := range static.Members {
		for _, a := range m.Assignment {
			static.Lag += a.Lag
		}
	}
	static.Waiting = len(static.Members) > 0 && static.Members[0].Known > c.divided
	if c.spec.Group.Name != "" {
		v.Groups = append(v.Groups, static)
	}
	for i := range c.spec.Groups {
		v.Groups = append(v.Groups, c.groupView(&c.spec.Groups[i], &v))
	}
	v.Transactions = c.transactionalViews(v.Controller.Image)
	v.Source = c.outside.Source.View()
	v.Destination = c.outside.Destination.View()
	for _, p := range c.paused {
		for _, m := range p.inbox {
			v.UnderWay = append(v.UnderWay, messageView(m, true))
		}
	}
	for _, m := range c.net.Waiting() {
		v.UnderWay = append(v.UnderWay, messageView(m, true))
	}
	for _, m := range c.net.UnderWay() {
		v.UnderWay = append(v.UnderWay, messageView(m, false))
	}
	return v
}

// viewCluster fills in controller, brokers and partitions.
func (c *Cluster) viewCluster(v *View) {
	held := c.controller.View()
	v.Controller = ControllerView{Node: held.Node, Paused: c.inboxOf(held.Node) != nil, LogEndOffset: held.LogEndOffset, Image: held.Image}
	var each []broker.View
	for i, b := range c.brokers {
		seen := b.View(c.now)
		each = append(each, seen)
		known, _ := held.Image.Broker(seen.ID)
		shown := BrokerView{
			ID: seen.ID, Node: b.Node(), Rack: seen.Rack, State: seen.State, Paused: c.inboxOf(b.Node()) != nil, Fenced: known.Fenced, Epoch: seen.Epoch,
			MetadataOffset: seen.Image.Offset, DiskDelay: seen.Delay, Parked: seen.Fetches, Waiting: seen.Produces, Image: seen.Image,
		}
		if i < len(held.Brokers) {
			shown.LastHeartbeat, shown.Session = held.Brokers[i].LastHeartbeat, held.Brokers[i].HasSession
		}
		v.Brokers = append(v.Brokers, shown)
	}
	for _, tp := range c.partitions(held.Image) {
		p, _ := held.Image.Partition(tp)
		shown := c.partitionView(tp, p, held.Image, each)
		switch tp.Topic {
		case group.Topic:
			v.Offsets = append(v.Offsets, shown)
		case txn.Topic:
			v.TransactionStates = append(v.TransactionStates, shown)
		default:
			v.Partitions = append(v.Partitions, shown)
		}
	}
}

// partitionIn finds a partition among those of a view.
func partitionIn(partitions []PartitionView, tp kafka.TopicPartition) (PartitionView, bool) {
	at := slices.IndexFunc(partitions, func(p PartitionView) bool { return p.TopicPartition == tp })
	if at < 0 {
		return PartitionView{}, false
	}
	return partitions[at], true
}

func (c *Cluster) partitionView(tp kafka.TopicPartition, p metadata.Partition, image metadata.Image, each []broker.View) PartitionView {
	v := PartitionView{
		TopicPartition: tp, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch,
		ISR: orEmpty(p.ISR), ELR: orEmpty(p.ELR), LastKnownELR: orEmpty(p.LastKnownELR), MinISR: min(c.minISR(tp.Topic, image), len(p.Replicas)),
	}
	for _, id := range p.Replicas {
		r := ReplicaView{Broker: id, Role: replication.Offline}
		replicas := each[id-1].Replicas
		for i := range replicas {
			if has := &replicas[i]; has.TopicPartition == tp {
				r = ReplicaView{
					Broker: id, Online: true, Role: has.Role, LogStartOffset: has.LogStartOffset, LogEndOffset: has.LogEndOffset, HighWatermark: has.HighWatermark,
					LastStableOffset: has.LastStable, Segments: len(has.Segments), Bytes: has.Bytes, Replica: has,
				}
			}
		}
		if !r.Online {
			c.viewDisk(&r, tp)
		}
		if r.Online && (v.Log.Segments == nil || id == p.Leader) {
			v.Log = LogView{
				LogStartOffset: r.LogStartOffset, HighWatermark: r.HighWatermark, LastStableOffset: r.LastStableOffset, LogEndOffset: r.LogEndOffset, Segments: r.Replica.Segments, Bytes: r.Bytes,
			}
		}
		v.Replicas = append(v.Replicas, r)
	}
	for _, r := range v.Replicas { // nobody serves it: what a disk has
		if disk := r.OnDisk; disk != nil && (v.Log.Segments == nil || r.Broker == p.Leader && !r.Online) {
			v.Log = LogView{LogStartOffset: disk.LogStartOffset, HighWatermark: disk.HighWatermark, LastStableOffset: disk.HighWatermark, LogEndOffset: disk.LogEndOffset, Segments: disk.Segments, Bytes: disk.Bytes}
		}
	}
	return v
}

// viewDisk fills in what the broker of a replica that is not online would find on its disk.
func (c *Cluster) viewDisk(r *ReplicaView, tp kafka.TopicPartition) {
	found, ok := c.brokers[r.Broker-1].OnDisk(c.now, tp)
	if !ok {
		return
	}
	r.OnDisk = &found
	r.LogStartOffset, r.LogEndOffset, r.HighWatermark, r.LastStableOffset = found.LogStartOffset, found.LogEndOffset, found.HighWatermark, found.HighWatermark
	r.Segments, r.Bytes = len(found.Segments), found.Bytes
}

// faultyLinks lists the links with which something is wrong.
func (c *Cluster) faultyLinks() []LinkView {
	list := []LinkView{}
	for _, f := range c.net.FaultyLinks() {
		list = append(list, LinkView{From: f.From, To: f.To, Cut: f.Cut, Delay: f.Delay, Drop: f.Drop, Double: f.Double})
	}
	return list
}

// minISR gives the min.insync.replicas of the topic.
func (c *Cluster) minISR(topic string, image metadata.Image) int {
	text, ok := image.TopicSetting(topic, metadata.MinInSyncReplicas)
	if n, err := strconv.Atoi(text); ok && err == nil {
		return n
	}
	return 1
}

// orEmpty gives a list that is written as [] when it is empty.
func orEmpty(ids []kafka.BrokerID) []kafka.BrokerID {
	if ids == nil {
		return []kafka.BrokerID{}
	}
	return ids
}

func (c *Cluster) memberView(n *client.Consumer, partitions []PartitionView) MemberView {
	v := n.View()
	m := MemberView{ID: kafka.MemberID(v.Node), Alive: v.Alive, Paused: c.inboxOf(v.Node) != nil, Assignment: []PositionView{}, Known: v.Known, Refresh: v.Refresh}
	for _, known := range c.members {
		if known.node == v.Node {
			m.Rule = known.rule
		}
	}
	for _, a := range v.Partitions {
		p, known := partitionIn(partitions, a.TopicPartition)
		if !known {
			continue
		}
		end := p.Log.HighWatermark
		if n.ReadsCommitted() {
			end = p.Log.LastStableOffset
		}
		lag := max(0, int64(end-max(a.Position, p.Log.LogStartOffset))) // a leader that lost records may end before it
		m.Assignment = append(m.Assignment, PositionView{TopicPartition: p.TopicPartition, Position: a.Position, Read: a.Read, Lag: lag, End: end})
	}
	return m
}

func messageView(m *simnet.Message, held bool) MessageView {
	return MessageView{
		ID: m.ID, From: m.From, To: m.To, API: m.API(), Version: m.Version(), Answer: m.IsResponse(), DueAt: m.DueAt, Held: held, Message: m,
	}
}
