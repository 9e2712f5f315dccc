package txn

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// pendingWrite is a write of which nobody has told yet what became of it. What its record says holds when it is written,
// and not before.
//
// Source: TransactionStateManager.appendTransactionToLog.
type pendingWrite struct {
	id       uint64
	deadline kafka.Millis // when it counts as failed
	limit    string       // the setting that says so
	cause    uint64       // the event that led to it
	done     outcome
	of       string  // the transactional id
	to       details // what the record says
	why      string  // by which rule

	request *simnet.Message // that is answered then; nil: none
	fence   bool            // the coordinator aborts the transaction and fences its producer
	before  details         // of partitionsAdded: what there was before
	client  int16           // of partitionsAdded: the client's transaction version
	group   string          // of partitionsAdded: of an AddOffsetsToTxn

	addition uint64 // of partitionsAdded: the AddPartitionsToTxn; 0: an AddOffsetsToTxn
	place    int    // of partitionsAdded: of the transaction in it

	expired []string // of tombstones: the transactional ids
}

// outcome says what a write is for.
type outcome uint8

const (
	initialised     outcome = iota // InitProducerID is answered
	partitionsAdded                // AddPartitionsToTxn or AddOffsetsToTxn is answered
	prepared                       // EndTxn is answered, and the markers are to be written
	completed                      // the transaction is over
	idsExpired                     // transactional ids are forgotten
)

// write wants a change written that is prepared. The broker's append waits for the in-sync replicas as long as a
// transaction of this producer may be open.
func (s *step) write(t *transaction, to details, w pendingWrite) {
	w.of, w.to = t.id, to
	w.deadline, w.limit = s.now+to.timeout, "transaction.timeout.ms"
	s.append([]coordinator.Record{valueOf(t.id, to, s.c.config.TransactionVersion).Encode()}, w)
}

// append wants records appended.
func (s *step) append(records []coordinator.Record, w pendingWrite) {
	s.c.lastWrite++
	w.id, w.cause = s.c.lastWrite, s.cause
	s.effects.Writes = append(s.effects.Writes, coordinator.Write{ID: w.id, Records: records, Cause: s.cause})
	s.c.writes = append(s.c.writes, w)
}

// Written tells what became of a write: it is on every in-sync replica, or err says why not. A write that is there
// has all those before it there that were not refused.
//
// With an error what the record says does not come to hold: also where it is in the log, as with REQUEST_TIMED_OUT and
// NOT_ENOUGH_REPLICAS_AFTER_APPEND, and comes to be replicated later. The coordinator knows nothing of that then, and only
// the next one reads it. How long a write may take the coordinator keeps by itself: transaction.timeout.ms of the
// producer, and request.timeout.ms for tombstones.
//
// Source: TransactionStateManager.appendTransactionToLog, updateCacheCallback.
func (c *Coordinator) Written(now kafka.Millis, id uint64, err *kerr.Error, cause uint64, j *journal.Journal) coordinator.Effects {
	s := c.begin(now, cause, j)
	if err == nil {
		for len(c.writes) > 0 && c.writes[0].id <= id {
			w := c.writes[0]
			c.writes = slices.Delete(c.writes, 0, 1)
			s.cause = cause
			s.written(w)
		}
		return s.end()
	}
	if i := slices.IndexFunc(c.writes, func(w pendingWrite) bool { return w.id == id }); i >= 0 {
		w := c.writes[i]
		c.writes = slices.Delete(c.writes, i, i+1)
		s.failed(w, err, err.Message)
	}
	return s.end()
}

