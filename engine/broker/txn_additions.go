package broker

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/replication"
	"loglab/engine/sabotage"
	"loglab/engine/simnet"
)

// addition is a write in a transaction that waits until the transaction's coordinator knows its partitions. Of
// transactions of version 2 this broker adds them; before, the producer has done so, and the broker only asks.
//
// Simplified: each write asks by a request of its own; Kafka puts those to one coordinator into one.
//
// Source: AddPartitionsToTxnManager; KIP-890.
type addition struct {
	message    *simnet.Message // Produce or TxnOffsetCommit
	id         string          // transactional.id
	producer   coordinator.Producer
	partitions []kafka.TopicPartition
	verifyOnly bool
	call       call
	asked      int32        // the correlation of the last call
	retryAt    kafka.Millis // it is asked again then; only without a call
	until      kafka.Millis // not later than that
	cause      uint64

	// behind says that the request has not been looked at: one of the same client before it waits. Kafka takes the next
	// request of a connection when the one before is answered.
	behind bool
}

// What the broker waits before it adds partitions to a transaction again whose predecessor is not complete, and how long
// it does so.
//
// Source: add.partitions.to.txn.retry.backoff.ms, add.partitions.to.txn.retry.backoff.max.ms.
const (
	additionBackoff kafka.Millis = 20
	additionRetries kafka.Millis = 100
)

// additionFailures say what became of each partition that was asked for.
type additionFailures []additionFailure

type additionFailure struct {
	tp  kafka.TopicPartition
	err *kerr.Error
	why string
}

func (f additionFailures) of(tp kafka.TopicPartition) (err *kerr.Error, why string) {
	for _, failed := range f {
		if failed.tp == tp {
			return failed.err, failed.why
		}
	}
	return nil, ""
}

// The versions of Produce and TxnOffsetCommit from which the broker adds partitions to transactions.
const (
	produceAddsFrom = 12
	commitAddsFrom  = 5
)

// addForProduce asks the coordinator about a producer's batches that are the first of their transaction in a partition;
// false: there are none, and the request need not wait.
//
// Source: ReplicaManager.handleProduceAppend.
func (b *Broker) addForProduce(t *turn, m *simnet.Message, r *kmsg.ProduceRequest, cause uint64) bool {
	if r.TransactionID == nil || b.config.Sabotage == sabotage.WritesUnverified {
		return false
	}
	if b.waitsToBeAdded(m.From) {
		b.additions = append(b.additions, addition{message: m, cause: cause, behind: true})
		return true
	}
	a := addition{message: m, id: *r.TransactionID, verifyOnly: r.Version < produceAddsFrom, cause: cause}
	for _, topic := range r.Topics {
		for _, rp := range topic.Partitions {
			replica, missing := b.findFor(r, topic, rp.Partition)
			batch, err := record.Parse(rp.Records)
			if missing != nil || err != nil || !batch.Attributes.Transactional() || replica.Role() != replication.Leader {
				continue
			}
			a.producer = coordinator.Producer{ID: batch.ProducerID, Epoch: batch.ProducerEpoch}
			known, is := replica.Log.Producer(batch.ProducerID)
			if replica.Log.HasOngoingTransaction(batch.ProducerID, batch.ProducerEpoch) || is && known.ProducerEpoch > batch.ProducerEpoch {
				continue
			}
			b.verify(verification{tp: replica.TopicPartition, producer: a.producer, lowest: batch.BaseSequence, bumps: !a.verifyOnly})
			a.partitions = append(a.partitions, replica.TopicPartition)
		}
	}
	if len(a.partitions) == 0 {
		return false
	}
	b.wantAdded(t, a)
	return true
}

