package labs

import (
	"testing"

	"loglab/engine/kafka"
)

func TestSpan(t *testing.T) {
	for ms, want := range map[kafka.Millis]string{
		0: "0 ms", 40: "40 ms", 1000: "1 s", 2500: "2.5 s", 60_000: "1 min", 65_000: "1 min 5 s", 1_500_000: "25 min", 5_400_000: "1 h 30 min", 3_600_000: "1 h",
		3_605_000: "1 h 5 s", 864_000_000: "10 d", 950_400_000: "11 d", 604_800_000 + 7_200_000: "7 d 2 h", 90_061_000: "1 d 1 h", 86_430_000: "1 d 30 s",
	} {
		if got := Span(ms); got != want {
			t.Errorf("%d ms are %q, want %q", ms, got, want)
		}
	}
}
