package client

import "loglab/engine/kafka"

// ProducerView is what can be seen of a producer from outside: an immutable value.
type ProducerView struct {
	Node         kafka.NodeID
	Produced     int // records handed in
	Acknowledged int
	Failed       int
	Waiting      int          // records in batches that are not sent yet
	InFlight     int          // requests without an answer
	Known        int          // partitions of the topic, as its metadata has it
	Sending      bool         // the application hands in its workload
	Refresh      kafka.Millis // when it asks for metadata again
}

// View gives the producer's state.
func (p *Producer) View() ProducerView {
	v := ProducerView{Node: p.node, Produced: p.produced, Acknowledged: p.acknowledged, Failed: p.failed, InFlight: len(p.inFlight), Known: len(p.queues), Sending: p.sending, Refresh: p.metadata.next}
	for _, q := range p.queues {
		for _, b := range q.batches {
			v.Waiting += b.builder.Count()
		}
	}
	return v
}

// ConsumerView is what can be seen of a consumer from outside: an immutable value.
type ConsumerView struct {
	Node       kafka.NodeID
	Partitions []AssignedView // sorted by partition
	Known      int            // partitions of the topic, as its metadata has it
	Refresh    kafka.Millis   // when it asks for metadata again
}

// AssignedView is one partition that a consumer reads.
type AssignedView struct {
	Partition kafka.Partition
	Position  kafka.Offset // next to read; -1: not known yet
	Read      int          // records handed to the application so far
}

// View gives the consumer's state.
func (c *Consumer) View() ConsumerView {
	v := ConsumerView{Node: c.node, Known: c.known, Refresh: c.metadata.next}
	for _, a := range c.partitions {
		v.Partitions = append(v.Partitions, AssignedView{Partition: a.partition, Position: a.position, Read: a.read})
	}
	return v
}
