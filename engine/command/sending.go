package command

import "loglab/engine/kafka"

// StopSending makes a producer's application hand in no more records of its workload. The producer
// itself goes on: what it holds is sent, and [Produce] still hands in single records.
type StopSending struct{ Producer kafka.NodeID }

func parseStopSending(words []word) (Command, error) {
	node, err := parseNode(words)
	return StopSending{node}, err
}

// Verb gives "stop-sending".
func (StopSending) Verb() string { return "stop-sending" }

// String gives the canonical text.
func (c StopSending) String() string { return "stop-sending " + string(c.Producer) }

// StartSending lets a producer's application go on with its workload.
type StartSending struct{ Producer kafka.NodeID }

func parseStartSending(words []word) (Command, error) {
	node, err := parseNode(words)
	return StartSending{node}, err
}

// Verb gives "start-sending".
func (StartSending) Verb() string { return "start-sending" }

// String gives the canonical text.
func (c StartSending) String() string { return "start-sending " + string(c.Producer) }
