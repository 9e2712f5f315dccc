package txn

import (
	"slices"
	"testing"

	"loglab/engine/journal"
)

// A transaction of a new client: its epoch rises with the end, EndTxn is answered before the markers, and says what the
// next transaction has.
func TestCommit(t *testing.T) {
	r := newRun(t, nil)
	r.markerDelay = 50
	p := newProducer("p1")
	r.begins(p)
	r.want(Empty, 1000, 0)
	r.wantCode(r.adds(p, 1), "ok")
	r.wantCode(r.adds(p, 0, 1), "ok")
	if v := r.view("t1"); v.State != Ongoing || !slices.Equal(v.Partitions, orders(0, 1)) || v.Start != wallStart || v.TimesOut != 70_000 {
		t.Errorf("the open transaction is %+v", v)
	}
	r.pass(100)
	end := r.ends(p, true)
	r.ended(p, end)
	r.want(PrepareCommit, 1000, 1)
	if p.ID != 1000 || p.Epoch != 1 {
		t.Errorf("EndTxn is answered with %+v", p.Producer)
	}
	if m := r.markers[0]; m.ProducerID != 1000 || m.ProducerEpoch != 1 || m.CoordinatorEpoch != 5 || m.TransactionVersion != 2 || m.Type.String() != "COMMIT" || !slices.Equal(m.Partitions, orders(0, 1)) {
		t.Errorf("the markers are %+v", m)
	}
	r.wantCode(r.adds(p, 2), "CONCURRENT_TRANSACTIONS")
	r.pass(50)
	r.want(CompleteCommit, 1000, 1)
	r.wantCode(r.adds(p, 2), "ok")
	r.want(Ongoing, 1000, 1)
	if got := events[journal.TransactionCompleted](r); len(got) != 1 || got[0].Took != 150 {
		t.Errorf("completed: %+v", got)
	}
}
