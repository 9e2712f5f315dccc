package client

import (
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// batch is one record batch of a producer: being filled, waiting to be sent, in flight, or waiting to be sent
// again.
type batch struct {
	builder *record.Builder // nil from the time it was first sent
	limit   int             // bytes it may take: batch.size, or room for its first record if that needs more
	closed  bool            // a record had no room in it, or it was sent
	created kafka.Millis    // when its first record was handed in
	cause   uint64          // Seq of the event of its first record, or of the event that made it wait again
	records []int           // their numbers in the source, in order

	bytes   []byte // as it was sent last; nil before; never written
	attempt        // what happened to it
	stamp          // of an idempotent producer
}

// attempt is what happened to a batch that was sent.
type attempt struct {
	to          kafka.NodeID // the broker it is in flight to
	correlation int32        // of that request
	attempts    int          // that failed
	last        kafka.Millis // when the last of them failed
	failure     string       // its error
	divided     bool         // it is part of a batch that was too large

	epoch   kafka.LeaderEpoch // the newest leader epoch that was known when it was looked at
	movedAt int               // attempts when that became known
}

// stamp is what makes a batch of an idempotent producer recognisable.
type stamp struct {
	sequenced bool // it has a base sequence
	producer  record.Producer
	renewed   bool // its producer epoch and sequence are others than when it was sent last
}

// full says whether the batch takes no more records.
//
// Source: MemoryRecordsBuilder.isFull.
func (b *batch) full() bool { return b.closed || b.builder.Size() >= b.limit }

// size is the number of bytes it is reckoned with in a request.
func (b *batch) size() int {
	if b.builder != nil {
		return b.builder.Size()
	}
	return len(b.bytes)
}

// lastSequence is the sequence of the last record.
func (b *batch) lastSequence() kafka.Sequence {
	return record.IncrementSequence(b.producer.BaseSequence, int32(len(b.records))-1)
}

// notice takes the leader epoch that metadata has. A batch that waits for its next attempt need not wait
// longer once that has changed.
//
// Source: ProducerBatch.maybeUpdateLeaderEpoch, hasLeaderChangedForTheOngoingRetry.
func (b *batch) notice(epoch kafka.LeaderEpoch) {
	if epoch > b.epoch {
		b.epoch, b.movedAt = epoch, b.attempts
	}
}

// backsOffUntil is when the batch may be sent again after an attempt; ok is false when it need not wait.
func (b *batch) backsOffUntil(config *ProducerConfig) (at kafka.Millis, ok bool) {
	if b.attempts == 0 || b.movedAt == b.attempts {
		return 0, false
	}
	return b.last + backoff(config.RetryBackoff, config.RetryBackoffMax, b.attempts-1), true
}

// encode gives the bytes to send: those of the last time, unless the batch is new or was renewed.
func (b *batch) encode(config *ProducerConfig) ([]byte, error) {
	var producer *record.Producer
	if b.sequenced {
		producer = &b.producer
	}
	var err error
	switch {
	case b.builder != nil:
		b.builder.SetProducer(producer)
		b.bytes, err = b.builder.Finish()
		b.builder, b.closed = nil, true
	case b.renewed:
		options := config.batchOptions()
		options.Producer = producer
		b.bytes, err = rewrite(b.bytes, options)
	}
	b.renewed = false
	return b.bytes, err
}

// rewrite builds a batch anew with other options.
//
// Source: MemoryRecordsBuilder.reopenAndRewriteProducerState.
func rewrite(bytes []byte, options record.Options) ([]byte, error) {
	old, err := record.Parse(bytes)
	if err != nil {
		return nil, err
	}
	records, err := old.Records()
	if err != nil {
		return nil, err
	}
	builder := record.NewBuilder(options)
	for _, r := range records {
		builder.Append(r.Timestamp, r.Key, r.Value, r.Headers...)
	}
	return builder.Finish()
}

// queue holds one partition's batches.
type queue struct {
	batches  []batch // to be sent, the oldest first; only the last takes records
	sent     []batch // in flight, in the order of sending
	begun    bool    // has had a record: Kafka makes the queue of a partition at its first
	sequence sequences
}

// append adds one record and returns by how many bytes the queue's last batch grew. A record that does
// not fit into batch.size with the others begins a new batch, in which it may be alone and larger.
//
// Source: RecordAccumulator.append, MemoryRecordsBuilder.hasRoomFor.
func (q *queue) append(now kafka.Millis, ts kafka.Timestamp, r submitted, cause uint64, number int, config *ProducerConfig) (grown int) {
	if q.takes(ts, r.key, r.value) {
		last := &q.batches[len(q.batches)-1]
		before := last.builder.Size()
		last.builder.Append(ts, r.key, r.value)
		last.records = append(last.records, number)
		return last.builder.Size() - before
	}
	fresh := batch{
		builder: record.NewBuilder(config.batchOptions()), created: now, cause: cause, records: []int{number},
		limit:   max(config.BatchSize, record.HeaderSize+record.RecordSizeUpperBound(r.key, r.value)),
		attempt: attempt{epoch: kafka.NoLeaderEpoch},
	}
	fresh.builder.Append(ts, r.key, r.value)
	q.batches, q.begun = append(q.batches, fresh), true
	return fresh.builder.Size()
}

// takes says whether the queue's last batch has room for a record. A batch that has none is closed: it
// counts as full from then on, also when the record then goes to another partition.
//
// Source: RecordAccumulator.tryAppend.
func (q *queue) takes(ts kafka.Timestamp, key, value []byte) bool {
	if !q.incomplete() {
		return false
	}
	last := &q.batches[len(q.batches)-1]
	last.closed = last.builder.SizeWith(ts, key, value) > last.limit
	return !last.closed
}

// incomplete says whether the queue's last batch can take more records.
func (q *queue) incomplete() bool {
	n := len(q.batches)
	return n > 0 && !q.batches[n-1].full()
}

// readyAt is when the queue makes its broker ready: at once when the first batch can take no more, else
// when it has waited linger.ms; after a failed attempt when it has backed off. Any is false when the queue is
// empty.
//
// Source: RecordAccumulator.batchReady.
func (q *queue) readyAt(config *ProducerConfig) (at kafka.Millis, any bool) {
	if len(q.batches) == 0 {
		return 0, false
	}
	first := &q.batches[0]
	if until, waits := first.backsOffUntil(config); waits {
		return until, true
	}
	if len(q.batches) > 1 || first.full() {
		return first.created, true
	}
	return first.created + config.Linger, true
}

// backsOff says whether the first batch waits after a failed attempt.
func (q *queue) backsOff(now kafka.Millis, config *ProducerConfig) bool {
	until, waits := q.batches[0].backsOffUntil(config)
	return waits && now < until
}

// putBack puts a batch that is to be sent again at the front; one with a sequence behind those that have a
// smaller one.
//
// Source: RecordAccumulator.reenqueue, insertInSequenceOrder.
func (q *queue) putBack(b batch) {
	at := 0
	for b.sequenced && at < len(q.batches) && q.batches[at].sequenced && q.batches[at].producer.BaseSequence < b.producer.BaseSequence {
		at++
	}
	q.batches = slices.Insert(q.batches, at, b)
}

// clone copies the queue with the batches that are being filled.
func (q *queue) clone() queue {
	c := *q
	c.batches, c.sent = slices.Clone(q.batches), slices.Clone(q.sent)
	for i := range c.batches {
		b := &c.batches[i]
		b.records = b.records[:len(b.records):len(b.records)]
		if b.builder != nil {
			b.builder = b.builder.Clone()
		}
	}
	return c
}
