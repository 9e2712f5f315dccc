package group

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

func orders(p kafka.Partition) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: "orders", Partition: p}
}

// txnCommit is a commit of a consumer in the transaction of a producer, epoch 4.
func txnCommit(c *consumer, producer int64, topic string, partition int32, offset int64) *kmsg.TxnOffsetCommitRequest {
	q := kmsg.NewPtrTxnOffsetCommitRequest()
	q.TransactionalID, q.ProducerID, q.ProducerEpoch = "t", producer, 4
	q.Group, q.MemberID, q.Generation, q.InstanceID = c.group, c.member, c.generation, orNull(c.instance)
	p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch = partition, offset, -1
	q.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{p}}}
	return q
}

func (r *run) commitsIn(c *consumer, producer int64, partition int32, offset int64) *simnet.Message {
	r.t.Helper()
	return r.send(c.node, txnCommit(c, producer, "orders", partition, offset))
}

// ends lets the end of a producer's transaction be written, and gives the write's id.
func (r *run) ends(producer kafka.ProducerID, kind record.ControlType) uint64 {
	r.t.Helper()
	e := r.c.EndTransaction(r.now, storage.TransactionMarker{
		EndTxnMarker: record.EndTxnMarker{Type: kind, CoordinatorEpoch: 1}, ProducerID: producer, ProducerEpoch: 5, TransactionVersion: 2,
	}, 0, &r.j)
	if len(e.Writes) != 1 || len(e.Answers) != 0 || e.Writes[0].Marker == nil || e.Writes[0].Marker.ProducerID != producer {
		r.t.Fatalf("the effects of a transaction's end: %+v", e)
	}
	r.perform(e)
	return e.Writes[0].ID
}

// stable asks for the stable offset of a partition of orders; it waits for what is being written.
func (r *run) stable(group string, partition int32) *simnet.Message {
	r.t.Helper()
	q := fetchRequest(group, partition)
	q.RequireStable = true
	return r.send("c9", q)
}

// wantFetched compares what is committed for orders-0 of group g: for whoever asks, and for who requires a stable offset.
func (r *run) wantFetched(offset, stable int64, code string) {
	r.t.Helper()
	if got := r.fetched("g", 0); got != offset {
		r.t.Errorf("at %d: offset %d is committed, want %d", r.now, got, offset)
	}
	r.wantStable(r.stable("g", 0), stable, code)
}

func (r *run) wantStable(m *simnet.Message, offset int64, code string) {
	r.t.Helper()
	a, ok := r.answers[m].(*kmsg.OffsetFetchResponse)
	if !ok {
		r.t.Fatalf("at %d: the fetch of a stable offset waits", r.now)
	}
	p := a.Groups[0].Topics[0].Partitions[0]
	if p.Offset != offset || errorName(p.ErrorCode) != code || a.Groups[0].ErrorCode != 0 || p.LeaderEpoch != -1 || p.Metadata == nil || *p.Metadata != "" {
		r.t.Errorf("at %d: the stable offset is %d, %s, want %d, %s (%+v)", r.now, p.Offset, errorName(p.ErrorCode), offset, code, p)
	}
}

