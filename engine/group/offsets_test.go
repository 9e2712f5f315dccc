package group

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// inState brings group g, with the static member c1 and the dynamic member c2, into a state.
func inState(t *testing.T, state State) (r *run, c1, c2 *consumer) {
	r = newRun(t, nil)
	c1, c2 = static("c1", "i1"), newConsumer("c2")
	if state == Dead { // no such group
		c1.member, c1.generation, c2.member, c2.generation = "i1-x", 1, "c2-x", 1
		return r, c1, c2
	}
	r.form(c1, c2)
	switch state {
	case Empty:
		r.leaves(c1)
		r.leaves(c2)
	case PreparingRebalance:
		r.joins(newConsumer("c3"))
	case CompletingRebalance:
		joins := r.joinAll(c1, c2)
		r.joined(c1, joins[0])
		r.joined(c2, joins[1])
	}
	if v := r.view("g"); v.State != state {
		t.Fatalf("the group is %s, want %s", v.State, state)
	}
	return r, c1, c2
}

// Who may commit in which state.
func TestCommitMatrix(t *testing.T) {
	type row struct {
		who    string
		change func(r *run, q *kmsg.OffsetCommitRequest)
		want   map[State]string
	}
	all := func(code string) map[State]string {
		return map[State]string{Dead: code, Empty: code, PreparingRebalance: code, CompletingRebalance: code, Stable: code}
	}
	but := func(code string, others ...any) map[State]string {
		m := all(code)
		for i := 0; i < len(others); i += 2 {
			m[others[i].(State)] = others[i+1].(string)
		}
		return m
	}
	for _, test := range []row{
		{"a member with its generation", func(r *run, q *kmsg.OffsetCommitRequest) {},
			but("ok", Dead, "GROUP_ID_NOT_FOUND", Empty, "UNKNOWN_MEMBER_ID", CompletingRebalance, "REBALANCE_IN_PROGRESS")},
		{"the generation before", func(r *run, q *kmsg.OffsetCommitRequest) { q.Generation-- },
			but("ILLEGAL_GENERATION", Dead, "GROUP_ID_NOT_FOUND", Empty, "UNKNOWN_MEMBER_ID")},
		{"the next generation", func(r *run, q *kmsg.OffsetCommitRequest) { q.Generation++ },
			but("ILLEGAL_GENERATION", Dead, "GROUP_ID_NOT_FOUND", Empty, "UNKNOWN_MEMBER_ID")},
		{"a removed member", func(r *run, q *kmsg.OffsetCommitRequest) { q.MemberID = "c2-gone" },
			but("UNKNOWN_MEMBER_ID", Dead, "GROUP_ID_NOT_FOUND")},
		{"a client that is no member", func(r *run, q *kmsg.OffsetCommitRequest) { q.MemberID, q.Generation = "", -1 },
			but("UNKNOWN_MEMBER_ID", Dead, "ok", Empty, "ok")}, // GRP-20
		{"a member id without a generation", func(r *run, q *kmsg.OffsetCommitRequest) { q.Generation = -1 },
			but("ILLEGAL_GENERATION", Dead, "ok", Empty, "ok")},
		{"another member id for the instance", func(r *run, q *kmsg.OffsetCommitRequest) { i := "i1"; q.InstanceID = &i },
			but("FENCED_INSTANCE_ID", Dead, "GROUP_ID_NOT_FOUND", Empty, "UNKNOWN_MEMBER_ID")},
		{"an instance that is not there", func(r *run, q *kmsg.OffsetCommitRequest) { i := "i9"; q.InstanceID = &i },
			but("UNKNOWN_MEMBER_ID", Dead, "GROUP_ID_NOT_FOUND")},
		{"a member, by version 8", func(r *run, q *kmsg.OffsetCommitRequest) { q.Version = 8 },
			but("ok", Dead, "ILLEGAL_GENERATION", Empty, "UNKNOWN_MEMBER_ID", CompletingRebalance, "REBALANCE_IN_PROGRESS")},
		{"metadata too long", func(r *run, q *kmsg.OffsetCommitRequest) {
			long := strings.Repeat("é", 4097)
			q.Topics[0].Partitions[0].Metadata = &long
		}, but("OFFSET_METADATA_TOO_LARGE", Dead, "GROUP_ID_NOT_FOUND", Empty, "UNKNOWN_MEMBER_ID", CompletingRebalance, "REBALANCE_IN_PROGRESS")},
		{"metadata that fits", func(r *run, q *kmsg.OffsetCommitRequest) {
			long := strings.Repeat("é", 4096)
			q.Topics[0].Partitions[0].Metadata = &long
		}, but("ok", Dead, "GROUP_ID_NOT_FOUND", Empty, "UNKNOWN_MEMBER_ID", CompletingRebalance, "REBALANCE_IN_PROGRESS")},
	} {
		for state, want := range test.want {
			r, _, c2 := inState(t, state)
			q := commit(c2, "orders", 0, 42)
			test.change(r, q)
			m := r.send("c2", q)
			if got := r.code(m); got != want {
				t.Errorf("%s in state %s: %s, want %s", test.who, state, got, want)
			}
			offset := int64(-1)
			if want == "ok" {
				offset = 42
			}
			if got := r.fetched("g", 0); got != offset {
				t.Errorf("%s in state %s: offset %d is committed, want %d", test.who, state, got, offset)
			}
		}
	}
}

