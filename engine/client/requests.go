package client

import (
	"math"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// The versions of the requests: the newest of Kafka 4.2.
const (
	metadataVersion    = 13
	listOffsetsVersion = 11
	produceVersion     = 13
	fetchVersion       = 18
)

// atOnce is a due time before any other.
const atOnce kafka.Millis = math.MinInt64

// noSession is the session epoch of a fetch that wants no fetch session.
const noSession = -1

func metadataRequest(topic string) kmsg.Request {
	request := kmsg.NewPtrMetadataRequest()
	request.Version, request.AllowAutoTopicCreation = metadataVersion, true
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = &topic
	request.Topics = append(request.Topics, rt)
	return request
}

// partitionsOf gives the partitions of a topic that have a leader.
func partitionsOf(topic kmsg.MetadataResponseTopic) []kafka.Partition {
	var list []kafka.Partition
	for _, p := range topic.Partitions {
		if p.Leader >= 0 {
			list = append(list, kafka.Partition(p.Partition))
		}
	}
	return list
}

// epochsOf gives the leader epoch of each partition of a topic.
func epochsOf(topic kmsg.MetadataResponseTopic) []int32 {
	epochs := make([]int32, len(topic.Partitions))
	for _, p := range topic.Partitions {
		epochs[p.Partition] = p.LeaderEpoch
	}
	return epochs
}

// listOffsetsRequest asks, for every partition without a position, for the end of the log that
// auto.offset.reset names; nil when all that it can read have one.
func (c *Consumer) listOffsetsRequest() kmsg.Request {
	request := kmsg.NewPtrListOffsetsRequest()
	request.Version, request.ReplicaID, request.TimeoutMillis = listOffsetsVersion, -1, int32(c.config.RequestTimeout)
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = c.config.Topic
	for i := range c.partitions {
		a := &c.partitions[i]
		if !c.canRead(a) || a.position != kafka.NoOffset {
			continue
		}
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.CurrentLeaderEpoch, rp.Timestamp = int32(a.partition), c.epochs[a.partition], -2
		if c.config.AutoOffsetReset == "latest" {
			rp.Timestamp = -1
		}
		rt.Partitions = append(rt.Partitions, rp)
	}
	if len(rt.Partitions) == 0 {
		return nil
	}
	request.Topics = append(request.Topics, rt)
	return request
}

// fetchRequest asks for what comes next in every partition; nil when there is none to read.
func (c *Consumer) fetchRequest() kmsg.Request {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.SessionEpoch = fetchVersion, noSession
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = int32(c.config.FetchMaxWait), c.config.FetchMinBytes, c.config.FetchMaxBytes
	rt := kmsg.NewFetchRequestTopic()
	rt.TopicID = c.topicID
	for _, p := range c.order {
		a := c.find(p)
		if !c.canRead(a) || a.position == kafka.NoOffset {
			continue
		}
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.CurrentLeaderEpoch = c.epochs[a.partition]
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = int32(a.partition), int64(a.position), c.config.MaxPartitionFetchSize
		rt.Partitions = append(rt.Partitions, rp)
	}
	if len(rt.Partitions) == 0 {
		return nil
	}
	request.Topics = append(request.Topics, rt)
	return request
}

// errorName gives Kafka's name of an error code.
func errorName(code int16) string { return kerr.TypedErrorForCode(code).Message }

// acksText gives the setting as a person writes it.
func acksText(acks int16) string {
	if acks == -1 {
		return "all"
	}
	return strconv.Itoa(int(acks))
}
