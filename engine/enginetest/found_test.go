package enginetest

import (
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
)

// What the simulator found, each as the shortest run that shows it. The seeds are those of the day.

// A process was killed; the next one is asked to stop before it has recovered the logs. If it left the sign of an orderly
// end, the one after it would take the logs as they are, without what they say of producers: a batch that is sent again
// would be appended again. Source: LogManager.shutdown.
func TestStoppedBeforeRecovery(t *testing.T) {
	spec := orders(1, 0)
	spec.Producers[0].Config.EnableIdempotence = engine.IdempotenceOn
	c := start(t, spec)
	give(t, c, "produce p0 k one")
	tick(t, c, 2) // appended; the answer is on its way
	if got := counts(c); got[0] != 1 {
		t.Fatalf("%d records are in the log, want 1", got[0])
	}
	give(t, c, "drop-next b1 p0", "kill b1", "start b1", "shut-down b1")
	tick(t, c, 1)
	stopped := false
	for _, e := range events(c) {
		if body, ok := e.Body.(journal.BrokerStopped); ok {
			stopped = body.Unrecovered
		}
	}
	if !stopped {
		t.Error("b1 has not stopped before it recovered its logs")
	}
	give(t, c, "wait 10s", "start b1", "wait 30s")
	if l := c.Ledger(); l.Acknowledged != 1 || len(l.Duplicated) > 0 || counts(c)[0] != 1 {
		t.Errorf("acknowledged %d, duplicated %d, log end offset %d; want 1, 0, 1", l.Acknowledged, len(l.Duplicated), counts(c)[0])
	}
}

// A registration that a cut link held arrives before the one that the next process has sent since. If it came after it, it
// would take the place of the process that runs, whose heartbeats would be refused for ever.
func TestHeldRegistrationComesFirst(t *testing.T) {
	spec := orders(1, 0)
	spec.Latency = 100
	c := start(t, spec)
	give(t, c, "kill b1", "cut-one-way b1 controller", "start b1")
	tick(t, c, 20)
	give(t, c, "power-loss b1", "wait 20s", "start b1")
	tick(t, c, 5) // the registration is on its way
	give(t, c, "heal b1 controller", "wait 30s")
	if b := c.View().Brokers[0]; b.Fenced || b.State != "running" {
		t.Errorf("b1 is %s, fenced: %t", b.State, b.Fenced)
	}
}

// DeleteRecords lets a leader's log begin within a batch. A follower that has nothing begins there too; what it fetches is
// the whole batch, from below.
func TestFollowerBeginsWithinABatch(t *testing.T) {
	spec := orders(1, 0)
	spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(2), 2
	c := start(t, spec)
	give(t, c, "produce p0 k one", "produce p0 k two", "produce p0 k three", "wait 1s") // linger.ms puts them into one batch
	if got := c.View().Partitions[0].Log.Segments[0]; got.LastOffset != 2 {
		t.Fatalf("the log ends with %d, want 2", got.LastOffset)
	}
	give(t, c, "kill b2", "wait 15s", "wipe b2", "delete-records orders-0 @1", "wait 1s", "start b2", "wait 30s")
	for _, r := range c.View().Partitions[0].Replicas {
		if !r.Online || r.LogStartOffset != 1 || r.LogEndOffset != 3 || len(recordsIn(t, r.Replica.Segments)) != 3 {
			t.Errorf("replica of broker %d: %d to %d, online %t, want 1 to 3 with the whole batch", r.Broker, r.LogStartOffset, r.LogEndOffset, r.Online)
		}
	}
	if isr := c.View().Partitions[0].ISR; len(isr) != 2 {
		t.Errorf("ISR %d, want both", isr)
	}
}