// OFF-06: the coordinator looks at member and generation, not at the owner nor at the order.
func TestCommitGoesBack(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	r.form(c1, c2)
	r.wantCode(r.commits(c2, 1, 8), "ok")
	old := *c1
	old.generation = 0
	r.wantCode(r.commits(&old, 1, 6), "ILLEGAL_GENERATION")
	if got := r.fetched("g", 1); got != 8 {
		t.Errorf("committed is %d, want 8", got)
	}
	r.wantCode(r.commits(c1, 1, 6), "ok")
	if got := r.fetched("g", 1); got != 6 {
		t.Errorf("committed is %d, want 6", got)
	}
	want := []journal.OffsetCommitted{
		{Group: "g", TopicPartition: kafka.TopicPartition{Topic: "orders", Partition: 1}, Offset: 8, Before: -1, Member: kafka.MemberID(c2.member), Generation: 1, Producer: -1},
		{Group: "g", TopicPartition: kafka.TopicPartition{Topic: "orders", Partition: 1}, Offset: 6, Before: 8, Member: kafka.MemberID(c1.member), Generation: 1, Producer: -1},
	}
	if diff := cmp.Diff(want, events[journal.OffsetCommitted](r)); diff != "" {
		t.Error(diff)
	}
}

// GRP-20: an administrator's reset is refused while the group runs, and taken when it is empty: at once after
// LeaveGroup, 45 s after a kill.
func TestReset(t *testing.T) {
	for _, test := range []struct {
		kill bool
		wait kafka.Millis
	}{{true, 45_000}, {false, 0}} {
		r := newRun(t, nil)
		c1, admin := newConsumer("c1"), newConsumer("admin")
		r.form(c1)
		r.commits(c1, 0, 100)
		r.wantCode(r.commits(admin, 0, 0), "UNKNOWN_MEMBER_ID")
		stopped := r.now
		if !test.kill {
			r.leaves(c1)
		}
		for r.code(r.commits(admin, 0, 0)) != "ok" {
			r.pass(1000)
		}
		if r.now-stopped != test.wait {
			t.Errorf("kill %t: reset after %d ms, want %d", test.kill, r.now-stopped, test.wait)
		}
		if got := r.fetched("g", 0); got != 0 {
			t.Errorf("committed is %d, want 0", got)
		}
	}
}

// An offset is shown, and its commit answered, once it is written; a heartbeat too waits for what was written before.
func TestCommitIsShownOnceWritten(t *testing.T) {
	r := newRun(t, nil)
	c1 := newConsumer("c1")
	r.form(c1)
	r.delay = 50
	first := r.commits(c1, 0, 5)
	r.pass(10)
	second := r.commits(c1, 0, 9)
	beat := r.beats(c1)
	stable := fetchRequest("g", 0)
	stable.RequireStable = true
	fetch := r.send("c1", stable)
	for _, step := range []struct {
		at                         kafka.Millis
		shown                      int64
		first, second, beat, fetch string
	}{
		{0, -1, "waits", "waits", "waits", "waits"},
		{39, -1, "waits", "waits", "waits", "waits"},
		{40, 5, "ok", "waits", "waits", "waits"},
		{50, 9, "ok", "ok", "ok", "ok"},
	} {
		r.until(3010 + step.at)
		r.wantCode(first, step.first)
		r.wantCode(second, step.second)
		r.wantCode(beat, step.beat)
		r.wantCode(fetch, step.fetch)
		if got := r.fetched("g", 0); got != step.shown {
			t.Errorf("at %d offset %d is shown, want %d", step.at, got, step.shown)
		}
		if v := r.view("g"); len(v.Offsets) > 0 != (step.shown >= 0) || len(v.Offsets) > 0 && v.Offsets[0].Offset != kafka.Offset(step.shown) {
			t.Errorf("at %d the view has %+v", step.at, v.Offsets)
		}
	}
	if a := r.answers[fetch].(*kmsg.OffsetFetchResponse); a.Groups[0].Topics[0].Partitions[0].Offset != 9 {
		t.Errorf("%+v", a.Groups[0])
	}
}

