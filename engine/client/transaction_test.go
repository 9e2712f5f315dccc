package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
)

// Version 2, message by message: no partition or offset is announced, and EndTxn brings the next epoch.
func TestTransactionsOfVersion2(t *testing.T) {
	f := newTxnFake(t, transactional(2), Workload{})
	f.is(Uninitialized, "")
	f.run(hop)
	f.is(Initializing, "")
	f.run(200)
	f.said("FindCoordinator v6 →b1 1 tx-1", "InitProducerID v5 →b2 tx-1 timeout=60000 id=-1 epoch=-1")
	f.is(TransactionsIdle, "")

	f.begin()
	f.produce(0, "a", "b")
	f.produce(1, "c")
	f.run(5 * hop)
	f.said() // linger.ms
	f.is(InTransaction, "")
	f.commit()
	f.run(5 * hop)
	f.said("Produce v13 →b1 tx-1 0: 4000/0 seq=0 a b; 1: 4000/0 seq=0 c", "EndTxn v5 →b2 tx-1 4000/0 commit=true")
	f.is(TransactionsIdle, "")
	if v := f.producer.View(); v.ProducerEpoch != 1 || v.Partitions[0].NextSequence != 0 || v.Transaction.Committed != 1 || v.Transaction.Partitions != nil {
		t.Errorf("after the commit: %+v", v)
	}

	f.begin()
	f.produce(0, "d")
	f.run(1000 + 5*hop) // linger.ms is over
	f.said("Produce v13 →b1 tx-1 0: 4000/1 seq=0 d")
	f.producer.sendOffsets(offsetsOf(3, 5), groupMetadata{group: "g", member: "m-1", generation: 7}, 0, &f.journal)
	f.send(f.producer.goOn(f.now, &f.out, &f.journal))
	f.run(200)
	f.said("FindCoordinator v6 →b1 0 g", "TxnOffsetCommit v5 →b2 tx-1 4000/1 g m-1 gen=7 in-0→3 in-1→5")
	f.produce(0, "e")
	f.abort()
	f.run(5 * hop)
	f.said("EndTxn v5 →b2 tx-1 4000/1 commit=false")
	f.ends("a@0 b@1 c@0 d@2 e!TransactionAbortedException")
	if v := f.producer.View(); v.ProducerEpoch != 2 || v.Transaction.Aborted != 1 {
		t.Errorf("after the abort: %+v", v)
	}

	// A transaction with nothing in it is no business of the coordinator.
	f.begin()
	f.commit()
	f.run(5 * hop)
	f.said()
	f.is(TransactionsIdle, "")
	var ends []string
	for _, e := range f.out.Source.Transactions().From(0) {
		ends = append(ends, fmt.Sprintf("%d %t", e.Number, e.Committed))
	}
	if got := strings.Join(ends, ", "); got != "1 true, 2 false, 3 true" {
		t.Errorf("ends %s", got)
	}
	if h := f.out.Source.Handed().At(3); h.Transaction != 2 {
		t.Errorf("record d is in transaction %d", h.Transaction)
	}
}

// Version 1, message by message: partitions and offsets are added before they are written to, and the epoch stays.
func TestTransactionsOfVersion1(t *testing.T) {
	f := newTxnFake(t, transactional(1), Workload{})
	f.ready()
	f.begin()
	f.produce(0, "a")
	f.run(3 * hop)
	f.said("AddPartitionsToTxn v3 →b2 tx-1 4000/0 orders-0") // it waits for no linger.ms
	f.produce(0, "b")
	f.produce(1, "c")
	f.commit()
	f.run(10 * hop)
	f.said("AddPartitionsToTxn v3 →b2 tx-1 4000/0 orders-1",
		"Produce v11 →b1 tx-1 0: 4000/0 seq=0 a b; 1: 4000/0 seq=0 c", "EndTxn v4 →b2 tx-1 4000/0 commit=true")
	if v := f.producer.View(); v.ProducerEpoch != 0 || v.Partitions[0].NextSequence != 2 {
		t.Errorf("after the commit: %+v", v)
	}

	f.begin()
	f.producer.sendOffsets(offsetsOf(3), groupMetadata{group: "g", member: "m-1", generation: 7}, 0, &f.journal)
	f.send(f.producer.goOn(f.now, &f.out, &f.journal))
	f.produce(0, "d")
	f.run(250)
	f.commit()
	f.run(5 * hop)
	f.said("AddOffsetsToTxn v4 →b2 tx-1 4000/0 g", "FindCoordinator v6 →b1 0 g",
		"AddPartitionsToTxn v3 →b2 tx-1 4000/0 orders-0", "TxnOffsetCommit v4 →b2 tx-1 4000/0 g m-1 gen=7 in-0→3",
		"Produce v11 →b1 tx-1 0: 4000/0 seq=2 d", "EndTxn v4 →b2 tx-1 4000/0 commit=true")

	// An abort takes partitions back that were not announced yet, and what was never sent.
	f.begin()
	f.produce(1, "e")
	f.abort()
	f.run(10 * hop)
	f.ends("a@0 b@1 c@0 d@2 e!TransactionAbortedException")
	f.said("AddPartitionsToTxn v3 →b2 tx-1 4000/0 orders-1", "EndTxn v4 →b2 tx-1 4000/0 commit=false")
}

