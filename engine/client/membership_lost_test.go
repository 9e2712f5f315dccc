package client

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// A fenced member drops all it owns without a commit and joins again with epoch 0, all settings and the same id: at once,
// if no listener has to be told, and else when its application polls.
func TestFencedMember(t *testing.T) {
	for _, e := range []*kerr.Error{kerr.FencedMemberEpoch, kerr.UnknownMemberID} {
		for _, listens := range []bool{false, true} {
			s := async(t, func(c *ConsumerConfig) {
				c.Group.App.CommitOnRevoke, c.Group.App.Work, c.Group.App.Commit = listens, 7000, CommitNever
			}, 0, 1)
			id := s.consumer.member.id
			s.brings(0, 1)
			s.tick(5000)
			s.refuse(kmsg.ConsumerGroupHeartbeat, e)
			if listens {
				s.inState("fenced 0")
				s.owns("0 1")
				s.waits("Fetch>b1")
				s.tick(2000)
			}
			s.inState("joining 0")
			s.owns("")
			s.told("PartitionsLost", "g [orders-0 orders-1]")
			s.beating("epoch=0" + full + " owned=[]")
			if s.consumer.member.id != id {
				t.Error("it has another id")
			}
			if b := lastOf[journal.JoinHeartbeatSent](s); b.Why != "a heartbeat was answered with "+e.Message {
				t.Errorf("it joins because %s", b.Why)
			}
			s.tells(4, 1)
			s.owns("1")
			s.inState("stable 4")
		}
	}
}

// A member that is fenced while a commit before a reconciliation is under way begins no other before that is answered.
func TestFencedWhileReconciling(t *testing.T) {
	s := async(t, func(c *ConsumerConfig) { c.Group.AutoCommit, c.Group.AutoCommitInterval = true, 3_600_000 }, 0, 1)
	s.tick(5000)
	s.tells(1, 1)
	s.tick(5000)
	s.refuse(kmsg.ConsumerGroupHeartbeat, kerr.FencedMemberEpoch)
	s.owns("")
	s.tells(3, 0)
	s.owns("")
	s.inState("reconciling 3")
	s.refuse(kmsg.OffsetCommit, kerr.UnknownMemberID)
	s.owns("0")
	s.told("PartitionsRevoked", "")
}

// An application that does not poll for max.poll.interval.ms: the member leaves with epoch -1, a static one with -2,
// sends no heartbeats, and joins again when the application polls.
func TestStaleMember(t *testing.T) {
	for _, instance := range []kafka.GroupInstanceID{"", "i1"} {
		s := async(t, func(c *ConsumerConfig) {
			c.Group.InstanceID, c.Group.MaxPollInterval, c.Group.App.Work, c.Group.App.Commit = instance, 10_000, 25_000, CommitBatch
		}, 0)
		for range 5 { // in poll
			s.tick(5000)
			s.beats(1)
		}
		s.brings(0, 1)
		s.tick(5000)
		s.beats(1)
		s.tick(4999)
		s.told("PollIntervalExceeded", "")
		s.tick(1)
		left, says := -1, ""
		if instance != "" {
			left, says = -2, " instance=i1"
		}
		s.told("PollIntervalExceeded", fmt.Sprintf("g 10000ms epoch=%d", left))
		s.beating(fmt.Sprintf("epoch=%d%s owned=[]", left, says))
		s.beats(int32(left))
		s.inState(fmt.Sprintf("stale %d", left))
		s.told("PartitionsLost", "g [orders-0]")
		s.tick(14_999)
		s.waits("Fetch>b1")
		s.tick(1) // its commit goes out without an epoch, and is refused
		s.lastCommit("0@1 generation=-1 member=" + string(s.consumer.member.id))
		s.refuse(kmsg.OffsetCommit, kerr.UnknownMemberID)
		s.inState("joining 0")
		s.beating("epoch=0" + says + " timeout=10000 topics=[orders] owned=[]")
		if b := lastOf[journal.JoinHeartbeatSent](s); b.Why != "its application polls again" {
			t.Errorf("it joins because %s", b.Why)
		}
	}
}

