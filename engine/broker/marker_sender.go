package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/sabotage"
	"loglab/engine/storage"
)

// outgoingMarker is the end of a transaction that the leader of one partition has still to write.
type outgoingMarker struct {
	coordinator kafka.TopicPartition // where the transaction's coordinator lives
	id          string               // transactional.id
	marker      storage.TransactionMarker
	tp          kafka.TopicPartition
	retryAt     kafka.Millis
	call        int32 // the correlation of the request under way; 0: none
	cause       uint64
}

// markerBackoff is what the broker waits before it asks a leader again.
//
// Simplified: Kafka asks again at once.
const markerBackoff kafka.Millis = 100

// writeTxnMarkersVersion is the version of the broker's own WriteTxnMarkers requests.
const writeTxnMarkersVersion = 2

// queueMarkers takes in what a transaction coordinator wants written.
//
// Source: TransactionMarkerChannelManager.addTxnMarkersToSend.
func (b *Broker) queueMarkers(t *turn, h *hostedCoordinator, markers []coordinator.Marker) {
	for _, m := range markers {
		for _, tp := range m.Partitions {
			b.outgoing = append(b.outgoing, outgoingMarker{coordinator: h.tp, id: m.TransactionalID, marker: m.TransactionMarker, tp: tp, retryAt: t.now, cause: m.Cause})
		}
	}
}

// sendMarkers asks each leader for all that it has to write, one request at a time.
//
// Source: TransactionMarkerChannelManager.generateRequests.
func (b *Broker) sendMarkers(t *turn) {
	b.dropMarkersOfGonePartitions(t)
	for i := range b.outgoing {
		o := &b.outgoing[i]
		if o.call != 0 || o.retryAt > t.now {
			continue
		}
		leader, ok := b.leaderOf(o.tp)
		if !ok || b.markerCallTo(leader.node) {
			continue
		}
		b.sendMarkersTo(t, leader.node)
	}
}

func (b *Broker) markerCallTo(node kafka.NodeID) bool {
	return slices.ContainsFunc(b.markerCalls, func(c call) bool { return c.to == node })
}

// sendMarkersTo asks one leader.
func (b *Broker) sendMarkersTo(t *turn, node kafka.NodeID) {
	request := kmsg.NewPtrWriteTxnMarkersRequest()
	request.Version = writeTxnMarkersVersion
	var sent []int
	cause := uint64(0)
	for i := range b.outgoing {
		o := &b.outgoing[i]
		leader, ok := b.leaderOf(o.tp)
		if !ok || leader.node != node || o.call != 0 || o.retryAt > t.now {
			continue
		}
		addMarker(request, o)
		sent, cause = append(sent, i), max(cause, o.cause)
	}
	c := b.request(t, node, request, b.requestTimeout(), cause)
	for _, i := range sent {
		b.outgoing[i].call = c.correlation
	}
	b.markerCalls = append(b.markerCalls, c)
}

// addMarker puts a partition into a request, under its transaction.
func addMarker(r *kmsg.WriteTxnMarkersRequest, o *outgoingMarker) {
	m := o.marker
	at := slices.IndexFunc(r.Markers, func(k kmsg.WriteTxnMarkersRequestMarker) bool {
		return k.ProducerID == int64(m.ProducerID) && k.ProducerEpoch == int16(m.ProducerEpoch) && k.Committed == (m.Type == record.Commit)
	})
	if at < 0 {
		at = len(r.Markers)
		entry := kmsg.NewWriteTxnMarkersRequestMarker()
		entry.ProducerID, entry.ProducerEpoch, entry.Committed = int64(m.ProducerID), int16(m.ProducerEpoch), m.Type == record.Commit
		entry.CoordinatorEpoch, entry.TransactionVersion = m.CoordinatorEpoch, int8(m.TransactionVersion)
		r.Markers = append(r.Markers, entry)
	}
	topics := &r.Markers[at].Topics
	topic := slices.IndexFunc(*topics, func(k kmsg.WriteTxnMarkersRequestMarkerTopic) bool { return k.Topic == o.tp.Topic })
	if topic < 0 {
		topic = len(*topics)
		named := kmsg.NewWriteTxnMarkersRequestMarkerTopic()
		named.Topic = o.tp.Topic
		*topics = append(*topics, named)
	}
	(*topics)[topic].Partitions = append((*topics)[topic].Partitions, int32(o.tp.Partition))
}

