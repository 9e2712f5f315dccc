package client

import (
	"fmt"
	"strconv"
	"strings"

	"loglab/engine/kafka"
)

// byDuration is how auto.offset.reset begins that looks back a span of time (KIP-1106).
const byDuration = "by_duration:"

// resetTimestamp gives what ListOffsets asks for by auto.offset.reset: -2 is the start of the log, -1 its end.
//
// Source: AutoOffsetResetStrategy.
func (c *Consumer) resetTimestamp(now kafka.Millis) int64 {
	switch policy := c.config.AutoOffsetReset; {
	case policy == "latest":
		return -1
	case strings.HasPrefix(policy, byDuration):
		span, err := parseISODuration(strings.TrimPrefix(policy, byDuration))
		if err != nil {
			panic(err) // the spec was checked
		}
		return int64(c.start) + int64(now-span)
	}
	return -2
}

// CheckReset says why auto.offset.reset cannot be that; nil: it can.
func CheckReset(policy string) error {
	switch {
	case policy == "earliest", policy == "latest", policy == resetNone:
		return nil
	case strings.HasPrefix(policy, byDuration):
		_, err := parseISODuration(strings.TrimPrefix(policy, byDuration))
		return err
	}
	return fmt.Errorf("auto.offset.reset = %.40q; allowed are earliest, latest, none and by_duration:PT1H with hours, minutes or seconds", policy)
}

// parseISODuration reads a duration as PnDTnHnMnS with whole numbers, at least one of them.
func parseISODuration(text string) (span kafka.Millis, err error) {
	bad := fmt.Errorf("auto.offset.reset: %.40q is no duration; allowed is PnDTnHnMnS with whole numbers, as PT1H or P1DT30M", text)
	rest, ok := strings.CutPrefix(text, "P")
	if !ok {
		return 0, bad
	}
	days, times, hasTime := strings.Cut(rest, "T")
	units := []struct {
		suffix string
		millis kafka.Millis
	}{{"D", 86_400_000}}
	read := func(part string) bool {
		for part != "" {
			at := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
			n, err := strconv.ParseUint(part[:max(at, 0)], 10, 31)
			if err != nil {
				return false
			}
			for len(units) > 0 && units[0].suffix != part[at:at+1] {
				units = units[1:]
			}
			if len(units) == 0 {
				return false
			}
			span += kafka.Millis(n) * units[0].millis
			units, part = units[1:], part[at+1:]
		}
		return true
	}
	if !read(days) {
		return 0, bad
	}
	units = append(units[:0:0], []struct {
		suffix string
		millis kafka.Millis
	}{{"H", 3_600_000}, {"M", 60_000}, {"S", 1000}}...)
	if !read(times) || hasTime && times == "" || days == "" && times == "" {
		return 0, bad
	}
	return span, nil
}
