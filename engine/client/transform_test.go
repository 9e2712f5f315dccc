package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/command"
	"loglab/engine/kafka"
)

// The outputs of in-0@0 to in-0@2.
var threeOutputs = []string{"k0=event 1 of in-0@0", "k1=event 1 of in-0@1", "k2=event 1 of in-0@2"}

// Read, process, write, message by message: initTransactions comes before the first poll, and outputs and offsets of a
// batch are one transaction.
func TestReadProcessWrite(t *testing.T) {
	m := newMill(t, 3, nil)
	m.run(hop)
	if v := m.consumer.MemberView(m.now); v.App != "in initTransactions" || v.Generation != -1 {
		t.Errorf("at first: %s, generation %d", v.App, v.Generation)
	}
	m.run(500)
	m.said("InitProducerID 4000/0", "Produce 4000/0 seq=0 records=1", "Produce 4000/0 seq=1 records=1", "Produce 4000/0 seq=2 records=1", "TxnOffsetCommit m1 generation=3 3", "EndTxn 0 commit=true")
	m.wrote(append(threeOutputs, "COMMIT")...)
	if m.committed != 3 {
		t.Errorf("committed %d", m.committed)
	}
	m.bring(1)
	m.run(500)
	m.said("Produce 4000/1 seq=0 records=1", "TxnOffsetCommit m1 generation=3 4", "EndTxn 1 commit=true")
	v := m.consumer.ProducerView()
	if v.Transaction.Committed != 2 || v.Acknowledged != 4 || m.consumer.MemberView(m.now).Done[0].Committed != 4 {
		t.Errorf("%+v", v)
	}
	h := m.out.Source.Handed().At(2)
	if h.Producer != "c0" || h.Of.String() != "in-0" || h.OfOffset != 2 || h.Transaction != 1 || h.TopicPartition.String() != "out-0" {
		t.Errorf("handed in: %+v", h)
	}
	if f := m.fate(2); f.Delivered != 1 || f.Processed != 1 || f.Applied != 0 {
		t.Errorf("in-0@2: %+v", f)
	}
}

// Wherever the process crashes, the new one begins with InitProducerId, which aborts what was open: everything stands in
// out once, as far as committed transactions go.
func TestCrashesOfReadProcessWrite(t *testing.T) {
	aborted := append(append(append([]string(nil), threeOutputs...), "ABORT"), append(threeOutputs, "COMMIT")...)
	once := append(append([]string(nil), threeOutputs...), "COMMIT")
	for _, test := range []struct {
		when command.CrashWhen
		out  []string
		api  uint16 // effects of in-0@0 at an API outside
	}{
		{command.AfterPoll, once, 1},
		{command.AfterProduce, aborted, 2},
		{command.AfterOffsets, aborted, 2},
		{command.BeforeCommit, aborted, 2},
		{command.DuringCommit, once, 1},
		{command.AfterCommit, once, 1},
	} {
		t.Run(string(test.when), func(t *testing.T) {
			m := newMill(t, 3, func(c *ConsumerConfig) { c.Group.App.Work, c.Group.App.CallsOut = 0, true })
			m.out.Sinks = []Sink{NewSink("g", SinkConfig{Kind: SinkEmail})}
			m.consumer.Arm(command.CrashPoint{When: test.when}, 0, &m.journal)
			m.run(500)
			if m.consumer.Alive() {
				t.Fatalf("it did not crash\n%s", m.told())
			}
			if m.consumer.ProducerView().Alive {
				t.Error("its producer goes on")
			}
			m.way = nil
			m.consumer.Start(m.now)
			m.run(1000)
			m.wrote(test.out...)
			if m.committed != 3 {
				t.Errorf("committed %d", m.committed)
			}
			if f := m.fate(0); f.Applied != test.api {
				t.Errorf("the API was called %d times, want %d\n%s", f.Applied, test.api, m.told())
			}
		})
	}
}

// Three e-mails are sent six times: the transaction covers the records and the offsets, and nothing outside.
func TestExactlyOnceAndStillTwoEmails(t *testing.T) {
	m := newMill(t, 3, func(c *ConsumerConfig) { c.Group.App.CallsOut = true })
	m.out.Sinks = []Sink{NewSink("g", SinkConfig{Kind: SinkEmail})}
	m.consumer.Arm(command.CrashPoint{When: command.AfterOffsets}, 0, &m.journal)
	m.run(500)
	m.way = nil
	m.consumer.Start(m.now)
	m.run(1000)
	if v := m.out.Sinks[0].View(); v.Effects != 6 || v.Doubled != 3 || v.Processed != 3 || v.ProcessedAgain != 3 {
		t.Errorf("%+v", v.SinkTotals)
	}
	m.wrote(append(append(append([]string(nil), threeOutputs...), "ABORT"), append(threeOutputs, "COMMIT")...)...)
}

