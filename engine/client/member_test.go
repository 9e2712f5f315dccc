package client

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// A dynamic member is given an id and joins again with it at once; a static one is taken in without.
func TestMemberIDRequired(t *testing.T) {
	s := newSeat(t, nil)
	if request := s.open[0].Request.(*kmsg.JoinGroupRequest); request.MemberID != "" || request.SessionTimeoutMillis != 45_000 || request.RebalanceTimeoutMillis != 300_000 || request.InstanceID != nil {
		t.Errorf("the first JoinGroup is %+v", request)
	}
	s.refuse(kmsg.JoinGroup, kerr.MemberIDRequired)
	s.waits("JoinGroup>b1")
	if request := s.open[0].Request.(*kmsg.JoinGroupRequest); request.MemberID != "m1" {
		t.Errorf("the second JoinGroup names %q", request.MemberID)
	}
	s.joined(1, false)
	s.waits("SyncGroup>b1")
	s = newSeat(t, func(c *ConsumerConfig) { c.Group.InstanceID = "i1" })
	if request := s.open[0].Request.(*kmsg.JoinGroupRequest); request.MemberID != "" || *request.InstanceID != "i1" {
		t.Errorf("the first JoinGroup of a static member is %+v", request)
	}
}

// The leader divides by its own metadata; a follower's SyncGroup is empty.
func TestLeaderDivides(t *testing.T) {
	s := newSeat(t, func(c *ConsumerConfig) { c.MetadataMaxAge = 2000 })
	s.refuse(kmsg.JoinGroup, kerr.MemberIDRequired)
	s.joined(1, true)
	shares := s.open[0].Request.(*kmsg.SyncGroupRequest).GroupAssignment
	var data kmsg.ConsumerMemberAssignment
	if len(shares) != 1 || data.ReadFrom(shares[0].MemberAssignment) != nil || len(data.Topics) != 1 || len(data.Topics[0].Partitions) != 3 {
		t.Fatalf("the leader's shares are %+v", shares)
	}
	s.synced(0, 1, 2)
	s.owns("0 1 2")
	// It watches the topic, and joins again once there are more partitions.
	s.tick(2000)
	s.metadata("b2", []int32{1, 1, 1, 1}, []int32{4, 4, 4, 4})
	if why := lastOf[journal.JoinSent](s).Why; why != "it leads the group and orders has 4 partitions, of which it has assigned 3" {
		t.Errorf("it joins because %s", why)
	}
}

// Heartbeats go out every heartbeat.interval.ms, whether the last is answered or not, and none while JoinGroup is under
// way; a rebalance is joined in poll only.
func TestHeartbeats(t *testing.T) {
	s := newSeat(t, nil)
	s.tick(4000)
	s.waits("JoinGroup>b1")
	s.refuse(kmsg.JoinGroup, kerr.MemberIDRequired)
	s.tick(4000)
	s.waits("JoinGroup>b1")
	s.joined(1, false)
	s.tick(2999)
	s.waits("SyncGroup>b1")
	s.tick(1) // while it waits for SyncGroup it is a member
	s.waits("Heartbeat>b1 SyncGroup>b1")
	s.synced(0)
	s.alive()
	s.found(0)
	s.tick(2999)
	s.waits("Fetch>b1")
	s.tick(1)
	s.waits("Fetch>b1 Heartbeat>b1")
	s.tick(3000)
	s.waits("Fetch>b1 Heartbeat>b1 Heartbeat>b1")
	s.alive()
	s.alive()
	s.tick(3000)
	s.refuse(kmsg.Heartbeat, kerr.RebalanceInProgress)
	s.waits("Fetch>b1 JoinGroup>b1")
	s.tick(6000)
	s.waits("Fetch>b1 JoinGroup>b1")
}

// While the application works the member stays in its generation, and sends heartbeats; it joins when poll is called.
func TestRejoinsInPollOnly(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.App.Work, c.Group.App.Commit = 5000, CommitNever }, 0, 1)
	s.brings(0, 2)
	s.rejoins()
	s.owns("0 1")
	s.tick(3000)
	s.refuse(kmsg.Heartbeat, kerr.RebalanceInProgress)
	s.told("JoinSent", "g generation=-1 [range cooperative-sticky] owned=[]: its process has started; g generation=-1 [range cooperative-sticky] owned=[]: the coordinator has given it the member id m1")
	s.tick(4000) // the second record is done 10 s after the poll
	s.told("PartitionsRevoked", "g [orders-0 orders-1] EAGER")
	s.owns("")
	if b := lastOf[journal.JoinSent](s); b.Why != "a heartbeat was answered with REBALANCE_IN_PROGRESS" || b.Member != "m1" || b.Generation != 1 {
		t.Errorf("%+v", b)
	}
}

