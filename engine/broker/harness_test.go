package broker

import (
	"fmt"
	"maps"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/controller"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

const (
	controllerNode kafka.NodeID    = "controller"
	clientNode     kafka.NodeID    = "x0"
	startTime      kafka.Timestamp = 1_767_225_600_000
)

// cluster is some brokers, a controller, and a client that the test speaks for.
type cluster struct {
	t           *testing.T
	net         simnet.Net
	controller  *controller.Controller
	brokers     []*Broker
	j           journal.Journal
	now         kafka.Millis
	correlation int32
	answers     map[int32]kmsg.Response
	topicIDs    map[string][16]byte
}

// newCluster starts brokers and waits until they are unfenced. Used are the partitions of __consumer_offsets in use.
func newCluster(t *testing.T, brokers int, used []kafka.Partition, change func(*Config)) *cluster {
	t.Helper()
	c := &cluster{t: t, answers: map[int32]kmsg.Response{}, topicIDs: map[string][16]byte{}}
	rnd := prng.New(1)
	config := controller.DefaultConfig()
	config.Node, config.ClusterID, config.Rand, config.Start, config.InUse = controllerNode, "cluster", rnd.Split("controller"), startTime, offsetsPartitions(used)
	c.controller = controller.New(config)
	nodes := []kafka.NodeID{controllerNode, clientNode}
	for i := range brokers {
		config := DefaultConfig(kafka.BrokerID(i + 1))
		config.ClusterID, config.Start, config.Controller, config.Rand, config.InUse = "cluster", startTime, controllerNode, rnd.Split("broker"), offsetsPartitions(used)
		config.OffsetsTopicReplicationFactor = min(3, brokers)
		if change != nil {
			change(&config)
		}
		c.brokers = append(c.brokers, New(config))
		nodes = append(nodes, NodeID(config.ID))
	}
	c.net = simnet.New(1, nodes)
	for _, b := range c.brokers {
		c.send(b.Node(), b.Start(c.now, 0, &c.j))
	}
	c.run(100)
	for _, b := range c.brokers {
		if b.State() != Running || b.lifecycle.fenced {
			t.Fatalf("%s is %s, fenced %t", b.node, b.State(), b.lifecycle.fenced)
		}
	}
	return c
}

// send puts on the network what a node wants sent.
func (c *cluster) send(from kafka.NodeID, sends []simnet.Send) {
	for _, s := range sends {
		switch s.Close {
		case simnet.CloseOwn:
			c.net.CloseOwn(from, s.To)
		case simnet.CloseTheir:
			c.net.CloseTheir(c.now, from, s.To)
		default:
			c.net.Send(c.now, from, s)
		}
	}
}

func (c *cluster) broker(node kafka.NodeID) *Broker {
	for _, b := range c.brokers {
		if b.node == node {
			return b
		}
	}
	return nil
}

// run lets time pass.
func (c *cluster) run(span kafka.Millis) {
	c.t.Helper()
	for end := c.now + span; c.step(end); {
	}
}

// step goes to the next moment at which something is due; false: that is not before end, which is now.
func (c *cluster) step(end kafka.Millis) bool {
	due := end
	consider := func(at kafka.Millis, ok bool) {
		if ok {
			due = min(due, at)
		}
	}
	consider(c.net.NextDue())
	consider(c.controller.NextDue())
	for _, b := range c.brokers {
		consider(b.NextDue())
	}
	c.now = max(c.now, due)
	if c.now >= end {
		return false
	}
	for {
		m, fate, ok := c.net.Deliver(c.now)
		if !ok {
			break
		}
		if fate == simnet.Arrived {
			c.arrived(m)
		}
	}
	if due, _ := c.controller.NextDue(); due <= c.now {
		c.send(controllerNode, c.controller.Tick(c.now, &c.j))
	}
	for _, b := range c.brokers {
		if due, ok := b.NextDue(); ok && due <= c.now {
			c.send(b.node, b.Tick(c.now, &c.j))
		}
	}
	return true
}

func (c *cluster) arrived(m *simnet.Message) {
	b := c.broker(m.To)
	switch {
	case b != nil && !b.Up(), b != nil && b.State() == Starting && m.Request != nil:
		if m.Request != nil {
			c.net.Refuse(c.now, m)
		}
	case b != nil && m.IsReset():
		c.send(b.node, b.Disconnected(c.now, m.From, 0, &c.j))
	case b != nil:
		seq := c.j.Append(m.To, 0, journal.MessageDelivered{Message: m.ID, From: m.From, API: m.API(), Response: m.IsResponse()})
		c.send(b.node, b.Receive(c.now, m, seq, &c.j))
	case m.To == controllerNode && m.Request != nil:
		c.send(controllerNode, c.controller.Receive(c.now, m, 0, &c.j))
	case m.To == clientNode && m.Response != nil:
		response := m.Response
		c.answers[m.Correlation] = response
		if again := response.AppendTo(nil); response.ReadFrom(again) != nil {
			c.t.Errorf("the answer %T cannot be read", response)
		}
	}
}

// begin sends a request of the client and gives the number under which its answer will be kept.
func (c *cluster) begin(to kafka.NodeID, r kmsg.Request) int32 {
	c.correlation++
	c.send(clientNode, []simnet.Send{{To: to, Request: r, Correlation: c.correlation}})
	return c.correlation
}

// answer waits for the answer to a request, at most for as long as a client does.
func answer[T kmsg.Response](c *cluster, number int32) T {
	c.t.Helper()
	for end := c.now + 30_000; c.answers[number] == nil; {
		if !c.step(end) {
			c.t.Fatalf("no answer to request %d", number)
		}
	}
	return c.answers[number].(T)
}

// ask sends a request and waits for its answer.
func ask[T kmsg.Response](c *cluster, to kafka.NodeID, r kmsg.Request) T {
	c.t.Helper()
	return answer[T](c, c.begin(to, r))
}

// create makes a topic of one partition per list of replicas.
func (c *cluster) create(topic string, replicas ...[]int32) {
	c.t.Helper()
	r := kmsg.NewPtrCreateTopicsRequest()
	r.Version = createTopicsVersion
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, -1, -1
	for i, list := range replicas {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(i), list
		rt.ReplicaAssignment = append(rt.ReplicaAssignment, a)
	}
	r.Topics = append(r.Topics, rt)
	created := ask[*kmsg.CreateTopicsResponse](c, controllerNode, r).Topics[0]
	if created.ErrorCode != 0 {
		c.t.Fatalf("topic %s: %s", topic, errorName(created.ErrorCode))
	}
	c.topicIDs[topic] = created.TopicID
	c.run(100)
}

// produce writes values to partition 0 of a topic, a batch each, with these timestamps.
func (c *cluster) produce(to kafka.NodeID, topic string, timestamps ...kafka.Timestamp) {
	c.t.Helper()
	for _, ts := range timestamps {
		if code := ask[*kmsg.ProduceResponse](c, to, c.produceRequest(topic, ts, -1)).Topics[0].Partitions[0].ErrorCode; code != 0 {
			c.t.Fatalf("produce: %s", errorName(code))
		}
	}
}

// produceRequest makes a request with one record for partition 0 of a topic.
func (c *cluster) produceRequest(topic string, ts kafka.Timestamp, acks int16) *kmsg.ProduceRequest {
	c.t.Helper()
	builder := record.NewBuilder(record.Options{})
	builder.Append(ts, nil, []byte("value"))
	batch, err := builder.Build()
	if err != nil {
		c.t.Fatal(err)
	}
	r := kmsg.NewPtrProduceRequest()
	r.Version, r.Acks, r.TimeoutMillis = 13, acks, 30_000
	rt := kmsg.NewProduceRequestTopic()
	rt.TopicID = c.topicIDs[topic]
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Records = batch
	rt.Partitions = append(rt.Partitions, rp)
	r.Topics = append(r.Topics, rt)
	return r
}

// find asks a broker for a group's coordinator: "b2", or an error.
func (c *cluster) find(at kafka.NodeID, groupID string) string {
	c.t.Helper()
	r := kmsg.NewPtrFindCoordinatorRequest()
	r.Version, r.CoordinatorKeys = 6, []string{groupID}
	found := ask[*kmsg.FindCoordinatorResponse](c, at, r).Coordinators[0]
	if found.Key != groupID {
		c.t.Fatalf("asked for %s, told of %s", groupID, found.Key)
	}
	if found.ErrorCode != 0 {
		return errorName(found.ErrorCode)
	}
	return found.Host
}

// findAtLast asks until there is a coordinator, as a client does.
func (c *cluster) findAtLast(at kafka.NodeID, groupID string) kafka.NodeID {
	c.t.Helper()
	for range 200 {
		if found := c.find(at, groupID); found[0] == 'b' {
			return kafka.NodeID(found)
		}
		c.run(100)
	}
	c.t.Fatalf("no coordinator of %s", groupID)
	return ""
}

// kill ends a broker's process.
func (c *cluster) kill(node kafka.NodeID) {
	c.broker(node).Kill()
	c.net.Die(c.now, node, true)
}

// start starts a broker's process and waits until it is in sync everywhere.
func (c *cluster) start(node kafka.NodeID) {
	b := c.broker(node)
	c.send(node, b.Start(c.now, 0, &c.j))
	c.run(15_000)
}

// cut cuts the links between two nodes, or heals them.
func (c *cluster) cut(a, b kafka.NodeID, cut bool) {
	c.net.SetFaults(c.now, a, b, simnet.Faults{Cut: cut})
	c.net.SetFaults(c.now, b, a, simnet.Faults{Cut: cut})
}

func errorName(code int16) string {
	if code == 0 {
		return "ok"
	}
	return kerr.TypedErrorForCode(code).Message
}

// events gives the bodies of one kind with the node.
func events[T journal.Body](c *cluster) (list []string) {
	for e := range c.j.All() {
		if body, ok := e.Body.(T); ok {
			list = append(list, fmt.Sprint(e.Node, " ", body.Text()))
		}
	}
	return list
}

// offsetsTopic names a partition of __consumer_offsets.
func offsetsTopic(p kafka.Partition) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: group.Topic, Partition: p}
}

// clone gives a cluster in the same state.
func (c *cluster) clone() *cluster {
	n := *c
	n.net, n.controller, n.j, n.answers = c.net.Clone(), c.controller.Clone(), c.j.Clone(), maps.Clone(c.answers)
	n.brokers = nil
	for _, b := range c.brokers {
		n.brokers = append(n.brokers, b.Clone())
	}
	return &n
}

func offsetsPartitions(used []kafka.Partition) (list []kafka.TopicPartition) {
	for _, p := range used {
		list = append(list, kafka.TopicPartition{Topic: kafka.OffsetsTopic, Partition: p})
	}
	return list
}
