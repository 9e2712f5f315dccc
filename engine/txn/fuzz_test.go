package txn

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/simnet"
)

// Whatever the log says and whatever is asked, a coordinator answers each request once at most, and all of them when its
// writes are known.
func FuzzReceive(f *testing.F) {
	requests := []func() kmsg.Request{
		func() kmsg.Request { return kmsg.NewPtrInitProducerIDRequest() }, func() kmsg.Request { return kmsg.NewPtrAddPartitionsToTxnRequest() },
		func() kmsg.Request { return kmsg.NewPtrAddOffsetsToTxnRequest() }, func() kmsg.Request { return kmsg.NewPtrEndTxnRequest() },
		func() kmsg.Request { return kmsg.NewPtrDescribeTransactionsRequest() }, func() kmsg.Request { return kmsg.NewPtrListTransactionsRequest() },
	}
	seed := func(value Value, api int, request kmsg.Request) {
		f.Add(value.Encode().Value, byte(api), byte(request.GetVersion()), request.AppendTo(nil))
	}
	id := "t1"
	for _, state := range states {
		start := kmsg.NewPtrInitProducerIDRequest()
		start.Version, start.TransactionalID, start.TransactionTimeoutMillis = 5, &id, 60_000
		seed(logged(state, 4), 0, start)
		p := newProducer("p1")
		p.ID, p.Epoch = 7, 4
		add := kmsg.NewPtrAddPartitionsToTxnRequest()
		add.Version, add.Transactions = 5, []kmsg.AddPartitionsToTxnRequestTransaction{p.adding(1, 2), p.adding(3)}
		seed(logged(state, 4), 1, add)
		end := kmsg.NewPtrEndTxnRequest()
		end.Version, end.TransactionalID, end.ProducerID, end.ProducerEpoch = 5, id, 7, 4
		seed(logged(state, 4), 3, end)
		end.Version = 4
		seed(logged(state, 32766), 3, end)
	}
	list := kmsg.NewPtrListTransactionsRequest()
	list.Version, list.StateFilters = 2, []string{"Ongoing", "x"}
	seed(logged(Ongoing, 1), 5, list)
	f.Fuzz(func(t *testing.T, value []byte, api, version byte, body []byte) {
		r := newRun(t, nil)
		r.c = New(r.config)
		r.perform(r.c.Load(0, inLog(coordinator.Record{Key: encodeKey("t1"), Value: value}), 5, 0, &r.j))
		request := requests[int(api)%len(requests)]()
		request.SetVersion(int16(version) % (request.MaxVersion() + 1))
		if request.ReadFrom(body) != nil {
			return
		}
		if q, ok := request.(*kmsg.InitProducerIDRequest); ok && q.TransactionalID == nil {
			return
		}
		sent := []*simnet.Message{r.send("p1", request), r.send("p2", request)}
		r.pass(100_000)
		for _, m := range sent {
			if r.answers[m] == nil {
				t.Fatalf("%s has no answer", m.API())
			}
			r.answers[m].AppendTo(nil)
		}
	})
}
