package engine

import (
	"fmt"
	"slices"

	"loglab/engine/command"
	"loglab/engine/kafka"
)

// groupSpec gives what the spec says of a group with a coordinator, nil if there is none of that id.
func (c *Cluster) groupSpec(id string) *ConsumerGroupSpec {
	at := slices.IndexFunc(c.spec.Groups, func(g ConsumerGroupSpec) bool { return g.ID == id })
	if at < 0 {
		return nil
	}
	return &c.spec.Groups[at]
}

// topicsOf lists the topics that the members of a group read, sorted.
func (g *ConsumerGroupSpec) topicsOf() (list []string) {
	for _, m := range g.Members {
		list = append(list, m.Config.Topics...)
		for _, tp := range m.Config.Group.Assign {
			list = append(list, tp.Topic)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// resetOffsets lets the administrator set a group's offsets.
func (c *Cluster) resetOffsets(cmd command.Reset, given uint64) (why string) {
	g := c.groupSpec(cmd.Group)
	if g == nil {
		return fmt.Sprintf("there is no group %q with a coordinator", cmd.Group)
	}
	sends, why := c.admin.Reset(c.now, g.ID, g.topicsOf(), cmd.To, false, nil, given, &c.journal)
	c.send(adminNode, sends)
	return why
}

// replay lets the members of a group leave, resets the offsets once the group is empty, and starts the members: those
// that ran, or all if none did. A member that has crashed holds it up until its session ends.
func (c *Cluster) replay(cmd command.Replay, given uint64) (why string) {
	g := c.groupSpec(cmd.Group)
	if g == nil {
		return fmt.Sprintf("there is no group %q with a coordinator", cmd.Group)
	}
	var ran, all []kafka.NodeID
	for i := range g.Members {
		node := memberNode(g.ID, i, len(g.Members))
		all = append(all, node)
		if c.inboxOf(node) != nil {
			return fmt.Sprintf("%s is paused and cannot leave the group: it has to be resumed or to crash first", node)
		}
		if c.client(node).alive() {
			ran = append(ran, node)
		}
	}
	starts := ran
	if len(ran) == 0 {
		starts = all
	}
	sends, why := c.admin.Reset(c.now, g.ID, g.topicsOf(), cmd.From, true, starts, given, &c.journal)
	if why != "" {
		return why
	}
	for _, node := range ran {
		n := c.client(node).consumer
		if n.Failed() { // there is nobody who could close it
			c.die(node, n.Crash(given, &c.outside, &c.journal), true)
			continue
		}
		leaving, _ := n.Leave(c.now, given, &c.outside, &c.journal) // or it is closing already
		c.sendOf(node, leaving)
	}
	c.send(adminNode, sends)
	return ""
}

// finishReplay starts the members of a group after a replay, also if its offsets could not be reset.
func (c *Cluster) finishReplay() {
	members, cause := c.admin.Finished()
	for _, node := range members {
		if n := c.client(node); !n.alive() {
			c.start(node, cause)
		}
	}
}
