package txn

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
)

// A new transactional id has a new producer id and epoch 0; each producer that begins gets the next epoch.
func TestInitProducerID(t *testing.T) {
	r := newRun(t, nil)
	r.delay = 10
	p := newProducer("p1")
	m := r.inits(p, false)
	r.wantCode(m, "waits")
	if v := r.view("t1"); v.State != Empty || v.PendingState != Empty || v.ProducerEpoch != -1 || v.ProducerID != 1000 {
		t.Errorf("before it is written: %+v", v)
	}
	r.wantCode(r.inits(newProducer("p2"), false), "CONCURRENT_TRANSACTIONS")
	r.pass(10)
	r.began(p, m)
	r.want(Empty, 1000, 0)
	if p.Epoch != 0 || p.ID != 1000 {
		t.Errorf("the answer is %+v", p.Producer)
	}
	p2 := newProducer("p2")
	p2.timeout = 20_000
	m = r.inits(p2, false)
	r.pass(10)
	r.began(p2, m)
	r.want(Empty, 1000, 1)
	if v := r.view("t1"); v.Timeout != 20_000 || v.LastProducerEpoch != -1 || v.TimesOut != 0 {
		t.Errorf("%+v", v)
	}
	r.wantCode(r.adds(p, 0), "PRODUCER_FENCED")
	if got := events[journal.TransactionalIDInitialised](r); len(got) != 2 || got[1].OldProducerEpoch != 0 || got[1].ProducerEpoch != 1 || got[1].Timeout != 20_000 {
		t.Errorf("%+v", got)
	}
}

func TestInitProducerIDRefused(t *testing.T) {
	r := newRun(t, nil)
	for _, tc := range []struct {
		id      string
		timeout int32
		pid     int64
		epoch   int16
		want    string
	}{
		{"t1", 900_000, -1, -1, "ok"},
		{"t1", 900_001, -1, -1, "INVALID_TRANSACTION_TIMEOUT"},
		{"t1", 0, -1, -1, "INVALID_TRANSACTION_TIMEOUT"},
		{"t1", -1, -1, -1, "INVALID_TRANSACTION_TIMEOUT"},
		{"", 60_000, -1, -1, "INVALID_REQUEST"},
		{"t1", 60_000, 1000, -1, "INVALID_REQUEST"},
		{"t1", 60_000, -1, 0, "INVALID_REQUEST"},
		{"t1", 60_000, 999, 0, "PRODUCER_FENCED"},
		{"t1", 60_000, 1000, 7, "PRODUCER_FENCED"},
	} {
		q := kmsg.NewPtrInitProducerIDRequest()
		q.Version, q.TransactionalID, q.TransactionTimeoutMillis, q.ProducerID, q.ProducerEpoch = 5, &tc.id, tc.timeout, tc.pid, tc.epoch
		if m := r.send("p1", q); r.code(m) != tc.want {
			t.Errorf("%+v: %s", tc, r.code(m))
		} else if a := r.answers[m].(*kmsg.InitProducerIDResponse); tc.want != "ok" && (a.ProducerID != -1 || a.ProducerEpoch != -1) {
			t.Errorf("%+v: answered with %d, %d", tc, a.ProducerID, a.ProducerEpoch)
		}
	}
	r.noIDs = true
	p := newProducer("p1")
	p.id = "t2"
	r.wantCode(r.inits(p, false), "COORDINATOR_LOAD_IN_PROGRESS")
	if r.view("t2").State != Dead {
		t.Error("t2 is known without a producer id")
	}
	old := kmsg.NewPtrInitProducerIDRequest()
	old.Version, old.TransactionalID, old.TransactionTimeoutMillis, old.ProducerID, old.ProducerEpoch = 3, &[]string{"t1"}[0], 60_000, 1000, 7
	r.wantCode(r.send("p1", old), "INVALID_PRODUCER_EPOCH")
	old = kmsg.NewPtrInitProducerIDRequest()
	old.Version, old.TransactionalID, old.TransactionTimeoutMillis, old.ProducerID, old.ProducerEpoch = 2, &[]string{"t1"}[0], 60_000, 999, 7
	r.wantCode(r.send("p1", old), "ok") // the version has no such fields
}

// A producer that goes on after an error gets the next epoch (KIP-360); asked again with the epoch before, it gets the same.
func TestInitProducerIDGoesOn(t *testing.T) {
	r := newRun(t, nil)
	p := newProducer("p1")
	r.begins(p)
	again := *p
	r.began(p, r.inits(p, true))
	r.want(Empty, 1000, 1)
	if v := r.view("t1"); v.LastProducerEpoch != 0 {
		t.Errorf("last epoch is %d", v.LastProducerEpoch)
	}
	r.began(&again, r.inits(&again, true)) // the answer was lost
	r.want(Empty, 1000, 1)
	if again.Epoch != 1 {
		t.Errorf("asked again it gets epoch %d", again.Epoch)
	}
	other := newProducer("p2")
	r.begins(other)
	r.want(Empty, 1000, 2)
	again.Epoch = 0
	r.wantCode(r.inits(&again, true), "PRODUCER_FENCED")
	r.wantCode(r.inits(p, true), "PRODUCER_FENCED")
}

