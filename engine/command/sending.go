package command

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

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

// Skew sets by how much the clock of a producer's machine is ahead of the others; below 0 it is behind.
type Skew struct {
	Node kafka.NodeID
	Skew kafka.Millis
}

// MaxSkew is the greatest skew, either way: thirty days.
const MaxSkew = 30 * 24 * 3600 * 1000

// parseSkew takes "PRODUCER DURATION" or "PRODUCER -DURATION".
func parseSkew(words []word) (Command, error) {
	if len(words) != 2 || words[0].quoted || words[1].quoted {
		return nil, errUsage
	}
	text, behind := strings.CutPrefix(words[1].text, "-")
	span, ok := parseDuration(text)
	if !ok {
		return nil, errUsage
	}
	if span > MaxSkew {
		return nil, fmt.Errorf("%s is more than %dh", text, MaxSkew/3600/1000)
	}
	if behind {
		span = -span
	}
	return Skew{kafka.NodeID(words[0].text), span}, nil
}

// Verb gives "skew".
func (Skew) Verb() string { return "skew" }

// String gives the canonical text.
func (c Skew) String() string {
	if c.Skew < 0 {
		return fmt.Sprintf("skew %s -%s", c.Node, formatDuration(-c.Skew))
	}
	return fmt.Sprintf("skew %s %s", c.Node, formatDuration(c.Skew))
}
