package client

import (
	"math"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// identity is what an idempotent producer is known by.
//
// Source: class TransactionManager, as far as it serves producers without a transactional.id.
type identity struct {
	id      kafka.ProducerID // -1: none yet
	epoch   kafka.ProducerEpoch
	waiting bool         // for the answer to InitProducerID
	retryAt kafka.Millis // when it asks again

	bump      bool   // the epoch is to be raised
	bumpWhy   string // in words
	bumpCause uint64 // Seq of the event that led to it
}

func newIdentity() identity { return identity{id: -1, epoch: -1, retryAt: math.MinInt64} }

// sequences is what an idempotent producer keeps of one partition.
//
// Source: class TxnPartitionEntry.
type sequences struct {
	id         kafka.ProducerID // that the sequences belong to; of the zero value nothing but stale
	epoch      kafka.ProducerEpoch
	begun      bool
	next       kafka.Sequence // of the next record
	acked      kafka.Sequence // of the last record acknowledged; -1: none
	unresolved kafka.Sequence // that follows a batch whose fate is not known; only if open
	open       bool
	rewrite    bool // its sequences begin anew with the next epoch
}

// stale says whether the sequences belong to another producer id or epoch than the producer has now.
func (s *sequences) stale(i *identity) bool { return !s.begun || s.id != i.id || s.epoch != i.epoch }

// isNext says whether a sequence follows that of the last record acknowledged.
func (s *sequences) isNext(sequence kafka.Sequence) bool { return sequence-s.acked == 1 }

// numbered visits the batches of a queue that have a sequence, whether in flight or to be sent again.
func (q *queue) numbered(visit func(*batch)) {
	for i := range q.sent {
		if q.sent[i].sequenced {
			visit(&q.sent[i])
		}
	}
	for i := range q.batches {
		if q.batches[i].sequenced {
			visit(&q.batches[i])
		}
	}
}

// firstNumbered gives the smallest base sequence that is not settled; ok is false when none is.
//
// Source: TransactionManager.firstInFlightSequence.
func (q *queue) firstNumbered() (first kafka.Sequence, ok bool) {
	q.numbered(func(b *batch) {
		if !ok || b.producer.BaseSequence < first {
			first, ok = b.producer.BaseSequence, true
		}
	})
	return first, ok
}

// beginAnew makes a partition's sequences begin at 0 under the producer's present epoch, those of the batches
// that are not settled first, in their order.
//
// Source: TxnPartitionEntry.startSequencesAtBeginning.
func (q *queue) beginAnew(i *identity) {
	var next kafka.Sequence
	for after := kafka.Sequence(-1); ; {
		var first *batch
		q.numbered(func(b *batch) {
			if !b.renewedNow(i) && b.producer.BaseSequence > after && (first == nil || b.producer.BaseSequence < first.producer.BaseSequence) {
				first = b
			}
		})
		if first == nil {
			break
		}
		after = first.producer.BaseSequence
		first.producer = record.Producer{ID: i.id, Epoch: i.epoch, BaseSequence: next}
		first.renewed = true
		next = record.IncrementSequence(next, int32(len(first.records)))
	}
	s := &q.sequence
	s.id, s.epoch, s.begun, s.next, s.acked = i.id, i.epoch, true, next, record.NoSequence
	s.open, s.rewrite = false, false
}

// renewedNow says whether a batch has the producer's present id and epoch.
func (b *batch) renewedNow(i *identity) bool {
	return b.producer.ID == i.id && b.producer.Epoch == i.epoch
}

// blocked says whether the first batch of a partition's queue must wait for the sake of the order of sequences, or until
// the partition is part of the transaction.
//
// Source: RecordAccumulator.shouldStopDrainBatchesForPartition.
func (p *Producer) blocked(partition int) bool {
	q := &p.queues[partition]
	if !p.config.idempotent() {
		return false
	}
	if p.identity.id < 0 {
		return true
	}
	if t := &p.txn; p.config.transactional() && (t.state == FatalError || !has(t.within, p.name(partition))) {
		return true
	}
	first, any := q.firstNumbered()
	if b := &q.batches[0]; b.sequenced {
		return any && b.producer.BaseSequence != first // one after the other, until all are settled
	}
	return any && q.sequence.stale(&p.identity) || q.sequence.open
}

// number gives a batch that is about to be sent for the first time its sequence.
//
// Source: RecordAccumulator.drainBatchesForOneNode, TransactionManager.maybeUpdateProducerIdAndEpoch.
func (p *Producer) number(q *queue, b *batch) {
	if !p.config.idempotent() || b.sequenced {
		return
	}
	if q.sequence.stale(&p.identity) {
		q.beginAnew(&p.identity)
	}
	b.sequenced = true
	b.producer = record.Producer{ID: p.identity.id, Epoch: p.identity.epoch, BaseSequence: q.sequence.next}
	q.sequence.next = record.IncrementSequence(q.sequence.next, int32(len(b.records)))
}

// requestBump makes the producer raise its epoch before it sends again.
func (p *Producer) requestBump(q *queue, why string, cause uint64) {
	q.sequence.rewrite = true
	if !p.identity.bump {
		p.identity.bump, p.identity.bumpWhy, p.identity.bumpCause = true, why, cause
	}
}

// settleSequences looks at partitions where the fate of a batch is not known, raises the epoch if that is
// due, and asks for a producer id if there is none.
//
// Source: Sender.runOnce; TransactionManager.maybeResolveSequences, bumpIdempotentEpochAndResetIdIfNeeded.
func (p *Producer) settleSequences(now kafka.Millis, j *journal.Journal) []simnet.Send {
	if !p.config.idempotent() {
		return nil
	}
	for i := range p.queues {
		q := &p.queues[i]
		if _, any := q.firstNumbered(); any || !q.sequence.open {
			continue
		}
		q.sequence.open = false
		if q.sequence.isNext(q.sequence.next) {
			continue
		}
		if p.config.transactional() {
			p.txn.raises = p.txn.raises || !p.config.implicit()
			p.failTransaction(false, "", unackedRecordsError, p.txn.last, j)
		} else {
			p.requestBump(q, "no acknowledgement came for sequences of "+p.name(i).String()+" before their time was over", p.identity.bumpCause)
		}
	}
	if p.config.transactional() {
		return nil
	}
	if p.identity.bump {
		p.bumpEpoch(j)
	}
	i := &p.identity
	if i.id >= 0 || i.waiting || now < i.retryAt {
		return nil
	}
	to, ok := p.metadata.anyBroker(now, &p.connections)
	if !ok {
		return nil
	}
	i.waiting = true
	request := kmsg.NewPtrInitProducerIDRequest()
	request.Version, request.TransactionTimeoutMillis = initProducerIDVersion, math.MaxInt32
	return []simnet.Send{p.connections.send(now, to, request, i.bumpCause)}
}

// bumpEpoch raises the epoch by one and begins the sequences of the partitions that asked for it anew.
//
// Source: TransactionManager.bumpIdempotentProducerEpoch (KIP-360).
func (p *Producer) bumpEpoch(j *journal.Journal) {
	i := &p.identity
	event := journal.ProducerEpochBumped{ProducerID: i.id, From: i.epoch, To: i.epoch + 1, Why: i.bumpWhy}
	if i.epoch == math.MaxInt16 {
		event.To = -1
		i.id = -1
	}
	i.epoch = event.To
	for n := range p.queues {
		if !p.queues[n].sequence.rewrite {
			continue
		}
		event.Partitions = append(event.Partitions, p.name(n))
		if i.id >= 0 {
			p.queues[n].beginAnew(i)
		}
	}
	i.bump = false
	i.bumpCause = j.Append(p.node, i.bumpCause, event)
}

// takeProducerID takes the answer to InitProducerID.
//
// Simplified: after an error the producer asks again; Kafka's gives up on those that do not pass.
func (p *Producer) takeProducerID(now kafka.Millis, response *kmsg.InitProducerIDResponse, cause uint64, j *journal.Journal) {
	if response.ErrorCode != 0 {
		j.Append(p.node, cause, journal.RequestRefused{API: "InitProducerID", Error: errorName(response.ErrorCode)})
		p.identityFailed(now)
		return
	}
	p.identity = identity{id: kafka.ProducerID(response.ProducerID), epoch: kafka.ProducerEpoch(response.ProducerEpoch)}
	p.identity.bumpCause = j.Append(p.node, cause, journal.ProducerIDAssigned{ProducerID: p.identity.id, ProducerEpoch: p.identity.epoch})
	for n := range p.queues {
		if p.queues[n].sequence.rewrite { // the epochs of the last id were used up
			p.queues[n].beginAnew(&p.identity)
		}
	}
}

func (p *Producer) identityFailed(now kafka.Millis) {
	p.identity.waiting, p.identity.retryAt = false, now+p.config.RetryBackoff
}

// identityDue is when the producer asks for a producer id; ok is false when it does not.
func (p *Producer) identityDue() (due kafka.Millis, ok bool) {
	if !p.config.idempotent() || p.config.transactional() || p.identity.id >= 0 || p.identity.waiting {
		return 0, false
	}
	return max(p.metadata.reachableAt(&p.connections), p.identity.retryAt), true
}

// passes says whether an idempotent producer sends a batch again after an error. An error in the sequence
// passes when the batch is not the next one the leader waits for; when it is, there is a gap in the log, which
// a new epoch closes.
//
// Source: TransactionManager.canRetry.
func (p *Producer) passes(q *queue, b *batch, code int16, logStart kafka.Offset, cause uint64) bool {
	s := &q.sequence
	switch code {
	case kerr.UnknownProducerID.Code:
		if p.config.transactional() {
			return logStart < 0 || b.renewed
		}
		if logStart >= 0 && !b.renewed {
			p.requestBump(q, "the leader does not know the producer id", cause)
		}
		return true
	case kerr.OutOfOrderSequenceNumber.Code:
		waits := b.renewed || !s.isNext(b.producer.BaseSequence)
		if !s.open && waits {
			return true
		}
		if p.config.transactional() {
			return false
		}
		if !s.open || b.producer.BaseSequence == s.unresolved {
			p.requestBump(q, "the leader has a gap before the next sequence (OUT_OF_ORDER_SEQUENCE_NUMBER)", cause)
		}
		return true
	}
	return p.config.transactional() && code == kerr.ConcurrentTransactions.Code || kerr.IsRetriable(kerr.ErrorForCode(code))
}

// failedSequence notes that a batch with a sequence was given up. Sure means that the broker has refused it,
// so that its sequence is free.
//
// Source: TransactionManager.handleFailedBatch.
func (p *Producer) failedSequence(q *queue, b *batch, code int16, sure bool, cause uint64, j *journal.Journal) {
	if p.config.transactional() {
		p.batchFailed(code, cause, j)
		sure = sure && p.txn.state != FatalError
	}
	switch {
	case !p.config.idempotent():
	case p.config.transactional() && code != kerr.UnknownProducerID.Code:
		if sure {
			q.closeGap(b)
		}
	case code == kerr.UnknownProducerID.Code:
		q.sequence = sequences{}
	case code == kerr.OutOfOrderSequenceNumber.Code || sure:
		p.requestBump(q, "a batch was given up for "+errorName(code)+", which leaves a gap in the sequences", cause)
	}
}
