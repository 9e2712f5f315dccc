package command

import (
	"fmt"
	"strconv"

	"loglab/engine/kafka"
)

// Elect asks the controller for a leader of a partition: the preferred replica, or with Unclean set one that is
// not in sync, as kafka-leader-election does.
type Elect struct {
	TopicPartition kafka.TopicPartition
	Unclean        bool
}

// AlterConfig sets a setting of a topic, as kafka-configs --alter does.
type AlterConfig struct{ Topic, Name, Value string }

func parseElectPreferred(words []word) (Command, error) { return parseElect(words, false) }
func parseElectUnclean(words []word) (Command, error)   { return parseElect(words, true) }

func parseElect(words []word, unclean bool) (Command, error) {
	if len(words) != 2 || words[0].quoted || words[1].quoted {
		return nil, errUsage
	}
	n, err := strconv.ParseUint(words[1].text, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("%q is not the number of a partition", words[1].text)
	}
	return Elect{kafka.TopicPartition{Topic: words[0].text, Partition: kafka.Partition(n)}, unclean}, nil
}

func parseAlterConfig(words []word) (Command, error) {
	if len(words) != 3 || words[0].quoted || words[1].quoted || words[2].quoted {
		return nil, errUsage
	}
	return AlterConfig{words[0].text, words[1].text, words[2].text}, nil
}

// Verb gives "elect-preferred" or "elect-unclean".
func (c Elect) Verb() string {
	if c.Unclean {
		return "elect-unclean"
	}
	return "elect-preferred"
}

// String gives the canonical text.
func (c Elect) String() string {
	return fmt.Sprintf("%s %s %d", c.Verb(), c.TopicPartition.Topic, c.TopicPartition.Partition)
}

// Verb gives "alter-config".
func (AlterConfig) Verb() string { return "alter-config" }

// String gives the canonical text.
func (c AlterConfig) String() string {
	return fmt.Sprintf("alter-config %s %s %s", c.Topic, c.Name, c.Value)
}
