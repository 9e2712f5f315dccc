package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
)

// newAsync makes a seat of a member of the consumer protocol that has sent its heartbeat with epoch 0.
func newAsync(t *testing.T, change func(*ConsumerConfig)) seat {
	t.Helper()
	return seatOf(t, newAsyncConsumer(change))
}

func newAsyncConsumer(change func(*ConsumerConfig)) *Consumer {
	return testMember(configOf(DefaultConsumerGroupConfig("g"), change))
}

// async makes a seat of a member that is stable in epoch 1, owns partitions and has sent its first fetch, from offset 0.
func async(t *testing.T, change func(*ConsumerConfig), partitions ...int32) seat {
	t.Helper()
	s := newAsync(t, change)
	s.tells(1, partitions...)
	s.beats(1)
	s.found(0)
	s.inState("stable 1")
	s.waits("Fetch>b1")
	return s
}

// tells answers the heartbeat under way with an epoch and an assignment.
func (s seat) tells(epoch int32, partitions ...int32) {
	s.t.Helper()
	s.toldOf([16]byte{1}, epoch, partitions...)
}

func (s seat) toldOf(id [16]byte, epoch int32, partitions ...int32) {
	s.t.Helper()
	asked := s.take(kmsg.ConsumerGroupHeartbeat, "b1")
	response := asked.Request.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
	response.MemberEpoch, response.HeartbeatIntervalMillis = epoch, 5000
	response.Assignment = &kmsg.ConsumerGroupHeartbeatResponseAssignment{}
	if len(partitions) > 0 {
		response.Assignment.Topics = []kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{{TopicID: id, Partitions: partitions}}
	}
	s.answer(asked, response)
}

// beats answers the heartbeat under way with an epoch and nothing new.
func (s seat) beats(epoch int32) {
	s.t.Helper()
	asked := s.take(kmsg.ConsumerGroupHeartbeat, "b1")
	response := asked.Request.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
	response.MemberEpoch, response.HeartbeatIntervalMillis = epoch, 5000
	s.answer(asked, response)
}

// beating says what the oldest heartbeat under way says: "epoch=0 timeout=300000 topics=[orders] owned=[]"; a field that
// is null is left out.
func (s seat) beating(want string) {
	s.t.Helper()
	for _, open := range s.open {
		if request, ok := open.Request.(*kmsg.ConsumerGroupHeartbeatRequest); ok {
			if got := heartbeatText(request); got != want {
				s.t.Errorf("the heartbeat says %q, want %q", got, want)
			}
			if request.MemberID != string(s.consumer.member.id) || request.Group != "g" || request.Version != 1 {
				s.t.Errorf("the heartbeat is of %q", request.MemberID)
			}
			return
		}
	}
	s.t.Errorf("no heartbeat is under way among %s", s.waiting())
}

func heartbeatText(r *kmsg.ConsumerGroupHeartbeatRequest) string {
	list := []string{fmt.Sprintf("epoch=%d", r.MemberEpoch)}
	add := func(there bool, format string, value any) {
		if there {
			list = append(list, fmt.Sprintf(format, value))
		}
	}
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	add(r.InstanceID != nil, "instance=%s", text(r.InstanceID))
	add(r.RackID != nil, "rack=%s", text(r.RackID))
	add(r.RebalanceTimeoutMillis >= 0, "timeout=%d", r.RebalanceTimeoutMillis)
	add(r.SubscribedTopicNames != nil, "topics=%v", r.SubscribedTopicNames)
	add(r.SubscribedTopicRegex != nil, "regex=%s", text(r.SubscribedTopicRegex))
	add(r.ServerAssignor != nil, "assignor=%s", text(r.ServerAssignor))
	if r.Topics != nil {
		owned := []int32{}
		for _, t := range r.Topics {
			owned = append(owned, t.Partitions...)
		}
		list = append(list, fmt.Sprintf("owned=%v", owned))
	}
	return strings.Join(list, " ")
}

