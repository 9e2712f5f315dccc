package txn

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// What a failed append is answered with; the state stays as it was, and the same can be asked for again.
func TestFailedWrites(t *testing.T) {
	for err, want := range map[*kerr.Error]string{
		kerr.NotEnoughReplicas:            "COORDINATOR_NOT_AVAILABLE",
		kerr.NotEnoughReplicasAfterAppend: "COORDINATOR_NOT_AVAILABLE",
		kerr.UnknownTopicOrPartition:      "COORDINATOR_NOT_AVAILABLE",
		kerr.RequestTimedOut:              "COORDINATOR_NOT_AVAILABLE",
		kerr.NotLeaderForPartition:        "NOT_COORDINATOR",
		kerr.KafkaStorageError:            "NOT_COORDINATOR",
		kerr.MessageTooLarge:              "UNKNOWN_SERVER_ERROR",
		kerr.RecordListTooLarge:           "UNKNOWN_SERVER_ERROR",
		kerr.InvalidProducerEpoch:         "INVALID_PRODUCER_EPOCH",
	} {
		r := newRun(t, nil)
		p, old := newProducer("p1"), oldProducer("p2")
		old.id = "t2"
		r.fail = err
		r.wantCode(r.inits(p, false), want)
		r.want(Empty, 1000, -1)
		r.fail = nil
		r.begins(p)
		r.want(Empty, 1000, 0)
		r.begins(old)
		r.fail = err
		r.wantCode(r.inits(p, true), want)
		r.wantCode(r.adds(p, 0), want)
		r.wantCode(r.adds(old, 0), want)
		r.wantCode(r.addsOffsets(old, "g"), want)
		r.want(Empty, 1000, 0)
		r.fail = nil
		r.wantCode(r.adds(p, 0), "ok")
		r.fail = err
		r.wantCode(r.adds(p, 1), want)
		r.wantCode(r.ends(p, true), want)
		r.want(Ongoing, 1000, 0)
		r.wantCode(r.inits(newProducer("p3"), false), want)
		r.want(Ongoing, 1000, 0)
		r.fail = nil
		r.ended(p, r.ends(p, true))
		r.want(CompleteCommit, 1000, 1)
		if got := events[journal.TransactionWriteFailed](r); len(got) != 8 || got[0].To != "Empty" || got[0].Error != err.Message {
			t.Errorf("%s: %+v", err.Message, got)
		}
	}
}

// A producer has no epoch until its first InitProducerID is written.
func TestNoEpochYet(t *testing.T) {
	r := newRun(t, nil)
	p := newProducer("p1")
	r.fail = kerr.NotEnoughReplicas
	r.wantCode(r.inits(p, false), "COORDINATOR_NOT_AVAILABLE")
	r.fail = nil
	p.ID = 1000
	r.wantCode(r.adds(p, 0), "UNKNOWN_SERVER_ERROR")
	r.wantCode(r.ends(p, true), "INVALID_TXN_STATE")
	r.ended(p, r.ends(p, false)) // which raises the epoch to 0, as in Kafka
	r.want(CompleteAbort, 1000, 0)
}

// A write may take as long as a transaction of the producer may stay open; then who asked is answered. What is in the log
// all the same the coordinator does not know, and the next one does.
func TestWritesTimeOut(t *testing.T) {
	r := newRun(t, nil)
	p := newProducer("p1")
	p.timeout = 5000
	r.begins(p)
	r.stuck = true
	m := r.adds(p, 0)
	r.until(4999)
	r.wantCode(m, "waits")
	r.until(5000)
	r.wantCode(m, "COORDINATOR_NOT_AVAILABLE")
	r.want(Empty, 1000, 0)
	got := events[journal.TransactionWriteFailed](r)
	if len(got) != 1 || !strings.Contains(got[0].Sentence(), "within transaction.timeout.ms = 5,000 ms") || got[0].Retry != 0 {
		t.Errorf("%+v", got)
	}
	r.stuck = false
	r.pass(1)
	r.want(Empty, 1000, 0)
	r.failOver()
	r.want(Ongoing, 1000, 0)
	if v := r.view("t1"); v.TimesOut != 15_001 {
		t.Errorf("it times out at %d: %+v", v.TimesOut, v)
	}
}

