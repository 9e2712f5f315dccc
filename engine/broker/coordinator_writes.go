package broker

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/replication"
	"loglab/engine/storage"
)

// coordinatorWrite is a write of a coordinator that is appended and not on every in-sync replica. How long somebody
// waits for it is the coordinator's business.
//
// Source: CoordinatorRuntime.CoordinatorWriteEvent, DeferredEventQueue.
type coordinatorWrite struct {
	tp   kafka.TopicPartition
	id   uint64       // of the coordinator's write
	upTo kafka.Offset // the high watermark that it waits for
}

// refusedWrite is a write of a coordinator that was not appended.
type refusedWrite struct {
	id    uint64
	err   *kerr.Error
	cause uint64
}

// writesDelayed says whether writes of a partition's coordinator wait for a slow disk: then those that come after
// them wait too.
func (b *Broker) writesDelayed(tp kafka.TopicPartition) bool {
	return slices.ContainsFunc(b.writes, func(w *pendingWrite) bool { return w.message == nil && w.tp == tp })
}

// finishCoordinatorWrite does one write that has waited for a slow disk.
func (b *Broker) finishCoordinatorWrite(t *turn, tp kafka.TopicPartition, w coordinator.Write) {
	if h := b.coordinator(tp); h != nil {
		woken, refused := b.appendWrite(t, h, w, nil, nil)
		b.tellWritten(t, h, woken, refused)
	}
}

// appendWrite appends one write of a coordinator as one batch, with acks=all. It adds what may wake others, and
// a refusal.
//
// Simplified: each write is a batch of its own at once; Kafka's coordinator can put the writes of requests that came
// together into one, by group.coordinator.append.linger.ms.
//
// Source: CoordinatorPartitionWriter.append.
func (b *Broker) appendWrite(t *turn, h *hostedCoordinator, w coordinator.Write, woken []wake, refused []refusedWrite) ([]wake, []refusedWrite) {
	r := b.replica(h.tp)
	from := r.HighWatermark()
	appended, moved, err := b.appendRecords(t, r, w)
	if err != nil {
		refusal := refusalOf(err)
		b.markerSettled(h.tp, w, 0, refusal.Err)
		cause := t.note(w.Cause, journal.GroupAppendFailed{TopicPartition: r.TopicPartition, Error: refusal.Err.Message, Why: refusal.Why})
		return woken, append(refused, refusedWrite{w.ID, refusal.Err, cause})
	}
	cause := b.noteAppended(t, r, appended, false, w.Cause)
	if moved {
		cause = b.noteWatermark(t, r, from, cause)
	}
	b.markerSettled(h.tp, w, appended.LastOffset+1, nil)
	written := coordinatorWrite{tp: h.tp, id: w.ID, upTo: appended.LastOffset + 1}
	done := replicated(r, written.upTo)
	if !done {
		event := journal.GroupWriteParked{TopicPartition: r.TopicPartition, HighWatermark: written.upTo, Timeout: b.config.Group.CommitTimeout}
		if r.TopicPartition.Topic == kafka.TransactionsTopic {
			event.Timeout = 0 // transaction.timeout.ms of the producer, which its coordinator knows
		}
		t.note(cause, event)
	}
	b.coordinatorWrites = append(b.coordinatorWrites, written)
	return append(woken, wake{r: r, cause: cause, watermark: moved || done}), refused
}

// appendRecords appends the records of a write, or the marker that ends a transaction.
func (b *Broker) appendRecords(t *turn, r *replication.Replica, w coordinator.Write) (appended storage.Appended, moved bool, err error) {
	if w.Marker != nil {
		b.forgetVerification(r.TopicPartition, w.Marker.ProducerID)
		return r.AppendMarker(t.now, b.clock(t.now), *w.Marker, &b.image)
	}
	options := record.Options{}
	if p := w.Transaction; p != nil {
		options.Transactional, options.Producer = true, &record.Producer{ID: p.ID, Epoch: p.Epoch, BaseSequence: 0}
		if refusal := b.unverified(r, *p, 0); refusal != nil {
			return appended, false, refusal
		}
		b.forgetVerification(r.TopicPartition, p.ID)
	}
	builder := record.NewBuilder(options)
	for _, found := range w.Records {
		builder.Append(b.clock(t.now), found.Key, found.Value)
	}
	batch, err := builder.Finish()
	if err != nil {
		panic(fmt.Sprintf("%s, write %d: %v", r.TopicPartition, w.ID, err))
	}
	return r.AppendAsCoordinator(t.now, b.clock(t.now), batch, &b.image)
}

// replicated says whether every in-sync replica has what a coordinator wrote. Whether they are enough does not count
// any more: a coordinator looks at the high watermark alone.
//
// Source: CoordinatorRuntime.HighWatermarkListener.
func replicated(r *replication.Replica, upTo kafka.Offset) bool {
	if r.Role() != replication.Leader {
		return false // the coordinator is about to resign
	}
	done, _ := r.Acknowledged(upTo)
	return done
}

// tellWritten tells a coordinator which of its writes were refused, and all that wait what has been written.
func (b *Broker) tellWritten(t *turn, h *hostedCoordinator, woken []wake, refused []refusedWrite) {
	for _, w := range refused {
		b.perform(t, h, h.machine().Written(t.now, w.id, w.err, w.cause, t.j))
	}
	b.wakeUp(t, woken)
}

// completeCoordinatorWrites tells the coordinators which of their writes are on every in-sync replica now, in the order in
// which they were written.
func (b *Broker) completeCoordinatorWrites(t *turn, woken []wake) {
	for _, w := range woken {
		if !w.watermark || !kafka.IsInternal(w.r.TopicPartition.Topic) {
			continue
		}
		for {
			tp := w.r.TopicPartition
			at := slices.IndexFunc(b.coordinatorWrites, func(c coordinatorWrite) bool { return c.tp == tp })
			if at < 0 || !replicated(w.r, b.coordinatorWrites[at].upTo) {
				break
			}
			done := b.coordinatorWrites[at]
			b.coordinatorWrites = slices.Delete(b.coordinatorWrites, at, at+1)
			h := b.coordinator(tp)
			b.perform(t, h, h.machine().Written(t.now, done.id, nil, w.cause, t.j))
		}
	}
}
