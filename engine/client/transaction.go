package client

import (
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// TransactionState says where a transactional producer is, in Kafka's words.
//
// Source: TransactionManager.State.
type TransactionState string

// The states. In AbortableError the application can only abort, in FatalError only close the producer.
const (
	Uninitialized         TransactionState = "UNINITIALIZED"
	Initializing          TransactionState = "INITIALIZING"
	TransactionsIdle      TransactionState = "READY"
	InTransaction         TransactionState = "IN_TRANSACTION"
	CommittingTransaction TransactionState = "COMMITTING_TRANSACTION"
	AbortingTransaction   TransactionState = "ABORTING_TRANSACTION"
	AbortableError        TransactionState = "ABORTABLE_ERROR"
	FatalError            TransactionState = "FATAL_ERROR"
)

// The errors of a producer that have no code, by the names of Kafka's exceptions.
const (
	transactionAborted  = "TransactionAbortedException"
	unackedRecordsError = "KafkaException: no acknowledgement came for records that were sent, and they cannot be sent again"
)

// transactions is a transactional producer's part in its transactions: where it is, whom it asks, and what it asks next.
// Its slices are shared by clones and replaced, never written.
//
// Source: class TransactionManager, as far as it serves producers with a transactional.id.
//
// Simplified: calls that wait for an answer have no time-out. Kafka's throw after max.block.ms = 60,000 ms, and the
// application may call them again.
type transactions struct {
	state   TransactionState // empty: the producer is not transactional
	failure string           // why it is in an error state
	started bool             // the coordinator may know of the transaction
	raises  bool             // the epoch is to be raised by InitProducerId after the end: only in version 1

	coordinator kafka.NodeID // empty: not known
	offsetsAt   kafka.NodeID // the coordinator of the group; empty: not known

	fresh  []kafka.TopicPartition // to be added to the transaction
	adding []kafka.TopicPartition // AddPartitionsToTxn is to come or under way
	within []kafka.TopicPartition // of the transaction: records may be sent there

	group   groupMetadata
	offsets []commitOffset // that TxnOffsetCommit has still to bring in

	pending     []txnRequest // in the order in which they go
	current     txnRequest   // in flight, or waiting until the sender wakes
	correlation int32        // of the one in flight; 0: none is
	asleep      bool         // the sender waits until wakeAt before it sends the current one
	wakeAt      kafka.Millis

	number    int // of transactions begun, by processes before this one too
	records   int // handed in since the last began
	committed int
	aborted   int
	last      uint64 // Seq of the event that the next request follows from
}

// groupMetadata is what a consumer says of itself to commit offsets by a producer.
//
// Source: class ConsumerGroupMetadata.
type groupMetadata struct {
	group      string
	member     kafka.MemberID
	generation kafka.GenerationID // or the member epoch
	instance   *string
}

// transactional says whether the producer has a transactional.id.
func (c *ProducerConfig) transactional() bool { return c.TransactionalID != "" }

// implicit says whether partitions come into a transaction by their first record (KIP-890), without a request of the
// producer.
func (c *ProducerConfig) implicit() bool { return c.TransactionVersion >= 2 }

// restarted gives the transactions of a new process. The numbers go on.
func (t *transactions) restarted(config *ProducerConfig) transactions {
	if !config.transactional() {
		return transactions{}
	}
	return transactions{state: Uninitialized, wakeAt: math.MinInt64, number: t.number, committed: t.committed, aborted: t.aborted}
}

// completing says whether the application waits for the end of a transaction.
func (t *transactions) completing() bool {
	return t.state == CommittingTransaction || t.state == AbortingTransaction
}

// broken says whether the producer is in an error state.
func (t *transactions) broken() bool { return t.state == AbortableError || t.state == FatalError }

// waits says whether the sender is held up by a transaction's request and sends no records.
func (t *transactions) waits() bool { return t.correlation != 0 || t.asleep }

// due is when the sender wakes, or begins; ok is false when no timer of a transaction is set.
func (t *transactions) due() (due kafka.Millis, ok bool) {
	if t.state == Uninitialized {
		return atOnce, true
	}
	return t.wakeAt, t.asleep
}

// clear forgets what belonged to a transaction.
//
// Source: TransactionManager.resetTransactionState.
func (t *transactions) clear() {
	t.state = TransactionsIdle
	if t.raises {
		t.state = Initializing
	}
	t.failure, t.raises, t.started = "", false, false
	t.fresh, t.adding, t.within, t.offsets, t.records = nil, nil, nil, nil, 0
}

// plus gives a sorted list with one partition more.
func plus(list []kafka.TopicPartition, tp kafka.TopicPartition) []kafka.TopicPartition {
	at, found := slices.BinarySearchFunc(list, tp, compareTP)
	if found {
		return list
	}
	return slices.Insert(slices.Clone(list), at, tp)
}

func has(list []kafka.TopicPartition, tp kafka.TopicPartition) bool {
	_, found := slices.BinarySearchFunc(list, tp, compareTP)
	return found
}

// initialize asks for the producer id, which begins the work of a new process.
//
// Source: KafkaProducer.initTransactions, TransactionManager.initializeTransactions.
func (p *Producer) initialize() {
	p.txn.state = Initializing
	p.enqueue(txnRequest{kind: txnInit})
}

// begin begins a transaction; the state must be READY.
//
// Source: TransactionManager.beginTransaction.
func (p *Producer) begin(cause uint64, j *journal.Journal) {
	t := &p.txn
	t.number++
	t.state, t.records = InTransaction, 0
	t.last = j.Append(p.node, cause, journal.ProducerTransactionBegun{
		TransactionalID: p.config.TransactionalID, Number: t.number, ProducerID: p.identity.id, ProducerEpoch: p.identity.epoch,
	})
}

// addPartition brings a partition into the transaction before a record is handed in for it.
//
// Source: TransactionManager.maybeAddPartition.
func (p *Producer) addPartition(tp kafka.TopicPartition) {
	t := &p.txn
	t.records++
	switch {
	case p.config.implicit():
		t.within, t.started = plus(t.within, tp), true
	case !has(t.within, tp) && !has(t.adding, tp):
		t.fresh = plus(t.fresh, tp)
	}
}

// finish ends the transaction one way or the other, as soon as no batch is incomplete.
//
// Source: TransactionManager.beginCommit, beginAbort, beginCompletingTransaction.
func (p *Producer) finish(commit bool, why string, cause uint64, j *journal.Journal) {
	t := &p.txn
	t.state, t.failure = CommittingTransaction, ""
	if !commit {
		t.state, t.fresh = AbortingTransaction, nil
	}
	t.last = j.Append(p.node, cause, journal.ProducerTransactionEnding{
		TransactionalID: p.config.TransactionalID, Number: t.number, Commit: commit, Records: t.records, Waiting: p.unacknowledged(), Why: why,
	})
	if len(t.fresh) > 0 {
		p.enqueueFresh()
	}
	p.enqueue(txnRequest{kind: txnEnd, commit: commit, id: p.identity.id, epoch: p.identity.epoch})
	if t.raises {
		p.enqueue(txnRequest{kind: txnRaise, id: p.identity.id, epoch: p.identity.epoch})
	}
}

// sendOffsets brings offsets of a group into the transaction; the state must be IN_TRANSACTION. They are in when
// offsets is empty.
//
// Source: TransactionManager.sendOffsetsToTransaction.
func (p *Producer) sendOffsets(offsets []commitOffset, group groupMetadata, cause uint64, j *journal.Journal) {
	t := &p.txn
	t.offsets, t.group = offsets, group
	t.last = j.Append(p.node, cause, journal.OffsetsSentToTransaction{
		TransactionalID: p.config.TransactionalID, Group: group.group, Member: group.member, Generation: group.generation, Offsets: told(offsets),
	})
	if p.config.implicit() {
		t.started = true
		p.enqueue(txnRequest{kind: txnOffsets})
		return
	}
	p.enqueue(txnRequest{kind: txnAddOffsets})
}

// unacknowledged is how many records wait or are in flight.
func (p *Producer) unacknowledged() (records int) {
	for i := range p.queues {
		q := &p.queues[i]
		for _, list := range [][]batch{q.sent, q.batches} {
			for _, b := range list {
				records += len(b.records)
			}
		}
	}
	return records
}

// failTransaction takes an error of a transactional producer. Why is Kafka's name of it; api says whose answer it was.
//
// Source: TransactionManager.transitionToAbortableError, transitionToFatalError.
func (p *Producer) failTransaction(fatal bool, api, why string, cause uint64, j *journal.Journal) {
	t := &p.txn
	switch {
	case t.state == FatalError, !fatal && t.state == AbortingTransaction:
		return
	case !fatal && t.state == AbortableError:
		t.failure = why
		return
	}
	t.state, t.failure = AbortableError, why
	t.pending = slices.DeleteFunc(slices.Clone(t.pending), func(r txnRequest) bool { return r.kind > txnFindGroup }) // they fail too
	if fatal {
		t.state = FatalError
	}
	t.last = j.Append(p.node, cause, journal.ProducerTransactionFailed{
		TransactionalID: p.config.TransactionalID, Number: t.number, Fatal: fatal, API: api, Error: why,
	})
}

// batchFailed takes the error of a batch that was given up.
//
// Source: TransactionManager.maybeTransitionToErrorState.
func (p *Producer) batchFailed(code int16, cause uint64, j *journal.Journal) {
	switch code {
	case kerr.ProducerFenced.Code, kerr.InvalidProducerIDMapping.Code, kerr.UnsupportedVersion.Code,
		kerr.ClusterAuthorizationFailed.Code, kerr.TransactionalIDAuthorizationFailed.Code:
		p.failTransaction(true, "Produce", errorName(code), cause, j)
		return
	}
	p.txn.raises = p.txn.raises || !p.config.implicit() && !p.txn.completing()
	p.failTransaction(false, "Produce", errorName(code), cause, j)
}

// dropUnsent drops the batches that have no sequence yet: they were never sent.
//
// Source: RecordAccumulator.abortUndrainedBatches.
func (p *Producer) dropUnsent(why string, out *Outside, j *journal.Journal) {
	p.drop(why, func(b *batch, sent bool) bool { return !b.sequenced }, out, j)
}

// drop gives up batches.
func (p *Producer) drop(why string, which func(b *batch, sent bool) bool, out *Outside, j *journal.Journal) {
	var lost []int
	event := journal.UnsentRecordsDropped{TransactionalID: p.config.TransactionalID, Error: why}
	for i := range p.queues {
		q := &p.queues[i]
		take := func(list []batch, sent bool) (kept []batch) {
			for _, b := range list {
				if !which(&b, sent) {
					kept = append(kept, b)
					continue
				}
				lost = append(lost, b.records...)
				if b.sequenced {
					event.InFlight += len(b.records)
				}
			}
			return kept
		}
		q.sent, q.batches = take(q.sent, true), take(q.batches, false)
	}
	if len(lost) == 0 {
		return
	}
	event.Records = len(lost)
	p.failed += len(lost)
	seq := j.Append(p.node, p.txn.last, event)
	out.Source.settle(lost, Failed, kafka.NoOffset, why, j.Tick, seq)
}

// closeGap takes the sequences of a batch that the leader has refused away from those behind it.
//
// Source: TxnPartitionEntry.adjustSequencesDueToFailedBatch.
func (q *queue) closeGap(b *batch) {
	n := kafka.Sequence(len(b.records))
	if !b.sequenced || q.sequence.next < n {
		return
	}
	q.sequence.next -= n
	q.numbered(func(behind *batch) {
		if behind.producer.BaseSequence > b.producer.BaseSequence {
			behind.producer.BaseSequence -= n
			behind.renewed = true
		}
	})
}
