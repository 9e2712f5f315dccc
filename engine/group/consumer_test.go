package group

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// consumers makes a coordinator of a cluster with these topics.
func consumers(t testing.TB, topics ...string) *run {
	r := newRun(t, nil)
	r.publish(topics...)
	return r
}

// The trace of §6.4: A alone owns 0, 1, 2; B joins and is given 2 once A has let it go, which nobody else waits for.
func TestTraceOfTwoMembers(t *testing.T) {
	r := consumers(t, "orders:3")
	a, b := newModern("A"), newModern("B")
	r.joinsModern(a)
	r.wantModern(Stable, 1, 1)
	r.wantMember(a, "epoch=1 STABLE 0,1,2")
	r.joinsModern(b)
	r.wantModern(Reconciling, 2, 2)
	r.wantMember(b, "epoch=2 UNRELEASED_PARTITIONS ∅")
	r.beatsModern(a)
	r.wantMember(a, "epoch=1 UNREVOKED_PARTITIONS 0,1 revoking 2")
	if v := r.view("g"); v.Members[0].RevokeEnds != 300_000 {
		t.Errorf("A has to let go until %d, want 300,000", v.Members[0].RevokeEnds)
	}
	r.beatsModern(a) // says nothing of what it owns
	r.wantMember(a, "epoch=1 UNREVOKED_PARTITIONS 0,1 revoking 2")
	r.beatsModern(b)
	r.wantMember(b, "epoch=2 UNRELEASED_PARTITIONS ∅")
	r.acks(a)
	r.wantMember(a, "epoch=2 STABLE 0,1")
	r.beatsModern(b)
	r.wantMember(b, "epoch=2 STABLE 2")
	r.wantModern(Stable, 2, 2)
	if v := r.view("g"); v.ServerAssignor != "uniform" || v.Members[0].RevokeEnds != 0 || v.Members[0].SessionEnds != 45_000 {
		t.Errorf("%+v", v)
	}
}

// What a member is told: its epoch and the interval always, what it owns when it joins or that has changed.
func TestHeartbeatAnswers(t *testing.T) {
	r := consumers(t, "orders:3")
	a := newModern("A")
	answer := func(c *modern, q *kmsg.ConsumerGroupHeartbeatRequest) *kmsg.ConsumerGroupHeartbeatResponse {
		return r.answers[r.heartbeats(c, q)].(*kmsg.ConsumerGroupHeartbeatResponse)
	}
	first := answer(a, a.full(0))
	if *first.MemberID != "A" || first.MemberEpoch != 1 || first.HeartbeatIntervalMillis != 5000 || first.Assignment == nil || len(first.Assignment.Topics[0].Partitions) != 3 {
		t.Errorf("%+v", first)
	}
	if next := answer(a, a.beat()); next.Assignment != nil || next.MemberEpoch != 1 {
		t.Errorf("nothing has changed: %+v", next)
	}
	if again := answer(a, a.full(1)); again.Assignment == nil {
		t.Error("a full request is answered with what the member owns")
	}
	a.owns = nil
	if again := answer(a, a.full(0)); again.MemberEpoch != 1 {
		t.Errorf("it joins again as itself: %+v", again)
	}
	r.wantModern(Stable, 1, 1)
}

