package storage

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// producerBatchesKept is how many of a producer's last batches are kept to tell a duplicate by.
//
// Source: ProducerStateEntry.NUM_BATCHES_TO_RETAIN.
const producerBatchesKept = 5

// ProducerBatch is one of the last batches of a producer in this log.
//
// Source: org.apache.kafka.storage.internals.log.BatchMetadata.
type ProducerBatch struct {
	BaseSequence kafka.Sequence
	LastSequence kafka.Sequence // inclusive
	BaseOffset   kafka.Offset
	LastOffset   kafka.Offset    // inclusive
	Timestamp    kafka.Timestamp // the largest of its records
}

// ProducerState is what a log knows of one producer id. By it the leader tells duplicates, gaps and older
// instances of a producer.
//
// Source: org.apache.kafka.storage.internals.log.ProducerStateEntry.
type ProducerState struct {
	ProducerID    kafka.ProducerID
	ProducerEpoch kafka.ProducerEpoch
	// Batches are the last ones of this epoch, oldest first, at most five; none if all there was is a
	// transaction marker. After a restart only those are known that stand behind the newest snapshot, and
	// the last one before it.
	Batches []ProducerBatch
	// LastTimestamp is that of the last batch or marker. The state expires by it.
	LastTimestamp kafka.Timestamp
	// CoordinatorEpoch is that of the last transaction marker, -1 if there was none.
	CoordinatorEpoch int32
	// TransactionFirstOffset is where the open transaction begins, NoOffset if none is open.
	TransactionFirstOffset kafka.Offset
}

// keptProducer is a producer's state with the room for its batches, so that both are made at once.
type keptProducer struct {
	ProducerState
	room [producerBatchesKept]ProducerBatch
}

// LastSequence is the sequence of the producer's last record, NoSequence if no batch is known.
func (p *ProducerState) LastSequence() kafka.Sequence {
	if len(p.Batches) == 0 {
		return record.NoSequence
	}
	return p.Batches[len(p.Batches)-1].LastSequence
}

// producers is the state of all producers of a log, up to an offset.
//
// Source: org.apache.kafka.storage.internals.log.ProducerStateManager.
type producers struct {
	states    []*ProducerState       // by id; what it points to is replaced, never changed, as clones share it
	completed []CompletedTransaction // whose marker may be at the high watermark or above, by marker; elements never change
	end       kafka.Offset           // exclusive: the state holds the log up to here
	snapshot  kafka.Offset           // of the newest snapshot file; no other is due before end is above it
}

// Producers returns what the log knows of each producer, by id. The slice is the caller's, what is in it is
// shared and must not be changed.
func (l *Log) Producers() []ProducerState {
	list := make([]ProducerState, len(l.producers.states))
	for i, p := range l.producers.states {
		list[i] = *p
	}
	return list
}

// Producer gives what the log knows of a producer; known is false where it knows nothing. What it shares must not be changed.
func (l *Log) Producer(id kafka.ProducerID) (state ProducerState, known bool) {
	if p := l.producers.get(id); p != nil {
		return *p, true
	}
	return ProducerState{}, false
}

// IsDuplicate says whether a producer sends one of its last batches again: then an append writes nothing.
func (l *Log) IsDuplicate(b *record.Batch) bool { return l.producers.duplicate(b) != nil }

// HasOngoingTransaction says whether a producer has a transaction open in this log, in that epoch.
//
// Source: UnifiedLog.hasOngoingTransaction.
func (l *Log) HasOngoingTransaction(id kafka.ProducerID, epoch kafka.ProducerEpoch) bool {
	p := l.producers.get(id)
	return p != nil && p.TransactionFirstOffset >= 0 && p.ProducerEpoch == epoch
}

// ExpireProducers forgets the producers whose last batch or marker is producer.id.expiration.ms old, or
// older, and gives what was known of them, by id. One with an open transaction stays.
//
// Source: ProducerStateManager.removeExpiredProducers, which a broker calls every
// producer.id.expiration.check.interval.ms, 10 minutes.
func (l *Log) ExpireProducers(now kafka.Timestamp) (forgotten []ProducerState) {
	l.clock = now
	for _, p := range l.producers.states {
		if l.config.expired(p, now) {
			forgotten = append(forgotten, *p)
		}
	}
	if forgotten != nil {
		l.producers.states = slices.DeleteFunc(slices.Clone(l.producers.states), func(p *ProducerState) bool { return l.config.expired(p, now) })
	}
	return forgotten
}

// expired says whether a producer's state is too old.
//
// Source: ProducerStateManager.isProducerExpired.
func (c *Config) expired(p *ProducerState, now kafka.Timestamp) bool {
	return p.TransactionFirstOffset < 0 && now-p.LastTimestamp >= kafka.Timestamp(c.ProducerIDExpirationMillis)
}

// find returns where a producer stands, or belongs, in states.
func (p *producers) find(id kafka.ProducerID) (at int, known bool) {
	return slices.BinarySearchFunc(p.states, id, func(s *ProducerState, id kafka.ProducerID) int {
		return cmp.Compare(s.ProducerID, id)
	})
}

// get returns what is known of a producer, or nil.
func (p *producers) get(id kafka.ProducerID) *ProducerState {
	if at, known := p.find(id); known {
		return p.states[at]
	}
	return nil
}

