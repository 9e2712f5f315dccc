package delivery

import (
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// past is what the journal says of a run so far, as far as the page tells it.
type past struct {
	seen     [2]map[kafka.Offset]kafka.Tick // by reader: when it was given what stands at an offset; only looked up
	appended map[kafka.Offset]kafka.Tick    // of the log that is read; only looked up
	crashes  []crash
	failures []failure // errors that ended something, the last ones
	timeouts []journal.TransactionTimedOut
	fenced   []fencing
	again    int // batches that the leader recognised as duplicates
	retried  int // batches that a producer sent again
	losses   int // messages that a link dropped
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
	api   string
	error string
	fatal bool
	seq   uint64
}

// fencing is a transaction that the coordinator ended for its producer.
type fencing struct {
	who  string
	tick kafka.Tick
	from kafka.ProducerEpoch
	to   kafka.ProducerEpoch
	why  string
	seq  uint64
}

// readPast walks over the journal.
func (l *layout) readPast() (p past) {
	read := l.read().TopicPartition
	p.appended = map[kafka.Offset]kafka.Tick{}
	for i := range p.seen {
		p.seen[i] = map[kafka.Offset]kafka.Tick{}
	}
	for e := range l.Cluster.Journal().All() {
		switch b := e.Body.(type) {
		case journal.RecordsRead:
			for i, r := range l.readers {
				if string(e.Node) == string(r.member.ID) && b.TopicPartition == read {
					for o := b.From; o < b.To; o++ {
						if _, known := p.seen[i][o]; !known {
							p.seen[i][o] = e.Tick
						}
					}
				}
			}
		case journal.BatchAppended:
			if b.TopicPartition == read {
				for o := b.BaseOffset; o <= b.LastOffset; o++ {
					p.appended[o] = e.Tick
				}
			}
		case journal.MessageLost:
			if b.ByLink {
				p.losses++
			}
		case journal.ProcessKilled:
			p.crashes = append(p.crashes, crash{e.Node, e.Tick, "", e.Seq})
		default:
			p.take(e)
		}
	}
	return p
}

// take takes in one event that has to do with delivery.
func (p *past) take(e journal.Event) {
	switch b := e.Body.(type) {
	case journal.ConsumerCrashed:
		p.crashes = append(p.crashes, crash{e.Node, e.Tick, b.At, e.Seq})
	case journal.ProduceFailed:
		p.failures = append(p.failures, failure{e.Node, e.Tick, "Produce", b.Error, false, e.Seq})
	case journal.ProducerTransactionFailed:
		if n := len(p.failures); n > 0 && p.failures[n-1].node == e.Node && p.failures[n-1].tick == e.Tick && p.failures[n-1].error == b.Error {
			p.failures = p.failures[:n-1] // the same answer, told once
		}
		p.failures = append(p.failures, failure{e.Node, e.Tick, b.API, b.Error, b.Fatal, e.Seq})
	case journal.TransactionTimedOut:
		p.timeouts = append(p.timeouts, b)
		p.fenced = append(p.fenced, fencing{b.TransactionalID, e.Tick, b.ProducerEpoch, b.NewEpoch, "transaction.timeout.ms was over", e.Seq})
	case journal.TransactionFenced:
		p.fenced = append(p.fenced, fencing{b.TransactionalID, e.Tick, b.ProducerEpoch, b.NewEpoch, string(b.From) + " began with the same transactional.id", e.Seq})
	case journal.DuplicateRecognised:
		p.again++
	case journal.BatchRetried:
		p.retried++
	}
}
