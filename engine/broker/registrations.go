package broker

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/replication"
	"loglab/engine/simnet"
)

// registration is a write in a transaction that waits until the transaction's coordinator knows its partitions. Of
// transactions of version 2 this broker adds them; before, the producer has done so, and the broker only asks.
//
// Simplified: each write asks by a request of its own; Kafka puts those to one coordinator into one.
//
// Source: AddPartitionsToTxnManager; KIP-890.
type registration struct {
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
}

// What the broker waits before it adds partitions to a transaction again whose predecessor is not complete, and how long
// it does so.
//
// Source: add.partitions.to.txn.retry.backoff.ms, add.partitions.to.txn.retry.backoff.max.ms.
const (
	registrationBackoff kafka.Millis = 20
	registrationRetries kafka.Millis = 100
)

// registrationFailures say what became of each partition that was asked for.
type registrationFailures []registrationFailure

type registrationFailure struct {
	tp  kafka.TopicPartition
	err *kerr.Error
	why string
}

func (f registrationFailures) of(tp kafka.TopicPartition) (err *kerr.Error, why string) {
	for _, failed := range f {
		if failed.tp == tp {
			return failed.err, failed.why
		}
	}
	return nil, ""
}

// registersFrom is the version of Produce and TxnOffsetCommit from which the broker adds partitions to transactions.
const (
	produceRegistersFrom = 12
	commitRegistersFrom  = 5
)

// registerProduce asks the coordinator about a producer's batches that are the first of their transaction in a partition;
// false: there are none, and the request need not wait.
//
// Source: ReplicaManager.handleProduceAppend.
func (b *Broker) registerProduce(t *turn, m *simnet.Message, r *kmsg.ProduceRequest, cause uint64) bool {
	if r.TransactionID == nil {
		return false
	}
	reg := registration{message: m, id: *r.TransactionID, verifyOnly: r.Version < produceRegistersFrom, cause: cause}
	for _, topic := range r.Topics {
		for _, rp := range topic.Partitions {
			replica, missing := b.findFor(r, topic, rp.Partition)
			batch, err := record.Parse(rp.Records)
			if missing != nil || err != nil || !batch.Attributes.Transactional() || replica.Role() != replication.Leader {
				continue
			}
			reg.producer = coordinator.Producer{ID: batch.ProducerID, Epoch: batch.ProducerEpoch}
			known, is := replica.Log.Producer(batch.ProducerID)
			if replica.Log.HasOngoingTransaction(batch.ProducerID, batch.ProducerEpoch) || is && known.ProducerEpoch > batch.ProducerEpoch {
				continue
			}
			b.verify(verification{tp: replica.TopicPartition, producer: reg.producer, lowest: batch.BaseSequence, bumps: !reg.verifyOnly})
			reg.partitions = append(reg.partitions, replica.TopicPartition)
		}
	}
	if len(reg.partitions) == 0 {
		return false
	}
	b.register(t, reg)
	return true
}

// registerCommit asks the coordinator about the group's partition of __consumer_offsets; false: the transaction has
// written there before.
//
// Source: GroupCoordinatorService.commitTransactionalOffsets, CoordinatorPartitionWriter.maybeStartTransactionVerification.
func (b *Broker) registerCommit(t *turn, m *simnet.Message, r *kmsg.TxnOffsetCommitRequest, cause uint64) bool {
	tp := b.offsetsPartition(r.Group)
	replica := b.replica(tp)
	producer := coordinator.Producer{ID: kafka.ProducerID(r.ProducerID), Epoch: kafka.ProducerEpoch(r.ProducerEpoch)}
	if replica == nil || b.coordinator(tp) == nil || replica.Log.HasOngoingTransaction(producer.ID, producer.Epoch) {
		return false
	}
	if known, is := replica.Log.Producer(producer.ID); is && known.ProducerEpoch > producer.Epoch {
		return false
	}
	verifyOnly := r.Version < commitRegistersFrom
	b.verify(verification{tp: tp, producer: producer, bumps: !verifyOnly})
	b.register(t, registration{
		message: m, id: r.TransactionalID, producer: producer, partitions: []kafka.TopicPartition{tp}, verifyOnly: verifyOnly, cause: cause,
	})
	return true
}

// register begins to ask.
func (b *Broker) register(t *turn, reg registration) {
	reg.retryAt, reg.until = t.now, t.now+registrationRetries
	reg.cause = t.note(reg.cause, journal.TransactionVerificationAsked{
		TransactionalID: reg.id, ProducerID: reg.producer.ID, ProducerEpoch: reg.producer.Epoch, Partitions: reg.partitions, VerifyOnly: reg.verifyOnly,
	})
	b.registrations = append(b.registrations, reg)
}

// askForRegistrations sends what is due.
func (b *Broker) askForRegistrations(t *turn) {
	for i := 0; i < len(b.registrations); i++ {
		reg := &b.registrations[i]
		if reg.call.open() || reg.retryAt > t.now {
			continue
		}
		leader, ok := b.leaderOf(b.transactionsPartition(reg.id))
		if !ok {
			b.registered(t, i, unreachable(*reg, kerr.CoordinatorNotAvailable), reg.cause)
			i--
			continue
		}
		reg.call = b.request(t, leader.node, reg.request(), b.requestTimeout(), reg.cause)
		reg.asked = reg.call.correlation
	}
}

