package assignor

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// Bounds of a group; [Group.Check] enforces them.
const (
	MaxMembers    = 10_000
	MaxPartitions = 1_000_000 // of all topics together
)

// Group is what an assignor is given: the topics of the cluster and the members of one group, each in
// any order. Assignors only read it.
type Group struct {
	Topics  []Topic // topics that exist, whether a member subscribes to them or not
	Members []Member
}

// Topic is a topic and how many partitions it has.
type Topic struct {
	Name           string
	PartitionCount int32 // 0 counts as a topic that does not exist
}

// Member is one member of the group, with what it tells when it joins.
type Member struct {
	ID         kafka.MemberID
	InstanceID kafka.GroupInstanceID // empty for a dynamic member
	// Topics are the topics it subscribes to. One that Group.Topics lacks is ignored, but makes its
	// subscription another than one without it, and a repeated one counts once.
	Topics []string
	// Owned are the partitions that it held before this rebalance, each once. For uniform they are its current
	// target assignment, which the coordinator hands over whether the member has got there or not; a static
	// member that replaces another has the other's. In a coordinator's targets a partition stands once; of
	// several members that have it here, the one with the lowest id counts. Range, roundrobin and server-range
	// do not look at them.
	//
	// Source: class TargetAssignmentBuilder, method build.
	Owned []TopicPartitions
	// Generation is the one in which it came to own them; -1 if none. Only the sticky assignors look at it.
	Generation kafka.GenerationID
	// Joining says that it is new to the coordinator and that its heartbeat starts the assignment, so that it
	// comes last into the table that uniform walks. Only uniform looks at it.
	Joining bool
	// SubscriptionGeneration is the one that stands in its subscription; 0 if that is Generation. It is
	// another if the member joined again before it got an assignment, and -1 if it was thrown out of the
	// group since, or tells none. The sticky assignors compare another member's claim with it.
	SubscriptionGeneration kafka.GenerationID
}

// TopicPartitions are partitions of one topic.
type TopicPartitions struct {
	Topic      string
	Partitions []kafka.Partition // sorted, not empty
}

// Check tells whether the group is within the bounds and could exist: at most MaxMembers members with
// ids that are not empty and used once, instance ids used once, topics with legal names given once, at
// most MaxPartitions partitions in all. The error names the first field that is not so.
func (g Group) Check() error {
	if err := checkTopics(g.Topics); err != nil {
		return err
	}
	if len(g.Members) > MaxMembers {
		return fmt.Errorf("members: %d are given, allowed are at most %d", len(g.Members), MaxMembers)
	}
	ids := make(map[kafka.MemberID]int, len(g.Members))
	instanceIDs := map[kafka.GroupInstanceID]int{}
	for i, member := range g.Members {
		if member.ID == "" {
			return fmt.Errorf("members[%d]: the id is empty", i)
		}
		if first, used := ids[member.ID]; used {
			return fmt.Errorf("members[%d]: the id %.80q is already that of members[%d]", i, member.ID, first)
		}
		ids[member.ID] = i
		if member.InstanceID == "" {
			continue
		}
		if first, used := instanceIDs[member.InstanceID]; used {
			return fmt.Errorf("members[%d]: the instance id %.80q is already that of members[%d]", i, member.InstanceID, first)
		}
		instanceIDs[member.InstanceID] = i
	}
	return nil
}

func checkTopics(topics []Topic) error {
	names := make(map[string]bool, len(topics))
	partitions := int64(0)
	for _, topic := range topics {
		if !legalTopicName(topic.Name) {
			return fmt.Errorf("topics: %.80q is no topic name, allowed are 1 to 249 of a-z, A-Z, 0-9, '.', '_', '-', but neither . nor .. alone", topic.Name)
		}
		if names[topic.Name] {
			return fmt.Errorf("topics: %q is given twice", topic.Name)
		}
		names[topic.Name] = true
		if topic.PartitionCount < 0 {
			return fmt.Errorf("topics: %s has %d partitions, allowed are 0 to %d", topic.Name, topic.PartitionCount, MaxPartitions)
		}
		partitions += int64(topic.PartitionCount)
	}
	if partitions > MaxPartitions {
		return fmt.Errorf("topics: %d partitions in all, allowed are at most %d", partitions, MaxPartitions)
	}
	return nil
}

// legalTopicName reports whether Kafka would take the name.
//
// Source: class Topic, method validate.
func legalTopicName(name string) bool {
	const legal = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return name != "" && name != "." && name != ".." && len(name) <= 249 && strings.Trim(name, legal) == ""
}
