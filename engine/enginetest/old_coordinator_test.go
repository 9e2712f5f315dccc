package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/ledger"
	"loglab/engine/sabotage"
)

// oldMarker plays a run in which a transaction coordinator asks the leader, b1, for a marker by a link that is cut. Another
// coordinator takes over and writes it; then the link is healed. It gives what the checker found.
func oldMarker(t *testing.T, rule sabotage.Rule) (*engine.Cluster, []ledger.Violation) {
	t.Helper()
	spec := orders(1, 0)
	spec.Cluster, spec.Topic.Replicas, spec.Sabotage = engine.DefaultCluster(3), [][]kafka.BrokerID{{1}}, rule
	spec.Cluster.Transactions.ReplicationFactor = 2
	var c *engine.Cluster
	var old string
	for i := 0; old == ""; i++ {
		spec.Producers[0].Config = engine.DefaultProducerConfig("orders")
		spec.Producers[0].Config.TransactionalID = fmt.Sprintf("t%d", i)
		c = start(t, spec)
		give(t, c, "wait 2s")
		if v := c.View(); !slices.ContainsFunc(v.TransactionStates[0].Replicas, func(r engine.ReplicaView) bool { return r.Broker == 1 }) {
			old = string(v.Transactions[0].Coordinator)
		}
	}
	var k engine.Checker
	found := c.Check(&k)
	for _, text := range []string{
		"begin-transaction p0", "produce p0 k one", "wait 1s", "cut-one-way " + old + " b1", "commit-transaction p0", "wait 1s", "cut " + old + " controller", "wait 20s", "heal " + old + " b1", "wait 1s",
	} {
		give(t, c, text)
		found = append(found, c.Check(&k)...)
	}
	return c, found
}

// The marker of an old coordinator is refused once that of a later one is there. A log that takes it is found.
func TestMarkerOfAnOldCoordinator(t *testing.T) {
	c, found := oldMarker(t, "")
	refused := slices.IndexFunc(events(c), func(e journal.Event) bool {
		body, ok := e.Body.(journal.MarkerRefused)
		return ok && body.Error == "TRANSACTION_COORDINATOR_FENCED"
	})
	if refused < 0 || len(found) > 0 || counts(c)[0] != 2 {
		t.Errorf("refused: %t, the log ends at %d, want 2; found %v", refused >= 0, counts(c)[0], found)
	}
	c, found = oldMarker(t, sabotage.OldMarkersAccepted)
	if len(found) != 1 || found[0].Invariant != ledger.CoordinatorEpochsRise {
		t.Errorf("a marker of an old coordinator was taken, and found was %v; the log ends at %d", found, counts(c)[0])
	}
}