// dropMarkersOfGonePartitions counts the markers of partitions that do not exist as written.
func (b *Broker) dropMarkersOfGonePartitions(t *turn) {
	for i := 0; i < len(b.outgoing); i++ {
		o := b.outgoing[i]
		_, there := b.image.Partition(o.tp)
		if b.config.Sabotage == sabotage.MarkerLeftOut && o.tp.Partition == 0 {
			there = false
		}
		if there || o.call != 0 {
			continue
		}
		b.outgoing = slices.Delete(b.outgoing, i, i+1)
		b.markerDone(t, o, o.cause)
		i = -1 // what the coordinator wants then may have changed the list
	}
}

// markerDone tells the transaction's coordinator that a partition has the marker.
func (b *Broker) markerDone(t *turn, o outgoingMarker, cause uint64) {
	if h := b.coordinator(o.coordinator); h != nil && h.txn != nil {
		producer := coordinator.Producer{ID: o.marker.ProducerID, Epoch: o.marker.ProducerEpoch}
		b.perform(t, h, h.txn.MarkersWritten(t.now, o.id, producer, []kafka.TopicPartition{o.tp}, cause, t.j))
	}
}

// markersAnswered takes a leader's answer: what is not written it is asked for again, unless the coordinator is fenced.
//
// Source: TransactionMarkerRequestCompletionHandler.onComplete.
func (b *Broker) markersAnswered(t *turn, correlation int32, response *kmsg.WriteTxnMarkersResponse, cause uint64) {
	b.markerCalls = slices.DeleteFunc(b.markerCalls, func(c call) bool { return !c.open() })
	for _, entry := range response.Markers {
		for _, topic := range entry.Topics {
			for _, p := range topic.Partitions {
				tp := kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p.Partition)}
				i := slices.IndexFunc(b.outgoing, func(o outgoingMarker) bool {
					return o.call == correlation && o.tp == tp && int64(o.marker.ProducerID) == entry.ProducerID
				})
				if i >= 0 {
					b.markerAnswered(t, i, kerr.TypedErrorForCode(p.ErrorCode), cause)
				}
			}
		}
	}
}

func (b *Broker) markerAnswered(t *turn, i int, err *kerr.Error, cause uint64) {
	o := &b.outgoing[i]
	switch err {
	case nil:
		done := *o
		b.outgoing = slices.Delete(b.outgoing, i, i+1)
		b.markerDone(t, done, cause)
	case kerr.InvalidProducerEpoch, kerr.TransactionCoordinatorFenced:
		t.note(cause, journal.MarkersGivenUp{TransactionalID: o.id, TopicPartition: o.tp, Error: err.Message})
		id, coordinator := o.id, o.coordinator
		b.outgoing = slices.DeleteFunc(b.outgoing, func(o outgoingMarker) bool { return o.id == id && o.coordinator == coordinator })
	default:
		o.call, o.retryAt = 0, t.now+markerBackoff
		o.cause = t.note(cause, journal.MarkerRetried{TransactionalID: o.id, TopicPartition: o.tp, Error: err.Message, Retry: markerBackoff})
	}
}

// markersLost makes the broker ask again what it had asked a server to which the connection is gone.
func (b *Broker) markersLost(t *turn, server kafka.NodeID, cause uint64) {
	for i := 0; i < len(b.markerCalls); i++ {
		c := b.markerCalls[i]
		if c.to != server {
			continue
		}
		b.markerCalls = slices.Delete(b.markerCalls, i, i+1)
		i--
		for k := range b.outgoing {
			if o := &b.outgoing[k]; o.call == c.correlation {
				o.call, o.retryAt, o.cause = 0, t.now+markerBackoff, cause
			}
		}
	}
}

// markersDue is when a leader is asked again.
func (b *Broker) markersDue() kafka.Millis {
	due := never
	for i := range b.outgoing {
		o := &b.outgoing[i]
		if leader, ok := b.leaderOf(o.tp); o.call == 0 && ok && !b.markerCallTo(leader.node) {
			due = min(due, o.retryAt)
		}
	}
	return due
}