// Facts §5.4: who may commit in a transaction in which state. Member and generation are looked at only if the request
// names one of them or an instance, and the state is not looked at.
func TestTransactionalCommitMatrix(t *testing.T) {
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
	for _, test := range []struct {
		who    string
		change func(q *kmsg.TxnOffsetCommitRequest)
		want   map[State]string
	}{
		{"a member with its generation", func(q *kmsg.TxnOffsetCommitRequest) {}, but("ok", Dead, "ILLEGAL_GENERATION", Empty, "UNKNOWN_MEMBER_ID")},
		{"the generation before", func(q *kmsg.TxnOffsetCommitRequest) { q.Generation-- }, but("ILLEGAL_GENERATION", Empty, "UNKNOWN_MEMBER_ID")},
		{"a removed member", func(q *kmsg.TxnOffsetCommitRequest) { q.MemberID = "c2-gone" }, but("UNKNOWN_MEMBER_ID", Dead, "ILLEGAL_GENERATION")},
		{"nobody", func(q *kmsg.TxnOffsetCommitRequest) { q.MemberID, q.Generation = "", -1 }, all("ok")},
		{"nobody, by version 2", func(q *kmsg.TxnOffsetCommitRequest) { q.Version, q.MemberID, q.Generation = 2, "", -1 }, all("ok")},
		{"a member id without a generation", func(q *kmsg.TxnOffsetCommitRequest) { q.Generation = -1 }, but("ILLEGAL_GENERATION", Dead, "ok", Empty, "ok")},
		{"a generation without a member id", func(q *kmsg.TxnOffsetCommitRequest) { q.MemberID = "" }, but("UNKNOWN_MEMBER_ID", Dead, "ILLEGAL_GENERATION")},
		{"another member id for the instance", func(q *kmsg.TxnOffsetCommitRequest) { i := "i1"; q.InstanceID = &i },
			but("FENCED_INSTANCE_ID", Dead, "ILLEGAL_GENERATION", Empty, "UNKNOWN_MEMBER_ID")},
		{"an instance alone", func(q *kmsg.TxnOffsetCommitRequest) {
			i := "i9"
			q.MemberID, q.Generation, q.InstanceID = "", -1, &i
		}, but("UNKNOWN_MEMBER_ID", Dead, "ok", Empty, "ok")},
		{"an empty group id", func(q *kmsg.TxnOffsetCommitRequest) { q.Group = "" }, all("INVALID_GROUP_ID")},
		{"metadata too long", func(q *kmsg.TxnOffsetCommitRequest) {
			long := strings.Repeat("é", 4097)
			q.Topics[0].Partitions[0].Metadata = &long
		}, but("OFFSET_METADATA_TOO_LARGE", Dead, "ILLEGAL_GENERATION", Empty, "UNKNOWN_MEMBER_ID")},
	} {
		for state, want := range test.want {
			r, _, c2 := inState(t, state)
			q := txnCommit(c2, 1000, "orders", 0, 42)
			test.change(q)
			m := r.send("c2", q)
			if got := r.code(m); got != want {
				t.Errorf("%s in state %s: %s, want %s", test.who, state, got, want)
			}
			if got := len(r.view("g").PendingOffsets); got > 0 != (want == "ok") {
				t.Errorf("%s in state %s: %d offsets are pending", test.who, state, got)
			}
			if got := r.fetched("g", 0); got != -1 {
				t.Errorf("%s in state %s: offset %d is committed before the transaction is", test.who, state, got)
			}
		}
	}
}

// Facts §5.4: in a group of the consumer protocol an old epoch gives ILLEGAL_GENERATION.
func TestTransactionalCommitToConsumerGroup(t *testing.T) {
	r := consumers(t, "orders:2")
	a, b := newModern("A"), newModern("B")
	r.joinsModern(a)
	r.joinsModern(b)
	r.settle(a, b)
	r.wantModern(Stable, 2, 2)
	for _, test := range []struct {
		member string
		epoch  int32
		want   string
	}{{"A", 2, "ok"}, {"A", 1, "ILLEGAL_GENERATION"}, {"A", 3, "ILLEGAL_GENERATION"}, {"A", -1, "ILLEGAL_GENERATION"}, {"C", 2, "UNKNOWN_MEMBER_ID"}, {"", 2, "UNKNOWN_MEMBER_ID"}, {"", -1, "ok"}} {
		c := newConsumer("c1")
		c.member, c.generation = test.member, test.epoch
		r.wantCode(r.commitsIn(c, 1000, 0, 7), test.want)
		q := txnCommit(c, 1000, "orders", 0, 7)
		q.Version = 3
		r.wantCode(r.send("c1", q), test.want)
	}
	r.wantFetched(-1, -1, "UNSTABLE_OFFSET_COMMIT")
	r.ends(1000, record.Commit)
	r.wantFetched(7, 7, "ok")
}

