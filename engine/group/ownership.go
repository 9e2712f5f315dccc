package group

import (
	"bytes"
	"cmp"
	"slices"

	"loglab/engine/kafka"
)

// idPartition is a partition of a topic that is named by its id, as the consumer protocol names it.
type idPartition struct {
	topic     [16]byte
	partition kafka.Partition
}

func compareIDPartition(a, b idPartition) int {
	return cmp.Or(bytes.Compare(a.topic[:], b.topic[:]), cmp.Compare(a.partition, b.partition))
}

// ownership is a set of partitions, sorted by topic id and partition. It is never changed: each operation gives another
// one.
type ownership []idPartition

func (o ownership) has(p idPartition) bool {
	_, found := slices.BinarySearchFunc(o, p, compareIDPartition)
	return found
}

func (o ownership) filter(keep func(idPartition) bool) (kept ownership) {
	for _, p := range o {
		if keep(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

// and gives what both have.
func (o ownership) and(other ownership) ownership { return o.filter(other.has) }

// without gives what the other one has not.
func (o ownership) without(other ownership) ownership {
	return o.filter(func(p idPartition) bool { return !other.has(p) })
}

// with gives what either has.
func (o ownership) with(other ownership) ownership {
	if len(other) == 0 {
		return o
	}
	all := slices.Concat(o, other)
	slices.SortFunc(all, compareIDPartition)
	return slices.Compact(all)
}

// intersects says whether there is a partition that both have.
func (o ownership) intersects(other ownership) bool { return slices.ContainsFunc(o, other.has) }

// within says whether the other one has every partition.
func (o ownership) within(other ownership) bool {
	return !slices.ContainsFunc(o, func(p idPartition) bool { return !other.has(p) })
}

// byTopic walks over the partitions by topic.
func (o ownership) byTopic(yield func(topic [16]byte, partitions []int32)) {
	for i := 0; i < len(o); {
		topic, list := o[i].topic, []int32(nil)
		for ; i < len(o) && o[i].topic == topic; i++ {
			list = append(list, int32(o[i].partition))
		}
		yield(topic, list)
	}
}

// add puts partitions in that come in any order, each perhaps more than once; sorted makes a set of them.
func (o *ownership) add(topic [16]byte, partitions []int32) {
	for _, p := range partitions {
		*o = append(*o, idPartition{topic, kafka.Partition(p)})
	}
}

func (o ownership) sorted() ownership {
	slices.SortFunc(o, compareIDPartition)
	return slices.Compact(o)
}
