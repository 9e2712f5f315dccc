package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
	"loglab/engine/client"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// transactional gives one partition on one broker, as many transactional producers as there are ids, then a plain one, and
// two groups of one reader each: rc reads committed records, ru all.
func transactional(ids ...string) *engine.Spec {
	spec := orders(1, 0)
	spec.Group = engine.GroupSpec{}
	spec.Producers = nil
	for _, id := range append(ids, "") {
		config := engine.DefaultProducerConfig("orders")
		config.TransactionalID = id
		spec.Producers = append(spec.Producers, engine.ProducerSpec{Config: config})
	}
	for _, id := range []string{"rc", "ru"} {
		config := engine.DefaultConsumerConfig("orders")
		config.Group = engine.DefaultGroupConfig(id)
		config.Group.AutoCommit, config.Group.App.Commit = false, engine.CommitNever
		if id == "rc" {
			config.IsolationLevel = client.ReadCommitted
		}
		spec.Groups = append(spec.Groups, engine.ConsumerGroupSpec{ID: id, Members: []engine.MemberSpec{{Config: config}}})
	}
	return spec
}

// logged decodes a partition: "offset:value" for each record, "offset:COMMIT" or "offset:ABORT" for a marker.
func logged(t *testing.T, segments []storage.Segment) (list []string) {
	t.Helper()
	batchesOf(t, segments, func(b record.Batch, r record.Record) {
		text := string(r.Value)
		if b.Attributes.Control() {
			control, err := record.DecodeControl(r)
			if err != nil {
				t.Fatal(err)
			}
			text = control.Type.String()
		}
		list = append(list, fmt.Sprintf("%d:%s", r.Offset, text))
	})
	return list
}

// valuesOf gives the values of the records that the group's poll has returned.
func valuesOf(t *testing.T, c *engine.Cluster, group string) (list []string) {
	t.Helper()
	log := logged(t, c.View().Partitions[0].Log.Segments)
	for _, offset := range fate(t, c, group, "orders-0", arrived) {
		_, value, _ := strings.Cut(log[offset], ":")
		list = append(list, value)
	}
	return list
}

// ends are the offsets at which the partition ends, for one reader or another.
type ends struct{ LEO, HW, LSO kafka.Offset }

func endsOf(c *engine.Cluster) ends {
	r := c.View().Partitions[0].Replicas[0]
	return ends{r.LogEndOffset, r.HighWatermark, r.LastStableOffset}
}

// reads compares what the partition holds, where it ends, and what both readers were given.
func reads(t *testing.T, c *engine.Cluster, when string, log []string, at ends, rc, ru []string) {
	t.Helper()
	for _, compared := range []struct {
		what      string
		want, got any
	}{
		{"log", log, logged(t, c.View().Partitions[0].Log.Segments)},
		{"ends", at, endsOf(c)},
		{"read_committed reads", rc, valuesOf(t, c, "rc")},
		{"read_uncommitted reads", ru, valuesOf(t, c, "ru")},
	} {
		if diff := cmp.Diff(compared.want, compared.got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", when, compared.what, diff)
		}
	}
}

// TXN-01: a reader of committed records waits behind the open transaction of another producer, also for plain records and
// for transactions that are over.
func TestTXN01(t *testing.T) {
	c := start(t, transactional("one", "two", "three"))
	give(t, c, "produce p3 - x0", "wait 1s", "begin-transaction p0", "produce p0 - a1", "wait 1s", "produce p3 - x1", "wait 1s",
		"begin-transaction p1", "produce p1 - b1", "produce p1 - b2", "wait 1s", "commit-transaction p1", "wait 1s",
		"begin-transaction p2", "produce p2 - c1", "wait 1s", "abort-transaction p2", "wait 2s")
	log := []string{"0:x0", "1:a1", "2:x1", "3:b1", "4:b2", "5:COMMIT", "6:c1", "7:ABORT"}
	all := []string{"x0", "a1", "x1", "b1", "b2", "c1"}
	reads(t, c, "while the transaction is open", log, ends{8, 8, 1}, []string{"x0"}, all)
	give(t, c, "abort-transaction p0", "wait 2s")
	reads(t, c, "after its abort", append(log, "8:ABORT"), ends{9, 9, 9}, []string{"x0", "x1", "b1", "b2"}, all)
	var aborted []storage.AbortedTransaction
	for _, s := range c.View().Partitions[0].Log.Segments {
		list, err := storage.ParseTransactionIndex(s.TransactionIndex)
		if err != nil {
			t.Fatal(err)
		}
		aborted = append(aborted, list...)
	}
	ids := map[kafka.NodeID]kafka.ProducerID{}
	for _, p := range c.View().Producers {
		ids[p.ID] = p.Producer.ProducerID
	}
	want := []storage.AbortedTransaction{
		{ProducerID: ids["p2"], FirstOffset: 6, LastOffset: 7, LastStableOffset: 1},
		{ProducerID: ids["p0"], FirstOffset: 1, LastOffset: 8, LastStableOffset: 9},
	}
	if diff := cmp.Diff(want, aborted); diff != "" {
		t.Errorf(".txnindex (-want +got):\n%s", diff)
	}
}

