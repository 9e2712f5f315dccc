package enginetest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/replication"
)

// REP-14 as a consumer lives it: it waits at the high watermark, and a consumer that starts anew reads as far. The
// fetches at every offset are in replication.TestREP14.
func TestREP14(t *testing.T) {
	spec := replicated(3, 1)
	spec.Producers[0].Config.Acks = 1
	c := start(t, spec)
	send(t, c, 0, 1)
	give(t, c, "wait 1s", "cut b1 b3")
	send(t, c, 2, 4)
	expect(t, c, "the slowest follower is at 2", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=2/5 b2=2/5 b3=2/2")
	give(t, c, "kill c0", "start c0", "wait 3s")
	got := last[journal.RecordsRead](t, c, "c0")
	if got.From != 0 || got.To != 2 {
		t.Errorf("the new consumer read from %d to %d, want from 0 to 2", got.From, got.To)
	}
	if at, failed := read(c), all[journal.FetchFailed](c, "c0"); at != 2 || len(failed) > 0 {
		t.Errorf("the consumer is at %d with errors %v, want 2 and none", at, failed)
	}
	give(t, c, "heal b1 b3", "wait 32s")
	if at := read(c); at != 5 {
		t.Errorf("the consumer is at %d once all have the records, want 5", at)
	}
}

// BAS-04: a topic is on many brokers, a partition on its replicas, and a key in one partition while their number
// stays.
func TestBAS04(t *testing.T) {
	spec := replicated(3, 1)
	spec.Topic.Partitions, spec.Topic.ReplicationFactor = 3, 2
	spec.Topic.Replicas = [][]kafka.BrokerID{{1, 2}, {2, 3}, {3, 1}}
	c := start(t, spec)
	// where gives the partition in which a value stands, its leader, and the brokers whose replicas have it.
	where := func(value string) (partition int, leader kafka.BrokerID, copies []kafka.BrokerID) {
		partition = -1
		for i, p := range c.View().Partitions {
			for _, r := range p.Replicas {
				if slices.ContainsFunc(recordsIn(t, r.Replica.Segments), func(s string) bool { return s[2:] == value }) {
					partition, leader, copies = i, p.Leader, append(copies, r.Broker)
				}
			}
		}
		return partition, leader, copies
	}
	check := func(value string, partition int, leader kafka.BrokerID, copies ...kafka.BrokerID) {
		t.Helper()
		p, l, has := where(value)
		if p != partition || l != leader || !slices.Equal(has, copies) {
			t.Errorf("%s is in partition %d, leader %d, copies %v; want %d, %d, %v", value, p, l, has, partition, leader, copies)
		}
	}
	for i, p := range c.View().Partitions {
		if want := kafka.BrokerID(i + 1); p.Leader != want {
			t.Errorf("the leader of partition %d is %d, want %d", i, p.Leader, want)
		}
	}
	give(t, c, "produce p0 user-1 a", "produce p0 user-4 b", "wait 1s")
	check("a", 2, 3, 3, 1)
	check("b", 1, 2, 2, 3)
	give(t, c, "add-partitions orders to 4", "wait 301s") // metadata.max.age.ms = 300,000 ms
	give(t, c, "produce p0 user-1 c", "produce p0 user-4 d", "wait 1s")
	if p, _, _ := where("c"); p != 0 {
		t.Errorf("user-1 goes to partition %d of 4, want 0", p)
	}
	if p, _, _ := where("d"); p != 3 {
		t.Errorf("user-4 goes to partition %d of 4, want 3", p)
	}
}

// Extra: a change of the in-sync replicas raises the partition epoch by one each and leaves the leader epoch.
func TestISRChangeRaisesPartitionEpochOnly(t *testing.T) {
	c := start(t, replicated(3, 1))
	epochs := func(when string, leader kafka.LeaderEpoch, partition int32) {
		t.Helper()
		if p := c.View().Partitions[0]; p.LeaderEpoch != leader || p.PartitionEpoch != partition {
			t.Errorf("%s: leader epoch %d and partition epoch %d, want %d and %d", when, p.LeaderEpoch, p.PartitionEpoch, leader, partition)
		}
	}
	epochs("at first", 0, 0)
	give(t, c, "shut-down b3", "wait 3s")
	expect(t, c, "3 has left", "leader=1 epoch=0 isr=[1 2] elr=[] b1=0/0 b2=0/0 b3=down")
	epochs("3 has left", 0, 1)
	give(t, c, fenced, "start b3", "wait 3s") // sooner it would be a duplicate registration
	expect(t, c, "3 is back", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=0/0 b2=0/0 b3=0/0")
	epochs("3 is back", 0, 2)
	give(t, c, "shut-down b1", "wait 3s")
	expect(t, c, "the leader has left", "leader=2 epoch=1 isr=[2 3] elr=[] b1=down b2=0/0 b3=0/0")
	epochs("the leader has left", 1, 3)
}

// Extra: the first of the in-sync replicas in the order of assignment is elected, however much further another is;
// with 2 behind, 3 alone has the record that was acknowledged with acks=1.
func TestElectionByOrderOfAssignment(t *testing.T) {
	spec := replicated(3, 1)
	spec.Producers[0].Config.Acks = 1
	c := start(t, spec)
	give(t, c, "wait 1s", "cut b1 b2", "produce p0 - r0", "wait 1s")
	expect(t, c, "2 is behind", "leader=1 epoch=0 isr=[1 2 3] elr=[] b1=0/1 b2=0/0 b3=0/1")
	give(t, c, "kill b1", fenced)
	expect(t, c, "2 is elected", "leader=2 epoch=1 isr=[2 3] elr=[] b1=down b2=0/0 b3=0/0")
	expectLost(t, c, []int{0}, []int{0})
}

// Extra: the preferred leader is the first replica, and leads again when it is in sync: at the next run of
// leader.imbalance.check.interval.seconds = 300 or by command.
func TestPreferredLeaderLeadsAgain(t *testing.T) {
	for _, again := range []string{"wait 300s", "elect-preferred orders 0"} {
		c := start(t, replicated(3, 1))
		give(t, c, "shut-down b1", fenced, "start b1", "wait 3s")
		expect(t, c, "1 is back", "leader=2 epoch=1 isr=[2 3 1] elr=[] b1=0/0 b2=0/0 b3=0/0")
		give(t, c, again, "wait 2s")
		expect(t, c, again, "leader=1 epoch=2 isr=[2 3 1] elr=[] b1=0/0 b2=0/0 b3=0/0")
	}
}

// Extra: a follower that starts again goes by epochs: it keeps what it has above its high watermark.
func TestRestartKeepsRecordsAboveHighWatermark(t *testing.T) {
	c := start(t, replicated(2, 1))
	send(t, c, 0, 2)
	// Killed before the first checkpoint, it finds high watermark 0 and three records.
	give(t, c, "kill b2", fenced, "start b2", "wait 3s")
	expect(t, c, "2 is back", "leader=1 epoch=0 isr=[1 2] elr=[] b1=3/3 b2=3/3")
	opened := last[journal.LogOpened](t, c, "b2")
	if opened.LogEndOffset != 3 {
		t.Errorf("broker 2 found a log up to %d, want 3", opened.LogEndOffset)
	}
	if cut := all[journal.LogTruncated](c, "b2"); len(cut) > 0 {
		t.Errorf("broker 2 truncated: %+v", cut)
	}
	if copied := all[journal.BatchReplicated](c, "b2"); len(copied) != 3 {
		t.Errorf("broker 2 copied %d batches, want the 3 from before the restart only", len(copied))
	}
}

// Extra: the leaders that a broker gives up follow from the metadata: after a controlled shutdown nobody waits for
// broker.session.timeout.ms.
func TestControlledShutdownMovesLeadersFirst(t *testing.T) {
	c := start(t, replicated(2, 1))
	give(t, c, "shut-down b1", "wait 500ms")
	if diff := cmp.Diff([]replication.Role{replication.Follower, replication.Leader}, roles(c)); diff != "" {
		t.Errorf("roles while it shuts down (-want +got):\n%s", diff)
	}
	give(t, c, "wait 3s")
	expect(t, c, "1 has stopped", "leader=2 epoch=1 isr=[2] elr=[] b1=down b2=0/0")
	begun := last[journal.ControlledShutdownBegun](t, c, "controller")
	if begun.Broker != 1 || begun.Leads != 1 {
		t.Errorf("%+v, want broker 1 with 1 partition", begun)
	}
}
