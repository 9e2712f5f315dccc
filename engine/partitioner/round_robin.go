package partitioner

import "loglab/engine/kafka"

// RoundRobin gives each record the next partition in turn. There is one RoundRobin a producer and
// topic; copying it clones it. The zero value starts with the first partition, as Java's
// RoundRobinPartitioner and Sarama's do.
//
// Java's default before 2.4, for records without a key, and kafkajs start at a random place: they are
// RoundRobin{Next: rnd.Uint32()}. Java's RoundRobinPartitioner class and kafka-go's default go round
// with every record, keyed or not.
//
// Source: class RoundRobinPartitioner.
type RoundRobin struct {
	// Next counts the records so far. Its top bit is ignored, so the turn starts over after 2^31
	// records.
	Next uint32
}

// Partition returns where the next record goes and moves on by one. The turn goes over the partitions
// with a leader; when their number changes it goes on at the count modulo the new number, as Kafka's.
func (r *RoundRobin) Partition(candidates Candidates) kafka.Partition {
	turn := r.Next & 0x7fffffff
	r.Next++
	return candidates.at(int(turn) % candidates.count())
}