// An offset is pending when it is written, and committed when the COMMIT marker is written: each answer waits for its
// write, and who requires a stable offset is refused until then.
func TestTransactionCommitted(t *testing.T) {
	r := newRun(t, nil)
	c1 := newConsumer("c1")
	r.form(c1) // until 3000
	r.commits(c1, 0, 5)
	r.delay = 50
	commit := r.commitsIn(c1, 1000, 0, 9)
	early := r.stable("g", 0) // of what is being written
	r.pass(49)
	r.wantCode(commit, "waits")
	if p := r.view("g").PendingOffsets; p != nil {
		t.Errorf("%+v", p)
	}
	r.pass(1)
	r.wantCode(commit, "ok")
	r.wantStable(early, -1, "UNSTABLE_OFFSET_COMMIT")
	if got := r.fetched("g", 0); got != 5 {
		t.Errorf("offset %d is shown", got)
	}
	want := []PendingOffsetView{{TopicPartition: orders(0), Offset: 9, ProducerID: 1000, LeaderEpoch: -1, WrittenAt: wallStart + 3000}}
	if diff := cmp.Diff(want, r.view("g").PendingOffsets); diff != "" {
		t.Error(diff)
	}
	if o := r.view("g").Offsets; len(o) != 1 || o[0].Offset != 5 {
		t.Errorf("%+v", o)
	}
	r.ends(1000, record.Commit)
	marked := r.stable("g", 0) // the marker is being written
	if got := r.fetched("g", 0); got != 5 {
		t.Errorf("offset %d is shown before the marker is written", got)
	}
	r.pass(50)
	r.wantStable(marked, 9, "ok")
	r.delay = 0
	r.wantFetched(9, 9, "ok")
	if v := r.view("g"); v.PendingOffsets != nil || v.Offsets[0].Offset != 9 {
		t.Errorf("%+v", v)
	}
	if diff := cmp.Diff([]journal.TransactionalOffsetPending{{
		Group: "g", TopicPartition: orders(0), Offset: 9, ProducerID: 1000, ProducerEpoch: 4, Member: kafka.MemberID(c1.member), Generation: 1,
	}}, events[journal.TransactionalOffsetPending](r)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]journal.TransactionalOffsetsEnded{{
		Group: "g", ProducerID: 1000, ProducerEpoch: 5, Committed: true, Visible: []journal.CommitOffset{{TopicPartition: orders(0), Offset: 9}},
	}}, events[journal.TransactionalOffsetsEnded](r)); diff != "" {
		t.Error(diff)
	}
	last := events[journal.OffsetCommitted](r)[1]
	if diff := cmp.Diff(journal.OffsetCommitted{Group: "g", TopicPartition: orders(0), Offset: 9, Before: 5, Generation: -1, Producer: 1000}, last); diff != "" {
		t.Error(diff)
	}
	for e := range r.j.All() {
		if b, ok := e.Body.(journal.OffsetCommitted); ok && b.Producer == 1000 {
			if cause, _ := r.j.At(e.Cause); cause.Body.Kind() != "TransactionalOffsetsEnded" {
				t.Errorf("the cause of %s is %s", e.Line(), cause.Line())
			}
		}
	}
	refused := events[journal.GroupRequestRefused](r)
	if n := len(refused); n != 1 || refused[0].Error != "UNSTABLE_OFFSET_COMMIT" || !strings.Contains(refused[0].Why, "pending for orders-0") {
		t.Errorf("%+v", refused)
	}
}

