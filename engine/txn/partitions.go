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

// without gives the partitions of a that are not in b.
func without(a, b []kafka.TopicPartition) (rest []kafka.TopicPartition) {
	for _, tp := range a {
		if !slices.Contains(b, tp) {
			rest = append(rest, tp)
		}
	}
	return rest
}

// includes says whether a has all of b.
func includes(a, b []kafka.TopicPartition) bool { return len(without(b, a)) == 0 }
