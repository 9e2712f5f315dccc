package txn

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

const wallStart kafka.Timestamp = 1_700_000_000_000

// run is a coordinator with a broker around it that writes what it wants written after a delay, and has the markers
// written after another.
type run struct {
	t           testing.TB
	c           *Coordinator
	config      *Config
	j           journal.Journal
	now         kafka.Millis
	log         []coordinator.Record // appended
	durable     int                  // of them on every in-sync replica
	inFlight    []flight
	delay       kafka.Millis
	fail        *kerr.Error // of the writes that come
	stuck       bool        // no write is told of
	markers     []markerFlight
	markerDelay kafka.Millis
	noMarkers   bool // no marker is written
	sent        []*simnet.Message
	answers     map[*simnet.Message]kmsg.Response
	nextID      kafka.ProducerID
	noIDs       bool // no producer id is at hand
}

type flight struct {
	id   uint64
	due  kafka.Millis
	upTo int
}

type markerFlight struct {
	coordinator.Marker
	due kafka.Millis
}

func newRun(t testing.TB, change func(*Config)) *run {
	config := DefaultConfig()
	config.Node, config.Start = "b1", wallStart
	if change != nil {
		change(&config)
	}
	r := &run{t: t, c: New(&config), config: &config, answers: map[*simnet.Message]kmsg.Response{}, nextID: 1000}
	r.perform(r.c.Load(0, inLog(), 5, 0, &r.j))
	return r
}

func (r *run) ids() (kafka.ProducerID, bool) {
	if r.noIDs {
		return 0, false
	}
	r.nextID++
	return r.nextID - 1, true
}

// perform does what the coordinator wants done.
func (r *run) perform(e coordinator.Effects) {
	r.t.Helper()
	var refused []uint64
	for _, w := range e.Writes {
		if len(w.Records) == 0 {
			r.t.Fatalf("write %d has no records", w.ID)
		}
		if r.fail != nil {
			refused = append(refused, w.ID)
			continue
		}
		r.log = append(r.log, w.Records...)
		r.inFlight = append(r.inFlight, flight{w.ID, r.now + r.delay, len(r.log)})
	}
	for _, a := range e.Answers {
		if r.answers[a.Request] != nil {
			r.t.Fatalf("at %d %s from %s is answered twice", r.now, a.Request.API(), a.Request.From)
		}
		if a.Response.GetVersion() != a.Request.Version() || a.Response.Key() != a.Request.Request.Key() {
			r.t.Fatalf("%s v%d is answered by %T v%d", a.Request.API(), a.Request.Version(), a.Response, a.Response.GetVersion())
		}
		r.answers[a.Request] = a.Response
	}
	for _, m := range e.Markers {
		if len(m.Partitions) == 0 || !slices.IsSortedFunc(m.Partitions, compare) {
			r.t.Fatalf("markers of %s for %v", m.TransactionalID, m.Partitions)
		}
		r.markers = append(r.markers, markerFlight{m, r.now + r.markerDelay})
	}
	for _, id := range refused {
		r.perform(r.c.Written(r.now, id, r.fail, 0, &r.j))
	}
	r.land()
}

// land tells of the writes and markers that are there.
func (r *run) land() {
	for !r.stuck && len(r.inFlight) > 0 && r.inFlight[0].due <= r.now {
		f := r.inFlight[0]
		r.inFlight = r.inFlight[1:]
		r.durable = max(r.durable, f.upTo)
		r.perform(r.c.Written(r.now, f.id, nil, 0, &r.j))
	}
	for !r.noMarkers && len(r.markers) > 0 && r.markers[0].due <= r.now {
		m := r.markers[0]
		r.markers = r.markers[1:]
		r.perform(r.c.MarkersWritten(r.now, m.TransactionalID, coordinator.Producer{ID: m.ProducerID, Epoch: m.ProducerEpoch}, m.Partitions, 0, &r.j))
	}
}

// until lets time pass; what is due at the end of it happens.
func (r *run) until(end kafka.Millis) {
	r.t.Helper()
	for {
		next := end
		if due, ok := r.c.NextDue(); ok {
			next = min(next, due)
		}
		if len(r.inFlight) > 0 && !r.stuck {
			next = min(next, r.inFlight[0].due)
		}
		if len(r.markers) > 0 && !r.noMarkers {
			next = min(next, r.markers[0].due)
		}
		r.now = max(r.now, next)
		r.land()
		before := r.j.Len()
		r.perform(r.c.Tick(r.now, &r.j))
		if due, ok := r.c.NextDue(); ok && due <= r.now {
			r.t.Fatalf("at %d a timer of %d is left", r.now, due)
		}
		if r.now >= end && r.j.Len() == before {
			return
		}
	}
}