// max.poll.interval.ms counts from the last poll, not while the application waits in it. A dynamic member leaves; a
// static one forgets that it is a member, and says nothing.
func TestMaxPollInterval(t *testing.T) {
	for _, instance := range []kafka.GroupInstanceID{"", "i1"} {
		s := seated(t, func(c *ConsumerConfig) {
			c.Group.InstanceID, c.Group.MaxPollInterval, c.Group.App.Work, c.Group.App.Commit = instance, 10_000, 15_000, CommitBatch
		}, 0)
		for range 6 { // 18 s in poll
			s.tick(3000)
			s.alive()
		}
		s.brings(0, 1)
		s.tick(9999)
		if n := s.kinds("PollIntervalExceeded"); n != "" {
			t.Errorf("instance %q: %s before 10 s", instance, n)
		}
		s.open = nil
		s.tick(1)
		want := "LeaveGroup>b1"
		if instance != "" {
			want = ""
		}
		s.waits(want)
		s.owns("0")
		s.tick(4999) // no heartbeat any more
		s.waits(want)
		s.tick(1) // the record is done, its commit is not sent, and poll loses what it owned
		if b := lastOf[journal.CommitFailed](s); b.Error != "CommitFailedException: the consumer is not part of an active group" {
			t.Errorf("instance %q: the commit fails with %s", instance, b.Error)
		}
		s.told("PartitionsLost", "g [orders-0]")
		if b := lastOf[journal.JoinSent](s); b.Member != "" || b.Generation != -1 {
			t.Errorf("instance %q: %+v, want it to join without a member id", instance, b)
		}
	}
}

// Idle in poll for longer than max.poll.interval.ms: neither a commit before partitions are given up nor close makes
// the member think that its application had not polled.
func TestIdleIsPolling(t *testing.T) {
	for _, closes := range []bool{true, false} {
		s := seated(t, func(c *ConsumerConfig) { c.Group.AutoCommit, c.Group.MaxPollInterval = true, 10_000 }, 0)
		for range 5 {
			s.tick(3000)
			s.alive()
			for s.lastOpen(kmsg.OffsetCommit) {
				s.accept()
			}
		}
		if closes {
			s.leave()
		} else {
			s.rejoins()
		}
		s.tick(100)
		s.accept()
		if got := s.kinds("PollIntervalExceeded"); got != "" {
			t.Errorf("closes %t: %s", closes, got)
		}
	}
}

// lastOpen says whether a request of an API has no answer.
func (s seat) lastOpen(api kmsg.Key) bool {
	for _, open := range s.open {
		if open.Request.Key() == int16(api) {
			return true
		}
	}
	return false
}

// A session without an answered heartbeat makes the coordinator unknown: the member asks who it is, and is a member
// still.
func TestSessionExpires(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.SessionTimeout, c.RequestTimeout = 10_000, 60_000 }, 0)
	s.tick(9999)
	s.waits("Fetch>b1 Heartbeat>b1 Heartbeat>b1 Heartbeat>b1")
	s.tick(1)
	if b := lastOf[journal.CoordinatorLost](s); b.Why != "no heartbeat was answered for session.timeout.ms = 10,000 ms" {
		t.Errorf("%+v", b)
	}
	s.owns("0")
	s.coordinator("b2")
	s.tick(100)
	if s.take(kmsg.Heartbeat, "b2"); s.consumer.member.generation != 1 {
		t.Errorf("generation %d, want 1 still", s.consumer.member.generation)
	}
}