// An ABORT marker drops what is pending of its producer, and of no other.
func TestTransactionAborted(t *testing.T) {
	r := newRun(t, nil)
	c1 := newConsumer("c1")
	r.form(c1)
	r.commits(c1, 0, 5)
	r.commitsIn(c1, 0, 0, 9) // producer id 0 is one, too
	r.commitsIn(c1, 0, 1, 3)
	r.commitsIn(c1, 1, 1, 4)
	r.wantFetched(5, -1, "UNSTABLE_OFFSET_COMMIT")
	r.ends(0, record.Abort)
	r.wantFetched(5, 5, "ok")
	want := []PendingOffsetView{{TopicPartition: orders(1), Offset: 4, ProducerID: 1, LeaderEpoch: -1, WrittenAt: wallStart + 3000}}
	if diff := cmp.Diff(want, r.view("g").PendingOffsets); diff != "" {
		t.Error(diff)
	}
	ended := events[journal.TransactionalOffsetsEnded](r)
	if len(ended) != 1 || ended[0].Committed || ended[0].Visible != nil || len(ended[0].Dropped) != 2 {
		t.Errorf("%+v", ended)
	}
	r.ends(0, record.Commit) // of a transaction without offsets here
	r.wantFetched(5, 5, "ok")
	if n := len(events[journal.TransactionalOffsetsEnded](r)); n != 1 {
		t.Errorf("%d ends", n)
	}
}

// Of two commits for a partition the one whose record is later in the log counts, whichever is ended last.
func TestLastCommitCounts(t *testing.T) {
	for _, test := range []struct {
		name  string
		steps []any // a commit by a producer, -1: in no transaction; or the end of a transaction
		want  int64
	}{
		{"an ordinary commit before", []any{[2]int64{-1, 5}, [2]int64{1, 9}, kafka.ProducerID(1)}, 9},
		{"an ordinary commit after", []any{[2]int64{1, 9}, [2]int64{-1, 5}, kafka.ProducerID(1)}, 5},
		{"the transaction commits again after it", []any{[2]int64{1, 9}, [2]int64{-1, 5}, [2]int64{1, 8}, kafka.ProducerID(1)}, 8},
		{"two transactions, ended in order", []any{[2]int64{1, 7}, [2]int64{2, 9}, kafka.ProducerID(1), kafka.ProducerID(2)}, 9},
		{"two transactions, the later one ended first", []any{[2]int64{1, 7}, [2]int64{2, 9}, kafka.ProducerID(2), kafka.ProducerID(1)}, 9},
		{"twice in one transaction", []any{[2]int64{1, 7}, [2]int64{1, 3}, kafka.ProducerID(1)}, 3},
	} {
		for _, loads := range []bool{false, true} {
			r := newRun(t, nil)
			c := newConsumer("c1")
			for _, step := range test.steps {
				switch step := step.(type) {
				case [2]int64:
					if step[0] < 0 {
						r.wantCode(r.commits(c, 0, step[1]), "ok")
					} else {
						r.wantCode(r.commitsIn(c, step[0], 0, step[1]), "ok")
					}
				case kafka.ProducerID:
					if loads {
						var e coordinator.Effects
						r.c, _, e = loaded(r.config, r.now, slices.Values(r.log))
						r.perform(e)
					}
					r.ends(step, record.Commit)
				}
			}
			r.wantFetched(test.want, test.want, "ok")
			if test.name == "an ordinary commit after" && !loads {
				if e := events[journal.TransactionalOffsetsEnded](r)[0]; !e.Committed || e.Visible != nil || len(e.Dropped) != 1 {
					t.Errorf("%+v", e)
				}
			}
		}
	}
}

// A transaction can commit for several groups; a marker ends them all, in the order of their ids.
func TestTransactionOfTwoGroups(t *testing.T) {
	r := newRun(t, nil)
	g, h := newConsumer("c1"), newConsumer("c1")
	h.group = "h"
	r.commitsIn(h, 1, 0, 8)
	r.commitsIn(g, 1, 0, 7)
	id := r.ends(1, record.Commit)
	if id != 3 || r.fetched("g", 0) != 7 || r.fetched("h", 0) != 8 {
		t.Errorf("write %d, offsets %d, %d", id, r.fetched("g", 0), r.fetched("h", 0))
	}
	if e := events[journal.TransactionalOffsetsEnded](r); len(e) != 2 || e[0].Group != "g" || e[1].Group != "h" {
		t.Errorf("%+v", e)
	}
}