// An abort waits for what is in flight, and for what is to be sent again, before EndTxn.
func TestAbortWaitsForWhatIsInFlight(t *testing.T) {
	f := newTxnFake(t, transactional(2), Workload{})
	f.ready()
	f.refuse = nth("Produce", 1, kerr.NotEnoughReplicas)
	f.begin()
	f.produce(0, "a")
	f.run(1000 + hop/2)
	f.abort()
	f.run(10 * hop)
	f.said("Produce v13 →b1 tx-1 0: 4000/0 seq=0 a")
	f.is(AbortingTransaction, "")
	f.run(100)
	f.said("Produce v13 →b1 tx-1 0: 4000/0 seq=0 a", "EndTxn v5 →b2 tx-1 4000/0 commit=false")
	f.ends("a@0")
	f.is(TransactionsIdle, "")
}

// What each error means, by the request that it answers. The n-th request of the API is refused once.
func TestErrorsOfTransactions(t *testing.T) {
	for _, test := range []struct {
		name    string
		version int
		api     string
		error   *kerr.Error
		state   TransactionState
		failure string
		asked   string // the API's requests, and others that the error brought, in order
	}{
		{"another coordinator", 2, "EndTxn", kerr.NotCoordinator, TransactionsIdle, "", "FindCoordinator InitProducerID Produce EndTxn FindCoordinator EndTxn"},
		{"no coordinator for now", 2, "InitProducerID", kerr.CoordinatorNotAvailable, TransactionsIdle, "", "FindCoordinator InitProducerID FindCoordinator InitProducerID Produce EndTxn"},
		{"FindCoordinator passes", 2, "FindCoordinator", kerr.CoordinatorNotAvailable, TransactionsIdle, "", "FindCoordinator FindCoordinator InitProducerID Produce EndTxn"},
		{"the transaction before is not over", 2, "InitProducerID", kerr.ConcurrentTransactions, TransactionsIdle, "", "FindCoordinator InitProducerID InitProducerID Produce EndTxn"},
		{"the coordinator loads", 2, "EndTxn", kerr.CoordinatorLoadInProgress, TransactionsIdle, "", "FindCoordinator InitProducerID Produce EndTxn EndTxn"},
		{"timeout above the maximum", 2, "InitProducerID", kerr.InvalidTransactionTimeout, FatalError, "INVALID_TRANSACTION_TIMEOUT", "FindCoordinator InitProducerID"},
		{"fenced at EndTxn", 2, "EndTxn", kerr.ProducerFenced, FatalError, "PRODUCER_FENCED", "FindCoordinator InitProducerID Produce EndTxn"},
		{"an old epoch at EndTxn", 2, "EndTxn", kerr.InvalidProducerEpoch, FatalError, "PRODUCER_FENCED", "FindCoordinator InitProducerID Produce EndTxn"},
		{"no transaction at EndTxn", 2, "EndTxn", kerr.InvalidTxnState, FatalError, "INVALID_TXN_STATE", "FindCoordinator InitProducerID Produce EndTxn"},
		{"another producer id at EndTxn", 2, "EndTxn", kerr.InvalidProducerIDMapping, FatalError, "INVALID_PRODUCER_ID_MAPPING", "FindCoordinator InitProducerID Produce EndTxn"},
		{"abortable at EndTxn", 2, "EndTxn", kerr.TransactionAbortable, AbortableError, "TRANSACTION_ABORTABLE", "FindCoordinator InitProducerID Produce EndTxn"},
		{"an old epoch at Produce", 2, "Produce", kerr.InvalidProducerEpoch, AbortableError, "INVALID_PRODUCER_EPOCH", "FindCoordinator InitProducerID Produce"},
		{"no transaction at Produce", 2, "Produce", kerr.InvalidTxnState, AbortableError, "INVALID_TXN_STATE", "FindCoordinator InitProducerID Produce"},
		{"a gap at Produce", 2, "Produce", kerr.OutOfOrderSequenceNumber, AbortableError, "OUT_OF_ORDER_SEQUENCE_NUMBER", "FindCoordinator InitProducerID Produce"},
		{"another producer id at Produce", 2, "Produce", kerr.InvalidProducerIDMapping, FatalError, "INVALID_PRODUCER_ID_MAPPING", "FindCoordinator InitProducerID Produce"},
		{"the broker could not register the partition", 2, "Produce", kerr.ConcurrentTransactions, TransactionsIdle, "", "FindCoordinator InitProducerID Produce Produce EndTxn"},
		{"fenced at AddPartitionsToTxn", 1, "AddPartitionsToTxn", kerr.InvalidProducerEpoch, FatalError, "PRODUCER_FENCED", "FindCoordinator InitProducerID AddPartitionsToTxn"},
		{"no transaction at AddPartitionsToTxn", 1, "AddPartitionsToTxn", kerr.InvalidTxnState, FatalError, "INVALID_TXN_STATE", "FindCoordinator InitProducerID AddPartitionsToTxn"},
		{"an odd error at AddPartitionsToTxn", 1, "AddPartitionsToTxn", kerr.InvalidTopicException, AbortableError, "INVALID_TOPIC_EXCEPTION", "FindCoordinator InitProducerID AddPartitionsToTxn"},
		{"the transaction before at AddPartitionsToTxn", 1, "AddPartitionsToTxn", kerr.ConcurrentTransactions, TransactionsIdle, "", "FindCoordinator InitProducerID AddPartitionsToTxn AddPartitionsToTxn Produce EndTxn"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newTxnFake(t, transactional(test.version), Workload{})
			f.refuse = nth(test.api, 1, test.error)
			f.run(700)
			if f.producer.Alive() {
				f.begin()
				f.produce(0, "a")
				f.run(1200)
				if s := f.producer.txn.state; s == InTransaction {
					f.commit()
				}
				f.run(700)
			}
			f.is(test.state, test.failure)
			var apis []string
			for _, line := range f.asked {
				apis = append(apis, strings.Fields(line)[0])
			}
			if got := strings.Join(apis, " "); got != test.asked {
				t.Errorf("asked %s\n want %s\n%s", got, test.asked, f.told())
			}
			if alive := test.state != FatalError; f.producer.Alive() != alive || (f.producer.Ended() != 0) == alive {
				t.Errorf("alive: %t, and Ended says otherwise\n%s", f.producer.Alive(), f.told())
			}
		})
	}
}

