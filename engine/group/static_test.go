package group

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// trio forms a group of three static or dynamic members in generation 5.
func trio(t *testing.T, static bool) (*run, []*consumer) {
	r := newRun(t, nil)
	cs := []*consumer{newConsumer("c1"), newConsumer("c2"), newConsumer("c3")}
	if static {
		for i, c := range cs {
			c.instance = []string{"i1", "i2", "i3"}[i]
		}
	}
	r.form(cs...)
	for range 4 {
		r.rebalanceBy(cs, cs[0])
	}
	r.want(Stable, 5)
	return r, cs
}

// rebalanceBy lets one member join, which starts a rebalance, the others follow, and brings the group to Stable.
func (r *run) rebalanceBy(cs []*consumer, first *consumer) {
	r.t.Helper()
	order := slices.DeleteFunc(slices.Clone(cs), func(c *consumer) bool { return c == first })
	order = slices.Insert(order, 0, first)
	r.complete(r.joinAll(order...), order...)
}

// live lets members send heartbeats every 3 s for a span, without the one that is away; who is told to join again does.
func (r *run) live(span kafka.Millis, cs []*consumer) {
	r.t.Helper()
	for end := r.now + span; r.now < end; {
		r.until(min(end, (r.now/3000+1)*3000))
		for _, c := range cs {
			if r.code(r.beats(c)) == "REBALANCE_IN_PROGRESS" {
				r.rebalanceBy(cs, cs[0])
				break
			}
		}
	}
}

// generations gives those that began after the fifth.
func (r *run) generations() (list []kafka.GenerationID) {
	for _, e := range events[journal.JoinPhaseEnded](r) {
		if e.Generation > 5 {
			list = append(list, e.Generation)
		}
	}
	return list
}

// GRP-10 a: a static member that is back within its session gets its assignment again, and nobody else notices.
func TestStaticMemberBackInTime(t *testing.T) {
	r, cs := trio(t, true)
	before := r.view("g")
	old := cs[1].member
	cs[1].member = "" // it stops without LeaveGroup
	r.live(20_000, []*consumer{cs[0], cs[2]})
	a := r.joined(cs[1], r.joins(cs[1]))
	if a.Generation != 5 || a.SkipAssignment || len(a.Members) != 0 || a.MemberID == old || !strings.HasPrefix(a.MemberID, "i2-") {
		t.Errorf("%+v", a)
	}
	sync := r.syncs(cs[1], nil)
	r.wantCode(sync, "ok")
	if got := r.answers[sync].(*kmsg.SyncGroupResponse).MemberAssignment; !slices.Equal(assigned(got), before.Members[1].Assignment) {
		t.Errorf("assignment %v, want %v", assigned(got), before.Members[1].Assignment)
	}
	zombie := *cs[1]
	zombie.member = old
	r.wantCode(r.beats(&zombie), "FENCED_INSTANCE_ID")
	r.wantCode(r.commits(&zombie, 1, 5), "FENCED_INSTANCE_ID")
	r.wantCode(r.joins(&zombie), "FENCED_INSTANCE_ID")
	r.wantCode(r.syncs(&zombie, nil), "FENCED_INSTANCE_ID")
	r.live(60_000, cs)
	r.want(Stable, 5)
	if g := r.generations(); len(g) != 0 {
		t.Errorf("generations %v", g)
	}
	replaced := events[journal.StaticMemberReplaced](r)
	if len(replaced) != 1 || replaced[0].Rebalance != "" || replaced[0].Old != kafka.MemberID(old) {
		t.Errorf("%+v", replaced)
	}
}

// GRP-10 b: after 45 s the group goes on without it (generation 6), and its return is a rebalance (7).
func TestStaticMemberBackTooLate(t *testing.T) {
	r, cs := trio(t, true)
	stopped := r.now
	cs[1].member = ""
	others := []*consumer{cs[0], cs[2]}
	r.live(45_000-1, others)
	r.want(Stable, 5)
	r.live(15_001, others)
	r.want(Stable, 6)
	removed := events[journal.MemberRemoved](r)
	if len(removed) != 1 || removed[0].Static != "i2" {
		t.Errorf("%+v", removed)
	}
	started := events[journal.RebalanceStarted](r)
	if last := started[len(started)-1]; !strings.Contains(last.Why, "session timed out") {
		t.Errorf("%+v", last)
	}
	if r.now != stopped+60_000 {
		t.Fatalf("%d ms have passed", r.now-stopped)
	}
	join := r.joins(cs[1])
	r.rebalanceOthers(cs, join)
	r.live(60_000, cs)
	if g := r.generations(); !slices.Equal(g, []kafka.GenerationID{6, 7}) {
		t.Errorf("generations %v, want 6 and 7", g)
	}
}