// Requests that could not be right, and members that are not where they believe.
func TestHeartbeatRefusals(t *testing.T) {
	r := consumers(t, "orders:3")
	a := newModern("A")
	r.joinsModern(a)
	b := newModern("B")
	r.joinsModern(b)
	r.settle(a, b)
	r.wantModern(Stable, 2, 2)
	with := func(change func(*kmsg.ConsumerGroupHeartbeatRequest)) *kmsg.ConsumerGroupHeartbeatRequest {
		q := a.beat()
		change(q)
		return q
	}
	text := func(s string) *string { return &s }
	none := []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	for _, c := range []struct {
		name, want string
		q          *kmsg.ConsumerGroupHeartbeatRequest
	}{
		{"no member id", "INVALID_REQUEST", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberID = "" })},
		{"no group", "INVALID_REQUEST", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.Group = "" })},
		{"an empty instance", "INVALID_REQUEST", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.InstanceID = text("") })},
		{"an empty rack", "INVALID_REQUEST", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.RackID = text(" ") })},
		{"a join without a timeout", "INVALID_REQUEST", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch, q.Topics = 0, none })},
		{"a join that owns something", "INVALID_REQUEST", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) {
			q.MemberEpoch, q.RebalanceTimeoutMillis, q.SubscribedTopicNames, q.Topics = 0, 1, []string{"orders"}, a.owns
		})},
		{"a join without a subscription", "INVALID_REQUEST", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) {
			q.MemberEpoch, q.RebalanceTimeoutMillis, q.Topics = 0, 1, none
		})},
		{"a dynamic member that leaves to come back", "INVALID_REQUEST", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch = -2 })},
		{"epoch -3", "INVALID_REQUEST", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch = -3 })},
		{"another assignor", "UNSUPPORTED_ASSIGNOR", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.ServerAssignor = text("sticky") })},
		{"a group that there is not", "GROUP_ID_NOT_FOUND", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.Group = "other" })},
		{"a stranger", "UNKNOWN_MEMBER_ID", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberID = "X" })},
		{"a strange instance", "UNKNOWN_MEMBER_ID", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.InstanceID = text("i9") })},
		{"an epoch to come", "FENCED_MEMBER_EPOCH", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch = 3 })},
		{"an old epoch without a word of what it owns", "FENCED_MEMBER_EPOCH", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch = 1 })},
		{"an old epoch with what it has let go", "FENCED_MEMBER_EPOCH", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) {
			q.MemberEpoch, q.Topics = 1, []kmsg.ConsumerGroupHeartbeatRequestTopic{{TopicID: a.owns[0].TopicID, Partitions: []int32{0, 1, 2}}}
		})},
		{"the epoch before, of which the answer was lost", "ok", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch, q.Topics = 1, a.owns })},
		{"a pattern that cannot be read", "INVALID_REGULAR_EXPRESSION", with(func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.SubscribedTopicRegex = text("or(ders") })},
	} {
		before := r.memberText("A")
		if got := r.code(r.send("A", c.q)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if after := r.memberText("A"); after != before {
			t.Errorf("%s: A was %s and is %s", c.name, before, after)
		}
	}
	r.wantModern(Stable, 2, 2)
}

// A member that leaves, one of which nothing is heard, and one that does not let go: the group epoch rises at once, the
// target assignment with the next heartbeat of another.
func TestMembersGo(t *testing.T) {
	r := consumers(t, "orders:4")
	a, b, c := newModern("A"), newModern("B"), newModern("C")
	r.joinsModern(a)
	r.joinsModern(b)
	r.settle(a, b)
	r.wantModern(Stable, 2, 2)
	q := b.beat()
	q.MemberEpoch = -1
	m := r.send("B", q)
	if left := r.answers[m].(*kmsg.ConsumerGroupHeartbeatResponse); left.MemberEpoch != -1 || left.ErrorCode != 0 {
		t.Errorf("%+v", left)
	}
	r.wantModern(Assigning, 3, 2)
	r.beatsModern(a)
	r.wantMember(a, "epoch=3 STABLE 0,1,2,3")

	r.joinsModern(b)
	r.settle(a, b)
	r.until(44_999)
	r.beatsModern(a)
	r.until(45_001) // B was heard at 0
	r.wantModern(Assigning, 5, 4)
	if gone := events[journal.MemberRemoved](r); gone[len(gone)-1].Member != "B" || !strings.Contains(gone[len(gone)-1].Why, "group.consumer.session.timeout.ms = 45,000 ms") {
		t.Errorf("%+v", gone)
	}
	r.wantCode(r.send("B", b.beat()), "UNKNOWN_MEMBER_ID")

	a.timeout = 60_000
	r.heartbeats(a, a.full(a.epoch))
	r.joinsModern(c)
	r.beatsModern(a)
	at := r.now
	for _, span := range []kafka.Millis{20_000, 20_000, 19_999} {
		r.pass(span)
		r.beatsModern(a)
		r.beatsModern(c)
	}
	if a.epoch != 5 || r.now != at+59_999 || len(r.view("g").Members) != 2 {
		t.Errorf("A in epoch %d at %d", a.epoch, r.now)
	}
	r.pass(1)
	if gone := events[journal.MemberRemoved](r); gone[len(gone)-1].Member != "A" || !strings.Contains(gone[len(gone)-1].Why, "max.poll.interval.ms = 60,000 ms") {
		t.Errorf("%+v", gone)
	}
	r.beatsModern(c)
	r.wantMember(c, "epoch=7 STABLE 0,1,2,3")
}

