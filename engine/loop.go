package engine

import (
	"fmt"
	"slices"

	"loglab/engine/broker"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// runUntil lets time pass up to end, excluded, in the order that the package's doc states.
func (c *Cluster) runUntil(end kafka.Millis) error {
	for steps := 0; ; steps++ {
		due, ok := c.nextDue()
		if !ok || due >= end {
			break
		}
		if due > c.now {
			c.now, steps = due, 0
		} else if steps > mostSteps {
			panic(fmt.Sprintf("engine: time stands still at %d ms: %s is due and does nothing", c.now, c.dueNow()))
		}
		c.deliver()
		c.fireTimers()
		if c.tooManyEvents() {
			return c.broken
		}
	}
	c.now = end
	return c.checkBounds()
}

// mostSteps is more than anything can need at one moment: a message takes a millisecond, and no timer that has fired is
// due again at once.
const mostSteps = 100_000

// dueNow names a node whose timer is due.
func (c *Cluster) dueNow() kafka.NodeID {
	for _, node := range c.nodes() {
		if due, _, ok := c.NextTimer(node); ok && due <= c.now {
			return node
		}
	}
	return "the network"
}

// nextDue is the next moment at which something falls due.
func (c *Cluster) nextDue() (next kafka.Millis, any bool) {
	consider := func(due kafka.Millis, ok bool) {
		if ok && (!any || due < next) {
			next, any = due, true
		}
	}
	consider(c.net.NextDue())
	if c.inboxOf(controllerNode) == nil {
		consider(c.controller.NextDue())
	}
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
	consider(c.admin.NextDue())
	return next, any
}

// fireTimers lets every timer that is due fire.
func (c *Cluster) fireTimers() {
	if due, ok := c.controller.NextDue(); ok && due <= c.now && c.inboxOf(controllerNode) == nil {
		c.send(controllerNode, c.controller.Tick(c.now, &c.journal))
	}
	for _, b := range c.brokers {
		if due, ok := b.NextDue(); ok && due <= c.now && c.inboxOf(b.Node()) == nil {
			c.act(b, b.Tick(c.now, &c.journal))
		}
	}
	for i := range c.clients {
		n := &c.clients[i]
		if due, ok := n.nextDue(); ok && due <= c.now && c.inboxOf(n.id()) == nil {
			c.sendOf(n.id(), c.fire(n))
		}
	}
	if due, ok := c.admin.NextDue(); ok && due <= c.now {
		c.send(adminNode, c.admin.Tick(c.now, &c.journal))
		c.finishReplay()
	}
}

// deliver hands over every message that has arrived.
func (c *Cluster) deliver() {
	for {
		m, fate, ok := c.net.Deliver(c.now)
		if !ok {
			return
		}
		switch fate {
		case simnet.Held:
			seq := c.journal.Append(m.From, m.Sent, journal.MessageHeld{Message: m.ID, To: m.To, API: m.API(), Response: m.IsResponse()})
			if b := c.broker(m.From); b != nil && b.State() == broker.PowerOff {
				c.forget(m.From, seq)
			}
		case simnet.Dropped:
			c.dropped(m)
		case simnet.Stale:
			c.lost(m, m.Sent, "its connection was closed before")
		case simnet.Doubled:
			c.arrived(m)
			c.arrived(m)
		default:
			c.arrived(m)
		}
	}
}

// lost journals that a message did not arrive.
func (c *Cluster) lost(m *simnet.Message, cause uint64, why string) uint64 {
	return c.journal.Append(m.To, cause, journal.MessageLost{Message: m.ID, From: m.From, API: m.API(), Response: m.IsResponse(), Why: why, ByLink: why == droppedByLink})
}

// droppedByLink is why a message is lost that a command told its link to drop.
const droppedByLink = "the link dropped it, and with it the connection"

// dropped lets both ends of a message's connection learn that it is gone.
func (c *Cluster) dropped(m *simnet.Message) {
	seq := c.lost(m, m.Sent, droppedByLink)
	if inbox := c.inboxOf(m.Client()); inbox != nil { // it learns of that when it goes on
		inbox.inbox = append(inbox.inbox, &simnet.Message{From: m.Server(), To: m.Client(), Sent: seq})
		return
	}
	c.reset(m.Client(), m.Server(), seq)
}

// arrived lets a message into its node's machine.
func (c *Cluster) arrived(m *simnet.Message) {
	if b := c.broker(m.To); b != nil && !b.Up() || c.clientDown(m.To) {
		c.nobody(m)
		return
	}
	if b := c.broker(m.To); b != nil && b.State() == broker.Starting && m.Request != nil {
		c.nobody(m)
		return
	}
	if inbox := c.inboxOf(m.To); inbox != nil {
		inbox.inbox = append(inbox.inbox, m)
		return
	}
	c.handOver(m, m.Sent, false)
}

// nobody deals with a message for a machine on which no process listens.
func (c *Cluster) nobody(m *simnet.Message) {
	b := c.broker(m.To)
	switch {
	case b != nil && b.State() == broker.PowerOff:
		c.net.Lose(m)
		c.lost(m, m.Sent, "the machine has no power")
	case m.Request != nil:
		seq := c.lost(m, m.Sent, "no process listens there")
		c.note(c.net.Refuse(c.now, m), seq)
	default:
		c.lost(m, m.Sent, "the process that it was for is gone")
	}
}

// handOver lets a node take one message in.
func (c *Cluster) handOver(m *simnet.Message, cause uint64, held bool) {
	if m.IsReset() {
		c.reset(m.To, m.From, cause)
		return
	}
	seq := c.journal.Append(m.To, cause, journal.MessageDelivered{
		Message: m.ID, From: m.From, API: m.API(), Response: m.IsResponse(), Held: held,
	})
	if b := c.broker(m.To); b != nil {
		c.act(b, b.Receive(c.now, m, seq, &c.journal))
		return
	}
	if m.To == controllerNode {
		c.send(m.To, c.controller.Receive(c.now, m, seq, &c.journal))
		return
	}
	if n := c.client(m.To); n != nil {
		c.sendOf(m.To, c.receive(n, m, seq))
		c.divideAnew(0)
		return
	}
	c.send(adminNode, c.admin.Receive(c.now, m, seq, &c.journal))
	c.finishReplay()
}

// reset tells a client, of whatever kind the node is, that its connection to a server is gone.
func (c *Cluster) reset(node, server kafka.NodeID, cause uint64) {
	if b := c.broker(node); b != nil {
		if b.Up() {
			seq := c.journal.Append(node, cause, journal.ConnectionReset{Server: server})
			c.act(b, b.Disconnected(c.now, server, seq, &c.journal))
		}
		return
	}
	switch n := c.client(node); {
	case n == nil && node == adminNode:
		c.send(node, c.admin.Disconnected(c.now, server, cause, &c.journal))
	case n == nil || c.clientDown(node):
	case n.producer != nil:
		c.send(node, n.producer.Disconnected(c.now, server, cause, &c.outside, &c.journal))
	default:
		c.sendOf(node, n.consumer.Disconnected(c.now, server, cause, &c.outside, &c.journal))
	}
}

// act sends what a broker wants sent, and lets its connections die if its process has ended.
func (c *Cluster) act(b *broker.Broker, sends []simnet.Send) {
	c.send(b.Node(), sends)
	if !b.Up() {
		c.die(b.Node(), uint64(c.journal.Len()), true)
	}
}

// die ends a node's connections, and its pause.
func (c *Cluster) die(node kafka.NodeID, cause uint64, machineOn bool) {
	for _, m := range c.net.Die(c.now, node, machineOn) {
		c.note(m, cause)
	}
	c.paused = slices.DeleteFunc(slices.Clone(c.paused), func(p pausedNode) bool { return p.node == node })
}

// send puts what a node wants sent on the network, and closes the connections that it wants closed.
func (c *Cluster) send(from kafka.NodeID, sends []simnet.Send) {
	for _, s := range sends {
		switch s.Close {
		case simnet.CloseOwn:
			c.net.CloseOwn(from, s.To)
		case simnet.CloseTheir:
			if m := c.net.CloseTheir(c.now, from, s.To); m != nil {
				c.note(m, s.Cause)
			}
		default:
			c.note(c.net.Send(c.now, from, s), s.Cause)
		}
	}
}

// note journals that a message was sent.
func (c *Cluster) note(m *simnet.Message, cause uint64) {
	m.Sent = c.journal.Append(m.From, cause, journal.MessageSent{
		Message: m.ID, To: m.To, API: m.API(), Version: m.Version(), Correlation: m.Correlation,
		Response: m.IsResponse(), Arrives: m.DueAt - c.now,
	})
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

// tooManyEvents ends the run where the journal has more events than it may.
func (c *Cluster) tooManyEvents() bool {
	if c.spec.MaxEvents > 0 && c.journal.Len() > c.spec.MaxEvents {
		c.broken = &LimitError{What: "events in the journal", Found: c.journal.Len(), Allowed: c.spec.MaxEvents}
	}
	return c.broken != nil
}

// checkBounds ends the run at the first bound that is passed.
func (c *Cluster) checkBounds() error {
	if c.tooManyEvents() {
		return c.broken
	}
	for _, b := range c.brokers {
		if bytes := b.LogBytes(); bytes > MaxLogBytes {
			c.broken = &LimitError{What: "bytes of log", Found: bytes, Allowed: MaxLogBytes}
		}
		if files := b.FileCount(); c.spec.MaxFiles > 0 && files > c.spec.MaxFiles {
			c.broken = &LimitError{What: "files on a disk", Found: files, Allowed: c.spec.MaxFiles}
		}
	}
	return c.broken
}
