package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simdisk"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// Topic is what a broker knows of a topic that it leads.
type Topic struct {
	Name       string
	ID         [16]byte
	Partitions int // at its creation
	Config     storage.Config
}

// partition is one partition that this broker leads.
type partition struct {
	tp            kafka.TopicPartition
	log           *storage.Log
	highWatermark kafka.Offset // exclusive
	leaderEpoch   kafka.LeaderEpoch
}

// Broker is one node.
type Broker struct {
	id         kafka.BrokerID
	node       kafka.NodeID
	cluster    string          // the cluster's id
	start      kafka.Timestamp // the wall clock at virtual time 0
	disk       *simdisk.Disk
	topic      Topic
	partitions []partition   // by index
	parked     []parkedFetch // in the order they came
}

// New makes a broker that leads every partition of one empty topic. Cluster is the cluster's id, start the
// wall clock's reading at virtual time 0; records that need the broker's clock are stamped with it plus the
// virtual time.
func New(id kafka.BrokerID, cluster string, start kafka.Timestamp, topic Topic) *Broker {
	b := &Broker{id: id, node: NodeID(id), cluster: cluster, start: start, disk: &simdisk.Disk{}, topic: topic}
	for range topic.Partitions {
		b.addPartition(start)
	}
	return b
}

// NodeID gives the name of a broker on the network: "b1" for broker 1.
func NodeID(id kafka.BrokerID) kafka.NodeID { return kafka.NodeID(fmt.Sprintf("b%d", id)) }

// Node gives the broker's name on the network.
func (b *Broker) Node() kafka.NodeID { return b.node }

// clock gives the wall clock at now.
func (b *Broker) clock(now kafka.Millis) kafka.Timestamp { return b.start + kafka.Timestamp(now) }

// Receive handles one delivered message. Cause is the Seq of the event that says it was delivered.
func (b *Broker) Receive(now kafka.Millis, m *simnet.Message, cause uint64, j *journal.Journal) []simnet.Send {
	switch request := m.Request.(type) {
	case *kmsg.ProduceRequest:
		return b.produce(now, m, request, cause, j)
	case *kmsg.FetchRequest:
		return b.fetch(now, m, request, cause, j)
	case *kmsg.ListOffsetsRequest:
		return answer(m, b.listOffsets(request), cause)
	case *kmsg.MetadataRequest:
		return answer(m, b.metadata(request), cause)
	case *kmsg.CreatePartitionsRequest:
		return b.createPartitions(now, m, request, cause, j)
	}
	panic(fmt.Sprintf("broker %d: no handler for %s", b.id, m.API()))
}

// answer makes the one response to a request.
func answer(m *simnet.Message, response kmsg.Response, cause uint64) []simnet.Send {
	return []simnet.Send{{To: m.From, Response: response, Correlation: m.Correlation, Connection: m.Connection, Cause: cause}}
}

// NextDue is when the first parked fetch has waited long enough; ok is false when none is parked.
func (b *Broker) NextDue() (due kafka.Millis, ok bool) {
	for i, p := range b.parked {
		if i == 0 || p.deadline < due {
			due, ok = p.deadline, true
		}
	}
	return due, ok
}

// Tick answers the parked fetches whose wait is over.
func (b *Broker) Tick(now kafka.Millis, j *journal.Journal) []simnet.Send {
	return b.completeFetches(func(p parkedFetch) (uint64, bool) { return p.parked, p.deadline <= now })
}

// find gives the partition that a request names, or the protocol's error for one that is not here.
func (b *Broker) find(topicID [16]byte, index int32) (*partition, error) {
	if topicID != b.topic.ID {
		return nil, kerr.UnknownTopicID
	}
	if index < 0 || int(index) >= len(b.partitions) {
		return nil, kerr.UnknownTopicOrPartition
	}
	return &b.partitions[index], nil
}

// Clone gives a broker in the same state; see storage and simdisk for what is shared.
func (b *Broker) Clone() *Broker {
	c := *b
	c.disk = b.disk.Clone()
	c.partitions = make([]partition, len(b.partitions))
	for i, p := range b.partitions {
		p.log = p.log.Clone(c.disk)
		c.partitions[i] = p
	}
	c.parked = append([]parkedFetch(nil), b.parked...)
	return &c
}
