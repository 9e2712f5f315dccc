package txn

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
)

// A transaction of an older client: it adds partitions and offsets by itself, and its epoch stays.
func TestOldClient(t *testing.T) {
	r := newRun(t, nil)
	r.markerDelay = 50
	p := oldProducer("p1")
	r.begins(p)
	r.wantCode(r.ends(p, true), "INVALID_TXN_STATE")
	r.wantCode(r.ends(p, false), "INVALID_TXN_STATE")
	r.wantCode(r.adds(p, 1, 0), "ok")
	r.wantCode(r.adds(p, 0), "ok")
	if len(r.log) != 2 {
		t.Errorf("a partition that was added is written again: %d records", len(r.log))
	}
	r.wantCode(r.addsOffsets(p, "billing"), "ok")
	offsets := kafka.TopicPartition{Topic: kafka.OffsetsTopic, Partition: coordinator.PartitionFor("billing", 50)}
	if v := r.view("t1"); v.State != Ongoing || !slices.Equal(v.Partitions, append([]kafka.TopicPartition{offsets}, orders(0, 1)...)) || v.ClientTransactionVersion != 0 {
		t.Errorf("%+v", v)
	}
	r.ended(p, r.ends(p, true))
	r.want(PrepareCommit, 1000, 0)
	if m := r.markers[0]; m.ProducerEpoch != 0 || m.TransactionVersion != 0 || len(m.Partitions) != 3 {
		t.Errorf("markers %+v", m)
	}
	r.wantCode(r.ends(p, true), "CONCURRENT_TRANSACTIONS")
	r.pass(50)
	r.want(CompleteCommit, 1000, 0)
	again := r.ends(p, true)
	r.wantCode(again, "ok")
	if answer := r.answers[again].(*kmsg.EndTxnResponse); answer.ProducerID != -1 || answer.ProducerEpoch != -1 {
		t.Errorf("asked again it is answered with producer id %d and epoch %d, for which version 4 has no room", answer.ProducerID, answer.ProducerEpoch)
	}
	r.wantCode(r.ends(p, false), "INVALID_TXN_STATE")
	r.wantCode(r.adds(p, 3), "ok")
	r.want(Ongoing, 1000, 0)
	r.ended(p, r.ends(p, false))
	r.pass(50)
	r.want(CompleteAbort, 1000, 0)
	r.wantCode(r.ends(p, false), "ok")
	r.wantCode(r.ends(p, true), "INVALID_TXN_STATE")
	p.Epoch = 1
	r.wantCode(r.ends(p, false), "PRODUCER_FENCED")
	p.ID = 999
	r.wantCode(r.ends(p, false), "INVALID_PRODUCER_ID_MAPPING")
	p.id = "t2"
	r.wantCode(r.ends(p, false), "INVALID_PRODUCER_ID_MAPPING")
	p.id = ""
	r.wantCode(r.ends(p, false), "INVALID_REQUEST")
}

// What EndTxn of a new client does in each state, with the epoch that the transactional id has, the one before and others.
func TestEndInEachState(t *testing.T) {
	const ok, fenced, invalid, concurrent = "ok", "PRODUCER_FENCED", "INVALID_TXN_STATE", "CONCURRENT_TRANSACTIONS"
	for _, tc := range []struct {
		state  State
		epoch  kafka.ProducerEpoch // of the request; the transactional id has 4
		commit bool
		want   string
		raised bool
	}{
		{Empty, 4, false, ok, true},
		{Empty, 4, true, invalid, false},
		{Empty, 3, false, fenced, false},
		{Empty, 3, true, fenced, false},
		{Ongoing, 4, true, ok, true},
		{Ongoing, 4, false, ok, true},
		{Ongoing, 3, true, fenced, false},
		{Ongoing, 5, true, fenced, false},
		{PrepareCommit, 3, true, concurrent, false},
		{PrepareCommit, 3, false, concurrent, false},
		{PrepareAbort, 3, false, concurrent, false},
		{PrepareAbort, 4, false, concurrent, false},
		{CompleteCommit, 3, true, ok, false},
		{CompleteCommit, 3, false, invalid, false},
		{CompleteCommit, 4, true, invalid, false},
		{CompleteCommit, 4, false, ok, true},
		{CompleteCommit, 2, true, fenced, false},
		{CompleteAbort, 3, false, ok, false},
		{CompleteAbort, 3, true, invalid, false},
		{CompleteAbort, 4, true, invalid, false},
		{CompleteAbort, 4, false, ok, true},
		{CompleteAbort, 5, false, fenced, false},
	} {
		r := newRun(t, nil)
		r.noMarkers = true
		r.at(logged(tc.state, 4))
		p := newProducer("p1")
		p.ID, p.Epoch = 7, tc.epoch
		writes := len(r.log)
		m := r.ends(p, tc.commit)
		r.wantCode(m, tc.want)
		a := r.answers[m].(*kmsg.EndTxnResponse)
		want := coordinator.Producer{ID: -1, Epoch: -1}
		if tc.want == ok {
			if want = (coordinator.Producer{ID: 7, Epoch: 4}); tc.raised {
				want.Epoch = 5
			}
		}
		if a.ProducerID != int64(want.ID) || a.ProducerEpoch != int16(want.Epoch) {
			t.Errorf("%+v: answered with producer id %d, epoch %d", tc, a.ProducerID, a.ProducerEpoch)
		}
		if wrote := len(r.log) > writes; wrote != tc.raised {
			t.Errorf("%+v: something is written: %t", tc, wrote)
		}
		if v := r.view("t1"); tc.raised && v.ProducerEpoch != 5 {
			t.Errorf("%+v: %+v", tc, v)
		}
		p.ID = 8
		if r.view("t1").PendingState == "" {
			r.wantCode(r.ends(p, true), "INVALID_PRODUCER_ID_MAPPING")
		}
	}
}

