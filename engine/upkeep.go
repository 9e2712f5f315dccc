package engine

import (
	"fmt"

	"loglab/engine/broker"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// upkeep lets a running broker do now what it else does by its timers.
func (c *Cluster) upkeep(node kafka.NodeID, do func(*broker.Broker) []simnet.Send) (why string) {
	b := c.broker(node)
	switch {
	case b == nil:
		return fmt.Sprintf("%s is not a broker", node)
	case !b.Up():
		return fmt.Sprintf("%s does not run", node)
	case c.inboxOf(node) != nil:
		return fmt.Sprintf("%s is paused", node)
	}
	c.act(b, do(b))
	return ""
}

// deleteRecords asks a partition's leader to let its log begin later.
func (c *Cluster) deleteRecords(cmd command.DeleteRecords, given uint64) (why string) {
	p, ok := c.controller.View().Image.Partition(cmd.TopicPartition)
	switch {
	case !ok:
		return fmt.Sprintf("there is no partition %s", cmd.TopicPartition)
	case p.Leader == NoLeader:
		return fmt.Sprintf("%s has no leader", cmd.TopicPartition)
	}
	c.send(adminNode, []simnet.Send{c.admin.DeleteRecords(c.now, broker.NodeID(p.Leader), cmd.TopicPartition, cmd.Offset, given)})
	return ""
}

// skew sets the clock of a producer's machine.
func (c *Cluster) skew(cmd command.Skew, given uint64) (why string) {
	n := c.client(cmd.Node)
	if n == nil || n.producer == nil {
		return fmt.Sprintf("there is no producer %s", cmd.Node)
	}
	n.producer.SetSkew(cmd.Skew)
	c.journal.Append(cmd.Node, given, journal.ClockSet{Skew: cmd.Skew})
	return ""
}
