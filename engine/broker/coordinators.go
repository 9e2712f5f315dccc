package broker

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"loglab/engine/coordinator"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/replication"
)

// hostedCoordinator is the coordinator of the groups on one partition of __consumer_offsets, which this broker leads.
//
// Source: CoordinatorRuntime.CoordinatorContext.
type hostedCoordinator struct {
	partition kafka.Partition
	group     *group.Coordinator
}

func (h *hostedCoordinator) topicPartition() kafka.TopicPartition {
	return kafka.TopicPartition{Topic: group.Topic, Partition: h.partition}
}

// placeOfCoordinator gives the place of a partition's coordinator in the list.
func (b *Broker) placeOfCoordinator(p kafka.Partition) (at int, hosted bool) {
	return slices.BinarySearchFunc(b.coordinators, p, func(h hostedCoordinator, p kafka.Partition) int { return cmp.Compare(h.partition, p) })
}

// coordinator gives a partition's coordinator, nil if this broker has none.
func (b *Broker) coordinator(p kafka.Partition) *hostedCoordinator {
	at, hosted := b.placeOfCoordinator(p)
	if !hosted {
		return nil
	}
	return &b.coordinators[at]
}

// electCoordinators makes a coordinator for each partition of __consumer_offsets that the broker has begun to lead,
// and ends those of partitions that it leads no more. One that goes on leading in a new epoch keeps its coordinator.
//
// Source: BrokerMetadataPublisher.updateCoordinator, CoordinatorRuntime.scheduleLoadOperation and
// scheduleUnloadOperation.
func (b *Broker) electCoordinators(t *turn, changed []wake) {
	for _, w := range changed {
		tp := w.r.TopicPartition
		if tp.Topic != group.Topic {
			continue
		}
		switch at, hosted := b.placeOfCoordinator(tp.Partition); {
		case !hosted && w.r.Role() == replication.Leader:
			b.electCoordinator(t, at, w)
		case hosted && w.r.Role() != replication.Leader:
			b.resignCoordinator(t, at, w)
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
	b.coordinators = slices.Insert(b.coordinators, at, hostedCoordinator{
		partition: w.r.TopicPartition.Partition, group: group.New(b.groups, b.config.Rand.Split(name)),
	})
	records := 0
	for range loggedOf(w.r) {
		records++
	}
	elected := t.note(w.cause, journal.CoordinatorElected{TopicPartition: w.r.TopicPartition, LeaderEpoch: state.LeaderEpoch, Records: records, LogEndOffset: w.r.Log.LogEndOffset()})
	h := &b.coordinators[at]
	image := b.image
	h.group.Publish(&image)
	b.perform(t, h, h.group.Load(t.now, loggedOf(w.r), elected, t.j))
}

// publishToCoordinators tells the coordinators how the cluster is now.
//
// Source: BrokerMetadataPublisher.onMetadataUpdate, GroupCoordinator.onNewMetadataImage.
func (b *Broker) publishToCoordinators() {
	image := b.image
	for i := range b.coordinators {
		b.coordinators[i].group.Publish(&image)
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
	b.groupWrites = slices.DeleteFunc(b.groupWrites, func(g groupWrite) bool { return g.partition == h.partition })
	b.writes = slices.DeleteFunc(b.writes, func(p *pendingWrite) bool { return p.message == nil && p.partition == h.partition })
	for _, a := range h.group.Resign(t.now, w.cause, t.j).Answers {
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
		if b.delay > 0 || b.writesDelayed(h.partition) {
			b.delayWrite(t, pendingWrite{partition: h.partition, records: w})
			continue
		}
		woken, refused = b.appendGroupRecords(t, h, w, woken, refused)
	}
	for _, a := range e.Answers {
		b.answerFor(t, a.Request, a.Response, a.Cause)
	}
	b.tellWritten(t, h, woken, refused)
}

// tickCoordinators lets the coordinators' timers fire that are due.
func (b *Broker) tickCoordinators(t *turn) {
	for i := range b.coordinators {
		h := &b.coordinators[i]
		if due, ok := h.group.NextDue(); ok && due <= t.now {
			b.perform(t, h, h.group.Tick(t.now, t.j))
		}
	}
}

// coordinatorsDue is when the first timer of a coordinator fires.
func (b *Broker) coordinatorsDue() kafka.Millis {
	due := never
	for i := range b.coordinators {
		if at, ok := b.coordinators[i].group.NextDue(); ok {
			due = min(due, at)
		}
	}
	return due
}
