package enginetest

import (
	"testing"

	"loglab/engine"
)

// checked runs a cluster under the invariants for some ticks and gives what did not hold.
func checked(t *testing.T, c *engine.Cluster, k *engine.Checker, ticks int) []engine.Violation {
	t.Helper()
	found := c.Check(k)
	for range ticks {
		tick(t, c, 1)
		found = append(found, c.Check(k)...)
	}
	return found
}

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
