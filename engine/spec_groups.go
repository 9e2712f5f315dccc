package engine

import (
	"fmt"
	"slices"

	"loglab/engine/assignor"
	"loglab/engine/client"
	"loglab/engine/group"
	"loglab/engine/kafka"
)

// What a spec says of a member and its application is in the clients' own terms.
type (
	GroupConfig = client.GroupConfig
	AppConfig   = client.AppConfig
	Poison      = client.Poison
	SinkConfig  = client.SinkConfig
	SinkKind    = client.SinkKind
	CommitWhen  = client.CommitWhen
	CommitWhat  = client.CommitWhat
	FailureRule = client.FailureRule
)

// When and what an application commits, what it does with a record that it cannot process, and what a sink does with
// an effect that it has had before.
const (
	CommitNever      = client.CommitNever
	CommitBefore     = client.CommitBefore
	CommitRecord     = client.CommitRecord
	CommitBatch      = client.CommitBatch
	CommitBatchAsync = client.CommitBatchAsync

	CommitContiguous = client.CommitContiguous
	CommitHighest    = client.CommitHighest

	RetryInPlace = client.RetryInPlace
	SeekBack     = client.SeekBack
	SkipRecord   = client.SkipRecord
	DeadLetter   = client.DeadLetter

	SinkPlain      = client.SinkPlain
	SinkIdempotent = client.SinkIdempotent
	SinkUpsert     = client.SinkUpsert
	SinkOffsets    = client.SinkOffsets
)

// DefaultGroupConfig gives the defaults of Kafka 4.2 for a member of a group.
func DefaultGroupConfig(id string) GroupConfig { return client.DefaultGroupConfig(id) }

// OffsetsPartitions is offsets.topic.num.partitions: how many partitions __consumer_offsets has.
const OffsetsPartitions = 50

// OffsetsPartition gives the partition of __consumer_offsets that keeps a group.
func OffsetsPartition(groupID string) kafka.Partition {
	return group.PartitionFor(groupID, OffsetsPartitions)
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

// offsetsPartitions lists the partitions of __consumer_offsets on which the run's groups live, sorted.
func (s *Spec) offsetsPartitions() (list []kafka.Partition) {
	for _, g := range s.Groups {
		list = append(list, OffsetsPartition(g.ID))
	}
	slices.Sort(list)
	return slices.Compact(list)
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
	case g.SessionTimeout < 1 || g.HeartbeatInterval < 1 || g.MaxPollInterval < 1:
		return fmt.Errorf("session.timeout.ms = %d, heartbeat.interval.ms = %d, max.poll.interval.ms = %d; each must be at least 1", g.SessionTimeout, g.HeartbeatInterval, g.MaxPollInterval)
	case g.HeartbeatInterval >= g.SessionTimeout:
		return fmt.Errorf("heartbeat.interval.ms = %d must be below session.timeout.ms = %d", g.HeartbeatInterval, g.SessionTimeout)
	case g.AutoCommit && g.AutoCommitInterval < 1:
		return fmt.Errorf("auto.commit.interval.ms = %d; it must be at least 1", g.AutoCommitInterval)
	case len(g.Assignors) == 0 && len(g.Assign) == 0:
		return fmt.Errorf("partition.assignment.strategy is empty")
	case g.App.OnFailure == DeadLetter && g.App.DeadLetterTopic == "":
		return fmt.Errorf("the dead-letter topic has no name")
	}
	for _, name := range g.Assignors {
		if _, err := assignor.ClientByName(name); err != nil {
			return err
		}
	}
	if g.RemoteAssignor != "" {
		if _, err := assignor.ServerByName(g.RemoteAssignor); err != nil {
			return err
		}
	}
	return client.CheckReset(c.AutoOffsetReset)
}
