package txn

import (
	"slices"

	"loglab/engine/kafka"
)

func compare(a, b kafka.TopicPartition) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

// sorted gives partitions in order, each once, in a list of its own.
func sorted(partitions []kafka.TopicPartition) []kafka.TopicPartition {
	list := slices.Clone(partitions)
	slices.SortFunc(list, compare)
	return slices.Compact(list)
}

// union gives the partitions of a, which are sorted, and of b.
func union(a, b []kafka.TopicPartition) []kafka.TopicPartition { return sorted(slices.Concat(a, b)) }

// has says whether a list that is in order has the partition.
func has(list []kafka.TopicPartition, tp kafka.TopicPartition) bool {
	_, found := slices.BinarySearchFunc(list, tp, compare)
	return found
}

// without gives the partitions of a that are not in b.
func without(a, b []kafka.TopicPartition) (rest []kafka.TopicPartition) {
	b = sorted(b)
	for _, tp := range a {
		if !has(b, tp) {
			rest = append(rest, tp)
		}
	}
	return rest
}

// includes says whether a, which is in order, has all of b.
func includes(a, b []kafka.TopicPartition) bool {
	return !slices.ContainsFunc(b, func(tp kafka.TopicPartition) bool { return !has(a, tp) })
}