func (s seat) inState(want string) {
	s.t.Helper()
	v := s.consumer.MemberView(s.now)
	if got := fmt.Sprintf("%s %d", v.State, v.Epoch); got != want {
		s.t.Errorf("it is %q, want %q", got, want)
	}
}

// full is what a heartbeat says in which every setting stands.
const full = " timeout=300000 topics=[orders]"

// A member makes its id, joins with epoch 0 and all its settings, takes what it is told at once and acknowledges that;
// from then on it tells only what has changed, at the coordinator's interval.
func TestConsumerProtocolJoin(t *testing.T) {
	s := newAsync(t, func(c *ConsumerConfig) {
		c.ClientRack, c.Group.RemoteAssignor, c.Group.InstanceID = "east", "server-range", "i1"
	})
	s.inState("joining 0")
	id := s.consumer.member.id
	if len(id) != 22 {
		t.Errorf("the member id is %q", id)
	}
	s.waits("ConsumerGroupHeartbeat>b1")
	s.beating("epoch=0 instance=i1 rack=east" + full + " assignor=range owned=[]")
	s.tick(20_000) // nothing more while that has no answer
	s.waits("ConsumerGroupHeartbeat>b1")
	s.tells(1, 0, 1)
	s.inState("stable 1")
	s.owns("0 1")
	s.waits("ConsumerGroupHeartbeat>b1 OffsetFetch>b1")
	s.beating("epoch=1 instance=i1 owned=[0 1]")
	for _, open := range s.open {
		if r, ok := open.Request.(*kmsg.OffsetFetchRequest); ok && (*r.Groups[0].MemberID != string(id) || r.Groups[0].MemberEpoch != 1) {
			t.Errorf("it asks for committed offsets as %+v", r.Groups[0])
		}
	}
	s.beats(1)
	s.found(0)
	s.waits("Fetch>b1")
	s.tick(4999)
	s.waits("Fetch>b1")
	s.tick(1)
	s.waits("ConsumerGroupHeartbeat>b1 Fetch>b1")
	s.beating("epoch=1 instance=i1")
	s.told("PartitionsTaken", "g epoch=1 [orders-0 orders-1] added=[orders-0 orders-1]")
	s.told("MemberEpochMoved", fmt.Sprintf("g %s epoch=0→1 interval=5000ms", id))
	if v := s.consumer.MemberView(s.now); v.Generation != -1 || v.Protocol != ConsumerProtocol || len(v.Target) != 2 || v.MemberID != id {
		t.Errorf("%+v", v)
	}
}

// A member without partitions acknowledges that it has none.
func TestConsumerProtocolIdle(t *testing.T) {
	s := newAsync(t, nil)
	s.tells(1)
	s.waits("ConsumerGroupHeartbeat>b1")
	s.beating("epoch=1 owned=[]")
	s.beats(1)
	s.inState("stable 1")
}

// What it keeps it reads on without a break; what it gives up is neither fetched nor returned any more, and the next
// heartbeat, at once, leaves it out. Then comes the new epoch, without a new assignment.
func TestReconcilesWhileItReads(t *testing.T) {
	s := async(t, nil, 0, 1, 2)
	s.tick(5000)
	s.waits("ConsumerGroupHeartbeat>b1 Fetch>b1")
	s.tells(1, 0, 2)
	s.inState("stable 1")
	s.waits("ConsumerGroupHeartbeat>b1 Fetch>b1")
	s.beating("epoch=1 owned=[0 2]")
	s.told("PartitionsRevoked", "g [orders-1] epoch=1")
	s.owns("0 2")
	s.beats(2)
	s.inState("stable 2")
	s.brings(0, 3) // the fetch under way goes on
	if got := s.processed(); got != "0 1 2" {
		t.Errorf("processed %q", got)
	}
	s.tick(5000)
	s.tells(3, 0, 1, 2)
	s.owns("0 1 2")
	s.told("TargetLearned", "g epoch=1 [orders-0 orders-1 orders-2] revoked=[] added=[orders-0 orders-1 orders-2]; "+
		"g epoch=1 [orders-0 orders-2] revoked=[orders-1] added=[]; g epoch=3 [orders-0 orders-1 orders-2] revoked=[] added=[orders-1]")
	if got := s.consumer.partitions[0].position; got != 3 {
		t.Errorf("the position of a partition that it keeps is %d, want 3", got)
	}
}