// put makes state what is known of its producer.
func (p *producers) put(state *ProducerState) {
	at, known := p.find(state.ProducerID)
	if known {
		p.states[at] = state
		return
	}
	p.states = slices.Insert(p.states, at, state)
}

// apply takes over what a batch in the log says of its producer, without any check: as a follower does, or
// who reads the log again. maxTimestamp is what the log's header says. It returns the transaction that the batch
// ends, or nil; the caller notes it as completed.
//
// Source: ProducerAppendInfo.append with AppendOrigin.REPLICATION, ProducerStateEntry.update.
func (p *producers) apply(b *record.Batch, maxTimestamp kafka.Timestamp) *CompletedTransaction {
	if b.ProducerID < 0 {
		return nil
	}
	made := &keptProducer{}
	next := &made.ProducerState
	*next = ProducerState{ProducerID: b.ProducerID, ProducerEpoch: -1, LastTimestamp: kafka.NoTimestamp, CoordinatorEpoch: -1, TransactionFirstOffset: kafka.NoOffset}
	if known := p.get(b.ProducerID); known != nil {
		*next = *known
	}
	if next.ProducerEpoch != b.ProducerEpoch {
		next.ProducerEpoch, next.Batches = b.ProducerEpoch, nil
	}
	if b.Attributes.Control() {
		scan := b.Scan()
		if !scan.Next() {
			return nil // the transaction is gone from the log
		}
		marker, err := record.DecodeControl(scan.Record())
		if err != nil || marker.Type != record.Abort && marker.Type != record.Commit {
			return nil
		}
		var completed *CompletedTransaction
		if next.TransactionFirstOffset >= 0 {
			completed = &CompletedTransaction{b.ProducerID, next.TransactionFirstOffset, b.BaseOffset, marker.Type == record.Abort}
		}
		next.LastTimestamp, next.CoordinatorEpoch, next.TransactionFirstOffset = scan.Record().Timestamp, marker.CoordinatorEpoch, kafka.NoOffset
		p.put(next)
		return completed
	}
	if len(next.Batches) == producerBatchesKept {
		next.Batches = next.Batches[1:]
	}
	next.Batches = append(made.room[:copy(made.room[:], next.Batches)], ProducerBatch{
		BaseSequence: b.BaseSequence, LastSequence: b.LastSequence(), BaseOffset: b.BaseOffset, LastOffset: b.LastOffset(), Timestamp: maxTimestamp,
	})
	next.LastTimestamp = maxTimestamp
	if next.TransactionFirstOffset < 0 && b.Attributes.Transactional() {
		next.TransactionFirstOffset = b.BaseOffset
	}
	p.put(next)
	return nil
}

// duplicate finds the batch that a producer sends again: one of its last five, with the same epoch and the
// same sequences.
//
// Source: ProducerStateEntry.findDuplicateBatch.
func (p *producers) duplicate(b *record.Batch) *ProducerBatch {
	known := p.get(b.ProducerID)
	if known == nil || known.ProducerEpoch != b.ProducerEpoch {
		return nil
	}
	for i := range known.Batches {
		if k := &known.Batches[i]; k.BaseSequence == b.BaseSequence && k.LastSequence == b.LastSequence() {
			return k
		}
	}
	return nil
}

// checkEpoch refuses a batch whose producer epoch is older than the last one seen.
//
// Source: ProducerAppendInfo.checkProducerEpoch.
func (p *producers) checkEpoch(b *record.Batch) *Refusal {
	known := p.get(b.ProducerID)
	if known == nil || b.ProducerEpoch >= known.ProducerEpoch {
		return nil
	}
	return refuse(kerr.InvalidProducerEpoch, "producer id %s has epoch %d, older than the last seen %d",
		kafka.Thousands(b.ProducerID), b.ProducerEpoch, known.ProducerEpoch)
}

// check holds a client's batch that is no duplicate against what is known of its producer: its epoch may not
// be older, a newer one begins with sequence 0, and in the same epoch the sequence follows the last one.
// Whoever is not known may begin with any sequence.
//
// Source: ProducerAppendInfo.checkProducerEpoch, checkSequence and appendDataBatch.
func (p *producers) check(b *record.Batch) *Refusal {
	known := p.get(b.ProducerID)
	if known == nil {
		return nil
	}
	if refusal := p.checkEpoch(b); refusal != nil {
		return refusal
	}
	last := known.LastSequence()
	switch {
	case b.ProducerEpoch != known.ProducerEpoch && b.BaseSequence != 0:
		return refuse(kerr.OutOfOrderSequenceNumber, "producer id %s begins epoch %d with sequence %s, a new epoch begins with 0",
			kafka.Thousands(b.ProducerID), b.ProducerEpoch, kafka.Thousands(b.BaseSequence))
	case b.ProducerEpoch == known.ProducerEpoch && b.BaseSequence != record.IncrementSequence(last, 1):
		return refuse(kerr.OutOfOrderSequenceNumber, "producer id %s sent sequence %s, the last was %s and %s follows",
			kafka.Thousands(b.ProducerID), kafka.Thousands(b.BaseSequence), kafka.Thousands(last), kafka.Thousands(record.IncrementSequence(last, 1)))
	case known.TransactionFirstOffset >= 0 && !b.Attributes.Transactional():
		return refuse(kerr.InvalidTxnState, "producer id %s has a transaction open since offset %s, the batch belongs to none",
			kafka.Thousands(b.ProducerID), kafka.Thousands(known.TransactionFirstOffset))
	}
	return nil
}
