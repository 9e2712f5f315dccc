package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadata tells a client which partitions a topic has and who leads them.
//
// Source: KafkaApis.handleTopicMetadataRequest.
func (b *Broker) metadata(r *kmsg.MetadataRequest) kmsg.Response {
	response := r.ResponseKind().(*kmsg.MetadataResponse)
	self := kmsg.NewMetadataResponseBroker()
	self.NodeID, self.Host, self.Port = int32(b.id), string(b.node), 9092
	response.Brokers = append(response.Brokers, self)
	response.ClusterID, response.ControllerID = &b.cluster, int32(b.id)
	for _, topic := range r.Topics {
		rt := kmsg.NewMetadataResponseTopic()
		rt.Topic = topic.Topic
		if topic.Topic == nil || *topic.Topic != b.topic.Name {
			rt.ErrorCode = kerr.UnknownTopicOrPartition.Code
			response.Topics = append(response.Topics, rt)
			continue
		}
		rt.TopicID = b.topic.ID
		for i, p := range b.partitions {
			rp := kmsg.NewMetadataResponseTopicPartition()
			rp.Partition, rp.Leader, rp.LeaderEpoch = int32(i), int32(b.id), int32(p.leaderEpoch)
			rp.Replicas, rp.ISR = []int32{int32(b.id)}, []int32{int32(b.id)}
			rt.Partitions = append(rt.Partitions, rp)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response
}
