package assignor

import (
	"cmp"
	"slices"

	"loglab/engine/kafka"
)

// Assignment says which member reads which partitions. It is the caller's.
type Assignment struct {
	Members []MemberAssignment // every member of the group, sorted by id
}

// MemberAssignment is the part of one member.
type MemberAssignment struct {
	Member kafka.MemberID
	Topics []TopicPartitions // sorted by topic; empty for a member without partitions
}

// Owner returns the member that a partition is assigned to; false if it is assigned to nobody.
func (a Assignment) Owner(tp kafka.TopicPartition) (kafka.MemberID, bool) {
	for _, member := range a.Members {
		i, found := slices.BinarySearchFunc(member.Topics, tp.Topic, func(owned TopicPartitions, name string) int {
			return cmp.Compare(owned.Topic, name)
		})
		if !found {
			continue
		}
		if _, found := slices.BinarySearch(member.Topics[i].Partitions, tp.Partition); found {
			return member.Member, true
		}
	}
	return "", false
}
