package delivery

import (
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// past is what the journal says of a run so far, as far as the page tells it.
type past struct {
	seen     [2]map[kafka.Offset]moment // by reader: when it was given what stands at an offset; only looked up
	appended map[kafka.Offset]moment    // of the log that is read; only looked up
	waits    []passing
	crashes  []crash
	failures []failure // errors that ended something, the last ones
	timeouts []journal.TransactionTimedOut
	fenced   []fencing
	again    int // times that a leader recognised a batch as a duplicate
	retried  int // times that a producer sent a batch again
	losses   int // messages that a link dropped
}

// moment is when something happened.
type moment struct {
	tick kafka.Tick
	seq  uint64 // of the event that says so
}

// passing is a wait by command, within which the tick stays the same.
type passing struct {
	from, to uint64 // the events at its begin and at its end
	span     kafka.Millis
}

// waited is how long the waits are that lie between two moments, whole or in part.
func (p *past) waited(from, to moment) (span kafka.Millis) {
	for _, w := range p.waits {
		if w.from < to.seq && w.to > from.seq {
			span += w.span
		}
	}
	return span
}

// crash is the end of a process.
type crash struct {
	node kafka.NodeID
	tick kafka.Tick
	at   string // the point; empty: at once
	seq  uint64
}

// lastCrash is the last end of a node's process; nil: it has not ended.
func (l *layout) lastCrash(node kafka.NodeID) *crash {
	for i := len(l.past.crashes) - 1; i >= 0; i-- {
		if l.past.crashes[i].node == node {
			return &l.past.crashes[i]
		}
	}
	return nil
}

// failure is an error that a producer got.
type failure struct {
	node  kafka.NodeID
	tick  kafka.Tick
	api   string // whose answer it is; empty: a time was over
	error string
	fatal bool
	sent  bool // a batch was given up that had been sent
	seq   uint64
}

// expired stands for the error of a batch that was given up by itself.
const expired = "delivery.timeout.ms"

// fencing is a transaction that the coordinator ended for its producer.
type fencing struct {
	who  string
	tick kafka.Tick
	from kafka.ProducerEpoch
	to   kafka.ProducerEpoch
	why  string
	// mayEnd says that its producer, of transaction version 2, can still end it as it was ended: it takes that for its own.
	mayEnd bool
	seq    uint64
}

// readPast walks over the journal.
func (l *layout) readPast() (p past) {
	read := l.read().TopicPartition
	p.appended = map[kafka.Offset]moment{}
	for i := range p.seen {
		p.seen[i] = map[kafka.Offset]moment{}
	}
	for e := range l.Cluster.Journal().All() {
		switch b := e.Body.(type) {
		case journal.RecordsRead:
			for i, r := range l.readers {
				if string(e.Node) == string(r.member.ID) && b.TopicPartition == read {
					for o := b.From; o < b.To; o++ {
						if _, known := p.seen[i][o]; !known {
							p.seen[i][o] = moment{e.Tick, e.Seq}
						}
					}
				}
			}
		case journal.BatchAppended:
			if b.TopicPartition == read {
				for o := b.BaseOffset; o <= b.LastOffset; o++ {
					p.appended[o] = moment{e.Tick, e.Seq}
				}
			}
		case journal.TimePassed:
			p.waits = append(p.waits, passing{e.Cause, e.Seq, b.Span})
		case journal.MessageLost:
			if b.ByLink {
				p.losses++
			}
		case journal.ProcessKilled:
			p.crashes = append(p.crashes, crash{e.Node, e.Tick, "", e.Seq})
		default:
			p.take(e, l.Address.Values.Int("version"))
		}
	}
	return p
}

// take takes in one event that has to do with delivery.
func (p *past) take(e journal.Event, version int) {
	switch b := e.Body.(type) {
	case journal.ConsumerCrashed:
		p.crashes = append(p.crashes, crash{e.Node, e.Tick, b.At, e.Seq})
	case journal.ProduceFailed:
		p.failures = append(p.failures, failure{node: e.Node, tick: e.Tick, api: "Produce", error: b.Error, sent: true, seq: e.Seq})
	case journal.BatchExpired:
		p.failures = append(p.failures, failure{node: e.Node, tick: e.Tick, error: expired, sent: b.InFlight || b.Attempts > 0, seq: e.Seq})
	case journal.ProducerTransactionFailed:
		if n := len(p.failures); n > 0 && p.failures[n-1].node == e.Node && p.failures[n-1].tick == e.Tick && p.failures[n-1].error == b.Error {
			p.failures = p.failures[:n-1] // the same answer, told once
		}
		p.failures = append(p.failures, failure{node: e.Node, tick: e.Tick, api: b.API, error: b.Error, fatal: b.Fatal, seq: e.Seq})
	case journal.TransactionTimedOut:
		p.timeouts = append(p.timeouts, b)
		p.fenced = append(p.fenced, fencing{b.TransactionalID, e.Tick, b.ProducerEpoch, b.NewEpoch, "transaction.timeout.ms was over", version == 2, e.Seq})
	case journal.TransactionFenced:
		p.fenced = append(p.fenced, fencing{b.TransactionalID, e.Tick, b.ProducerEpoch, b.NewEpoch, string(b.From) + " began with the same transactional.id", false, e.Seq})
	case journal.DuplicateRecognised:
		p.again++
	case journal.BatchRetried:
		p.retried++
	}
}
