package txn

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
)

// What is in the log is what the next coordinator knows, and what was decided it carries out with its own epoch.
func TestLoad(t *testing.T) {
	r := newRun(t, nil)
	r.noMarkers = true
	other := logged(Ongoing, 1)
	other.TransactionalID = "t2"
	gone := logged(CompleteCommit, 1)
	gone.TransactionalID = "t0"
	odd := logged(Ongoing, 3)
	odd.TransactionalID = "t4"
	emptied := odd.Encode()
	emptied.Value[16] = 0 // state Empty, with partitions that it does not have
	records := []coordinator.Record{
		gone.Encode(), {Key: []byte{0, 1, 0, 1, 'x'}, Value: []byte{1}}, logged(Ongoing, 3).Encode(), other.Encode(), {Key: []byte{0}}, tombstone("t0"),
		{Key: encodeKey("t3"), Value: []byte{0, 9}}, logged(PrepareCommit, 4).Encode(), emptied,
	}
	r.c = New(r.config)
	e := r.c.Load(500, inLog(records...), 9, 0, &r.j)
	if len(e.Writes)+len(e.Answers) > 0 || len(e.Markers) != 1 {
		t.Fatalf("%+v", e)
	}
	if m := e.Markers[0]; m.TransactionalID != "t1" || m.CoordinatorEpoch != 9 || m.ProducerEpoch != 4 || m.Type.String() != "COMMIT" || !slices.Equal(m.Partitions, orders(0, 1)) {
		t.Errorf("%+v", m)
	}
	views := r.c.View()
	if len(views) != 3 || views[0].PendingState != CompleteCommit || views[1].State != Ongoing || views[1].PendingState != "" || views[2].State != Empty || views[2].Partitions != nil {
		t.Errorf("%+v", views)
	}
	if views[1].TimesOut != 60_500 {
		t.Errorf("an open transaction times out at %d", views[1].TimesOut)
	}
	if got := events[journal.TransactionsLoaded](r); got[1] != (journal.TransactionsLoaded{Records: 9, TransactionalIDs: 3, Ongoing: 1, Ending: 1, CoordinatorEpoch: 9}) {
		t.Errorf("%+v", got)
	}
	for _, foreign := range []coordinator.Effects{
		r.c.MarkersWritten(500, "t1", coordinator.Producer{ID: 7, Epoch: 3}, orders(0, 1), 0, &r.j), r.c.MarkersWritten(500, "t2", coordinator.Producer{ID: 7, Epoch: 1}, orders(0, 1), 0, &r.j),
		r.c.MarkersWritten(500, "t9", coordinator.Producer{ID: 7, Epoch: 1}, orders(0, 1), 0, &r.j), r.c.MarkersWritten(500, "t1", coordinator.Producer{ID: 7, Epoch: 4}, orders(5), 0, &r.j),
	} {
		if len(foreign.Writes) > 0 {
			t.Errorf("news of other markers: %+v", foreign)
		}
	}
	marker := coordinator.Producer{ID: 7, Epoch: 4}
	if e := r.c.MarkersWritten(600, "t1", marker, orders(1), 0, &r.j); len(e.Writes) > 0 {
		t.Errorf("complete before its last marker: %+v", e)
	}
	if v := r.c.View()[0]; !slices.Equal(v.Partitions, orders(0)) {
		t.Errorf("%+v", v)
	}
	e = r.c.MarkersWritten(700, "t1", marker, orders(0, 1), 0, &r.j)
	if len(e.Writes) != 1 {
		t.Fatalf("%+v", e)
	}
	v, err := DecodeValue("t1", e.Writes[0].Records[0].Value)
	want := logged(CompleteCommit, 4)
	want.LastUpdate = wallStart + 500 // when the end became known, not when the markers were
	if diff := cmp.Diff(want, v); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if e := r.c.MarkersWritten(700, "t1", marker, orders(0, 1), 0, &r.j); len(e.Writes) > 0 {
		t.Errorf("told twice: %+v", e)
	}
	r.c.Written(800, e.Writes[0].ID, nil, 0, &r.j)
	if v := r.c.View()[0]; v.State != CompleteCommit || v.ProducerEpoch != 4 {
		t.Errorf("%+v", v)
	}
}

// A transaction whose end was decided and that has no partitions is complete at once.
func TestLoadOfEmptyAbort(t *testing.T) {
	r := newRun(t, nil)
	v := logged(PrepareAbort, 1)
	v.Partitions = nil
	r.at(v)
	r.want(CompleteAbort, 7, 1)
}

// After every record that is written, another coordinator that takes over brings the transaction to the same end.
func TestFailoverAfterEachRecord(t *testing.T) {
	const records = 5 // Empty, Ongoing twice, Prepare…, Complete…
	for _, commit := range []bool{true, false} {
		for _, old := range []bool{true, false} {
			for n := 1; n <= records; n++ {
				r := newRun(t, nil)
				p := newProducer("p1")
				p.old = old
				steps := []func(){
					func() { r.begins(p) }, func() { r.adds(p, 0) }, func() { r.adds(p, 1) }, func() { r.noMarkers = true; r.ended(p, r.ends(p, commit)) },
					func() { r.noMarkers = false; r.pass(1) },
				}
				for i, step := range steps {
					step()
					if i+1 == n {
						before := r.view("t1")
						r.failOver()
						r.noMarkers = n == 4
						after := r.view("t1")
						ignored := cmpopts.IgnoreFields(TransactionView{}, "LastProducerEpoch", "PreviousProducerID", "TimesOut")
						if diff := cmp.Diff(before, after, ignored, cmpopts.EquateEmpty()); diff != "" {
							t.Errorf("after record %d (-before +after):\n%s", n, diff)
						}
					}
				}
				_, want, _ := results(commit)
				if v := r.view("t1"); v.State != want || len(r.log) != records {
					t.Errorf("commit %t, old client %t, fail-over after record %d: %+v, %d records", commit, old, n, v, len(r.log))
				}
				if !old {
					r.wantCode(r.ends(&producer{node: "p1", id: "t1", Producer: coordinator.Producer{ID: 1000, Epoch: 0}}, commit), "ok") // asked again
				}
			}
		}
	}
}