// The first AddPartitionsToTxn of a transaction is sent again after 20 ms, any other request after retry.backoff.ms.
func TestWaitAfterConcurrentTransactions(t *testing.T) {
	f := newTxnFake(t, transactional(1), Workload{})
	f.ready()
	f.refuse = func(api string, n int) int16 {
		if api == "AddPartitionsToTxn" && (n == 1 || n == 3) {
			return kerr.ConcurrentTransactions.Code
		}
		return 0
	}
	f.begin()
	f.produce(0, "a")
	f.run(10 * hop)
	f.produce(1, "b")
	f.run(200)
	want := []string{"tx-1 AddPartitionsToTxn CONCURRENT_TRANSACTIONS backoff=20ms", "tx-1 AddPartitionsToTxn CONCURRENT_TRANSACTIONS backoff=100ms"}
	if got := f.texts("TransactionRequestRetried"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("retried %q", got)
	}
}

// A connection that is lost makes the producer look for its coordinator and ask the same again.
func TestLostConnectionToTheCoordinator(t *testing.T) {
	f := newTxnFake(t, transactional(2), Workload{})
	f.ready()
	f.refuse = func(api string, n int) int16 {
		if api == "EndTxn" && n == 1 {
			return -1
		}
		return 0
	}
	f.begin()
	f.produce(0, "a")
	f.commit()
	f.run(400)
	f.said("Produce v13 →b1 tx-1 0: 4000/0 seq=0 a", "EndTxn v5 →b2 tx-1 4000/0 commit=true", "FindCoordinator v6 →b1 1 tx-1", "EndTxn v5 →b2 tx-1 4000/0 commit=true")
	f.is(TransactionsIdle, "")
}

