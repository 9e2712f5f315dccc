package client

import (
	"iter"

	"loglab/engine/kafka"
)

// partitionsByTopic walks over the topics of a sorted list, with the partitions of each as the protocol has them.
func partitionsByTopic(list []kafka.TopicPartition) iter.Seq2[string, []int32] {
	return func(yield func(string, []int32) bool) {
		for i := 0; i < len(list); {
			topic, numbers := list[i].Topic, []int32(nil)
			for ; i < len(list) && list[i].Topic == topic; i++ {
				numbers = append(numbers, int32(list[i].Partition))
			}
			if !yield(topic, numbers) {
				return
			}
		}
	}
}

func partitionsOf(numbers []int32) []kafka.Partition {
	list := make([]kafka.Partition, len(numbers))
	for i, n := range numbers {
		list[i] = kafka.Partition(n)
	}
	return list
}
