package client

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// enable.auto.commit: the first poll when auto.commit.interval.ms = 5,000 ms are over since the last commits what polls
// before have returned; a new assignment restarts the interval.
func TestAutoCommitTiming(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.AutoCommit, c.Group.App.Work = true, 1000 }, 0)
	s.tick(1000)
	s.brings(0, 7) // the application works on them from 1 s to 8 s
	s.tick(6999)
	if s.lastOpen(kmsg.OffsetCommit) {
		t.Error("it commits while the application works")
	}
	s.tick(1) // poll is 8 s after the assignment
	s.lastCommit("0@7 generation=1 member=m1")
	s.accept()
	s.brings(7, 0)
	s.tick(4999)
	if s.lastOpen(kmsg.OffsetCommit) {
		t.Error("it commits before the interval is over")
	}
	s.tick(1)
	s.lastCommit("0@7 generation=1 member=m1")
	s.accept()

	s.rejoins()
	s.tick(0)
	s.lastCommit("0@7 generation=1 member=m1") // before partitions are given up
	s.owns("0")
	s.accept()
	s.owns("")
	s.joined(2, false)
	s.synced(0)
	s.found(7)
	s.tick(4999)
	if s.lastOpen(kmsg.OffsetCommit) {
		t.Error("it commits before the interval since the assignment is over")
	}
	s.tick(1)
	s.lastCommit("0@7 generation=2 member=m1")
	s.accept()
	s.brings(7, 0)
	s.leave()
	s.lastCommit("0@7 generation=2 member=m1") // in close
	if s.lastOpen(kmsg.LeaveGroup) {
		t.Error("it leaves before the commit is answered")
	}
	s.accept()
	if !s.lastOpen(kmsg.LeaveGroup) {
		t.Error("it does not leave after the commit")
	}
}

// A commit before partitions are given up that fails with an error that no retry mends does not hold the member up; one
// that a retry may mend is tried again.
func TestCommitBeforeRevocation(t *testing.T) {
	auto := func(c *ConsumerConfig) { c.Group.AutoCommit = true }
	s := seated(t, auto, 0)
	s.rejoins()
	s.refuse(kmsg.OffsetCommit, kerr.UnknownTopicOrPartition)
	s.owns("0")
	s.tick(99)
	if s.lastOpen(kmsg.OffsetCommit) {
		t.Error("it tries again before retry.backoff.ms is over")
	}
	s.tick(1)
	s.accept()
	s.owns("")
	s = seated(t, auto, 0)
	s.rejoins()
	s.refuse(kmsg.OffsetCommit, kerr.OffsetMetadataTooLarge)
	s.owns("")
	if !s.lastOpen(kmsg.JoinGroup) {
		t.Error("it does not join")
	}
}

// batchCommitted gives a member whose application has processed three records and waits for the answer to commitSync, with
// a fourth poll's records not there yet.
func batchCommitted(t *testing.T, change func(*ConsumerConfig)) seat {
	t.Helper()
	s := seated(t, func(c *ConsumerConfig) {
		c.Group.App.Commit = CommitBatch
		if change != nil {
			change(c)
		}
	}, 0, 1)
	s.brings(0, 3)
	s.lastCommit("0@3 generation=1 member=m1")
	return s
}

// What OffsetCommit is refused with, as ConsumerCoordinator.OffsetCommitResponseHandler takes it.
func TestCommitErrors(t *testing.T) {
	const tries, polls, ends = "commitSync tries again", "commitSync throws, and the application polls", "fails"
	for _, test := range []struct {
		error      *kerr.Error
		then       string
		id         kafka.MemberID
		generation kafka.GenerationID
		waits      string // after 100 ms, beside the fetch
	}{
		{kerr.IllegalGeneration, polls, "m1", -1, "JoinGroup>b1"},
		{kerr.UnknownMemberID, polls, "", -1, "JoinGroup>b1"},
		{kerr.RebalanceInProgress, polls, "m1", 1, "JoinGroup>b1"},
		{kerr.FencedInstanceID, ends, "", -1, ""},
		{kerr.CoordinatorNotAvailable, tries, "m1", 1, "FindCoordinator>b2"},
		{kerr.NotCoordinator, tries, "m1", 1, "FindCoordinator>b2"},
		{kerr.RequestTimedOut, tries, "m1", 1, "FindCoordinator>b2"},
		{kerr.CoordinatorLoadInProgress, tries, "m1", 1, "OffsetCommit>b1"},
		{kerr.UnknownTopicOrPartition, tries, "m1", 1, "OffsetCommit>b1"},
		{kerr.OffsetMetadataTooLarge, polls, "m1", 1, ""},
		{kerr.InvalidCommitOffsetSize, polls, "m1", 1, ""},
	} {
		s := batchCommitted(t, nil)
		s.refuse(kmsg.OffsetCommit, test.error)
		s.tick(100)
		want := "Fetch>b1"
		if test.waits != "" && test.waits < want {
			want = test.waits + " " + want
		} else if test.waits != "" {
			want += " " + test.waits
		}
		if got := s.waiting(); got != want {
			t.Errorf("%s: open are %q, want %q", test.error.Message, got, want)
		}
		if then := lastOf[journal.CommitFailed](s).Then; test.then != ends && then != test.then {
			t.Errorf("%s: %s, want %s", test.error.Message, then, test.then)
		}
		if failed := s.kinds("ConsumerFailed") != ""; failed != (test.then == ends) {
			t.Errorf("%s: the application ends: %t", test.error.Message, failed)
		}
		m := s.consumer.member
		if m.id != test.id || m.generation != test.generation {
			t.Errorf("%s: member id %q, generation %d, want %q and %d", test.error.Message, m.id, m.generation, test.id, test.generation)
		}
	}
}