// An abort of a new client where nothing was added has no marker to wait for.
func TestEmptyAbort(t *testing.T) {
	r := newRun(t, nil)
	p := newProducer("p1")
	r.begins(p)
	r.ended(p, r.ends(p, false))
	r.want(CompleteAbort, 1000, 1)
	if len(r.log) != 3 {
		t.Errorf("%d records are written", len(r.log))
	}
	if v := r.view("t1"); v.Start != wallStart || p.Epoch != 1 {
		t.Errorf("%+v", v)
	}
	r.adds(p) // a transaction of no partitions, as Kafka allows it
	r.want(Ongoing, 1000, 1)
	r.ended(p, r.ends(p, true))
	r.want(CompleteCommit, 1000, 2)
}

// When a producer id's epochs are used up, the end of its transaction gives it a new one.
func TestEndUsesUpEpochs(t *testing.T) {
	r := newRun(t, nil)
	r.noMarkers = true
	r.at(logged(Ongoing, 32766))
	p := newProducer("p1")
	p.ID, p.Epoch = 7, 32766
	r.noIDs = true
	r.wantCode(r.ends(p, true), "COORDINATOR_LOAD_IN_PROGRESS")
	r.want(Ongoing, 7, 32766)
	r.noIDs = false
	before := *p
	r.ended(p, r.ends(p, true))
	if p.ID != 1000 || p.Epoch != 0 {
		t.Errorf("EndTxn is answered with %+v", p.Producer)
	}
	r.want(PrepareCommit, 7, 32767)
	if m := r.markers[0]; m.ProducerID != 7 || m.ProducerEpoch != 32767 {
		t.Errorf("markers %+v", m)
	}
	if v := r.view("t1"); v.NextProducerID != 1000 || v.LastProducerEpoch != 32766 {
		t.Errorf("%+v", v)
	}
	r.noMarkers = false
	r.pass(1)
	r.want(CompleteCommit, 1000, 0)
	if v := r.view("t1"); v.NextProducerID != -1 || v.PreviousProducerID != 7 || v.LastProducerEpoch != 32766 {
		t.Errorf("%+v", v)
	}
	again := before
	r.ended(&again, r.ends(&again, true)) // asked again
	if again.Producer != p.Producer {
		t.Errorf("asked again it is answered with %+v", again.Producer)
	}
	r.wantCode(r.ends(&before, false), "INVALID_TXN_STATE")
	r.wantCode(r.adds(p, 0), "ok")
	r.wantCode(r.ends(&before, true), "INVALID_PRODUCER_ID_MAPPING")
}

// A coordinator that takes over between the two writes does not know the next producer id: the old one keeps its last epoch.
func TestUsedUpEpochsAndFailover(t *testing.T) {
	r := newRun(t, nil)
	r.noMarkers = true
	r.at(logged(Ongoing, 32766))
	p := newProducer("p1")
	p.ID, p.Epoch = 7, 32766
	r.ended(p, r.ends(p, true))
	r.failOver()
	r.want(PrepareCommit, 7, 32767)
	r.noMarkers = false
	r.pass(1)
	r.want(CompleteCommit, 7, 32767)
	r.wantCode(r.adds(p, 0), "INVALID_PRODUCER_ID_MAPPING")
	r.begins(p)
	r.want(Empty, 1001, 0)
}

// failOver has another coordinator read the log as far as it is written, in the next epoch.
func (r *run) failOver() {
	r.t.Helper()
	epoch := r.c.epoch
	r.perform(r.c.Resign(r.now, 0, &r.j))
	r.c = New(r.config)
	r.log, r.inFlight, r.markers = r.log[:r.durable], nil, nil
	r.perform(r.c.Load(r.now, inLog(r.log...), epoch+1, 0, &r.j))
}

// Older versions of the requests do not know PRODUCER_FENCED.
func TestOldVersions(t *testing.T) {
	r := newRun(t, nil)
	p := oldProducer("p1")
	r.begins(p)
	for version, want := range map[int16]string{0: "INVALID_PRODUCER_EPOCH", 1: "INVALID_PRODUCER_EPOCH", 2: "PRODUCER_FENCED"} {
		end := kmsg.NewPtrEndTxnRequest()
		end.Version, end.TransactionalID, end.ProducerID, end.ProducerEpoch = version, "t1", 1000, 7
		r.wantCode(r.send("p1", end), want)
		add := kmsg.NewPtrAddPartitionsToTxnRequest()
		add.Version, add.TransactionalID, add.ProducerID, add.ProducerEpoch = version, "t1", 1000, 7
		add.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "orders", Partitions: []int32{0}}}
		r.wantCode(r.send("p1", add), want)
		offsets := kmsg.NewPtrAddOffsetsToTxnRequest()
		offsets.Version, offsets.TransactionalID, offsets.ProducerID, offsets.ProducerEpoch = version, "t1", 1000, 7
		r.wantCode(r.send("p1", offsets), want)
	}
}