// TXN-01: how far a reader of committed records is behind, it counts from the last stable offset, not from the high
// watermark.
func TestTXN01Lag(t *testing.T) {
	c := start(t, transactional("one"))
	give(t, c, "produce p1 - x0", "wait 1s", "begin-transaction p0", "produce p0 - a1", "wait 1s", "produce p1 - x1", "wait 2s")
	for _, g := range c.View().Groups {
		if lag := g.Offsets[0].RecordsLag; lag != 0 || g.Offsets[0].HighWatermark != 3 {
			t.Errorf("%s: records-lag %d at %+v, want 0: it has all that it may read", g.ID, lag, g.Offsets[0])
		}
	}
}

// TXN-03: a second producer with the same transactional.id fences the first, whose transaction is aborted. The case gives
// P2 epoch 1; that holds where no transaction is open. Over an open one the coordinator takes an epoch for the abort, and
// P2's second InitProducerId another: it has 2.
func TestTXN03(t *testing.T) {
	c := start(t, transactional("tx-1", "tx-1"))
	give(t, c, "kill p0", "kill p1", "start p0", "wait 1s")
	epoch := producerOf(c, "p0").ProducerEpoch
	give(t, c, "begin-transaction p0", "produce p0 - a", "wait 1s")
	reads(t, c, "P1 has written", []string{"0:a"}, ends{1, 1, 0}, nil, []string{"a"})
	give(t, c, "pause p0", "start p1", "wait 2s")
	log := []string{"0:a", "1:ABORT"}
	reads(t, c, "P2 has begun", log, ends{2, 2, 2}, nil, []string{"a"})
	if got := producerOf(c, "p1").ProducerEpoch; got != epoch+2 {
		t.Errorf("P2 has epoch %d, P1 had %d", got, epoch)
	}
	give(t, c, "resume p0", "produce p0 - late", "wait 1s")
	refused := last[journal.ProduceRefused](t, c, "b1")
	if refused.Error != "INVALID_PRODUCER_EPOCH" {
		t.Errorf("the write of the zombie is answered %s", refused.Error)
	}
	give(t, c, "begin-transaction p1", "produce p1 - new", "commit-transaction p1", "wait 2s")
	reads(t, c, "P2 has committed", append(log, "2:new", "3:COMMIT"), ends{4, 4, 4}, []string{"new"}, []string{"a", "new"})
}

// TXN-03: what the zombie is told when it only ends its transaction.
func TestTXN03Commit(t *testing.T) {
	for version, want := range map[int]string{1: "PRODUCER_FENCED", 2: "PRODUCER_FENCED"} {
		spec := transactional("tx-1", "tx-1")
		for i := range 2 {
			spec.Producers[i].Config.TransactionVersion = version
		}
		c := start(t, spec)
		give(t, c, "kill p0", "kill p1", "start p0", "wait 1s", "begin-transaction p0", "produce p0 - a", "wait 1s", "pause p0", "start p1", "wait 2s",
			"resume p0", "commit-transaction p0", "wait 1s")
		if refused := last[journal.TransactionRequestRefused](t, c, "b1"); refused.API != "EndTxn" || refused.Error != want {
			t.Errorf("transactions of version %d: %s is answered %s, want %s", version, refused.API, refused.Error, want)
		}
		reads(t, c, "after the commit that failed", []string{"0:a", "1:ABORT"}, ends{2, 2, 2}, nil, []string{"a"})
	}
}

func producerOf(c *engine.Cluster, node kafka.NodeID) *client.ProducerView {
	for _, p := range c.View().Producers {
		if p.ID == node {
			return p.Producer
		}
	}
	return nil
}