// A commit in a transaction does not extend the member's session, as one outside does.
func TestTransactionalCommitIsNoHeartbeat(t *testing.T) {
	r := newRun(t, nil)
	c1 := newConsumer("c1")
	r.form(c1)
	before := r.view("g").Members[0].SessionEnds
	r.pass(1000)
	r.commitsIn(c1, 1, 0, 5)
	if got := r.view("g").Members[0].SessionEnds; got != before {
		t.Errorf("the session ends at %d, before at %d", got, before)
	}
	r.commits(c1, 1, 5)
	if got := r.view("g").Members[0].SessionEnds; got != before+1000 {
		t.Errorf("the session ends at %d, before at %d", got, before)
	}
}

// What was not appended is taken back: a commit, or the end of a transaction with all that came after it kept.
func TestTransactionalWriteRefused(t *testing.T) {
	r := newRun(t, nil)
	c := newConsumer("c1")
	r.fail = kerr.InvalidTxnState
	r.wantCode(r.commitsIn(c, 1, 0, 5), "INVALID_TXN_STATE")
	r.want(Dead, 0)
	r.fail = kerr.NotEnoughReplicas
	r.wantCode(r.commitsIn(c, 1, 0, 5), "COORDINATOR_NOT_AVAILABLE")
	r.fail = nil
	r.commits(c, 0, 5)
	r.wantFetched(5, 5, "ok")

	r.stuck = true
	r.commitsIn(c, 1, 0, 7)
	r.fail = kerr.TransactionCoordinatorFenced
	r.ends(1, record.Abort)
	r.fail = nil
	fetch := r.stable("g", 0)
	r.ends(1, record.Commit)
	r.fail = kerr.InvalidProducerEpoch
	r.ends(1, record.Abort) // of nothing
	r.fail = nil
	last := r.stable("g", 0)
	r.stuck = false
	r.pass(1)
	r.wantStable(fetch, -1, "UNSTABLE_OFFSET_COMMIT")
	r.wantStable(last, 7, "ok")
	r.wantFetched(7, 7, "ok")

	r.commitsIn(c, 2, 1, 3)
	r.fail = kerr.TransactionCoordinatorFenced
	r.ends(2, record.Commit)
	if v := r.view("g"); len(v.PendingOffsets) != 1 || len(v.Offsets) != 1 {
		t.Errorf("%+v", v)
	}
}

// What is not on every in-sync replica in 5 s is answered with an error; it is pending all the same when it is there.
func TestTransactionalCommitTimesOut(t *testing.T) {
	r := newRun(t, nil)
	c := newConsumer("c1")
	r.stuck = true
	commit := r.commitsIn(c, 1, 0, 5)
	r.until(5000)
	r.wantCode(commit, "COORDINATOR_NOT_AVAILABLE")
	if v := r.view("g"); v.PendingOffsets != nil {
		t.Errorf("%+v", v)
	}
	r.stuck = false
	r.pass(1)
	r.wantFetched(-1, -1, "UNSTABLE_OFFSET_COMMIT")
	r.ends(1, record.Commit)
	r.wantFetched(5, 5, "ok")
}

