package delivery

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/txn"
)

// past is what the journal says of a run so far, as far as the page tells it.
type past struct {
	seen     [2]map[kafka.Offset]moment // by reader: when it was given what stands at an offset; only looked up
	appended map[kafka.Offset]moment    // of the log that is read; only looked up
	waits    []passing
	// committed is what the application's group had committed of orders when its coordinator told last; -1: nothing.
	committed kafka.Offset
	states    map[string]txn.State // of each transactional.id, as its coordinator told last; only looked up
	doubted   map[sending]bool     // whether a try to write there failed of which the leader may have taken the batch; only looked up
	crashes   []crash
	failures  []failure // errors that ended something, the last ones
	fenced    []fencing
	again     []repeat // each time that a leader took a batch for one that it has
	retried   int      // times that a producer sent a batch again
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
	asked bool // it is the answer of a broker: otherwise none came
	doubt bool // the leader may have taken the batch
	open  bool // the transaction that it ended is still the one of that process
	seq   uint64
}

// repeat is when a leader took a batch for one that it has.
type repeat struct {
	of         kafka.TopicPartition
	base, last kafka.Offset // inclusive, of the one that it has
	seq        uint64
}

func (r *repeat) covers(o kafka.Offset) bool { return r.base <= o && o <= r.last }

// sending is a producer and where it writes.
type sending struct {
	node kafka.NodeID
	tp   kafka.TopicPartition
}

// notLeader is Kafka's name of the error that kerr calls by its former one.
const notLeader = "NOT_LEADER_OR_FOLLOWER"

// leavesDoubt says whether the leader may have taken a batch though its producer got an error: no answer came, or the leader
// had it and gave up waiting for the others, or resigned meanwhile.
func leavesDoubt(code string) bool {
	return slices.Contains([]string{kerr.NetworkException.Message, kerr.RequestTimedOut.Message, kerr.NotEnoughReplicasAfterAppend.Message, notLeader}, code)
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
	seq  uint64
}

// readPast walks over the journal.
func (l *layout) readPast() (p past) {
	read := l.read().TopicPartition
	p.appended, p.committed = map[kafka.Offset]moment{}, kafka.NoOffset
	p.states, p.doubted = map[string]txn.State{}, map[sending]bool{}
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
		case journal.ProcessKilled:
			p.over(e.Node)
			p.crashes = append(p.crashes, crash{e.Node, e.Tick, "", e.Seq})
		default:
			p.take(e, l.Cluster.Journal())
			p.takeCoordinator(e)
		}
	}
	return p
}

// takeCoordinator takes in what coordinators tell.
func (p *past) takeCoordinator(e journal.Event) {
	switch b := e.Body.(type) {
	case journal.OffsetCommitted:
		if b.Group == billing && b.TopicPartition.Topic == orders {
			p.committed = b.Offset
		}
	case journal.TransactionalOffsetsEnded:
		for _, o := range b.Visible {
			if b.Group == billing && o.TopicPartition.Topic == orders {
				p.committed = o.Offset
			}
		}
	case journal.OffsetsRemoved:
		if b.Group == billing && slices.Contains(b.Partitions, partition(orders)) {
			p.committed = kafka.NoOffset
		}
	case journal.TransactionalIDInitialised:
		p.states[b.TransactionalID] = txn.Empty
	case journal.PartitionsAddedToTransaction:
		p.states[b.TransactionalID] = txn.Ongoing
	case journal.TransactionStateChanged:
		p.states[b.TransactionalID] = txn.State(b.To)
	case journal.TransactionCompleted:
		p.states[b.TransactionalID] = txn.State(b.To)
	case journal.TransactionTimedOut:
		p.fenced = append(p.fenced, fencing{b.TransactionalID, e.Tick, b.ProducerEpoch, b.NewEpoch, "transaction.timeout.ms was over", e.Seq})
	case journal.TransactionFenced:
		p.fenced = append(p.fenced, fencing{b.TransactionalID, e.Tick, b.ProducerEpoch, b.NewEpoch, string(b.From) + " began with the same transactional.id", e.Seq})
	case journal.TransactionWriteFailed: // what was begun does not hold
		if n := len(p.fenced); n > 0 && p.fenced[n-1].who == b.TransactionalID && b.To == string(txn.PrepareAbort) {
			p.fenced = p.fenced[:n-1]
		}
	}
}

// take takes in one event that has to do with delivery.
func (p *past) take(e journal.Event, j *journal.Journal) {
	switch b := e.Body.(type) {
	case journal.ConsumerCrashed:
		p.over(e.Node)
		p.crashes = append(p.crashes, crash{e.Node, e.Tick, b.At, e.Seq})
	case journal.ProduceFailed:
		p.failures = append(p.failures, failure{node: e.Node, tick: e.Tick, api: "Produce", error: b.Error, sent: true, asked: isAnswer(j, e.Cause), doubt: leavesDoubt(b.Error), seq: e.Seq})
	case journal.BatchExpired:
		p.failures = append(p.failures, failure{node: e.Node, tick: e.Tick, error: expired, sent: b.InFlight || b.Attempts > 0, doubt: b.InFlight || p.doubted[sending{e.Node, b.TopicPartition}], seq: e.Seq})
	case journal.ProducerTransactionFailed:
		f := failure{node: e.Node, tick: e.Tick, api: b.API, error: b.Error, fatal: b.Fatal, asked: isAnswer(j, e.Cause), open: true, seq: e.Seq}
		if n := len(p.failures); n > 0 && p.failures[n-1].node == e.Node && p.failures[n-1].tick == e.Tick && p.failures[n-1].error == b.Error {
			f.doubt = p.failures[n-1].doubt
			p.failures = p.failures[:n-1] // the same answer, told once
		}
		p.failures = append(p.failures, f)
	case journal.ProducerTransactionEnded:
		p.over(e.Node)
	case journal.DuplicateRecognised:
		p.again = append(p.again, repeat{b.TopicPartition, b.BaseOffset, b.LastOffset, e.Seq})
	case journal.BatchRetried:
		p.retried++
		at := sending{e.Node, b.TopicPartition}
		p.doubted[at] = p.doubted[at] || leavesDoubt(b.Error)
	}
}

// over notes that a process is out of the transaction that it had.
func (p *past) over(node kafka.NodeID) {
	for i := range p.failures {
		if p.failures[i].node == node {
			p.failures[i].open = false
		}
	}
}

// isAnswer says whether what led to an event was the answer of a broker.
func isAnswer(j *journal.Journal, cause uint64) bool {
	e, ok := j.At(cause)
	if _, failed := e.Body.(journal.ProduceFailed); failed {
		e, ok = j.At(e.Cause)
	}
	b, is := e.Body.(journal.MessageDelivered)
	return ok && is && b.Response
}