// TXN-04: a transaction that is open for longer than transaction.timeout.ms is aborted by the coordinator, which looks
// every 10 s, and its producer is fenced. With transactions of version 2 the late commit looks to the coordinator like one
// sent again, by its epoch, but the transaction was aborted: INVALID_TXN_STATE, not an error of fencing. It cannot go on
// either.
func TestTXN04(t *testing.T) {
	for version, want := range map[int]string{1: "PRODUCER_FENCED", 2: "INVALID_TXN_STATE"} {
		spec := transactional("tx-1")
		spec.Producers[0].Config.TransactionVersion = version
		c := start(t, spec)
		give(t, c, "begin-transaction p0", "produce p0 - a", "produce p0 - b", "produce p0 - c", "wait 59s")
		log := []string{"0:a", "1:b", "2:c"}
		all := []string{"a", "b", "c"}
		reads(t, c, "at 59 s", log, ends{3, 3, 0}, nil, all)
		give(t, c, "wait 16s")
		reads(t, c, "at 75 s", append(log, "3:ABORT"), ends{4, 4, 4}, nil, all)
		timedOut := last[journal.TransactionTimedOut](t, c, "b1")
		if timedOut.Open < 60_000 || timedOut.Open > 70_000 {
			t.Errorf("aborted after %d ms, want 60 to 70 s", timedOut.Open)
		}
		give(t, c, "commit-transaction p0", "wait 1s")
		if refused := last[journal.TransactionRequestRefused](t, c, "b1"); refused.API != "EndTxn" || refused.Error != want {
			t.Errorf("transactions of version %d: the commit is answered %+v, want %s", version, refused, want)
		}
		if p := c.View().Producers[0]; p.Alive {
			t.Errorf("transactions of version %d: the process goes on in state %s", version, p.Producer.Transaction.State)
		}
	}
}

// TXN-04, the variant: a timeout above transaction.max.timeout.ms is refused.
func TestTXN04TooLong(t *testing.T) {
	spec := transactional("tx-1")
	spec.Producers[0].Config.TransactionTimeout = 1_000_000
	spec.Producers[0].Config.DeliveryTimeout = 120_000
	c := start(t, spec)
	if refused := last[journal.TransactionRequestRefused](t, c, "b1"); refused.API != "InitProducerID" || refused.Error != "INVALID_TRANSACTION_TIMEOUT" {
		t.Errorf("answered %+v", refused)
	}
}

// OFF-15: the marker takes an offset that no application is given. Who commits the offset after the last record stays one
// behind for ever; the position is past the marker.
func TestOFF15(t *testing.T) {
	for _, test := range []struct {
		what      string
		auto      bool
		committed kafka.Offset
		lag       int64
	}{{"last+1", false, 3, 1}, {"position", true, 4, 0}} {
		spec := transactional("one")
		for i := range spec.Groups {
			g := &spec.Groups[i].Members[0].Config.Group
			if g.AutoCommit, g.App.Commit = test.auto, engine.CommitBatch; test.auto {
				g.App.Commit = engine.CommitNever
			}
		}
		c := start(t, spec)
		give(t, c, "begin-transaction p0", "produce p0 - a", "produce p0 - b", "produce p0 - c", "commit-transaction p0", "wait 12s")
		reads(t, c, test.what, []string{"0:a", "1:b", "2:c", "3:COMMIT"}, ends{4, 4, 4}, []string{"a", "b", "c"}, []string{"a", "b", "c"})
		for _, g := range c.View().Groups {
			if o := g.Offsets[0]; o.Committed != test.committed || o.Lag != test.lag {
				t.Errorf("%s, %s: committed %d, lag %d, want %d and %d", test.what, g.ID, o.Committed, o.Lag, test.committed, test.lag)
			}
		}
	}
}

// OFF-15: with one record a transaction, offsets go up by two.
func TestOFF15OneRecordEach(t *testing.T) {
	c := start(t, transactional("one"))
	var log []string
	var all []string
	for i := range 5 {
		give(t, c, "begin-transaction p0", fmt.Sprintf("produce p0 - r%d", i), "commit-transaction p0", "wait 2s")
		log = append(log, fmt.Sprintf("%d:r%d", 2*i, i), fmt.Sprintf("%d:COMMIT", 2*i+1))
		all = append(all, fmt.Sprintf("r%d", i))
	}
	reads(t, c, "five transactions", log, ends{10, 10, 10}, all, all)
}