// commitSync gives up after default.api.timeout.ms = 60,000 ms. The application waits meanwhile.
func TestCommitSyncTimesOut(t *testing.T) {
	s := batchCommitted(t, func(c *ConsumerConfig) { c.Group.SessionTimeout, c.RequestTimeout = 300_000, 300_000 })
	for s.now < 59_900 {
		s.refuse(kmsg.OffsetCommit, kerr.UnknownTopicOrPartition)
		if n := s.kinds("ConsumerFailed"); n != "" {
			t.Fatal(n)
		}
		s.tick(100)
		for s.lastOpen(kmsg.Heartbeat) {
			s.alive()
		}
	}
	s.refuse(kmsg.OffsetCommit, kerr.UnknownTopicOrPartition)
	s.tick(100)
	if b := lastOf[journal.CommitFailed](s); b.Error != "TimeoutException" || b.Then != "commitSync throws, and the application polls" {
		t.Errorf("%+v", b)
	}
}

// commitAsync is not tried again; a connection that is lost fails it too.
func TestCommitAsync(t *testing.T) {
	s := batchCommitted(t, func(c *ConsumerConfig) { c.Group.App.Commit = CommitBatchAsync })
	s.waits("Fetch>b1 OffsetCommit>b1")
	s.refuse(kmsg.OffsetCommit, kerr.CoordinatorLoadInProgress)
	if b := lastOf[journal.CommitFailed](s); b.Error != "COORDINATOR_LOAD_IN_PROGRESS" || b.Then != "nobody waits for it and it is not sent again" {
		t.Errorf("%+v", b)
	}
	s.tick(500)
	s.waits("Fetch>b1")
	s.brings(3, 1)
	s.add(s.consumer.Disconnected(s.now, "b1", 0, &s.out, &s.journal))
	if b := lastOf[journal.CommitFailed](s); b.Error != "NETWORK_EXCEPTION" {
		t.Errorf("%+v", b)
	}
}

// A commit is sent by a stable member only: in a rebalance, and by one that is none, it fails at once.
func TestCommitWithoutAGeneration(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.Assignors = []string{"cooperative-sticky"} }, 0)
	s.brings(0, 3)
	s.rejoins()
	s.commitNow() // JoinGroup is under way
	if b := lastOf[journal.CommitFailed](s); b.Error != "RebalanceInProgressException" || b.Then != "it is not sent" {
		t.Errorf("while it joins: %+v", b)
	}
	s.joined(2, false)
	s.commitNow()
	if got := s.kinds("CommitSent"); got != "" {
		t.Errorf("between JoinGroup and SyncGroup: %s", got)
	}
	if b := lastOf[journal.CommitFailed](s); b.Error != "RebalanceInProgressException" {
		t.Errorf("between JoinGroup and SyncGroup: %+v", b)
	}
	s.synced(0)
	s.commitNow()
	s.lastCommit("0@3 generation=2 member=m1")

	// It has lost its generation while the application works, and keeps its id.
	s = seated(t, func(c *ConsumerConfig) { c.Group.App.Work, c.Group.App.Commit = 5000, CommitBatch }, 0)
	s.brings(0, 1)
	s.tick(3000)
	s.refuse(kmsg.Heartbeat, kerr.IllegalGeneration)
	s.tick(2000)
	if b := lastOf[journal.CommitFailed](s); b.Error != "CommitFailedException: the consumer is not part of an active group" {
		t.Errorf("without a generation: %+v", b)
	}
}