// What a heartbeat is refused with while the member is stable: what it does at once, and after retry.backoff.ms.
func TestConsumerHeartbeatErrors(t *testing.T) {
	for _, test := range []struct {
		error *kerr.Error
		waits string // at once
		later string // after 100 ms
		state string
	}{
		{kerr.NotCoordinator, "Fetch>b1 FindCoordinator>b2", "Fetch>b1 FindCoordinator>b2", "stable 1"},
		{kerr.CoordinatorNotAvailable, "Fetch>b1 FindCoordinator>b2", "Fetch>b1 FindCoordinator>b2", "stable 1"},
		{kerr.CoordinatorLoadInProgress, "Fetch>b1", "ConsumerGroupHeartbeat>b1 Fetch>b1", "stable 1"},
		{kerr.UnreleasedInstanceID, "Fetch>b1", "Fetch>b1", "fatal 0"},
		{kerr.FencedInstanceID, "Fetch>b1", "Fetch>b1", "fatal 0"},
		{kerr.UnsupportedAssignor, "Fetch>b1", "Fetch>b1", "fatal 0"},
		{kerr.GroupIDNotFound, "Fetch>b1", "Fetch>b1", "fatal 0"},
		{kerr.InvalidRequest, "Fetch>b1", "Fetch>b1", "fatal 0"},
		{kerr.UnsupportedVersion, "Fetch>b1", "Fetch>b1", "fatal 0"},
		{kerr.GroupMaxSizeReached, "Fetch>b1", "Fetch>b1", "fatal 0"},
		{kerr.InvalidRegularExpression, "Fetch>b1", "Fetch>b1", "fatal 0"},
	} {
		s := async(t, nil, 0, 1)
		s.tick(5000)
		s.refuse(kmsg.ConsumerGroupHeartbeat, test.error)
		s.waits(test.waits)
		s.tick(100)
		s.waits(test.later)
		s.inState(test.state)
		want := ""
		if test.state == "fatal 0" {
			want = "g ConsumerGroupHeartbeat " + errorName(test.error.Code)
			s.owns("")
		} else {
			s.owns("0 1")
		}
		s.told("ConsumerFailed", want)
		if s.lastOpen(kmsg.ConsumerGroupHeartbeat) { // it tells everything but the rack again
			s.beating("epoch=1" + full + " owned=[0 1]")
		}
	}
}

// An instance id that another process has not released: the application ends with the error, when it polls.
func TestUnreleasedInstanceID(t *testing.T) {
	s := newAsync(t, func(c *ConsumerConfig) { c.Group.InstanceID = "i1" })
	s.refuse(kmsg.ConsumerGroupHeartbeat, kerr.UnreleasedInstanceID)
	s.inState("fatal 0")
	s.told("ConsumerFailed", "g ConsumerGroupHeartbeat UNRELEASED_INSTANCE_ID")
	s.waits("")
	if !s.consumer.Failed() {
		t.Error("its application runs")
	}
	s.tick(20_000)
	s.waits("")
	// While the application works it goes on.
	s = async(t, func(c *ConsumerConfig) { c.Group.App.Work = 6000 }, 0)
	s.brings(0, 1)
	s.tick(5000)
	s.refuse(kmsg.ConsumerGroupHeartbeat, kerr.InvalidRequest)
	if s.consumer.Failed() {
		t.Error("its application has ended before it polls")
	}
	s.tick(1000)
	if got := s.processed(); got != "0" || !s.consumer.Failed() {
		t.Errorf("processed %q, failed %t", got, s.consumer.Failed())
	}
}

// To join and to acknowledge a member does not wait, not even after an error.
func TestJoinsWithoutWaiting(t *testing.T) {
	s := newAsync(t, nil)
	s.refuse(kmsg.ConsumerGroupHeartbeat, kerr.CoordinatorLoadInProgress)
	s.waits("ConsumerGroupHeartbeat>b1")
	s.tells(1, 0)
	s.beating("epoch=1 owned=[0]")
}

