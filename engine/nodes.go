package engine

import (
	"loglab/engine/broker"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// broker gives the broker of that name, nil if there is none.
func (c *Cluster) broker(node kafka.NodeID) *broker.Broker {
	for _, b := range c.brokers {
		if b.Node() == node {
			return b
		}
	}
	return nil
}

// client gives the producer or consumer of that name, nil if there is none.
func (c *Cluster) client(node kafka.NodeID) *clientNode {
	for i := range c.clients {
		if c.clients[i].id() == node {
			return &c.clients[i]
		}
	}
	return nil
}

// clientDown says whether the node is a client whose process does not run.
func (c *Cluster) clientDown(node kafka.NodeID) bool {
	n := c.client(node)
	return n != nil && !n.alive()
}

func (c *Cluster) hasNode(node kafka.NodeID) bool {
	return node == controllerNode || c.broker(node) != nil || c.client(node) != nil
}

// onNetwork says whether there are links to and from a node.
func (c *Cluster) onNetwork(node kafka.NodeID) bool { return c.hasNode(node) || node == adminNode }

// running says why a node does not take part, in words; empty: it does.
func (c *Cluster) running(node kafka.NodeID) (why string) {
	switch b := c.broker(node); {
	case !c.hasNode(node):
		return "there is no node " + string(node)
	case b != nil && !b.Up(), c.clientDown(node):
		return string(node) + " does not run"
	}
	return ""
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

func (n *clientNode) alive() bool {
	if n.producer != nil {
		return n.producer.Alive()
	}
	return n.consumer.Alive()
}

func (n *clientNode) nextDue() (kafka.Millis, bool) {
	if n.producer != nil {
		return n.producer.NextDue()
	}
	return n.consumer.NextDue()
}