// written makes what a record says hold, and goes on from there.
func (s *step) written(w pendingWrite) {
	if w.done == idsExpired {
		s.forget(w)
		return
	}
	t := s.c.transaction(w.of)
	before := t.details
	t.complete(w.to)
	switch w.done {
	case initialised:
		s.then(journal.TransactionalIDInitialised{
			TransactionalID: t.id, From: string(before.state), ProducerID: t.producerID, ProducerEpoch: t.epoch,
			OldProducerID: before.producerID, OldProducerEpoch: before.epoch, Timeout: t.timeout, Why: w.why,
		})
		response := kmsg.NewPtrInitProducerIDResponse()
		response.ProducerID, response.ProducerEpoch = int64(t.producerID), int16(t.epoch)
		s.answer(w.request, response)
	case partitionsAdded:
		s.then(journal.PartitionsAddedToTransaction{
			TransactionalID: t.id, From: string(before.state), ProducerID: t.producerID, ProducerEpoch: t.epoch,
			Added: without(t.partitions, before.partitions), Partitions: len(t.partitions), Begins: before.state.idle(),
			ByBroker: w.client >= epochBump, Group: w.group, Timeout: t.timeout,
		})
		if w.addition == 0 {
			s.answer(w.request, kmsg.NewPtrAddOffsetsToTxnResponse())
			return
		}
		s.added(w.addition, w.place, same(nil, s.partitionsAsked(w)))
	case prepared:
		s.then(journal.TransactionStateChanged{
			TransactionalID: t.id, From: string(before.state), To: string(t.state), ProducerID: t.producerID, ProducerEpoch: t.epoch,
			OldProducerEpoch: before.epoch, Partitions: len(t.partitions), Answered: w.request != nil && !w.fence, Why: w.why,
		})
		s.decided(t, w)
	case completed:
		s.then(journal.TransactionCompleted{
			TransactionalID: t.id, From: string(before.state), To: string(t.state), ProducerID: t.producerID, ProducerEpoch: t.epoch,
			OldProducerID: before.producerID, Took: kafka.Millis(s.at() - t.start),
		})
	}
}

// partitionsAsked counts the partitions of a transaction of an AddPartitionsToTxn, in which one may be named twice.
func (s *step) partitionsAsked(w pendingWrite) int {
	return len(partitionsOf(&transactionsOf(w.request.Request.(*kmsg.AddPartitionsToTxnRequest))[w.place]))
}

// failed takes back what a record would have said, and tells who waits.
func (s *step) failed(w pendingWrite, err *kerr.Error, why string) {
	told := appendError(err)
	if w.done == idsExpired {
		s.keep(w, err, why)
		return
	}
	t := s.c.transaction(w.of)
	event := journal.TransactionWriteFailed{TransactionalID: t.id, State: string(t.state), To: string(w.to.state), Error: err.Message, Why: why}
	if w.done == completed && told == kerr.CoordinatorNotAvailable {
		t.retry = timer{s.now + s.c.config.RequestTimeout, true}
		event.Retry = s.c.config.RequestTimeout
		s.then(event)
		return
	}
	t.pending, t.completing = "", nil
	t.failedFence = t.failedFence || w.fence && !s.c.bumpsEpochs()
	s.then(event)
	if w.request == nil {
		return
	}
	r := refusal{t.id, told, fmt.Sprintf("the change to %s could not be written: %s", w.to.state, why)}
	if w.addition == 0 {
		s.refuse(w.request, r)
		return
	}
	s.noteRefusal(w.request, r)
	s.added(w.addition, w.place, same(knownAs(w.request.Request, told), s.partitionsAsked(w)))
}

// timeOutWrites gives up the writes that are not on every in-sync replica in time.
func (s *step) timeOutWrites() {
	for {
		i := slices.IndexFunc(s.c.writes, func(w pendingWrite) bool { return w.deadline <= s.now })
		if i < 0 {
			return
		}
		w := s.c.writes[i]
		s.c.writes = slices.Delete(s.c.writes, i, i+1)
		s.cause = w.cause
		span := w.to.timeout
		if w.done == idsExpired {
			span = s.c.config.RequestTimeout
		}
		s.failed(w, kerr.RequestTimedOut, fmt.Sprintf("it was not on every in-sync replica within %s = %s ms", w.limit, kafka.Thousands(span)))
	}
}

// appendError is what a client is told of a failed append.
//
// Source: TransactionStateManager.appendTransactionToLog.
func appendError(err *kerr.Error) *kerr.Error {
	switch err {
	case kerr.UnknownTopicOrPartition, kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut:
		return kerr.CoordinatorNotAvailable
	case kerr.NotLeaderForPartition, kerr.KafkaStorageError:
		return kerr.NotCoordinator
	case kerr.MessageTooLarge, kerr.RecordListTooLarge:
		return kerr.UnknownServerError
	}
	return err
}