// The coordinator is lost, with its connection or by an error, in each state: the member asks for it and tells the new
// one all.
func TestCoordinatorLostInEachState(t *testing.T) {
	lose := map[string]func(seat){
		"connection": func(s seat) {
			s.open = nil
			s.add(s.consumer.Disconnected(s.now, "b1", 0, &s.out, &s.journal))
			s.tick(50)
			for s.lastOpen(kmsg.Metadata) {
				s.metadata(s.open[slices.IndexFunc(s.open, isMetadata)].To, []int32{2, 2, 2}, []int32{5, 5, 5})
			}
		},
		"error": func(s seat) { s.refuse(kmsg.ConsumerGroupHeartbeat, kerr.NotCoordinator) },
	}
	for name, lost := range lose {
		s := newAsync(t, nil)
		lost(s)
		s.coordinator("b1")
		s.tick(1000)
		s.beating("epoch=0" + full + " owned=[]")

		s = newAsync(t, nil) // acknowledging
		s.tells(1, 0)
		lost(s)
		s.coordinator("b1")
		s.tick(5000)
		s.beating("epoch=1" + full + " owned=[0]")
		s.owns("0")

		s = async(t, nil, 0) // stable
		s.tick(5000)
		lost(s)
		s.inState("stable 1")
		s.coordinator("b1")
		s.tick(100)
		s.beating("epoch=1" + full + " owned=[0]")

		s = async(t, func(c *ConsumerConfig) { // reconciling
			c.Group.App.CommitOnRevoke, c.Group.App.Work = true, 60_000
		}, 0, 1)
		s.brings(0, 1)
		s.tick(5000)
		s.tells(1, 0)
		s.tick(5000)
		lost(s)
		s.coordinator("b1")
		s.tick(100)
		s.inState("reconciling 1")
		s.beating("epoch=1" + full + " owned=[0 1]")

		s = async(t, nil, 0) // leaving: it waits for an answer that does not come
		s.leave()
		if name == "error" {
			s.refuse(kmsg.ConsumerGroupHeartbeat, kerr.NotCoordinator)
		} else {
			lost(s)
		}
		if s.consumer.Alive() {
			t.Errorf("%s: it runs still", name)
		}
	}
	// No coordinator to leave by.
	s := async(t, nil, 0)
	s.tick(5000)
	s.refuse(kmsg.ConsumerGroupHeartbeat, kerr.NotCoordinator)
	s.leave()
	s.told("ConsumerClosed", "g no LeaveGroup: no coordinator is known, and its session has to end")
}

func isMetadata(s simnet.Send) bool { return s.Request.Key() == int16(kmsg.Metadata) }

// close: the last commit, then a heartbeat with epoch -1, or -2 of a static member, whose answer it waits for.
func TestConsumerProtocolClose(t *testing.T) {
	for _, instance := range []kafka.GroupInstanceID{"", "i1"} {
		s := async(t, func(c *ConsumerConfig) {
			c.Group.InstanceID, c.Group.AutoCommit, c.Group.AutoCommitInterval = instance, true, 3_600_000
		}, 0)
		left, says := -1, ""
		if instance != "" {
			left, says = -2, " instance=i1"
		}
		s.leave()
		s.waits("Fetch>b1 OffsetCommit>b1")
		s.inState("stable 1")
		s.accept()
		s.waits("ConsumerGroupHeartbeat>b1 Fetch>b1")
		s.beating(fmt.Sprintf("epoch=%d%s owned=[]", left, says))
		s.owns("")
		s.beats(int32(left))
		s.told("ConsumerClosed", fmt.Sprintf("g epoch=%d", left))
		if s.consumer.Alive() || s.consumer.Ended() == 0 {
			t.Error("it runs still")
		}
	}
	s := newAsync(t, nil) // one that joins leaves too
	s.leave()
	s.waits("ConsumerGroupHeartbeat>b1 ConsumerGroupHeartbeat>b1")
	s.tells(1, 0)
	s.owns("")
	s.beats(-1)
	s.told("ConsumerClosed", "g epoch=-1")
	s = async(t, func(c *ConsumerConfig) { c.Group.App.Work, c.Group.App.CommitOnRevoke = 9000, true }, 0)
	s.brings(0, 1)
	s.tick(5000)
	s.refuse(kmsg.ConsumerGroupHeartbeat, kerr.FencedMemberEpoch)
	s.leave()
	s.told("ConsumerClosed", "g no LeaveGroup: it is no member")
}

// A crash says nothing; the next process has another id, and joins.
func TestConsumerProtocolCrash(t *testing.T) {
	s := async(t, nil, 0)
	id := s.consumer.member.id
	s.open = nil
	s.consumer.Crash(0, &s.out, &s.journal)
	s.waits("")
	s.consumer.Start(s.now)
	if next := s.consumer.member.id; next == id || len(next) != 22 {
		t.Errorf("the next process is %q, after %q", next, id)
	}
	s.tick(0)
	s.metadata("b1", []int32{1, 1, 1}, []int32{4, 4, 4})
	s.coordinator("b1")
	s.beating("epoch=0" + full + " owned=[]")
}