// Without transactions the commit comes after the acknowledgements, and a crash between writes the batch twice; or before
// the work, and a crash between loses it.
func TestReadProcessWriteWithoutTransactions(t *testing.T) {
	for _, test := range []struct {
		name   string
		commit CommitWhen
		when   command.CrashWhen
		idem   Idempotence
		out    []string
	}{
		{"at least once", CommitBatch, command.AfterProduce, IdempotenceOn, append(append([]string(nil), threeOutputs...), threeOutputs...)},
		{"at least once, without idempotence", CommitBatch, command.AfterProduce, IdempotenceOff, append(append([]string(nil), threeOutputs...), threeOutputs...)},
		{"at least once, no crash between", CommitBatch, command.AfterCommit, IdempotenceOn, threeOutputs},
		{"at most once", CommitBefore, command.AfterCommit, IdempotenceOn, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMill(t, 3, func(c *ConsumerConfig) {
				app := &c.Group.App
				app.Transform.Producer.TransactionalID, app.Transform.Producer.EnableIdempotence = "", test.idem
				app.Commit = test.commit
			})
			m.consumer.Arm(command.CrashPoint{When: test.when}, 0, &m.journal)
			m.run(500)
			if m.consumer.Alive() {
				t.Fatalf("it did not crash\n%s", m.told())
			}
			m.way = nil
			m.consumer.Start(m.now)
			m.run(1000)
			m.wrote(test.out...)
			if m.committed != 3 {
				t.Errorf("committed %d\n%s", m.committed, m.told())
			}
		})
	}
}

// An error that allows it makes the application abort, go back to the committed offsets and read the batch again.
func TestAbortAndReadAgain(t *testing.T) {
	for _, test := range []struct {
		api   string
		error *kerr.Error
		out   []string
	}{
		{"Produce", kerr.InvalidTxnState, []string{"ABORT"}},
		{"TxnOffsetCommit", kerr.IllegalGeneration, append(append([]string(nil), threeOutputs...), "ABORT")},
		{"EndTxn", kerr.TransactionAbortable, append(append([]string(nil), threeOutputs...), "ABORT")},
	} {
		t.Run(test.api, func(t *testing.T) {
			m := newMill(t, 3, func(c *ConsumerConfig) { c.Group.App.Work = 0 })
			m.refuse = nth(test.api, 1, test.error)
			m.run(1500)
			want := append(append([]string(nil), test.out...), append(threeOutputs, "COMMIT")...)
			if test.api == "Produce" {
				want = append(threeOutputs, "COMMIT") // nothing was written, so there was nothing to abort
			}
			m.wrote(want...)
			if m.committed != 3 || m.fate(0).Processed != 2 {
				t.Errorf("committed %d, processed %d times", m.committed, m.fate(0).Processed)
			}
			rewound := 0
			for e := range m.journal.All() {
				if e.Body.Kind() == "PositionsRewound" {
					rewound++
				}
			}
			if rewound != 1 {
				t.Errorf("rewound %d times\n%s", rewound, m.told())
			}
		})
	}
}

// Another process with the same transactional.id fences this one: its process ends.
func TestFencedReadProcessWrite(t *testing.T) {
	m := newMill(t, 3, nil)
	m.refuse = nth("EndTxn", 1, kerr.ProducerFenced)
	m.run(1000)
	if m.consumer.Alive() || m.consumer.ProducerView().Transaction.State != FatalError {
		t.Errorf("it goes on\n%s", m.told())
	}
	if m.consumer.Failed() {
		t.Error("a process that has ended is no application that stands still")
	}
}

// A zombie: the member stands still in the middle of its batch, its group goes on without it, and its offsets are
// refused. It aborts, joins anew, and reads what is committed.
func TestZombieReadProcessWrite(t *testing.T) {
	m := newMill(t, 3, func(c *ConsumerConfig) { c.Group.App.Work = 100 })
	m.run(400) // in the middle of the records
	m.stopped = true
	m.run(50_000)
	m.refuse = func(api string, n int) int16 {
		if api == "TxnOffsetCommit" && n == 1 || api == "Heartbeat" && m.counts["JoinGroup"] == 1 {
			return kerr.UnknownMemberID.Code
		}
		return 0
	}
	m.committed, m.stopped = 2, false // somebody else has been faster
	m.run(2000)
	if m.committed != 3 || m.counts["JoinGroup"] != 2 {
		t.Errorf("committed %d, joined %d times\n%s", m.committed, m.counts["JoinGroup"], m.told())
	}
	m.wrote(threeOutputs[0], threeOutputs[1], threeOutputs[2], "ABORT", threeOutputs[2], "COMMIT")
}

// A member that leaves in the middle of a batch aborts its transaction, and commits nothing of it.
func TestLeaveInTheMiddleOfATransaction(t *testing.T) {
	m := newMill(t, 3, func(c *ConsumerConfig) { c.Group.App.Work, c.Group.App.Commit = 100, CommitBatch })
	m.run(450)
	sends, why := m.consumer.Leave(m.now, 0, &m.out, &m.journal)
	if why != "" {
		t.Fatal(why)
	}
	m.send(sends)
	m.run(500)
	if m.consumer.Alive() || m.committed != -1 || len(m.outLog) == 0 || m.outLog[len(m.outLog)-1] != "ABORT" {
		t.Errorf("committed %d, out %v\n%s", m.committed, m.outLog, m.told())
	}
}

