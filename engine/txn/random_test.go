package txn

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// randomRun is a coordinator among producers that crash, come back, ask again and go on although they are fenced.
type randomRun struct {
	*run
	seed      uint64
	rnd       prng.Rand
	producers []*actor
	failing   bool                              // writes fail in this run
	stalling  bool                              // writes time out in this run
	told      map[string]coordinator.Producer   // by transactional id: the newest that a producer was told; only looked up
	decided   map[string]string                 // by transactional id and producer of the marker: COMMIT or ABORT; only looked up
	missing   map[string][]kafka.TopicPartition // by transactional id: partitions without the marker that was asked for last; only looked up
	last      map[string]State                  // by transactional id: where the events are; only looked up
	looked    int                               // at so many events
	done      map[string]int                    // so often; only looked up
}

// actor is a producer's process.
type actor struct {
	*producer
	waits   *simnet.Message
	begun   bool
	writes  bool // has a transaction open, as far as it knows
	commits bool
}

func newRandomRun(t testing.TB, seed uint64) *randomRun {
	rnd := prng.New(seed).Split("random")
	r := &randomRun{
		run: newRun(t, func(c *Config) {
			c.TransactionVersion = int16([]int{2, 2, 2, 1, 0}[rnd.IntN(5)])
			c.IDExpiration = kafka.Millis(100_000 + rnd.IntN(200_000))
			c.ExpirationCheckInterval = kafka.Millis(10_000 + rnd.IntN(60_000))
			c.AbortInterval = kafka.Millis(1000 + rnd.IntN(20_000))
			c.RequestTimeout = kafka.Millis(1000 + rnd.IntN(30_000))
		}),
		seed: seed, rnd: rnd, told: map[string]coordinator.Producer{}, decided: map[string]string{}, missing: map[string][]kafka.TopicPartition{}, last: map[string]State{},
		done: map[string]int{},
	}
	r.failing, r.stalling = rnd.IntN(2) == 0, rnd.IntN(3) == 0
	r.noMarkers = true // they are written here
	for i := range 6 {
		p := newProducer(kafka.NodeID(fmt.Sprint("p", i)))
		p.id = fmt.Sprint("t", i%3)
		p.timeout = int32(2000 + rnd.IntN(60_000))
		p.old = rnd.IntN(3) == 0 || r.config.TransactionVersion < epochBump // clients go by the cluster
		r.producers = append(r.producers, &actor{producer: p})
	}
	if rnd.IntN(2) == 0 { // near the end of the epochs
		v := logged([]State{Empty, Ongoing, CompleteCommit}[rnd.IntN(3)], kafka.ProducerEpoch(32764+rnd.IntN(3)))
		v.TransactionalID = "t0"
		if r.config.TransactionVersion < epochBump {
			v.ClientTransactionVersion = 0
		}
		r.at(v)
		r.last["t0"] = v.State
	}
	return r
}

// act lets one producer do something.
func (r *randomRun) act(a *actor) {
	r.collect(a)
	if a.waits != nil {
		if r.rnd.IntN(20) == 0 {
			a.waits = nil // its time-out: it does not know what became of it
		}
		return
	}
	switch roll := r.rnd.IntN(100); {
	case roll < 3: // crash
		*a.producer = producer{node: a.node, id: a.id, timeout: a.timeout, old: a.old, Producer: coordinator.Producer{ID: noProducerID, Epoch: noEpoch}}
		*a = actor{producer: a.producer}
	case !a.begun:
		a.waits = r.inits(a.producer, false)
	case roll < 6 && a.ID >= 0:
		a.waits = r.inits(a.producer, true)
	case roll < 50:
		partitions := []int32{int32(r.rnd.IntN(4)), int32(r.rnd.IntN(4))}
		switch {
		case a.old && r.rnd.IntN(4) == 0:
			a.waits = r.addsOffsets(a.producer, "g")
		case r.rnd.IntN(6) == 0:
			a.waits = r.verifies(a.producer, partitions...)
		default:
			a.waits, a.writes = r.adds(a.producer, partitions...), true
		}
	case roll < 90 && a.writes, roll < 55:
		a.commits = r.rnd.IntN(2) == 0
		a.waits = r.ends(a.producer, a.commits)
	case roll < 92:
		q := kmsg.NewPtrListTransactionsRequest()
		r.send("admin", q)
	}
	r.collect(a)
}

