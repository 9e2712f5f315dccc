package controller

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// parkedFetch is a fetch that waits for records.
type parkedFetch struct {
	message  *simnet.Message
	deadline kafka.Millis
	parked   uint64 // Seq of the event that says it was parked
}

// fetch gives an observer the metadata log from an offset on, or parks the request if there is nothing to
// give yet. The high watermark is the log end offset.
//
// Simplified: an observer's log is always a part of the controller's, so a fetch is never answered with a
// diverging epoch or the id of a snapshot; the response's leader and endpoints are left out.
//
// Source: KafkaRaftClient.handleFetchRequest.
func (c *Controller) fetch(now kafka.Millis, m *simnet.Message, r *kmsg.FetchRequest, cause uint64, j *journal.Journal) []simnet.Send {
	response, done := c.read(r)
	if done || r.MaxWaitMillis <= 0 {
		return answer(m, response, cause)
	}
	wait := kafka.Millis(r.MaxWaitMillis)
	parked := j.Append(c.config.Node, cause, journal.MetadataFetchParked{From: m.From, Offset: c.log.LogEndOffset(), MaxWait: wait})
	c.parked = append(c.parked, parkedFetch{message: m, deadline: now + wait, parked: parked})
	return nil
}

// completeFetches answers the parked fetches that ready picks, in the order they came; ready also gives the
// event that is the cause.
func (c *Controller) completeFetches(ready func(parkedFetch) (cause uint64, ok bool)) []simnet.Send {
	var sends []simnet.Send
	kept := c.parked[:0]
	for _, p := range c.parked {
		cause, ok := ready(p)
		if !ok {
			kept = append(kept, p)
			continue
		}
		response, _ := c.read(p.message.Request.(*kmsg.FetchRequest))
		sends = append(sends, answer(p.message, response, cause)...)
	}
	c.parked = kept
	return sends
}

// read makes the response to a fetch as the log stands now; done is false if it holds nothing worth sending.
func (c *Controller) read(r *kmsg.FetchRequest) (response *kmsg.FetchResponse, done bool) {
	response = r.ResponseKind().(*kmsg.FetchResponse)
	for _, topic := range r.Topics {
		rt := kmsg.NewFetchResponseTopic()
		rt.TopicID = topic.TopicID
		for _, rp := range topic.Partitions {
			result := kmsg.NewFetchResponseTopicPartition()
			result.Partition, result.HighWatermark, result.LastStableOffset, result.LogStartOffset = rp.Partition, -1, -1, -1
			result.RecordBatches = []byte{} // no bytes, not null
			switch {
			case topic.TopicID != metadata.LogTopicID():
				result.ErrorCode = kerr.UnknownTopicID.Code
			case rp.Partition != 0:
				result.ErrorCode = kerr.UnknownTopicOrPartition.Code
			default:
				c.readLog(&result, kafka.Offset(rp.FetchOffset), int(min(r.MaxBytes, rp.PartitionMaxBytes)))
			}
			done = done || result.ErrorCode != 0 || len(result.RecordBatches) > 0
			rt.Partitions = append(rt.Partitions, result)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response, done
}

// readLog fills in the records from an offset on.
func (c *Controller) readLog(result *kmsg.FetchResponseTopicPartition, from kafka.Offset, maxBytes int) {
	end := c.log.LogEndOffset()
	read, err := c.log.Read(from, maxBytes, end, true)
	var refusal *storage.Refusal
	switch {
	case errors.As(err, &refusal):
		result.ErrorCode = refusal.Err.Code
		return
	case err != nil:
		panic(err) // our own disk holds something that is not a batch
	}
	result.HighWatermark, result.LastStableOffset, result.LogStartOffset = int64(end), int64(end), int64(c.log.LogStartOffset())
	if len(read.Bytes) > 0 {
		result.RecordBatches = read.Bytes
	}
}
