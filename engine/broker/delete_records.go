package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// parkedDelete is a DeleteRecords request that waits for followers to let their logs begin where the leader's does.
//
// Source: DelayedDeleteRecords.
type parkedDelete struct {
	message  *simnet.Message
	deadline kafka.Millis
	parked   uint64 // Seq of the event that says that it waits
	results  []deleted
}

// deleted is what became of one partition of a DeleteRecords request.
type deleted struct {
	tp    kafka.TopicPartition
	asked kafka.Offset // where the logs are to begin
	err   *kerr.Error
}

// deleteRecords lets logs begin at later offsets. It answers when all live replicas do: a follower learns of the
// leader's log start offset by its fetches, and tells its own with them.
//
// Source: KafkaApis.handleDeleteRecordsRequest, ReplicaManager.deleteRecords.
func (b *Broker) deleteRecords(t *turn, m *simnet.Message, r *kmsg.DeleteRecordsRequest, cause uint64) {
	var results []deleted
	last := cause
	for _, topic := range r.Topics {
		for _, rp := range topic.Partitions {
			d := deleted{tp: kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(rp.Partition)}}
			replica, missing := b.findNamed(topic.Topic, rp.Partition)
			switch {
			case topic.Topic == group.Topic:
				d.err = kerr.InvalidTopicException
			case missing != nil:
				d.err = missing
			default:
				asked, from, err := replica.DeleteRecords(kafka.Offset(rp.Offset))
				d.asked = asked
				if err != nil {
					d.err = refusalOf(err).Err
				} else if asked > from {
					last = t.note(cause, journal.LogStartOffsetMoved{TopicPartition: d.tp, From: from, To: asked, Leader: true})
				}
			}
			results = append(results, d)
		}
	}
	if b.deletionWaits(results) {
		last = t.note(last, journal.DeletionParked{From: m.From, Timeout: kafka.Millis(r.TimeoutMillis)})
		b.parkedDeletes = append(b.parkedDeletes, parkedDelete{message: m, deadline: t.now + kafka.Millis(r.TimeoutMillis), parked: last, results: results})
		return
	}
	t.answer(m, b.deletionResponse(r, results, nil), last)
}

// deletionWaits says whether a live replica's log still begins too low.
func (b *Broker) deletionWaits(results []deleted) bool {
	return slices.ContainsFunc(results, func(d deleted) bool { return d.err == nil && b.lowWatermark(d) < d.asked && b.leads(d.tp) })
}

func (b *Broker) leads(tp kafka.TopicPartition) bool {
	p, ok := b.image.Partition(tp)
	return ok && p.Leader == b.config.ID
}

func (b *Broker) lowWatermark(d deleted) kafka.Offset {
	if r := b.replica(d.tp); r != nil {
		return r.LowWatermark(&b.image)
	}
	return -1
}

// deletionResponse makes the answer; late is the error of the partitions that are not done, nil if none is late.
func (b *Broker) deletionResponse(r *kmsg.DeleteRecordsRequest, results []deleted, late *kerr.Error) kmsg.Response {
	response := r.ResponseKind().(*kmsg.DeleteRecordsResponse)
	for _, topic := range r.Topics {
		rt := kmsg.NewDeleteRecordsResponseTopic()
		rt.Topic = topic.Topic
		for _, rp := range topic.Partitions {
			d := results[0]
			results = results[1:]
			result := kmsg.NewDeleteRecordsResponseTopicPartition()
			result.Partition, result.LowWatermark = rp.Partition, -1
			switch low := b.lowWatermark(d); {
			case d.err != nil:
				result.ErrorCode = d.err.Code
			case !b.leads(d.tp):
				result.ErrorCode = kerr.NotLeaderForPartition.Code
			case low < d.asked:
				result.LowWatermark, result.ErrorCode = int64(low), code(late)
			default:
				result.LowWatermark = int64(low)
			}
			rt.Partitions = append(rt.Partitions, result)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response
}

// completeDeletes answers the requests that wait for nothing more.
func (b *Broker) completeDeletes(t *turn, cause uint64) {
	b.parkedDeletes = slices.DeleteFunc(b.parkedDeletes, func(p parkedDelete) bool {
		if b.deletionWaits(p.results) {
			return false
		}
		t.answer(p.message, b.deletionResponse(p.message.Request.(*kmsg.DeleteRecordsRequest), p.results, nil), cause)
		return true
	})
}

// expireDeletes answers the requests whose time is over with REQUEST_TIMED_OUT. Where the leader's log begins later it
// stays so.
func (b *Broker) expireDeletes(t *turn) {
	b.parkedDeletes = slices.DeleteFunc(b.parkedDeletes, func(p parkedDelete) bool {
		if p.deadline > t.now {
			return false
		}
		t.answer(p.message, b.deletionResponse(p.message.Request.(*kmsg.DeleteRecordsRequest), p.results, kerr.RequestTimedOut), p.parked)
		return true
	})
}
