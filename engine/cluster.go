package engine

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"loglab/engine/broker"
	"loglab/engine/client"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// StartTime is the wall clock at tick 0 of every run, which is virtual time 0: 2026-01-01T00:00:00Z.
const StartTime kafka.Timestamp = 1767225600000

// Cluster is one run at one moment. It is not safe for concurrent use; a cluster that nobody ticks or
// applies commands to may be cloned by many at once.
type Cluster struct {
	spec    *Spec
	tick    kafka.Tick
	now     kafka.Millis
	journal journal.Journal
	net     simnet.Net
	brokers []*broker.Broker
	clients []clientNode // consumers by number, then producers by number
	admin   *client.Admin
	outside client.Outside
	members []member // shared by clones, never written; made anew when the group is divided anew
	divided int      // partitions that the members share
	paused  []pausedNode
	broken  error // the bound that ended the run
}

// clientNode holds one client; exactly one of the two is set.
type clientNode struct {
	producer *client.Producer
	consumer *client.Consumer
}

// pausedNode is a node whose process stands still, with what has arrived for it.
type pausedNode struct {
	node  kafka.NodeID
	inbox []*simnet.Message
}

// brokerID is the one broker of a run.
const brokerID kafka.BrokerID = 1

// adminNode is the client of whoever operates the cluster.
const adminNode kafka.NodeID = "admin"

// New makes the cluster of a spec at tick 0, its prologue done. The spec must not be changed afterwards.
// Seed decides every random draw of the run.
func New(spec *Spec, seed uint64) (*Cluster, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	rnd := prng.New(seed)
	c := &Cluster{spec: spec}
	clusterID := uuid(rnd.Split("cluster id"))
	topic := broker.Topic{Name: spec.Topic.Name, ID: uuid(rnd.Split("topic ids")), Partitions: spec.Topic.Partitions, Config: spec.Topic.Config}
	c.brokers = []*broker.Broker{broker.New(brokerID, base64.RawURLEncoding.EncodeToString(clusterID[:]), StartTime, topic)}
	b := c.brokers[0].Node()
	nodes := []kafka.NodeID{b}
	created := c.journal.Append(b, 0, journal.TopicCreated{Topic: topic.Name, Partitions: topic.Partitions})
	c.outside.Destination.CheckVersions = spec.Group.CheckVersions
	c.divide(topic.Partitions, created)
	for _, m := range c.members {
		node := client.NewConsumer(m.node, []kafka.NodeID{b}, spec.Group.Config, m.partitions)
		c.clients, nodes = append(c.clients, clientNode{consumer: node}), append(nodes, m.node)
	}
	for i, p := range spec.Producers {
		id := kafka.NodeID(fmt.Sprintf("p%d", i))
		node, err := client.NewProducer(id, []kafka.NodeID{b}, StartTime, p.Config, p.Workload, rnd.Split("producer "+string(id)), rnd.Split("workload"))
		if err != nil {
			return nil, err
		}
		c.clients, nodes = append(c.clients, clientNode{producer: node}), append(nodes, id)
	}
	c.admin = client.NewAdmin(adminNode, b)
	c.net = simnet.New(spec.Latency, append(nodes, adminNode))
	return c, c.prologue()
}

// uuid draws a UUID as Kafka's Uuid.randomUuid does, which gives version 4.
func uuid(rnd prng.Rand) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], rnd.Uint64())
	binary.BigEndian.PutUint64(id[8:], rnd.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// prologueHops is how long the prologue lasts, in latencies: metadata and offsets take four, the first
// fetch one.
const prologueHops = 6

// prologue lets the clients find their topic and positions in the time before 0, then starts the
// workloads at 0.
func (c *Cluster) prologue() error {
	c.now = -prologueHops * c.spec.Latency
	if err := c.runUntil(0); err != nil {
		return err
	}
	if !c.settled() {
		panic(fmt.Sprintf("engine: the prologue has not settled in %d hops", prologueHops))
	}
	for _, n := range c.clients {
		if n.producer != nil {
			n.producer.StartSending(c.now)
		}
	}
	return nil
}

// settled says whether every client knows its topic and where to read.
func (c *Cluster) settled() bool {
	for _, n := range c.clients {
		if n.producer != nil && !n.producer.Ready() || n.consumer != nil && !n.consumer.Ready() {
			return false
		}
	}
	return true
}

// Tick lets tick.ms of virtual time pass. After an error the run is over and Tick does nothing more.
func (c *Cluster) Tick() error {
	if c.broken != nil {
		return c.broken
	}
	c.tick++
	c.journal.Tick = c.tick
	return c.runUntil(c.now + c.spec.TickMillis)
}

// Journal gives what has happened so far. It belongs to the cluster: only read it, and not after the
// next Tick or Apply unless from a clone.
func (c *Cluster) Journal() *journal.Journal { return &c.journal }

// Now gives the number of ticks so far and the virtual time.
func (c *Cluster) Now() (kafka.Tick, kafka.Millis) { return c.tick, c.now }

// Clone gives a cluster in the same state that goes on by itself. What both have seen is shared.
func (c *Cluster) Clone() *Cluster {
	n := *c
	n.journal = c.journal.Clone()
	n.net = c.net.Clone()
	n.brokers = make([]*broker.Broker, len(c.brokers))
	for i, b := range c.brokers {
		n.brokers[i] = b.Clone()
	}
	n.clients = make([]clientNode, len(c.clients))
	for i, node := range c.clients {
		if node.producer != nil {
			n.clients[i].producer = node.producer.Clone()
		} else {
			n.clients[i].consumer = node.consumer.Clone()
		}
	}
	n.admin = c.admin.Clone()
	n.outside = c.outside.Clone()
	n.paused = make([]pausedNode, len(c.paused))
	for i, p := range c.paused {
		n.paused[i] = pausedNode{p.node, append([]*simnet.Message(nil), p.inbox...)}
	}
	return &n
}