// The leader's assignment holds once it is written; the others wait for that too.
func TestStableOnceWritten(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	joins := r.joinAll(c1, c2)
	r.until(6000)
	r.joined(c1, joins[0])
	r.joined(c2, joins[1])
	r.delay = 70
	sync1 := r.syncs(c1, map[*consumer][]byte{c1: assignment("orders", 0), c2: assignment("orders", 1)})
	r.pass(60)
	sync2 := r.syncs(c2, nil)
	r.wantCode(sync1, "waits")
	r.want(CompletingRebalance, 1)
	r.pass(10)
	r.wantCode(sync1, "ok")
	r.wantCode(sync2, "ok")
	r.want(Stable, 1)
	if got := assigned(r.answers[sync2].(*kmsg.SyncGroupResponse).MemberAssignment); !slices.Equal(got, []kafka.TopicPartition{{Topic: "orders", Partition: 1}}) {
		t.Errorf("%v", got)
	}
	if v := r.view("g"); v.Members[0].SessionEnds != 6070+45_000 {
		t.Errorf("the session ends at %d", v.Members[0].SessionEnds)
	}
}

// If it cannot be written, everybody joins again.
func TestAssignmentNotWritten(t *testing.T) {
	for err, want := range map[*kerr.Error]string{
		kerr.NotEnoughReplicas: "COORDINATOR_NOT_AVAILABLE", kerr.NotLeaderForPartition: "NOT_COORDINATOR", kerr.MessageTooLarge: "UNKNOWN_SERVER_ERROR",
	} {
		r := newRun(t, nil)
		c1, c2 := newConsumer("c1"), newConsumer("c2")
		joins := r.joinAll(c1, c2)
		r.until(6000)
		r.joined(c1, joins[0])
		r.joined(c2, joins[1])
		sync2 := r.syncs(c2, nil)
		r.fail = err
		sync1 := r.syncs(c1, map[*consumer][]byte{c1: assignment("orders", 0), c2: assignment("orders", 1)})
		r.wantCode(sync1, want)
		r.wantCode(sync2, want)
		r.want(PreparingRebalance, 1)
		for _, m := range r.view("g").Members {
			if m.Assignment != nil {
				t.Errorf("%s: %+v", err.Message, m)
			}
		}
		r.fail = nil
		r.form(c1, c2)
		r.want(Stable, 2)
	}
}

// A rebalance that starts while the assignment is being written refuses who waits; the record then changes nothing.
func TestRebalanceWhileAssignmentIsWritten(t *testing.T) {
	r := newRun(t, nil)
	c1, c2 := newConsumer("c1"), newConsumer("c2")
	joins := r.joinAll(c1)
	r.until(3000)
	r.joined(c1, joins[0])
	r.delay = 100
	sync1 := r.syncs(c1, map[*consumer][]byte{c1: assignment("orders", 0)})
	r.wantCode(r.joins(c2), "waits")
	r.wantCode(sync1, "REBALANCE_IN_PROGRESS")
	r.want(PreparingRebalance, 1)
	r.pass(200)
	r.want(PreparingRebalance, 1)
}

// What is not on every in-sync replica in 5 s is answered with an error; it is shown all the same when it is there.
func TestCommitTimesOut(t *testing.T) {
	r := newRun(t, nil)
	c1 := newConsumer("c1")
	r.form(c1) // at 3000
	r.stuck = true
	commit := r.commits(c1, 0, 5)
	r.until(4000)
	beat := r.beats(c1)
	stable := fetchRequest("g", 0)
	stable.RequireStable = true
	fetch := r.send("c1", stable)
	join := r.joins(newConsumer("c2")) // parked, and guarded
	r.until(7999)
	r.wantCode(commit, "waits")
	r.until(8000)
	r.wantCode(commit, "COORDINATOR_NOT_AVAILABLE")
	r.wantCode(beat, "waits")
	r.until(9000)
	r.wantCode(beat, "COORDINATOR_NOT_AVAILABLE")
	r.wantCode(fetch, "NOT_COORDINATOR")
	r.wantCode(join, "COORDINATOR_NOT_AVAILABLE")
	if v := r.view("g"); len(v.Members) != 2 || v.Members[1].WaitsInJoin {
		t.Errorf("%+v", v.Members)
	}
	if got := r.fetched("g", 0); got != -1 {
		t.Errorf("offset %d is shown", got)
	}
	r.stuck = false
	r.pass(1)
	if got := r.fetched("g", 0); got != 5 {
		t.Errorf("offset %d is shown, want 5", got)
	}
}

