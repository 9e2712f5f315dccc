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

// A consumer's way from nothing to a stable group, with the times of its timers.
func TestFirstMember(t *testing.T) {
	r := newRun(t, nil)
	c := newConsumer("c1")
	first := r.joinsOnce(c)
	r.wantCode(first, "MEMBER_ID_REQUIRED")
	id := r.answers[first].(*kmsg.JoinGroupResponse).MemberID
	if rest, ok := strings.CutPrefix(id, "c1-"); !ok || len(rest) != 36 || rest[14] != '4' || !strings.ContainsRune("89ab", rune(rest[19])) {
		t.Errorf("member id %q is not the client's id with a UUID of version 4", id)
	}
	r.want(Empty, 0)
	if v := r.view("g"); len(v.Pending) != 1 || v.Pending[0].Expires != 45_000 || len(v.Members) != 0 || v.ProtocolType != "" {
		t.Errorf("%+v", v)
	}
	if len(r.log) != 1 {
		t.Fatalf("%d records, want the new group's", len(r.log))
	}
	c.member = id
	second := r.joinsOnce(c)
	r.wantCode(second, "waits")
	r.want(PreparingRebalance, 0)
	v := r.view("g")
	if v.JoinEnds != 3000 || v.JoinEndsBy != "group.initial.rebalance.delay.ms" || len(v.Pending) != 0 || !v.Members[0].WaitsInJoin || !v.Members[0].New || v.Members[0].SessionEnds != 300_000 {
		t.Errorf("%+v", v)
	}
	r.until(2999)
	r.wantCode(second, "waits")
	r.until(3000)
	answer := r.joined(c, second)
	r.want(CompletingRebalance, 1) // the generation is bumped here
	if answer.Generation != 1 || answer.LeaderID != id || *answer.Protocol != "range" || *answer.ProtocolType != "consumer" || answer.SkipAssignment || len(answer.Members) != 1 ||
		string(answer.Members[0].ProtocolMetadata) != string(subscription("orders")) {
		t.Errorf("%+v", answer)
	}
	r.wantCode(r.beats(c), "ok") // in CompletingRebalance too
	r.wantCode(r.syncs(c, map[*consumer][]byte{c: assignment("orders", 0, 1, 2)}), "ok")
	r.want(Stable, 1)
	v = r.view("g")
	want := []kafka.TopicPartition{{Topic: "orders", Partition: 0}, {Topic: "orders", Partition: 1}, {Topic: "orders", Partition: 2}}
	if m := v.Members[0]; !slices.Equal(m.Assignment, want) || m.SessionEnds != 48_000 || m.WaitsInSync || m.Host != "c1" || m.ClientID != "c1" || !slices.Equal(m.Topics, []string{"orders"}) || m.OwesSync {
		t.Errorf("%+v", m)
	}
	if v.SyncEnds != 0 {
		t.Errorf("the sync phase still has a timer at %d", v.SyncEnds)
	}
}

// While newcomers come, windows follow each other: 3000 ms each, as long as the rebalance timeout leaves time.
func TestInitialDelayExtended(t *testing.T) {
	r := newRun(t, nil)
	var consumers []*consumer
	var joins []*simnet.Message
	add := func() {
		c := newConsumer(kafka.NodeID("c" + string(rune('a'+len(consumers)))))
		c.rebalance = 10_000
		consumers = append(consumers, c)
		joins = append(joins, r.joins(c))
	}
	add()
	r.until(2000)
	add()
	r.until(3000) // window 1 over: extended, 7000 left, window 3000, then 4000 left
	r.want(PreparingRebalance, 0)
	r.until(5000)
	add()
	r.until(6000) // 4000 left, window 3000, then 1000
	r.until(8000)
	add()
	r.until(9000) // window min(3000, 1000), then 0
	add()
	r.want(PreparingRebalance, 0)
	r.until(10_000) // no time is left, although a member came
	r.want(CompletingRebalance, 1)
	extended := events[journal.InitialDelayExtended](r)
	var got []kafka.Millis
	for _, e := range extended {
		got = append(got, e.Window, e.Remaining)
	}
	if want := []kafka.Millis{3000, 4000, 3000, 1000, 1000, 0}; !slices.Equal(got, want) {
		t.Errorf("windows and what remains: %v, want %v", got, want)
	}
	r.joined(consumers[0], joins[0])
	if v := r.view("g"); len(v.Members) != 5 || v.Leader != kafka.MemberID(consumers[0].member) {
		t.Errorf("%+v", v)
	}
}