// collect takes what a producer was answered.
func (r *randomRun) collect(a *actor) {
	if a.waits == nil || r.answers[a.waits] == nil {
		return
	}
	m := a.waits
	a.waits = nil
	code := r.code(m)
	r.done[m.API()+" "+code]++
	switch r.answers[m].(type) {
	case *kmsg.InitProducerIDResponse:
		if code == "ok" {
			r.began(a.producer, m)
			a.begun, a.writes = true, false
		}
	case *kmsg.EndTxnResponse:
		if code == "ok" {
			r.ended(a.producer, m)
			a.writes = false
		}
	}
	switch code {
	case "PRODUCER_FENCED", "INVALID_PRODUCER_ID_MAPPING", "INVALID_TXN_STATE":
		if r.rnd.IntN(3) > 0 {
			a.begun = false
		}
	}
}

// writeMarkers has some of the markers written that are asked for, or finds their partitions gone.
func (r *randomRun) writeMarkers() {
	r.look()
	for _, m := range r.markers {
		r.noteMarkers(m.Marker)
	}
	if len(r.markers) == 0 || r.rnd.IntN(3) == 0 {
		return
	}
	i := r.rnd.IntN(len(r.markers))
	m := &r.markers[i]
	n := 1 + r.rnd.IntN(len(m.Partitions))
	written := slices.Clone(m.Partitions[:n])
	m.Partitions = m.Partitions[n:]
	news := *m
	if len(m.Partitions) == 0 {
		r.markers = slices.Delete(r.markers, i, i+1)
	}
	r.missing[news.TransactionalID] = without(r.missing[news.TransactionalID], written)
	r.perform(r.c.MarkersWritten(r.now, news.TransactionalID, coordinator.Producer{ID: news.ProducerID, Epoch: news.ProducerEpoch}, written, 0, &r.j))
}

// noteMarkers looks at markers that are asked for: those of one transaction are all of one kind.
func (r *randomRun) noteMarkers(m coordinator.Marker) {
	if m.TransactionVersion < epochBump {
		return // an older client's transactions have all the same epoch
	}
	key := fmt.Sprint(m.TransactionalID, " ", m.ProducerID, " ", m.ProducerEpoch)
	if before := r.decided[key]; before != "" && before != m.Type.String() {
		r.t.Errorf("at %d: markers of %s are %s, and were %s", r.now, key, m.Type, before)
	}
	r.decided[key] = m.Type.String()
}

// look goes through the new events: the states follow each other as Kafka allows it, and a transaction is complete only when
// all its markers are written.
func (r *randomRun) look() {
	move := func(id, from, to string) {
		if known, ok := r.last[id]; ok && string(known) != from {
			r.t.Errorf("at %d: %s goes from %s to %s, and was in %s", r.now, id, from, to, known)
		}
		if !slices.Contains(State(to).before(), State(from)) {
			r.t.Errorf("at %d: %s goes from %s to %s", r.now, id, from, to)
		}
		r.last[id] = State(to)
	}
	n := 0
	for e := range r.j.All() {
		if n++; n <= r.looked {
			continue
		}
		switch b := e.Body.(type) {
		case journal.TransactionalIDInitialised:
			move(b.TransactionalID, b.From, string(Empty))
			r.done["initialised from "+b.From]++
		case journal.PartitionsAddedToTransaction:
			move(b.TransactionalID, b.From, string(Ongoing))
		case journal.TransactionStateChanged:
			move(b.TransactionalID, b.From, b.To)
		case journal.TransactionMarkersQueued:
			r.missing[b.TransactionalID] = b.Partitions
		case journal.TransactionCompleted:
			move(b.TransactionalID, b.From, b.To)
			if left := r.missing[b.TransactionalID]; len(left) > 0 {
				r.t.Errorf("at %d: %s is complete without the markers of %v", r.now, b.TransactionalID, left)
			}
			if b.ProducerID != b.OldProducerID {
				r.done["new producer id at the end"]++
			}
		case journal.TransactionalIDExpired:
			move(b.TransactionalID, b.State, string(Dead))
			delete(r.last, b.TransactionalID)
		case journal.TransactionsLoaded:
			clear(r.last)
			r.done["fail-over"]++
		}
		r.done[e.Body.Kind()]++
	}
	r.looked = n
}

