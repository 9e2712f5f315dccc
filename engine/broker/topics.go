package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// createPartitions gives topics more partitions. A topic never gets fewer, and records stay where they
// are.
//
// Simplified: the broker answers a CreatePartitions request itself and has the new partitions at once;
// Kafka forwards the request to the controller, and brokers learn of the partitions from its log.
//
// Source: ReplicationControlManager.createPartitions.
func (b *Broker) createPartitions(now kafka.Millis, m *simnet.Message, r *kmsg.CreatePartitionsRequest, cause uint64, j *journal.Journal) []simnet.Send {
	response := r.ResponseKind().(*kmsg.CreatePartitionsResponse)
	for _, topic := range r.Topics {
		result := kmsg.NewCreatePartitionsResponseTopic()
		result.Topic = topic.Topic
		if refused, why := b.grow(now, topic, &cause, j); refused != nil {
			result.ErrorCode, result.ErrorMessage = refused.Code, why
		}
		response.Topics = append(response.Topics, result)
	}
	return answer(m, response, cause)
}

// grow adds the partitions of one topic; cause becomes the event that says so.
func (b *Broker) grow(now kafka.Millis, topic kmsg.CreatePartitionsRequestTopic, cause *uint64, j *journal.Journal) (refused *kerr.Error, why *string) {
	before, count := len(b.partitions), int(topic.Count)
	switch {
	case topic.Topic != b.topic.Name:
		return kerr.UnknownTopicOrPartition, nil
	case count == before:
		return kerr.InvalidPartitions, kmsg.StringPtr(fmt.Sprintf("Topic already has %d partition(s).", before))
	case count < before:
		return kerr.InvalidPartitions, kmsg.StringPtr(fmt.Sprintf("The topic %s currently has %d partition(s); %d would not be an increase.", topic.Topic, before, count))
	}
	for range count - before {
		b.addPartition(b.clock(now))
	}
	*cause = j.Append(b.node, *cause, journal.PartitionsAdded{Topic: topic.Topic, From: before, To: count})
	return nil, nil
}

// addPartition makes the next partition of the topic, empty and led by this broker.
func (b *Broker) addPartition(clock kafka.Timestamp) {
	tp := kafka.TopicPartition{Topic: b.topic.Name, Partition: kafka.Partition(len(b.partitions))}
	log := storage.New(b.disk, tp.String(), b.topic.Config, clock)
	log.AssignEpochStartOffset(0, 0) // it becomes the leader
	b.partitions = append(b.partitions, partition{tp: tp, log: log})
}