// A commit that is on its way when the generation ends: while the member joins the error is a rebalance's, and its new
// membership stays; once it is a member of another generation, it loses that.
func TestStaleCommit(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.Assignors = []string{"cooperative-sticky"} }, 0)
	s.brings(0, 3)
	s.commitNow()
	s.rejoins()
	s.joined(2, false)
	s.synced(0)
	s.rejoins() // it joins generation 3
	s.refuse(kmsg.OffsetCommit, kerr.IllegalGeneration)
	if got := s.kinds("MembershipLost"); got != "" || s.consumer.member.generation != 2 {
		t.Errorf("while it joins: %q, generation %d", got, s.consumer.member.generation)
	}
	s.joined(3, false)
	s.synced(0)
	s.commitNow()
	s.rejoins()
	s.joined(4, false)
	s.synced(0)
	s.refuse(kmsg.OffsetCommit, kerr.IllegalGeneration)
	if got := s.kinds("MembershipLost"); got != "MembershipLost" {
		t.Errorf("in another generation: %q", got)
	}
}

// A commit by hand that cannot be sent leaves the commitSync alone that the application waits for.
func TestCommitByHandWhileSyncWaits(t *testing.T) {
	s := batchCommitted(t, nil)
	s.refuse(kmsg.OffsetCommit, kerr.NotCoordinator)
	s.commitNow()
	if b := lastOf[journal.CommitFailed](s); b.Error != "COORDINATOR_NOT_AVAILABLE" || b.Then != "it is not sent" {
		t.Errorf("%+v", b)
	}
	s.tick(100)
	s.coordinator("b1")
	s.tick(100)
	s.lastCommit("0@3 generation=1 member=m1")
}

// Who assigns itself partitions is no member: it neither joins nor sends heartbeats, commits name no member, and a
// refused one changes nothing.
func TestSelfAssigned(t *testing.T) {
	s := seat{&table{t: t}}
	s.consumer = NewMember("c0", []kafka.NodeID{"b1"}, 0, seatConfig(func(c *ConsumerConfig) {
		c.Group.Assign, c.Group.InstanceID, c.Group.App.Commit = []kafka.TopicPartition{{Topic: "orders"}}, "i1", CommitBatch
	}), *prng.New(1))
	s.out.Sinks = []Sink{NewSink("g", SinkConfig{})}
	s.tick(0)
	s.metadata("b1", []int32{1}, []int32{4})
	s.coordinator("b1")
	s.found(0)
	s.brings(0, 2)
	s.lastCommit("0@2 generation=-1 member=")
	if request := s.take(kmsg.OffsetCommit, "b1"); request.Request.(*kmsg.OffsetCommitRequest).InstanceID != nil {
		t.Error("the commit names a group.instance.id")
	} else {
		s.open = append(s.open, request)
	}
	s.refuse(kmsg.OffsetCommit, kerr.UnknownMemberID)
	s.tick(10_000)
	s.owns("0")
	s.waits("Fetch>b1")
}

// A new process counts auto.commit.interval.ms = 5,000 ms from its start.
func TestSelfAssignedRestart(t *testing.T) {
	s := seat{&table{t: t}}
	s.consumer = NewMember("c0", []kafka.NodeID{"b1"}, 0, seatConfig(func(c *ConsumerConfig) {
		c.Group.Assign, c.Group.AutoCommit = []kafka.TopicPartition{{Topic: "orders"}}, true
	}), *prng.New(1))
	s.out.Sinks = []Sink{NewSink("g", SinkConfig{})}
	s.consumer.Kill(0, &s.out, &s.journal)
	s.tick(20_000)
	s.consumer.Start(s.now)
	s.tick(0)
	s.metadata("b1", []int32{1}, []int32{4})
	s.coordinator("b1")
	s.found(0)
	s.tick(4999)
	s.waits("Fetch>b1")
	s.tick(1)
	s.lastCommit("0@0 generation=-1 member=")
}

// A position that is being checked against a new leader is not committed.
func TestNoCommitOfAnUncheckedPosition(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.AutoCommit = true }, 0, 1)
	s.brings(0, 3)
	s.tick(4000)
	s.alive()
	s.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) {
		if p.Partition == 0 {
			p.ErrorCode = kerr.NotLeaderForPartition.Code
		}
	})
	s.tick(0)
	s.metadata("b2", []int32{2, 1, 1}, []int32{5, 4, 4})
	s.tick(1000)
	s.lastCommit("1@0 generation=1 member=m1")
	s.accept()
	s.epoch("b2", 4, 3)
	s.tick(5000)
	s.lastCommit("0@3 1@0 generation=1 member=m1")
}
