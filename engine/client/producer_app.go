package client

import (
	"fmt"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// producerApp is the application around a transactional producer: it hands in its workload in transactions, each of
// [Workload.TransactionRecords], and waits for the end of one before it begins the next.
//
// Simplified: the application does not send the events of a transaction again that was aborted.
type producerApp struct {
	owed   int  // records that it is to hand in now, as soon as no transaction's end is waited for
	byHand bool // the open transaction was begun by a command
	begun  int  // transactions of the workload
	handed int  // records of the workload in the open one
}

// runApp lets the application of a transactional producer do one thing; false: it waits for time, news or a person.
func (p *Producer) runApp(now kafka.Millis, out *Outside, j *journal.Journal) bool {
	t, a := &p.txn, &p.app
	switch {
	case p.dead:
		return false
	case t.state == FatalError:
		p.endProcess(t.failure, out, j)
		return false
	case t.state == AbortableError && !a.byHand:
		p.finish(false, "send or commitTransaction threw "+t.failure, t.last, j)
		return true
	case t.state == TransactionsIdle && a.byHand:
		a.byHand = false
	}
	if p.handsIn() && p.nextSend <= now && a.owed == 0 {
		p.nextSend = max(p.nextSend, now) + p.workload.Every
		a.owed = p.workload.Rate
	}
	if a.owed == 0 || a.byHand || t.state != TransactionsIdle && t.state != InTransaction {
		return false
	}
	a.owed--
	if index, mine := p.workload.draw(); mine {
		if t.state == TransactionsIdle {
			a.begun++
			a.handed = 0
			p.begin(0, j)
		}
		a.handed++
		p.handDrawn(now, index, out, j)
	}
	if n := p.workload.TransactionRecords; t.state == InTransaction && (n > 0 && a.handed >= n || n == 0 && a.owed == 0) {
		p.endWorkload(j)
	}
	return true
}

// endWorkload ends a transaction of the workload.
func (p *Producer) endWorkload(j *journal.Journal) {
	if n := p.workload.AbortEvery; n > 0 && p.app.begun%n == 0 {
		p.finish(false, fmt.Sprintf("the application gives up every %s transaction", ordinal(n)), p.txn.last, j)
		return
	}
	p.finish(true, "", p.txn.last, j)
}

func ordinal(n int) string {
	switch {
	case n == 1:
		return "single"
	case n == 2:
		return "second"
	case n == 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}

// endProcess ends the process of an application whose producer can do nothing more. The cluster learns of it by
// [Producer.Ended].
func (p *Producer) endProcess(why string, out *Outside, j *journal.Journal) {
	p.drop(why, func(*batch, bool) bool { return true }, out, j)
	p.endedBy = j.Append(p.node, p.txn.last, journal.ProducerEnded{Error: why})
	p.forget()
	p.txn.state, p.txn.failure = FatalError, why
}

// Ended gives the Seq of the event by which the process ended by itself since the last call; 0: it did not. The caller
// ends its connections.
func (p *Producer) Ended() (cause uint64) {
	cause, p.endedBy = p.endedBy, 0
	return cause
}

// why says why the application takes no order about a transaction; empty: it does.
func (p *Producer) why() string {
	switch {
	case !p.config.transactional():
		return fmt.Sprintf("%s has no transactional.id", p.node)
	case p.dead:
		return fmt.Sprintf("the process of %s does not run", p.node)
	}
	return ""
}

// throws says what a call throws for the state that the producer is in.
func (p *Producer) throws(call string) error {
	if t := &p.txn; t.failure != "" {
		return fmt.Errorf("%s of %s throws: the producer is in state %s (%s)", call, p.node, t.state, t.failure)
	}
	return fmt.Errorf("%s of %s throws: the producer is in state %s", call, p.node, p.txn.state)
}

// BeginTransaction lets the application begin a transaction by hand. The error says why it cannot.
func (p *Producer) BeginTransaction(now kafka.Millis, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, err error) {
	switch why := p.why(); {
	case why != "":
		return nil, fmt.Errorf("%s", why)
	case p.app.owed > 0 || p.handsIn():
		return nil, fmt.Errorf("the application of %s begins transactions by itself; stop-sending %s comes before", p.node, p.node)
	case p.txn.state != TransactionsIdle:
		return nil, p.throws("beginTransaction")
	}
	p.app.byHand = true
	p.begin(cause, j)
	return p.goOn(now, out, j), nil
}

// CommitTransaction lets the application commit the open transaction, begun by hand or not. The error says why it
// cannot.
func (p *Producer) CommitTransaction(now kafka.Millis, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, err error) {
	if why := p.why(); why != "" {
		return nil, fmt.Errorf("%s", why)
	}
	if p.txn.state != InTransaction {
		return nil, p.throws("commitTransaction")
	}
	p.finish(true, "", cause, j)
	return p.goOn(now, out, j), nil
}

// AbortTransaction lets the application abort the open transaction, begun by hand or not. The error says why it cannot.
func (p *Producer) AbortTransaction(now kafka.Millis, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, err error) {
	if why := p.why(); why != "" {
		return nil, fmt.Errorf("%s", why)
	}
	if p.txn.state != InTransaction && p.txn.state != AbortableError {
		return nil, p.throws("abortTransaction")
	}
	p.finish(false, "you asked for it", cause, j)
	return p.goOn(now, out, j), nil
}

// appWaits says whether the application's timer has to wait: it is in a call that has not returned, or a person has
// begun a transaction.
func (p *Producer) appWaits() bool {
	if !p.config.transactional() {
		return false
	}
	t := &p.txn
	return p.app.byHand || p.app.owed > 0 || t.state != TransactionsIdle && t.state != InTransaction
}
