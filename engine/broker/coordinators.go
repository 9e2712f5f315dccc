package broker

import (
	"fmt"
	"iter"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/coordinator"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/record"
	"loglab/engine/replication"
	"loglab/engine/txn"
)

// hostedCoordinator is the coordinator that lives on one partition of an internal topic, which this broker leads.
//
// Source: CoordinatorRuntime.CoordinatorContext, TransactionStateManager.
type hostedCoordinator struct {
	tp    kafka.TopicPartition
	epoch kafka.LeaderEpoch  // in which it was made
	group *group.Coordinator // of a partition of __consumer_offsets, else nil
	txn   *txn.Coordinator   // of a partition of __transaction_state, else nil
}

// machine is what a coordinator of either kind does at the news of its broker and by its timers.
type machine interface {
	Written(now kafka.Millis, id uint64, err *kerr.Error, cause uint64, j *journal.Journal) coordinator.Effects
	Resign(now kafka.Millis, cause uint64, j *journal.Journal) coordinator.Effects
	Publish(image *metadata.Image)
	Tick(now kafka.Millis, j *journal.Journal) coordinator.Effects
	NextDue() (due kafka.Millis, ok bool)
}

// machine gives the one that is there.
func (h *hostedCoordinator) machine() machine {
	if h.group != nil {
		return h.group
	}
	return h.txn
}

// clone gives a coordinator in the same state.
func (h hostedCoordinator) clone() hostedCoordinator {
	if h.group != nil {
		h.group = h.group.Clone()
	} else {
		h.txn = h.txn.Clone()
	}
	return h
}

// placeOfCoordinator gives the place of a partition's coordinator in the list.
func (b *Broker) placeOfCoordinator(tp kafka.TopicPartition) (at int, hosted bool) {
	return slices.BinarySearchFunc(b.coordinators, tp, func(h hostedCoordinator, tp kafka.TopicPartition) int { return h.tp.Compare(tp) })
}

// coordinator gives a partition's coordinator, nil if this broker has none.
func (b *Broker) coordinator(tp kafka.TopicPartition) *hostedCoordinator {
	at, hosted := b.placeOfCoordinator(tp)
	if !hosted {
		return nil
	}
	return &b.coordinators[at]
}

// electCoordinators makes a coordinator for each partition of an internal topic that the broker has begun to lead, and
// ends those of partitions that it leads no more. That of groups goes on in a new leader epoch; that of transactions begins
// anew, as its markers carry the epoch.
//
// Source: BrokerMetadataPublisher.updateCoordinator, CoordinatorRuntime.scheduleLoadOperation and
// scheduleUnloadOperation, TransactionCoordinator.onElection.
func (b *Broker) electCoordinators(t *turn, changed []wake) {
	for _, w := range changed {
		tp := w.r.TopicPartition
		if !kafka.IsInternal(tp.Topic) {
			continue
		}
		switch at, hosted := b.placeOfCoordinator(tp); {
		case !hosted && w.r.Role() == replication.Leader:
			b.electCoordinator(t, at, w)
		case hosted && w.r.Role() != replication.Leader:
			b.resignCoordinator(t, at, w)
		case hosted && tp.Topic == txn.Topic && b.coordinators[at].epoch < w.r.State().LeaderEpoch:
			b.resignCoordinator(t, at, w)
			b.electCoordinator(t, at, w)
		}
	}
}

// electCoordinator makes the coordinator of a partition, which reads the log up to its end.
//
// Simplified: the log is read in no time: nobody is answered COORDINATOR_LOAD_IN_PROGRESS.
//
// Source: CoordinatorLoaderImpl.doLoad.
func (b *Broker) electCoordinator(t *turn, at int, w wake) {
	state := w.r.State()
	name := fmt.Sprintf("coordinator of %s at %s, start %d, epoch %d", w.r.TopicPartition, b.node, b.starts, state.LeaderEpoch)
	h := hostedCoordinator{tp: w.r.TopicPartition, epoch: state.LeaderEpoch}
	records := 0
	for range loggedOf(w.r) {
		records++
	}
	elected := t.note(w.cause, journal.CoordinatorElected{TopicPartition: w.r.TopicPartition, LeaderEpoch: state.LeaderEpoch, Records: records, LogEndOffset: w.r.Log.LogEndOffset()})
	var e coordinator.Effects
	image := b.image
	if h.tp.Topic == txn.Topic {
		h.txn = txn.New(b.txns)
		h.txn.Publish(&image)
		e = h.txn.Load(t.now, loggedOf(w.r), int32(state.LeaderEpoch), elected, t.j)
	} else {
		h.group = group.New(b.groups, b.config.Rand.Split(name))
		h.group.Publish(&image)
		e = h.group.Load(t.now, loggedOf(w.r), elected, t.j)
	}
	b.coordinators = slices.Insert(b.coordinators, at, h)
	b.perform(t, &b.coordinators[at], e)
}