// A target that comes while another is being reconciled waits for the end of that.
func TestTargetWhileReconciling(t *testing.T) {
	s := async(t, func(c *ConsumerConfig) { c.Group.App.CommitOnRevoke, c.Group.App.Work = true, 12_000 }, 0, 1, 2)
	s.brings(0, 1)
	s.tick(5000)
	s.tells(1, 1, 2) // gives 0 up
	s.tick(5000)
	s.tells(1, 2) // gives 1 up too
	s.inState("reconciling 1")
	s.owns("0 1 2")
	s.tick(2000)                     // the application polls
	s.accept()                       // onPartitionsRevoked has committed
	s.beating("epoch=1 owned=[1 2]") // and nothing is processed of 1 that it had to commit
	s.inState("acknowledging 1")
	s.owns("2")
	s.beats(1)
	s.beating("epoch=1 owned=[2]")
	s.inState("stable 1")
}

// A heartbeat that is answered with no assignment or with the same one changes nothing.
func TestSameTarget(t *testing.T) {
	s := async(t, nil, 0, 1)
	s.tick(5000)
	s.tells(1, 0, 1)
	s.inState("stable 1")
	s.waits("Fetch>b1")
}

// With a listener, partitions change hands only while the application is in poll: it is told so then, and commits. The
// member sends heartbeats meanwhile, without the list that the coordinator waits for.
func TestListenerWaitsForPoll(t *testing.T) {
	s := async(t, func(c *ConsumerConfig) { c.Group.App.CommitOnRevoke, c.Group.App.Work = true, 12_000 }, 0, 1)
	s.brings(0, 1)
	s.tick(5000)
	s.tells(1, 1)
	s.inState("reconciling 1")
	s.told("ReconciliationHeld", "g: its ConsumerRebalanceListener runs only while the application is in poll")
	s.tick(5000)
	s.beating("epoch=1")
	s.beats(1)
	s.owns("0 1")
	s.tick(2000)
	s.lastCommit("0@1 generation=1 member=" + string(s.consumer.member.id))
	if got := s.consumer.MemberView(s.now).App; got != "committing before it gives partitions up" {
		t.Errorf("the application is %s", got)
	}
	s.owns("0 1")
	s.accept()
	s.owns("1")
	s.beating("epoch=1 owned=[1]")
}

// Without a listener and without enable.auto.commit partitions change hands behind the back of an application that is at
// work: it goes on with their records.
func TestChangesHandsBehindTheApplication(t *testing.T) {
	s := async(t, func(c *ConsumerConfig) { c.Group.App.Work, c.Group.App.Commit = 3000, CommitBatch }, 0, 1)
	s.brings(0, 3)
	s.tick(5000)
	s.tells(1, 1)
	s.owns("1")
	s.beating("epoch=1 owned=[1]")
	s.tick(4000)
	if got := s.processed(); got != "0 1 2" {
		t.Errorf("processed %q, want all three", got)
	}
	s.lastCommit("0@3 generation=1 member=" + string(s.consumer.member.id))
}

