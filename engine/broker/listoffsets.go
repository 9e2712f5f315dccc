package broker

import (
	"math"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/replication"
)

// The timestamps of a ListOffsets request that stand for an end of the log.
const (
	// LatestTimestamp asks for the high watermark, which is where a consumer's log ends, or for a follower the
	// log end offset.
	LatestTimestamp = -1
	// EarliestTimestamp asks for the log start offset.
	EarliestTimestamp = -2
	// MaxTimestamp asks for the first record with the largest timestamp.
	MaxTimestamp = -3
)

// listOffsets finds offsets by timestamp or by an end of the log.
//
// Source: KafkaApis.handleListOffsetRequest, Partition.fetchOffsetForTimestamp.
func (b *Broker) listOffsets(r *kmsg.ListOffsetsRequest) kmsg.Response {
	response := r.ResponseKind().(*kmsg.ListOffsetsResponse)
	for _, topic := range r.Topics {
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = topic.Topic
		for _, rp := range topic.Partitions {
			result := kmsg.NewListOffsetsResponseTopicPartition()
			result.Partition, result.Timestamp, result.Offset, result.LeaderEpoch = rp.Partition, -1, -1, -1
			replica, failed := b.findNamed(topic.Topic, rp.Partition)
			if failed == nil {
				failed = replica.CheckEpoch(kafka.LeaderEpoch(rp.CurrentLeaderEpoch), true)
			}
			if failed == nil {
				failed = locate(replica, kafka.Timestamp(rp.Timestamp), r, &result)
			}
			result.ErrorCode = code(failed)
			rt.Partitions = append(rt.Partitions, result)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response
}

// locate fills in the offset that a timestamp stands for. A client sees the log up to the high watermark, one that reads
// committed records up to the last stable offset. A leader that is new in office does not tell clients
// its end before its high watermark has come into its epoch.
func locate(r *replication.Replica, ts kafka.Timestamp, request *kmsg.ListOffsetsRequest, result *kmsg.ListOffsetsResponseTopicPartition) *kerr.Error {
	end, follower := r.HighWatermark(), request.ReplicaID >= 0
	switch {
	case follower:
		end = r.Log.LogEndOffset()
	case request.IsolationLevel == readCommitted:
		end = r.LastStableOffset()
	}
	lagging := !follower && r.EpochStart() > end
	switch ts {
	case EarliestTimestamp:
		result.Offset = int64(r.Log.LogStartOffset())
	case LatestTimestamp:
		if lagging {
			return kerr.OffsetNotAvailable
		}
		result.Offset = int64(end)
	default:
		if ts == MaxTimestamp {
			ts = largestTimestamp(r)
		}
		at, err := r.Log.OffsetForTimestamp(ts)
		if err != nil {
			panic(err) // our own disk holds something that is not a batch
		}
		if at.Offset == kafka.NoOffset || at.Offset >= end {
			if lagging && at.Offset != kafka.NoOffset {
				return kerr.OffsetNotAvailable
			}
			return nil
		}
		result.Offset, result.Timestamp = int64(at.Offset), int64(at.Timestamp)
	}
	result.LeaderEpoch = int32(r.State().LeaderEpoch)
	return nil
}

// largestTimestamp gives the largest timestamp in a log, the greatest that there can be if it has none.
//
// Source: UnifiedLog.fetchOffsetByTimestamp, KIP-734.
func largestTimestamp(r *replication.Replica) kafka.Timestamp {
	largest := kafka.NoTimestamp
	for _, s := range r.Log.Segments() {
		largest = max(largest, s.LargestTimestamp)
	}
	if largest == kafka.NoTimestamp {
		return math.MaxInt64
	}
	return largest
}

// offsetForLeaderEpoch says where leader epochs ended, for a consumer that checks whether its position is still
// in the same history.
//
// Source: KafkaApis.handleOffsetForLeaderEpochRequest, Partition.lastOffsetForLeaderEpoch; KIP-320.
func (b *Broker) offsetForLeaderEpoch(r *kmsg.OffsetForLeaderEpochRequest) kmsg.Response {
	response := r.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	for _, topic := range r.Topics {
		rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
		rt.Topic = topic.Topic
		for _, rp := range topic.Partitions {
			result := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			result.Partition, result.LeaderEpoch, result.EndOffset = rp.Partition, -1, -1
			replica, failed := b.findNamed(topic.Topic, rp.Partition)
			if failed == nil {
				failed = replica.CheckEpoch(kafka.LeaderEpoch(rp.CurrentLeaderEpoch), true)
			}
			if failed == nil {
				if epoch, end, ok := replica.Log.EndOffsetForEpoch(kafka.LeaderEpoch(rp.LeaderEpoch)); ok {
					result.LeaderEpoch, result.EndOffset = int32(epoch), int64(end)
				}
			}
			result.ErrorCode = code(failed)
			rt.Partitions = append(rt.Partitions, result)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response
}
