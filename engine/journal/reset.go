package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// OffsetChange is one partition whose committed offset was set.
type OffsetChange struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           kafka.Offset         `json:"from"` // -1: nothing was committed
	To             kafka.Offset         `json:"to"`
}

// OffsetsReset says that the offsets of a group were set by a tool.
type OffsetsReset struct {
	Group   string         `json:"group"`
	Rule    string         `json:"rule"` // "earliest", "offset 5", …
	Offsets []OffsetChange `json:"offsets"`
}

// Kind gives the kind's name.
func (OffsetsReset) Kind() string { return "OffsetsReset" }

// Text gives the rule and the offsets.
func (b OffsetsReset) Text() string {
	return fmt.Sprintf("%s to %s: %s", b.Group, b.Rule, b.list(" "))
}

// Sentence gives the rule and the offsets.
func (b OffsetsReset) Sentence() string {
	return fmt.Sprintf("The offsets of group %s are set to %s: %s. The log is as it was.", b.Group, b.Rule, b.list(", "))
}

func (b OffsetsReset) list(separator string) string {
	names := make([]string, len(b.Offsets))
	for i, o := range b.Offsets {
		from := fmt.Sprint(o.From)
		if o.From < 0 {
			from = "none"
		}
		names[i] = fmt.Sprintf("%s %s→%d", o.TopicPartition, from, o.To)
	}
	return strings.Join(names, separator)
}

// ResetRefused says that the tool does not set the offsets of a group that has members.
type ResetRefused struct {
	Group   string `json:"group"`
	State   string `json:"state"`
	Members int    `json:"members"`
}

// Kind gives the kind's name.
func (ResetRefused) Kind() string { return "ResetRefused" }

// Text gives the state.
func (b ResetRefused) Text() string {
	return fmt.Sprintf("%s state=%s members=%d", b.Group, b.State, b.Members)
}

// Sentence gives the state and the rule.
func (b ResetRefused) Sentence() string {
	return fmt.Sprintf("The offsets of group %s are not reset: the tool does that only while a group is inactive, and this one is %s with %s.", b.Group, b.State, kafka.Count(b.Members, "member"))
}

// ResetFailed says that the tool could not set the offsets of a group.
type ResetFailed struct {
	Group string `json:"group"`
	Error string `json:"error"` // of the answer, or the exception of the tool
	Why   string `json:"why"`
}

// Kind gives the kind's name.
func (ResetFailed) Kind() string { return "ResetFailed" }

// Text gives the error.
func (b ResetFailed) Text() string { return fmt.Sprintf("%s %s: %s", b.Group, b.Error, b.Why) }

// Sentence gives the error.
func (b ResetFailed) Sentence() string {
	return fmt.Sprintf("The offsets of group %s could not be reset (%s): %s. They stay as they are.", b.Group, b.Error, b.Why)
}
