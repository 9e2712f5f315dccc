package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/replication"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// parkedMarkers is a WriteTxnMarkers request whose markers are not all on every in-sync replica.
//
// Source: KafkaApis.handleWriteTxnMarkersRequest.
type parkedMarkers struct {
	message  *simnet.Message
	deadline kafka.Millis
	cause    uint64 // Seq of the event that the answer goes back to
	filling  bool   // not all of its markers have been looked at
	results  []markerResult
}

// markerResult is what became of one marker in one partition.
type markerResult struct {
	tp    kafka.TopicPartition
	write uint64       // of the partition's group coordinator, which has still to be appended; 0: none
	upTo  kafka.Offset // the high watermark that it waits for
	waits bool
	err   *kerr.Error
}

// writeMarkers ends transactions in the partitions that the transaction coordinator names. Where a group coordinator lives
// on a partition, the marker goes through it, since it decides what becomes of the offsets committed in the transaction.
//
// Source: KafkaApis.handleWriteTxnMarkersRequest.
func (b *Broker) writeMarkers(t *turn, m *simnet.Message, r *kmsg.WriteTxnMarkersRequest, cause uint64) {
	at := len(b.parkedMarkers)
	b.parkedMarkers = append(b.parkedMarkers, parkedMarkers{message: m, deadline: t.now + b.requestTimeout().span, cause: cause, filling: true})
	var woken []wake
	for _, entry := range r.Markers {
		marker := markerOf(entry)
		for _, topic := range entry.Topics {
			for _, index := range topic.Partitions {
				tp := kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(index)}
				if h := b.coordinator(tp); h != nil && h.group != nil {
					e := h.group.EndTransaction(t.now, marker, cause, t.j)
					b.parkedMarkers[at].results = append(b.parkedMarkers[at].results, markerResult{tp: tp, waits: true, write: e.Writes[0].ID})
					b.perform(t, h, e)
					continue
				}
				result, w := b.writeMarker(t, tp, marker, cause)
				b.parkedMarkers[at].results = append(b.parkedMarkers[at].results, result)
				if w.cause != 0 {
					woken = append(woken, w)
				}
			}
		}
	}
	b.parkedMarkers[at].filling = false
	b.wakeUp(t, woken)
	b.completeMarkers(t)
}

// markerOf takes a marker out of a request.
func markerOf(entry kmsg.WriteTxnMarkersRequestMarker) storage.TransactionMarker {
	marker := storage.TransactionMarker{
		EndTxnMarker: record.EndTxnMarker{Type: record.Abort, CoordinatorEpoch: entry.CoordinatorEpoch},
		ProducerID:   kafka.ProducerID(entry.ProducerID), ProducerEpoch: kafka.ProducerEpoch(entry.ProducerEpoch), TransactionVersion: int16(entry.TransactionVersion),
	}
	if entry.Committed {
		marker.Type = record.Commit
	}
	return marker
}

// writeMarker appends one marker.
func (b *Broker) writeMarker(t *turn, tp kafka.TopicPartition, marker storage.TransactionMarker, cause uint64) (result markerResult, w wake) {
	result.tp = tp
	r, missing := b.findNamed(tp.Topic, int32(tp.Partition))
	switch {
	case missing != nil:
		result.err = missing
		return result, w
	case r.Role() != replication.Leader:
		result.err = kerr.NotLeaderForPartition
		return result, w
	}
	b.forgetVerification(tp, marker.ProducerID)
	from := r.HighWatermark()
	appended, moved, err := r.AppendMarker(t.now, b.clock(t.now), marker, &b.image)
	if err != nil {
		refusal := refusalOf(err)
		result.err = refusal.Err
		t.note(cause, journal.MarkerRefused{TopicPartition: tp, ProducerID: marker.ProducerID, ProducerEpoch: marker.ProducerEpoch, Error: refusal.Err.Message, Why: refusal.Why})
		return result, w
	}
	w = wake{r: r, cause: b.noteAppended(t, r, appended, false, cause), watermark: moved}
	if moved {
		w.cause = b.noteWatermark(t, r, from, w.cause)
	}
	w.cause = t.note(w.cause, endedBy(r, appended, marker))
	result.waits, result.upTo = true, appended.LastOffset+1
	return result, w
}

