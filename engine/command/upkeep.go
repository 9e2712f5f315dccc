package command

import (
	"fmt"

	"loglab/engine/kafka"
)

// CheckRetention lets a broker look for old segments now, beside its timer log.retention.check.interval.ms.
type CheckRetention struct{ Node kafka.NodeID }

// RunCleaner lets a broker's cleaner look at its compacted logs now, beside its timer log.cleaner.backoff.ms. It
// cleans none that it would not have cleaned by itself.
type RunCleaner struct{ Node kafka.NodeID }

// DeleteRecords lets a partition's log begin at an offset, as kafka-delete-records does.
type DeleteRecords struct {
	TopicPartition kafka.TopicPartition
	Offset         kafka.Offset // the first that stays
}

func parseCheckRetention(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return CheckRetention{n} })
}
func parseRunCleaner(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return RunCleaner{n} })
}

// parseDeleteRecords takes "PARTITION @OFFSET".
func parseDeleteRecords(words []word) (Command, error) {
	if len(words) != 2 || words[0].quoted || words[1].quoted {
		return nil, errUsage
	}
	tp, offset, err := parsePlace(words[0].text, words[1].text)
	return DeleteRecords{tp, offset}, err
}

// Verb gives "check-retention".
func (CheckRetention) Verb() string { return "check-retention" }

// String gives the canonical text.
func (c CheckRetention) String() string { return "check-retention " + string(c.Node) }

// Verb gives "run-cleaner".
func (RunCleaner) Verb() string { return "run-cleaner" }

// String gives the canonical text.
func (c RunCleaner) String() string { return "run-cleaner " + string(c.Node) }

// Verb gives "delete-records".
func (DeleteRecords) Verb() string { return "delete-records" }

// String gives the canonical text.
func (c DeleteRecords) String() string {
	return fmt.Sprintf("delete-records %s @%d", c.TopicPartition, c.Offset)
}
