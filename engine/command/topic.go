package command

import (
	"fmt"
	"strconv"
	"strings"
)

// AddPartitions asks the cluster to give a topic more partitions, as kafka-topics --alter does.
type AddPartitions struct {
	Topic string
	Count int // partitions in all, afterwards
}

// CreateTopic makes a topic, as kafka-topics --create does; with which partitions, the run's spec says.
type CreateTopic struct{ Topic string }

func parseCreateTopic(words []word) (Command, error) {
	if len(words) != 1 || words[0].quoted {
		return nil, errUsage
	}
	return CreateTopic{words[0].text}, nil
}

// Verb gives "create-topic".
func (CreateTopic) Verb() string { return "create-topic" }

// String gives the canonical text.
func (c CreateTopic) String() string { return "create-topic " + c.Topic }

// MaxPartitions is the greatest number of partitions that a command may name.
const MaxPartitions = 1_000_000

func parseAddPartitions(words []word) (Command, error) {
	if len(words) != 3 || words[0].quoted || words[1] != (word{text: "to"}) || words[2].quoted {
		return nil, errUsage
	}
	n, err := strconv.ParseUint(words[2].text, 10, 32)
	if err != nil || n < 1 || n > MaxPartitions {
		return nil, fmt.Errorf("%q is not a number of partitions from 1 to %d", words[2].text, MaxPartitions)
	}
	return AddPartitions{Topic: words[0].text, Count: int(n)}, nil
}

// Verb gives "add-partitions".
func (AddPartitions) Verb() string { return "add-partitions" }

// String gives the canonical text.
func (c AddPartitions) String() string {
	return strings.Join([]string{"add-partitions", c.Topic, "to", strconv.Itoa(c.Count)}, " ")
}
