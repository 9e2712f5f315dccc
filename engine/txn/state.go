package txn

import (
	"fmt"
	"math"
	"slices"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
)

// State is the state of a transactional id, spelled as Kafka does.
type State string

// The states.
//
// Source: TransactionState.
const (
	Empty             State = "Empty"             // it has a producer id, and no transaction
	Ongoing           State = "Ongoing"           // a transaction is open: partitions were added to it
	PrepareCommit     State = "PrepareCommit"     // it is to be committed; markers are being written
	PrepareAbort      State = "PrepareAbort"      // it is to be aborted; markers are being written
	CompleteCommit    State = "CompleteCommit"    // the last transaction is committed everywhere
	CompleteAbort     State = "CompleteAbort"     // the last transaction is aborted everywhere
	Dead              State = "Dead"              // the transactional id expires; never in a value
	PrepareEpochFence State = "PrepareEpochFence" // its producer is being fenced; never written
)

// states holds each state at its number in the log.
var states = [...]State{Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, Dead, PrepareEpochFence}

// number gives the number of a state in the log.
func (s State) number() int8 { return int8(slices.Index(states[:], s)) }

// before lists the states from which each state can be reached.
//
// Source: TransactionState.VALID_PREVIOUS_STATES.
func (s State) before() []State {
	switch s {
	case Empty, Dead:
		return []State{Empty, CompleteCommit, CompleteAbort}
	case Ongoing:
		return []State{Ongoing, Empty, CompleteCommit, CompleteAbort}
	case PrepareCommit, PrepareEpochFence:
		return []State{Ongoing}
	case PrepareAbort:
		return []State{Ongoing, PrepareEpochFence, Empty, CompleteCommit, CompleteAbort}
	case CompleteCommit:
		return []State{PrepareCommit}
	case CompleteAbort:
		return []State{PrepareAbort}
	}
	return nil
}

// prepared says whether the transaction's end is decided and its markers are being written.
func (s State) prepared() bool { return s == PrepareCommit || s == PrepareAbort }

// idle says whether there is no transaction.
func (s State) idle() bool { return s == Empty || s == CompleteCommit || s == CompleteAbort }

const (
	noProducerID kafka.ProducerID    = -1
	noEpoch      kafka.ProducerEpoch = -1
	lastEpoch    kafka.ProducerEpoch = math.MaxInt16 // only a fenced producer's id has it
)

// exhausted says whether a producer may not be given a later epoch: the last one is kept to fence it with.
//
// Source: TransactionMetadata.isEpochExhausted.
func exhausted(epoch kafka.ProducerEpoch) bool { return epoch >= lastEpoch-1 }

// epochBump is the transaction version since which each transaction raises the epoch (KIP-890).
//
// Source: TransactionVersion.supportsEpochBump.
const epochBump int16 = 2

// details is what a record says of a transactional id, and LastProducerEpoch, which no record says.
//
// Source: TxnTransitMetadata.
type details struct {
	state              State
	producerID         kafka.ProducerID
	previousProducerID kafka.ProducerID // that it had before the last change, mostly the same; -1: none, or not known
	nextProducerID     kafka.ProducerID // that it is to have when the transaction is complete; -1: the same
	epoch              kafka.ProducerEpoch
	lastProducerEpoch  kafka.ProducerEpoch // that its producer had before; -1: not known
	timeout            kafka.Millis        // transaction.timeout.ms of its producer
	partitions         []kafka.TopicPartition
	start              kafka.Timestamp // of the transaction: when its first partition was added; -1: none
	updated            kafka.Timestamp
	client             int16 // the transaction version that the client used
}

func (d details) producer() coordinator.Producer {
	return coordinator.Producer{ID: d.producerID, Epoch: d.epoch}
}

// transaction is what the coordinator knows of a transactional id: what is written, and what is being written.
// The partitions are sorted, and shared: never written. Those whose markers are written are taken out.
//
// Source: TransactionMetadata.
type transaction struct {
	id string
	details
	pending     State // that is being written; empty: none
	failedFence bool  // the epoch was raised to fence the producer, and that could not be written

	completing *details // what is to be written when all markers are; never written
	retry      timer    // of the write of completing; not set: it did not fail
}

func (t *transaction) clone() *transaction {
	n := *t
	return &n
}

// timer is a deadline that may be set.
type timer struct {
	due kafka.Millis
	set bool
}

// prepare makes a change pending.
//
// Source: TransactionMetadata.prepareTransitionTo.
func (t *transaction) prepare(to details) details {
	switch {
	case t.pending != "":
		panic(fmt.Sprintf("txn: %s: %s while %s is pending", t.id, to.state, t.pending))
	case to.producerID < 0 || to.state != Dead && to.epoch < 0:
		panic(fmt.Sprintf("txn: %s: %s with producer id %d, epoch %d", t.id, to.state, to.producerID, to.epoch))
	case !slices.Contains(to.state.before(), t.state):
		panic(fmt.Sprintf("txn: %s: from %s to %s", t.id, t.state, to.state))
	}
	to.previousProducerID = t.producerID
	t.pending = to.state
	return to
}

// prepareFence is to fence the producer: nobody is ever told this epoch, so that one which was not written counts
// all the same. An id with the last epoch cannot be fenced.
//
// Source: TransactionMetadata.prepareFenceProducerEpoch.
func (t *transaction) prepareFence() details {
	to := t.details
	to.state = PrepareEpochFence
	if !t.failedFence {
		to.epoch++
	}
	return t.prepare(to)
}

