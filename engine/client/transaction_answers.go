package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// isTransactional says whether a response answers the request about a transaction that is under way.
func (t *transactions) isAnswer(m *simnet.Message) bool {
	return t.correlation != 0 && m.Correlation == t.correlation
}

// takeTxnAnswer takes the answer to the request about a transaction that was under way.
func (p *Producer) takeTxnAnswer(m *simnet.Message, cause uint64, out *Outside, j *journal.Journal) {
	t := &p.txn
	t.correlation, t.last = 0, cause
	switch response := m.Response.(type) {
	case *kmsg.FindCoordinatorResponse:
		p.takeFound(response.Coordinators[0], cause, j)
	case *kmsg.InitProducerIDResponse:
		p.takeInitialized(response, cause, j)
	case *kmsg.AddPartitionsToTxnResponse:
		p.takePartitionsAdded(response, cause, j)
	case *kmsg.AddOffsetsToTxnResponse:
		if response.ErrorCode != 0 {
			p.txnRefused(response.ErrorCode, cause, j)
			return
		}
		t.started = true
		p.enqueue(txnRequest{kind: txnOffsets})
	case *kmsg.TxnOffsetCommitResponse:
		p.takeOffsetsAdded(response, cause, j)
	case *kmsg.EndTxnResponse:
		if response.ErrorCode != 0 {
			p.txnRefused(response.ErrorCode, cause, j)
			return
		}
		p.ended(t.current.commit, response, cause, out, j)
	default:
		panic(fmt.Sprintf("producer %s: no handler for %s", p.node, m.API()))
	}
}

// txnLost handles the end of the connection on which a request about a transaction was under way.
//
// Source: TxnRequestHandler.onComplete.
func (p *Producer) txnLost(cause uint64, j *journal.Journal) {
	t := &p.txn
	t.correlation, t.last = 0, cause
	if t.current.kind > txnFindGroup {
		p.lookUpCoordinator(t.current.kind, "the connection was lost", cause, j)
	}
	p.repeat(t.current)
}

// takeFound takes the answer to FindCoordinator.
func (p *Producer) takeFound(found kmsg.FindCoordinatorResponseCoordinator, cause uint64, j *journal.Journal) {
	t := &p.txn
	switch {
	case found.ErrorCode != 0:
		p.txnRefused(found.ErrorCode, cause, j)
	case t.current.kind == txnFindGroup:
		t.offsetsAt = kafka.NodeID(found.Host)
		t.last = j.Append(p.node, cause, journal.CoordinatorFound{Group: t.group.group, Coordinator: t.offsetsAt})
	default:
		t.coordinator = kafka.NodeID(found.Host)
		t.last = j.Append(p.node, cause, journal.TransactionCoordinatorFound{TransactionalID: p.config.TransactionalID, Coordinator: t.coordinator})
	}
}

// takeInitialized takes the answer to InitProducerId.
func (p *Producer) takeInitialized(response *kmsg.InitProducerIDResponse, cause uint64, j *journal.Journal) {
	t := &p.txn
	if response.ErrorCode != 0 {
		p.txnRefused(response.ErrorCode, cause, j)
		return
	}
	raised := t.current.kind == txnRaise
	p.reidentify(response.ProducerID, response.ProducerEpoch)
	t.state, t.failure = TransactionsIdle, ""
	t.last = j.Append(p.node, cause, journal.TransactionsReady{
		TransactionalID: p.config.TransactionalID, ProducerID: p.identity.id, ProducerEpoch: p.identity.epoch, Raised: raised,
	})
}

// reidentify takes over a producer id and epoch; all sequences begin at 0.
func (p *Producer) reidentify(id int64, epoch int16) {
	p.identity.id, p.identity.epoch = kafka.ProducerID(id), kafka.ProducerEpoch(epoch)
	for i := range p.queues {
		p.queues[i].sequence = sequences{}
	}
}

// takePartitionsAdded takes the answer to AddPartitionsToTxn.
//
// Source: TransactionManager.AddPartitionsToTxnHandler.
func (p *Producer) takePartitionsAdded(response *kmsg.AddPartitionsToTxnResponse, cause uint64, j *journal.Journal) {
	t := &p.txn
	var added []kafka.TopicPartition
	odd := int16(0)
	for _, topic := range response.Topics {
		for _, part := range topic.Partitions {
			switch code := part.ErrorCode; {
			case code == 0:
				added = plus(added, kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(part.Partition)})
			case code == kerr.OperationNotAttempted.Code && odd != 0:
			case code == kerr.OperationNotAttempted.Code, !p.txnKnows(code):
				odd = code
			default:
				p.txnRefused(code, cause, j)
				return
			}
		}
	}
	t.adding = nil
	if odd != 0 {
		p.failTransaction(false, "AddPartitionsToTxn", errorName(odd), cause, j)
		return
	}
	for _, tp := range added {
		t.within = plus(t.within, tp)
	}
	t.started = true
	t.last = j.Append(p.node, cause, journal.ProducerPartitionsAdded{TransactionalID: p.config.TransactionalID, Partitions: added})
}