// A producer that begins while a transaction is open: that is aborted with the next epoch, and the one that the producer
// gets when it asks again is the one after that.
func TestInitProducerIDFences(t *testing.T) {
	r := newRun(t, nil)
	r.markerDelay = 30
	p := newProducer("p1")
	r.begins(p)
	r.adds(p, 0, 1)
	p2 := newProducer("p2")
	r.wantCode(r.inits(p2, false), "CONCURRENT_TRANSACTIONS")
	r.want(PrepareAbort, 1000, 1)
	if m := r.markers[0]; m.Type.String() != "ABORT" || m.ProducerEpoch != 1 || m.TransactionVersion != 2 {
		t.Errorf("markers %+v", m)
	}
	r.wantCode(r.inits(p2, false), "CONCURRENT_TRANSACTIONS")
	r.wantCode(r.ends(p, true), "CONCURRENT_TRANSACTIONS")
	r.wantCode(r.ends(p, false), "CONCURRENT_TRANSACTIONS")
	r.pass(30)
	r.want(CompleteAbort, 1000, 1)
	r.begins(p2)
	r.want(Empty, 1000, 2)
	r.wantCode(r.ends(p, true), "PRODUCER_FENCED")
	r.wantCode(r.adds(p, 0), "PRODUCER_FENCED")
	if got := events[journal.TransactionFenced](r); len(got) != 1 || got[0] != (journal.TransactionFenced{
		TransactionalID: "t1", From: "p2", ProducerID: 1000, ProducerEpoch: 0, NewEpoch: 1, Partitions: 2,
	}) {
		t.Errorf("%+v", got)
	}
}

// On a cluster with transaction.version 1 the markers have the epoch that fences, in version 0.
func TestFenceOfVersionOne(t *testing.T) {
	r := newRun(t, func(c *Config) { c.TransactionVersion = 1 })
	r.noMarkers = true
	p := oldProducer("p1")
	r.begins(p)
	r.adds(p, 0)
	r.wantCode(r.inits(oldProducer("p2"), false), "CONCURRENT_TRANSACTIONS")
	r.want(PrepareAbort, 1000, 1)
	if m := r.markers[0]; m.ProducerEpoch != 1 || m.TransactionVersion != 0 {
		t.Errorf("markers %+v", m)
	}
	if v := r.view("t1"); v.ClientTransactionVersion != 0 || v.LastProducerEpoch != -1 {
		t.Errorf("%+v", v)
	}
	r.wantCode(r.ends(p, false), "PRODUCER_FENCED")
	r.noMarkers = false
	r.pass(1)
	r.want(CompleteAbort, 1000, 1)
}

// The epochs of a producer id are used up: who begins gets a new one.
func TestEpochsUsedUp(t *testing.T) {
	r := newRun(t, nil)
	r.at(logged(CompleteCommit, 32765))
	p := newProducer("p1")
	r.begins(p)
	r.want(Empty, 7, 32766)
	r.noIDs = true
	r.wantCode(r.inits(p, false), "COORDINATOR_LOAD_IN_PROGRESS")
	r.noIDs = false
	old := *p
	r.began(p, r.inits(p, true))
	r.want(Empty, 1000, 0)
	if v := r.view("t1"); v.PreviousProducerID != 7 || v.LastProducerEpoch != 32766 {
		t.Errorf("%+v", v)
	}
	r.began(&old, r.inits(&old, true)) // asked again, with the producer id before and its last epoch
	r.want(Empty, 1000, 0)
	if old.ID != 1000 || old.Epoch != 0 {
		t.Errorf("asked again it gets %+v", old.Producer)
	}

	r.at(logged(Empty, 32766))
	p = newProducer("p1")
	p.ID, p.Epoch = 7, 3
	r.wantCode(r.inits(p, true), "UNKNOWN_SERVER_ERROR")
	r.begins(p)
	r.want(Empty, 1001, 0)
	if v := r.view("t1"); v.LastProducerEpoch != -1 {
		t.Errorf("a producer that begins: %+v", v)
	}

	r.at(logged(Ongoing, 32766)) // is fenced with the last epoch there is
	r.wantCode(r.inits(newProducer("p2"), false), "CONCURRENT_TRANSACTIONS")
	r.want(CompleteAbort, 7, 32767)
	r.begins(p)
	r.want(Empty, 1002, 0)

	r.at(logged(Ongoing, 32767))
	r.wantCode(r.inits(newProducer("p2"), false), "UNKNOWN_SERVER_ERROR")
	if _, due := r.c.NextDue(); due || r.view("t1").TimesOut != 0 {
		t.Error("it can time out")
	}
	p = newProducer("p1")
	p.ID, p.Epoch = 7, 32767
	r.wantCode(r.ends(p, true), "UNKNOWN_SERVER_ERROR")
	r.want(Ongoing, 7, 32767)
}
