package broker

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
	"loglab/engine/storage"
	"loglab/engine/txn"
)

// createTopicsVersion is the version of the broker's own CreateTopics requests.
const createTopicsVersion = 7

// internalTopic is how a topic of coordinators is made.
type internalTopic struct {
	partitions, replicationFactor int
	settings                      []topicSetting // sorted by name
}

type topicSetting struct{ name, value string }

// internalTopic gives the settings of one of the two.
//
// Source: DefaultAutoTopicCreationManager.creatableTopic, GroupCoordinator.groupMetadataTopicConfigs,
// TransactionStateManager.transactionTopicConfigs.
func (b *Broker) internalTopic(name string) internalTopic {
	if name == txn.Topic {
		return internalTopic{b.config.TransactionsTopicPartitions, b.config.TransactionsTopicReplicationFactor, []topicSetting{
			{"cleanup.policy", "compact"},
			{"compression.type", "uncompressed"},
			{"min.insync.replicas", strconv.Itoa(b.config.TransactionsTopicMinISR)},
			{"segment.bytes", strconv.Itoa(b.config.TransactionsTopicSegmentBytes)},
			{"unclean.leader.election.enable", "false"},
		}}
	}
	return internalTopic{b.config.OffsetsTopicPartitions, b.config.OffsetsTopicReplicationFactor, []topicSetting{
		{"cleanup.policy", "compact"},
		{"compression.type", "producer"},
		{"segment.bytes", strconv.Itoa(b.config.OffsetsTopicSegmentBytes)},
	}}
}

// createInternalTopic asks the controller to create a topic of coordinators, one request at a time.
//
// Simplified: the settings stand in the order of their names; Kafka has them in the order of a hash table. A request
// that is lost with its connection is not sent again by itself: the next FindCoordinator does that.
//
// Source: DefaultAutoTopicCreationManager.createTopics.
func (b *Broker) createInternalTopic(t *turn, name string, cause uint64) {
	if b.creation.open() {
		return
	}
	topic := b.internalTopic(name)
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Version, request.TimeoutMillis = createTopicsVersion, int32(controllerSocketTimeout)
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = name, int32(topic.partitions), int16(topic.replicationFactor)
	for _, setting := range topic.settings {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = setting.name, &setting.value
		rt.Configs = append(rt.Configs, config)
	}
	request.Topics = append(request.Topics, rt)
	b.creation = b.request(t, b.config.Controller, request, b.channelTimeout(), cause)
}

// topicCreated takes the controller's answer. That the topic exists the broker learns from the metadata log.
func (b *Broker) topicCreated(t *turn, response *kmsg.CreateTopicsResponse, cause uint64) {
	for _, topic := range response.Topics {
		if topic.ErrorCode == 0 {
			continue
		}
		refused := journal.OffsetsTopicRefused{Topic: topic.Topic, ReplicationFactor: b.internalTopic(topic.Topic).replicationFactor, Error: kerr.TypedErrorForCode(topic.ErrorCode).Message}
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
	if config, own := b.config.TopicLogs[topic]; own {
		return config
	}
	if !kafka.IsInternal(topic) {
		return b.config.Log
	}
	c := storage.DefaultConfig()
	c.SegmentBytes, c.Sabotage = b.config.OffsetsTopicSegmentBytes, b.config.Log.Sabotage
	if topic == txn.Topic {
		c.SegmentBytes = b.config.TransactionsTopicSegmentBytes
	}
	c.Compact, c.Delete = true, false
	return c
}

// offsetsPartition gives the partition of __consumer_offsets on which a group lives.
//
// Source: GroupCoordinatorService.partitionFor.
func (b *Broker) offsetsPartition(groupID string) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: group.Topic, Partition: coordinator.PartitionFor(groupID, b.partitionsOf(group.Topic))}
}

// transactionsPartition gives the partition of __transaction_state on which a transactional.id lives.
//
// Source: TransactionStateManager.partitionFor.
func (b *Broker) transactionsPartition(id string) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: txn.Topic, Partition: coordinator.PartitionFor(id, b.partitionsOf(txn.Topic))}
}

// partitionsOf is how many partitions a topic of coordinators has, or is to have.
func (b *Broker) partitionsOf(name string) int {
	if topic, ok := b.image.Topic(name); ok {
		return len(topic.Partitions)
	}
	return b.internalTopic(name).partitions
}

// findCoordinator tells a client which broker coordinates a group or the transactions of a transactional.id: the leader of
// its partition of __consumer_offsets or __transaction_state, as this broker's metadata has it. While that topic does not
// exist, it is created.
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
			last = t.note(cause, journal.CoordinatorNotFound{Group: key, Transactional: r.CoordinatorType == transactionCoordinatorType, Error: failed.Message, Why: why})
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

// The key types of a FindCoordinator request.
//
// Source: FindCoordinatorRequest.CoordinatorType.
const (
	groupCoordinatorType       = 0
	transactionCoordinatorType = 1
)

// coordinatorOf gives the broker that coordinates a group or the transactions of an id, or the error with its reason in
// words.
//
// Simplified: there are no coordinators of share groups.
func (b *Broker) coordinatorOf(t *turn, keyType int8, key string, cause uint64) (leader knownLeader, failed *kerr.Error, why string) {
	tp, what := b.offsetsPartition(key), "the group lives"
	switch keyType {
	case groupCoordinatorType:
	case transactionCoordinatorType:
		tp, what = b.transactionsPartition(key), "the transactional.id lives"
	default:
		return leader, kerr.InvalidRequest, fmt.Sprintf("there is no coordinator of type %d", keyType)
	}
	if _, ok := b.image.Topic(tp.Topic); !ok {
		b.createInternalTopic(t, tp.Topic, cause)
		return leader, kerr.CoordinatorNotAvailable, tp.Topic + " does not exist as far as this broker knows, and the controller is asked to create it"
	}
	leader, ok := b.leaderOf(tp)
	if known, _ := b.image.Broker(kafka.BrokerID(leader.id)); !ok || known.Fenced {
		return leader, kerr.CoordinatorNotAvailable, fmt.Sprintf("%s on %s, which has no leader as far as this broker knows", what, tp)
	}
	return leader, nil, ""
}