// That a transaction is complete is written again until it is.
func TestCompletionIsRetried(t *testing.T) {
	r := newRun(t, nil)
	r.noMarkers = true
	p := newProducer("p1")
	r.begins(p)
	r.adds(p, 0)
	r.ended(p, r.ends(p, true))
	r.fail = kerr.NotEnoughReplicas
	r.noMarkers = false
	r.pass(1)
	r.want(PrepareCommit, 1000, 1)
	if v := r.view("t1"); v.PendingState != CompleteCommit || len(v.Partitions) != 0 {
		t.Errorf("%+v", v)
	}
	r.wantCode(r.adds(p, 0), "CONCURRENT_TRANSACTIONS")
	if got := events[journal.TransactionWriteFailed](r); len(got) != 1 || got[0].Retry != 30_000 || got[0].To != "CompleteCommit" {
		t.Errorf("%+v", got)
	}
	r.fail = nil
	r.until(29_999)
	r.want(PrepareCommit, 1000, 1)
	r.until(30_000)
	r.want(CompleteCommit, 1000, 1)

	r.adds(p, 0) // and sooner if there is news of markers
	r.noMarkers = true
	r.ended(p, r.ends(p, true))
	r.fail = kerr.NotEnoughReplicas
	r.noMarkers = false
	r.pass(1)
	r.fail = nil
	p2 := newProducer("p2")
	p2.id = "t2"
	r.begins(p2)
	r.adds(p2, 3)
	r.want(PrepareCommit, 1000, 2)
	r.ended(p2, r.ends(p2, true))
	r.want(CompleteCommit, 1000, 2)

	r.adds(p, 0) // not where this broker leads no more
	r.noMarkers = true
	r.ended(p, r.ends(p, true))
	r.fail = kerr.NotLeaderForPartition
	r.noMarkers = false
	r.pass(1)
	r.fail = nil
	r.pass(100_000)
	if v := r.view("t1"); v.State != PrepareCommit || v.PendingState != "" {
		t.Errorf("%+v", v)
	}
	r.failOver()
	r.pass(1)
	r.want(CompleteCommit, 1000, 3)
}

// On a cluster with transaction.version 1 an epoch that could not be written to fence with is used again.
func TestFenceFails(t *testing.T) {
	r := newRun(t, func(c *Config) { c.TransactionVersion = 1 })
	p := oldProducer("p1")
	r.begins(p)
	r.adds(p, 0)
	r.fail = kerr.NotEnoughReplicas
	r.wantCode(r.inits(oldProducer("p2"), false), "COORDINATOR_NOT_AVAILABLE")
	r.want(Ongoing, 1000, 1)
	r.wantCode(r.adds(p, 1), "PRODUCER_FENCED")
	r.wantCode(r.inits(oldProducer("p2"), false), "COORDINATOR_NOT_AVAILABLE")
	r.want(Ongoing, 1000, 1)
	r.fail = nil
	r.until(70_000)
	r.want(CompleteAbort, 1000, 1)
	r.begins(p)
	r.adds(p, 0)
	r.wantCode(r.inits(oldProducer("p2"), false), "CONCURRENT_TRANSACTIONS")
	r.want(CompleteAbort, 1000, 3)

	r = newRun(t, nil) // with version 2 the epoch is not touched before it is written
	p = newProducer("p1")
	r.begins(p)
	r.adds(p, 0)
	r.fail = kerr.NotEnoughReplicas
	r.wantCode(r.inits(newProducer("p2"), false), "COORDINATOR_NOT_AVAILABLE")
	r.want(Ongoing, 1000, 0)
	r.fail = nil
	r.wantCode(r.adds(p, 1), "ok")
}

// An expiration that cannot be written leaves all as it was.
func TestExpirationFails(t *testing.T) {
	r := newRun(t, nil)
	const week, hour = 7 * 24 * 3_600_000, 3_600_000
	p := newProducer("p1")
	r.begins(p)
	r.fail = kerr.NotEnoughReplicas
	r.until(week)
	r.want(Empty, 1000, 0)
	if v := r.view("t1"); v.PendingState != "" {
		t.Errorf("%+v", v)
	}
	r.fail, r.stuck = nil, true
	r.until(week + hour)
	r.until(week + hour + 29_999)
	if v := r.view("t1"); v.PendingState != Dead {
		t.Errorf("%+v", v)
	}
	r.until(week + hour + 30_000)
	got := events[journal.TransactionWriteFailed](r)
	if v := r.view("t1"); v.PendingState != "" || len(got) != 2 || !strings.Contains(got[1].Why, "request.timeout.ms = 30,000 ms") {
		t.Errorf("%+v %+v", v, got)
	}
}

