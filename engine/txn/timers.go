package txn

import (
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
)

// NextDue is when the next timer fires; ok is false when none is set.
func (c *Coordinator) NextDue() (due kafka.Millis, ok bool) { return c.next.due, c.next.set }

// setNext finds the first timer. A check counts when it will find something.
func (c *Coordinator) setNext() {
	next := timer{}
	earliest := func(t timer) {
		if t.set && (!next.set || t.due < next.due) {
			next = t
		}
	}
	for _, t := range c.transactions {
		earliest(t.retry)
		if t.pending == "" {
			earliest(c.timesOut(t))
			earliest(c.expires(t))
		}
	}
	for i := range c.writes {
		earliest(timer{c.writes[i].deadline, true})
	}
	c.next = next
}

// skipChecks leaves out the checks until now that had nothing to find, as things were; the times of the others stay.
func (c *Coordinator) skipChecks(now kafka.Millis) {
	found := func(due func(t *transaction) timer) bool {
		return slices.ContainsFunc(c.transactions, func(t *transaction) bool {
			check := due(t)
			return t.pending == "" && check.set && check.due < now
		})
	}
	if !found(c.timesOut) {
		c.abort = checkFrom(c.abort, c.config.AbortInterval, now)
	}
	if !found(c.expires) {
		c.expire = checkFrom(c.expire, c.config.ExpirationCheckInterval, now)
	}
}

// checkFrom gives the first check, of those that come every interval from check on, that is not before at.
func checkFrom(check, interval, at kafka.Millis) kafka.Millis {
	interval = max(interval, 1)
	if check < at {
		check += (at - check + interval - 1) / interval * interval
	}
	return check
}

// timesOut gives the check that finds an open transaction to have timed out, as things stand.
//
// Simplified: a transaction whose producer has the last epoch there is stays open. Kafka's check fails at it each time,
// and those behind it in its hash table are not looked at.
//
// Source: TransactionStateManager.timedOutTransactions: the time has to be over.
func (c *Coordinator) timesOut(t *transaction) timer {
	if t.state != Ongoing || t.timeout == math.MaxInt32 || t.epoch == lastEpoch || c.config.Sabotage == sabotage.NoTimeouts {
		return timer{}
	}
	over := kafka.Millis(t.start-c.config.Start) + t.timeout
	return timer{checkFrom(c.abort, c.config.AbortInterval, over+1), true}
}

// expires gives the check that finds a transactional id to have expired, as things stand.
//
// Source: TransactionStateManager.shouldExpire.
func (c *Coordinator) expires(t *transaction) timer {
	if !t.state.idle() {
		return timer{}
	}
	over := kafka.Millis(t.updated-c.config.Start) + c.config.IDExpiration
	return timer{checkFrom(c.expire, c.config.ExpirationCheckInterval, over), true}
}

// Tick lets the timers that are due fire: writes that took too long, the check of timed-out transactions, that of expired
// transactional ids, and writes that are to be tried again; transactional ids in their order.
//
// Simplified: the checks come in intervals from the time on at which the coordinator begins; Kafka's broker has one check
// of each kind for all its coordinators, in intervals from its own start.
func (c *Coordinator) Tick(now kafka.Millis, j *journal.Journal) coordinator.Effects {
	if !c.next.set || c.next.due > now {
		return coordinator.Effects{}
	}
	s := c.begin(now, 0, j)
	s.timeOutWrites()
	if c.abort <= now {
		s.abortTimedOut()
		c.abort = checkFrom(c.abort, c.config.AbortInterval, now+1)
	}
	s.cause = 0
	if c.expire <= now {
		s.removeExpired()
		c.expire = checkFrom(c.expire, c.config.ExpirationCheckInterval, now+1)
	}
	s.cause = 0
	if slices.ContainsFunc(c.transactions, func(t *transaction) bool { return t.retry.set && t.retry.due <= now }) {
		s.retryCompletions()
	}
	return s.end()
}

// abortTimedOut aborts the transactions that have been open for longer than their producer said.
//
// Source: TransactionCoordinator.abortTimedOutTransactions.
func (s *step) abortTimedOut() {
	for _, t := range s.c.transactions {
		if t.pending != "" {
			continue
		}
		if due := s.c.timesOut(t); !due.set || due.due > s.now {
			continue
		}
		s.cause = 0
		s.then(journal.TransactionTimedOut{
			TransactionalID: t.id, ProducerID: t.producerID, ProducerEpoch: t.epoch, NewEpoch: t.fencedEpoch(), Timeout: t.timeout,
			Open: kafka.Millis(s.at() - t.start), Interval: s.c.config.AbortInterval,
		})
		s.fence(t, nil)
	}
}

// removeExpired writes tombstones for the transactional ids that have not been used for too long.
//
// Simplified: all go into one batch; Kafka begins a new one when max.message.bytes are full.
//
// Source: TransactionStateManager.removeExpiredTransactionalIds.
func (s *step) removeExpired() {
	w := pendingWrite{done: idsExpired, deadline: s.now + s.c.config.RequestTimeout, limit: "request.timeout.ms"}
	var records []coordinator.Record
	for _, t := range s.c.transactions {
		if t.pending != "" {
			continue
		}
		if due := s.c.expires(t); !due.set || due.due > s.now {
			continue
		}
		t.prepareDead()
		w.expired = append(w.expired, t.id)
		records = append(records, tombstone(t.id))
	}
	if len(records) > 0 {
		s.append(records, w)
	}
}

// forget takes expired transactional ids away, whose tombstones are written.
//
// Source: TransactionStateManager.writeTombstonesForExpiredTransactionalIds.
func (s *step) forget(w pendingWrite) {
	for _, id := range w.expired {
		t := s.c.transaction(id)
		s.journal(journal.TransactionalIDExpired{
			TransactionalID: id, State: string(t.state), ProducerID: t.producerID, ProducerEpoch: t.epoch,
			Unused: kafka.Millis(s.at() - t.updated), Expiration: s.c.config.IDExpiration,
		})
		s.c.drop(id)
	}
}

// keep leaves transactional ids as they are whose tombstones could not be written.
func (s *step) keep(w pendingWrite, err *kerr.Error, why string) {
	for _, id := range w.expired {
		t := s.c.transaction(id)
		t.pending = ""
		s.journal(journal.TransactionWriteFailed{TransactionalID: t.id, State: string(t.state), To: string(Dead), Error: err.Message, Why: why})
	}
}