// A zombie: the leader refuses its epoch, which can be aborted; EndTxn is then refused too, which is fatal. A new process
// begins with InitProducerId.
func TestFencedProducer(t *testing.T) {
	f := newTxnFake(t, transactional(2), Workload{})
	f.ready()
	f.begin()
	f.produce(0, "a")
	f.run(1100)
	f.refuse = func(api string, n int) int16 {
		switch api {
		case "Produce":
			return kerr.InvalidProducerEpoch.Code
		case "EndTxn":
			return kerr.ProducerFenced.Code
		}
		return 0
	}
	f.produce(0, "b")
	f.run(1100)
	f.is(AbortableError, "INVALID_PRODUCER_EPOCH")
	_, err := f.producer.CommitTransaction(f.now, 0, &f.out, &f.journal)
	if err == nil || !strings.Contains(err.Error(), "ABORTABLE_ERROR (INVALID_PRODUCER_EPOCH)") {
		t.Errorf("commitTransaction: %v", err)
	}
	f.abort()
	f.run(100)
	f.is(FatalError, "PRODUCER_FENCED")
	f.ends("a@0 b!INVALID_PRODUCER_EPOCH")
	if f.producer.Alive() || f.producer.Ended() == 0 || f.producer.Ended() != 0 {
		t.Error("the process goes on")
	}
	f.refuse, f.asked = nil, nil
	f.producer.Start(f.now)
	f.run(200)
	f.said("FindCoordinator v6 →b1 1 tx-1", "InitProducerID v5 →b2 tx-1 timeout=60000 id=-1 epoch=-1")
	if v := f.producer.View(); v.Transaction.State != TransactionsIdle || v.ProducerEpoch != 1 {
		t.Errorf("restarted: %+v", v)
	}
}

// Version 1 raises the epoch by InitProducerId after a transaction with an error.
func TestVersion1RaisesTheEpochAfterAnError(t *testing.T) {
	f := newTxnFake(t, transactional(1), Workload{})
	f.ready()
	f.refuse = nth("Produce", 1, kerr.OutOfOrderSequenceNumber)
	f.begin()
	f.produce(0, "a")
	f.run(1200)
	f.is(AbortableError, "OUT_OF_ORDER_SEQUENCE_NUMBER")
	f.asked = nil
	f.abort()
	f.run(hop + hop/2)
	f.is(AbortingTransaction, "")
	f.run(hop)
	f.is(Initializing, "")
	f.run(5 * hop)
	f.said("EndTxn v4 →b2 tx-1 4000/0 commit=false", "InitProducerID v5 →b2 tx-1 timeout=60000 id=4000 epoch=0")
	f.begin()
	f.produce(0, "b")
	f.commit()
	f.run(10 * hop)
	f.said("AddPartitionsToTxn v3 →b2 tx-1 4000/1 orders-0", "Produce v11 →b1 tx-1 0: 4000/1 seq=0 b", "EndTxn v4 →b2 tx-1 4000/1 commit=true")
}

// A batch whose time is over makes the transaction one that can only be aborted.
func TestExpiredBatchInATransaction(t *testing.T) {
	config := transactional(2)
	config.Linger, config.RequestTimeout, config.DeliveryTimeout = 0, 1000, 1000
	f := newTxnFake(t, config, Workload{})
	f.ready()
	f.refuse = func(api string, n int) int16 {
		if api == "Produce" {
			return kerr.NotEnoughReplicas.Code
		}
		return 0
	}
	f.begin()
	f.produce(0, "a")
	f.run(1100)
	if got := f.texts("ProducerTransactionFailed"); len(got) != 1 || got[0] != "tx-1 1 ABORTABLE_ERROR Produce REQUEST_TIMED_OUT" {
		t.Errorf("failed: %q", got)
	}
	f.is(AbortableError, unackedRecordsError) // whether it was written is not known either
	f.abort()
	f.run(100)
	f.is(TransactionsIdle, "")
	f.ends("a!REQUEST_TIMED_OUT")
}

