package engine

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine/assignor"
	"loglab/engine/client"
	"loglab/engine/coordinator"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/txn"
)

// What a spec says of a member and its application is in the clients' own terms.
type (
	GroupConfig   = client.GroupConfig
	GroupProtocol = client.GroupProtocol
	AppConfig     = client.AppConfig
	Transform     = client.TransformConfig
	Poison        = client.Poison
	SinkConfig    = client.SinkConfig
	SinkKind      = client.SinkKind
	CommitWhen    = client.CommitWhen
	CommitWhat    = client.CommitWhat
	FailureRule   = client.FailureRule
)

// By which protocol members take part, when and what an application commits, what it does with a record that it cannot process, and what a sink does with
// an effect that it has had before.
const (
	ClassicProtocol  = client.ClassicProtocol
	ConsumerProtocol = client.ConsumerProtocol

	CommitNever      = client.CommitNever
	CommitBefore     = client.CommitBefore
	CommitRecord     = client.CommitRecord
	CommitBatch      = client.CommitBatch
	CommitBatchAsync = client.CommitBatchAsync

	CommitContiguous = client.CommitContiguous
	CommitHighest    = client.CommitHighest
	CommitPosition   = client.CommitPosition

	RetryInPlace = client.RetryInPlace
	SeekBack     = client.SeekBack
	SkipRecord   = client.SkipRecord
	DeadLetter   = client.DeadLetter

	SinkPlain      = client.SinkPlain
	SinkIdempotent = client.SinkIdempotent
	SinkUpsert     = client.SinkUpsert
	SinkOffsets    = client.SinkOffsets
	SinkInbox      = client.SinkInbox
	SinkEmail      = client.SinkEmail

	ReadUncommitted = client.ReadUncommitted
	ReadCommitted   = client.ReadCommitted
)

// DefaultGroupConfig gives the defaults of Kafka 4.2 for a member of a group.
func DefaultGroupConfig(id string) GroupConfig { return client.DefaultGroupConfig(id) }

// DefaultConsumerGroupConfig gives the defaults of Kafka 4.2 for a member of a group of the consumer protocol.
func DefaultConsumerGroupConfig(id string) GroupConfig { return client.DefaultConsumerGroupConfig(id) }

// OffsetsPartitions is offsets.topic.num.partitions: how many partitions __consumer_offsets has.
const OffsetsPartitions = 50

// OffsetsPartition gives the partition of __consumer_offsets that keeps a group.
func OffsetsPartition(groupID string) kafka.Partition {
	return coordinator.PartitionFor(groupID, OffsetsPartitions)
}

// memberNode names a member of a group with a coordinator. Members sort by the text of their names.
func memberNode(id string, i, members int) kafka.NodeID {
	if members > 9 {
		return kafka.NodeID(fmt.Sprintf("%s-%02d", id, i+1))
	}
	return kafka.NodeID(fmt.Sprintf("%s-%d", id, i+1))
}

// mostPartitions is the greatest number of partitions of one topic.
func (s *Spec) mostPartitions() (most int) {
	for _, t := range s.topics() {
		most = max(most, t.Partitions)
	}
	return most
}

// members is how many consumers there are.
func (s *Spec) members() int {
	n := s.Group.Consumers
	for _, g := range s.Groups {
		n += len(g.Members)
	}
	return n
}

// internalPartitions lists the partitions of internal topics that coordinators of the run live on, sorted.
func (s *Spec) internalPartitions() (list []kafka.TopicPartition) {
	for _, g := range s.Groups {
		list = append(list, kafka.TopicPartition{Topic: group.Topic, Partition: OffsetsPartition(g.ID)})
	}
	for _, id := range s.transactionalIDs() {
		list = append(list, TransactionsPartition(id))
	}
	slices.SortFunc(list, kafka.TopicPartition.Compare)
	return slices.Compact(list)
}

// transactionalIDs lists the transactional.ids of the run's producers and applications, as often as they are used.
func (s *Spec) transactionalIDs() (list []string) {
	for _, p := range s.Producers {
		if p.Config.TransactionalID != "" {
			list = append(list, p.Config.TransactionalID)
		}
	}
	for _, g := range s.Groups {
		for _, m := range g.Members {
			if t := m.Config.Group.App.Transform; t != nil && t.Producer.TransactionalID != "" {
				list = append(list, t.Producer.TransactionalID)
			}
		}
	}
	return list
}

// TransactionsPartitions is transaction.state.log.num.partitions: how many partitions __transaction_state has.
const TransactionsPartitions = 50