// publishToCoordinators tells the coordinators how the cluster is now.
//
// Source: BrokerMetadataPublisher.onMetadataUpdate, GroupCoordinator.onNewMetadataImage.
func (b *Broker) publishToCoordinators() {
	image := b.image
	for i := range b.coordinators {
		b.coordinators[i].machine().Publish(&image)
	}
}

// loggedOf walks over what a log holds, oldest first.
func loggedOf(r *replication.Replica) iter.Seq[coordinator.Logged] {
	return func(yield func(coordinator.Logged) bool) {
		for _, s := range r.Log.Segments() {
			for data := s.Bytes; len(data) > 0; {
				batch, err := record.Parse(data)
				if err != nil {
					panic(fmt.Sprintf("%s: %v", r.TopicPartition, err)) // our own disk holds something that is not a batch
				}
				data = data[batch.Size():]
				for scan := batch.Scan(); scan.Next(); {
					found := scan.Record()
					logged := coordinator.Logged{Transactional: batch.Attributes.Transactional(), Producer: batch.ProducerID}
					if batch.Attributes.Control() {
						logged.End = endOf(found)
					} else {
						logged.Record = coordinator.Record{Key: found.Key, Value: found.Value}
					}
					if found.Offset >= r.Log.LogStartOffset() && !yield(logged) {
						return
					}
				}
			}
		}
	}
}

// endOf says how the transaction ended whose marker a record is.
func endOf(marker record.Record) coordinator.End {
	control, err := record.DecodeControl(marker)
	switch {
	case err == nil && control.Type == record.Commit:
		return coordinator.Committed
	case err == nil && control.Type == record.Abort:
		return coordinator.Aborted
	}
	return coordinator.NotEnded
}

// resignCoordinator ends a coordinator. What it wrote and waited for, it is not told any more.
func (b *Broker) resignCoordinator(t *turn, at int, w wake) {
	h := b.coordinators[at]
	b.coordinators = slices.Delete(b.coordinators, at, at+1)
	b.coordinatorWrites = slices.DeleteFunc(b.coordinatorWrites, func(w coordinatorWrite) bool { return w.tp == h.tp })
	b.writes = slices.DeleteFunc(b.writes, func(p *pendingWrite) bool { return p.message == nil && p.tp == h.tp })
	b.outgoing = slices.DeleteFunc(b.outgoing, func(o outgoingMarker) bool { return o.coordinator == h.tp })
	b.markersAbandoned(h.tp)
	for _, a := range h.machine().Resign(t.now, w.cause, t.j).Answers {
		b.answerFor(t, a.Request, a.Response, a.Cause)
	}
}

// perform does what a coordinator wants done: all of its writes are appended, then its answers sent; then it is told
// which of the writes hold already and which were refused.
//
// Source: CoordinatorRuntime.CoordinatorContext.append.
func (b *Broker) perform(t *turn, h *hostedCoordinator, e coordinator.Effects) {
	var woken []wake
	var refused []refusedWrite
	for _, w := range e.Writes {
		if b.delay > 0 || b.writesDelayed(h.tp) {
			b.delayWrite(t, pendingWrite{tp: h.tp, records: w})
			continue
		}
		woken, refused = b.appendWrite(t, h, w, woken, refused)
	}
	for _, a := range e.Answers {
		b.answerFor(t, a.Request, a.Response, a.Cause)
	}
	b.queueMarkers(t, h, e.Markers)
	b.tellWritten(t, h, woken, refused)
}

// tickCoordinators lets the coordinators' timers fire that are due.
func (b *Broker) tickCoordinators(t *turn) {
	for i := range b.coordinators {
		h := &b.coordinators[i]
		if due, ok := h.machine().NextDue(); ok && due <= t.now {
			b.perform(t, h, h.machine().Tick(t.now, t.j))
		}
	}
}

// coordinatorsDue is when the first timer of a coordinator fires.
func (b *Broker) coordinatorsDue() kafka.Millis {
	due := never
	for i := range b.coordinators {
		if at, ok := b.coordinators[i].machine().NextDue(); ok {
			due = min(due, at)
		}
	}
	return due
}
