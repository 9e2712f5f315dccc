package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// The timestamps of a ListOffsets request that stand for an end of the log.
const (
	// LatestTimestamp asks for the high watermark, which is where a consumer's log ends.
	LatestTimestamp = -1
	// EarliestTimestamp asks for the log start offset.
	EarliestTimestamp = -2
)

// listOffsets finds offsets by timestamp or by an end of the log.
//
// Source: KafkaApis.handleListOffsetRequest, UnifiedLog.fetchOffsetByTimestamp.
func (b *Broker) listOffsets(r *kmsg.ListOffsetsRequest) kmsg.Response {
	response := r.ResponseKind().(*kmsg.ListOffsetsResponse)
	for _, topic := range r.Topics {
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = topic.Topic
		id := b.topic.ID
		if topic.Topic != b.topic.Name {
			id = [16]byte{}
		}
		for _, rp := range topic.Partitions {
			result := kmsg.NewListOffsetsResponseTopicPartition()
			result.Partition, result.Timestamp, result.Offset, result.LeaderEpoch = rp.Partition, -1, -1, -1
			if p, err := b.find(id, rp.Partition); err != nil {
				result.ErrorCode = 3 // UNKNOWN_TOPIC_OR_PARTITION, also for a name that is not known
			} else {
				p.locate(kafka.Timestamp(rp.Timestamp), &result)
			}
			rt.Partitions = append(rt.Partitions, result)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response
}

// locate fills in the offset that a timestamp stands for.
func (p *partition) locate(ts kafka.Timestamp, result *kmsg.ListOffsetsResponseTopicPartition) {
	switch ts {
	case EarliestTimestamp:
		result.Offset = int64(p.log.LogStartOffset())
	case LatestTimestamp:
		result.Offset = int64(p.highWatermark)
	default:
		at, err := p.log.OffsetForTimestamp(ts)
		if err != nil {
			panic(err) // our own disk holds something that is not a batch
		}
		if at.Offset == kafka.NoOffset || at.Offset >= p.highWatermark {
			return
		}
		result.Offset, result.Timestamp = int64(at.Offset), int64(at.Timestamp)
	}
	result.LeaderEpoch = int32(p.leaderEpoch)
}
