package assignor

import (
	"fmt"
	"slices"

	"loglab/engine/kafka"
)

// assignRange gives each topic's partitions to its subscribers in consecutive runs.
//
// Source: class RangeAssignor.
//
// Simplified: range does not look at racks. Kafka's first gives a member partitions with a replica in
// its own rack, if client.rack is set and the racks of the replicas differ (KIP-881).
func assignRange(l layout) ([][]TopicPartitions, []TopicPartitions) {
	parts := make([][]TopicPartitions, len(l.members))
	for _, topic := range l.topics {
		all := make([]kafka.Partition, topic.partitionCount)
		for i := range all {
			all[i] = kafka.Partition(i)
		}
		for i, memberIndex := range topic.subscribers {
			start, end := rangeOf(i, len(topic.subscribers), topic.partitionCount)
			if start == end {
				break // nothing is left for the members after this one
			}
			parts[memberIndex] = append(parts[memberIndex], TopicPartitions{topic.name, all[start:end:end]})
		}
	}
	return parts, nil
}

// rangeOf returns the run [start, end) of the subscriber number i, from 0, of m.
func rangeOf(i, m, partitionCount int) (start, end int) {
	quotient, remainder := partitionCount/m, partitionCount%m
	start = i*quotient + min(i, remainder)
	end = start + quotient
	if i < remainder {
		end++
	}
	return start, end
}

func whyRange(l layout, p place) string {
	topic := l.topics[p.topicIndex]
	n, m := topic.partitionCount, len(topic.subscribers)
	i := slices.Index(topic.subscribers, p.ownerIndex)
	start, end := rangeOf(i, m, n)

	run := fmt.Sprintf("Partitions %d–%d of %s go", start, end-1, topic.name)
	if end-start == 1 {
		run = fmt.Sprintf("Partition %d of %s goes", start, topic.name)
	}
	owner := l.members[p.ownerIndex].ID
	if m == 1 {
		return fmt.Sprintf("%s to %s, the only subscriber.", run, owner)
	}
	division := fmt.Sprintf("%d / %d = %d", n, m, n/m)
	switch remainder := n % m; remainder {
	case 0:
		division += fmt.Sprintf(", so each gets %d", n/m)
	case 1:
		division += fmt.Sprintf(" remainder 1, so the first gets %d and each other %d", n/m+1, n/m)
	default:
		division += fmt.Sprintf(" remainder %d, so the first %d get %d and each other %d", remainder, remainder, n/m+1, n/m)
	}
	return fmt.Sprintf("%s to %s, subscriber %d of %d: %s.", run, owner, i+1, m, division)
}