// TransactionsPartition gives the partition of __transaction_state that keeps a transactional.id.
func TransactionsPartition(id string) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: txn.Topic, Partition: coordinator.PartitionFor(id, TransactionsPartitions)}
}

// checkGroups refuses a group that could not be.
func (s *Spec) checkGroups() error {
	for i, g := range s.Groups {
		if g.ID == "" || slices.ContainsFunc(s.Groups[:i], func(other ConsumerGroupSpec) bool { return other.ID == g.ID }) {
			return fmt.Errorf("group %q: a group needs an id of its own", g.ID)
		}
		for j := range g.Members {
			if err := s.checkMember(&g.Members[j].Config, g.ID); err != nil {
				return fmt.Errorf("%s: %w", memberNode(g.ID, j, len(g.Members)), err)
			}
		}
		if g.Sink.Capacity > 0 && g.Sink.Window < 1 {
			return fmt.Errorf("group %s: a sink with a capacity needs a window of at least 1 ms", g.ID)
		}
	}
	return nil
}

func (s *Spec) checkMember(c *ConsumerConfig, id string) error {
	g := &c.Group
	switch {
	case g.ID != id:
		return fmt.Errorf("group.id = %q in group %s", g.ID, id)
	case c.MaxPollRecords < 1:
		return fmt.Errorf("max.poll.records = %d; it must be at least 1", c.MaxPollRecords)
	case g.MaxPollInterval < 1:
		return fmt.Errorf("max.poll.interval.ms = %d; it must be at least 1", g.MaxPollInterval)
	case g.AutoCommit && g.AutoCommitInterval < 1:
		return fmt.Errorf("auto.commit.interval.ms = %d; it must be at least 1", g.AutoCommitInterval)
	case g.Pattern != "" && len(c.Topics) > 0:
		return fmt.Errorf("subscribes to %s and by the pattern %q; it can only do one", strings.Join(c.Topics, ", "), g.Pattern)
	case g.App.OnFailure == DeadLetter && g.App.DeadLetterTopic == "":
		return fmt.Errorf("the dead-letter topic has no name")
	}
	for _, err := range [...]error{client.CheckPattern(g.Pattern), client.CheckIsolation(c.IsolationLevel), g.App.CheckTransform()} {
		if err != nil {
			return err
		}
	}
	check := checkClassic
	switch g.Protocol {
	case "", ClassicProtocol:
	case ConsumerProtocol:
		check = checkConsumerProtocol
	default:
		return fmt.Errorf("group.protocol = %q; classic and consumer are allowed", g.Protocol)
	}
	if err := check(g); err != nil {
		return err
	}
	return client.CheckReset(c.AutoOffsetReset)
}

func checkClassic(g *GroupConfig) error {
	switch {
	case g.SessionTimeout < 1 || g.HeartbeatInterval < 1:
		return fmt.Errorf("session.timeout.ms = %d, heartbeat.interval.ms = %d; each must be at least 1", g.SessionTimeout, g.HeartbeatInterval)
	case g.HeartbeatInterval >= g.SessionTimeout:
		return fmt.Errorf("heartbeat.interval.ms = %d must be below session.timeout.ms = %d", g.HeartbeatInterval, g.SessionTimeout)
	case len(g.Assignors) == 0 && len(g.Assign) == 0:
		return fmt.Errorf("partition.assignment.strategy is empty")
	case g.RemoteAssignor != "":
		return fmt.Errorf("group.remote.assignor cannot be set when group.protocol=classic")
	}
	for _, name := range g.Assignors {
		if _, err := assignor.ClientByName(name); err != nil {
			return err
		}
	}
	return nil
}

// checkConsumerProtocol refuses settings that Kafka's client refuses with group.protocol=consumer: the broker has them.
//
// Source: ConsumerConfig.CONSUMER_PROTOCOL_UNSUPPORTED_CONFIGS.
func checkConsumerProtocol(g *GroupConfig) error {
	refused := func(setting string) error {
		return fmt.Errorf("%s cannot be set when group.protocol=consumer", setting)
	}
	switch {
	case g.SessionTimeout != 0:
		return refused("session.timeout.ms")
	case g.HeartbeatInterval != 0:
		return refused("heartbeat.interval.ms")
	case len(g.Assignors) > 0:
		return refused("partition.assignment.strategy")
	case g.HeartbeatInLoop:
		return fmt.Errorf("a client of group.protocol=consumer sends its heartbeats from a thread of its own")
	case g.RemoteAssignor == "":
		return nil
	}
	_, err := assignor.ServerByName(g.RemoteAssignor)
	return err
}
