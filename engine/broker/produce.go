package broker

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// produce appends one batch to each partition that the request names and answers with the base offsets.
// With acks=0 there is no answer. Fetches that were waiting for what came are answered after all
// partitions of the request are done, as Kafka completes its delayed operations.
//
// Source: ReplicaManager.appendRecords, KafkaApis.handleProduceRequest.
func (b *Broker) produce(now kafka.Millis, m *simnet.Message, r *kmsg.ProduceRequest, cause uint64, j *journal.Journal) []simnet.Send {
	response := r.ResponseKind().(*kmsg.ProduceResponse)
	advanced := make([]uint64, len(b.partitions)) // by partition: Seq of its high watermark's move
	last := cause
	for _, topic := range r.Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.TopicID = topic.TopicID
		for _, rp := range topic.Partitions {
			result, seq := b.appendTo(now, topic.TopicID, rp, cause, j)
			if result.ErrorCode == 0 {
				advanced[rp.Partition], last = seq, seq
			}
			rt.Partitions = append(rt.Partitions, result)
		}
		response.Topics = append(response.Topics, rt)
	}
	var sends []simnet.Send
	if r.Acks != 0 {
		sends = answer(m, response, last)
	}
	return append(sends, b.completeFetches(func(p parkedFetch) (uint64, bool) { return b.dataFor(p, advanced) })...)
}

// appendTo appends to one partition and moves its high watermark; seq is the event that says so.
func (b *Broker) appendTo(now kafka.Millis, topicID [16]byte, rp kmsg.ProduceRequestTopicPartition, cause uint64, j *journal.Journal) (result kmsg.ProduceResponseTopicPartition, seq uint64) {
	result = kmsg.NewProduceResponseTopicPartition()
	result.Partition, result.BaseOffset, result.LogAppendTime = rp.Partition, -1, -1
	p, err := b.find(topicID, rp.Partition)
	if err != nil {
		result.ErrorCode = code(err)
		return result, 0
	}
	appended, err := p.log.Append(rp.Records, p.leaderEpoch, b.clock(now))
	if err != nil {
		var refusal *storage.Refusal
		if !errors.As(err, &refusal) {
			panic(err)
		}
		j.Append(b.node, cause, journal.ProduceRefused{TopicPartition: p.tp, Error: refusal.Err.Message, Why: refusal.Why})
		result.ErrorCode, result.ErrorMessage = refusal.Err.Code, &refusal.Why
		return result, 0
	}
	b.record(p, appended, cause, j)
	from := p.highWatermark
	p.highWatermark = p.log.LogEndOffset()
	seq = j.Append(b.node, uint64(j.Len()), journal.HighWatermarkAdvanced{
		TopicPartition: p.tp, From: from, To: p.highWatermark, LogEndOffset: p.log.LogEndOffset(), LeaderEpoch: p.leaderEpoch,
	})
	result.BaseOffset, result.LogStartOffset = int64(appended.BaseOffset), int64(p.log.LogStartOffset())
	return result, seq
}

// record journals what an append did; the append itself comes last.
func (b *Broker) record(p *partition, a storage.Appended, cause uint64, j *journal.Journal) {
	if a.Roll != nil {
		cause = j.Append(b.node, cause, journal.SegmentRolled{TopicPartition: p.tp, Base: a.Roll.Base, Reason: a.Roll.Why})
	}
	if a.IndexEntry != nil {
		cause = j.Append(b.node, cause, journal.IndexEntryAdded{
			TopicPartition: p.tp, Offset: a.IndexEntry.Offset, Position: a.IndexEntry.Position, Interval: b.topic.Config.IndexIntervalBytes,
		})
	}
	j.Append(b.node, cause, journal.BatchAppended{
		TopicPartition: p.tp, BaseOffset: a.BaseOffset, LastOffset: a.LastOffset, Bytes: a.Bytes, Segment: a.SegmentBase, Position: a.Position,
	})
}

// code gives the protocol's number of an error.
func code(err error) int16 {
	var e *kerr.Error
	if errors.As(err, &e) {
		return e.Code
	}
	panic(err)
}