// A static member leaves to come back: its partitions wait for it, and no epoch rises. Another one with its instance is
// refused until then.
func TestStaticMemberOfConsumerProtocol(t *testing.T) {
	r := consumers(t, "orders:4")
	a, b := newModern("A"), newModern("B")
	a.instance, b.instance = "i1", "i2"
	r.joinsModern(a)
	r.joinsModern(b)
	r.settle(a, b)
	thief := newModern("T")
	thief.instance = "i1"
	r.wantCode(r.send("T", thief.full(0)), "UNRELEASED_INSTANCE_ID")
	q := a.beat()
	q.MemberEpoch = -2
	r.wantCode(r.send("A", q), "ok")
	r.wantModern(Reconciling, 2, 2)
	r.wantMember(a, "epoch=-2 STABLE 0,1")
	r.beatsModern(b)
	r.wantMember(b, "epoch=2 STABLE 2,3")
	r.pass(10_000)
	r.beatsModern(b)
	r.joinsModern(thief)
	r.wantMember(thief, "epoch=2 STABLE 0,1")
	r.wantModern(Stable, 2, 2)
	r.wantCode(r.send("A", a.beat()), "FENCED_INSTANCE_ID")
	if back := events[journal.StaticMemberReturned](r); len(back) != 1 || back[0].Old != "A" || back[0].Member != "T" {
		t.Errorf("%+v", back)
	}
	q = thief.beat()
	q.MemberEpoch = -2
	r.send("T", q)
	r.until(54_000)
	r.beatsModern(b)
	r.until(55_001) // its session is over
	r.wantModern(Assigning, 3, 2)
}

// Partitions are added, a topic is made to which a member subscribes, and a pattern meets it.
func TestTopicsChange(t *testing.T) {
	r := consumers(t, "orders:2")
	a := newModern("A")
	a.topics = []string{"orders", "payments"}
	r.joinsModern(a)
	r.wantMember(a, "epoch=1 STABLE 0,1")
	r.publish("orders:3")
	r.wantModern(Stable, 1, 1)
	r.beatsModern(a)
	r.wantMember(a, "epoch=2 STABLE 0,1,2")
	r.publish("orders:3", "payments:1")
	r.beatsModern(a)
	r.wantMember(a, "epoch=3 STABLE orders-0,orders-1,orders-2,payments-0")
	var why []string
	for _, e := range events[journal.GroupEpochBumped](r) {
		why = append(why, e.Why)
	}
	if got, want := strings.Join(why, "|"), "A joined|orders has 3 partitions, 2 before|the topic payments is new"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}

	b := newModern("B")
	b.group, b.topics, b.regex = "h", nil, "pay.*"
	r.joinsModern(b)
	r.pass(11_000)
	r.publish("orders:3", "payments:1", "paybacks:2")
	r.beatsModern(b)
	r.beatsModern(b)
	var got []string
	for _, e := range events[journal.PatternResolved](r) {
		got = append(got, strings.Join(e.Topics, ","))
	}
	if text := strings.Join(got, " "); text != "payments paybacks,payments" {
		t.Errorf("the pattern matched %s", text)
	}
	for _, v := range r.c.View() {
		if v.ID == "h" && (numbers(v.Members[0].Assignment) != "paybacks-0,paybacks-1,payments-0" || v.Epoch != 3) {
			t.Errorf("%+v", v)
		}
	}
}

