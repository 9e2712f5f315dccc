package enginetest

import (
	"slices"
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

// Markers of transactions whose records are gone wait for delete.retention.ms: the cleaner then gives their batches a
// delete horizon as base timestamp, and the record's own as a delta, which takes 81 bytes in place of 78. A segment of
// twelve fits into segment.bytes before, and not after. A follower that begins with nothing must not fetch it whole.
func TestFollowerFetchesASegmentThatCleaningHasGrown(t *testing.T) {
	spec := transactional("t0")
	spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(2), 2
	spec.Groups = nil
	spec.Topic.Config.Compact, spec.Topic.Config.Delete, spec.Topic.Config.SegmentBytes = true, false, 950
	spec.Producers[0].Config.TransactionVersion = 1
	c := start(t, spec)
	for range 2 {
		for range 30 {
			give(t, c, "begin-transaction p0", "produce p0 k v", "commit-transaction p0", "wait 1s")
		}
		give(t, c, "run-cleaner b1", "wait 1s")
	}
	grown := 0
	for _, s := range c.View().Partitions[0].Log.Segments {
		if len(s.Bytes) == 12*81 {
			grown++
		}
	}
	if grown == 0 {
		t.Fatal("no segment of twelve markers with a delete horizon")
	}
	give(t, c, "kill b2", "wait 15s", "wipe b2", "start b2", "wait 30s")
	p := c.View().Partitions[0]
	if len(p.ISR) != 2 || p.Replicas[0].LogEndOffset != p.Replicas[1].LogEndOffset {
		t.Errorf("ISR %d, log end offsets %d and %d, want both in sync", p.ISR, p.Replicas[0].LogEndOffset, p.Replicas[1].LogEndOffset)
	}
}

// A batch that was as large as a segment may be, and has grown by a delete horizon, fits into no log that it is fetched for.
func TestFollowerFailsOnABatchThatCleaningHasGrown(t *testing.T) {
	spec := orders(1, 0)
	spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(2), 2
	spec.Group = engine.GroupSpec{}
	spec.Topic.Config.Compact, spec.Topic.Config.Delete, spec.Topic.Config.SegmentBytes = true, false, 69
	c := start(t, spec)
	give(t, c, "kill b2", "wait 15s", "wipe b2")
	give(t, c, "tombstone p0 k", "wait 1s", "tombstone p0 l", "wait 1s", "run-cleaner b1", "wait 1s")
	if size := len(c.View().Partitions[0].Log.Segments[0].Bytes); size <= 69 {
		t.Fatalf("the tombstone has %d bytes, want more than 69", size)
	}
	from := c.Journal().Len()
	give(t, c, "start b2", "wait 60s")
	failed := since[journal.ReplicaFetchFailed](c, from, "b2")
	if len(failed) != 1 || failed[0].Error != "RECORD_LIST_TOO_LARGE" || failed[0].Retry != 0 {
		t.Errorf("%+v, want RECORD_LIST_TOO_LARGE, once", failed)
	}
	if isr := c.View().Partitions[0].ISR; len(isr) != 1 {
		t.Errorf("ISR %d, want the leader alone", isr)
	}
}

// DeleteRecords lets a leader's log begin within the only batch of its epoch. Its leader epochs then begin there too, so
// that a follower with more of an older epoch is cut to that offset and fetches from it: what comes begins below the log
// end offset. Kafka's follower takes such a batch only into a log without records; here the partition has failed, until the
// leader's log begins behind that batch and the follower's process anew.
func TestFollowerFailsOnABatchFromBelow(t *testing.T) {
	spec := orders(1, 0)
	spec.Cluster, spec.Topic.ReplicationFactor, spec.Group = engine.DefaultCluster(2), 2, engine.GroupSpec{}
	spec.Cluster.UncleanElection = true
	spec.Producers[0].Config.Acks = 1
	c := start(t, spec)
	give(t, c, "produce p0 k 0", "wait 1s", "kill b2", "wait 15s")
	for range 4 {
		give(t, c, "produce p0 k old", "wait 1s")
	}
	give(t, c, "kill b1", "wait 15s", "start b2", "wait 15s", "produce p0 k 1", "produce p0 k 2", "produce p0 k 3", "wait 5s", "delete-records orders-0 @2", "wait 1s")
	if p := c.View().Partitions[0]; p.Leader != 2 || p.Log.LogStartOffset != 2 || p.Log.LogEndOffset != 4 {
		t.Fatalf("broker %d leads with offsets %d to %d, want 2 with 2 to 4", p.Leader, p.Log.LogStartOffset, p.Log.LogEndOffset)
	}
	from := c.Journal().Len()
	give(t, c, "start b1", "wait 60s")
	failed := since[journal.ReplicaFetchFailed](c, from, "b1")
	if len(failed) != 1 || failed[0].Error != "UnexpectedAppendOffsetException" || failed[0].Retry != 0 {
		t.Errorf("%+v, want UnexpectedAppendOffsetException, once", failed)
	}
	if p := c.View().Partitions[0]; len(p.ISR) != 1 || p.Replicas[0].LogEndOffset != 2 {
		t.Errorf("ISR %d, broker 1 ends at %d; want broker 2 alone, and 2", p.ISR, p.Replicas[0].LogEndOffset)
	}
	give(t, c, "delete-records orders-0 @4", "wait 1s", "kill b1", "start b1", "wait 60s")
	if p := c.View().Partitions[0]; len(p.ISR) != 2 || p.Replicas[0].LogStartOffset != 4 || p.Replicas[0].LogEndOffset != 4 {
		t.Errorf("ISR %d, broker 1 has %d to %d; want both, and 4 to 4", p.ISR, p.Replicas[0].LogStartOffset, p.Replicas[0].LogEndOffset)
	}
}

// A batch is written, and given up, as its answer comes after delivery.timeout.ms. The next batch takes over its sequence, and
// the leader takes that for a copy: acknowledged, and in no log. With transaction version 1 the epoch stays as it is if the
// transaction was being ended, so that the record that is lost is one of the next transaction, which commits. Otherwise
// the next transaction has another epoch. Source: TransactionManager.maybeTransitionToErrorState, handleFailedBatch.
func TestBatchGivenUpAtTheEnd(t *testing.T) {
	for _, tc := range []struct {
		what    string
		version int
		ends    string // how its transaction is being ended when the batch is given up; empty: it is not
		log     []string
		lost    int
	}{
		{"version 1, while it commits", 1, "commit", []string{"0:first", "1:a", "2:ABORT", "3:COMMIT"}, 1},
		{"version 1, while it aborts", 1, "abort", []string{"0:first", "1:a", "2:ABORT", "3:COMMIT"}, 1},
		{"version 1, before that", 1, "", []string{"0:first", "1:a", "2:ABORT", "3:b", "4:COMMIT"}, 0},
		{"version 2, while it commits", 2, "commit", []string{"0:first", "1:a", "2:ABORT", "3:b", "4:COMMIT"}, 0},
	} {
		spec := transactional("one")
		spec.Groups = nil
		spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(2), 2
		p := &spec.Producers[0].Config
		p.TransactionVersion, p.RequestTimeout, p.DeliveryTimeout = tc.version, 3000, 6000
		c := start(t, spec)
		give(t, c, "begin-transaction p0", "produce p0 - first", "wait 1s", "cut b1 b2", "produce p0 - a")
		tick(t, c, 1) // it is under way
		if tc.ends != "" {
			give(t, c, tc.ends+"-transaction p0")
		}
		tick(t, c, 1) // the leader has it
		give(t, c, "pause p0", "wait 7s", "heal b1 b2", "wait 1s", "resume p0", "wait 1s", "abort-transaction p0", "wait 5s", "begin-transaction p0", "produce p0 - b", "wait 1s", "commit-transaction p0", "wait 5s")
		if log := logged(t, c.View().Partitions[0].Log.Segments); !slices.Equal(log, tc.log) {
			t.Errorf("%s: the log has %q, want %q", tc.what, log, tc.log)
		}
		if l := c.Ledger(); l.Acknowledged != 2 || len(l.Lost) != tc.lost {
			t.Errorf("%s: %d acknowledged, %d of them lost; want 2 and %d", tc.what, l.Acknowledged, len(l.Lost), tc.lost)
		}
	}
}
