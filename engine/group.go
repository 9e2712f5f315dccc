package engine

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine/assignor"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
)

// member is one consumer of the group with what the assignor gave it.
type member struct {
	node       kafka.NodeID
	partitions []kafka.TopicPartition // sorted
	rule       string                 // the assignor's arithmetic
	assigned   uint64                 // Seq of the event that says so
}

// memberID names a member of a group. Assignors sort members by the text of their ids, so all ids of a
// group have the same length: c0 to c9, or c00 to c63 when there are more than ten.
func memberID(i, members int) kafka.MemberID {
	if members > 10 {
		return kafka.MemberID(fmt.Sprintf("c%02d", i))
	}
	return kafka.MemberID(fmt.Sprintf("c%d", i))
}

// divide gives the members their partitions, of that many. Cause is the event that led to it.
func (c *Cluster) divide(partitions int, cause uint64) {
	rule, err := assignor.ClientByName(c.spec.Group.Assignor)
	if err != nil {
		panic(err) // the spec was checked
	}
	topic := c.spec.Topic.Name
	group := assignor.Group{Topics: []assignor.Topic{{Name: topic, PartitionCount: int32(partitions)}}}
	for i := range c.spec.Group.Consumers {
		group.Members = append(group.Members, assignor.Member{ID: memberID(i, c.spec.Group.Consumers), Topics: []string{topic}, Generation: -1})
	}
	assignment := rule.Assign(group)
	if n := len(assignment.Members); c.spec.Sabotage == sabotage.AssignmentRemembers && n > 1 {
		for range 1 + c.journal.Len()%(n-1) {
			first := assignment.Members[0].Topics
			for i := range n - 1 {
				assignment.Members[i].Topics = assignment.Members[i+1].Topics
			}
			assignment.Members[n-1].Topics = first
		}
	}
	c.members, c.divided = nil, partitions
	for _, assigned := range assignment.Members {
		m := member{node: kafka.NodeID(assigned.Member)}
		for _, list := range assigned.Topics {
			for _, p := range list.Partitions {
				m.partitions = append(m.partitions, kafka.TopicPartition{Topic: topic, Partition: p})
			}
		}
		if len(m.partitions) > 0 {
			m.rule = strings.TrimSuffix(rule.Why(group, assignment, m.partitions[0]), ".")
		} else {
			m.rule = fmt.Sprintf("%d members share %d partitions, and a partition has one reader in a group", len(group.Members), partitions)
		}
		m.assigned = c.journal.Append(m.node, cause, journal.PartitionsAssigned{Group: c.spec.Group.Name, Assignor: rule.Name, Partitions: m.partitions, Rule: m.rule})
		c.members = append(c.members, m)
	}
}

// divideAnew divides the partitions again once the group's first member has learned of new ones and every
// member can take part. Resumed is the event that made the last of them take part again, 0 if none stood
// still.
func (c *Cluster) divideAnew(resumed uint64) {
	if len(c.members) == 0 || c.memberPaused() {
		return
	}
	known, learned := c.clients[0].consumer.Known()
	if known <= c.divided {
		return
	}
	positions := map[kafka.TopicPartition]kafka.Offset{} // only looked up
	for i := range c.members {
		for _, a := range c.clients[i].consumer.View().Partitions {
			if a.Position != kafka.NoOffset {
				positions[a.TopicPartition] = a.Position
			}
		}
	}
	c.divide(known, max(learned, resumed))
	for i, m := range c.members {
		c.send(m.node, c.clients[i].consumer.Assign(c.now, c.tick, m.partitions, positions, m.assigned, &c.outside, &c.journal))
	}
}

// memberPaused says whether a member of the group stands still.
func (c *Cluster) memberPaused() bool {
	return slices.ContainsFunc(c.members, func(m member) bool { return c.inboxOf(m.node) != nil })
}
