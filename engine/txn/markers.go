package txn

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/sabotage"
	"loglab/engine/storage"
)

// decided goes on when it is written how a transaction ends: who asked is answered, and the markers are asked for.
//
// Source: TransactionCoordinator.endTransaction, sendTxnMarkersCallback.
func (s *step) decided(t *transaction, w pendingWrite) {
	cause := s.cause
	to := t.prepareComplete(s.at())
	t.completing = &to
	switch {
	case w.request == nil:
	case w.fence:
		s.refuse(w.request, refusal{t.id, kerr.ConcurrentTransactions, "the transaction that was open is being aborted first; the producer asks again"})
	default:
		s.answer(w.request, ended(w.request, to.producer()))
	}
	s.cause = cause
	s.queueMarkers(t)
}

// queueMarkers asks for the markers of a transaction whose end is decided, or writes that it is complete if there are none
// to write.
//
// Source: TransactionMarkerChannelManager.addTxnMarkersToSend, addTxnMarkersToBrokerQueue.
func (s *step) queueMarkers(t *transaction) {
	s.retryCompletions()
	if len(t.partitions) == 0 {
		s.writeCompletion(t)
		return
	}
	marker := coordinator.Marker{
		TransactionMarker: storage.TransactionMarker{
			EndTxnMarker: record.EndTxnMarker{Type: record.Abort, CoordinatorEpoch: s.c.epoch},
			ProducerID:   t.producerID, ProducerEpoch: t.epoch, TransactionVersion: t.client,
		},
		TransactionalID: t.id, Partitions: slices.Clone(t.partitions),
	}
	if t.state == PrepareCommit {
		marker.Type = record.Commit
	}
	marker.Cause = s.journal(journal.TransactionMarkersQueued{
		TransactionalID: t.id, Marker: marker.Type.String(), ProducerID: t.producerID, ProducerEpoch: t.epoch, CoordinatorEpoch: s.c.epoch,
		TransactionVersion: t.client, Partitions: marker.Partitions,
	})
	s.effects.Markers = append(s.effects.Markers, marker)
	if s.c.config.Sabotage == sabotage.CompletesEarly {
		t.partitions = nil
		s.writeCompletion(t)
	}
}

// MarkersWritten tells that the leaders of these partitions have written the marker of this producer, or that the
// partitions are gone. When no partition is left, the coordinator writes that the transaction is complete. News of a
// transaction that does not end now is passed over.
//
// Of a marker that is refused for good, with INVALID_PRODUCER_EPOCH or TRANSACTION_COORDINATOR_FENCED, there is no news: the
// transaction ends no more as long as this coordinator is there.
//
// Source: TransactionMarkerRequestCompletionHandler.onComplete, TransactionMarkerChannelManager.maybeWriteTxnCompletion.
func (c *Coordinator) MarkersWritten(
	now kafka.Millis, transactionalID string, producer coordinator.Producer, partitions []kafka.TopicPartition, cause uint64, j *journal.Journal,
) coordinator.Effects {
	s := c.begin(now, cause, j)
	t := c.transaction(transactionalID)
	if t == nil || t.completing == nil || t.producer() != producer || !t.state.prepared() {
		return s.end()
	}
	s.retryCompletions()
	left := without(t.partitions, partitions)
	if len(left) == len(t.partitions) {
		return s.end()
	}
	s.then(journal.TransactionMarkersWritten{TransactionalID: t.id, Partitions: without(t.partitions, left), Left: left})
	t.partitions = left
	if len(left) == 0 {
		s.writeCompletion(t)
	}
	return s.end()
}

// writeCompletion writes that a transaction is complete.
//
// Source: TransactionMarkerChannelManager.writeTxnCompletion.
func (s *step) writeCompletion(t *transaction) {
	t.retry = timer{}
	s.write(t, *t.completing, pendingWrite{done: completed})
}

// retryCompletions writes again that transactions are complete where that failed.
//
// Simplified: it happens when there is news of this coordinator's markers, or after request.timeout.ms; Kafka's broker has
// one thread for the markers of all its coordinators, which tries again whenever it has something to do.
//
// Source: TransactionMarkerChannelManager.retryLogAppends.
func (s *step) retryCompletions() {
	cause := s.cause
	for _, t := range s.c.transactions {
		if t.retry.set {
			s.writeCompletion(t)
		}
	}
	s.cause = cause
}
