package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/group"
	"loglab/engine/kafka"
)

// describeCluster tells a client what this broker knows: which brokers there are, which partitions a topic has
// and who leads them. What it knows may be old.
//
// Simplified: the id of the controller is left out; Kafka's brokers name one of themselves.
//
// Source: KafkaApis.handleTopicMetadataRequest, KRaftMetadataCache.
func (b *Broker) describeCluster(r *kmsg.MetadataRequest) kmsg.Response {
	response := r.ResponseKind().(*kmsg.MetadataResponse)
	response.ClusterID, response.ControllerID = &b.config.ClusterID, -1
	for _, known := range b.image.Brokers {
		if known.Fenced {
			continue
		}
		node := kmsg.NewMetadataResponseBroker()
		node.NodeID, node.Host, node.Port = int32(known.ID), string(known.Node), port
		if known.Rack != "" {
			node.Rack = &known.Rack
		}
		response.Brokers = append(response.Brokers, node)
	}
	for _, topic := range r.Topics {
		rt := kmsg.NewMetadataResponseTopic()
		rt.Topic = topic.Topic
		known, ok := b.image.Topic(*topic.Topic)
		if !ok {
			rt.ErrorCode = kerr.UnknownTopicOrPartition.Code
			response.Topics = append(response.Topics, rt)
			continue
		}
		rt.TopicID, rt.IsInternal = known.ID, known.Name == group.Topic
		for i, p := range known.Partitions {
			rp := kmsg.NewMetadataResponseTopicPartition()
			rp.Partition, rp.Leader, rp.LeaderEpoch = int32(i), int32(p.Leader), int32(p.LeaderEpoch)
			rp.Replicas, rp.ISR = numbers(p.Replicas), numbers(p.ISR)
			for _, id := range p.Replicas {
				if known, ok := b.image.Broker(id); !ok || known.Fenced {
					rp.OfflineReplicas = append(rp.OfflineReplicas, int32(id))
				}
			}
			if leader, ok := b.image.Broker(p.Leader); !ok || leader.Fenced {
				rp.ErrorCode, rp.Leader = kerr.LeaderNotAvailable.Code, -1
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response
}

func numbers(ids []kafka.BrokerID) []int32 {
	list := make([]int32, len(ids))
	for i, id := range ids {
		list[i] = int32(id)
	}
	return list
}
