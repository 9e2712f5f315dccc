package txn

import (
	"testing"

	"loglab/engine/sabotage"
)

// Each rule that a test can break is broken by its switch.
func TestSabotage(t *testing.T) {
	broken := func(rule sabotage.Rule) (*run, *producer) {
		r := newRun(t, func(c *Config) { c.Sabotage = rule })
		p := newProducer("p1")
		r.begins(p)
		return r, p
	}
	r, p := broken(sabotage.ZombiesPass)
	p2 := newProducer("p2")
	r.begins(p2)
	r.want(Empty, 1000, 0)
	r.wantCode(r.adds(p, 0), "ok")

	r, p = broken(sabotage.EndAnsweredEarly)
	r.adds(p, 0)
	r.delay = 100
	r.ended(p, r.ends(p, true))
	r.want(Ongoing, 1000, 0)
	if p.Epoch != 1 {
		t.Errorf("answered with epoch %d", p.Epoch)
	}

	r, p = broken(sabotage.CompletesEarly)
	r.noMarkers = true
	r.adds(p, 0)
	r.ended(p, r.ends(p, true))
	r.want(CompleteCommit, 1000, 1)
	if len(r.markers) != 1 {
		t.Errorf("markers asked for: %+v", r.markers)
	}
}