// The second member starts a rebalance that ends as soon as the first has joined again.
func TestSecondMemberRebalances(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	r.form(c1)
	join2 := r.joins(c2)
	r.want(PreparingRebalance, 1)
	if v := r.view("g"); v.JoinEnds != r.now+300_000 || v.JoinEndsBy != "max.poll.interval.ms" {
		t.Errorf("the join phase ends at %d by %s", v.JoinEnds, v.JoinEndsBy)
	}
	r.wantCode(r.beats(c1), "REBALANCE_IN_PROGRESS")
	r.wantCode(r.syncs(c1, nil), "REBALANCE_IN_PROGRESS")
	r.wantCode(r.commits(c1, 0, 7), "ok") // trap 20
	r.pass(1000)
	join1 := r.joins(c1)
	r.want(CompletingRebalance, 2)
	if a := r.joined(c1, join1); a.LeaderID != c1.member || len(a.Members) != 2 {
		t.Errorf("%+v", a)
	}
	if a := r.joined(c2, join2); a.LeaderID != c1.member || len(a.Members) != 0 || a.Generation != 2 {
		t.Errorf("%+v", a)
	}
	r.wantCode(r.commits(c1, 0, 8), "REBALANCE_IN_PROGRESS") // trap 20
	sync2 := r.syncs(c2, nil)
	r.wantCode(sync2, "waits")
	if !r.view("g").Members[1].WaitsInSync {
		t.Error("c2 does not wait in Sync")
	}
	sync1 := r.syncs(c1, map[*consumer][]byte{c1: assignment("orders", 0)}) // c2 is left out
	r.wantCode(sync1, "ok")
	r.wantCode(sync2, "ok")
	if a := r.answers[sync2].(*kmsg.SyncGroupResponse); len(a.MemberAssignment) != 0 || *a.Protocol != "range" {
		t.Errorf("c2, which the leader left out, got %+v", a)
	}
	r.want(Stable, 2)
	r.wantCode(r.commits(c1, 0, 8), "ok")
	c1.generation = 1
	r.wantCode(r.commits(c1, 0, 6), "ILLEGAL_GENERATION")
	r.wantCode(r.beats(c1), "ILLEGAL_GENERATION")
	if got := r.fetched("g", 0); got != 8 {
		t.Errorf("committed is %d, want 8", got)
	}
}

// Trap 21, and the answers to JoinGroup by state.
func TestRejoins(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	r.form(c1, c2)
	again := r.joins(c2) // a follower, unchanged, in Stable
	if a := r.joined(c2, again); a.Generation != 1 || a.LeaderID != c1.member || len(a.Members) != 0 {
		t.Errorf("%+v", a)
	}
	r.want(Stable, 1)
	r.wantCode(r.syncs(c2, nil), "ok")
	c2.topics = []string{"orders", "payments"} // another subscription
	join2 := r.joins(c2)
	r.wantCode(join2, "waits")
	r.want(PreparingRebalance, 1)
	join1 := r.joins(c1)
	r.joined(c1, join1)
	r.joined(c2, join2)
	r.want(CompletingRebalance, 2)
	for _, c := range []*consumer{c1, c2} { // unchanged in CompletingRebalance, the leader too
		a := r.joined(c, r.joins(c))
		if a.Generation != 2 || len(a.Members) != map[*consumer]int{c1: 2, c2: 0}[c] || a.SkipAssignment {
			t.Errorf("%s: %+v", c.node, a)
		}
	}
	r.want(CompletingRebalance, 2)
	waiting := r.syncs(c2, nil)
	c2.topics = []string{"orders"}
	other := newConsumer("c2")
	*other = *c2
	r.wantCode(r.joins(c2), "waits") // changed in CompletingRebalance
	r.want(PreparingRebalance, 2)
	r.wantCode(waiting, "REBALANCE_IN_PROGRESS")
	r.joined(c1, r.joins(c1))
	r.want(CompletingRebalance, 3)
	c2.generation = 3
	r.syncs(c2, nil)
	r.syncs(c1, map[*consumer][]byte{c1: nil})
	r.want(Stable, 3)
	r.wantCode(r.joins(c1), "waits") // the leader in Stable
	r.want(PreparingRebalance, 3)
}

