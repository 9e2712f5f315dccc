package command

import (
	"fmt"
	"strconv"

	"loglab/engine/kafka"
)

// ResetRule says where a group's offsets are set to.
type ResetRule string

// The rules, as the options of kafka-consumer-groups --reset-offsets are named.
const (
	ToEarliest  ResetRule = "earliest"  // --to-earliest
	ToLatest    ResetRule = "latest"    // --to-latest
	ToOffset    ResetRule = "offset"    // --to-offset
	ToTimestamp ResetRule = "timestamp" // --to-datetime, in milliseconds since 1970
	ByDuration  ResetRule = "duration"  // --by-duration
	ShiftBy     ResetRule = "shift"     // --shift-by
)

// ResetTo is a place to read on from in every partition that a group has read.
type ResetTo struct {
	Rule  ResetRule
	Value int64 // an offset, a timestamp, milliseconds or a number of offsets; 0 with ToEarliest and ToLatest
}

// MaxShift is the greatest number of offsets to shift by, either way.
const MaxShift = 1_000_000_000

// parseResetTo reads "earliest", "offset 5", "duration 45s", "shift -3".
func parseResetTo(words []word) (to ResetTo, err error) {
	if len(words) == 0 || words[0].quoted || len(words) > 1 && words[1].quoted {
		return to, errUsage
	}
	to.Rule = ResetRule(words[0].text)
	if to.Rule == ToEarliest || to.Rule == ToLatest {
		if len(words) != 1 {
			return to, errUsage
		}
		return to, nil
	}
	if len(words) != 2 {
		return to, errUsage
	}
	switch text := words[1].text; to.Rule {
	case ToOffset, ToTimestamp:
		n, err := parseOffset(text)
		to.Value = int64(n)
		return to, err
	case ByDuration:
		span, ok := parseDuration(text)
		if !ok {
			return to, errUsage
		}
		to.Value = int64(span)
		return to, nil
	case ShiftBy:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < -MaxShift || n > MaxShift || n == 0 {
			return to, fmt.Errorf("%q is not a number of offsets from -%d to %d without 0", text, MaxShift, MaxShift)
		}
		to.Value = n
		return to, nil
	}
	return to, errUsage
}

// String gives the canonical text.
func (t ResetTo) String() string {
	switch t.Rule {
	case ToEarliest, ToLatest:
		return string(t.Rule)
	case ByDuration:
		return "duration " + formatDuration(kafka.Millis(t.Value))
	}
	return fmt.Sprintf("%s %d", t.Rule, t.Value)
}

// Reset sets the committed offsets of a group, as kafka-consumer-groups does: only while the group is empty.
type Reset struct {
	Group string
	To    ResetTo
}

// Replay makes a group read again: its members leave, and once it is empty its offsets are reset and they start.
type Replay struct {
	Group string
	From  ResetTo
}

// parseReset takes "GROUP to PLACE".
func parseReset(words []word) (Command, error) {
	if len(words) < 3 || words[1] != (word{text: "to"}) {
		return nil, errUsage
	}
	to, err := parseResetTo(words[2:])
	return Reset{words[0].text, to}, err
}

// parseReplay takes "GROUP from PLACE".
func parseReplay(words []word) (Command, error) {
	if len(words) < 3 || words[1] != (word{text: "from"}) {
		return nil, errUsage
	}
	from, err := parseResetTo(words[2:])
	return Replay{words[0].text, from}, err
}

// Verb gives "reset".
func (Reset) Verb() string { return "reset" }

// String gives the canonical text.
func (c Reset) String() string { return "reset " + quoteWord(c.Group) + " to " + c.To.String() }

// Verb gives "replay".
func (Replay) Verb() string { return "replay" }

// String gives the canonical text.
func (c Replay) String() string { return "replay " + quoteWord(c.Group) + " from " + c.From.String() }
