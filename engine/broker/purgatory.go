package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/replication"
	"loglab/engine/simnet"
)

// parkedProduce is a Produce request with acks=all whose batches are appended and not on every in-sync replica.
//
// Source: DelayedProduce.
type parkedProduce struct {
	message  *simnet.Message
	deadline kafka.Millis
	parked   uint64     // Seq of the event that says it was parked
	results  []produced // in the order of the request
}

func (b *Broker) parkProduce(t *turn, m *simnet.Message, r *kmsg.ProduceRequest, results []produced, cause uint64) {
	event := journal.ProduceParked{From: m.From, Timeout: kafka.Millis(r.TimeoutMillis)}
	for _, p := range results {
		if p.waits {
			event.Waits = append(event.Waits, journal.WaitsFor{TopicPartition: p.tp, HighWatermark: p.appended.LastOffset + 1})
		}
	}
	b.parkedProduces = append(b.parkedProduces, parkedProduce{
		message: m, deadline: t.now + kafka.Millis(r.TimeoutMillis), results: results, parked: t.note(cause, event),
	})
}

// wake says what happened to a partition that parked requests may wait for.
type wake struct {
	r         *replication.Replica
	cause     uint64 // Seq of the event that says so
	watermark bool   // the high watermark moved, or the replica has another role; false: the log grew only
}

// wakeUp looks at what waits and may go on now: producers' writes first, then fetches, then coordinators' writes.
//
// Source: Partition.tryCompleteDelayedRequests.
func (b *Broker) wakeUp(t *turn, woken []wake) {
	if len(woken) == 0 {
		return
	}
	b.completeProduces(t, woken)
	b.completeFetches(t, woken)
	for _, w := range woken {
		b.completeDeletes(t, w.cause)
	}
	b.completeMarkers(t)
	b.completeCoordinatorWrites(t, woken)
}

// completeProduces answers the writes that wait for nothing more.
func (b *Broker) completeProduces(t *turn, woken []wake) {
	kept := b.parkedProduces[:0]
	for _, p := range b.parkedProduces {
		waits, cause := false, uint64(0)
		for i := range p.results {
			result := &p.results[i]
			if !result.waits {
				continue
			}
			for _, w := range woken {
				if !w.watermark || w.r.TopicPartition != result.tp {
					continue
				}
				if done, failed := w.r.Acknowledged(result.appended.LastOffset + 1); done {
					result.waits, result.err = false, failed
					cause = max(cause, w.cause)
				}
			}
			waits = waits || result.waits
		}
		if waits {
			kept = append(kept, p)
			continue
		}
		b.answerProduce(t, p, cause)
	}
	b.parkedProduces = kept
}

func (b *Broker) answerProduce(t *turn, p parkedProduce, cause uint64) {
	t.answer(p.message, produceResponse(b, p.message.Request.(*kmsg.ProduceRequest), p.results), cause)
}

// completeFetches answers the fetches for which there is something now.
func (b *Broker) completeFetches(t *turn, woken []wake) {
	kept := b.parkedFetches[:0]
	for _, p := range b.parkedFetches {
		cause := uint64(0)
		for _, w := range woken {
			if p.asks(w.r) {
				cause = max(cause, w.cause)
			}
		}
		if cause != 0 {
			if read := b.read(p.message.Request.(*kmsg.FetchRequest)); read.complete() {
				t.answer(p.message, read.response, cause)
				continue
			}
		}
		kept = append(kept, p)
	}
	b.parkedFetches = kept
}

// expireParked answers the parked requests whose wait is over: fetches with what there is, writes with
// REQUEST_TIMED_OUT.
func (b *Broker) expireParked(t *turn) {
	fetches := b.parkedFetches[:0]
	for _, p := range b.parkedFetches {
		if p.deadline > t.now {
			fetches = append(fetches, p)
			continue
		}
		t.answer(p.message, b.read(p.message.Request.(*kmsg.FetchRequest)).response, p.parked)
	}
	b.parkedFetches = fetches
	produces := b.parkedProduces[:0]
	for _, p := range b.parkedProduces {
		if p.deadline > t.now {
			produces = append(produces, p)
			continue
		}
		event := journal.ProduceTimedOut{From: p.message.From, Timeout: p.deadline - p.message.DueAt}
		for i := range p.results {
			if result := &p.results[i]; result.waits {
				result.waits, result.err = false, kerr.RequestTimedOut
				event.Waits = append(event.Waits, journal.WaitsFor{TopicPartition: result.tp, HighWatermark: result.appended.LastOffset + 1})
			}
		}
		b.answerProduce(t, p, t.note(p.parked, event))
	}
	b.parkedProduces = produces
	b.expireDeletes(t)
	b.expireMarkers(t)
}

// parkedDue is when the first parked request has waited long enough.
func (b *Broker) parkedDue() kafka.Millis {
	due := never
	for i := range b.parkedFetches {
		due = min(due, b.parkedFetches[i].deadline)
	}
	for i := range b.parkedProduces {
		due = min(due, b.parkedProduces[i].deadline)
	}
	for i := range b.parkedDeletes {
		due = min(due, b.parkedDeletes[i].deadline)
	}
	for i := range b.parkedMarkers {
		due = min(due, b.parkedMarkers[i].deadline)
	}
	return due
}
