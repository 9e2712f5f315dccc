package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/command"
	"loglab/engine/kafka"
)

// published gives a producer whose application writes two events every 100 ms, with an outbox table or without.
func published(t *testing.T, outbox bool) *fake {
	t.Helper()
	config := single(IdempotenceOn)
	f := unready(t, config, Workload{Entities: []string{"a", "b"}, Rate: 2, Every: 100, Outbox: outbox, ValueBytes: len(padding)}, 1)
	f.run(5 * hop)
	f.producer.StartSending(f.now)
	return f
}

func (f *fake) database() string { return fmt.Sprintf("%+v", f.out.Source.View().Database) }

// A relay that crashes between the broker's append and its own mark publishes again: no event is lost, and two stand in
// the log twice. Without an outbox table the events that were on their way are lost or not, and nobody will ever ask.
func TestCrashBetweenPublishAndMark(t *testing.T) {
	for _, test := range []struct {
		name     string
		outbox   bool
		at       kafka.Millis // when the process is killed, after the second pair of events
		log      string
		database string
	}{
		{"outbox, the answer is on its way", true, hop + hop/2, "a b a b a b", "{Written:4 Published:4 PublishedAgain:2 NeverPublished:0 Lost:0}"},
		{"outbox, the request is on its way", true, hop / 2, "a b a b a b", "{Written:4 Published:4 PublishedAgain:2 NeverPublished:0 Lost:0}"},
		{"dual write, the answer is on its way", false, hop + hop/2, "a b a b", "{Written:4 Published:2 PublishedAgain:0 NeverPublished:2 Lost:2}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := published(t, test.outbox)
			f.run(100 + test.at)
			f.producer.StopSending()
			if !f.producer.Kill(0, &f.out, &f.journal) {
				t.Fatal("it was dead")
			}
			f.run(200)
			f.producer.Start(f.now)
			f.run(500)
			f.holds(0, test.log)
			if got := f.database(); got != test.database {
				t.Errorf("database %s, want %s\n%s", got, test.database, f.told())
			}
		})
	}
}

// A crash before the record is sent loses the event of a dual write, and none of an outbox table: a relay that could not
// publish before goes on where the table is open.
func TestCrashBeforePublish(t *testing.T) {
	for outbox, want := range map[bool]string{
		true: "{Written:2 Published:2 PublishedAgain:2 NeverPublished:0 Lost:0}", false: "{Written:2 Published:0 PublishedAgain:0 NeverPublished:2 Lost:2}",
	} {
		f := published(t, outbox)
		f.producer.config.Linger, f.producer.config.BatchSize = 50, 16384
		f.run(20)
		f.producer.StopSending()
		f.producer.Kill(0, &f.out, &f.journal)
		f.run(200)
		f.producer.Start(f.now)
		f.run(500)
		if got := f.database(); got != want {
			t.Errorf("outbox %t: %s, want %s\n%s", outbox, got, want, f.told())
		}
		if log := strings.Join(f.logs[0], " "); outbox != (log == "a b") {
			t.Errorf("outbox %t: the log holds %q", outbox, log)
		}
	}
}

// The order of events: written with its row, relayed, acknowledged, marked. The producer needs no broker for the first.
func TestOutboxTable(t *testing.T) {
	f := unready(t, single(IdempotenceOn), Workload{Outbox: true, Rate: 1, Every: 100, Entities: []string{"a"}}, 1)
	f.silent = true
	f.producer.StartSending(f.now)
	f.run(150)
	v := f.out.Source.View().Outboxes
	if len(v) != 1 || v[0].Rows != 2 || len(v[0].Open) != 2 || v[0].Open[1] != (OpenRowView{1, "a", "event 2", 0}) {
		t.Errorf("without brokers: %+v", v)
	}
	f.silent = false
	f.run(31_000)
	f.producer.StopSending()
	f.run(200)
	if v := f.out.Source.View(); len(v.Outboxes[0].Open) != 0 || v.Outboxes[0].Marked != v.Outboxes[0].Rows || v.Repeated != 0 {
		t.Errorf("in the end: %+v", v)
	}
	var kinds []string
	for e := range f.journal.All() {
		switch kind := e.Body.Kind(); kind {
		case "OutboxWritten", "OutboxRelayed", "OutboxMarked", "ProduceAcknowledged":
			kinds = append(kinds, kind)
		}
	}
	if got := strings.Join(kinds[len(kinds)-4:], " "); got != "OutboxWritten OutboxRelayed ProduceAcknowledged OutboxMarked" {
		t.Errorf("at last: %s", got)
	}
}

// A relay with a period looks into the table only then, and what the producer gave up comes again.
func TestRelayEvery(t *testing.T) {
	f := unready(t, single(IdempotenceOn), Workload{Outbox: true, RelayEvery: 200}, 1)
	f.run(50)
	f.produce(0, "a", "b")
	f.run(100)
	f.holds(0, "")
	f.refuse = once(1, kerr.InvalidRecord)
	f.run(100)
	f.holds(0, "b")
	f.run(200)
	f.holds(0, "b a")
	if got := strings.Join(f.texts("OutboxRelayed"), "; "); got != "rows=2 again=0; rows=1 again=1" {
		t.Errorf("relayed %s", got)
	}
	if h := f.out.Source.Handed().At(2); !h.Repeats || !h.Relayed {
		t.Errorf("%+v", h)
	}

	f = unready(t, single(IdempotenceOn), Workload{Outbox: true}, 1)
	f.run(50)
	f.refuse = once(1, kerr.InvalidRecord)
	f.produce(0, "a")
	f.run(200)
	f.holds(0, "a")
}

