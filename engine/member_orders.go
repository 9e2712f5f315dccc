package engine

import (
	"fmt"

	"loglab/engine/client"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// order lets a member's application do something.
func (c *Cluster) order(node kafka.NodeID, do func(*client.Consumer) ([]simnet.Send, string)) (why string) {
	n, why := c.member(node)
	if n == nil {
		return why
	}
	sends, why := do(n)
	c.sendOf(node, sends)
	return why
}

// crash ends a member's process, now or when its application comes to a point.
func (c *Cluster) crash(cmd command.Crash, given uint64) (why string) {
	n, why := c.runningMember(cmd.Node) // one that stands still can crash too
	switch {
	case n == nil:
		return why
	case cmd.At.When != "":
		n.Arm(cmd.At, given, &c.journal)
	default:
		c.die(cmd.Node, n.Crash(given, &c.outside, &c.journal), true)
	}
	return ""
}

// commit lets a member's application commit what it is done with, or the offset that the command names.
func (c *Cluster) commit(n *client.Consumer, cmd command.Commit, given uint64) ([]simnet.Send, string) {
	if cmd.TopicPartition == (kafka.TopicPartition{}) {
		return n.CommitNow(c.now, given, &c.outside, &c.journal)
	}
	return n.CommitAt(c.now, cmd.TopicPartition, cmd.Offset, given, &c.outside, &c.journal)
}

// member gives the consumer of that name if it takes orders, or nil and why there is none.
func (c *Cluster) member(node kafka.NodeID) (n *client.Consumer, why string) {
	if n, why = c.runningMember(node); n != nil && c.inboxOf(node) != nil {
		return nil, fmt.Sprintf("%s is paused", node)
	}
	return n, why
}

// runningMember gives the consumer of that name, or nil and why there is none.
func (c *Cluster) runningMember(node kafka.NodeID) (n *client.Consumer, why string) {
	found := c.client(node)
	switch {
	case found == nil || found.consumer == nil || !found.consumer.IsMember():
		return nil, fmt.Sprintf("there is no member %s of a group with a coordinator", node)
	case c.running(node) != "":
		return nil, c.running(node)
	}
	return found.consumer, ""
}

// sendOf sends what a client wants sent, and ends its connections if its process has ended meanwhile.
func (c *Cluster) sendOf(node kafka.NodeID, sends []simnet.Send) {
	c.send(node, sends)
	n := c.client(node)
	if n == nil {
		return
	}
	ended := uint64(0)
	if n.consumer != nil {
		ended = n.consumer.Ended()
	} else {
		ended = n.producer.Ended()
	}
	if ended != 0 {
		c.die(node, ended, true)
	}
}