// processing gives an application that reads "in" and writes "out" in transactions with its offsets, and calls something
// outside for each record; rc and ru read "out".
func processing(id string) *engine.Spec {
	spec := transactional()
	spec.Topic.Name = "in"
	spec.Producers[0].Config.Topic = "in"
	out := spec.Topic
	out.Name = "out"
	spec.Topics = []engine.TopicSpec{out}
	for i := range spec.Groups {
		spec.Groups[i].Members[0].Config.Topics = []string{"out"}
	}
	config := engine.DefaultConsumerConfig("in")
	config.IsolationLevel = client.ReadCommitted
	config.Group = engine.DefaultGroupConfig("app")
	config.Group.AutoCommit = false
	config.Group.App.Transform = &engine.Transform{Topic: "out", Producer: engine.DefaultProducerConfig("out")}
	config.Group.App.Transform.Producer.TransactionalID = id
	config.Group.SessionTimeout, config.Group.HeartbeatInterval = 6000, 2000
	config.Group.App.CallsOut = true
	spec.Groups = append(spec.Groups, engine.ConsumerGroupSpec{ID: "app", Sink: engine.SinkConfig{Kind: engine.SinkEmail}, Members: []engine.MemberSpec{{Config: config}}})
	return spec
}

// outputs decodes the log of "out".
func outputs(t *testing.T, c *engine.Cluster) []string {
	t.Helper()
	for _, p := range c.View().Partitions {
		if p.Topic == "out" {
			return logged(t, p.Log.Segments)
		}
	}
	return nil
}

// TXN-05: the outputs and the offsets are in the transaction, so that they count once; what the application calls outside
// for each record it calls again.
func TestTXN05(t *testing.T) {
	c := start(t, processing("app-1"))
	give(t, c, "crash app-1 after produce", "produce p0 - o0", "produce p0 - o1", "produce p0 - o2", "wait 3s", "start app-1", "wait 20s")
	want := []string{"0:o0 of in-0@0", "1:o1 of in-0@1", "2:o2 of in-0@2", "3:ABORT", "4:o0 of in-0@0", "5:o1 of in-0@1", "6:o2 of in-0@2", "7:COMMIT"}
	if diff := cmp.Diff(want, outputs(t, c)); diff != "" {
		t.Errorf("out (-want +got):\n%s", diff)
	}
	if got := fate(t, c, "rc", "out-0", arrived); !slices.Equal(got, []int{4, 5, 6}) {
		t.Errorf("read_committed reads the outputs at %v", got)
	}
	if got := fate(t, c, "ru", "out-0", arrived); len(got) != 6 {
		t.Errorf("read_uncommitted reads %d outputs, want 6", len(got))
	}
	if calls := group(t, c, "app").Sink.Effects; calls != 6 {
		t.Errorf("%d calls outside, want 6", calls)
	}
	if o := offset(t, c, "app", "in-0"); o.Committed != 3 {
		t.Errorf("committed of in: %d, want 3", o.Committed)
	}
}

// Wherever the application crashes: each record of in has one output that a reader of committed records sees, and the
// offset of in is committed with it.
func TestTXN05AtEachStep(t *testing.T) {
	for _, step := range []string{
		"after poll", "before processing in-0 @1", "after processing in-0 @1", "after produce", "after offsets", "during commit", "after commit",
	} {
		for version := 1; version <= 2; version++ {
			spec := processing("app-1")
			spec.Groups[2].Members[0].Config.Group.App.Transform.Producer.TransactionVersion = version
			c := start(t, spec)
			give(t, c, "crash app-1 "+step, "produce p0 - o0", "produce p0 - o1", "produce p0 - o2", "wait 3s")
			if member := group(t, c, "app").Members[0]; member.Alive {
				t.Errorf("%s: app-1 has not crashed", step)
			}
			give(t, c, "start app-1", "wait 20s")
			log := outputs(t, c)
			var seen []string
			for _, at := range fate(t, c, "rc", "out-0", arrived) {
				_, value, _ := strings.Cut(log[at], ":")
				seen = append(seen, value)
			}
			if diff := cmp.Diff([]string{"o0 of in-0@0", "o1 of in-0@1", "o2 of in-0@2"}, seen); diff != "" {
				t.Errorf("%s, version %d: committed outputs (-want +got):\n%s\n%v", step, version, diff, log)
			}
			if o := offset(t, c, "app", "in-0"); o.Committed != 3 {
				t.Errorf("%s, version %d: committed of in: %d, want 3", step, version, o.Committed)
			}
		}
	}
}

// The invariants hold in a run in which an application reads, processes and writes, crashes, and begins again.
func TestInvariantsOfProcessing(t *testing.T) {
	c := start(t, processing("app-1"))
	var k engine.Checker
	for _, text := range []string{
		"crash app-1 after produce", "produce p0 - o0", "produce p0 - o1", "wait 3s", "start app-1", "wait 10s", "produce p0 - o2", "wait 10s",
	} {
		give(t, c, text)
		for _, v := range c.Check(&k) {
			t.Error(v)
		}
	}
}
