package engine

import (
	"fmt"
	"strings"

	"loglab/engine/assignor"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// member is one consumer of the group with what the assignor gave it.
type member struct {
	node       kafka.NodeID
	partitions []kafka.Partition // sorted
	rule       string            // the assignor's arithmetic
}

// memberID names a member of a group. Assignors sort members by the text of their ids, so all ids of a
// group have the same length: c0 to c9, or c00 to c63 when there are more than ten.
func memberID(i, members int) kafka.MemberID {
	if members > 10 {
		return kafka.MemberID(fmt.Sprintf("c%02d", i))
	}
	return kafka.MemberID(fmt.Sprintf("c%d", i))
}

// formGroup divides the topic's partitions among the members. Cause is the event that made the topic.
func (c *Cluster) formGroup(cause uint64) error {
	rule, err := assignor.ByName(c.spec.Group.Assignor)
	if err != nil {
		return err
	}
	topic := c.spec.Topic
	group := assignor.Group{Topics: []assignor.Topic{{Name: topic.Name, PartitionCount: int32(topic.Partitions)}}}
	for i := range c.spec.Group.Consumers {
		group.Members = append(group.Members, assignor.Member{ID: memberID(i, c.spec.Group.Consumers), Topics: []string{topic.Name}, Generation: -1})
	}
	assignment := rule.Assign(group)
	for _, assigned := range assignment.Members {
		m := member{node: kafka.NodeID(assigned.Member)}
		var named []kafka.TopicPartition
		for _, list := range assigned.Topics {
			for _, p := range list.Partitions {
				m.partitions = append(m.partitions, p)
				named = append(named, kafka.TopicPartition{Topic: topic.Name, Partition: p})
			}
		}
		if len(named) > 0 {
			m.rule = strings.TrimSuffix(rule.Why(group, assignment, named[0]), ".")
		} else {
			m.rule = fmt.Sprintf("%d members share %d partitions, and a partition has one reader in a group", len(group.Members), topic.Partitions)
		}
		c.journal.Append(m.node, cause, journal.PartitionsAssigned{Group: c.spec.Group.Name, Assignor: rule.Name, Partitions: named, Rule: m.rule})
		c.members = append(c.members, m)
	}
	return nil
}