// txnKnows says whether AddPartitionsToTxn's handler has a rule for an error; others make the transaction one that can
// only be aborted.
func (p *Producer) txnKnows(code int16) bool {
	switch code {
	case kerr.InvalidProducerEpoch.Code, kerr.ProducerFenced.Code, kerr.InvalidTxnState.Code, kerr.InvalidProducerIDMapping.Code,
		kerr.TransactionalIDAuthorizationFailed.Code, kerr.UnknownProducerID.Code, kerr.TransactionAbortable.Code:
		return true
	}
	return coordinatorGone(code) || passesInTime(code)
}

// takeOffsetsAdded takes the answer to TxnOffsetCommit. Partitions without an error are done with; the others are sent
// again if their errors pass.
//
// Source: TransactionManager.TxnOffsetCommitHandler.
func (p *Producer) takeOffsetsAdded(response *kmsg.TxnOffsetCommitResponse, cause uint64, j *journal.Journal) {
	t := &p.txn
	left := slices.Clone(t.offsets)
	why, gone := int16(0), false
	for _, topic := range response.Topics {
		for _, part := range topic.Partitions {
			tp := kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(part.Partition)}
			switch code := part.ErrorCode; {
			case code == 0:
				left = slices.DeleteFunc(left, func(o commitOffset) bool { return o.tp == tp })
			case coordinatorGone(code), code == kerr.RequestTimedOut.Code:
				why, gone = code, true
			case passesInTime(code):
				why = code
			default:
				t.offsets = nil
				p.txnRefused(code, cause, j)
				return
			}
		}
	}
	t.offsets = left
	switch {
	case len(left) == 0:
		t.last = j.Append(p.node, cause, journal.OffsetsAddedToTransaction{TransactionalID: p.config.TransactionalID, Group: t.group.group})
	case gone:
		p.lookUpCoordinator(txnOffsets, "TxnOffsetCommit was answered with "+errorName(why), cause, j)
		p.repeat(t.current)
	default:
		p.txnRefused(why, cause, j)
	}
}

// ended takes the end of the transaction; a nil response says that the coordinator was not asked.
//
// Source: TransactionManager.EndTxnHandler, resetTransactionState.
func (p *Producer) ended(commit bool, response *kmsg.EndTxnResponse, cause uint64, out *Outside, j *journal.Journal) {
	t := &p.txn
	event := journal.ProducerTransactionEnded{TransactionalID: p.config.TransactionalID, Number: t.number, Commit: commit, Untold: response == nil}
	if response != nil && response.ProducerID >= 0 {
		event.Raised = true
		p.reidentify(response.ProducerID, response.ProducerEpoch)
	}
	event.ProducerID, event.ProducerEpoch = p.identity.id, p.identity.epoch
	t.last = j.Append(p.node, cause, event)
	if commit {
		t.committed++
	} else {
		t.aborted++
	}
	out.Source.transactions.append(TransactionEnd{Producer: p.node, Number: t.number, Committed: commit, Tick: j.Tick, Event: t.last})
	t.clear()
}

// passesInTime says whether a request that was refused with an error is sent again.
//
// Source: class RetriableException.
func passesInTime(code int16) bool {
	return code == kerr.ConcurrentTransactions.Code || kerr.IsRetriable(kerr.ErrorForCode(code))
}

// txnRefused takes an error that a request about a transaction was answered with.
//
// Source: the handlers of TransactionManager: handleResponse of each.
//
// Simplified: errors of authorization are fatal like any other that no rule names.
func (p *Producer) txnRefused(code int16, cause uint64, j *journal.Journal) {
	t := &p.txn
	kind, api, name := t.current.kind, txnNames[t.current.kind], errorName(code)
	abortable := false
	switch {
	case kind > txnFindGroup && coordinatorGone(code):
		p.lookUpCoordinator(kind, api+" was answered with "+name, cause, j)
		p.repeat(t.current)
		return
	case passesInTime(code):
		again := t.current
		again.backoff = p.config.RetryBackoff
		if kind == txnPartitions && code == kerr.ConcurrentTransactions.Code && len(t.within) == 0 {
			again.backoff = min(again.backoff, addPartitionsBackoff)
		}
		t.last = j.Append(p.node, cause, journal.TransactionRequestRetried{TransactionalID: p.config.TransactionalID, API: api, Error: name, Backoff: again.backoff})
		p.repeat(again)
		return
	case code == kerr.InvalidProducerEpoch.Code && kind > txnFindGroup:
		name = errorName(kerr.ProducerFenced.Code)
	case code == kerr.TransactionAbortable.Code:
		abortable = true
	case code == kerr.UnknownProducerID.Code && (kind == txnPartitions || kind == txnAddOffsets || kind == txnEnd):
		abortable, t.raises = true, !p.config.implicit()
	case kind == txnOffsets && (code == kerr.UnknownMemberID.Code || code == kerr.IllegalGeneration.Code):
		abortable, name = true, "CommitFailedException: "+name
	case kind == txnOffsets && code == kerr.FencedInstanceID.Code:
		abortable = true
	}
	p.failTransaction(!abortable, api, name, cause, j)
}