// addPartitionsVersion is the version of the broker's own AddPartitionsToTxn requests.
const addPartitionsVersion = 5

func (reg *registration) request() *kmsg.AddPartitionsToTxnRequest {
	request := kmsg.NewPtrAddPartitionsToTxnRequest()
	request.Version = addPartitionsVersion
	transaction := kmsg.NewAddPartitionsToTxnRequestTransaction()
	transaction.TransactionalID, transaction.VerifyOnly = reg.id, reg.verifyOnly
	transaction.ProducerID, transaction.ProducerEpoch = int64(reg.producer.ID), int16(reg.producer.Epoch)
	for _, tp := range reg.partitions {
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

// unreachable fails all partitions of a registration with one error.
func unreachable(reg registration, err *kerr.Error) (failed registrationFailures) {
	for _, tp := range reg.partitions {
		failed = append(failed, reg.failure(tp, err))
	}
	return failed
}

// failure is what a client is told of an error of the coordinator. Some it would not send again after: those become
// NOT_ENOUGH_REPLICAS, which it does and for which it needs no new metadata.
//
// Source: ReplicaManager.handleProduceAppend; ReplicaManager.maybeSendPartitionsToTransactionCoordinator.
func (reg *registration) failure(tp kafka.TopicPartition, err *kerr.Error) registrationFailure {
	f := registrationFailure{tp: tp, err: err, why: fmt.Sprintf("the coordinator of transactional.id %s answered %s", reg.id, err.Message)}
	switch err {
	case kerr.NetworkException, kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable, kerr.NotCoordinator:
		f.err = kerr.NotEnoughReplicas
	case kerr.ConcurrentTransactions:
		if reg.verifyOnly {
			f.err = kerr.NotEnoughReplicas
		}
	}
	return f
}

// registrationAnswered takes the coordinator's answer.
func (b *Broker) registrationAnswered(t *turn, at int, response *kmsg.AddPartitionsToTxnResponse, cause uint64) {
	reg := &b.registrations[at]
	var failed registrationFailures
	if response.ErrorCode != 0 {
		failed = unreachable(*reg, kerr.TypedErrorForCode(response.ErrorCode))
	}
	again := false
	for _, transaction := range response.Transactions {
		for _, topic := range transaction.Topics {
			for _, p := range topic.Partitions {
				if err := kerr.TypedErrorForCode(p.ErrorCode); err != nil {
					failed = append(failed, reg.failure(kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p.Partition)}, err))
					again = again || err == kerr.ConcurrentTransactions && !reg.verifyOnly
				}
			}
		}
	}
	if again && t.now+registrationBackoff <= reg.until {
		reg.retryAt, reg.cause = t.now+registrationBackoff, cause
		return
	}
	b.registered(t, at, failed, cause)
}

// registered goes on with a request: the partitions that failed are refused.
func (b *Broker) registered(t *turn, at int, failed registrationFailures, cause uint64) {
	reg := b.registrations[at]
	b.registrations = slices.Delete(slices.Clone(b.registrations), at, at+1)
	for _, f := range failed {
		b.forgetVerification(f.tp, reg.producer.ID)
		cause = t.note(cause, journal.TransactionVerificationFailed{TransactionalID: reg.id, TopicPartition: f.tp, Error: f.err.Message, Why: f.why})
	}
	switch request := reg.message.Request.(type) {
	case *kmsg.ProduceRequest:
		b.appendAll(t, reg.message, request, failed, cause)
	case *kmsg.TxnOffsetCommitRequest:
		if len(failed) > 0 {
			t.answer(reg.message, refusedTxnCommit(request, txnCommitError(failed[0].err)), cause)
			return
		}
		b.coordinate(t, reg.message, request.Group, cause)
	}
}

// registrationsLost lets those fail that wait for an answer of a broker.
func (b *Broker) registrationsLost(t *turn, server kafka.NodeID, cause uint64) {
	for i := 0; i < len(b.registrations); i++ {
		if reg := b.registrations[i]; reg.call.open() && reg.call.to == server {
			b.registered(t, i, unreachable(reg, kerr.NetworkException), cause)
			i--
		}
	}
}

// registrationsDue is when the first is asked again.
func (b *Broker) registrationsDue() kafka.Millis {
	due := never
	for i := range b.registrations {
		if reg := &b.registrations[i]; !reg.call.open() {
			due = min(due, reg.retryAt)
		}
	}
	return due
}

// txnCommitError is what a client is told of an error while its transactional commit was registered.
//
// Source: GroupCoordinatorService.commitTransactionalOffsets, handleOperationException.
func txnCommitError(err *kerr.Error) *kerr.Error {
	if err == kerr.NotEnoughReplicas {
		return kerr.CoordinatorNotAvailable
	}
	return err
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