// With enable.auto.commit all that poll has returned is committed first, which needs an application in poll. It goes on
// polling meanwhile.
func TestAutoCommitBeforeReconciliation(t *testing.T) {
	s := async(t, func(c *ConsumerConfig) {
		c.Group.AutoCommit, c.Group.AutoCommitInterval, c.Group.App.Work = true, 3_600_000, 6000
	}, 0, 1)
	s.brings(0, 1)
	s.tick(5000)
	s.tells(1, 1)
	s.told("ReconciliationHeld", "g: enable.auto.commit commits first, which is safe only while the application is in poll")
	s.inState("reconciling 1")
	s.tick(1000)
	s.lastCommit("0@1 1@0 generation=1 member=" + string(s.consumer.member.id))
	s.owns("0 1")
	if got := s.consumer.MemberView(s.now).App; got != "polling" {
		t.Errorf("the application is %s", got)
	}
	s.accept()
	s.owns("1")
	s.beating("epoch=1 owned=[1]")
}

// The commit before partitions change hands is tried again after an error that passes, and after an old epoch as long as
// the member has one; after another, or when max.poll.interval.ms is over, it goes on without.
func TestAutoCommitBeforeReconciliationFails(t *testing.T) {
	for _, test := range []struct {
		error *kerr.Error
		again bool
	}{
		{kerr.StaleMemberEpoch, true},
		{kerr.CoordinatorLoadInProgress, true},
		{kerr.UnknownMemberID, false},
		{kerr.OffsetMetadataTooLarge, false},
	} {
		s := async(t, func(c *ConsumerConfig) {
			c.Group.AutoCommit, c.Group.AutoCommitInterval, c.Group.MaxPollInterval = true, 3_600_000, 10_000
		}, 0, 1)
		s.tick(5000)
		s.tells(1, 1)
		s.refuse(kmsg.OffsetCommit, test.error)
		if !test.again {
			s.owns("1")
			continue
		}
		s.owns("0 1")
		for tries := 0; s.now < 16_000; {
			s.tick(100)
			for s.lastOpen(kmsg.ConsumerGroupHeartbeat) {
				s.beats(1)
			}
			for s.lastOpen(kmsg.OffsetCommit) {
				tries++
				s.refuse(kmsg.OffsetCommit, test.error)
			}
			if given := len(s.consumer.partitions) == 1; given && s.now < 15_000 || tries > 15 {
				t.Fatalf("%s: at %d after %d tries it owns %v", test.error.Message, s.now, tries, s.consumer.owned())
			}
		}
		s.owns("1")
	}
}

// An old epoch: commitSync fails, as commitAsync does; the member stays one.
func TestStaleMemberEpoch(t *testing.T) {
	for _, when := range []CommitWhen{CommitBatch, CommitBatchAsync} {
		s := async(t, func(c *ConsumerConfig) { c.Group.App.Commit = when }, 0)
		s.brings(0, 1)
		s.refuse(kmsg.OffsetCommit, kerr.StaleMemberEpoch)
		if b := lastOf[journal.CommitFailed](s); b.Error != "CommitFailedException: STALE_MEMBER_EPOCH" {
			t.Errorf("%s: %+v", when, b)
		}
		s.tick(1000)
		s.waits("Fetch>b1")
		s.inState("stable 1")
	}
}

// A commit that finds no coordinator waits for one; a commit of no member any more fails and changes no membership.
func TestConsumerProtocolCommitErrors(t *testing.T) {
	s := async(t, func(c *ConsumerConfig) { c.Group.App.Commit = CommitBatch }, 0)
	s.brings(0, 1)
	s.refuse(kmsg.OffsetCommit, kerr.NotCoordinator)
	s.coordinator("b1")
	s.tick(100)
	s.lastCommit("0@1 generation=1 member=" + string(s.consumer.member.id))
	s.refuse(kmsg.OffsetCommit, kerr.UnknownMemberID)
	if b := lastOf[journal.CommitFailed](s); b.Error != "CommitFailedException: UNKNOWN_MEMBER_ID" {
		t.Errorf("%+v", b)
	}
	s.inState("stable 1")
	s.told("MembershipLost", "")
}
