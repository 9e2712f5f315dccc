//go:build judge

package judge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loglab/engine"
	"loglab/engine/client"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/storage"
	"loglab/engine/txn"
)

// txnRun is a cluster of three brokers with transactions, and the directories of all of their partitions.
type txnRun struct {
	t       *testing.T
	root    string // its directories stand below root
	name    string
	cluster *engine.Cluster
	states  map[string]map[string]bool // by transactional id: each state that its coordinator had at the end of a tick
	files   []string                   // below root
	views   map[string]engine.View     // when they were kept
	printed map[string][]string        // what Kafka's tool prints of each
}

// txnSpec gives three brokers and the topics in, out and orders. p0 and p1 are transactional, p2 has the transactional id
// of p0 and is off, p3 is a plain one and writes to in. The applications app and old read in and write to out in
// transactions. The clients of p0 and app have transactions of version 2, those of p1 and old of version 1.
func txnSpec(change func(*engine.Spec)) *engine.Spec {
	config := storage.DefaultConfig()
	config.SegmentBytes, config.IndexIntervalBytes = 1500, 200
	topic := func(name string) engine.TopicSpec {
		return engine.TopicSpec{Name: name, Partitions: 2, ReplicationFactor: 3, MinInsyncReplicas: 2, Config: config}
	}
	spec := &engine.Spec{
		TickMillis: 10, Latency: 10, Cluster: engine.DefaultCluster(3),
		Topic: topic("in"), Topics: []engine.TopicSpec{topic("out"), topic("orders")},
	}
	spec.Cluster.Transactions.AbortInterval = 1000
	for i, id := range []string{"tx-a", "tx-b", "tx-a", ""} {
		p := engine.DefaultProducerConfig("orders")
		if p.TransactionalID = id; id == "" {
			p.Topic = "in"
		} else {
			p.TransactionTimeout, p.TransactionVersion = 8000, 2-i%2
			p.DeliveryTimeout, p.RequestTimeout = 7000, 3000
		}
		spec.Producers = append(spec.Producers, engine.ProducerSpec{Config: p, Off: i == 2})
	}
	for i, id := range []string{"app", "old"} {
		c := engine.DefaultConsumerConfig("in")
		c.IsolationLevel, c.Group = client.ReadCommitted, engine.DefaultGroupConfig(id)
		g := &c.Group
		g.AutoCommit, g.SessionTimeout, g.HeartbeatInterval = false, 6000, 2000
		g.App.Transform = &engine.Transform{Topic: "out", Producer: engine.DefaultProducerConfig("out")}
		p := &g.App.Transform.Producer
		p.TransactionalID, p.TransactionVersion, p.TransactionTimeout = id+"-tx", 2-i, 8000
		p.DeliveryTimeout, p.RequestTimeout = 7000, 3000
		spec.Groups = append(spec.Groups, engine.ConsumerGroupSpec{ID: id, Members: []engine.MemberSpec{{Config: c}}})
	}
	if change != nil {
		change(spec)
	}
	return spec
}

func newTxnRun(t *testing.T, root, name string, spec *engine.Spec) *txnRun {
	t.Helper()
	c, err := engine.New(spec, *seed)
	if err != nil {
		t.Fatal(err)
	}
	return &txnRun{t: t, root: root, name: name, cluster: c, states: map[string]map[string]bool{}, views: map[string]engine.View{}}
}

// do carries out commands; after "wait" it looks at the coordinators once a tick.
func (r *txnRun) do(texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if span, is := strings.CutPrefix(text, "wait "); is {
			d, err := time.ParseDuration(span)
			if err != nil {
				r.t.Fatal(err)
			}
			for range d / (10 * time.Millisecond) {
				r.tick()
			}
			continue
		}
		cmd, err := command.Parse(text)
		if err == nil {
			err = r.cluster.Apply(cmd)
		}
		if err != nil {
			r.t.Fatalf("%s: %s: %v", r.name, text, err)
		}
	}
}