// Two calls of send for one event are two records, whatever the producer: only the source knows.
func TestTwoCallsOfSend(t *testing.T) {
	f := newFake(t, single(IdempotenceOn), 1)
	for _, value := range []string{"paid", "paid", "packed"} {
		sends, err := f.producer.Produce(f.now, command.Produce{Key: "order-1", Value: value}, 0, &f.out, &f.journal)
		if err != nil {
			t.Fatal(err)
		}
		f.send(sends)
	}
	f.run(100)
	f.holds(0, "order-1 order-1 order-1")
	var repeats []bool
	for _, h := range f.out.Source.Handed().From(0) {
		repeats = append(repeats, h.Repeats)
	}
	if fmt.Sprint(repeats) != "[false true false]" || f.out.Source.View().Repeated != 1 {
		t.Errorf("%v, %+v", repeats, f.out.Source.View())
	}
}

// A relay has no transactions here.
func TestOutboxWithoutTransactionalID(t *testing.T) {
	f := newFake(t, single(IdempotenceOn), 1)
	config := transactional(2)
	if _, err := NewProducer("p0", []kafka.NodeID{"b1"}, 0, config, Workload{Outbox: true}, f.producer.rnd, f.producer.rnd); err == nil {
		t.Error("made")
	}
}

// A clone has its own table.
func TestCloneOfAnOutbox(t *testing.T) {
	f := published(t, true)
	f.run(105)
	c := f.fork()
	f.run(400)
	c.run(400)
	if f.told() != c.told() || fmt.Sprint(f.out.Source.View()) != fmt.Sprint(c.out.Source.View()) {
		t.Error("the clone ran otherwise")
	}
	c = f.fork()
	before := fmt.Sprint(c.out.Source.View())
	f.run(300)
	if got := fmt.Sprint(c.out.Source.View()); got != before {
		t.Errorf("the original has changed the clone's table:\n%s\n%s", before, got)
	}
}

// What sinks make of an event that comes again: in the same record, and in another one.
func TestSinksOfOneEventTwice(t *testing.T) {
	for _, test := range []struct {
		kind             SinkKind
		effects, doubled int
		ignored          int
	}{
		{SinkPlain, 3, 1, 0}, {SinkIdempotent, 2, 0, 1}, {SinkInbox, 1, 0, 2}, {SinkEmail, 3, 1, 0},
	} {
		s := NewSink("g", SinkConfig{Kind: test.kind})
		for _, offset := range []kafka.Offset{0, 0, 1} { // read twice; sent twice
			s.apply(ordersZero, offset, []byte("order-1"), []byte("paid"))
		}
		if v := s.View(); v.Effects != test.effects || v.Doubled != test.doubled || v.Ignored != test.ignored {
			t.Errorf("%s: %+v", test.kind, v.SinkTotals)
		}
	}
}

// A set of ids keeps what was added, and so do its clones.
func TestIDSet(t *testing.T) {
	var s idSet
	var clones []idSet
	for i := range 1000 {
		if i%100 == 0 {
			clones = append(clones, s.clone())
		}
		s.add(fmt.Sprint(i))
	}
	if s.size() != 1000 || !s.has("0") || !s.has("999") || s.has("1000") {
		t.Errorf("size %d", s.size())
	}
	for n, c := range clones {
		if c.size() != n*100 || n > 0 && !c.has(fmt.Sprint(n*100-1)) || c.has(fmt.Sprint(n*100)) {
			t.Errorf("the clone at %d has %d ids", n*100, c.size())
		}
		c.add("more")
	}
	if s.has("more") {
		t.Error("a clone has added to the original")
	}
	if eventID(nil, nil) == eventID([]byte{}, nil) || eventID([]byte("a"), []byte("b")) == eventID([]byte("ab"), nil) {
		t.Error("ids are not told apart")
	}
}

// An application whose sink has an inbox takes an event once that was sent twice and read twice.
func TestInboxInAGroup(t *testing.T) {
	s := seated(t, func(c *ConsumerConfig) { c.Group.App.Commit = CommitBatch }, 0)
	s.out.Sinks[0] = NewSink("g", SinkConfig{Kind: SinkInbox})
	twice := func() {
		t.Helper()
		s.fetch("b1", func(p *kmsg.FetchResponseTopicPartition) { p.RecordBatches = batchAt(0, 2, 4) })
		s.settle(50)
	}
	twice()
	s.fetch("b1", func(*kmsg.FetchResponseTopicPartition) {})
	sends, why := s.consumer.Seek(s.now, ordersZero, 0, 0, &s.out, &s.journal)
	if why != "" {
		t.Fatal(why)
	}
	s.add(sends)
	s.fetch("b1", func(*kmsg.FetchResponseTopicPartition) {})
	s.tick(0)
	twice()
	if v := s.out.Sinks[0].View(); v.Inbox != 1 || v.Effects != 1 || v.Ignored != 3 || v.Processed != 2 || v.ProcessedAgain != 2 {
		t.Errorf("%+v", v)
	}
}