// rebalanceOthers lets all but the second member, whose JoinGroup waits, join.
func (r *run) rebalanceOthers(cs []*consumer, join2 *simnet.Message) {
	r.t.Helper()
	joins := append(r.joinAll(cs[0], cs[2]), join2)
	r.complete(joins, cs[0], cs[2], cs[1])
}

// GRP-10 c: a dynamic member leaves at once, and comes back as another.
func TestDynamicMemberRestarts(t *testing.T) {
	r, cs := trio(t, false)
	r.wantCode(r.leaves(cs[1]), "ok")
	r.want(PreparingRebalance, 5)
	cs[1].member = ""
	others := []*consumer{cs[0], cs[2]}
	r.live(20_000, others)
	r.want(Stable, 6)
	r.rebalanceOthers(cs, r.joins(cs[1]))
	r.live(20_000, cs)
	if g := r.generations(); !slices.Equal(g, []kafka.GenerationID{6, 7}) {
		t.Errorf("generations %v, want 6 and 7", g)
	}
}

// GRP-10 d: a rolling restart, 20 s each, is no rebalance with static members and six with dynamic ones.
func TestRollingRestart(t *testing.T) {
	for _, static := range []bool{true, false} {
		r, cs := trio(t, static)
		for i, c := range cs {
			others := slices.Delete(slices.Clone(cs), i, i+1)
			if !static {
				r.leaves(c)
			}
			c.member = ""
			r.live(20_000, others)
			join := r.joins(c)
			if static {
				a := r.joined(c, join)
				if leads := i == 0; a.SkipAssignment != leads || len(a.Members) != map[bool]int{true: 3, false: 0}[leads] {
					t.Errorf("member %d: %+v", i+1, a)
				}
				r.wantCode(r.syncs(c, nil), "ok")
				continue
			}
			r.complete(append(r.joinAll(others...), join), others[0], others[1], c)
		}
		r.live(60_000, cs)
		want := kafka.GenerationID(5)
		if !static {
			want = 11
		}
		r.want(Stable, want)
	}
}

// A static member that comes back with other assignors starts a rebalance only if another one would be chosen.
func TestStaticMemberWithOtherAssignors(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := static("c1", "i1"), static("c2", "i2")
	c1.protocols, c2.protocols = []string{"range", "sticky"}, []string{"range", "sticky"}
	r.form(c1, c2)
	c2.member, c2.protocols = "", []string{"sticky", "range"} // a tie, which sticky wins
	r.wantCode(r.joins(c2), "waits")
	r.want(PreparingRebalance, 1)

	r = newRun(t, nil)
	c1, c2 = static("c1", "i1"), static("c2", "i2")
	c1.protocols, c2.protocols = []string{"range", "sticky"}, []string{"range", "sticky"}
	r.form(c1, c2)
	c2.member, c2.topics = "", []string{"payments"} // another subscription is no other assignor
	r.joined(c2, r.joins(c2))
	r.want(Stable, 1)
	if v := r.view("g"); !slices.Equal(v.Members[1].Topics, []string{"payments"}) {
		t.Errorf("%+v", v.Members[1])
	}
}

// In CompletingRebalance a static member that comes back starts a rebalance; in the join phase it waits with the others.
func TestStaticMemberBackInARebalance(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := static("c1", "i1"), static("c2", "i2")
	joins := r.joinAll(c1, c2)
	r.until(6000)
	r.joined(c1, joins[0])
	r.joined(c2, joins[1])
	waiting := r.syncs(c2, nil)
	old := *c2
	c2.member = ""
	again := r.joins(c2)
	r.wantCode(waiting, "FENCED_INSTANCE_ID")
	r.want(PreparingRebalance, 1)
	r.wantCode(again, "waits")
	c2.member = ""
	third := r.joins(c2) // it restarts again
	r.wantCode(again, "FENCED_INSTANCE_ID")
	r.wantCode(third, "waits")
	r.wantCode(r.beats(&old), "FENCED_INSTANCE_ID")
	r.joined(c1, r.joins(c1))
	r.joined(c2, third)
	r.want(CompletingRebalance, 2)
}

// Static members that have not joined again stay until their session ends: the join phase goes on for them if nobody
// else has joined.
func TestJoinPhaseProlonged(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := static("c1", "i1"), newConsumer("c2")
	for _, c := range []*consumer{c1, c2} {
		c.session, c.rebalance = 100_000, 20_000
	}
	r.form(c1, c2)
	started := r.now
	r.leaves(c2)
	r.until(started + 20_000)
	r.want(PreparingRebalance, 1)
	if e := events[journal.JoinPhaseProlonged](r); len(e) != 1 || e[0].Wait != 20_000 {
		t.Errorf("%+v", e)
	}
	r.until(started + 100_000)
	r.want(Empty, 2)
}

