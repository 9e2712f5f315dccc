package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/simnet"
)

// topicIDsFrom is the version from which OffsetCommit and OffsetFetch name topics by id.
//
// Source: KIP-848.
const topicIDsFrom = 10

// refusedCommit is one partition of an OffsetCommit request that the broker does not hand on.
type refusedCommit struct {
	topic     string
	topicID   [16]byte
	partition int32
	code      int16
}

// addCommitted adds a partition to a response, under its topic.
func addCommitted(response *kmsg.OffsetCommitResponse, c refusedCommit) {
	at := -1
	for i := range response.Topics {
		if known := &response.Topics[i]; known.Topic == c.topic && known.TopicID == c.topicID {
			at = i
		}
	}
	if at < 0 {
		at = len(response.Topics)
		topic := kmsg.NewOffsetCommitResponseTopic()
		topic.Topic, topic.TopicID = c.topic, c.topicID
		response.Topics = append(response.Topics, topic)
	}
	p := kmsg.NewOffsetCommitResponseTopicPartition()
	p.Partition, p.ErrorCode = c.partition, c.code
	response.Topics[at].Partitions = append(response.Topics[at].Partitions, p)
}

// commitOffsets hands the offsets of topics and partitions that exist to the group's coordinator.
//
// Source: KafkaApis.handleOffsetCommitRequest.
func (b *Broker) commitOffsets(t *turn, m *simnet.Message, r *kmsg.OffsetCommitRequest, cause uint64) {
	given := *r
	given.Topics = nil
	var refused []refusedCommit
	for _, topic := range r.Topics {
		known, ok := b.image.Topic(topic.Topic)
		unknown := kerr.UnknownTopicOrPartition
		if r.Version >= topicIDsFrom {
			known, ok = b.image.TopicByID(topic.TopicID)
			unknown = kerr.UnknownTopicID
		}
		there := topic
		there.Partitions = nil
		for _, p := range topic.Partitions {
			switch {
			case !ok:
				refused = append(refused, refusedCommit{topic.Topic, topic.TopicID, p.Partition, unknown.Code})
			case p.Partition < 0 || int(p.Partition) >= len(known.Partitions):
				refused = append(refused, refusedCommit{topic.Topic, topic.TopicID, p.Partition, kerr.UnknownTopicOrPartition.Code})
			default:
				there.Partitions = append(there.Partitions, p)
			}
		}
		if len(there.Partitions) > 0 {
			there.Topic = known.Name
			given.Topics = append(given.Topics, there)
		}
	}
	if refused == nil && r.Version < topicIDsFrom {
		b.coordinate(t, m, r.Group, cause)
		return
	}
	var parts []part
	if len(given.Topics) > 0 {
		parts = append(parts, part{key: r.Group, message: withRequest(m, &given)})
	}
	b.send(t, errand{message: m, refused: refused, cause: cause}, parts)
}

// joinedCommit makes the answer of what the broker refused and what the coordinator answered.
//
// Source: OffsetCommitResponse.Builder.merge.
func joinedCommit(r *kmsg.OffsetCommitRequest, e errand) kmsg.Response {
	response := r.ResponseKind().(*kmsg.OffsetCommitResponse)
	for _, c := range e.refused {
		addCommitted(response, c)
	}
	for i, a := range e.answers {
		given := e.parts[i].message.Request.(*kmsg.OffsetCommitRequest).Topics
		for _, topic := range a.(*kmsg.OffsetCommitResponse).Topics {
			if r.Version >= topicIDsFrom {
				if at := slices.IndexFunc(given, func(g kmsg.OffsetCommitRequestTopic) bool { return g.Topic == topic.Topic }); at >= 0 {
					topic.TopicID = given[at].TopicID
				}
				topic.Topic = ""
			}
			for _, p := range topic.Partitions {
				addCommitted(response, refusedCommit{topic.Topic, topic.TopicID, p.Partition, p.ErrorCode})
			}
		}
	}
	return response
}

// fetchOffsets hands a request to the coordinators of its groups. That a partition exists is not looked at, that a
// topic exists only where it is named by id.
//
// Source: KafkaApis.handleOffsetFetchRequest, fetchOffsetsForGroup.
func (b *Broker) fetchOffsets(t *turn, m *simnet.Message, r *kmsg.OffsetFetchRequest, cause uint64) {
	if r.Version < 8 {
		b.coordinate(t, m, r.Group, cause)
		return
	}
	var parts []part
	for _, asked := range r.Groups {
		p := part{key: asked.Group}
		if r.Version >= topicIDsFrom && asked.Topics != nil {
			asked.Topics, p.unknown = b.withTopicNames(asked.Topics)
		}
		one := *r
		one.Groups = []kmsg.OffsetFetchRequestGroup{asked}
		p.message = withRequest(m, &one)
		parts = append(parts, p)
	}
	b.send(t, errand{message: m, cause: cause}, parts)
}

// withTopicNames gives the topics that this broker knows with their names, and those whose id it does not know.
func (b *Broker) withTopicNames(topics []kmsg.OffsetFetchRequestGroupTopic) (known, unknown []kmsg.OffsetFetchRequestGroupTopic) {
	known = []kmsg.OffsetFetchRequestGroupTopic{} // no topics, not all of them
	for _, topic := range topics {
		found, ok := b.image.TopicByID(topic.TopicID)
		if !ok {
			unknown = append(unknown, topic)
			continue
		}
		topic.Topic = found.Name
		known = append(known, topic)
	}
	return known, unknown
}

// joinedFetch gives a coordinator's answer for one group with the topics' ids where the request has them, and with the
// topics whose ids are not known.
func (b *Broker) joinedFetch(r *kmsg.OffsetFetchRequest, fetched kmsg.OffsetFetchResponseGroup, asked part) kmsg.OffsetFetchResponseGroup {
	if r.Version < topicIDsFrom || fetched.ErrorCode != 0 {
		return fetched
	}
	topics := fetched.Topics
	fetched.Topics = nil
	for _, topic := range topics {
		known, ok := b.image.Topic(topic.Topic)
		if !ok && topic.Topic != "" {
			continue // it is gone
		}
		if ok {
			topic.Topic, topic.TopicID = "", known.ID
		}
		fetched.Topics = append(fetched.Topics, topic)
	}
	for _, topic := range asked.unknown {
		fetched.Topics = append(fetched.Topics, fetchedUnknown(topic))
	}
	return fetched
}

// fetchedUnknown is what a fetch of committed offsets answers for a topic whose id is not known.
func fetchedUnknown(topic kmsg.OffsetFetchRequestGroupTopic) kmsg.OffsetFetchResponseGroupTopic {
	result := kmsg.NewOffsetFetchResponseGroupTopic()
	result.TopicID = topic.TopicID
	for _, index := range topic.Partitions {
		p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode = index, -1, -1, new(string), kerr.UnknownTopicID.Code
		result.Partitions = append(result.Partitions, p)
	}
	return result
}