// What a heartbeat is refused with, and what the member does at its next poll.
func TestHeartbeatErrors(t *testing.T) {
	for _, test := range []struct {
		error *kerr.Error
		waits string // after 100 ms
		owns  string
		id    kafka.MemberID
		lost  string
	}{
		{kerr.RebalanceInProgress, "Fetch>b1 JoinGroup>b1", "", "m1", ""},
		{kerr.IllegalGeneration, "Fetch>b1 JoinGroup>b1", "", "m1", "g [orders-0 orders-1]"},
		{kerr.UnknownMemberID, "Fetch>b1 JoinGroup>b1", "", "", "g [orders-0 orders-1]"},
		{kerr.NotCoordinator, "Fetch>b1 FindCoordinator>b2", "0 1", "m1", ""},
		{kerr.CoordinatorNotAvailable, "Fetch>b1 FindCoordinator>b2", "0 1", "m1", ""},
		{kerr.FencedInstanceID, "Fetch>b1", "", "", ""},
	} {
		for _, strategies := range [][]string{{"range"}, {"cooperative-sticky"}} {
			s := seated(t, func(c *ConsumerConfig) { c.Group.Assignors = strategies }, 0, 1)
			s.tick(3000)
			s.refuse(kmsg.Heartbeat, test.error)
			s.tick(100)
			s.waits(test.waits)
			owns := test.owns
			if test.error == kerr.RebalanceInProgress && strategies[0] == "cooperative-sticky" {
				owns = "0 1" // it keeps everything while it joins
			}
			s.owns(owns)
			s.told("PartitionsLost", test.lost)
			if id := s.consumer.member.id; id != test.id {
				t.Errorf("%s: member id %q, want %q", test.error.Message, id, test.id)
			}
			if failed := s.kinds("ConsumerFailed") != ""; failed != (test.error == kerr.FencedInstanceID) {
				t.Errorf("%s: poll throws: %t", test.error.Message, failed)
			}
		}
	}
}

// A static member that was replaced learns so by its heartbeat; its application learns it in poll.
func TestFencedWhileItWorks(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.InstanceID, c.Group.App.Work = "i1", 5000 }, 0)
	s.brings(0, 1)
	s.tick(3000)
	s.refuse(kmsg.Heartbeat, kerr.FencedInstanceID)
	if got := s.kinds("ConsumerFailed"); got != "" {
		t.Error("the application fails while it works")
	}
	s.tick(2000)
	if got := s.kinds("RecordProcessed", "ConsumerFailed"); got != "RecordProcessed ConsumerFailed" {
		t.Errorf("events %q, want the record to be done first", got)
	}
	s.told("ConsumerFailed", "g Heartbeat FENCED_INSTANCE_ID")
}

// What JoinGroup is refused with: some errors are tried again at once, some after retry.backoff.ms, some are thrown.
func TestJoinErrors(t *testing.T) {
	for _, test := range []struct {
		error *kerr.Error
		waits string // at once
		later string // after 100 ms
	}{
		{kerr.CoordinatorLoadInProgress, "", "JoinGroup>b1"},
		{kerr.RebalanceInProgress, "JoinGroup>b1", "JoinGroup>b1"},
		{kerr.UnknownMemberID, "JoinGroup>b1", "JoinGroup>b1"},
		{kerr.NotCoordinator, "FindCoordinator>b1", "FindCoordinator>b1"},
		{kerr.CoordinatorNotAvailable, "FindCoordinator>b1", "FindCoordinator>b1"},
		{kerr.InconsistentGroupProtocol, "", ""},
		{kerr.InvalidSessionTimeout, "", ""},
		{kerr.GroupMaxSizeReached, "", ""},
		{kerr.FencedInstanceID, "", ""},
	} {
		s := newSeat(t, nil)
		s.refuse(kmsg.JoinGroup, test.error)
		s.waits(test.waits)
		s.tick(99)
		s.waits(test.waits)
		s.tick(1)
		s.waits(test.later)
		if failed := s.kinds("ConsumerFailed") != ""; failed != (test.later == "") {
			t.Errorf("%s: poll throws: %t", test.error.Message, failed)
		}
	}
}

// What SyncGroup is refused with. It waits request.timeout.ms for its answer, JoinGroup max.poll.interval.ms and 5 s.
func TestSyncErrors(t *testing.T) {
	for _, test := range []struct {
		error *kerr.Error
		waits string
		id    kafka.MemberID
	}{
		{kerr.RebalanceInProgress, "JoinGroup>b1", "m1"},
		{kerr.IllegalGeneration, "JoinGroup>b1", "m1"},
		{kerr.UnknownMemberID, "JoinGroup>b1", ""},
		{kerr.NotCoordinator, "FindCoordinator>b1", "m1"},
		{kerr.FencedInstanceID, "", ""},
	} {
		s := newSeat(t, nil)
		s.refuse(kmsg.JoinGroup, kerr.MemberIDRequired)
		s.joined(1, false)
		s.refuse(kmsg.SyncGroup, test.error)
		s.waits(test.waits)
		if id := s.consumer.member.id; id != test.id {
			t.Errorf("%s: member id %q, want %q", test.error.Message, id, test.id)
		}
	}
	s := newSeat(t, func(c *ConsumerConfig) { c.MetadataMaxAge = 3_600_000 })
	s.tick(304_999)
	s.told("RequestTimedOut", "")
	s.tick(1)
	s.told("RequestTimedOut", "b1 JoinGroup request.timeout.ms=305000")
	s = newSeat(t, nil)
	s.refuse(kmsg.JoinGroup, kerr.MemberIDRequired)
	s.joined(1, false)
	for range 9 {
		s.tick(3000)
		s.alive()
	}
	s.tick(3000)
	s.told("RequestTimedOut", "b1 SyncGroup request.timeout.ms=30000")
}