// endedBy says which transaction a marker has ended here.
func endedBy(r *replication.Replica, a storage.Appended, m storage.TransactionMarker) journal.TransactionEnded {
	event := journal.TransactionEnded{
		TopicPartition: r.TopicPartition, ProducerID: m.ProducerID, ProducerEpoch: m.ProducerEpoch, Marker: m.Type.String(), Offset: a.LastOffset,
		CoordinatorEpoch: m.CoordinatorEpoch, FirstOffset: kafka.NoOffset, HighWatermark: r.HighWatermark(), LastStableOffset: r.LastStableOffset(),
	}
	if a.Completed != nil {
		event.FirstOffset = a.Completed.FirstOffset
	}
	return event
}

// markerSettled notes what became of the write by which a group coordinator ends a transaction.
func (b *Broker) markerSettled(tp kafka.TopicPartition, w coordinator.Write, upTo kafka.Offset, err *kerr.Error) {
	for i := range b.parkedMarkers {
		for k := range b.parkedMarkers[i].results {
			if result := &b.parkedMarkers[i].results[k]; w.Marker != nil && result.tp == tp && result.write == w.ID {
				result.write, result.upTo, result.err, result.waits = 0, upTo, err, err == nil
			}
		}
	}
}

// markersAbandoned fails the markers that a coordinator of this broker has not written and will not.
func (b *Broker) markersAbandoned(tp kafka.TopicPartition) {
	for i := range b.parkedMarkers {
		for k := range b.parkedMarkers[i].results {
			if result := &b.parkedMarkers[i].results[k]; result.tp == tp && result.write != 0 {
				result.write, result.waits, result.err = 0, false, kerr.NotLeaderForPartition
			}
		}
	}
}

// completeMarkers answers the requests whose markers wait for nothing more.
func (b *Broker) completeMarkers(t *turn) {
	for i := 0; i < len(b.parkedMarkers); i++ {
		p := &b.parkedMarkers[i]
		waits := p.filling
		for k := range p.results {
			result := &p.results[k]
			if result.waits && result.write == 0 {
				if done, failed := b.acknowledged(result.tp, result.upTo); done {
					result.waits, result.err = false, failed
				}
			}
			waits = waits || result.waits
		}
		if !waits {
			done := *p
			b.parkedMarkers = slices.Delete(b.parkedMarkers, i, i+1)
			i--
			t.answer(done.message, markersResponse(done), done.cause)
		}
	}
}

// acknowledged says whether a write of this broker with acks=all can be answered.
func (b *Broker) acknowledged(tp kafka.TopicPartition, upTo kafka.Offset) (done bool, failed *kerr.Error) {
	if r := b.replica(tp); r != nil {
		return r.Acknowledged(upTo)
	}
	return true, kerr.NotLeaderForPartition
}

// markersResponse makes the answer; its results stand in the order of the request.
func markersResponse(p parkedMarkers) kmsg.Response {
	request := p.message.Request.(*kmsg.WriteTxnMarkersRequest)
	response := request.ResponseKind().(*kmsg.WriteTxnMarkersResponse)
	at := 0
	for _, entry := range request.Markers {
		marker := kmsg.NewWriteTxnMarkersResponseMarker()
		marker.ProducerID = entry.ProducerID
		for _, topic := range entry.Topics {
			rt := kmsg.NewWriteTxnMarkersResponseMarkerTopic()
			rt.Topic = topic.Topic
			for _, index := range topic.Partitions {
				rp := kmsg.NewWriteTxnMarkersResponseMarkerTopicPartition()
				rp.Partition, rp.ErrorCode = index, code(p.results[at].err)
				rt.Partitions = append(rt.Partitions, rp)
				at++
			}
			marker.Topics = append(marker.Topics, rt)
		}
		response.Markers = append(response.Markers, marker)
	}
	return response
}

// expireMarkers answers the requests whose markers were not on every in-sync replica in time.
func (b *Broker) expireMarkers(t *turn) {
	for i := range b.parkedMarkers {
		if p := &b.parkedMarkers[i]; p.deadline <= t.now {
			for k := range p.results {
				if result := &p.results[k]; result.waits {
					result.waits, result.write, result.err = false, 0, kerr.RequestTimedOut
				}
			}
		}
	}
	b.completeMarkers(t)
}
