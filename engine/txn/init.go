package txn

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
	"loglab/engine/simnet"
)

// initProducerID handles an InitProducerID: the producer gets a producer id and an epoch that no older producer of the
// same transactional id has. A transaction that is open is aborted first.
//
// Source: KafkaApis.handleInitProducerIdRequest, TransactionCoordinator.handleInitProducerId.
func (s *step) initProducerID(m *simnet.Message, request *kmsg.InitProducerIDRequest) {
	if request.TransactionalID == nil {
		panic("txn: an InitProducerID without a transactional id is not for a transaction coordinator")
	}
	id, timeout := *request.TransactionalID, kafka.Millis(request.TransactionTimeoutMillis)
	expected := coordinator.Producer{ID: kafka.ProducerID(request.ProducerID), Epoch: kafka.ProducerEpoch(request.ProducerEpoch)}
	if request.Version < 3 {
		expected = coordinator.Producer{ID: noProducerID, Epoch: noEpoch} // which it has not got
	}
	limit := "transaction.max.timeout.ms = " + kafka.Thousands(s.c.config.MaxTimeout) + " ms"
	switch {
	case (expected.ID == noProducerID) != (expected.Epoch == noEpoch):
		s.refuse(m, refusal{id, kerr.InvalidRequest, "it has a producer id without an epoch, or an epoch without a producer id"})
		return
	case id == "":
		s.refuse(m, refusal{id, kerr.InvalidRequest, "the transactional id is empty"})
		return
	case timeout > s.c.config.MaxTimeout:
		s.refuse(m, refusal{id, kerr.InvalidTransactionTimeout, "transaction.timeout.ms = " + kafka.Thousands(timeout) + " ms is more than " + limit})
		return
	case timeout <= 0:
		s.refuse(m, refusal{id, kerr.InvalidTransactionTimeout, "transaction.timeout.ms = " + kafka.Thousands(timeout) + " ms is not more than 0"})
		return
	}
	t := s.c.transaction(id)
	if t == nil {
		producerID, ok := s.ids()
		if !ok {
			s.refuse(m, noIDs(id))
			return
		}
		t = &transaction{id: id, details: details{
			state: Empty, producerID: producerID, previousProducerID: noProducerID, nextProducerID: noProducerID, epoch: noEpoch,
			lastProducerEpoch: noEpoch, timeout: timeout, start: kafka.NoTimestamp, updated: s.at(),
		}}
		s.c.put(t)
	}
	if r := t.mayInitialise(expected); r != nil {
		s.refuse(m, *r)
		return
	}
	if t.state == Ongoing {
		s.then(journal.TransactionFenced{
			TransactionalID: id, From: m.From, ProducerID: t.producerID, ProducerEpoch: t.epoch, NewEpoch: t.fencedEpoch(), Partitions: len(t.partitions),
		})
		s.fence(t, m)
		return
	}
	to, why, r := s.initialise(t, expected, timeout)
	if r != nil {
		s.refuse(m, *r)
		return
	}
	s.write(t, to, pendingWrite{done: initialised, request: m, why: why})
}

// noIDs says that no producer id is at hand.
//
// Source: RPCProducerIdManager.generateProducerId.
func noIDs(id string) refusal {
	return refusal{id, kerr.CoordinatorLoadInProgress, "the broker has no producer id at hand and asks the controller for a block of them"}
}

// mayInitialise says why a producer cannot begin now.
//
// Source: TransactionCoordinator.prepareInitProducerIdTransit.
func (t *transaction) mayInitialise(expected coordinator.Producer) *refusal {
	switch {
	case t.pending != "":
		return t.changing()
	case expected.ID != noProducerID && t.epoch != noEpoch && expected.ID != t.producerID &&
		!(expected.ID == t.previousProducerID && exhausted(expected.Epoch)):
		return &refusal{t.id, kerr.ProducerFenced, fmt.Sprintf("the transactional id has producer id %s now, the request %s",
			kafka.Thousands(t.producerID), kafka.Thousands(expected.ID))}
	case t.state.prepared():
		return t.ending()
	case t.state == Ongoing && t.epoch == lastEpoch:
		return &refusal{t.id, kerr.UnknownServerError, "its transaction cannot be aborted: its producer has the last epoch there is"}
	}
	return nil
}

// changing refuses what comes while a change is being written.
func (t *transaction) changing() *refusal {
	return &refusal{t.id, kerr.ConcurrentTransactions, fmt.Sprintf("the change from %s to %s is not written on every in-sync replica yet", t.state, t.pending)}
}

// ending refuses what comes while a transaction ends.
func (t *transaction) ending() *refusal {
	return &refusal{t.id, kerr.ConcurrentTransactions, fmt.Sprintf("the transaction is in state %s: its markers are not written everywhere yet", t.state)}
}

// initialise prepares the producer id and epoch of a producer that begins, and says by which rule it gets them.
func (s *step) initialise(t *transaction, expected coordinator.Producer, timeout kafka.Millis) (to details, why string, r *refusal) {
	given := expected.ID != noProducerID
	if exhausted(t.epoch) {
		if given && expected.Epoch != t.epoch {
			return to, "", &refusal{t.id, kerr.UnknownServerError, fmt.Sprintf("epoch %d is the last one that a producer may have, and the request has %d", t.epoch, expected.Epoch)}
		}
		id, ok := s.ids()
		if !ok {
			r := noIDs(t.id)
			return to, "", &r
		}
		return t.prepareRotation(id, timeout, given, s.at()), fmt.Sprintf("epoch %d is the last one that a producer may have, so it gets a new producer id", t.epoch), nil
	}
	epoch := t.epoch
	to, ok := t.prepareNextEpoch(timeout, expected.Epoch, s.at())
	if s.c.config.Sabotage == sabotage.ZombiesPass && ok && epoch != noEpoch {
		to.epoch = epoch
	}
	switch {
	case !ok:
		why = fmt.Sprintf("the request has epoch %d; the producer has epoch %d now, and before it %s", expected.Epoch, t.epoch, known(t.lastProducerEpoch))
		return to, "", &refusal{t.id, kerr.ProducerFenced, why}
	case epoch == noEpoch:
		why = "the transactional id was not known"
	case to.epoch == epoch:
		why = fmt.Sprintf("the request has the epoch before, %d: it was answered already, and the answer may have been lost", expected.Epoch)
	case given:
		why = fmt.Sprintf("the producer goes on from epoch %d after an error", epoch)
	default:
		why = fmt.Sprintf("a producer that begins gets the next epoch, so that one which has %d is fenced", epoch)
	}
	return to, why, nil
}

// known names an epoch.
func known(epoch kafka.ProducerEpoch) string {
	if epoch == noEpoch {
		return "one that is not known"
	}
	return fmt.Sprint(epoch)
}
