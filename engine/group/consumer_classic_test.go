package group

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A JoinGroup that a group of the consumer protocol refuses is answered without the member id.
func TestRefusedJoinLosesMemberID(t *testing.T) {
	r := consumers(t, "orders:2")
	r.joinsModern(newModern("A"))
	c1 := static("c1", "i1")
	c1.member = "c1-gone"
	m := r.joinsOnce(c1)
	r.wantCode(m, "UNKNOWN_MEMBER_ID")
	if got := r.answers[m].(*kmsg.JoinGroupResponse).MemberID; got != "" {
		t.Errorf("member id %q", got)
	}
}

// Who waits in the join phase when its group changes to the consumer protocol is told its member id and to join again.
func TestUpgradeAnswersWhoWaits(t *testing.T) {
	r := consumers(t, "orders:2")
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	r.form(c1)
	m := r.joins(c2)
	r.wantCode(m, "waits")
	r.joinsModern(newModern("A"))
	r.wantCode(m, "REBALANCE_IN_PROGRESS")
	if got := r.answers[m].(*kmsg.JoinGroupResponse).MemberID; got != c2.member {
		t.Errorf("member id %q, want %q", got, c2.member)
	}
	r.wantModern(Reconciling, 2, 2)
	for _, member := range r.view("g").Members {
		if member.SessionEnds == 0 {
			t.Errorf("the session of %s has no end", member.ID)
		}
	}
}

// A member that joins during a rebalance may not have the assignor of the generation before. As long as it waits the group
// cannot change its protocol.
func TestUpgradeNeedsTheGenerationsAssignor(t *testing.T) {
	r := consumers(t, "orders:2")
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	c1.protocols, c2.protocols = []string{"range", "sticky"}, []string{"sticky"}
	r.form(c1)
	r.wantCode(r.joins(c2), "waits")
	a := newModern("A")
	r.wantCode(r.send("A", a.full(0)), "UNKNOWN_SERVER_ERROR")
	if v := r.view("g"); v.Type != Classic || v.State != PreparingRebalance {
		t.Errorf("%s %s", v.Type, v.State)
	}
}

// The session of a member that uses the classic protocol, and its time to send SyncGroup, begin when its JoinGroup is
// written.
func TestClassicTimersBeginWhenWritten(t *testing.T) {
	r := consumers(t, "orders:2")
	r.joinsModern(newModern("A"))
	c1 := newConsumer("c1")
	r.wantCode(r.joinsOnce(c1), "MEMBER_ID_REQUIRED")
	c1.member = "c1"
	r.delay = 1000
	m := r.joinsOnce(c1)
	r.pass(1000)
	r.joined(c1, m)
	v := r.view("g").Members[1]
	if !v.Classic || v.SessionEnds != 46_000 || v.SyncEnds != 301_000 {
		t.Errorf("%+v", v)
	}
	r.delay, r.fail = 0, errNotEnough
	c1.topics = []string{"payments"}
	r.pass(1000)
	m = r.joinsOnce(c1)
	r.wantCode(m, "COORDINATOR_NOT_AVAILABLE")
	if got := r.answers[m].(*kmsg.JoinGroupResponse).MemberID; got != "" {
		t.Errorf("the answer names the member %q; Kafka's names none", got)
	}
	r.fail = nil
	if got := r.view("g").Members[1]; got.SessionEnds != v.SessionEnds || got.SyncEnds != v.SyncEnds {
		t.Errorf("%+v", got)
	}
}

// A static member of the classic protocol takes the place of the only member of the consumer protocol: the group is a
// classic one then, with the target assignment that it had. Nobody makes another one, although the group epoch has risen.
func TestDowngradeKeepsTargetAssignment(t *testing.T) {
	r := consumers(t, "orders:2")
	a, b := newModern("A"), newModern("B")
	a.instance = "i1"
	r.joinsModern(a)
	r.joinsModern(b)
	r.settle(a, b)
	q := b.beat()
	q.MemberEpoch = int32(leaves)
	r.wantCode(r.send("B", q), "ok")
	r.wantModern(Assigning, 3, 2)
	c1 := static("c1", "i1")
	r.joined(c1, r.joinsOnce(c1))
	if v := r.view("g"); v.Type != Classic || v.State != Stable || v.Generation != 3 || numbers(v.Members[0].Assignment) != "0" || c1.generation != 2 {
		t.Errorf("%+v, told generation %d", v, c1.generation)
	}
}

// A member that joins again with another instance than before is the same member.
func TestMemberThatJoinsAgainWithAnInstance(t *testing.T) {
	r := consumers(t, "orders:2")
	a := newModern("A")
	r.joinsModern(a)
	a.instance = "i1"
	r.joinsModern(a)
	r.wantMember(a, "epoch=1 STABLE 0,1")
	r.wantModern(Stable, 1, 1)
}
