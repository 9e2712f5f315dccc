package enginetest

import (
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/txn"
)

// threeBrokers gives an application that reads, processes and writes on three brokers, where every topic has three replicas.
func threeBrokers() *engine.Spec {
	spec := processing("app-1")
	spec.Cluster = engine.DefaultCluster(3)
	spec.Topic.ReplicationFactor, spec.Topic.MinInsyncReplicas = 3, 2
	spec.Topics[0].ReplicationFactor, spec.Topics[0].MinInsyncReplicas = 3, 2
	return spec
}

// heldOf gives what the coordinator has of the one transactional.id.
func heldOf(c *engine.Cluster) (coordinator kafka.NodeID, held txn.TransactionView) {
	v := c.View().Transactions[0]
	if v.Held != nil {
		held = *v.Held
	}
	return v.Coordinator, held
}

// Whatever state a transaction is in when its coordinator's broker dies, its successor brings it to its end, and each input
// has one committed output.
func TestCoordinatorDiesInEachState(t *testing.T) {
	for _, state := range []txn.State{txn.Ongoing, txn.PrepareCommit, txn.CompleteCommit} {
		for _, pending := range []bool{false, true} {
			for _, how := range []string{"kill", "power-loss", "shut-down", "pause"} {
				name := how + " in " + string(state)
				if pending {
					name = how + " on the way to " + string(state)
				}
				t.Run(name, func(t *testing.T) { coordinatorDies(t, state, pending, how) })
			}
		}
	}
}

func coordinatorDies(t *testing.T, state txn.State, pending bool, how string) {
	c := start(t, threeBrokers())
	give(t, c, "produce p0 - o0", "produce p0 - o1", "produce p0 - o2")
	in := func() bool {
		_, held := heldOf(c)
		if pending {
			return held.PendingState == state
		}
		return held.State == state
	}
	for n := 0; !in(); n++ {
		if n > 300 {
			t.Fatalf("the transaction never was in %s", state)
		}
		tick(t, c, 1)
	}
	coordinator, _ := heldOf(c)
	give(t, c, how+" "+string(coordinator), "wait 40s")
	if how == "pause" {
		give(t, c, "resume "+string(coordinator), "wait 10s")
	}
	give(t, c, "produce p0 - o3", "wait 130s")
	if now, held := heldOf(c); now == "" || held.State != txn.CompleteCommit || held.PendingState != "" {
		t.Errorf("at the end %s has the transaction in %s %s", now, held.State, held.PendingState)
	}
	log := outputs(t, c)
	var seen []string
	for _, at := range fate(t, c, "rc", "out-0", arrived) {
		_, value, _ := strings.Cut(log[at], ":")
		seen = append(seen, value)
	}
	if want := []string{"o0 of in-0@0", "o1 of in-0@1", "o2 of in-0@2", "o3 of in-0@3"}; !slices.Equal(seen, want) {
		t.Errorf("committed outputs %v, want %v; out has %v", seen, want, log)
	}
	if o := offset(t, c, "app", "in-0"); o.Committed != 4 {
		t.Errorf("committed of in: %d, want 4", o.Committed)
	}
}

// The same for a transaction that its application aborts: nothing of it is ever read as committed, and the next one is.
func TestCoordinatorDiesWhileAborting(t *testing.T) {
	for _, state := range []txn.State{txn.PrepareAbort, txn.CompleteAbort} {
		for _, how := range []string{"kill", "power-loss", "shut-down"} {
			spec := transactional("tx-1")
			spec.Cluster = engine.DefaultCluster(3)
			spec.Topic.ReplicationFactor, spec.Topic.MinInsyncReplicas = 3, 2
			c := start(t, spec)
			give(t, c, "begin-transaction p0", "produce p0 - gone", "wait 1s", "abort-transaction p0")
			for n := 0; ; n++ {
				if _, held := heldOf(c); held.State == state || held.PendingState == state {
					break
				}
				if n > 100 {
					t.Fatalf("the transaction never was on the way to %s", state)
				}
				tick(t, c, 1)
			}
			coordinator, _ := heldOf(c)
			give(t, c, how+" "+string(coordinator), "wait 90s", "begin-transaction p0", "produce p0 - kept", "commit-transaction p0", "wait 90s")
			if now, held := heldOf(c); now == "" || held.State != txn.CompleteCommit || held.PendingState != "" {
				t.Errorf("%s in %s: at the end %s has the transaction in %s %s", how, state, now, held.State, held.PendingState)
			}
			if got := valuesOf(t, c, "rc"); !slices.Equal(got, []string{"kept"}) {
				t.Errorf("%s in %s: read_committed reads %v, the log has %v", how, state, got, logged(t, c.View().Partitions[0].Log.Segments))
			}
		}
	}
}
