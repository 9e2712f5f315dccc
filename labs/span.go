package labs

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// Span writes a length of time in its two largest units: "10 d", "1 h 30 min", "2.5 s", "40 ms".
func Span(ms kafka.Millis) string {
	units := []struct {
		name string
		size kafka.Millis
	}{{"d", 24 * 3_600_000}, {"h", 3_600_000}, {"min", 60_000}}
	var parts []string
	rest := ms
	for _, u := range units {
		if n := rest / u.size; n > 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%s %s", kafka.Thousands(n), u.name))
			rest -= n * u.size
		} else if len(parts) > 0 {
			break
		}
	}
	switch {
	case len(parts) == 2 || len(parts) == 1 && (rest < 1000 || rest >= 60_000):
		return strings.Join(parts, " ")
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	}
	seconds := fmt.Sprintf("%d", rest/1000)
	if tenths := rest % 1000 / 100; tenths > 0 && len(parts) == 0 {
		seconds += fmt.Sprintf(".%d", tenths)
	}
	return strings.Join(append(parts, seconds+" s"), " ")
}
