package client

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// What random clusters found in members, each as a case of its own.

// A closing application with threads commits before the first record that is not done, not after the last that is.
func TestCloseWithThreadsCommitsWhatIsContiguous(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) {
		app := &c.Group.App
		app.Workers, app.Work, app.SlowEvery, app.SlowWork, app.Commit = 2, 10, 10, 60_000, CommitBatch
	}, 0)
	s.brings(9, 4) // thread 1 has the record at 10 for a minute
	s.settle(100)
	if got := s.processed(); got != "9 11 12" {
		t.Fatalf("processed %q", got)
	}
	s.leave()
	s.lastCommit("0@10 generation=1 member=m1")
}

// deadLetters makes a member with two threads that sends the record at 1 to a dead-letter topic at once, and brings it
// three records.
func deadLetters(t *testing.T, when CommitWhen) seat {
	s := seated(t, func(c *ConsumerConfig) {
		c.Topics = []string{"orders"}
		app := &c.Group.App
		app.Workers, app.Work, app.Commit, app.PollEvery = 2, 10, when, 50
		app.OnFailure, app.Attempts, app.DeadLetterTopic = DeadLetter, 1, "orders.DLT"
		app.Poison = []Poison{{TopicPartition: ordersZero, Offset: 1}}
	}, 0)
	s.brings(0, 2)
	s.settle(20)
	return s
}

// While a record is on its way to the dead-letter topic it is not done: nothing behind it is committed.
func TestNoCommitBehindADeadLetterOnItsWay(t *testing.T) {
	for _, when := range []CommitWhen{CommitBatch, CommitRecord} {
		s := deadLetters(t, when)
		for _, open := range s.open {
			if request, ok := open.Request.(*kmsg.OffsetCommitRequest); ok && request.Topics[0].Partitions[0].Offset > 1 {
				t.Errorf("%s: commits %d while the record at 1 is not in the dead-letter topic", when, request.Topics[0].Partitions[0].Offset)
			}
		}
	}
}

// Threads that wait for the dead-letter topic's leader have no timer that is due and does nothing.
func TestWaitingForTheDeadLetterTopicIsNoTimer(t *testing.T) {
	s := deadLetters(t, CommitRecord)
	s.rejoins()
	for range 20 {
		s.tick(0)
	}
	if due, ok := s.consumer.NextDue(); ok && due <= s.now {
		t.Errorf("at %d a timer is due at %d", s.now, due)
	}
}

// A member that waits in poll for a commit before it gives partitions up is in poll: max.poll.interval.ms does not count.
func TestCommitBeforeRevocationIsInPoll(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) {
		c.Group.AutoCommit, c.Group.MaxPollInterval, c.Group.AutoCommitInterval = true, 5000, 3_600_000
	}, 0)
	s.tick(20_000)
	s.rejoins()
	s.lastCommit("0@0 generation=1 member=m1")
	s.tick(100)
	if got := s.kinds("PollIntervalExceeded", "MembershipLost"); got != "" {
		t.Errorf("told %q", got)
	}
}

// A client that sends heartbeats only in its loop sends them at every poll, also if each poll finds records.
func TestHeartbeatsInLoopAtEveryPoll(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) {
		c.Group.HeartbeatInLoop = true
		c.Group.App.Workers, c.Group.App.Work, c.Group.App.PollEvery = 1, 1, 100
	}, 0)
	for base := range kafka.Offset(60) { // 6 s, and heartbeat.interval.ms is 3
		s.brings(base, 1)
		s.tick(100)
	}
	n := 0
	for _, open := range s.open {
		if open.Request.Key() == int16(kmsg.Heartbeat) {
			n++
		}
	}
	if n < 2 {
		t.Errorf("%d heartbeats in 6 s of polling", n)
	}
}

// The coordinator is lost while the answer to JoinGroup is on its way: the leader joins again.
func TestLeaderWithoutACoordinator(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.App.Work = 10 }, 0)
	s.brings(0, 1)
	s.settle(20)
	s.commitNow()
	s.rejoins()
	s.refuse(kmsg.OffsetCommit, kerr.NotCoordinator)
	s.joined(2, true)
	if got := s.consumer.member.rejoin; got != "no coordinator is known to send SyncGroup to" {
		t.Errorf("it joins again because %q", got)
	}
	if b := lastOf[journal.CoordinatorLost](s); b.Coordinator != "b1" {
		t.Errorf("%+v", b)
	}
}

// A thread whose record is sought back to is free again: it does not fail at it for ever at the same moment.
func TestSeekBackFreesTheThread(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) {
		app := &c.Group.App
		app.Workers, app.Work, app.OnFailure = 2, 10, SeekBack
		app.Poison = []Poison{{TopicPartition: ordersZero, Offset: 1}}
	}, 0)
	s.brings(0, 2)
	s.settle(20)
	if failed := s.out.Sinks[0].View().Fates[0].At(1).Failed; failed != 1 {
		t.Errorf("failed %d times in 20 ms, want once", failed)
	}
}

// Behind a record that threads have sought back to nothing is committed.
func TestNoCommitBehindASeekBack(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) {
		app := &c.Group.App
		app.Workers, app.Work, app.OnFailure, app.SlowEvery, app.SlowWork = 3, 10, SeekBack, 3, 100
		app.Poison = []Poison{{TopicPartition: ordersZero, Offset: 1}}
	}, 0)
	s.brings(1, 3) // the record at 1 fails, that at 2 is done, that at 3 takes longer
	s.settle(20)
	if _, why := s.consumer.CommitNow(s.now, 0, &s.out, &s.journal); why == "" {
		t.Errorf("committed %s", s.kinds("CommitSent"))
	}
}

// An answer to an earlier attempt of a reset, which comes while the next one is under way, is none of its own.
func TestLateAnswerToAReset(t *testing.T) {
	var j journal.Journal
	a := NewAdmin("admin", "controller", []kafka.NodeID{"b1"}, 0)
	sends, why := a.Reset(0, "g", []string{"orders"}, command.ResetTo{Rule: command.ToEarliest}, false, nil, 0, &j)
	if why != "" || len(sends) != 1 {
		t.Fatal(why)
	}
	late := sends[0]
	a.again(0, 100)
	if again := a.Tick(100, &j); len(again) != 1 || again[0].Request.Key() != int16(kmsg.Metadata) {
		t.Fatalf("sends %v", again)
	}
	response := kmsg.NewPtrMetadataResponse()
	if got := a.Receive(110, &simnet.Message{From: "b1", To: "admin", Correlation: late.Correlation, Response: response}, 0, &j); len(got) > 0 {
		t.Errorf("the late answer leads to %v", got)
	}
}