func (r *txnRun) tick() {
	if err := r.cluster.Tick(); err != nil {
		r.t.Fatalf("%s: %v", r.name, err)
	}
	for _, v := range r.cluster.View().Transactions {
		if v.Held == nil {
			continue
		}
		if r.states[v.TransactionalID] == nil {
			r.states[v.TransactionalID] = map[string]bool{}
		}
		r.states[v.TransactionalID][heldText(v.Held)] = true
	}
}

// heldText says what a coordinator has of a transactional id.
func heldText(v *txn.TransactionView) string {
	return txnStateText(string(v.State), int64(v.ProducerID), int16(v.ProducerEpoch), int32(v.Timeout), v.Partitions,
		int64(v.Start), int64(v.LastUpdate), v.ClientTransactionVersion)
}

// txnStateText says what is known of a transactional id. In a state that begins with Prepare the coordinator takes out the
// partitions that have their markers.
func txnStateText(state string, id int64, epoch int16, timeout int32, partitions []kafka.TopicPartition,
	start, updated int64, client int16) string {
	if strings.HasPrefix(state, "Prepare") {
		partitions = nil
	}
	return fmt.Sprintf("%s producer %d/%d timeout %d partitions %v start %d updated %d client %d", state, id, epoch, timeout,
		partitions, start, updated, client)
}

// keep writes all directories of all brokers.
func (r *txnRun) keep(when string) {
	v := r.cluster.View()
	r.views[when] = v
	for _, p := range append(append(v.Partitions, v.Offsets...), v.TransactionStates...) {
		for _, replica := range p.Replicas {
			dir := filepath.Join(r.name, when, fmt.Sprint("b", replica.Broker), p.TopicPartition.String())
			for _, f := range r.cluster.Files(replica.Broker, p.TopicPartition) {
				file := filepath.Join(dir, f.Name)
				writeFile(r.t, filepath.Join(r.root, file), f.Bytes)
				switch filepath.Ext(f.Name) {
				case storage.LogSuffix, storage.OffsetIndexSuffix, storage.TimeIndexSuffix, storage.TransactionIndexSuffix,
					storage.ProducerSnapshotSuffix:
					r.files = append(r.files, file)
				}
			}
		}
	}
}

// pendingOffsets says whether a group has offsets of a transaction that is open.
func (r *txnRun) pendingOffsets() bool {
	return slices.ContainsFunc(r.cluster.View().Groups, func(g engine.GroupView) bool {
		return g.Held != nil && len(g.Held.PendingOffsets) > 0
	})
}