// addForCommit asks the coordinator about the group's partition of __consumer_offsets; false: the transaction has
// written there before.
//
// Source: GroupCoordinatorService.commitTransactionalOffsets, CoordinatorPartitionWriter.maybeStartTransactionVerification.
func (b *Broker) addForCommit(t *turn, m *simnet.Message, r *kmsg.TxnOffsetCommitRequest, cause uint64) bool {
	tp := b.offsetsPartition(r.Group)
	replica := b.replica(tp)
	producer := coordinator.Producer{ID: kafka.ProducerID(r.ProducerID), Epoch: kafka.ProducerEpoch(r.ProducerEpoch)}
	if replica == nil || b.coordinator(tp) == nil || replica.Log.HasOngoingTransaction(producer.ID, producer.Epoch) {
		return false
	}
	if known, is := replica.Log.Producer(producer.ID); is && known.ProducerEpoch > producer.Epoch {
		return false
	}
	verifyOnly := r.Version < commitAddsFrom
	b.verify(verification{tp: tp, producer: producer, bumps: !verifyOnly})
	b.wantAdded(t, addition{
		message: m, id: r.TransactionalID, producer: producer, partitions: []kafka.TopicPartition{tp}, verifyOnly: verifyOnly, cause: cause,
	})
	return true
}

// wantAdded begins to ask.
func (b *Broker) wantAdded(t *turn, a addition) {
	a.retryAt, a.until = t.now, t.now+additionRetries
	a.cause = t.note(a.cause, journal.TransactionVerificationAsked{
		TransactionalID: a.id, ProducerID: a.producer.ID, ProducerEpoch: a.producer.Epoch, Partitions: a.partitions, VerifyOnly: a.verifyOnly,
	})
	b.additions = append(b.additions, a)
}

// askForAdditions sends what is due.
func (b *Broker) askForAdditions(t *turn) {
	for i := 0; i < len(b.additions); i++ {
		a := &b.additions[i]
		if a.behind || a.call.open() || a.retryAt > t.now {
			continue
		}
		leader, ok := b.leaderOf(b.transactionsPartition(a.id))
		if !ok {
			b.added(t, i, unreachable(*a, kerr.CoordinatorNotAvailable), a.cause)
			i--
			continue
		}
		a.call = b.request(t, leader.node, a.request(), b.requestTimeout(), a.cause)
		a.asked = a.call.correlation
	}
}

// addPartitionsVersion is the version of the broker's own AddPartitionsToTxn requests.
const addPartitionsVersion = 5

func (a *addition) request() *kmsg.AddPartitionsToTxnRequest {
	request := kmsg.NewPtrAddPartitionsToTxnRequest()
	request.Version = addPartitionsVersion
	transaction := kmsg.NewAddPartitionsToTxnRequestTransaction()
	transaction.TransactionalID, transaction.VerifyOnly = a.id, a.verifyOnly
	transaction.ProducerID, transaction.ProducerEpoch = int64(a.producer.ID), int16(a.producer.Epoch)
	for _, tp := range a.partitions {
		at := slices.IndexFunc(transaction.Topics, func(k kmsg.AddPartitionsToTxnRequestTransactionTopic) bool { return k.Topic == tp.Topic })
		if at < 0 {
			topic := kmsg.NewAddPartitionsToTxnRequestTransactionTopic()
			topic.Topic = tp.Topic
			at = len(transaction.Topics)
			transaction.Topics = append(transaction.Topics, topic)
		}
		transaction.Topics[at].Partitions = append(transaction.Topics[at].Partitions, int32(tp.Partition))
	}
	request.Transactions = append(request.Transactions, transaction)
	return request
}

// unreachable fails all partitions of a addition with one error.
func unreachable(a addition, err *kerr.Error) (failed additionFailures) {
	for _, tp := range a.partitions {
		failed = append(failed, a.failure(tp, err))
	}
	return failed
}

// failure is what a client is told of an error of the coordinator. Some a producer would not send again after: those become
// NOT_ENOUGH_REPLICAS, which it does and for which it needs no new metadata.
//
// Source: AddPartitionsToTxnManager, ReplicaManager.handleProduceAppend, GroupCoordinatorService.commitTransactionalOffsets.
func (a *addition) failure(tp kafka.TopicPartition, err *kerr.Error) additionFailure {
	f := additionFailure{tp: tp, err: err, why: fmt.Sprintf("the coordinator of transactional.id %s answered %s", a.id, err.Message)}
	if err == kerr.ProducerFenced {
		f.err = kerr.InvalidProducerEpoch
	}
	if _, commits := a.message.Request.(*kmsg.TxnOffsetCommitRequest); commits {
		f.err = group.WriteError(f.err)
		return f
	}
	switch err {
	case kerr.NetworkException, kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable, kerr.NotCoordinator:
		f.err = kerr.NotEnoughReplicas
	case kerr.ConcurrentTransactions:
		if a.verifyOnly {
			f.err = kerr.NotEnoughReplicas
		}
	}
	return f
}