// Whoever asks for all offsets and requires stable ones gets the partitions that have a committed offset, with an error
// for those that have a pending one.
func TestFetchAllStable(t *testing.T) {
	r := newRun(t, nil)
	c := newConsumer("c1")
	r.commits(c, 0, 5)
	r.commits(c, 1, 6)
	r.commitsIn(c, 1, 1, 7)
	r.commitsIn(c, 1, 2, 8)
	q := fetchRequest("g", 0)
	q.RequireStable, q.Groups[0].Topics = true, nil
	p := r.answers[r.send("c1", q)].(*kmsg.OffsetFetchResponse).Groups[0].Topics[0].Partitions
	if len(p) != 2 || p[0].Offset != 5 || p[0].ErrorCode != 0 || p[1].Offset != -1 || p[1].ErrorCode != kerr.UnstableOffsetCommit.Code {
		t.Errorf("%+v", p)
	}
	old := kmsg.NewPtrOffsetFetchRequest()
	old.Version, old.Group, old.RequireStable = 7, "g", true
	old.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "orders", Partitions: []int32{2, 0}}}
	a := r.answers[r.send("c1", old)].(*kmsg.OffsetFetchResponse)
	if p := a.Topics[0].Partitions; a.ErrorCode != 0 || p[0].ErrorCode != kerr.UnstableOffsetCommit.Code || p[0].Offset != -1 || p[1].Offset != 5 || p[1].ErrorCode != 0 {
		t.Errorf("%+v", a)
	}
}

// OffsetDelete takes what is pending for a partition too, also where nothing is committed: a marker brings it no more.
func TestDeletePendingOffsets(t *testing.T) {
	r := newRun(t, nil)
	c := newConsumer("c1")
	r.commits(c, 0, 5)
	r.commitsIn(c, 1, 0, 7)
	r.commitsIn(c, 1, 1, 8)
	r.commitsIn(c, 2, 1, 9)
	r.commitsIn(c, 1, 2, 10)
	q := kmsg.NewPtrOffsetDeleteRequest()
	q.Group = "g"
	q.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}, {Partition: 1}, {Partition: 3}}}}
	records := len(r.log)
	r.wantCode(r.send("admin", q), "ok")
	if n := len(r.log) - records; n != 2 {
		t.Errorf("%d tombstones, want 2: of orders-0 and orders-1", n)
	}
	want := journal.OffsetsRemoved{Group: "g", Why: "admin sent OffsetDelete for them", Partitions: []kafka.TopicPartition{orders(0)}, Pending: []kafka.TopicPartition{orders(0), orders(1)}}
	if diff := cmp.Diff([]journal.OffsetsRemoved{want}, events[journal.OffsetsRemoved](r)); diff != "" {
		t.Error(diff)
	}
	r.wantFetched(-1, -1, "ok")
	r.ends(1, record.Commit)
	r.ends(2, record.Commit)
	if v := r.view("g"); len(v.Offsets) != 1 || v.Offsets[0].TopicPartition != orders(2) || v.Offsets[0].Offset != 10 || v.PendingOffsets != nil {
		t.Errorf("%+v", v)
	}
}

// DeleteGroups takes a group without members with what is pending for it.
func TestDeleteGroupWithPendingOffsets(t *testing.T) {
	r := newRun(t, nil)
	c := newConsumer("c1")
	r.commits(c, 0, 5)
	r.commitsIn(c, 1, 0, 7)
	r.commitsIn(c, 1, 1, 8)
	r.commitsIn(c, 2, 1, 9)
	records := len(r.log)
	q := kmsg.NewPtrDeleteGroupsRequest()
	q.Groups = []string{"g"}
	r.wantCode(r.send("admin", q), "ok")
	r.want(Dead, 0)
	var gone []string
	for _, l := range r.log[records:] {
		key, err := DecodeKey(l.Key)
		if err != nil || l.Value != nil || l.Transactional {
			t.Errorf("%+v: %v", l, err)
		}
		gone = append(gone, key.TopicPartition.String())
	}
	if want := []string{"orders-0", "orders-1", "-0"}; !slices.Equal(gone, want) {
		t.Errorf("tombstones of %v, want %v", gone, want)
	}
	r.ends(1, record.Commit)
	r.ends(2, record.Commit)
	r.want(Dead, 0)
	if len(r.c.offsets) != 0 {
		t.Errorf("%+v", r.c.offsets)
	}
}