// initialised is the state for a producer that begins with this producer id and epoch.
func (d details) initialised(timeout kafka.Millis, now kafka.Timestamp) details {
	d.state, d.timeout, d.partitions, d.start, d.updated = Empty, timeout, nil, kafka.NoTimestamp, now
	return d
}

// prepareNextEpoch gives the producer its next epoch, or the one that it has already if it asks again; expected is the
// epoch that it says it has, -1: none. It says false if that is neither the epoch nor the one before.
//
// Source: TransactionMetadata.prepareIncrementProducerEpoch.
func (t *transaction) prepareNextEpoch(timeout kafka.Millis, expected kafka.ProducerEpoch, now kafka.Timestamp) (to details, ok bool) {
	to = t.initialised(timeout, now)
	switch {
	case expected == noEpoch:
		to.epoch, to.lastProducerEpoch = t.epoch+1, noEpoch
	case t.epoch == noEpoch || expected == t.epoch:
		to.epoch, to.lastProducerEpoch = t.epoch+1, t.epoch
	case expected != t.lastProducerEpoch:
		return details{}, false
	}
	return t.prepare(to), true
}

// prepareRotation gives it a new producer id.
//
// Source: TransactionMetadata.prepareProducerIdRotation.
func (t *transaction) prepareRotation(id kafka.ProducerID, timeout kafka.Millis, keepsEpoch bool, now kafka.Timestamp) details {
	to := t.initialised(timeout, now)
	to.producerID, to.epoch, to.lastProducerEpoch = id, 0, noEpoch
	if keepsEpoch {
		to.lastProducerEpoch = t.epoch
	}
	return t.prepare(to)
}

// preparePartitions adds partitions to the transaction, and begins one if there is none.
//
// Source: TransactionMetadata.prepareAddPartitions.
func (t *transaction) preparePartitions(added []kafka.TopicPartition, client int16, now kafka.Timestamp) details {
	to := t.details
	to.state, to.partitions, to.updated, to.client = Ongoing, union(t.partitions, added), now, client
	if t.state.idle() {
		to.start = now
	}
	return t.prepare(to)
}

// prepareEnd decides how the transaction ends. A client of version 2 has its epoch raised with that.
//
// Source: TransactionMetadata.prepareAbortOrCommit.
func (t *transaction) prepareEnd(state State, client int16, next kafka.ProducerID, now kafka.Timestamp) details {
	to := t.details
	to.state, to.nextProducerID, to.updated, to.client = state, next, now, client
	if client >= epochBump {
		to.epoch, to.lastProducerEpoch = t.epoch+1, t.epoch
	}
	if t.state.idle() {
		to.start = now // nothing was added; it needs a time all the same
	}
	return t.prepare(to)
}

// prepareComplete is what is to be written when all markers are.
//
// Source: TransactionMetadata.prepareComplete.
func (t *transaction) prepareComplete(now kafka.Timestamp) details {
	t.failedFence = false
	to := t.details
	if to.state = CompleteAbort; t.state == PrepareCommit {
		to.state = CompleteCommit
	}
	if t.client >= epochBump && t.nextProducerID != noProducerID {
		to.producerID, to.epoch = t.nextProducerID, 0
	}
	to.nextProducerID, to.partitions, to.updated = noProducerID, nil, now
	return t.prepare(to)
}

// prepareDead lets the transactional id expire.
//
// Source: TransactionMetadata.prepareDead.
func (t *transaction) prepareDead() details {
	to := t.details
	to.state, to.partitions = Dead, nil
	return t.prepare(to)
}

// complete makes a change hold that is written.
//
// Source: TransactionMetadata.completeTransitionTo, validProducerEpoch, validProducerEpochBump.
func (t *transaction) complete(to details) {
	sameProducer := to.epoch == t.epoch && to.producerID == t.producerID
	raised := to.lastProducerEpoch == t.epoch && to.producerID == t.producerID
	valid := false
	switch to.state {
	case Empty:
		next := to.epoch == t.epoch+1 || to.epoch == 0 && to.producerID != t.producerID
		valid = (to.epoch == t.epoch || next) && len(to.partitions) == 0 && to.start == kafka.NoTimestamp
	case Ongoing:
		valid = sameProducer && includes(to.partitions, t.partitions) && to.timeout == t.timeout
	case PrepareCommit, PrepareAbort:
		emptyAbort := to.state == PrepareAbort && to.client >= epochBump && t.state.idle()
		valid = (to.client >= epochBump && raised || to.client < epochBump && sameProducer) &&
			slices.Equal(to.partitions, t.partitions) && to.timeout == t.timeout && (to.start == t.start || emptyAbort)
	case CompleteCommit, CompleteAbort:
		if valid = sameProducer; to.client >= epochBump && to.epoch == 0 {
			valid = to.lastProducerEpoch == t.lastProducerEpoch && to.previousProducerID == t.producerID
		}
		valid = valid && to.timeout == t.timeout && to.start != kafka.NoTimestamp
	}
	if t.pending != to.state || !valid {
		panic(fmt.Sprintf("txn: %s: %+v cannot become %+v, pending %q", t.id, t.details, to, t.pending))
	}
	t.details, t.pending = to, ""
}
