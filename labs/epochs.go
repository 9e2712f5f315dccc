package labs

import (
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// Epochs are the leader epochs in which brokers lead partitions, as a walk over the journal has told so far. They are only
// looked up.
type Epochs map[leading]kafka.LeaderEpoch

// leading is a broker and a partition that it leads.
type leading struct {
	node kafka.NodeID
	tp   kafka.TopicPartition
}

// Take takes in the next event.
func (s Epochs) Take(e journal.Event) {
	if b, ok := e.Body.(journal.LeadershipTaken); ok {
		s[leading{e.Node, b.TopicPartition}] = b.LeaderEpoch
	}
}

// Of gives the epoch in which a broker leads a partition, or did last.
func (s Epochs) Of(node kafka.NodeID, tp kafka.TopicPartition) kafka.LeaderEpoch {
	return s[leading{node, tp}]
}