// Commits name the member epoch; OffsetFetch may.
func TestOffsetsOfConsumerProtocol(t *testing.T) {
	r := consumers(t, "orders:2")
	a, b := newModern("A"), newModern("B")
	r.joinsModern(a)
	with := func(c *modern, epoch int32) *consumer {
		return &consumer{node: c.node, group: "g", member: c.id, generation: epoch}
	}
	r.wantCode(r.commits(with(a, 1), 0, 5), "ok")
	r.joinsModern(b)
	r.settle(a, b)
	r.wantCode(r.commits(with(a, 1), 0, 6), "STALE_MEMBER_EPOCH")
	r.wantCode(r.commits(with(a, 2), 0, 7), "ok")
	r.wantCode(r.commits(with(newModern("X"), 2), 0, 8), "UNKNOWN_MEMBER_ID")
	r.wantCode(r.commits(&consumer{node: "admin", group: "g", generation: -1}, 0, 9), "UNKNOWN_MEMBER_ID")
	old := commit(with(a, 2), "orders", 0, 9)
	old.Version = 8
	r.wantCode(r.send("A", old), "UNSUPPORTED_VERSION")
	q := fetchRequest("g", 0)
	q.Groups[0].MemberID, q.Groups[0].MemberEpoch = &a.id, 1
	r.wantCode(r.send("A", q), "STALE_MEMBER_EPOCH")
	q = fetchRequest("g", 0)
	q.Groups[0].MemberID, q.Groups[0].MemberEpoch = &a.id, 2
	r.wantCode(r.send("A", q), "ok")
	if got := r.fetched("g", 0); got != 7 {
		t.Errorf("offset %d is committed, want 7", got)
	}
}

// A new coordinator knows all of a group by its records.
func TestLoadConsumerGroup(t *testing.T) {
	r := consumers(t, "orders:6", "payments:2")
	a, b, c := newModern("A"), newModern("B"), newModern("C")
	b.topics, c.topics, c.regex = []string{"orders", "payments"}, nil, "pay.*"
	c.instance = "i3"
	r.joinsModern(a)
	r.joinsModern(b)
	r.beatsModern(a)
	r.joinsModern(c)
	r.commits(&consumer{node: "A", group: "g", member: "A", generation: a.epoch}, 0, 5)
	before := r.view("g")
	now, image := kafka.Millis(20_000), r.c.image
	fresh := New(r.config, r.c.rnd)
	fresh.Publish(image)
	var j journal.Journal
	fresh.Load(now, slices.Values(r.log), 0, &j)
	after := fresh.View()[0]
	for i := range after.Members {
		if after.Members[i].SessionEnds != 65_000 {
			t.Errorf("%+v", after.Members[i])
		}
		if ends := after.Members[i].RevokeEnds; (ends == 320_000) != (after.Members[i].State == UnrevokedPartitions) {
			t.Errorf("%+v", after.Members[i])
		}
		after.Members[i].SessionEnds, after.Members[i].RevokeEnds = before.Members[i].SessionEnds, before.Members[i].RevokeEnds
	}
	wantSame(t, before, after)
}

// A group changes its protocol while it has members: classic ones learn by a heartbeat that they have to join again,
// and when the last one of the consumer protocol leaves, the group is a classic one.
func TestGroupsChangeProtocol(t *testing.T) {
	r := consumers(t, "orders:2")
	c1 := newConsumer("c1")
	r.form(c1)
	r.want(Stable, 1)
	a := newModern("A")
	r.joinsModern(a)
	r.wantModern(Reconciling, 2, 2)
	r.wantMember(a, "epoch=2 STABLE 1") // c1's leader had given it partition 0 alone
	r.wantCode(r.beats(c1), "REBALANCE_IN_PROGRESS")
	m := r.joinsOnce(c1)
	joined := r.joined(c1, m)
	if joined.Generation != 2 || joined.LeaderID != "" || *joined.Protocol != "range" {
		t.Errorf("%+v", joined)
	}
	sync := r.syncs(c1, nil)
	r.wantCode(sync, "ok")
	var given kmsg.ConsumerMemberAssignment
	if err := given.ReadFrom(r.answers[sync].(*kmsg.SyncGroupResponse).MemberAssignment); err != nil {
		t.Fatal(err)
	}
	r.wantCode(r.beats(c1), "ok")
	r.wantCode(r.commits(c1, 0, 3), "ok")
	q := a.beat()
	q.MemberEpoch = -1
	r.wantCode(r.send("A", q), "ok")
	r.want(PreparingRebalance, 2)
	if v := r.view("g"); v.Type != Classic || len(v.Members) != 1 {
		t.Errorf("%+v", v)
	}
	r.wantCode(r.beats(c1), "REBALANCE_IN_PROGRESS")
	if got := events[journal.GroupConverted](r); len(got) != 2 || got[0].To != "consumer" || got[1].To != "classic" {
		t.Errorf("%+v", got)
	}
}

