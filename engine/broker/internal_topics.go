package broker

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// createTopicsVersion is the version of the broker's own CreateTopics requests.
const createTopicsVersion = 7

// createOffsetsTopic asks the controller to create __consumer_offsets, one request at a time.
//
// Simplified: the settings stand in the order of their names; Kafka has them in the order of a hash table. A request
// that is lost with its connection is not sent again by itself: the next FindCoordinator does that.
//
// Source: DefaultAutoTopicCreationManager.createTopics, creatableTopic.
func (b *Broker) createOffsetsTopic(t *turn, cause uint64) {
	if b.creation.open() {
		return
	}
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Version, request.TimeoutMillis = createTopicsVersion, int32(controllerSocketTimeout)
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = group.Topic, int32(b.config.OffsetsTopicPartitions), int16(b.config.OffsetsTopicReplicationFactor)
	for _, setting := range [...]struct{ name, value string }{
		{"cleanup.policy", "compact"},
		{"compression.type", "producer"},
		{"segment.bytes", strconv.Itoa(b.config.OffsetsTopicSegmentBytes)},
	} {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = setting.name, &setting.value
		rt.Configs = append(rt.Configs, config)
	}
	request.Topics = append(request.Topics, rt)
	b.creation = b.request(t, b.config.Controller, request, b.channelTimeout(), cause)
}

// offsetsTopicAnswered takes the controller's answer. That the topic exists the broker learns from the metadata log.
func (b *Broker) offsetsTopicAnswered(t *turn, response *kmsg.CreateTopicsResponse, cause uint64) {
	for _, topic := range response.Topics {
		if topic.ErrorCode == 0 {
			continue
		}
		refused := journal.OffsetsTopicRefused{Topic: topic.Topic, ReplicationFactor: b.config.OffsetsTopicReplicationFactor, Error: kerr.TypedErrorForCode(topic.ErrorCode).Message}
		if topic.ErrorMessage != nil {
			refused.Message = *topic.ErrorMessage
		}
		t.note(cause, refused)
	}
}

// inUse says whether the broker has a log of a partition: always, but for partitions of internal topics on which no
// coordinator of the run lives.
func (b *Broker) inUse(tp kafka.TopicPartition) bool {
	return !kafka.IsInternal(tp.Topic) || slices.Contains(b.config.InUse, tp)
}

// logConfig gives the settings of a topic's logs.
func (b *Broker) logConfig(topic string) storage.Config {
	if topic != group.Topic {
		return b.config.Log
	}
	c := storage.DefaultConfig()
	c.SegmentBytes, c.Sabotage = b.config.OffsetsTopicSegmentBytes, b.config.Log.Sabotage
	c.Compact, c.Delete = true, false
	return c
}

// offsetsPartition gives the partition of __consumer_offsets on which a group lives.
//
// Source: GroupCoordinatorService.partitionFor.
func (b *Broker) offsetsPartition(groupID string) kafka.TopicPartition {
	count := b.config.OffsetsTopicPartitions
	if topic, ok := b.image.Topic(group.Topic); ok {
		count = len(topic.Partitions)
	}
	return kafka.TopicPartition{Topic: group.Topic, Partition: group.PartitionFor(groupID, count)}
}

// findCoordinator tells a client which broker coordinates a group: the leader of the group's partition of
// __consumer_offsets, as this broker's metadata has it. While that topic does not exist, it is created.
//
// Source: KafkaApis.handleFindCoordinatorRequest, getCoordinator.
func (b *Broker) findCoordinator(t *turn, m *simnet.Message, r *kmsg.FindCoordinatorRequest, cause uint64) {
	response := r.ResponseKind().(*kmsg.FindCoordinatorResponse)
	keys := r.CoordinatorKeys
	if r.Version < 4 {
		keys = []string{r.CoordinatorKey}
	}
	last := cause
	for _, key := range keys {
		found := kmsg.NewFindCoordinatorResponseCoordinator()
		found.Key, found.NodeID, found.Port, found.ErrorMessage = key, -1, -1, new(string)
		leader, failed, why := b.coordinatorOf(t, r.CoordinatorType, key, cause)
		if failed == nil {
			found.NodeID, found.Host, found.Port = leader.id, string(leader.node), port
		} else {
			found.ErrorCode = failed.Code
			last = t.note(cause, journal.CoordinatorNotFound{Group: key, Error: failed.Message, Why: why})
		}
		response.Coordinators = append(response.Coordinators, found)
	}
	if r.Version < 4 {
		found := response.Coordinators[0]
		response.NodeID, response.Host, response.Port, response.ErrorCode = found.NodeID, found.Host, found.Port, found.ErrorCode
		response.Coordinators = nil
	}
	t.answer(m, response, last)
}

// groupCoordinatorType is the key type of a FindCoordinator request that means a group.
//
// Source: FindCoordinatorRequest.CoordinatorType.
const groupCoordinatorType = 0

// coordinatorOf gives the broker that coordinates a group, or the error with its reason in words.
//
// Simplified: there are no coordinators of transactions and share groups.
func (b *Broker) coordinatorOf(t *turn, keyType int8, key string, cause uint64) (leader knownLeader, failed *kerr.Error, why string) {
	if keyType != groupCoordinatorType {
		return leader, kerr.InvalidRequest, fmt.Sprintf("there is no coordinator of type %d", keyType)
	}
	if _, ok := b.image.Topic(group.Topic); !ok {
		b.createOffsetsTopic(t, cause)
		return leader, kerr.CoordinatorNotAvailable, group.Topic + " does not exist as far as this broker knows, and the controller is asked to create it"
	}
	tp := b.offsetsPartition(key)
	leader, ok := b.leaderOf(tp)
	if known, _ := b.image.Broker(kafka.BrokerID(leader.id)); !ok || known.Fenced {
		return leader, kerr.CoordinatorNotAvailable, fmt.Sprintf("the group lives on %s, which has no leader as far as this broker knows", tp)
	}
	return leader, nil, ""
}