// While a transaction has an offset pending, neither the partition's offset expires nor the group goes.
func TestPendingOffsetsKeepTheGroup(t *testing.T) {
	r := newRun(t, func(c *Config) { c.OffsetsRetention = minute })
	c := newConsumer("c1")
	r.commits(c, 0, 5)
	r.commits(c, 1, 6)
	r.commitsIn(c, 1, 0, 7)
	if v := r.view("g"); v.Offsets[0].Expires || !v.Offsets[1].Expires {
		t.Errorf("%+v", v.Offsets)
	}
	r.until(10 * minute)
	if v := r.view("g"); len(v.Offsets) != 1 || v.Offsets[0].TopicPartition != orders(0) {
		t.Errorf("%+v", v.Offsets)
	}
	r.ends(1, record.Abort)
	r.until(20 * minute)
	r.want(Dead, 0)

	// Without any committed offset, too.
	r = newRun(t, nil)
	r.commitsIn(c, 1, 0, 7)
	r.until(100 * minute)
	r.want(Empty, 0)
	r.ends(1, record.Abort)
	r.until(110 * minute)
	r.want(Dead, 0)
}

// A new coordinator finds what is pending in the log, and the end of a transaction after it.
func TestLoadTransactions(t *testing.T) {
	r := newRun(t, nil)
	c := newConsumer("c1")
	r.commits(c, 0, 5)
	r.commitsIn(c, 1, 0, 7)
	r.commitsIn(c, 2, 0, 8)
	r.commitsIn(c, 3, 1, 9)
	r.ends(3, record.Abort)
	r.ends(2, record.Commit)
	before := r.view("g")
	var e coordinator.Effects
	var j *journal.Journal
	r.c, j, e = loaded(r.config, r.now, slices.Values(r.log))
	r.perform(e)
	after := r.view("g")
	if diff := cmp.Diff(before.PendingOffsets, after.PendingOffsets); diff != "" || len(after.PendingOffsets) != 1 {
		t.Errorf("%s%+v", diff, after.PendingOffsets)
	}
	if diff := cmp.Diff(before.Offsets, after.Offsets); diff != "" || after.Offsets[0].Offset != 8 {
		t.Errorf("%s%+v", diff, after.Offsets)
	}
	first, _ := j.At(1)
	if got, want := first.Body, (journal.GroupsLoaded{Records: 6, Groups: 1, Offsets: 1, Pending: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	r.wantFetched(8, -1, "UNSTABLE_OFFSET_COMMIT")
	r.ends(1, record.Commit)
	r.wantFetched(8, 8, "ok")
}

// Whoever waits is told when the leadership goes; a marker is not taken any more.
func TestResignInTransaction(t *testing.T) {
	r := newRun(t, nil)
	c := newConsumer("c1")
	r.delay = 1000
	commit := r.commitsIn(c, 1, 0, 5)
	r.inFlight = nil
	r.perform(r.c.Resign(r.now, 0, &r.j))
	r.wantCode(commit, "NOT_COORDINATOR")
	r.wantCode(r.commitsIn(c, 1, 0, 5), "NOT_COORDINATOR")
	e := r.c.EndTransaction(r.now, storage.TransactionMarker{EndTxnMarker: record.EndTxnMarker{Type: record.Commit}, ProducerID: 1, ProducerEpoch: 5}, 0, &r.j)
	if len(e.Writes)+len(e.Answers) != 0 {
		t.Errorf("%+v", e)
	}
}

func TestPendingOffsetViewAsJSON(t *testing.T) {
	got, err := json.Marshal(PendingOffsetView{TopicPartition: orders(3), Offset: 7, ProducerID: 1000, LeaderEpoch: -1, WrittenAt: 5})
	if want := `{"topic":"orders","partition":3,"offset":7,"producer_id":1000,"leader_epoch":-1,"metadata":"","written_at":5}`; err != nil || string(got) != want {
		t.Errorf("%s: %v", got, err)
	}
}
