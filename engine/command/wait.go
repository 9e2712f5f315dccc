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
	digits := strings.TrimRight(words[0].text, "hms")
	suffix := words[0].text[len(digits):]
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return nil, errUsage
	}
	for _, u := range units {
		if u.suffix != suffix {
			continue
		}
		if span := kafka.Millis(n) * u.millis; span >= 1 && span <= MaxWait {
			return Wait{span}, nil
		}
		return nil, fmt.Errorf("%s is not between 1ms and %dh", words[0].text, MaxWait/3600/1000)
	}
	return nil, errUsage
}

// Verb gives "wait".
func (Wait) Verb() string { return "wait" }

// String gives the canonical text: the greatest unit that leaves a whole number.
func (c Wait) String() string {
	for _, u := range units {
		if c.Span%u.millis == 0 {
			return fmt.Sprintf("wait %d%s", c.Span/u.millis, u.suffix)
		}
	}
	panic("unreachable: 1 ms divides every span")
}