// An empty group takes the protocol of whoever joins it.
func TestEmptyGroupsTakeEitherProtocol(t *testing.T) {
	r := consumers(t, "orders:2")
	c1 := newConsumer("c1")
	r.form(c1)
	r.leaves(c1)
	a := newModern("A")
	r.joinsModern(a)
	r.wantModern(Stable, 1, 1)
	q := a.beat()
	q.MemberEpoch = -1
	r.send("A", q)
	r.wantModern(Empty, 2, 1)
	r.wantCode(r.joins(newConsumer("c2")), "waits")
	r.want(PreparingRebalance, 0)
}

// What is being written holds for the next request and is shown when it is written; what could not be written is taken
// back.
func TestConsumerGroupWrites(t *testing.T) {
	r := consumers(t, "orders:2")
	a, b := newModern("A"), newModern("B")
	r.delay = 1000
	m := r.joinsModern(a)
	if r.code(m) != "waits" || r.view("g").State != Dead {
		t.Errorf("%s, %+v", r.code(m), r.view("g"))
	}
	r.pass(1000)
	r.told(a, m)
	r.wantMember(a, "epoch=1 STABLE 0,1")
	r.delay = 0
	r.fail = errNotEnough
	r.wantCode(r.joinsModern(b), "COORDINATOR_NOT_AVAILABLE")
	r.fail = nil
	r.wantModern(Stable, 1, 1)
	if got := r.c.consumerGroup("g"); len(got.members) != 1 {
		t.Errorf("%d members", len(got.members))
	}
	r.until(30_000)
	r.fail = errNotEnough
	r.until(46_100) // A's session is over, and nobody can write that
	r.fail = nil
	r.wantModern(Stable, 1, 1)
	r.pass(500)
	r.wantModern(Empty, 2, 1)
}

// Groups without members go with their offsets, which expire from their commit on.
func TestConsumerGroupsExpire(t *testing.T) {
	r := newRun(t, func(c *Config) { c.OffsetsRetention, c.RetentionCheckInterval = 60_000, 10_000 })
	r.publish("orders:2")
	a := newModern("A")
	r.joinsModern(a)
	r.wantCode(r.commits(&consumer{node: "A", group: "g", member: "A", generation: 1}, 0, 5), "ok")
	for range 4 {
		r.pass(20_000)
		r.beatsModern(a)
	}
	if len(r.view("g").Offsets) != 1 {
		t.Error("a member subscribes to the topic, and its offset is gone")
	}
	q := a.beat()
	q.MemberEpoch = -1
	r.send("A", q)
	r.pass(10_001) // the next check
	if v := r.view("g"); v.State != Dead || r.fetched("g", 0) != -1 {
		t.Errorf("%+v", v)
	}
}

// The assignor that most members ask for makes the target assignment; who asks for none does not count.
func TestMembersChooseTheAssignor(t *testing.T) {
	r := consumers(t, "orders:2")
	for i, c := range []struct{ asks, want string }{{"", "uniform"}, {"range", "server-range"}, {"", "server-range"}, {"uniform", "uniform"}, {"range", "server-range"}} {
		m := newModern(kafka.NodeID(rune('A' + i)))
		m.assignor = c.asks
		r.joinsModern(m)
		if got := r.view("g").ServerAssignor; got != c.want {
			t.Errorf("%s asks for %q: %s, want %s", m.id, c.asks, got, c.want)
		}
	}
}
