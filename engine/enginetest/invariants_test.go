package enginetest

import (
	"testing"

	"loglab/engine"
)

// The invariants hold in the drawn runs of one broker.
func TestInvariantsHoldInDrawnRuns(t *testing.T) {
	for seed := range uint64(20) {
		d := draw(2000 + seed)
		c := start2(t, d)
		var k engine.Checker
		for at := 0; at <= d.ticks; at++ {
			d.advance(t, c, max(at-1, 0), at, at == 0)
			for _, v := range c.Check(&k) {
				t.Fatalf("seed %d: %s", 2000+seed, v)
			}
		}
	}
}
