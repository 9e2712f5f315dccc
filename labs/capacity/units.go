package capacity

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"loglab/engine/kafka"
)

// prefixes are those of SI, each a thousand times the one before.
var prefixes = []string{"", "k", "M", "G", "T", "P", "E", "Z", "Y"}

// bytes writes a number of bytes: "500 B", "9.07 TB".
func bytes(n float64) string { return scaled(n, "B") }

// bytesPerSecond and bitsPerSecond write a flow of bytes: "30 MB/s", "240 Mbit/s".
func bytesPerSecond(n float64) string { return scaled(n, "B/s") }
func bitsPerSecond(n float64) string  { return scaled(8*n, "bit/s") }

// scaled writes a number with the prefix that leaves from 1 to 999, and with three digits that count.
func scaled(n float64, unit string) string {
	at := 0
	for at+1 < len(prefixes) && rounded(n) >= 1000 {
		n, at = n/1000, at+1
	}
	return digits(n) + " " + prefixes[at] + unit
}

// rounded is n with three digits that count, at least its two decimals.
func rounded(n float64) float64 {
	step := 100.0
	switch {
	case n >= 100:
		step = 1
	case n >= 10:
		step = 10
	}
	return math.Round(n*step) / step
}

// digits writes a rounded number without zeros at its end: "9.07", "30", "604", "1,048".
func digits(n float64) string {
	n = rounded(n)
	if n >= 1000 {
		return kafka.Thousands(int64(n))
	}
	text := strconv.FormatFloat(n, 'f', 2, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// perSecond writes a rate of records: whole ones with commas, few with decimals.
func perSecond(n float64) string {
	if n >= 1000 {
		return kafka.Thousands(int64(math.Round(n))) + " records/s"
	}
	return digits(n) + " records/s"
}

// ceil divides and rounds up.
func ceil(n, by int64) int64 { return (n + by - 1) / by }

// units of a time, in seconds.
var units = []struct {
	seconds int64
	name    string
}{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}

// centuries is more than a time that is worth a number, in seconds.
const centuries = 100 * 365 * 86400

// duration writes a time by its two largest units, rounded up: "42 min 52 s", "5 h", "3 d 5 h".
func duration(seconds int64) string {
	if seconds > centuries {
		return "more than 100 years"
	}
	for i, u := range units {
		if seconds < u.seconds {
			continue
		}
		if i == len(units)-1 {
			return fmt.Sprintf("%d s", seconds)
		}
		next := units[i+1]
		seconds = ceil(seconds, next.seconds) * next.seconds
		if i > 0 && seconds == units[i-1].seconds { // 23 h 59 min 59 s is a day
			return "1 " + units[i-1].name
		}
		text := kafka.Thousands(seconds/u.seconds) + " " + u.name
		if rest := seconds % u.seconds / next.seconds; rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, next.name)
		}
		return text
	}
	return "0 s"
}