func (r *run) pass(span kafka.Millis) { r.t.Helper(); r.until(r.now + span) }

// send delivers a request in the version that it has.
func (r *run) send(from kafka.NodeID, request kmsg.Request) *simnet.Message {
	r.t.Helper()
	m := &simnet.Message{ID: uint64(len(r.sent) + 1), From: from, To: "b1", Request: request}
	r.sent = append(r.sent, m)
	r.perform(r.c.Receive(r.now, m, r.ids, 0, &r.j))
	return m
}

// errorName gives Kafka's name of a code.
func errorName(code int16) string {
	if code == 0 {
		return "ok"
	}
	return kerr.ErrorForCode(code).(*kerr.Error).Message
}

// code gives the code of an answer, or of its first partition; "waits": there is none yet.
func (r *run) code(m *simnet.Message) string {
	switch a := r.answers[m].(type) {
	case nil:
		return "waits"
	case *kmsg.InitProducerIDResponse:
		return errorName(a.ErrorCode)
	case *kmsg.AddPartitionsToTxnResponse:
		if a.Version < 4 {
			return errorName(a.Topics[0].Partitions[0].ErrorCode)
		}
		return errorName(a.Transactions[0].Topics[0].Partitions[0].ErrorCode)
	case *kmsg.AddOffsetsToTxnResponse:
		return errorName(a.ErrorCode)
	case *kmsg.EndTxnResponse:
		return errorName(a.ErrorCode)
	case *kmsg.DescribeTransactionsResponse:
		return errorName(a.TransactionStates[0].ErrorCode)
	case *kmsg.ListTransactionsResponse:
		return errorName(a.ErrorCode)
	}
	return "another answer"
}

func (r *run) wantCode(m *simnet.Message, want string) {
	r.t.Helper()
	if got := r.code(m); got != want {
		r.t.Errorf("at %d: %s of %s is answered with %s, want %s", r.now, m.API(), m.From, got, want)
	}
}

// producer is a client as far as the coordinator sees it.
type producer struct {
	node    kafka.NodeID
	id      string
	timeout int32
	coordinator.Producer
	old bool // its client is of before version 2 of transactions
}

func newProducer(node kafka.NodeID) *producer {
	return &producer{node: node, id: "t1", timeout: 60_000, Producer: coordinator.Producer{ID: noProducerID, Epoch: noEpoch}}
}

func oldProducer(node kafka.NodeID) *producer {
	p := newProducer(node)
	p.old = true
	return p
}

// inits sends an InitProducerID of a producer that has begun; it says what it has if goesOn.
func (r *run) inits(p *producer, goesOn bool) *simnet.Message {
	r.t.Helper()
	q := kmsg.NewPtrInitProducerIDRequest()
	q.Version, q.TransactionalID, q.TransactionTimeoutMillis = 5, &p.id, p.timeout
	if goesOn {
		q.ProducerID, q.ProducerEpoch = int64(p.ID), int16(p.Epoch)
	}
	return r.send(p.node, q)
}

// began takes the answer of an InitProducerID.
func (r *run) began(p *producer, m *simnet.Message) {
	r.t.Helper()
	a, ok := r.answers[m].(*kmsg.InitProducerIDResponse)
	if !ok || a.ErrorCode != 0 {
		r.t.Fatalf("at %d: the InitProducerID of %s: %s", r.now, p.node, r.code(m))
	}
	p.ID, p.Epoch = kafka.ProducerID(a.ProducerID), kafka.ProducerEpoch(a.ProducerEpoch)
}

// begins has a producer begin.
func (r *run) begins(p *producer) { r.t.Helper(); r.began(p, r.inits(p, false)) }

// adds adds partitions of orders: for a new producer their leader does.
func (r *run) adds(p *producer, partitions ...int32) *simnet.Message {
	r.t.Helper()
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	if p.old {
		q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch = 3, p.id, int64(p.ID), int16(p.Epoch)
		q.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "orders", Partitions: partitions}}
		return r.send(p.node, q)
	}
	q.Version = 5
	q.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{p.adding(partitions...)}
	return r.send("b2", q)
}

func (p *producer) adding(partitions ...int32) kmsg.AddPartitionsToTxnRequestTransaction {
	t := kmsg.NewAddPartitionsToTxnRequestTransaction()
	t.TransactionalID, t.ProducerID, t.ProducerEpoch = p.id, int64(p.ID), int16(p.Epoch)
	t.Topics = []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: "orders", Partitions: partitions}}
	return t
}