// enforceRebalance is none of the consumer protocol's.
func TestNoEnforceRebalance(t *testing.T) {
	s := async(t, nil, 0)
	if _, why := s.consumer.EnforceRebalance(s.now, 0, &s.out, &s.journal); why != "c0 has group.protocol = consumer, whose client does not support enforceRebalance: it logs a warning and does nothing" {
		t.Errorf("%q", why)
	}
}

// A consumer that assigns its partitions itself takes no part in the group, whatever the protocol.
func TestAssignsItselfInTheConsumerProtocol(t *testing.T) {
	s := seat{&table{t: t}}
	s.consumer = newAsyncConsumer(func(c *ConsumerConfig) { c.Group.Assign = []kafka.TopicPartition{ordersZero} })
	s.out.Sinks = []Sink{NewSink("g", SinkConfig{})}
	s.tick(0)
	s.metadata("b1", []int32{1, 1, 1}, []int32{4, 4, 4})
	s.coordinator("b1")
	s.waits("OffsetFetch>b1")
	s.found(0)
	s.brings(0, 1)
	s.commitNow()
	s.lastCommit("0@1 generation=-1 member=")
	s.tick(20_000)
	if s.lastOpen(kmsg.ConsumerGroupHeartbeat) {
		t.Error("it sends heartbeats")
	}
}

// A topic id that metadata does not have: the member takes what it knows, acknowledges that, and asks for metadata until
// it knows the rest.
func TestUnknownTopicID(t *testing.T) {
	s := async(t, nil, 0)
	s.tick(5000)
	s.toldOf([16]byte{9}, 2, 0)
	s.owns("")
	s.beating("epoch=2 owned=[]")
	if b := lastOf[journal.TargetLearned](s); b.Unknown != 1 {
		t.Errorf("%+v", b)
	}
	s.tick(100)
	if !s.lastOpen(kmsg.Metadata) {
		t.Errorf("open are %s, want Metadata", s.waiting())
	}
	s.beats(2) // as Kafka's client does, it says so again and again, without a list
	s.beating("epoch=2")
	if got := s.consumer.MemberView(s.now).Target; len(got) != 0 {
		t.Errorf("the target is %v", got)
	}
}

// An OffsetFetch with an old epoch is sent again with the new one; with none at all poll throws.
func TestStaleOffsetFetch(t *testing.T) {
	s := newAsync(t, nil)
	s.tells(1, 0)
	s.beats(1)
	s.refuse(kmsg.OffsetFetch, kerr.StaleMemberEpoch)
	s.tick(100)
	s.waits("OffsetFetch>b1")
	s.refuse(kmsg.OffsetFetch, kerr.UnknownMemberID)
	s.told("ConsumerFailed", "g OffsetFetch UNKNOWN_MEMBER_ID")
	s.inState("fatal 0")
}

// However a coordinator answers: time passes, at most one heartbeat that is waited for is under way, a clone runs as its
// original does, and in the end the member is stable with what it was told to own last.
func TestConsumerProtocolStorms(t *testing.T) {
	happened := map[string]int{}
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		change := func(c *ConsumerConfig) {
			g := &c.Group
			g.AutoCommit, g.AutoCommitInterval, g.MaxPollInterval = seed%3 == 0, 1000, 4000
			g.App.CommitOnRevoke, g.App.Work = seed%2 == 0, kafka.Millis(seed%5*900)
			g.App.Commit = []CommitWhen{CommitNever, CommitBatch, CommitRecord, CommitBatchAsync}[seed%4]
			if seed%7 == 0 {
				g.InstanceID = "i1"
			}
			if seed%5 == 1 {
				g.App.Workers, g.App.PollEvery = 2, 300
			}
			c.RequestTimeout = 3000
		}
		s := storming{seat: seat{&table{t: t}}}
		s.consumer = newAsyncConsumer(change)
		s.out.Sinks = []Sink{NewSink("g", SinkConfig{})}
		for range 150 {
			step := rnd.Uint64()
			clone := s.fork()
			s.blow(step, false)
			clone.blow(step, false)
			if a, b := fmt.Sprint(s.waiting(), s.consumer.MemberView(s.now)), fmt.Sprint(clone.waiting(), clone.consumer.MemberView(clone.now)); a != b || s.journal.Len() != clone.journal.Len() {
				t.Fatalf("seed %d: a clone goes on otherwise:\n%s\n%s", seed, a, b)
			}
		}
		if s.consumer.Failed() {
			continue
		}
		for range 400 {
			s.blow(rnd.Uint64(), true)
		}
		for e := range s.journal.All() {
			happened[e.Body.Kind()]++
		}
		if v := s.consumer.MemberView(s.now); v.Epoch != kafka.MemberEpoch(s.epoch) || s.consumer.View().Partitions == nil || v.State != "stable" {
			t.Errorf("seed %d: in the end it is %s in epoch %d, owns %v and was told %v in epoch %d\n%s", seed, v.State, v.Epoch, s.consumer.owned(), v.Target, s.epoch, s.waiting())
		}
	}
	for _, kind := range []string{"MembershipLost", "PollIntervalExceeded", "PartitionsLost", "PartitionsRevoked", "CoordinatorLost", "ReconciliationHeld", "CommitFailed", "CommitAccepted"} {
		if happened[kind] < 10 {
			t.Errorf("%s happened %d times: too little", kind, happened[kind])
		}
	}
}

