package engine

import "loglab/engine/kafka"

// NextTimer is when a node's next timer fires, in virtual time, and what the node then does, in words; ok
// is false when none is set or the node is not there. The timer of a paused node waits until it is resumed.
func (c *Cluster) NextTimer(node kafka.NodeID) (due kafka.Millis, does string, ok bool) {
	if node == controllerNode {
		return c.controller.NextTimer()
	}
	for _, b := range c.brokers {
		if b.Node() == node {
			return b.NextTimer()
		}
	}
	for _, n := range c.clients {
		switch {
		case n.id() != node:
		case n.producer != nil:
			return n.producer.NextTimer()
		default:
			return n.consumer.NextTimer()
		}
	}
	return 0, "", false
}
