package broker

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// parkedFetch is a fetch that waits for data.
type parkedFetch struct {
	message  *simnet.Message
	deadline kafka.Millis
	parked   uint64 // Seq of the event that says it was parked
}

// fetch answers at once when at least fetch.min.bytes are there, when a partition has an error or when
// the request does not want to wait; otherwise it parks the request.
//
// Simplified: fetch sessions are left out; each request names all its partitions and each response
// carries all of them.
//
// Source: ReplicaManager.fetchMessages, DelayedFetch.
func (b *Broker) fetch(now kafka.Millis, m *simnet.Message, r *kmsg.FetchRequest, cause uint64, j *journal.Journal) []simnet.Send {
	response, bytes, failed := b.read(r)
	if bytes >= int(r.MinBytes) || failed || r.MaxWaitMillis <= 0 {
		return answer(m, response, cause)
	}
	parked := j.Append(b.node, cause, journal.FetchParked{From: m.From, MinBytes: r.MinBytes, MaxWait: kafka.Millis(r.MaxWaitMillis)})
	b.parked = append(b.parked, parkedFetch{message: m, deadline: now + kafka.Millis(r.MaxWaitMillis), parked: parked})
	return nil
}

// completeFetches answers the parked fetches that ready picks, in the order they came; ready also gives
// the event that is the cause.
func (b *Broker) completeFetches(ready func(parkedFetch) (cause uint64, ok bool)) []simnet.Send {
	var sends []simnet.Send
	kept := b.parked[:0]
	for _, p := range b.parked {
		cause, ok := ready(p)
		if !ok {
			kept = append(kept, p)
			continue
		}
		response, _, _ := b.read(p.message.Request.(*kmsg.FetchRequest))
		sends = append(sends, answer(p.message, response, cause)...)
	}
	b.parked = kept
	return sends
}

// dataFor says whether a parked fetch can be answered after the high watermarks in advanced (by
// partition, 0 for none) have moved, and which of those moves is the cause.
func (b *Broker) dataFor(p parkedFetch, advanced []uint64) (cause uint64, ok bool) {
	r := p.message.Request.(*kmsg.FetchRequest)
	for _, topic := range r.Topics {
		for _, rp := range topic.Partitions {
			if _, err := b.find(topic.TopicID, rp.Partition); err == nil && cause == 0 {
				cause = advanced[rp.Partition]
			}
		}
	}
	if cause == 0 {
		return 0, false
	}
	_, bytes, _ := b.read(r)
	return cause, bytes >= int(r.MinBytes)
}

// read makes the response to a fetch as the logs stand now: up to the high watermark, within the
// request's limits, the first batch whole even if it is larger.
func (b *Broker) read(r *kmsg.FetchRequest) (response *kmsg.FetchResponse, bytes int, failed bool) {
	response = r.ResponseKind().(*kmsg.FetchResponse)
	for _, topic := range r.Topics {
		rt := kmsg.NewFetchResponseTopic()
		rt.TopicID = topic.TopicID
		for _, rp := range topic.Partitions {
			limit := min(int(rp.PartitionMaxBytes), int(r.MaxBytes)-bytes)
			result := b.readPartition(topic.TopicID, rp, max(limit, 0), bytes == 0)
			bytes += len(result.RecordBatches)
			failed = failed || result.ErrorCode != 0
			rt.Partitions = append(rt.Partitions, result)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response, bytes, failed
}

// readPartition makes one partition's part of a fetch response.
func (b *Broker) readPartition(topicID [16]byte, rp kmsg.FetchRequestTopicPartition, maxBytes int, minOneMessage bool) kmsg.FetchResponseTopicPartition {
	result := kmsg.NewFetchResponseTopicPartition()
	result.Partition, result.HighWatermark, result.LastStableOffset, result.LogStartOffset = rp.Partition, -1, -1, -1
	result.RecordBatches = []byte{} // no bytes, not null
	p, err := b.find(topicID, rp.Partition)
	if err != nil {
		result.ErrorCode = code(err)
		return result
	}
	read, err := p.log.Read(kafka.Offset(rp.FetchOffset), maxBytes, p.highWatermark, minOneMessage)
	if err != nil {
		var refusal *storage.Refusal
		if !errors.As(err, &refusal) {
			panic(err)
		}
		result.ErrorCode = refusal.Err.Code
		return result
	}
	result.HighWatermark = int64(p.highWatermark)
	result.LastStableOffset = int64(p.highWatermark) // no transaction is ever open here
	result.LogStartOffset = int64(p.log.LogStartOffset())
	if len(read.Bytes) > 0 && !read.FirstEntryIncomplete {
		result.RecordBatches = read.Bytes
	}
	return result
}