// lookAtAnswers sees to it that what producers are told never goes back, and that no two of them get the same.
func (r *randomRun) lookAtAnswers(from int) {
	for _, m := range r.sent[from:] {
		var now coordinator.Producer
		id := idIn(m.Request)
		switch a := r.answers[m].(type) {
		case *kmsg.InitProducerIDResponse:
			if a.ErrorCode != 0 {
				continue
			}
			now = coordinator.Producer{ID: kafka.ProducerID(a.ProducerID), Epoch: kafka.ProducerEpoch(a.ProducerEpoch)}
			fresh := m.Request.(*kmsg.InitProducerIDRequest).ProducerID < 0
			if before, ok := r.told[id]; ok && fresh && !less(before, now) {
				r.t.Errorf("at %d: %s is given %+v, and there was %+v", r.now, id, now, before)
			}
		case *kmsg.EndTxnResponse:
			if a.ErrorCode != 0 || a.Version < newEndTxn {
				continue
			}
			now = coordinator.Producer{ID: kafka.ProducerID(a.ProducerID), Epoch: kafka.ProducerEpoch(a.ProducerEpoch)}
		default:
			continue
		}
		if before, ok := r.told[id]; ok && less(now, before) {
			r.t.Errorf("at %d: %s of %s is answered with %+v after %+v", r.now, m.API(), id, now, before)
		}
		r.told[id] = now
	}
}

// less orders what producers are told: producer ids are given in order.
func less(a, b coordinator.Producer) bool { return a.ID < b.ID || a.ID == b.ID && a.Epoch < b.Epoch }

// play lets the producers act and checks after each step.
func (r *randomRun) play(steps int) {
	for range steps {
		r.fail = nil
		if r.failing && r.rnd.IntN(15) == 0 {
			r.fail = []*kerr.Error{kerr.NotEnoughReplicas, kerr.MessageTooLarge}[r.rnd.IntN(2)]
			for _, tx := range r.c.transactions {
				if tx.completing != nil {
					r.fail = kerr.NotEnoughReplicas // with the other one nobody completes it
				}
			}
		}
		if r.rnd.IntN(40) == 0 {
			r.delay = []kafka.Millis{0, 0, 5, 200, 900}[r.rnd.IntN(5)]
		}
		r.noIDs = r.rnd.IntN(10) == 0
		r.stuck = r.stalling && (r.stuck && r.rnd.IntN(20) > 0 || r.rnd.IntN(100) == 0)
		answered := len(r.answers)
		r.act(r.producers[r.rnd.IntN(len(r.producers))])
		r.writeMarkers()
		if r.rnd.IntN(2) == 0 {
			r.pass(kafka.Millis(r.rnd.IntN(2000)))
		}
		if r.rnd.IntN(150) == 0 {
			r.fail = nil
			r.failOver()
		}
		if len(r.answers) > answered {
			r.lookAtAnswers(0)
			r.archive()
		}
		r.look()
		r.checkLoad()
		if r.t.Failed() {
			text := r.dump()
			r.t.Fatalf("seed %d\n%s", r.seed, text[max(0, len(text)-5000):])
		}
	}
}

// archive takes answered requests out of the list.
func (r *randomRun) archive() {
	var left []*simnet.Message
	for _, m := range r.sent {
		if r.answers[m] == nil {
			left = append(left, m)
		}
	}
	r.sent = left
}

