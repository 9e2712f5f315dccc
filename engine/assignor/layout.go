package assignor

import (
	"cmp"
	"slices"

	"loglab/engine/kafka"
)

// layout is a group brought into the order that the assignors work in.
type layout struct {
	members []Member          // static members by instance id, then the others by member id
	topics  []subscribedTopic // sorted by name
}

// subscribedTopic is a topic that exists and has a subscriber.
type subscribedTopic struct {
	name           string
	partitionCount int
	subscribers    []int // indexes of members, rising
}

// newLayout sorts members and topics, and finds the subscribers of each topic. Subscriptions to topics
// that do not exist are left out.
func newLayout(group Group) layout {
	members := slices.SortedFunc(slices.Values(group.Members), compareMembers)
	topics := make([]subscribedTopic, 0, len(group.Topics))
	for _, topic := range group.Topics {
		if topic.PartitionCount > 0 {
			topics = append(topics, subscribedTopic{name: topic.Name, partitionCount: int(topic.PartitionCount)})
		}
	}
	slices.SortFunc(topics, func(a, b subscribedTopic) int { return cmp.Compare(a.name, b.name) })

	indexOf := make(map[string]int, len(topics))
	for i, topic := range topics {
		indexOf[topic.name] = i
	}
	var existing []int // indexes of the member's topics; often the same as those of the member before
	for memberIndex, member := range members {
		if memberIndex == 0 || !slices.Equal(member.Topics, members[memberIndex-1].Topics) {
			existing = existing[:0]
			for _, name := range member.Topics {
				if i, exists := indexOf[name]; exists {
					existing = append(existing, i)
				}
			}
		}
		for _, i := range existing {
			subscribers := topics[i].subscribers
			if len(subscribers) > 0 && subscribers[len(subscribers)-1] == memberIndex {
				continue // the member names the topic twice
			}
			topics[i].subscribers = append(subscribers, memberIndex)
		}
	}
	topics = slices.DeleteFunc(topics, func(topic subscribedTopic) bool { return len(topic.subscribers) == 0 })
	return layout{members: members, topics: topics}
}

// compareMembers puts static members first, by instance id, then dynamic ones by member id.
//
// Source: class AbstractPartitionAssignor.MemberInfo.
func compareMembers(a, b Member) int {
	if (a.InstanceID == "") != (b.InstanceID == "") {
		if a.InstanceID != "" {
			return -1
		}
		return 1
	}
	// Java compares UTF-16 units; for text below U+FFFF, which ids are, that is the order of the bytes.
	return cmp.Or(cmp.Compare(a.InstanceID, b.InstanceID), cmp.Compare(a.ID, b.ID))
}

// assignment turns what each member of the layout got, and what nobody got, into an Assignment.
func (l layout) assignment(parts [][]TopicPartitions, withheld []TopicPartitions) Assignment {
	members := make([]MemberAssignment, len(l.members))
	for i, member := range l.members {
		members[i] = MemberAssignment{Member: member.ID, Topics: parts[i]}
	}
	slices.SortFunc(members, func(a, b MemberAssignment) int { return cmp.Compare(a.Member, b.Member) })
	return Assignment{Members: members, Withheld: withheld}
}

// memberIndex returns where a member stands in the layout, or -1.
func (l layout) memberIndex(id kafka.MemberID) int {
	return slices.IndexFunc(l.members, func(member Member) bool { return member.ID == id })
}

// partitionNumber returns the number of a partition when those of all topics are counted in order, from 0.
func (l layout) partitionNumber(p place) int32 {
	number := int32(p.partition)
	for _, topic := range l.topics[:p.topicIndex] {
		number += int32(topic.partitionCount)
	}
	return number
}