// additionAnswered takes the coordinator's answer.
func (b *Broker) additionAnswered(t *turn, at int, response *kmsg.AddPartitionsToTxnResponse, cause uint64) {
	a := &b.additions[at]
	var failed additionFailures
	if response.ErrorCode != 0 {
		failed = unreachable(*a, kerr.TypedErrorForCode(response.ErrorCode))
	}
	again := false
	for _, transaction := range response.Transactions {
		for _, topic := range transaction.Topics {
			for _, p := range topic.Partitions {
				if err := kerr.TypedErrorForCode(p.ErrorCode); err != nil {
					failed = append(failed, a.failure(kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p.Partition)}, err))
					again = again || err == kerr.ConcurrentTransactions && !a.verifyOnly
				}
			}
		}
	}
	if again && t.now+additionBackoff <= a.until {
		a.retryAt, a.cause = t.now+additionBackoff, cause
		return
	}
	b.added(t, at, failed, cause)
}

// added goes on with a request: the partitions that failed are refused.
func (b *Broker) added(t *turn, at int, failed additionFailures, cause uint64) {
	a := b.additions[at]
	b.additions = slices.Delete(slices.Clone(b.additions), at, at+1)
	for _, f := range failed {
		b.forgetVerification(f.tp, a.producer.ID)
		cause = t.note(cause, journal.TransactionVerificationFailed{TransactionalID: a.id, TopicPartition: f.tp, Error: f.err.Message, Why: f.why})
	}
	switch request := a.message.Request.(type) {
	case *kmsg.ProduceRequest:
		b.appendAll(t, a.message, request, failed, cause)
		b.takeNext(t, a.message.From)
	case *kmsg.TxnOffsetCommitRequest:
		if len(failed) > 0 {
			t.answer(a.message, refusedTxnCommit(request, failed[0].err), cause)
			return
		}
		b.coordinate(t, a.message, request.Group, cause)
	}
}

// waitsToBeAdded says whether a write of a client waits for a transaction coordinator.
func (b *Broker) waitsToBeAdded(client kafka.NodeID) bool {
	return slices.ContainsFunc(b.additions, func(a addition) bool {
		_, produces := a.message.Request.(*kmsg.ProduceRequest)
		return produces && !a.behind && a.message.From == client
	})
}

// takeNext takes the requests of a client that came behind one which has been done.
func (b *Broker) takeNext(t *turn, client kafka.NodeID) {
	for !b.waitsToBeAdded(client) {
		at := slices.IndexFunc(b.additions, func(a addition) bool { return a.behind && a.message.From == client })
		if at < 0 {
			return
		}
		next := b.additions[at]
		b.additions = slices.Delete(slices.Clone(b.additions), at, at+1)
		b.produce(t, next.message, next.message.Request.(*kmsg.ProduceRequest), next.cause)
	}
}

// additionsLost lets those fail that wait for an answer of a broker.
func (b *Broker) additionsLost(t *turn, server kafka.NodeID, cause uint64) {
	for i := 0; i < len(b.additions); i++ {
		if a := b.additions[i]; a.call.open() && a.call.to == server {
			b.added(t, i, unreachable(a, kerr.NetworkException), cause)
			i--
		}
	}
}

// additionsDue is when the first is asked again.
func (b *Broker) additionsDue() kafka.Millis {
	due := never
	for i := range b.additions {
		if a := &b.additions[i]; !a.behind && !a.call.open() {
			due = min(due, a.retryAt)
		}
	}
	return due
}

// refusedTxnCommit answers every partition of a TxnOffsetCommit with one error.
func refusedTxnCommit(r *kmsg.TxnOffsetCommitRequest, err *kerr.Error) kmsg.Response {
	response := r.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
	for _, topic := range r.Topics {
		rt := kmsg.NewTxnOffsetCommitResponseTopic()
		rt.Topic = topic.Topic
		for _, p := range topic.Partitions {
			rp := kmsg.NewTxnOffsetCommitResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, err.Code
			rt.Partitions = append(rt.Partitions, rp)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response
}
