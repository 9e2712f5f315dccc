package txn

import (
	"iter"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// Load replays the partition's log, oldest record first. Epoch is the leader epoch of the partition, which goes into
// markers. A transaction whose end is decided has its markers written again; one that is open waits for its end or its
// time-out. A record that cannot be read, is of a kind that this package does not know, or says what no coordinator writes, is
// passed over. A broker that goes on leading in a new leader epoch begins with a new coordinator.
//
// Simplified: Kafka stops reading at a record that it cannot read, and goes on with what it has.
//
// Source: TransactionStateManager.loadTransactionMetadata, loadTransactionsForTxnTopicPartition,
// BrokerMetadataPublisher.updateCoordinator.
func (c *Coordinator) Load(
	now kafka.Millis, records iter.Seq[coordinator.Logged], epoch int32, cause uint64, j *journal.Journal,
) coordinator.Effects {
	s := c.begin(now, cause, j)
	c.epoch = epoch
	event := journal.TransactionsLoaded{CoordinatorEpoch: epoch}
	for r := range records {
		event.Records++
		if id, err := DecodeKey(r.Key); err == nil {
			c.replay(id, r.Value)
		}
	}
	for _, t := range c.transactions {
		event.TransactionalIDs++
		switch {
		case t.state == Ongoing:
			event.Ongoing++
		case t.state.prepared():
			event.Ending++
		}
	}
	s.then(event)
	for _, t := range c.transactions {
		if t.state.prepared() {
			to := t.prepareComplete(s.at())
			t.completing = &to
			s.queueMarkers(t)
		}
	}
	return s.end()
}

// replay takes in one record. What it does not say is not known any more: the last epoch before, and with what Kafka 4.2
// writes the producer ids before and after.
func (c *Coordinator) replay(id string, value []byte) {
	if value == nil {
		c.drop(id)
		return
	}
	v, err := DecodeValue(id, value)
	if err != nil || !v.possible() {
		return
	}
	if v.State == Empty {
		v.Partitions = nil // whatever is there
	}
	c.put(&transaction{id: id, details: details{
		state: v.State, producerID: v.ProducerID, previousProducerID: v.PreviousProducerID, nextProducerID: v.NextProducerID,
		epoch: v.ProducerEpoch, lastProducerEpoch: noEpoch, timeout: v.Timeout, partitions: sorted(v.Partitions), start: v.Start,
		updated: v.LastUpdate, client: v.ClientTransactionVersion,
	}})
}

// possible says whether a coordinator can have written a value.
func (v Value) possible() bool {
	open := v.State == Ongoing || v.State.prepared()
	return v.ProducerID >= 0 && v.ProducerEpoch >= 0 && (v.State.idle() || open && v.Start != kafka.NoTimestamp)
}

// Resign ends the coordinator: its broker does not lead the partition any more. Whoever waits is answered
// NOT_COORDINATOR. Markers that are not written are the next coordinator's business.
//
// Source: TransactionCoordinator.onResignation, TransactionStateManager.removeTransactionsForTxnTopicPartition.
func (c *Coordinator) Resign(now kafka.Millis, cause uint64, j *journal.Journal) coordinator.Effects {
	s := c.begin(now, cause, j)
	if c.resigned {
		return s.effects
	}
	c.resigned = true
	writes := c.writes
	event := journal.TransactionCoordinatorResigned{TransactionalIDs: len(c.transactions), Answered: len(c.additions)}
	for _, w := range writes {
		if w.request != nil && w.addition == 0 {
			event.Answered++
		}
	}
	s.then(event)
	for _, w := range writes {
		switch {
		case w.request == nil:
		case w.addition == 0:
			s.answer(w.request, errorResponse(w.request.Request, kerr.NotCoordinator))
		default:
			s.added(w.addition, w.place, same(kerr.NotCoordinator, s.partitionsAsked(w)))
		}
	}
	c.transactions, c.writes = nil, nil
	return s.end()
}