// A commit that is refused is taken back, one that was appended before or after it is not.
func TestCommitRefused(t *testing.T) {
	r := newRun(t, nil)
	c1 := newConsumer("c1")
	r.form(c1)
	r.stuck = true
	r.commits(c1, 0, 5)
	r.fail = kerr.NotEnoughReplicas
	r.wantCode(r.commits(c1, 0, 6), "COORDINATOR_NOT_AVAILABLE")
	r.wantCode(r.commits(c1, 1, 6), "COORDINATOR_NOT_AVAILABLE")
	r.fail = nil
	stable := fetchRequest("g", 0)
	stable.RequireStable = true
	fetch := r.send("c1", stable)
	r.stuck = false
	r.pass(1)
	if a := r.answers[fetch].(*kmsg.OffsetFetchResponse); a.Groups[0].Topics[0].Partitions[0].Offset != 5 {
		t.Errorf("%+v", a.Groups[0].Topics[0].Partitions)
	}
	if v := r.view("g"); len(v.Offsets) != 1 || v.Offsets[0].Offset != 5 {
		t.Errorf("%+v", v.Offsets)
	}
}

// If its first record cannot be written, there is no group: who waits in it is told so.
func TestNewGroupNotWritten(t *testing.T) {
	r := newRun(t, nil)
	r.fail = kerr.NotEnoughReplicas
	c1 := static("c1", "i1")
	first := r.joins(c1)
	r.wantCode(first, "COORDINATOR_NOT_AVAILABLE")
	if a := r.answers[first].(*kmsg.JoinGroupResponse); a.MemberID != "" || a.Generation != -1 {
		t.Errorf("%+v", a)
	}
	r.want(Dead, 0)
	c2 := newConsumer("c2")
	m := r.joinsOnce(c2)
	r.wantCode(m, "MEMBER_ID_REQUIRED") // this answer waits for nothing
	c2.member = r.answers[m].(*kmsg.JoinGroupResponse).MemberID
	r.wantCode(r.joinsOnce(c2), "UNKNOWN_MEMBER_ID")
	simple := newConsumer("c3")
	r.wantCode(r.commits(simple, 0, 1), "COORDINATOR_NOT_AVAILABLE")
	r.want(Dead, 0)
}

// DescribeGroups sees a group once it is written.
func TestDescribeGroups(t *testing.T) {
	r := newRun(t, nil)
	r.delay = 10
	describe := func(v int16) kmsg.DescribeGroupsResponseGroup {
		q := kmsg.NewPtrDescribeGroupsRequest()
		q.Version, q.Groups = v, []string{"g"}
		return r.answers[r.send("admin", q)].(*kmsg.DescribeGroupsResponse).Groups[0]
	}
	if g := describe(6); g.ErrorCode != kerr.GroupIDNotFound.Code || g.State != "Dead" {
		t.Errorf("%+v", g)
	}
	if g := describe(5); g.ErrorCode != 0 || g.State != "Dead" {
		t.Errorf("%+v", g)
	}
	c1 := newConsumer("c1")
	join := r.joins(c1)
	if g := describe(6); g.State != "Dead" {
		t.Errorf("%+v", g)
	}
	r.pass(10)
	if g := describe(6); g.State != "PreparingRebalance" || g.ProtocolType != "consumer" || g.Protocol != "" || len(g.Members) != 1 || g.Members[0].ProtocolMetadata != nil {
		t.Errorf("%+v", g)
	}
	r.until(3000)
	r.joined(c1, join)
	r.syncs(c1, map[*consumer][]byte{c1: assignment("orders", 0)})
	r.pass(10)
	g := describe(6)
	if m := g.Members[0]; g.State != "Stable" || g.Protocol != "range" || m.ClientID != "c1" || m.ClientHost != "/c1" || len(m.ProtocolMetadata) == 0 || len(m.MemberAssignment) == 0 {
		t.Errorf("%+v", g)
	}
}