// Who waits when the broker leads the partition no more is answered NOT_COORDINATOR, and so is who comes.
func TestResign(t *testing.T) {
	r := newRun(t, nil)
	p, p2, p3 := newProducer("p1"), newProducer("p2"), oldProducer("p3")
	p2.id, p3.id = "t2", "t3"
	r.begins(p)
	r.begins(p2)
	r.begins(p3)
	r.stuck = true
	waiting := []*simnet.Message{r.adds(p, 0), r.inits(p2, false), r.adds(p3, 0)}
	r.perform(r.c.Resign(r.now, 0, &r.j))
	r.perform(r.c.Resign(r.now, 0, &r.j))
	for _, m := range append(waiting, r.inits(p, false), r.adds(p, 0), r.adds(p3, 0), r.addsOffsets(p, "g"), r.ends(p, true), r.verifies(p, 0)) {
		r.wantCode(m, "NOT_COORDINATOR")
	}
	list, describe := kmsg.NewPtrListTransactionsRequest(), kmsg.NewPtrDescribeTransactionsRequest()
	describe.TransactionalIDs = []string{"t1"}
	r.wantCode(r.send("admin", list), "NOT_COORDINATOR")
	r.wantCode(r.send("admin", describe), "NOT_COORDINATOR")
	r.stuck = false
	r.pass(100_000)
	if _, ok := r.c.NextDue(); ok || len(r.c.View()) > 0 {
		t.Error("something is left")
	}
	if got := events[journal.TransactionCoordinatorResigned](r); len(got) != 1 || got[0] != (journal.TransactionCoordinatorResigned{TransactionalIDs: 3, Answered: 3}) {
		t.Errorf("%+v", got)
	}
	for _, e := range []coordinator.Effects{
		r.c.Written(r.now, 1, nil, 0, &r.j), r.c.MarkersWritten(r.now, "t1", p.Producer, orders(0), 0, &r.j), r.c.Tick(r.now, &r.j),
	} {
		if len(e.Writes)+len(e.Answers)+len(e.Markers) > 0 {
			t.Errorf("%+v", e)
		}
	}
}

func TestForeignRequests(t *testing.T) {
	r := newRun(t, nil)
	for name, request := range map[string]kmsg.Request{
		"heartbeat": kmsg.NewPtrHeartbeatRequest(), "idempotent": kmsg.NewPtrInitProducerIDRequest(),
	} {
		if !panics(func() { r.send("p1", request) }) {
			t.Errorf("%s: no panic", name)
		}
	}
	if !panics(func() { ErrorResponse(kmsg.NewPtrHeartbeatRequest(), kerr.NotCoordinator) }) {
		t.Error("ErrorResponse: no panic")
	}
}

func TestDescribeAndList(t *testing.T) {
	r := newRun(t, nil)
	r.noMarkers = true
	for i, id := range []string{"b", "a", "c"} {
		p := newProducer(kafka.NodeID("p-" + id))
		p.id = id
		r.begins(p)
		if i > 0 {
			r.until(kafka.Millis(i * 1000))
			r.adds(p, 2, 0)
		}
		if id == "c" {
			r.ended(p, r.ends(p, false))
		}
	}
	q := kmsg.NewPtrDescribeTransactionsRequest()
	q.TransactionalIDs = []string{"a", "x", "", "c"}
	a := r.answers[r.send("admin", q)].(*kmsg.DescribeTransactionsResponse).TransactionStates
	if s := a[0]; s.State != "Ongoing" || s.ProducerID != 1001 || s.ProducerEpoch != 0 || s.TimeoutMillis != 60_000 || s.StartTimestamp != int64(wallStart+1000) ||
		s.Topics[0].Topic != "orders" || len(s.Topics[0].Partitions) != 2 || s.Topics[0].Partitions[1] != 2 {
		t.Errorf("%+v", s)
	}
	if errorName(a[1].ErrorCode) != "TRANSACTIONAL_ID_NOT_FOUND" || errorName(a[2].ErrorCode) != "INVALID_REQUEST" || a[3].State != "PrepareAbort" || a[3].ProducerEpoch != 1 {
		t.Errorf("%+v", a)
	}
	pattern := func(text string) *string { return &text }
	for _, tc := range []struct {
		states   []string
		ids      []int64
		duration int64
		pattern  *string
		want     string
		unknown  int
		code     string
	}{
		{nil, nil, -1, nil, "a b c", 0, "ok"},
		{[]string{"Ongoing"}, nil, -1, nil, "a", 0, "ok"},
		{[]string{"Ongoing", "Nothing", "Empty"}, nil, -1, nil, "a b", 1, "ok"},
		{[]string{"Nothing"}, nil, -1, nil, "", 1, "ok"},
		{nil, []int64{1002, 1000}, -1, nil, "b c", 0, "ok"},
		{nil, nil, 500, nil, "a b", 0, "ok"},
		{nil, nil, 1000, nil, "b", 0, "ok"},
		{nil, nil, -1, pattern("[ab]"), "a b", 0, "ok"},
		{nil, nil, -1, pattern("("), "", 0, "INVALID_REGULAR_EXPRESSION"},
	} {
		q := kmsg.NewPtrListTransactionsRequest()
		q.Version, q.StateFilters, q.ProducerIDFilters, q.DurationFilterMillis, q.TransactionalIDPattern = 2, tc.states, tc.ids, tc.duration, tc.pattern
		m := r.send("admin", q)
		answer := r.answers[m].(*kmsg.ListTransactionsResponse)
		var ids []string
		for _, s := range answer.TransactionStates {
			ids = append(ids, s.TransactionalID)
		}
		if got := strings.Join(ids, " "); got != tc.want || len(answer.UnknownStateFilters) != tc.unknown || r.code(m) != tc.code {
			t.Errorf("%+v: %q, %+v, %s", tc, got, answer.UnknownStateFilters, r.code(m))
		}
	}
}
