package command

import (
	"fmt"
	"strconv"
	"strings"

	"loglab/engine/kafka"
)

// MaxWait is the longest span that one [Wait] may cover: seven days.
const MaxWait = 7 * 24 * 3600 * 1000

// Wait lets time pass: all that falls due in the span happens in order, before the next tick.
type Wait struct{ Span kafka.Millis }

// unit is one unit of a duration's text.
type unit struct {
	suffix string
	millis kafka.Millis
}

// units of a duration, the greatest first; "ms" stands before "s" and "m" so that suffixes match.
var units = [...]unit{{"h", 3600 * 1000}, {"m", 60 * 1000}, {"s", 1000}, {"ms", 1}}

func parseWait(words []word) (Command, error) {
	if len(words) != 1 || words[0].quoted {
		return nil, errUsage
	}
	span, ok := parseDuration(words[0].text)
	if !ok {
		return nil, errUsage
	}
	if span < 1 || span > MaxWait {
		return nil, fmt.Errorf("%s is not between 1ms and %dh", words[0].text, MaxWait/3600/1000)
	}
	return Wait{span}, nil
}

// parseDuration reads a whole number with a unit, 32 bits at most.
func parseDuration(text string) (span kafka.Millis, ok bool) {
	digits := strings.TrimRight(text, "hms")
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0, false
	}
	for _, u := range units {
		if u.suffix == text[len(digits):] {
			return kafka.Millis(n) * u.millis, true
		}
	}
	return 0, false
}

// formatDuration gives the greatest unit that leaves a whole number.
func formatDuration(span kafka.Millis) string {
	for _, u := range units {
		if span%u.millis == 0 && (span > 0 || u.millis == 1) {
			return fmt.Sprintf("%d%s", span/u.millis, u.suffix)
		}
	}
	panic("unreachable: 1 ms divides every span")
}

// Verb gives "wait".
func (Wait) Verb() string { return "wait" }

// String gives the canonical text: the greatest unit that leaves a whole number.
func (c Wait) String() string { return "wait " + formatDuration(c.Span) }