// OffsetDelete and DeleteGroups.
func TestDeletions(t *testing.T) {
	r := newRun(t, nil)
	c1, admin := newConsumer("c1"), newConsumer("admin")
	remove := func(topic string) string {
		q := kmsg.NewPtrOffsetDeleteRequest()
		q.Group = "g"
		q.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}}}
		return r.code(r.send("admin", q))
	}
	del := func() string {
		q := kmsg.NewPtrDeleteGroupsRequest()
		q.Groups = []string{"g"}
		return r.code(r.send("admin", q))
	}
	if got := remove("orders"); got != "GROUP_ID_NOT_FOUND" {
		t.Error(got)
	}
	if got := del(); got != "GROUP_ID_NOT_FOUND" {
		t.Error(got)
	}
	r.form(c1)
	r.commits(c1, 0, 5)
	r.send("c1", commit(c1, "payments", 0, 7))
	if got := remove("orders"); got != "GROUP_SUBSCRIBED_TO_TOPIC" {
		t.Error(got)
	}
	if got := remove("payments"); got != "ok" {
		t.Error(got)
	}
	if v := r.view("g"); len(v.Offsets) != 1 || v.Offsets[0].TopicPartition.Topic != "orders" {
		t.Errorf("%+v", v.Offsets)
	}
	if got := del(); got != "NON_EMPTY_GROUP" {
		t.Error(got)
	}
	r.leaves(c1)
	records := len(r.log)
	if got := del(); got != "ok" {
		t.Error(got)
	}
	r.want(Dead, 0)
	var kinds []int16
	for _, record := range r.log[records:] {
		key, err := DecodeKey(record.Key)
		if err != nil || record.Value != nil {
			t.Errorf("%+v: %v", record, err)
		}
		kinds = append(kinds, key.Type)
	}
	if !slices.Equal(kinds, []int16{TypeOffsetCommit, TypeGroupMetadata}) {
		t.Errorf("tombstones of types %v", kinds)
	}
	if got := r.fetched("g", 0); got != -1 {
		t.Errorf("offset %d is shown", got)
	}
	r.wantCode(r.commits(admin, 0, 3), "ok") // GRP-20: no such group, so a simple one
	if v := r.view("g"); v.State != Empty || v.ProtocolType != "" || v.Generation != 0 {
		t.Errorf("%+v", v)
	}
}

// All offsets are asked for by no list of topics.
func TestFetchAll(t *testing.T) {
	r := newRun(t, nil)
	simple := newConsumer("c1")
	for i, topic := range []string{"b", "a", "b"} {
		r.send("c1", commit(simple, topic, int32(i), int64(i)))
	}
	q := fetchRequest("g", 0)
	q.Groups[0].Topics = nil
	a := r.answers[r.send("c1", q)].(*kmsg.OffsetFetchResponse)
	var got []string
	for _, topic := range a.Groups[0].Topics {
		for _, p := range topic.Partitions {
			got = append(got, kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p.Partition)}.String())
		}
	}
	if want := []string{"a-1", "b-0", "b-2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	old := kmsg.NewPtrOffsetFetchRequest()
	old.Version, old.Group = 7, "g"
	old.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "b", Partitions: []int32{2, 5}}}
	b := r.answers[r.send("c1", old)].(*kmsg.OffsetFetchResponse)
	if p := b.Topics[0].Partitions; p[0].Offset != 2 || p[1].Offset != -1 || len(b.Groups) != 0 {
		t.Errorf("%+v", b)
	}
}

// An offset that was committed with a topic's id is not shown for another topic of the same name.
func TestFetchByTopicID(t *testing.T) {
	r := newRun(t, nil)
	q := commit(newConsumer("c1"), "orders", 0, 5)
	q.Version, q.Topics[0].TopicID = 10, [16]byte{1}
	r.wantCode(r.send("c1", q), "ok")
	for id, want := range map[[16]byte]int64{{}: 5, {1}: 5, {2}: -1} {
		f := fetchRequest("g", 0)
		f.Version, f.Groups[0].Topics[0].TopicID = 10, id
		if p := r.answers[r.send("c1", f)].(*kmsg.OffsetFetchResponse).Groups[0].Topics[0].Partitions[0]; p.Offset != want {
			t.Errorf("topic id %v: %d, want %d", id, p.Offset, want)
		}
	}
}

// An older client may say when its offset expires.
func TestRetentionInTheRequest(t *testing.T) {
	r := newRun(t, nil)
	q := commit(newConsumer("c1"), "orders", 0, 5)
	q.Version, q.RetentionTimeMillis = 4, 1000
	r.wantCode(r.send("c1", q), "ok")
	if o := r.view("g").Offsets[0]; !o.Expires || o.ExpiresAt != wallStart+1000 {
		t.Errorf("%+v", o)
	}
	var e coordinator.Effects
	r.c, _, e = loaded(r.config, 0, slices.Values(r.log))
	r.perform(e)
	if o := r.view("g").Offsets[0]; o.ExpiresAt != wallStart+1000 {
		t.Errorf("loaded: %+v", o)
	}
	r.until(10 * minute)
	r.want(Dead, 0)
}
