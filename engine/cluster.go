package engine

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"

	"loglab/engine/broker"
	"loglab/engine/client"
	"loglab/engine/controller"
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
	spec       *Spec
	tick       kafka.Tick
	now        kafka.Millis
	journal    journal.Journal
	net        simnet.Net
	controller *controller.Controller
	brokers    []*broker.Broker
	clients    []clientNode // consumers by number, then producers by number
	admin      *client.Admin
	outside    client.Outside
	members    []member // shared by clones, never written; made anew when the group is divided anew
	divided    int      // partitions that the members share
	paused     []pausedNode
	broken     error // the bound that ended the run
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

// The names of the nodes that every run has.
const (
	controllerNode kafka.NodeID = "controller"
	adminNode      kafka.NodeID = "admin" // the client of whoever operates the cluster
)

// New makes the cluster of a spec at tick 0, its prologue done. The spec must not be changed afterwards.
// Seed decides every random draw of the run.
func New(spec *Spec, seed uint64) (*Cluster, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	rnd := prng.New(seed)
	c := &Cluster{spec: spec}
	id := uuid(rnd.Split("cluster id"))
	c.net = simnet.New(spec.Latency, c.nodes())
	c.outside.Destination.CheckVersions = spec.Group.CheckVersions
	c.now = -c.bootSpan() - c.clientSpan() - c.prologueSpan()
	c.startNodes(base64.RawURLEncoding.EncodeToString(id[:]), rnd)
	if err := c.boot(); err != nil {
		return nil, err
	}
	if err := c.startClients(rnd); err != nil {
		return nil, err
	}
	return c, c.prologue()
}

// nodes lists all nodes of the run, in the order of delivery at equal times.
func (c *Cluster) nodes() []kafka.NodeID {
	list := []kafka.NodeID{}
	for i := range c.spec.Cluster.Brokers {
		list = append(list, broker.NodeID(kafka.BrokerID(i+1)))
	}
	list = append(list, controllerNode)
	for i := range c.spec.Group.Consumers {
		list = append(list, kafka.NodeID(memberID(i, c.spec.Group.Consumers)))
	}
	for _, g := range c.spec.Groups {
		for i := range g.Members {
			list = append(list, memberNode(g.ID, i, len(g.Members)))
		}
	}
	for i := range c.spec.Producers {
		list = append(list, producerNode(i))
	}
	return append(list, adminNode)
}

func producerNode(i int) kafka.NodeID { return kafka.NodeID(fmt.Sprintf("p%d", i)) }

// brokerNodes lists the brokers, as the clients' bootstrap.servers do.
func (c *Cluster) brokerNodes() []kafka.NodeID {
	var list []kafka.NodeID
	for _, b := range c.brokers {
		list = append(list, b.Node())
	}
	return list
}

