package engine

import (
	"loglab/engine/broker"
	"loglab/engine/client"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// View is the cluster at one moment as an immutable value: sorted slices, no live pointers. Its JSON
// names are those of the command line's "state".
type View struct {
	Tick        kafka.Tick      `json:"tick"`
	Now         kafka.Millis    `json:"now_ms"` // virtual time
	Brokers     []BrokerView    `json:"brokers"`
	Partitions  []PartitionView `json:"partitions"` // by index
	Groups      []GroupView     `json:"groups"`
	Producers   []ProducerView  `json:"producers"`
	Source      SourceView      `json:"source"`             // what the producers' applications have published
	Destination DestinationView `json:"destination"`        // what the consumers' applications have written
	UnderWay    []MessageView   `json:"messages_under_way"` // in the order of delivery
}

// SourceView is what the source of the producers' applications has given out.
type SourceView = client.SourceView

// Sight is one event as the destination saw it.
type Sight = client.Sight

// DestinationView is what the destination of the consumers' applications holds.
type DestinationView = client.DestinationView

// BrokerView is one broker.
type BrokerView struct {
	ID     kafka.BrokerID `json:"id"`
	Node   kafka.NodeID   `json:"node"`
	Paused bool           `json:"paused"`
	Parked int            `json:"parked_fetches"`
}

// PartitionView is one partition as its leader has it.
type PartitionView struct {
	kafka.TopicPartition
	Leader      kafka.BrokerID       `json:"leader"`
	LeaderEpoch kafka.LeaderEpoch    `json:"leader_epoch"`
	ISR         []kafka.BrokerID     `json:"isr"`
	Replicas    []ReplicaView        `json:"replicas"`
	Log         broker.PartitionView `json:"-"` // the leader's log with its bytes
}

// ReplicaView is one replica's log in numbers.
type ReplicaView struct {
	Broker           kafka.BrokerID `json:"broker"`
	LogStartOffset   kafka.Offset   `json:"log_start_offset"`   // inclusive
	LogEndOffset     kafka.Offset   `json:"log_end_offset"`     // exclusive
	HighWatermark    kafka.Offset   `json:"high_watermark"`     // exclusive
	LastStableOffset kafka.Offset   `json:"last_stable_offset"` // exclusive
	Segments         int            `json:"segments"`
	Bytes            int            `json:"log_bytes"`
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
}

// MemberView is one member of a group.
type MemberView struct {
	ID         kafka.MemberID `json:"id"`
	Paused     bool           `json:"paused"`
	Assignment []PositionView `json:"assignment"`         // sorted by partition; empty: idle
	Rule       string         `json:"rule"`               // the assignor's arithmetic for this member
	Known      int            `json:"known_partitions"`   // as its metadata has it
	Refresh    kafka.Millis   `json:"metadata_due_at_ms"` // when it asks again
}

// PositionView is how far a member has read one partition.
type PositionView struct {
	kafka.TopicPartition
	Position kafka.Offset `json:"position"` // next to read; -1: not known yet
	Read     int          `json:"records_read"`
	Lag      int64        `json:"lag"` // high watermark minus position
}

// ProducerView is one producer in numbers of records.
type ProducerView struct {
	ID           kafka.NodeID `json:"id"`
	Paused       bool         `json:"paused"`
	Produced     int          `json:"produced"`
	Waiting      int          `json:"waiting"` // in batches not sent yet
	Acknowledged int          `json:"acknowledged"`
	Failed       int          `json:"failed"`
	Sending      bool         `json:"sending"`            // its application hands in the workload
	Known        int          `json:"known_partitions"`   // as its metadata has it
	Refresh      kafka.Millis `json:"metadata_due_at_ms"` // when it asks again
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
	v := View{Tick: c.tick, Now: c.now, Brokers: []BrokerView{}, Groups: []GroupView{}, Producers: []ProducerView{}, UnderWay: []MessageView{}}
	for _, b := range c.brokers {
		v.Brokers = append(v.Brokers, BrokerView{ID: brokerID, Node: b.Node(), Paused: c.inboxOf(b.Node()) != nil, Parked: b.ParkedFetches()})
		for _, p := range b.Partitions() {
			v.Partitions = append(v.Partitions, partitionView(p))
		}
	}
	group := GroupView{ID: c.spec.Group.Name, Assignor: c.spec.Group.Assignor, Members: []MemberView{}, Divided: c.divided}
	for _, n := range c.clients {
		if n.consumer != nil {
			group.Members = append(group.Members, c.memberView(n.consumer, v.Partitions))
			continue
		}
		p := n.producer.View()
		v.Producers = append(v.Producers, ProducerView{
			ID: p.Node, Paused: c.inboxOf(p.Node) != nil, Produced: p.Produced, Waiting: p.Waiting, Acknowledged: p.Acknowledged, Failed: p.Failed,
			Sending: p.Sending, Known: p.Known, Refresh: p.Refresh,
		})
	}
	for _, m := range group.Members {
		for _, a := range m.Assignment {
			group.Lag += a.Lag
		}
	}
	group.Waiting = len(group.Members) > 0 && group.Members[0].Known > c.divided
	v.Groups = append(v.Groups, group)
	v.Source = c.outside.Source.View()
	v.Destination = c.outside.Destination.View()
	for _, p := range c.paused {
		for _, m := range p.inbox {
			v.UnderWay = append(v.UnderWay, messageView(m, true))
		}
	}
	for _, m := range c.net.UnderWay() {
		v.UnderWay = append(v.UnderWay, messageView(m, false))
	}
	return v
}

func partitionView(p broker.PartitionView) PartitionView {
	return PartitionView{
		TopicPartition: p.TopicPartition, Leader: brokerID, LeaderEpoch: p.LeaderEpoch, ISR: []kafka.BrokerID{brokerID},
		Replicas: []ReplicaView{{
			Broker: brokerID, LogStartOffset: p.LogStartOffset, LogEndOffset: p.LogEndOffset, HighWatermark: p.HighWatermark,
			LastStableOffset: p.HighWatermark, Segments: len(p.Segments), Bytes: p.Bytes,
		}},
		Log: p,
	}
}

func (c *Cluster) memberView(n *client.Consumer, partitions []PartitionView) MemberView {
	v := n.View()
	m := MemberView{ID: kafka.MemberID(v.Node), Paused: c.inboxOf(v.Node) != nil, Assignment: []PositionView{}, Known: v.Known, Refresh: v.Refresh}
	for _, known := range c.members {
		if known.node == v.Node {
			m.Rule = known.rule
		}
	}
	for _, a := range v.Partitions {
		p := partitions[a.Partition]
		lag := int64(p.Log.HighWatermark - max(a.Position, p.Log.LogStartOffset))
		m.Assignment = append(m.Assignment, PositionView{TopicPartition: p.TopicPartition, Position: a.Position, Read: a.Read, Lag: lag})
	}
	return m
}

func messageView(m *simnet.Message, held bool) MessageView {
	return MessageView{
		ID: m.ID, From: m.From, To: m.To, API: m.API(), Version: m.Version(), Answer: m.IsResponse(), DueAt: m.DueAt, Held: held, Message: m,
	}
}