// A handler that fails at a record and seeks back to it ends the batch before: what is done is one transaction, and the
// record comes again.
func TestSeekBackInATransaction(t *testing.T) {
	m := newMill(t, 3, func(c *ConsumerConfig) {
		app := &c.Group.App
		app.OnFailure, app.Poison = SeekBack, []Poison{
			{TopicPartition: kafka.TopicPartition{Topic: "in"}, Offset: 1, Times: 1}, {TopicPartition: kafka.TopicPartition{Topic: "in"}, Offset: 0, Times: 1},
		}
	})
	m.run(2000)
	m.wrote(threeOutputs[0], "COMMIT", threeOutputs[1], threeOutputs[2], "COMMIT")
	if m.committed != 3 {
		t.Errorf("committed %d", m.committed)
	}
}

// A restart in the middle of another transaction's end waits for stable offsets.
func TestRestartWaitsForStableOffsets(t *testing.T) {
	m := newMill(t, 3, nil)
	m.held, m.committed = 2, 1
	m.open = false // so that InitProducerId does not end it
	m.run(400)
	if v := m.consumer.View(); v.Partitions[0].Position != kafka.NoOffset {
		t.Errorf("position %d", v.Partitions[0].Position)
	}
	m.held, m.committed = -1, 2
	m.run(600)
	m.wrote(threeOutputs[2], "COMMIT")
}

// A clone at any moment goes on as the original does.
func TestCloneOfReadProcessWrite(t *testing.T) {
	for at := kafka.Millis(0); at < 700; at += 9 {
		m := newMill(t, 6, func(c *ConsumerConfig) { c.MaxPollRecords = 2 })
		m.refuse = func(api string, n int) int16 {
			if n%4 == 2 {
				switch api {
				case "Produce", "EndTxn":
					return kerr.TransactionAbortable.Code
				}
			}
			return 0
		}
		m.run(at)
		c := *m
		c.consumer, c.journal, c.out = m.consumer.Clone(), m.journal.Clone(), m.out.Clone()
		c.way, c.outLog, c.asked = append([]onWay(nil), m.way...), append([]string(nil), m.outLog...), append([]string(nil), m.asked...)
		c.counts = map[string]int{}
		for k, v := range m.counts {
			c.counts[k] = v
		}
		c.refuse = func(api string, n int) int16 { return m.refuse(api, n) }
		m.run(1500 - at)
		c.run(1500 - at)
		if m.told() != c.told() || fmt.Sprint(m.asked, m.outLog) != fmt.Sprint(c.asked, c.outLog) {
			t.Fatalf("cloned at %d: the clone ran otherwise", at)
		}
	}
}

// The value of an output names its input, and its version can still be read.
func TestOutputValues(t *testing.T) {
	tp := kafka.TopicPartition{Topic: "my-in", Partition: 3}
	for _, test := range []struct{ value, output string }{
		{"event 7", "event 7 of my-in-3@12"}, {"event 7....", "event 7.... of my-in-3@12"}, {"paid", "paid of my-in-3@12"}, {"", " of my-in-3@12"},
	} {
		got := outputOf([]byte(test.value), tp, 12)
		if string(got) != test.output || string(inputOf(got)) != test.value {
			t.Errorf("%q becomes %q and back %q", test.value, got, inputOf(got))
		}
		_, was, _ := eventOf([]byte("k"), []byte(test.value))
		if _, version, _ := eventOf([]byte("k"), got); version != was {
			t.Errorf("%q has version %d", got, version)
		}
	}
	if outputOf(nil, tp, 12) != nil {
		t.Error("a deletion's output has a value")
	}
	for _, value := range []string{"event 7 of orders", "event 7 of orders-1", "event 7 of orders@2", "event 7 of -1@2", "of a-1@b"} {
		if string(inputOf([]byte(value))) != value {
			t.Errorf("%q loses its end", value)
		}
	}
}

func TestCheckTransform(t *testing.T) {
	for says, change := range map[string]func(*AppConfig){
		"a topic to write to":       func(c *AppConfig) { c.Transform.Topic = "" },
		"no worker threads":         func(c *AppConfig) { c.Workers = 2 },
		"not after each record":     func(c *AppConfig) { c.Commit = CommitRecord },
		"enable.idempotence = true": func(c *AppConfig) { c.Transform.Producer.TransactionalID, c.Transform.Producer.Acks = "tx", 1 },
	} {
		app := AppConfig{Transform: &TransformConfig{Topic: "out", Producer: DefaultProducerConfig("")}}
		if err := app.CheckTransform(); err != nil {
			t.Fatal(err)
		}
		change(&app)
		if err := app.CheckTransform(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}
