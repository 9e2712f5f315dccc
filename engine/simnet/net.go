package simnet

import (
	"fmt"
	"slices"

	"loglab/engine/kafka"
)

// Net is the network of one cluster.
type Net struct {
	latency kafka.Millis
	nodes   []kafka.NodeID // in the order of delivery at equal times; never changed
	sent    uint64         // messages sent so far
	queue   []*Message     // under way, in the order of delivery
}

// New makes a network whose messages take latency, at least 1 ms. The order of nodes decides which of
// two messages that arrive at the same time is delivered first.
func New(latency kafka.Millis, nodes []kafka.NodeID) Net {
	return Net{latency: max(latency, 1), nodes: nodes}
}

// Send puts one message on its link and returns it. It panics if a node is not on the network: that is
// a fault of the engine, not of its input.
func (n *Net) Send(now kafka.Millis, from kafka.NodeID, s Send) *Message {
	n.sent++
	m := &Message{
		ID: n.sent, From: from, To: s.To, Request: s.Request, Response: s.Response, Correlation: s.Correlation,
		SentAt: now, DueAt: now + n.latency, link: n.index(from)*len(n.nodes) + n.index(s.To),
	}
	at, _ := slices.BinarySearchFunc(n.queue, m, compare)
	n.queue = slices.Insert(n.queue, at, m)
	return m
}

// compare orders by time of arrival, then link, then sequence.
func compare(a, b *Message) int {
	switch {
	case a.DueAt != b.DueAt:
		return int(a.DueAt - b.DueAt)
	case a.link != b.link:
		return a.link - b.link
	}
	return int(a.ID) - int(b.ID)
}

func (n *Net) index(node kafka.NodeID) int {
	i := slices.Index(n.nodes, node)
	if i < 0 {
		panic(fmt.Sprintf("simnet: node %q is not one of %v", node, n.nodes))
	}
	return i
}

// NextDue is when the next message arrives; ok is false when none is under way.
func (n *Net) NextDue() (due kafka.Millis, ok bool) {
	if len(n.queue) == 0 {
		return 0, false
	}
	return n.queue[0].DueAt, true
}

// Deliver takes the first message that has arrived by now off the network; ok is false when there is none.
func (n *Net) Deliver(now kafka.Millis) (m *Message, ok bool) {
	if len(n.queue) == 0 || n.queue[0].DueAt > now {
		return nil, false
	}
	m = n.queue[0]
	n.queue = n.queue[1:]
	return m, true
}

// UnderWay gives the messages on their way, in the order of delivery. The slice is the caller's own.
func (n *Net) UnderWay() []*Message { return slices.Clone(n.queue) }

// Clone gives a network in the same state. Messages are shared: they are never written.
func (n *Net) Clone() Net {
	c := *n
	c.queue = slices.Clone(n.queue)
	return c
}