// A cooperative member gives up what others are to get once the assignment is there, and joins again at once.
func TestCooperativeRevocation(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.Assignors = []string{"cooperative-sticky"} }, 0, 1, 2)
	s.rejoins()
	s.owns("0 1 2")
	if b := lastOf[journal.JoinSent](s); len(b.Owned) != 3 {
		t.Errorf("it tells that it owns %v", b.Owned)
	}
	s.joined(2, false)
	s.owns("0 1 2")
	s.synced(0, 1)
	s.told("PartitionsRevoked", "g [orders-2] COOPERATIVE")
	s.owns("0 1")
	if b := lastOf[journal.JoinSent](s); b.Why != "it has given up partitions that others are to get" || len(b.Owned) != 2 {
		t.Errorf("%+v", b)
	}
	s.joined(3, false)
	s.synced(0, 1)
	s.owns("0 1")
	s.told("PartitionsTaken", "g generation=1 cooperative-sticky [orders-0 orders-1 orders-2] added=[orders-0 orders-1 orders-2]; "+
		"g generation=2 cooperative-sticky [orders-0 orders-1] added=[]; g generation=3 cooperative-sticky [orders-0 orders-1] added=[]")
	if got := s.consumer.partitions[0].position; got != 0 {
		t.Errorf("the position of a partition that it keeps is %d, want 0", got)
	}
}

// A connection that ends makes the coordinator unknown; a member that was joining joins again once it is known.
func TestConnectionLost(t *testing.T) {
	s := newSeat(t, nil)
	s.open = nil
	s.add(s.consumer.Disconnected(s.now, "b1", 0, &s.out, &s.journal))
	s.told("CoordinatorLost", "g b1: the connection was lost")
	s.tick(50) // reconnect.backoff.ms
	s.coordinator("b1")
	s.tick(100)
	if !s.lastOpen(kmsg.JoinGroup) {
		t.Errorf("open are %s, want JoinGroup", s.waiting())
	}
}

// close: a dynamic member leaves and waits for the answer; a static one, and one that is none, just ends.
func TestClose(t *testing.T) {
	s := seated(t, nil, 0)
	s.leave()
	s.waits("Fetch>b1 LeaveGroup>b1")
	if !s.consumer.Alive() {
		t.Error("it does not wait for the answer")
	}
	asked := s.take(kmsg.LeaveGroup, "b1")
	if who := asked.Request.(*kmsg.LeaveGroupRequest).Members[0]; who.MemberID != "m1" {
		t.Errorf("%+v leaves", who)
	}
	s.answer(asked, asked.Request.ResponseKind())
	s.told("ConsumerClosed", "g")
	if s.consumer.Alive() || s.consumer.Ended() == 0 {
		t.Error("it runs still")
	}

	s = seated(t, func(c *ConsumerConfig) { c.Group.InstanceID = "i1" }, 0)
	s.leave()
	s.waits("Fetch>b1")
	s.told("ConsumerClosed", "g no LeaveGroup: it has a group.instance.id, so its partitions wait for it until its session ends")

	s = newSeat(t, nil)
	s.leave()
	s.told("ConsumerClosed", "g no LeaveGroup: it is no member")
	s = newSeat(t, nil)
	s.refuse(kmsg.JoinGroup, kerr.MemberIDRequired)
	s.leave() // it has an id, which it gives back
	s.waits("JoinGroup>b1 LeaveGroup>b1")
	s = seated(t, func(c *ConsumerConfig) { c.Group.App.Work = 5000 }, 0)
	s.brings(0, 1)
	s.tick(3000)
	s.refuse(kmsg.Heartbeat, kerr.IllegalGeneration)
	s.leave() // it has an id, and knows that it is no member
	s.waits("Fetch>b1")
}
