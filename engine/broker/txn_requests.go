package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
	"loglab/engine/txn"
)

// serveTransactions answers a request about transactions, or lets their coordinators do so; false: it is none.
func (b *Broker) serveTransactions(t *turn, m *simnet.Message, cause uint64) bool {
	switch request := m.Request.(type) {
	case *kmsg.AddPartitionsToTxnRequest:
		b.addPartitions(t, m, request, cause)
	case *kmsg.AddOffsetsToTxnRequest:
		b.coordinateTransaction(t, m, request.TransactionalID, cause)
	case *kmsg.EndTxnRequest:
		b.coordinateTransaction(t, m, request.TransactionalID, cause)
	case *kmsg.DescribeTransactionsRequest:
		parts := make([]part, len(request.TransactionalIDs))
		for i, id := range request.TransactionalIDs {
			one := *request
			one.TransactionalIDs = []string{id}
			parts[i] = part{key: id, transaction: true, message: withRequest(m, &one)}
		}
		b.send(t, errand{message: m, cause: cause}, parts)
	default:
		return false
	}
	return true
}

// addPartitions hands the transactions of a request to their coordinators. A producer names one, a broker several.
//
// Source: KafkaApis.handleAddPartitionsToTxnRequest.
func (b *Broker) addPartitions(t *turn, m *simnet.Message, r *kmsg.AddPartitionsToTxnRequest, cause uint64) {
	if r.Version < addPartitionsBatchedFrom {
		b.coordinateTransaction(t, m, r.TransactionalID, cause)
		return
	}
	parts := make([]part, len(r.Transactions))
	for i, transaction := range r.Transactions {
		one := *r
		one.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{transaction}
		parts[i] = part{key: transaction.TransactionalID, transaction: true, message: withRequest(m, &one)}
	}
	b.send(t, errand{message: m, cause: cause}, parts)
}

// addPartitionsBatchedFrom is the version of AddPartitionsToTxn from which it names several transactions.
const addPartitionsBatchedFrom = 4

// coordinateTransaction hands a request about one transactional.id to its coordinator. If that is not here the answer is
// NOT_COORDINATOR.
func (b *Broker) coordinateTransaction(t *turn, m *simnet.Message, id string, cause uint64) {
	tp := b.transactionsPartition(id)
	h := b.coordinator(tp)
	if h == nil {
		leader := kafka.BrokerID(-1)
		if p, ok := b.image.Partition(tp); ok {
			leader = p.Leader
		}
		cause = t.note(cause, journal.NotCoordinator{From: m.From, API: m.API(), Group: id, TopicPartition: tp, Leader: leader})
		b.answerFor(t, m, txn.ErrorResponse(m.Request, kerr.NotCoordinator), cause)
		return
	}
	b.perform(t, h, h.txn.Receive(t.now, m, b.nextProducerID, cause, t.j))
	if b.ids.wanted {
		b.ids.wanted = false
		b.allocateProducerIDs(t, cause)
	}
}
