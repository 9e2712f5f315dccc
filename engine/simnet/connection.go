package simnet

import (
	"slices"

	"loglab/engine/kafka"
)

// CloseOwn closes the connection that client has to server: the client forgets it at once. What it has sent
// and is on its way arrives all the same; what a cut link holds, and answers, are lost.
func (n *Net) CloseOwn(client, server kafka.NodeID) {
	number := n.link(client, server)
	c := &n.connections[number]
	n.held = slices.DeleteFunc(slices.Clone(n.held), func(m *Message) bool {
		return m.Client() == client && m.Server() == server && m.Connection == c.number
	})
	c.number++
}

// CloseTheir closes the connection that client has to server: the server forgets it at once, and the client
// when the news arrives. It returns that news, nil if there is no connection.
func (n *Net) CloseTheir(now kafka.Millis, server, client kafka.NodeID) *Message {
	c := &n.connections[n.link(client, server)]
	if c.number == 0 || c.lost >= c.number {
		return nil
	}
	c.lost = c.number
	return n.put(now, &Message{From: server, To: client, Connection: c.number})
}

// Refuse answers a request that has reached a machine on which no process listens: the client learns that
// there is no connection. It returns that news.
func (n *Net) Refuse(now kafka.Millis, m *Message) *Message {
	c := n.connectionOf(m)
	c.lost = max(c.lost, m.Connection)
	return n.put(now, &Message{From: m.To, To: m.From, Connection: m.Connection})
}

// Lose makes the server of a request forget its connection without a word: the machine is off.
func (n *Net) Lose(m *Message) {
	c := n.connectionOf(m)
	c.lost = max(c.lost, m.Connection)
}

// Die ends all connections of a node whose process is gone. The node forgets them at once. Where the machine
// is still there it tells the other ends, and Die returns that news; where power failed nobody learns of it.
func (n *Net) Die(now kafka.Millis, node kafka.NodeID, machineOn bool) (news []*Message) {
	for _, other := range n.nodes {
		if other == node {
			continue
		}
		n.connections[n.link(node, other)].number++
		c := &n.connections[n.link(other, node)]
		if machineOn {
			if m := n.CloseTheir(now, node, other); m != nil {
				news = append(news, m)
			}
			continue
		}
		c.lost = c.number
	}
	return news
}

// Revive lets a machine that was off tell the clients whose connections it has lost. It returns that news.
func (n *Net) Revive(now kafka.Millis, node kafka.NodeID) (news []*Message) {
	for _, other := range n.nodes {
		c := n.connections[n.link(other, node)]
		if other != node && c.number > 0 && c.lost == c.number {
			news = append(news, n.put(now, &Message{From: node, To: other, Connection: c.number}))
		}
	}
	return news
}

// Faults says what is wrong with the way from one node to another.
type Faults struct {
	Cut    bool
	Delay  kafka.Millis // on top of the network's latency
	Drop   int          // of the next messages to arrive
	Double int          // of the next messages to arrive
}

// Faults gives what is wrong with the way from one node to another.
func (n *Net) Faults(from, to kafka.NodeID) Faults {
	l := n.links[n.link(from, to)]
	return Faults{Cut: l.cut, Delay: l.delay, Drop: l.drop, Double: l.double}
}

// FaultyLink is a way from one node to another with which something is wrong.
type FaultyLink struct {
	From, To kafka.NodeID
	Faults
}

// FaultyLinks lists the ways with which something is wrong, by sender, then receiver.
func (n *Net) FaultyLinks() (list []FaultyLink) {
	for i, l := range n.links {
		if f := (Faults{Cut: l.cut, Delay: l.delay, Drop: l.drop, Double: l.double}); f != (Faults{}) {
			list = append(list, FaultyLink{n.nodes[i/len(n.nodes)], n.nodes[i%len(n.nodes)], f})
		}
	}
	return list
}

// SetFaults says what is wrong with the way from one node to another from now on. Where a cut is healed, what
// it held arrives one latency later, in order, as TCP sends again what was not acknowledged. A message on
// its way keeps its time of arrival, but does not overtake one that was held.
func (n *Net) SetFaults(now kafka.Millis, from, to kafka.NodeID, f Faults) {
	number := n.link(from, to)
	l := &n.links[number]
	healed := l.cut && !f.Cut
	l.cut, l.delay, l.drop, l.double = f.Cut, f.Delay, f.Drop, f.Double
	if !healed {
		return
	}
	var again, kept, queue []*Message
	for _, m := range n.held {
		if m.link == number {
			again = append(again, m)
		} else {
			kept = append(kept, m)
		}
	}
	n.held = kept
	if again == nil {
		return
	}
	arrival := now + n.latency + l.delay
	for _, m := range n.queue {
		if m.link == number && m.DueAt < arrival {
			again = append(again, m)
		} else {
			queue = append(queue, m)
		}
	}
	n.queue = queue
	for _, m := range again {
		moved := *m
		moved.DueAt = arrival
		n.enqueue(&moved)
	}
	l.last = max(l.last, arrival)
}

// Forget takes off the network what cut links hold of a machine that has no power: nobody is left to send it again.
func (n *Net) Forget(node kafka.NodeID) (gone []*Message) {
	var kept []*Message
	for _, m := range n.held {
		if m.From == node {
			gone = append(gone, m)
		} else {
			kept = append(kept, m)
		}
	}
	n.held = kept
	return gone
}
