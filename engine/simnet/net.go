package simnet

import (
	"fmt"
	"math"
	"slices"

	"loglab/engine/kafka"
)

// Net is the network of one cluster.
type Net struct {
	latency     kafka.Millis
	nodes       []kafka.NodeID // in the order of delivery at equal times; never changed
	sent        uint64         // messages sent so far
	queue       []*Message     // under way, in the order of delivery
	held        []*Message     // waiting for their link to be healed, in the order of sending
	links       []link         // from sender to receiver, by link number
	connections []connection   // of a client to a server, by the number of the link in that direction
}

// link is the way from one node to another.
type link struct {
	cut    bool
	delay  kafka.Millis // on top of the network's latency
	drop   int          // of the next messages to arrive
	double int          // of the next messages to arrive
	last   kafka.Millis // when the last message arrives: nothing overtakes
}

// connection is what one node has opened to another. A new one is opened by itself with the next request,
// in no time.
type connection struct {
	number uint32 // of the one that the client uses, from 1; 0: none yet
	lost   uint32 // the server knows no connection up to this number any more
}

// New makes a network whose messages take latency, at least 1 ms. The order of nodes decides which of
// two messages that arrive at the same time is delivered first.
func New(latency kafka.Millis, nodes []kafka.NodeID) Net {
	links := make([]link, len(nodes)*len(nodes))
	for i := range links {
		links[i].last = math.MinInt64
	}
	return Net{latency: max(latency, 1), nodes: nodes, links: links, connections: make([]connection, len(links))}
}

// Send puts one request or response on its link and returns it. It panics if a node is not on the network:
// that is a fault of the engine, not of its input.
func (n *Net) Send(now kafka.Millis, from kafka.NodeID, s Send) *Message {
	if s.Request != nil {
		c := &n.connections[n.link(from, s.To)]
		c.number = max(c.number, 1)
		s.Connection = c.number
	}
	return n.put(now, &Message{From: from, To: s.To, Request: s.Request, Response: s.Response, Correlation: s.Correlation, Connection: s.Connection})
}

// put gives a message its number and time of arrival and puts it on its link.
func (n *Net) put(now kafka.Millis, m *Message) *Message {
	n.sent++
	m.ID, m.link, m.SentAt = n.sent, n.link(m.From, m.To), now
	l := &n.links[m.link]
	m.DueAt = max(now+n.latency+l.delay, l.last)
	l.last = m.DueAt
	n.enqueue(m)
	return m
}

func (n *Net) enqueue(m *Message) {
	at, _ := slices.BinarySearchFunc(n.queue, m, compare)
	n.queue = slices.Insert(n.queue, at, m)
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

// link gives the number of the link from one node to another.
func (n *Net) link(from, to kafka.NodeID) int { return n.index(from)*len(n.nodes) + n.index(to) }

func (n *Net) index(node kafka.NodeID) int {
	i := slices.Index(n.nodes, node)
	if i < 0 {
		panic(fmt.Sprintf("simnet: node %q is not one of %v", node, n.nodes))
	}
	return i
}

// connectionOf gives the connection that a message travels on: the client's, which sends requests and gets
// responses and resets.
func (n *Net) connectionOf(m *Message) *connection {
	if m.Request != nil {
		return &n.connections[m.link]
	}
	return &n.connections[n.link(m.To, m.From)]
}

// NextDue is when the next message arrives; ok is false when none is under way.
func (n *Net) NextDue() (due kafka.Millis, ok bool) {
	if len(n.queue) == 0 {
		return 0, false
	}
	return n.queue[0].DueAt, true
}

// Fate is what becomes of a message at the end of its link.
type Fate uint8

// The fates.
const (
	Arrived Fate = iota // it is there
	Doubled             // it is there twice
	Held                // the link is cut: it waits
	Dropped             // it is lost, and its connection with it
	Stale               // it is lost: its connection was closed before
)

// Deliver takes the first message that is due by now off the network and says what becomes of it; ok is
// false when there is none.
func (n *Net) Deliver(now kafka.Millis) (m *Message, fate Fate, ok bool) {
	if len(n.queue) == 0 || n.queue[0].DueAt > now {
		return nil, Arrived, false
	}
	m = n.queue[0]
	n.queue = n.queue[1:]
	l, c := &n.links[m.link], n.connectionOf(m)
	switch {
	case m.Request != nil && m.Connection <= c.lost, m.Request == nil && m.Connection != c.number:
		return m, Stale, true
	case l.cut:
		n.held = append(n.held, m)
		return m, Held, true
	case m.IsReset():
		c.number++
		return m, Arrived, true
	case l.drop > 0:
		l.drop--
		n.disconnect(c)
		return m, Dropped, true
	case l.double > 0:
		l.double--
		return m, Doubled, true
	}
	return m, Arrived, true
}

// disconnect makes both ends of a connection forget it.
func (n *Net) disconnect(c *connection) {
	c.lost = c.number
	c.number++
}

// Client gives the end of a message's connection that opened it.
func (m *Message) Client() kafka.NodeID {
	if m.Request != nil {
		return m.From
	}
	return m.To
}

// Server gives the other end.
func (m *Message) Server() kafka.NodeID {
	if m.Request != nil {
		return m.To
	}
	return m.From
}

// UnderWay gives the messages on their way, in the order of delivery. The slice is the caller's own.
func (n *Net) UnderWay() []*Message { return slices.Clone(n.queue) }

// Waiting gives the messages that a cut link holds, in the order in which they would have arrived. The slice
// is the caller's own.
func (n *Net) Waiting() []*Message { return slices.Clone(n.held) }

// Clone gives a network in the same state. Messages are shared: they are never written.
func (n *Net) Clone() Net {
	c := *n
	c.queue, c.held = slices.Clone(n.queue), slices.Clone(n.held)
	c.links, c.connections = slices.Clone(n.links), slices.Clone(n.connections)
	return c
}