// verifies asks as a leader does whether partitions of orders are in the transaction.
func (r *run) verifies(p *producer, partitions ...int32) *simnet.Message {
	r.t.Helper()
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	q.Version = 5
	t := p.adding(partitions...)
	t.VerifyOnly = true
	q.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{t}
	return r.send("b2", q)
}

func (r *run) addsOffsets(p *producer, group string) *simnet.Message {
	r.t.Helper()
	q := kmsg.NewPtrAddOffsetsToTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch, q.Group = 4, p.id, int64(p.ID), int16(p.Epoch), group
	return r.send(p.node, q)
}

func (r *run) ends(p *producer, commit bool) *simnet.Message {
	r.t.Helper()
	q := kmsg.NewPtrEndTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch, q.Commit = 5, p.id, int64(p.ID), int16(p.Epoch), commit
	if p.old {
		q.Version = 4
	}
	return r.send(p.node, q)
}

// ended takes the answer of an EndTxn.
func (r *run) ended(p *producer, m *simnet.Message) {
	r.t.Helper()
	a, ok := r.answers[m].(*kmsg.EndTxnResponse)
	if !ok || a.ErrorCode != 0 {
		r.t.Fatalf("at %d: the EndTxn of %s: %s", r.now, p.node, r.code(m))
	}
	if !p.old {
		p.ID, p.Epoch = kafka.ProducerID(a.ProducerID), kafka.ProducerEpoch(a.ProducerEpoch)
	}
}

// view gives a transactional id as it is now.
func (r *run) view(id string) TransactionView {
	r.t.Helper()
	views := r.c.View()
	i := slices.IndexFunc(views, func(v TransactionView) bool { return v.TransactionalID == id })
	if i < 0 {
		return TransactionView{TransactionalID: id, State: Dead}
	}
	return views[i]
}

// want compares state, producer id and epoch of t1.
func (r *run) want(state State, id kafka.ProducerID, epoch kafka.ProducerEpoch) {
	r.t.Helper()
	if v := r.view("t1"); v.State != state || v.ProducerID != id || v.ProducerEpoch != epoch {
		r.t.Errorf("at %d: t1 is %s with producer id %d, epoch %d, want %s with %d, %d", r.now, v.State, v.ProducerID, v.ProducerEpoch, state, id, epoch)
	}
}

// events gives the bodies of one kind, oldest first.
func events[B journal.Body](r *run) (bodies []B) {
	for e := range r.j.All() {
		if b, ok := e.Body.(B); ok {
			bodies = append(bodies, b)
		}
	}
	return bodies
}

func (r *run) dump() string {
	text := ""
	for e := range r.j.All() {
		text += fmt.Sprintln(e.Line())
	}
	return text
}

// inLog is a log.
func inLog(records ...coordinator.Record) iter.Seq[coordinator.Logged] {
	return func(yield func(coordinator.Logged) bool) {
		for _, r := range records {
			if !yield(coordinator.Logged{Record: r}) {
				return
			}
		}
	}
}

// at puts a transactional id into the log, and a coordinator that reads it in the place of the run's.
func (r *run) at(values ...Value) {
	r.t.Helper()
	var records []coordinator.Record
	for _, v := range values {
		records = append(records, v.Encode())
	}
	r.c = New(r.config)
	r.log, r.durable, r.inFlight, r.markers = records, len(records), nil, nil
	r.perform(r.c.Load(r.now, inLog(records...), 5, 0, &r.j))
}

// logged is what the log says of t1 in a state.
func logged(state State, epoch kafka.ProducerEpoch) Value {
	v := Value{
		Version: 1, TransactionalID: "t1", ProducerID: 7, ProducerEpoch: epoch, Timeout: 60_000, State: state, LastUpdate: wallStart, Start: kafka.NoTimestamp,
		PreviousProducerID: noProducerID, NextProducerID: noProducerID, NextProducerEpoch: noEpoch, ClientTransactionVersion: 2,
	}
	if state != Empty {
		v.Start = wallStart
	}
	if state == Ongoing || state.prepared() {
		v.Partitions = orders(0, 1)
	}
	return v
}

func orders(partitions ...kafka.Partition) (list []kafka.TopicPartition) {
	for _, p := range partitions {
		list = append(list, kafka.TopicPartition{Topic: "orders", Partition: p})
	}
	return list
}
