package assignor

import (
	"cmp"
	"slices"

	"loglab/engine/kafka"
)

// Assignment says which member reads which partitions. It is the caller's.
type Assignment struct {
	Members []MemberAssignment // every member of the group, sorted by id
	// Withheld are the partitions that nobody gets in this round because a member still owns them that
	// has to give them up first; sorted by topic. Only cooperative-sticky withholds any.
	Withheld []TopicPartitions
}

// MemberAssignment is the part of one member.
type MemberAssignment struct {
	Member kafka.MemberID
	Topics []TopicPartitions // sorted by topic; empty for a member without partitions
}

// Owner returns the member that a partition is assigned to; false if it is assigned to nobody.
func (a Assignment) Owner(tp kafka.TopicPartition) (kafka.MemberID, bool) {
	for _, member := range a.Members {
		if contains(member.Topics, tp) {
			return member.Member, true
		}
	}
	return "", false
}

// Withholds tells whether a partition is withheld.
func (a Assignment) Withholds(tp kafka.TopicPartition) bool {
	return contains(a.Withheld, tp)
}

// contains looks a partition up in a list that is sorted by topic.
func contains(list []TopicPartitions, tp kafka.TopicPartition) bool {
	i, found := slices.BinarySearchFunc(list, tp.Topic, func(owned TopicPartitions, name string) int {
		return cmp.Compare(owned.Topic, name)
	})
	if !found {
		return false
	}
	_, found = slices.BinarySearch(list[i].Partitions, tp.Partition)
	return found
}

// partList collects partitions that come in order. The partitions of all its topics share numbers.
type partList struct {
	topics  []TopicPartitions
	numbers []kafka.Partition
}

func (list *partList) add(tp kafka.TopicPartition) {
	list.numbers = append(list.numbers, tp.Partition)
	end := len(list.numbers)
	if n := len(list.topics); n > 0 && list.topics[n-1].Topic == tp.Topic {
		start := end - 1 - len(list.topics[n-1].Partitions)
		list.topics[n-1].Partitions = list.numbers[start:end:end]
		return
	}
	list.topics = append(list.topics, TopicPartitions{tp.Topic, list.numbers[end-1 : end : end]})
}