// A static member is kept although it has not joined again, and is in the next generation.
func TestStaticMemberKept(t *testing.T) {
	r := newRun(t, nil)
	c1, c2, c3 := newConsumer("c1"), static("c2", "i2"), newConsumer("c3")
	for _, c := range []*consumer{c1, c2, c3} {
		c.session, c.rebalance = 100_000, 20_000
	}
	r.form(c1, c2, c3)
	join := r.joins(c1)
	r.pass(20_000)
	if a := r.joined(c1, join); len(a.Members) != 2 || *a.Members[1].InstanceID != "i2" {
		t.Errorf("%+v", a.Members)
	}
	r.wantCode(r.beats(c3), "UNKNOWN_MEMBER_ID")
	r.wantCode(r.beats(c2), "ILLEGAL_GENERATION")
}

// If the record of a returned static member cannot be written, the member has its old id again.
func TestStaticReturnFails(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := static("c1", "i1"), static("c2", "i2")
	r.form(c1, c2)
	old := *c2
	c2.member, c2.topics, c2.session = "", []string{"other"}, 50_000
	r.fail = kerr.NotEnoughReplicas
	m := r.joins(c2)
	r.wantCode(m, "COORDINATOR_NOT_AVAILABLE")
	if a := r.answers[m].(*kmsg.JoinGroupResponse); a.MemberID != "" || a.LeaderID != c1.member || a.Generation != 1 {
		t.Errorf("%+v", a)
	}
	v := r.view("g")
	if k := v.Members[1]; k.ID != kafka.MemberID(old.member) || !slices.Equal(k.Topics, []string{"orders"}) || k.SessionTimeout != 45_000 || k.WaitsInJoin || k.SessionEnds != r.now+45_000 {
		t.Errorf("%+v", k)
	}
	r.wantCode(r.beats(&old), "ok")
	r.fail = nil
	r.joined(c2, r.joins(c2))
	r.want(Stable, 1)
}

// A returned static leader whose record is on its way when a rebalance starts waits for the end of the join phase.
func TestStaticReturnMeetsARebalance(t *testing.T) {
	for _, leader := range []bool{true, false} {
		r := newRun(t, nil)
		c1, c2, c3 := static("c1", "i1"), static("c2", "i2"), newConsumer("c3")
		r.form(c1, c2)
		r.delay = 100
		back := c1
		if !leader {
			back = c2
		}
		back.member = ""
		m := r.joins(back)
		r.wantCode(m, "waits")
		r.wantCode(r.joins(c3), "waits")
		r.want(PreparingRebalance, 1)
		r.pass(100)
		if want := map[bool]string{true: "waits", false: "ok"}[leader]; r.code(m) != want {
			t.Errorf("leader %t: %s, want %s", leader, r.code(m), want)
		}
		if leader {
			r.joins(c2)
			if a := r.joined(c1, m); a.Generation != 2 || a.SkipAssignment {
				t.Errorf("%+v", a)
			}
		}
	}
}

// An older client is not told that it leads, as it cannot be told to divide nothing.
func TestStaticLeaderOfOldVersion(t *testing.T) {
	r := newRun(t, nil)
	c1 := static("c1", "i1")
	c1.joinV = 8
	r.form(c1)
	old := c1.member
	c1.member = ""
	if a := r.joined(c1, r.joins(c1)); a.LeaderID != old || len(a.Members) != 0 {
		t.Errorf("%+v", a)
	}
}

// As in Kafka, the id of a static member that was replaced before its SyncGroup is still awaited.
func TestReplacedIDIsStillAwaited(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := static("c1", "i1"), static("c2", "i2")
	for _, c := range []*consumer{c1, c2} {
		c.session, c.rebalance = 100_000, 20_000
	}
	joins := r.joinAll(c1, c2)
	r.until(6000)
	r.joined(c1, joins[0])
	r.joined(c2, joins[1])
	r.wantCode(r.syncs(c1, map[*consumer][]byte{c1: nil}), "ok")
	c2.member = ""
	r.joined(c2, r.joins(c2))
	r.wantCode(r.syncs(c2, nil), "ok")
	r.want(Stable, 1)
	r.until(25_999)
	r.want(Stable, 1)
	r.until(26_000)
	r.want(PreparingRebalance, 1)
	if v := r.view("g"); len(v.Members) != 2 {
		t.Errorf("%+v", v.Members)
	}
}
