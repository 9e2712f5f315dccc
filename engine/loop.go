package engine

import (
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// runUntil lets time pass up to end, excluded, in the order that the package's doc states.
func (c *Cluster) runUntil(end kafka.Millis) error {
	for {
		due, ok := c.nextDue()
		if !ok || due >= end {
			break
		}
		c.now = max(c.now, due)
		c.deliver()
		c.fireTimers()
		if err := c.checkBounds(); err != nil {
			return err
		}
	}
	c.now = end
	return nil
}

// nextDue is the next moment at which something falls due.
func (c *Cluster) nextDue() (next kafka.Millis, any bool) {
	consider := func(due kafka.Millis, ok bool) {
		if ok && (!any || due < next) {
			next, any = due, true
		}
	}
	consider(c.net.NextDue())
	for _, b := range c.brokers {
		if c.inboxOf(b.Node()) == nil {
			consider(b.NextDue())
		}
	}
	for i := range c.clients {
		if n := &c.clients[i]; c.inboxOf(n.id()) == nil {
			consider(n.nextDue())
		}
	}
	return next, any
}

// deliver hands over every message that has arrived.
func (c *Cluster) deliver() {
	for {
		m, fate, ok := c.net.Deliver(c.now)
		if !ok {
			return
		}
		if fate != simnet.Arrived && fate != simnet.Doubled {
			continue
		}
		if inbox := c.inboxOf(m.To); inbox != nil {
			inbox.inbox = append(inbox.inbox, m)
			continue
		}
		c.handOver(m, m.Sent, false)
	}
}

// handOver lets a node take one message in.
func (c *Cluster) handOver(m *simnet.Message, cause uint64, held bool) {
	seq := c.journal.Append(m.To, cause, journal.MessageDelivered{
		Message: m.ID, From: m.From, API: m.API(), Response: m.IsResponse(), Held: held,
	})
	for _, b := range c.brokers {
		if b.Node() == m.To {
			c.send(m.To, b.Receive(c.now, m, seq, &c.journal))
			return
		}
	}
	for i := range c.clients {
		if n := &c.clients[i]; n.id() == m.To {
			c.send(m.To, c.receive(n, m, seq))
			c.divideAnew(0)
			return
		}
	}
	c.admin.Receive(m, seq, &c.journal)
}

// fireTimers lets every timer that is due fire.
func (c *Cluster) fireTimers() {
	for _, b := range c.brokers {
		if due, ok := b.NextDue(); ok && due <= c.now && c.inboxOf(b.Node()) == nil {
			c.send(b.Node(), b.Tick(c.now, &c.journal))
		}
	}
	for i := range c.clients {
		n := &c.clients[i]
		if due, ok := n.nextDue(); ok && due <= c.now && c.inboxOf(n.id()) == nil {
			c.send(n.id(), c.fire(n))
		}
	}
}

// send puts what a node wants sent on the network.
func (c *Cluster) send(from kafka.NodeID, sends []simnet.Send) {
	for _, s := range sends {
		if s.Close == simnet.CloseOwn {
			c.net.CloseOwn(from, s.To)
			continue
		}
		m := c.net.Send(c.now, from, s)
		m.Sent = c.journal.Append(from, s.Cause, journal.MessageSent{
			Message: m.ID, To: m.To, API: m.API(), Version: m.Version(), Correlation: m.Correlation,
			Response: m.IsResponse(), Arrives: m.DueAt - c.now,
		})
	}
}

// inboxOf gives the paused node of that name, nil if it runs.
func (c *Cluster) inboxOf(node kafka.NodeID) *pausedNode {
	for i := range c.paused {
		if c.paused[i].node == node {
			return &c.paused[i]
		}
	}
	return nil
}

// checkBounds ends the run at the first bound that is passed.
func (c *Cluster) checkBounds() error {
	if c.spec.MaxEvents > 0 && c.journal.Len() > c.spec.MaxEvents {
		c.broken = &LimitError{What: "events in the journal", Found: c.journal.Len(), Allowed: c.spec.MaxEvents}
	}
	for _, b := range c.brokers {
		if bytes := b.LogBytes(); bytes > MaxLogBytes {
			c.broken = &LimitError{What: "bytes of log", Found: bytes, Allowed: MaxLogBytes}
		}
	}
	return c.broken
}

// receive lets a client take one message in.
func (c *Cluster) receive(n *clientNode, m *simnet.Message, cause uint64) []simnet.Send {
	if n.producer != nil {
		return n.producer.Receive(c.now, m, cause, &c.outside, &c.journal)
	}
	return n.consumer.Receive(c.now, c.tick, m, cause, &c.outside, &c.journal)
}

// fire lets a client's timers fire.
func (c *Cluster) fire(n *clientNode) []simnet.Send {
	if n.producer != nil {
		return n.producer.Tick(c.now, &c.outside, &c.journal)
	}
	return n.consumer.Tick(c.now, c.tick, &c.outside, &c.journal)
}

func (n *clientNode) id() kafka.NodeID {
	if n.producer != nil {
		return n.producer.Node()
	}
	return n.consumer.Node()
}

func (n *clientNode) nextDue() (kafka.Millis, bool) {
	if n.producer != nil {
		return n.producer.NextDue()
	}
	return n.consumer.NextDue()
}
