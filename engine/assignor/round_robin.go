package assignor

import (
	"fmt"
	"slices"

	"loglab/engine/kafka"
)

// assignRoundRobin deals the partitions of all topics to the members in turn. Within a topic the turn
// goes round its subscribers, so it is enough to find where it enters the topic.
//
// Source: class RoundRobinAssignor.
func assignRoundRobin(l layout) ([][]TopicPartitions, []TopicPartitions) {
	parts := make([][]TopicPartitions, len(l.members))
	turn := 0 // index of the member whose turn it is; len(l.members) means the first again
	for _, topic := range l.topics {
		subscribers := topic.subscribers
		m := len(subscribers)
		first, _ := slices.BinarySearch(subscribers, turn)
		for i := range min(m, topic.partitionCount) {
			memberIndex := subscribers[(first+i)%m]
			parts[memberIndex] = append(parts[memberIndex], TopicPartitions{topic.name, everyNth(i, m, topic.partitionCount)})
		}
		turn = subscribers[(first+topic.partitionCount-1)%m] + 1
	}
	return parts, nil
}

// everyNth returns the partitions start, start+step, … below partitionCount.
func everyNth(start, step, partitionCount int) []kafka.Partition {
	partitions := make([]kafka.Partition, 0, (partitionCount-start+step-1)/step)
	for p := start; p < partitionCount; p += step {
		partitions = append(partitions, kafka.Partition(p))
	}
	return partitions
}

func whyRoundRobin(l layout, p place) string {
	topic := l.topics[p.topicIndex]
	number, total := int(p.partition)+1, 0
	for i, other := range l.topics {
		if i < p.topicIndex {
			number += other.partitionCount
		}
		total += other.partitionCount
	}
	tp := kafka.TopicPartition{Topic: topic.name, Partition: p.partition}
	owner := l.members[p.ownerIndex].ID

	m := len(l.members)
	next := (p.beforeIndex + 1) % m // whose turn it would be
	passed := (p.ownerIndex - next + m) % m

	text := fmt.Sprintf("%s is partition %d of %d in order; ", tp, number, total)
	if p.beforeIndex < 0 {
		text += "the turn starts with "
	} else {
		text += fmt.Sprintf("after %s it is the turn of ", l.members[p.beforeIndex].ID)
	}
	text += string(owner)
	switch passed {
	case 0:
		return text + "."
	case 1:
		return fmt.Sprintf("%s; %s is passed over, it does not subscribe to %s.", text, l.members[next].ID, topic.name)
	default:
		return fmt.Sprintf("%s; %d members are passed over, they do not subscribe to %s.", text, passed, topic.name)
	}
}