// checkLoad compares the coordinator with one that reads the log as far as it is written.
func (r *randomRun) checkLoad() {
	if r.stalling {
		return // the log has what the coordinator does not know of
	}
	c := New(r.config)
	var j journal.Journal
	c.Load(r.now, inLog(r.log[:r.durable]...), r.c.epoch, 0, &j)
	read := c.View()
	for _, live := range r.c.View() {
		i := slices.IndexFunc(read, func(v TransactionView) bool { return v.TransactionalID == live.TransactionalID })
		if live.ProducerEpoch == noEpoch {
			continue // its first record could not be written
		}
		if i < 0 {
			r.t.Errorf("at %d: %+v is not in the log", r.now, live)
			continue
		}
		t := r.c.transaction(live.TransactionalID)
		if t.failedFence || t.pending == PrepareAbort && r.config.TransactionVersion < epochBump {
			continue // the epoch is ahead
		}
		ignored := []string{"LastProducerEpoch", "PreviousProducerID", "NextProducerID", "TimesOut", "PendingState"}
		if live.State.prepared() {
			ignored = append(ignored, "Partitions") // those with a marker are out already
		}
		if diff := cmp.Diff(read[i], live, cmpopts.IgnoreFields(TransactionView{}, ignored...), cmpopts.EquateEmpty()); diff != "" {
			r.t.Errorf("at %d: %s (-log +live):\n%s", r.now, live.TransactionalID, diff)
		}
	}
	for _, v := range read {
		if r.c.transaction(v.TransactionalID) == nil {
			r.t.Errorf("at %d: %s is in the log, and the coordinator does not know it", r.now, v.TransactionalID)
		}
	}
}

// finish lets everything come to rest: then each request is answered, and no transaction is open or ends.
func (r *randomRun) finish() {
	r.fail, r.stuck, r.delay = nil, false, 0
	for range 400 {
		r.writeMarkers()
		r.pass(500)
	}
	r.look()
	for _, m := range r.sent {
		if r.answers[m] == nil {
			r.t.Errorf("%s of %s, sent as message %d, has no answer", m.API(), m.From, m.ID)
		}
	}
	for _, v := range r.c.View() {
		if !v.State.idle() && v.ProducerEpoch != lastEpoch {
			r.t.Errorf("at rest: %+v", v)
		}
	}
	if len(r.c.writes)+len(r.c.additions) > 0 {
		r.t.Errorf("at rest there are writes %+v, requests %+v", r.c.writes, r.c.additions)
	}
}

func TestRandomRuns(t *testing.T) {
	done := map[string]int{}
	for seed := range uint64(60) {
		r := newRandomRun(t, seed)
		r.play(500)
		r.finish()
		if t.Failed() {
			text := r.dump()
			t.Fatalf("seed %d\n%s", seed, text[max(0, len(text)-5000):])
		}
		for what, n := range r.done {
			done[what] += n
		}
	}
	for _, what := range []string{
		"fail-over", "TransactionTimedOut", "TransactionFenced", "TransactionalIDExpired", "TransactionWriteFailed",
		"initialised from Empty", "initialised from CompleteCommit", "initialised from CompleteAbort", "EndTxn ok", "EndTxn PRODUCER_FENCED",
		"EndTxn CONCURRENT_TRANSACTIONS", "EndTxn INVALID_TXN_STATE", "EndTxn COORDINATOR_NOT_AVAILABLE", "AddPartitionsToTxn ok",
		"AddPartitionsToTxn CONCURRENT_TRANSACTIONS", "AddPartitionsToTxn TRANSACTION_ABORTABLE", "AddOffsetsToTxn ok", "InitProducerID ok",
		"InitProducerID CONCURRENT_TRANSACTIONS", "InitProducerID PRODUCER_FENCED", "InitProducerID COORDINATOR_LOAD_IN_PROGRESS",
	} {
		if done[what] < 5 {
			t.Errorf("%s: %d times", what, done[what])
		}
	}
	if done["new producer id at the end"] == 0 {
		t.Error("no transaction has used up the epochs of its producer id")
	}
}

// A clone and its original go on alike and apart.
func TestClone(t *testing.T) {
	for seed := range uint64(12) {
		a, b := newRandomRun(t, seed), newRandomRun(t, seed)
		for i := range 300 {
			a.play(1)
			b.play(1)
			if i%10 == 0 {
				kept := b.c
				b.c = b.c.Clone()
				if due, ok := kept.NextDue(); ok {
					scratch := kept.Clone()
					var j journal.Journal
					scratch.Tick(due, &j) // a third one changes nothing of the others
					scratch.Resign(due, 0, &j)
				}
			}
		}
		if got, want := b.dump(), a.dump(); got != want {
			t.Fatalf("seed %d: the journals differ", seed)
		}
		if diff := cmp.Diff(a.c.View(), b.c.View()); diff != "" {
			t.Fatalf("seed %d:\n%s", seed, diff)
		}
		if !reflect.DeepEqual(a.log, b.log) {
			t.Fatalf("seed %d: the logs differ", seed)
		}
	}
}
