package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// describeCluster tells a client what this broker knows: which brokers there are, which partitions the topics have that
// it asks for, or all, and who leads them. What it knows may be old.
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
	if r.Topics == nil {
		for i := range b.image.Topics {
			response.Topics = append(response.Topics, b.describeTopic(&b.image.Topics[i]))
		}
		return response
	}
	for _, asked := range r.Topics {
		response.Topics = append(response.Topics, b.describeAsked(asked))
	}
	return response
}

// describeAsked gives a topic that a client names, or that it gives the id of.
func (b *Broker) describeAsked(asked kmsg.MetadataRequestTopic) kmsg.MetadataResponseTopic {
	var known metadata.Topic
	var ok bool
	unknown := kerr.UnknownTopicOrPartition
	if asked.Topic != nil {
		known, ok = b.image.Topic(*asked.Topic)
	} else {
		known, ok = b.image.TopicByID(asked.TopicID)
		unknown = kerr.UnknownTopicID
	}
	if ok {
		return b.describeTopic(&known)
	}
	rt := kmsg.NewMetadataResponseTopic()
	rt.Topic, rt.TopicID, rt.ErrorCode = asked.Topic, asked.TopicID, unknown.Code
	return rt
}

func (b *Broker) describeTopic(known *metadata.Topic) kmsg.MetadataResponseTopic {
	rt := kmsg.NewMetadataResponseTopic()
	name := known.Name
	rt.Topic, rt.TopicID, rt.IsInternal = &name, known.ID, known.Name == group.Topic
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
	return rt
}

func numbers(ids []kafka.BrokerID) []int32 {
	list := make([]int32, len(ids))
	for i, id := range ids {
		list[i] = int32(id)
	}
	return list
}
