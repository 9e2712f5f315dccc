package txn

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
	"loglab/engine/simnet"
)

// newEndTxn is the version of EndTxn since which it raises the epoch.
//
// Source: TransactionVersion.transactionVersionForEndTxn.
const newEndTxn = 5

// endTransaction handles an EndTxn.
//
// Source: KafkaApis.handleEndTxnRequest, TransactionCoordinator.handleEndTransaction.
func (s *step) endTransaction(m *simnet.Message, request *kmsg.EndTxnRequest) {
	id := request.TransactionalID
	if id == "" {
		s.refuse(m, refusal{id, kerr.InvalidRequest, "the transactional id is empty"})
		return
	}
	t := s.c.transaction(id)
	if t == nil {
		s.refuse(m, *unmapped(id))
		return
	}
	producer := coordinator.Producer{ID: kafka.ProducerID(request.ProducerID), Epoch: kafka.ProducerEpoch(request.ProducerEpoch)}
	decide := t.mayEnd
	if request.Version >= newEndTxn {
		decide = t.mayEndAndBump
	}
	r, done := decide(producer, request.Commit)
	switch {
	case r != nil:
		s.refuse(m, *r)
		return
	case done:
		s.answer(m, ended(m, t.producer()))
		return
	}
	state, asked := PrepareAbort, "abort"
	if request.Commit {
		state, asked = PrepareCommit, "commit"
	}
	w := pendingWrite{done: prepared, request: m, why: fmt.Sprintf("%s sent EndTxn to %s", m.From, asked)}
	if request.Version < newEndTxn {
		s.decide(t, t.prepareEnd(state, 0, noProducerID, s.at()), w)
		return
	}
	next := noProducerID
	if exhausted(t.epoch) {
		ok := false
		if next, ok = s.ids(); !ok {
			s.refuse(m, noIDs(id))
			return
		}
	}
	if t.epoch == lastEpoch {
		s.refuse(m, refusal{id, kerr.UnknownServerError, "its producer has the last epoch there is, and EndTxn would raise it"})
		return
	}
	s.decide(t, t.prepareEnd(state, epochBump, next, s.at()), w)
}

// decide writes how a transaction ends; EndTxn is answered when that is written.
func (s *step) decide(t *transaction, to details, w pendingWrite) {
	if s.c.config.Sabotage == sabotage.EndAnsweredEarly {
		s.answer(w.request, ended(w.request, to.producer()))
		w.request = nil
	}
	s.write(t, to, w)
}

// ended answers an EndTxn that has done what it asks for: with the producer id and epoch for the next transaction, which
// only newer versions have room for.
func ended(m *simnet.Message, producer coordinator.Producer) *kmsg.EndTxnResponse {
	response := kmsg.NewPtrEndTxnResponse()
	if m.Version() < newEndTxn {
		producer = coordinator.Producer{ID: noProducerID, Epoch: noEpoch}
	}
	response.ProducerID, response.ProducerEpoch = int64(producer.ID), int16(producer.Epoch)
	return response
}

// results gives the states of a transaction that ends, and of one that has ended, with that result.
func results(commit bool) (prepare, complete State, name string) {
	if commit {
		return PrepareCommit, CompleteCommit, "commit"
	}
	return PrepareAbort, CompleteAbort, "abort"
}

// invalid refuses an EndTxn that does not go with the state.
//
// Source: TransactionCoordinator.logInvalidStateTransitionAndReturnError.
func (t *transaction) invalid(commit bool) *refusal {
	_, _, name := results(commit)
	return &refusal{t.id, kerr.InvalidTxnState, fmt.Sprintf("it asks to %s, and the transactional id is in state %s", name, t.state)}
}

// mayEnd says whether an EndTxn of an older client can end the transaction; done: it has ended so already.
//
// Source: TransactionCoordinator.endTransactionWithTV1.
func (t *transaction) mayEnd(producer coordinator.Producer, commit bool) (r *refusal, done bool) {
	if r := t.checkProducer(producer); r != nil {
		return r, false
	}
	prepare, complete, _ := results(commit)
	switch {
	case t.pending != "":
		return t.changing(), false
	case t.state == Ongoing:
		return nil, false
	case t.state == complete:
		return nil, true
	case t.state == prepare:
		return t.ending(), false
	}
	return t.invalid(commit), false
}

// mayEndAndBump says whether an EndTxn can end the transaction and raise the epoch; done: it has done so already, and this
// is that request again. That shows by the epoch, which is the one before.
//
//	                   abort, again  abort      commit, again  commit
//	Empty              fenced        raises     fenced         INVALID_TXN_STATE
//	CompleteAbort      done          raises     INVALID…       INVALID_TXN_STATE
//	CompleteCommit     INVALID…      raises     done           INVALID_TXN_STATE
//
// Source: TransactionCoordinator.endTransaction.
func (t *transaction) mayEndAndBump(producer coordinator.Producer, commit bool) (r *refusal, done bool) {
	overflown := t.previousProducerID == producer.ID && producer.Epoch == lastEpoch-1 && t.epoch == 0
	again := int(t.epoch) == int(producer.Epoch)+1
	valid := false
	switch {
	case t.state == Ongoing || t.state == Empty:
		valid = producer.Epoch == t.epoch
	case t.state.prepared():
		valid = again
	default:
		valid = again || overflown || producer.Epoch == t.epoch
	}
	prepare, complete, _ := results(commit)
	again = again || overflown
	switch {
	case t.pending != "":
		return t.changing(), false
	case t.producerID != producer.ID && !overflown:
		return t.checkProducer(producer), false
	case !valid:
		return &refusal{t.id, kerr.ProducerFenced, fmt.Sprintf("the producer id has epoch %d in state %s, the request %d", t.epoch, t.state, producer.Epoch)}, false
	case t.state == Ongoing:
		return nil, false
	case t.state == prepare:
		return t.ending(), false
	case t.state == complete && again:
		return nil, true
	case t.state.idle() && !commit && !again:
		return nil, false
	}
	return t.invalid(commit), false
}

// fencedEpoch is the epoch with which the coordinator aborts the transaction.
func (t *transaction) fencedEpoch() kafka.ProducerEpoch {
	if t.failedFence {
		return t.epoch
	}
	return t.epoch + 1
}

// fence aborts the open transaction with an epoch that its producer does not have. Request is the InitProducerID that wants
// it gone; nil: it has timed out.
//
// Source: TransactionCoordinator.endTransaction with isFromClient = false, TransactionMetadata.prepareFenceProducerEpoch.
func (s *step) fence(t *transaction, request *simnet.Message) {
	fenced := t.prepareFence()
	t.pending = ""
	w := pendingWrite{done: prepared, fence: true, request: request, why: "the transaction timed out"}
	if request != nil {
		w.why = fmt.Sprintf("%s sent InitProducerID", request.From)
	}
	if s.c.bumpsEpochs() {
		s.write(t, t.prepareEnd(PrepareAbort, epochBump, noProducerID, s.at()), w)
		return
	}
	t.epoch, t.lastProducerEpoch = fenced.epoch, noEpoch
	s.write(t, t.prepareEnd(PrepareAbort, 0, noProducerID, s.at()), w)
}