// What a stranger and an old member are told.
func TestJoinRefused(t *testing.T) {
	r := newRun(t, func(c *Config) { c.MaxSize = 2 })
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	for name, test := range map[string]struct {
		change func(*consumer)
		want   string
	}{
		"no group id":         {func(c *consumer) { c.group = "" }, "INVALID_GROUP_ID"},
		"session too short":   {func(c *consumer) { c.session = 5999 }, "INVALID_SESSION_TIMEOUT"},
		"session too long":    {func(c *consumer) { c.session = 1_800_001 }, "INVALID_SESSION_TIMEOUT"},
		"an id but no group":  {func(c *consumer) { c.member = "c9-x" }, "UNKNOWN_MEMBER_ID"},
		"no assignor":         {func(c *consumer) { c.protocols = []string{} }, "INCONSISTENT_GROUP_PROTOCOL"},
		"the shortest":        {func(c *consumer) { c.session = 6000; c.group = "short" }, "MEMBER_ID_REQUIRED"},
		"the longest":         {func(c *consumer) { c.session = 1_800_000; c.group = "long" }, "MEMBER_ID_REQUIRED"},
		"an older client":     {func(c *consumer) { c.joinV = 3; c.group = "old" }, "waits"},
		"a static member":     {func(c *consumer) { c.instance = "i"; c.group = "static" }, "waits"},
		"a first JoinGroup":   {func(c *consumer) { c.group = "new" }, "MEMBER_ID_REQUIRED"},
		"an unknown instance": {func(c *consumer) { c.instance = "i9"; c.member = "c9-x"; c.group = "static" }, ""},
	} {
		if test.want == "" {
			continue
		}
		c := newConsumer("c9")
		test.change(c)
		if got := r.code(r.joinsOnce(c)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	r.form(c1, c2)
	r.wantCode(r.joinsOnce(newConsumer("c3")), "GROUP_MAX_SIZE_REACHED")
	stranger := newConsumer("c1")
	stranger.member = "c1-gone"
	r.wantCode(r.joinsOnce(stranger), "GROUP_MAX_SIZE_REACHED")
	r.want(Stable, c1.gen())
	other := newConsumer("c1")
	other.member, other.protocols = c1.member, []string{"sticky"}
	r.wantCode(r.joinsOnce(other), "INCONSISTENT_GROUP_PROTOCOL")
	other.protocols, other.instance = nil, "i1"
	r.wantCode(r.joinsOnce(other), "UNKNOWN_MEMBER_ID")
}

func (c *consumer) gen() kafka.GenerationID { return kafka.GenerationID(c.generation) }

// Heartbeats in each state.
func TestHeartbeats(t *testing.T) {
	r := newRun(t, nil)
	c1, c2, nobody := newConsumer("c1"), newConsumer("c2"), newConsumer("c9")
	nobody.member = "c9-x"
	r.wantCode(r.beats(nobody), "UNKNOWN_MEMBER_ID") // no group
	r.form(c1)
	r.wantCode(r.beats(nobody), "UNKNOWN_MEMBER_ID")
	r.wantCode(r.beats(c1), "ok")
	c1.generation++
	r.wantCode(r.beats(c1), "ILLEGAL_GENERATION")
	c1.generation--
	r.joins(c2)
	r.wantCode(r.beats(c1), "REBALANCE_IN_PROGRESS")
	empty := *c1
	empty.group = ""
	r.wantCode(r.beats(&empty), "INVALID_GROUP_ID")
	r.leaves(c2)
	r.leaves(c1)
	r.want(Empty, 2)
	r.wantCode(r.beats(c1), "UNKNOWN_MEMBER_ID")
}

// A session lasts 45,000 ms from the last sign; heartbeats and commits extend it, in PreparingRebalance too.
func TestSessionExpires(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	r.form(c1, c2) // at 6000: c2 came within the first window
	r.until(20_000)
	r.wantCode(r.beats(c1), "ok")
	r.until(40_000)
	r.wantCode(r.commits(c1, 0, 1), "ok")
	r.until(50_999)
	r.want(Stable, 1)
	r.until(51_000) // c2 was last heard of at 6000
	r.want(PreparingRebalance, 1)
	if removed := events[journal.MemberRemoved](r); len(removed) != 1 || removed[0].Member != kafka.MemberID(c2.member) || !strings.Contains(removed[0].Why, "session.timeout.ms = 45,000") {
		t.Errorf("%+v", removed)
	}
	r.wantCode(r.commits(c2, 1, 5), "UNKNOWN_MEMBER_ID") // trap 20
	r.until(80_000)
	r.wantCode(r.commits(c1, 0, 2), "ok")
	r.until(124_999)
	r.want(PreparingRebalance, 1)
	r.until(125_000)
	r.want(Empty, 2)
	if last, _ := DecodeValue(Key{Type: TypeGroupMetadata, Group: "g"}, r.log[len(r.log)-1].Value); last.(GroupMetadataRecord).Generation != 2 || len(last.(GroupMetadataRecord).Members) != 0 {
		t.Errorf("the last record is %+v, want an empty generation 2", last)
	}
}

// A member that waits is not expired, a new one after five minutes.
func TestWaitingMembersStay(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	c1.session, c1.rebalance = 1_800_000, 1_000_000
	r.form(c1)
	join := r.joins(c2) // waits for c1
	r.pass(299_999)
	r.wantCode(join, "waits")
	r.pass(1)
	r.wantCode(join, "UNKNOWN_MEMBER_ID")
	r.want(PreparingRebalance, 1)
	join1 := r.joins(c1)
	r.joined(c1, join1)
	r.want(CompletingRebalance, 2)
}

// Dynamic members that do not join again in time are removed; with them goes the leader.
func TestRebalanceTimeout(t *testing.T) {
	r := newRun(t, nil)
	c1, c2, c3 := newConsumer("c1"), newConsumer("c2"), newConsumer("c3")
	for i, c := range []*consumer{c1, c2, c3} {
		c.session, c.rebalance = 100_000, int32(20_000+10_000*i)
	}
	r.form(c1, c2)
	join3 := r.joins(c3)
	join2 := r.joins(c2)
	r.pass(39_999)
	r.wantCode(join3, "waits")
	r.pass(1) // the longest of the members, 40,000
	r.joined(c3, join3)
	if a := r.joined(c2, join2); a.LeaderID != c2.member || len(a.Members) != 2 {
		t.Errorf("%+v", a)
	}
	r.want(CompletingRebalance, 2)
	r.wantCode(r.beats(c1), "UNKNOWN_MEMBER_ID")
	r.syncs(c2, map[*consumer][]byte{c2: nil})
	r.want(Stable, 2)
	r.beats(c3)
	r.pass(40_000) // c3 has not sent SyncGroup
	r.want(PreparingRebalance, 2)
	if v := r.view("g"); len(v.Members) != 1 || v.Members[0].ID != kafka.MemberID(c2.member) {
		t.Errorf("%+v", v.Members)
	}
}

// An id that nobody joins with holds the join phase open until its session timeout.
func TestPendingIDHoldsTheJoinPhase(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	r.form(c1) // at 3000
	lost := r.joinsOnce(c2)
	r.wantCode(lost, "MEMBER_ID_REQUIRED")
	c3 := newConsumer("c3")
	join3 := r.joins(c3)
	join1 := r.joins(c1)
	r.until(47_999)
	r.wantCode(join1, "waits")
	r.until(48_000)
	r.joined(c1, join1)
	r.joined(c3, join3)
	r.want(CompletingRebalance, 2)
	c2.member = r.answers[lost].(*kmsg.JoinGroupResponse).MemberID
	r.wantCode(r.joinsOnce(c2), "UNKNOWN_MEMBER_ID")
}

// A pending id that leaves in the first join phase does not end it, one that expires does.
func TestInitialDelayAndPendingIDs(t *testing.T) {
	r := newRun(t, func(c *Config) { c.InitialRebalanceDelay = 60_000 })
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	join1 := r.joins(c1)
	c2.member = r.answers[r.joinsOnce(c2)].(*kmsg.JoinGroupResponse).MemberID
	r.until(44_999)
	r.wantCode(join1, "waits")
	r.until(45_000)
	r.joined(c1, join1)
	r.want(CompletingRebalance, 1)

	r = newRun(t, nil)
	c1 = newConsumer("c1")
	join1 = r.joins(c1)
	c2.member = r.answers[r.joinsOnce(newConsumer("c2"))].(*kmsg.JoinGroupResponse).MemberID
	r.wantCode(r.leaves(c2), "ok")
	r.wantCode(join1, "waits")
	r.until(3000)
	r.joined(c1, join1)
}

// Members leave: several at once, by instance, and those that are not there.
func TestLeaveGroup(t *testing.T) {
	r := newRun(t, nil)
	c1, c2, c3 := newConsumer("c1"), static("c2", "i2"), static("c3", "i3")
	r.form(c1, c2, c3)
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Group = "g"
	i2, i3, i9 := "i2", "i3", "i9"
	q.Members = []kmsg.LeaveGroupRequestMember{
		{MemberID: "", InstanceID: &i2}, {MemberID: "c3-other", InstanceID: &i3}, {MemberID: "", InstanceID: &i9}, {MemberID: "nobody"}, {MemberID: c3.member, InstanceID: &i3},
	}
	m := r.send("admin", q)
	var got []string
	for _, a := range r.answers[m].(*kmsg.LeaveGroupResponse).Members {
		got = append(got, errorName(a.ErrorCode))
	}
	if want := []string{"ok", "FENCED_INSTANCE_ID", "UNKNOWN_MEMBER_ID", "UNKNOWN_MEMBER_ID", "ok"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	r.want(PreparingRebalance, 1)
	if v := r.view("g"); len(v.Members) != 1 {
		t.Errorf("%+v", v.Members)
	}
	gone := newConsumer("c1")
	gone.group, gone.member = "none", "x"
	r.wantCode(r.leaves(gone), "UNKNOWN_MEMBER_ID")
	gone.group = ""
	r.wantCode(r.leaves(gone), "INVALID_GROUP_ID")
	r.delay = 100
	left := r.leaves(c1) // the last: the empty group is written first
	r.want(Empty, 2)
	r.wantCode(left, "waits")
	r.pass(100)
	r.wantCode(left, "ok")
}

// The assignor is the one with most votes among those that all support, each member voting for its first such.
func TestAssignorByVotes(t *testing.T) {
	for _, test := range []struct {
		name    string
		members [][]string
		want    string
	}{
		{"the default list", [][]string{{"range", "cooperative-sticky"}, {"range", "cooperative-sticky"}}, "range"},
		{"only what all support", [][]string{{"sticky", "range"}, {"sticky", "range"}, {"range"}}, "range"},
		{"the majority", [][]string{{"sticky", "range"}, {"range", "sticky"}, {"range", "sticky"}}, "range"},
		{"a tie goes by the hash table", [][]string{{"sticky", "range"}, {"range", "sticky"}}, "sticky"},
		{"in either order", [][]string{{"range", "sticky"}, {"sticky", "range"}}, "sticky"},
		{"another tie", [][]string{{"cooperative-sticky", "range"}, {"range", "cooperative-sticky"}}, "range"},
	} {
		g := &group{state: PreparingRebalance}
		for _, names := range test.members {
			m := &member{}
			for _, name := range names {
				m.protocols = append(m.protocols, kmsg.JoinGroupRequestProtocol{Name: name})
			}
			g.members = append(g.members, m)
		}
		if got, ballots := g.vote(); got != test.want {
			t.Errorf("%s: %s of %v, want %s", test.name, got, ballots, test.want)
		}
	}
}

// A write that fails, by what the client is told.
func TestCoordinatorErrors(t *testing.T) {
	for err, want := range map[*kerr.Error]*kerr.Error{
		kerr.NotEnoughReplicas: kerr.CoordinatorNotAvailable, kerr.NotEnoughReplicasAfterAppend: kerr.CoordinatorNotAvailable,
		kerr.RequestTimedOut: kerr.CoordinatorNotAvailable, kerr.UnknownTopicOrPartition: kerr.CoordinatorNotAvailable,
		kerr.NotLeaderForPartition: kerr.NotCoordinator, kerr.KafkaStorageError: kerr.NotCoordinator, kerr.MessageTooLarge: kerr.UnknownServerError,
		kerr.RecordListTooLarge: kerr.UnknownServerError, kerr.InvalidFetchSize: kerr.UnknownServerError, kerr.InvalidRecord: kerr.InvalidRecord,
	} {
		if got := WriteError(err); got != want {
			t.Errorf("%s: %s, want %s", err.Message, got.Message, want.Message)
		}
	}
}