// The workload's application: so many records a transaction, the next one when the last is over, every third aborted.
func TestWorkloadInTransactions(t *testing.T) {
	config := transactional(2)
	config.Linger = 0
	w := Workload{Entities: []string{"k"}, Rate: 2, Every: 100, TransactionRecords: 4, AbortEvery: 3}
	f := newTxnFake(t, config, w)
	f.ready()
	f.producer.StartSending(f.now)
	f.run(650)
	if got := strings.Join(f.texts("ProducerTransactionEnding"), "\n"); got != strings.Join([]string{
		"tx-1 1 commit records=4 waiting=2", "tx-1 2 commit records=4 waiting=2", "tx-1 3 abort records=4 waiting=2: the application gives up every third transaction",
	}, "\n") {
		t.Errorf("endings\n%s\n%s", got, f.told())
	}
	if _, err := f.producer.BeginTransaction(f.now, 0, &f.out, &f.journal); err == nil || !strings.Contains(err.Error(), "stop-sending p0 comes before") {
		t.Errorf("begin by hand beside a workload: %v", err)
	}
	f.producer.StopSending() // in the middle of the fourth
	f.run(1000)
	f.is(InTransaction, "")
	if v := f.producer.View().Transaction; v.Number != 4 || v.Records != 2 || v.Committed != 2 || v.Aborted != 1 {
		t.Errorf("%+v", v)
	}
	f.commit()
	f.run(100)
	f.is(TransactionsIdle, "")

	// Each hand-in a transaction of its own; it waits for the one before.
	w.TransactionRecords, w.AbortEvery, w.Every = 0, 0, 5
	f = newTxnFake(t, config, w)
	f.ready()
	f.producer.StartSending(f.now)
	f.run(100)
	for _, line := range f.texts("ProducerTransactionEnding") {
		if !strings.Contains(line, "commit records=2 waiting=2") {
			t.Error(line)
		}
	}
	if n := f.producer.View().Transaction.Number; n != 3 { // one takes 4 hops
		t.Errorf("%d transactions in 100 ms", n)
	}
}

// Producers that share a workload begin a transaction only where a record is theirs; one that is stopped hands in nothing
// more of what it owed.
func TestSharedWorkloadInTransactions(t *testing.T) {
	config := transactional(2)
	config.Linger = 0
	w := Workload{Entities: []string{"k"}, Rate: 1, Every: 100, Turns: 2}
	f := newTxnFake(t, config, w)
	f.ready()
	f.producer.StartSending(f.now)
	f.run(350) // four hand-ins, of which two are its own
	if v := f.producer.View(); v.Transaction.Number != 2 || v.Transaction.Committed != 2 || v.Produced != 2 {
		t.Errorf("%+v of %d records", v.Transaction, v.Produced)
	}

	w = Workload{Entities: []string{"k"}, Rate: 6, Every: 1000, TransactionRecords: 2}
	f = newTxnFake(t, config, w)
	f.ready()
	f.producer.StartSending(f.now)
	f.run(hop)
	f.producer.StopSending()
	f.run(500)
	f.is(TransactionsIdle, "")
	if v := f.producer.View(); v.Produced != 2 || v.Transaction.Committed != 1 {
		t.Errorf("stopped: %+v of %d records", v.Transaction, v.Produced)
	}
}