// startNodes makes controller, brokers and admin client. None has done anything yet.
func (c *Cluster) startNodes(clusterID string, rnd *prng.Rand) {
	s := &c.spec.Cluster
	config := controller.DefaultConfig()
	config.Node, config.ClusterID, config.Rand, config.Start, config.Activated = controllerNode, clusterID, rnd.Split("controller"), StartTime, c.now
	config.BrokerSessionTimeout, config.UncleanLeaderElection, config.EligibleLeaderReplicas, config.Sabotage = s.SessionTimeout, s.UncleanElection, 0, c.spec.Sabotage
	config.InUse = c.spec.internalPartitions()
	if s.ELR {
		config.EligibleLeaderReplicas = 1
	}
	c.controller = controller.New(config)
	for i := range s.Brokers {
		config := broker.DefaultConfig(kafka.BrokerID(i + 1))
		config.ClusterID, config.Start, config.Controller, config.Rand, config.Log = clusterID, StartTime, controllerNode, rnd.Split("broker"), c.spec.Topic.Config
		config.HeartbeatInterval, config.SessionTimeout, config.ReplicaLagTimeMax, config.RackAware = s.HeartbeatInterval, s.SessionTimeout, s.ReplicaLagTimeMax, s.RackAware
		config.Sabotage, config.Log.Sabotage, config.TopicLogs = c.spec.Sabotage, c.spec.Sabotage, c.spec.topicLogs()
		config.InUse, config.OffsetsTopicReplicationFactor = c.spec.internalPartitions(), s.Groups.OffsetsReplicationFactor
		config.TransactionsTopicReplicationFactor, config.TransactionsTopicMinISR = s.Transactions.ReplicationFactor, s.Transactions.MinISR
		if s.Transactions.Version > 0 {
			config.Txn.TransactionVersion = s.Transactions.Version
		}
		if s.Transactions.AbortInterval > 0 {
			config.Txn.AbortInterval = s.Transactions.AbortInterval
		}
		config.RetentionCheckInterval, config.CleanerBackoff = s.Logs.RetentionCheckInterval, s.Logs.CleanerBackoff
		if s.MetadataFetchWait > 0 {
			config.MetadataFetchWait = s.MetadataFetchWait
		}
		if s.Groups.OffsetsSegmentBytes > 0 {
			config.OffsetsTopicSegmentBytes = s.Groups.OffsetsSegmentBytes
		}
		config.Group.InitialRebalanceDelay, config.Group.OffsetsRetention = s.Groups.InitialRebalanceDelay, s.Groups.OffsetsRetention
		if s.Groups.RetentionCheckInterval > 0 {
			config.Group.RetentionCheckInterval = s.Groups.RetentionCheckInterval
		}
		if s.Groups.ConsumerSessionTimeout > 0 {
			config.Group.ConsumerSessionTimeout = s.Groups.ConsumerSessionTimeout
		}
		if s.Groups.ConsumerHeartbeatInterval > 0 {
			config.Group.ConsumerHeartbeatInterval = s.Groups.ConsumerHeartbeatInterval
		}
		if i < len(s.Racks) {
			config.Rack = s.Racks[i]
		}
		c.brokers = append(c.brokers, broker.New(config))
	}
	c.admin = client.NewAdmin(adminNode, controllerNode, c.brokerNodes(), StartTime)
}

// startClients makes consumers and producers.
func (c *Cluster) startClients(rnd *prng.Rand) error {
	created := uint64(0)
	for e := range c.journal.All() {
		if _, ok := e.Body.(journal.TopicCreated); ok {
			created = e.Seq
		}
	}
	if c.spec.Group.Name != "" {
		c.divide(c.spec.Topic.Partitions, created)
	}
	for _, m := range c.members {
		c.clients = append(c.clients, clientNode{consumer: client.NewConsumer(m.node, c.brokerNodes(), c.spec.Group.Config, m.partitions)})
	}
	for _, g := range c.spec.Groups {
		g.Sink.Sabotage = c.spec.Sabotage
		c.outside.Sinks = append(c.outside.Sinks, client.NewSink(g.ID, g.Sink))
		for i, m := range g.Members {
			id := memberNode(g.ID, i, len(g.Members))
			m.Config.Group.App.Sabotage = c.spec.Sabotage
			member := client.NewMember(id, c.brokerNodes(), StartTime, m.Config, rnd.Split("consumer "+string(id)))
			if m.Off {
				member.Kill(0, &c.outside, &c.journal)
			}
			c.clients = append(c.clients, clientNode{consumer: member})
		}
	}
	for i, p := range c.spec.Producers {
		id := producerNode(i)
		node, err := client.NewProducer(id, c.brokerNodes(), StartTime, p.Config, p.Workload, rnd.Split("producer "+string(id)), rnd.Split("workload"))
		if err != nil {
			return err
		}
		if p.Off {
			node.Off()
		}
		c.clients = append(c.clients, clientNode{producer: node})
	}
	return nil
}

// uuid draws a UUID as Kafka's Uuid.randomUuid does, which gives version 4.
func uuid(rnd prng.Rand) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], rnd.Uint64())
	binary.BigEndian.PutUint64(id[8:], rnd.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
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
	n.controller = c.controller.Clone()
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
		n.paused[i] = pausedNode{p.node, slices.Clone(p.inbox)}
	}
	return &n
}