// txnRuns are runs with commits and aborts, crashes of applications and brokers, transactions that time out and producers
// that are fenced, some on a cluster with transaction.version 1, one with compacted topics and a cleaner. The brokers are
// up at their end, and no transaction is on its way.
func txnRuns(t *testing.T, root string) (runs []*txnRun) {
	t.Helper()
	rnd := draws(t)
	version1 := func(s *engine.Spec) {
		s.Cluster.Transactions.Version = 1
		for i := range s.Producers {
			s.Producers[i].Config.TransactionVersion = 1
		}
		s.Groups[0].Members[0].Config.Group.App.Transform.Producer.TransactionVersion = 1
	}
	for i, change := range []func(*engine.Spec){version1, nil} {
		run := newTxnRun(t, root, fmt.Sprint("stories-", i+1), txnSpec(change))
		run.do("wait 3s", "produce p3 - a", "produce p3 - b", "wait 3s", "produce p3 - c",
			"crash app-1 after produce", "crash old-1 after offsets", "wait 2s", "start app-1", "start old-1")
		for _, p := range []string{"p0", "p1"} { // an abort, then a transaction that times out
			run.do("begin-transaction "+p, "produce-to "+p+" 0 k v", "produce-to "+p+" 1 k v", "wait 500ms",
				"abort-transaction "+p, "wait 500ms", "begin-transaction "+p, "produce-to "+p+" 0 k late", "wait 11s",
				"commit-transaction "+p, "wait 500ms", "kill "+p, "start "+p, "wait 1s")
		}
		run.do("begin-transaction p0", "produce-to p0 0 k zombie", "wait 300ms", "pause p0", "start p2", "wait 2s",
			"resume p0", "produce-to p0 1 k zombie", "commit-transaction p0",
			"begin-transaction p2", "produce-to p2 1 k v", "wait 500ms")
		run.keep("open")
		run.do("produce p3 - d")
		for n := 0; !run.pendingOffsets(); n++ {
			if n > 500 {
				t.Fatalf("%s: no application commits offsets in a transaction", run.name)
			}
			run.tick()
		}
		run.keep("offsets")
		run.do("commit-transaction p2", "wait 8s")
		runs = append(runs, run)
	}
	compacted := newTxnRun(t, root, "compacted", txnSpec(func(s *engine.Spec) {
		c := &s.Topics[1].Config
		c.Compact, c.Delete, c.MinCleanableDirtyRatio = true, false, 0.01
		s.Cluster.Logs = engine.DefaultLogSettings()
		s.Cluster.Groups.OffsetsSegmentBytes = 2000
	}))
	compacted.do("wait 3s")
	for i := range 12 {
		compacted.do("produce p3 - a", "begin-transaction p0", fmt.Sprint("produce-to p0 0 k", i%3, " v"),
			fmt.Sprint("produce-to p0 1 k", i%4, " v"), "wait 400ms",
			[]string{"commit-transaction p0", "abort-transaction p0"}[i%3/2], "wait 2s")
	}
	compacted.do("wait 20s")
	runs = append(runs, compacted)
	for i := range drawnTxnRuns {
		run := newTxnRun(t, root, fmt.Sprint("drawn-", i), txnSpec([]func(*engine.Spec){nil, version1}[i%4/3]))
		drawTxnRun(run, rnd.Split(fmt.Sprint("run ", i)))
		runs = append(runs, run)
	}
	for _, run := range runs {
		run.keep("end")
	}
	return runs
}

// drawnTxnRuns is how many runs are drawn, of drawnTxnCommands commands each.
const (
	drawnTxnRuns     = 6
	drawnTxnCommands = 90
)

func drawTxnRun(r *txnRun, rnd prng.Rand) {
	r.do("wait 3s")
	one := func(texts ...string) string { return texts[rnd.IntN(len(texts))] }
	for i := range drawnTxnCommands {
		p := one("p0", "p0", "p1", "p1", "p2")
		app := one("app-1", "old-1")
		switch draw := rnd.IntN(20); {
		case draw < 4:
			r.do("begin-transaction "+p, fmt.Sprintf("produce-to %s %d k%d v%d", p, rnd.IntN(2), rnd.IntN(4), i))
		case draw < 9:
			r.do(fmt.Sprintf("produce-to %s %d k%d v%d", p, rnd.IntN(2), rnd.IntN(4), i))
		case draw < 12:
			r.do(one("commit-transaction ", "commit-transaction ", "abort-transaction ") + p)
		case draw < 15:
			r.do("produce p3 - in")
		case draw < 16:
			when := one("after poll", "after produce", "after offsets", "during commit", "after commit")
			r.do(fmt.Sprintf("crash %s %s", app, when))
		case draw < 17:
			r.do("start " + one(app, p))
		case draw < 18:
			r.do(one("kill ", "pause ", "resume ") + p)
		case draw < 19 && i%3 == 0:
			b := one("b1", "b2", "b3")
			r.do(one("kill ", "power-loss ", "shut-down ")+b, "wait "+one("300ms", "3s", "12s"), "start "+b, "wait 2s")
		}
		r.do("wait " + one("0s", "10ms", "50ms", "100ms", "400ms", "400ms", "2s"))
		if i == drawnTxnCommands/2 {
			r.keep("half")
		}
	}
	for _, node := range []string{"p0", "p1", "p2", "app-1", "old-1"} {
		r.do("resume "+node, "start "+node)
	}
	r.do("wait 30s")
}