// Orders that the state forbids are refused in words, and nothing is sent.
func TestOrdersThatThrow(t *testing.T) {
	f := newTxnFake(t, transactional(2), Workload{})
	begin := func() error {
		_, err := f.producer.BeginTransaction(f.now, 0, &f.out, &f.journal)
		return err
	}
	commit := func() error {
		_, err := f.producer.CommitTransaction(f.now, 0, &f.out, &f.journal)
		return err
	}
	for _, test := range []struct {
		what string
		do   func() error
		says string
	}{
		{"before it is ready", begin, "beginTransaction of p0 throws: the producer is in state UNINITIALIZED"},
		{"nothing begun", func() error { f.ready(); return commit() }, "commitTransaction of p0 throws: the producer is in state READY"},
		{"begun twice", func() error { f.begin(); return begin() }, "beginTransaction of p0 throws: the producer is in state IN_TRANSACTION"},
		{"dead", func() error { f.producer.Kill(0, &f.out, &f.journal); return begin() }, "the process of p0 does not run"},
	} {
		if err := test.do(); err == nil || err.Error() != test.says {
			t.Errorf("%s: %v, want %s", test.what, err, test.says)
		}
	}
	plain := newFake(t, single(IdempotenceOn), 1)
	if _, err := plain.producer.AbortTransaction(0, 0, &plain.out, &plain.journal); err == nil || err.Error() != "p0 has no transactional.id" {
		t.Errorf("without transactional.id: %v", err)
	}
	if plain.producer.View().Transaction != nil {
		t.Error("a plain producer shows transactions")
	}
}

// A transactional.id needs what idempotence needs.
func TestSettingsOfTransactions(t *testing.T) {
	for _, test := range []struct {
		change func(*ProducerConfig)
		says   string
	}{
		{func(c *ProducerConfig) { c.Acks = 1 }, "needs enable.idempotence = true"},
		{func(c *ProducerConfig) { c.EnableIdempotence = IdempotenceOff }, "needs enable.idempotence = true"},
		{func(c *ProducerConfig) { c.TransactionVersion = 3 }, "transaction.version = 3"},
		{func(c *ProducerConfig) { c.TransactionTimeout = -1 }, "transaction.timeout.ms = -1"},
		{func(c *ProducerConfig) { c.TransactionTimeout, c.TransactionVersion = 0, 0 }, ""},
	} {
		c := transactional(2)
		test.change(&c)
		c, err := c.Resolve()
		if test.says == "" {
			if err != nil || c.TransactionTimeout != 60000 || c.TransactionVersion != 2 {
				t.Errorf("%v: %+v", err, c)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v, want %s", err, test.says)
		}
	}
}

// A clone in the middle of everything goes on as the original does, and neither disturbs the other.
func TestCloneOfATransactionalProducer(t *testing.T) {
	for at := kafka.Millis(0); at < 900; at += 7 {
		config := transactional(1 + int(at)%2)
		config.Linger = 20
		f := newTxnFake(t, config, Workload{Entities: []string{"k", "l"}, Rate: 3, Every: 40, TransactionRecords: 5, AbortEvery: 3})
		f.refuse = func(api string, n int) int16 {
			switch {
			case n%5 == 3:
				return kerr.ConcurrentTransactions.Code
			case api == "Produce" && n%7 == 4:
				return kerr.InvalidTxnState.Code
			}
			return 0
		}
		f.run(150)
		f.producer.StartSending(f.now)
		f.run(at)
		c := *f
		c.fake = f.fork()
		c.other, c.asked = c.answerTxn, append([]string(nil), f.asked...)
		c.counts = map[string]int{}
		for k, v := range f.counts {
			c.counts[k] = v
		}
		f.run(900 - at)
		c.run(900 - at)
		if f.told() != c.told() || strings.Join(f.asked, "\n") != strings.Join(c.asked, "\n") {
			t.Fatalf("cloned at %d: the clone ran otherwise", at)
		}
	}
}

// A sender that waits before it asks again finds no broker it can reach when it wakes: it waits on, until a connection can be
// made.
func TestWakesWithoutAnyConnection(t *testing.T) {
	f := newTxnFake(t, transactional(2), Workload{})
	f.refuse = nth("FindCoordinator", 1, kerr.CoordinatorNotAvailable)
	f.run(10 * hop)
	if got := f.texts("TransactionRequestRetried"); len(got) != 1 {
		t.Fatalf("retried %q, want once", got)
	}
	wakes, _ := f.producer.NextDue()
	f.run(wakes - 1 - f.now)
	for _, node := range []kafka.NodeID{"b1", "b2", "b3"} {
		f.send(f.producer.Disconnected(f.now, node, 0, &f.out, &f.journal))
	}
	f.run(300)
	f.is(TransactionsIdle, "")
	for _, asked := range f.asked {
		if strings.Contains(asked, "→ ") {
			t.Errorf("it sends to no broker: %s", asked)
		}
	}
}