// storming is a seat that answers by itself.
type storming struct {
	seat
	epoch int32
}

func (s *storming) fork() storming {
	c := *s
	copied := *s.table
	c.table = &copied
	c.consumer, c.journal, c.out, c.open = s.consumer.Clone(), s.journal.Clone(), s.out.Clone(), slices.Clone(s.open)
	return c
}

// blow answers one request, or lets time pass; calm: without errors.
func (s *storming) blow(step uint64, calm bool) {
	rnd := rand.New(rand.NewPCG(step, 2))
	if len(s.open) == 0 || rnd.IntN(3) == 0 {
		s.tick(kafka.Millis(rnd.IntN(1500)))
		return
	}
	if !calm && rnd.IntN(30) == 0 {
		s.open = nil
		s.add(s.consumer.Disconnected(s.now, "b1", 0, &s.out, &s.journal))
		return
	}
	asked := s.open[rnd.IntN(len(s.open))]
	for _, open := range s.open { // in order for each broker and API
		if open.To == asked.To && open.Request.Key() == asked.Request.Key() {
			asked = open
			break
		}
	}
	errors := []*kerr.Error{kerr.FencedMemberEpoch, kerr.UnknownMemberID, kerr.NotCoordinator, kerr.CoordinatorLoadInProgress, kerr.StaleMemberEpoch}
	failing := errors[rnd.IntN(len(errors))]
	fails := !calm && rnd.IntN(5) == 0 && asked.To == "b1"
	switch r := asked.Request.(type) {
	case *kmsg.MetadataRequest:
		s.metadata(asked.To, []int32{1, 1, 1}, []int32{4, 4, 4})
	case *kmsg.FindCoordinatorRequest:
		s.coordinator("b1")
	case *kmsg.ConsumerGroupHeartbeatRequest:
		switch {
		case fails && failing != kerr.StaleMemberEpoch:
			s.refuse(kmsg.ConsumerGroupHeartbeat, failing)
		case r.MemberEpoch < 0:
			s.beats(r.MemberEpoch)
		case r.MemberEpoch == 0 || !calm && rnd.IntN(3) == 0:
			s.epoch++
			s.tells(s.epoch, [][]int32{{0}, {0, 1}, {1, 2}, {0, 1, 2}, {0}}[rnd.IntN(5)]...)
		default:
			s.beats(s.epoch)
		}
	case *kmsg.OffsetCommitRequest:
		if fails {
			s.refuse(kmsg.OffsetCommit, failing)
		} else {
			s.accept()
		}
	case *kmsg.OffsetFetchRequest:
		s.found(0)
	case *kmsg.FetchRequest:
		count := rnd.IntN(3)
		if calm {
			count = 0
		}
		base := kafka.Offset(-1)
		for _, p := range r.Topics[0].Partitions {
			if p.Partition == 0 {
				base = kafka.Offset(p.FetchOffset)
			}
		}
		s.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) {
			if p.Partition == 0 && base >= 0 && count > 0 {
				p.RecordBatches = batchAt(base, count, 4)
			}
		})
	default:
		s.t.Fatalf("no answer to %s", kmsg.NameForKey(asked.Request.Key()))
	}
}
