package client

import (
	"iter"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// The versions of the requests: the newest of Kafka 4.2.
const (
	metadataVersion             = 13
	listOffsetsVersion          = 11
	produceVersion              = 13
	fetchVersion                = 18
	initProducerIDVersion       = 5
	offsetForLeaderEpochVersion = 4
)

// noSession is the session epoch of a fetch that wants no fetch session.
const noSession = -1

func metadataRequest(topics []topicMetadata) *kmsg.MetadataRequest {
	request := kmsg.NewPtrMetadataRequest()
	request.Version, request.AllowAutoTopicCreation = metadataVersion, true
	for _, t := range topics {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = &t.name
		request.Topics = append(request.Topics, rt)
	}
	return request
}

// listOffsetsRequest asks, for partitions without a position, for the end of the log that auto.offset.reset
// names.
func (c *Consumer) listOffsetsRequest(now kafka.Millis, list []*assigned) kmsg.Request {
	request := kmsg.NewPtrListOffsetsRequest()
	request.Version, request.ReplicaID, request.TimeoutMillis = listOffsetsVersion, -1, int32(c.config.RequestTimeout)
	request.IsolationLevel = c.config.isolation()
	for topic, list := range byTopic(list) {
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic = topic
		for _, a := range list {
			rp := kmsg.NewListOffsetsRequestTopicPartition()
			rp.Partition, rp.CurrentLeaderEpoch, rp.Timestamp = int32(a.tp.Partition), int32(c.metadata.leaderOf(a.tp).epoch), c.resetTimestamp(now)
			rt.Partitions = append(rt.Partitions, rp)
		}
		request.Topics = append(request.Topics, rt)
	}
	return request
}

// epochRequest asks, for partitions whose leader is new, where the epoch of the last record read ends.
func (c *Consumer) epochRequest(list []*assigned) kmsg.Request {
	request := kmsg.NewPtrOffsetForLeaderEpochRequest()
	request.Version, request.ReplicaID = offsetForLeaderEpochVersion, -1
	for topic, list := range byTopic(list) {
		rt := kmsg.NewOffsetForLeaderEpochRequestTopic()
		rt.Topic = topic
		for _, a := range list {
			rp := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			rp.Partition, rp.CurrentLeaderEpoch, rp.LeaderEpoch = int32(a.tp.Partition), int32(a.leader.epoch), int32(a.epoch)
			rt.Partitions = append(rt.Partitions, rp)
		}
		request.Topics = append(request.Topics, rt)
	}
	return request
}

// fetchRequest asks for what comes next in partitions.
func (c *Consumer) fetchRequest(list []*assigned) kmsg.Request {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.SessionEpoch, request.Rack = fetchVersion, noSession, c.config.ClientRack
	request.IsolationLevel = c.config.isolation()
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = int32(c.config.FetchMaxWait), c.config.FetchMinBytes, c.config.FetchMaxBytes
	for topic, list := range byTopic(list) {
		rt := kmsg.NewFetchRequestTopic()
		rt.TopicID = c.metadata.topic(topic).id
		for _, a := range list {
			rp := kmsg.NewFetchRequestTopicPartition()
			rp.CurrentLeaderEpoch = int32(c.metadata.leaderOf(a.tp).epoch)
			rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = int32(a.tp.Partition), int64(a.position), c.config.MaxPartitionFetchSize
			rt.Partitions = append(rt.Partitions, rp)
		}
		request.Topics = append(request.Topics, rt)
	}
	return request
}

// byTopic walks over runs of partitions of one topic.
func byTopic(list []*assigned) iter.Seq2[string, []*assigned] {
	return func(yield func(string, []*assigned) bool) {
		for len(list) > 0 {
			topic, n := list[0].tp.Topic, 1
			for n < len(list) && list[n].tp.Topic == topic {
				n++
			}
			if !yield(topic, list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// errorName gives the name that Kafka 4.2 has for an error code.
func errorName(code int16) string {
	if code == kerr.NotLeaderForPartition.Code {
		return "NOT_LEADER_OR_FOLLOWER"
	}
	return kerr.TypedErrorForCode(code).Message
}

// acksText gives the setting as a person writes it.
func acksText(acks int16) string {
	if acks == -1 {
		return "all"
	}
	return strconv.Itoa(int(acks))
}
