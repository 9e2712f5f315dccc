package enginetest

import (
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
)

// A paused process learns of a connection that was lost meanwhile when it goes on, and not before.
func TestPausedClientLearnsLater(t *testing.T) {
	spec := orders(1, 0)
	spec.Producers[0].Config.EnableIdempotence = engine.IdempotenceOff
	c := start(t, spec)
	give(t, c, "drop-next b1 p0", "produce p0 k v")
	tick(t, c, 2) // the request is with the broker
	give(t, c, "pause p0")
	tick(t, c, 8)
	lost := func() (tick int) {
		for e := range c.Journal().All() {
			if _, ok := e.Body.(journal.ConnectionLost); ok {
				return int(e.Tick)
			}
		}
		return -1
	}
	if got := lost(); got != -1 {
		t.Errorf("the paused producer learned of the lost connection in tick %d", got)
	}
	give(t, c, "resume p0")
	tick(t, c, 20)
	if got := lost(); got != 10 {
		t.Errorf("it learned in tick %d, want 10, when it went on", got)
	}
	if v := c.View().Producers[0]; v.Acknowledged != 1 {
		t.Errorf("%d records acknowledged after the retry, want 1", v.Acknowledged)
	}
	if end := c.View().Partitions[0].Log.LogEndOffset; end != 2 {
		t.Errorf("the log ends at %d, want 2: the retry wrote it again", end)
	}
}
