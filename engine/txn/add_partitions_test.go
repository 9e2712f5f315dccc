package txn

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// Leaders ask before they take the first write of a transaction of an older client.
func TestVerify(t *testing.T) {
	r := newRun(t, nil)
	r.noMarkers = true
	p := oldProducer("p1")
	r.wantCode(r.verifies(p, 0), "INVALID_PRODUCER_ID_MAPPING")
	r.begins(p)
	r.wantCode(r.verifies(p, 0), "TRANSACTION_ABORTABLE")
	r.adds(p, 0)
	m := r.verifies(p, 0, 1)
	r.wantCode(m, "ok")
	if got := r.answers[m].(*kmsg.AddPartitionsToTxnResponse).Transactions[0].Topics[0].Partitions; errorName(got[1].ErrorCode) != "TRANSACTION_ABORTABLE" || got[1].Partition != 1 {
		t.Errorf("%+v", got)
	}
	r.want(Ongoing, 1000, 0)
	other := *p
	other.Epoch = 1
	r.wantCode(r.verifies(&other, 0), "PRODUCER_FENCED")
	other.ID = 999
	r.wantCode(r.verifies(&other, 0), "INVALID_PRODUCER_ID_MAPPING")
	other.id = ""
	r.wantCode(r.verifies(&other, 0), "INVALID_REQUEST")
	r.ended(p, r.ends(p, true))
	r.wantCode(r.verifies(p, 0), "CONCURRENT_TRANSACTIONS")
}

// A change that is pending does not keep a leader from asking.
func TestVerifyWhilePending(t *testing.T) {
	r := newRun(t, nil)
	p := oldProducer("p1")
	r.begins(p)
	r.adds(p, 0)
	r.delay = 10
	m := r.adds(p, 1)
	r.wantCode(r.verifies(p, 0), "ok")
	r.wantCode(r.verifies(p, 1), "TRANSACTION_ABORTABLE")
	r.wantCode(r.adds(p, 0), "CONCURRENT_TRANSACTIONS")
	r.wantCode(m, "waits")
	r.pass(10)
	r.wantCode(m, "ok")
	r.wantCode(r.verifies(p, 1), "ok")
}

// A broker's request of several transactions is answered when all of them are dealt with, each by itself.
func TestSeveralTransactions(t *testing.T) {
	r := newRun(t, nil)
	one, two, three := newProducer("p1"), newProducer("p2"), newProducer("p3")
	two.id, three.id = "t2", "t3"
	r.begins(one)
	r.begins(two)
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	q.Version = 4
	third := three.adding(5, 6)
	q.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{one.adding(0), third, two.adding(1, 2)}
	r.delay = 10
	m := r.send("b2", q)
	r.wantCode(m, "waits")
	r.pass(10)
	a := r.answers[m].(*kmsg.AddPartitionsToTxnResponse)
	var got []string
	for _, tx := range a.Transactions {
		for _, topic := range tx.Topics {
			for _, p := range topic.Partitions {
				got = append(got, tx.TransactionalID+" "+errorName(p.ErrorCode))
			}
		}
	}
	if want := []string{"t1 ok", "t3 INVALID_PRODUCER_ID_MAPPING", "t3 INVALID_PRODUCER_ID_MAPPING", "t2 ok", "t2 ok"}; !slices.Equal(got, want) || a.ErrorCode != 0 {
		t.Errorf("answered with %v, want %v", got, want)
	}
	empty := kmsg.NewPtrAddPartitionsToTxnRequest()
	empty.Version = 5
	if m := r.send("b2", empty); r.answers[m] == nil {
		t.Error("a request of no transactions is not answered")
	}
	if len(r.c.additions) != 0 {
		t.Errorf("left: %+v", r.c.additions)
	}
}

// Nothing is added if one of the partitions does not exist.
func TestUnknownPartitions(t *testing.T) {
	r := newRun(t, nil)
	r.c.Publish(&metadata.Image{Topics: []metadata.Topic{{Name: "orders", Partitions: make([]metadata.Partition, 2)}}})
	for _, p := range []*producer{oldProducer("p1"), newProducer("p2")} {
		r.begins(p)
		m := r.adds(p, 1, 2)
		var codes []string
		switch a := r.answers[m].(*kmsg.AddPartitionsToTxnResponse); {
		case p.old:
			for _, x := range a.Topics[0].Partitions {
				codes = append(codes, errorName(x.ErrorCode))
			}
		default:
			for _, x := range a.Transactions[0].Topics[0].Partitions {
				codes = append(codes, errorName(x.ErrorCode))
			}
		}
		if want := []string{"OPERATION_NOT_ATTEMPTED", "UNKNOWN_TOPIC_OR_PARTITION"}; !slices.Equal(codes, want) {
			t.Errorf("%s: %v", p.node, codes)
		}
		if v := r.view("t1"); v.State != Empty {
			t.Errorf("%+v", v)
		}
		r.wantCode(r.adds(p, 0, 1), "ok")
		r.ended(p, r.ends(p, false))
	}
	p := oldProducer("p3")
	r.begins(p)
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch = 3, p.id, int64(p.ID), int16(p.Epoch)
	q.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: kafka.OffsetsTopic, Partitions: []int32{0}}}
	r.wantCode(r.send("p3", q), "TOPIC_AUTHORIZATION_FAILED")
	r.wantCode(r.addsOffsets(p, "g"), "ok")
}

func TestAddRefused(t *testing.T) {
	r := newRun(t, nil)
	p := newProducer("p1")
	r.wantCode(r.adds(p, 0), "INVALID_PRODUCER_ID_MAPPING")
	r.wantCode(r.addsOffsets(p, "g"), "INVALID_PRODUCER_ID_MAPPING")
	r.begins(p)
	other := *p
	other.Epoch = 1
	r.wantCode(r.adds(&other, 0), "PRODUCER_FENCED")
	r.wantCode(r.addsOffsets(&other, "g"), "PRODUCER_FENCED")
	other.ID = 999
	r.wantCode(r.adds(&other, 0), "INVALID_PRODUCER_ID_MAPPING")
	other.id = ""
	r.wantCode(r.adds(&other, 0), "INVALID_REQUEST")
	r.wantCode(r.addsOffsets(&other, "g"), "INVALID_REQUEST")
	r.delay = 10
	m := r.adds(p, 0)
	other = *p
	other.ID = 999
	r.wantCode(r.adds(&other, 1), "CONCURRENT_TRANSACTIONS") // what is pending is looked at first
	r.wantCode(r.ends(p, true), "CONCURRENT_TRANSACTIONS")
	r.wantCode(m, "waits")
	r.pass(10)
	r.wantCode(m, "ok")
	got := events[journal.PartitionsAddedToTransaction](r)
	if len(got) != 1 || !got[0].Begins || !got[0].ByBroker || got[0].From != "Empty" || !slices.Equal(got[0].Added, orders(0)) {
		t.Errorf("%+v", got)
	}
}
