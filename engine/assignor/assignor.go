package assignor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loglab/engine/kafka"
)

// Assignor is one rule from members and partitions to an assignment. It is a value without state;
// [ByName] gives one.
type Assignor struct {
	Name string // its name in partition.assignment.strategy's protocol, on the command line and in an address
	Rule string // the rule, in one or two sentences
	// Server says that it is the broker's, for groups of the consumer protocol (KIP-848): then a client cannot
	// list it in partition.assignment.strategy. Kafka's name for server-range is range, as the client's is.
	Server bool

	// assign gives what each member gets, by its index in the layout, and what is withheld.
	assign func(l layout) (parts [][]TopicPartitions, withheld []TopicPartitions)
	why    func(l layout, p place) string
	// cooperative says that members may keep what they own while they join.
	cooperative bool
}

// RebalanceProtocol is how the members of a group behave when they join again.
//
// Source: enum ConsumerPartitionAssignor.RebalanceProtocol.
type RebalanceProtocol string

const (
	Eager       RebalanceProtocol = "EAGER"       // a member gives up all that it owns before it joins
	Cooperative RebalanceProtocol = "COOPERATIVE" // it keeps all, and gives up what it no longer has afterwards
)

// place is one assigned partition in its layout.
type place struct {
	topicIndex  int // in layout.topics
	partition   kafka.Partition
	ownerIndex  int // in layout.members; -1 if the partition is withheld
	beforeIndex int // who got the partition before it, over all topics in order; -1 for the first
}

// table holds every assignor, sorted by name.
var table = []Assignor{
	{
		Name: "cooperative-sticky",
		Rule: "As sticky, but members keep what they own while they join: a partition that goes from one to another " +
			"is withheld until its old owner has given it up, and handed out in the next round.",
		assign:      assignCooperativeSticky,
		why:         whyCooperativeSticky,
		cooperative: true,
	},
	{
		Name: "range",
		Rule: "Topic by topic, the members in order get consecutive partitions, as many each as the division gives; " +
			"what remains goes one each to the first members, in every topic the same ones.",
		assign: assignRange,
		why:    whyRange,
	},
	{
		Name: "roundrobin",
		Rule: "All partitions of all topics in order go one by one to the members in turn. " +
			"A member that does not subscribe to the topic is passed over, and the turn goes on from topic to topic.",
		assign: assignRoundRobin,
		why:    whyRoundRobin,
	},
	{
		// Source: class org.apache.kafka.coordinator.group.assignor.RangeAssignor, which has no racks. It
		// divides equal and different subscriptions in two methods, with one result.
		Name: "server-range",
		Rule: "The broker’s range: topic by topic, the members in order get consecutive partitions, as many each as the " +
			"division gives; what remains goes one each to the first members. What a member had before does not count.",
		Server: true,
		assign: assignRange,
		why:    whyRange,
	},
	{
		Name: "sticky",
		Rule: "Members keep what they owned, as far as each gets about as many; what nobody has goes to those with fewest. " +
			"With different subscriptions partitions then move until no move makes two members more even.",
		assign: assignSticky,
		why:    whySticky,
	},
	{
		Name: "uniform",
		Rule: "The broker’s default: members keep what their targets have, as far as each gets about as many; what is left fills " +
			"one member after the other. With different subscriptions it goes to those with fewest, and partitions then move " +
			"until the subscribers of each topic are even.",
		Server: true,
		assign: assignUniform,
		why:    whyUniform,
	},
}

// Assign returns the assignment of a group. The group must pass [Group.Check].
func (a Assignor) Assign(group Group) Assignment {
	l := newLayout(group)
	parts, withheld := a.assign(l)
	return l.assignment(parts, withheld)
}

// SupportedProtocols returns the rebalance protocols that the assignor works with, the better one first. A
// consumer uses the best one that all its assignors support. The broker's assignors have none: each member of
// the consumer protocol moves to its target by itself. The slice is the caller's.
//
// Source: interface ConsumerPartitionAssignor, method supportedProtocols.
func (a Assignor) SupportedProtocols() []RebalanceProtocol {
	if a.Server {
		return nil
	}
	if a.cooperative {
		return []RebalanceProtocol{Cooperative, Eager}
	}
	return []RebalanceProtocol{Eager}
}

// Why says in one sentence why a partition has the owner that it has in assigned, which is what Assign
// returned for the same group. It computes that from the whole group, so it is meant for one partition
// that somebody asks about.
func (a Assignor) Why(group Group, assigned Assignment, tp kafka.TopicPartition) string {
	l := newLayout(group)
	topicIndex, found := slices.BinarySearchFunc(l.topics, tp.Topic, func(topic subscribedTopic, name string) int {
		return cmp.Compare(topic.name, name)
	})
	if !found {
		return fmt.Sprintf("%s has no owner: no member subscribes to %s, or the topic does not exist.", tp, tp.Topic)
	}
	if count := l.topics[topicIndex].partitionCount; tp.Partition < 0 || int(tp.Partition) >= count {
		return fmt.Sprintf("%s does not exist: %s has the partitions 0 to %d.", tp, tp.Topic, count-1)
	}
	owner, owned := assigned.Owner(tp)
	if !owned && !assigned.Withholds(tp) {
		return fmt.Sprintf("%s has no owner in this assignment.", tp)
	}
	p := place{topicIndex: topicIndex, partition: tp.Partition, ownerIndex: l.memberIndex(owner), beforeIndex: -1}
	if before, exists := l.before(topicIndex, tp.Partition); exists {
		if owner, owned := assigned.Owner(before); owned {
			p.beforeIndex = l.memberIndex(owner)
		}
	}
	return a.why(l, p)
}

// before returns the partition that comes before this one when all topics are walked in order.
func (l layout) before(topicIndex int, partition kafka.Partition) (kafka.TopicPartition, bool) {
	if partition > 0 {
		return kafka.TopicPartition{Topic: l.topics[topicIndex].name, Partition: partition - 1}, true
	}
	if topicIndex == 0 {
		return kafka.TopicPartition{}, false
	}
	topic := l.topics[topicIndex-1]
	return kafka.TopicPartition{Topic: topic.name, Partition: kafka.Partition(topic.partitionCount - 1)}, true
}

// Names returns the names of all assignors, sorted. The slice is the caller's.
func Names() []string {
	return namesOf(func(Assignor) bool { return true })
}

// ClientNames returns the names of those that a client can list in partition.assignment.strategy, sorted. The
// slice is the caller's.
func ClientNames() []string {
	return namesOf(func(a Assignor) bool { return !a.Server })
}

// ServerNames returns the names of those that the broker has for groups of the consumer protocol, sorted. The
// slice is the caller's.
func ServerNames() []string {
	return namesOf(func(a Assignor) bool { return a.Server })
}

func namesOf(listed func(Assignor) bool) []string {
	var names []string
	for _, a := range table {
		if listed(a) {
			names = append(names, a.Name)
		}
	}
	return names
}

// ByName returns the assignor of that name, a client's or the broker's. The error names those that exist.
func ByName(name string) (Assignor, error) {
	return oneOf(Names(), name)
}

// ClientByName returns the client's assignor of that name. The error names those that exist.
func ClientByName(name string) (Assignor, error) {
	return oneOf(ClientNames(), name)
}

// ServerByName returns the broker's assignor of that name. The error names those that exist.
func ServerByName(name string) (Assignor, error) {
	return oneOf(ServerNames(), name)
}

func oneOf(allowed []string, name string) (Assignor, error) {
	i := slices.IndexFunc(table, func(a Assignor) bool { return a.Name == name })
	if i < 0 {
		return Assignor{}, fmt.Errorf("assignor %q is unknown: allowed are %s", name, strings.Join(allowed, ", "))
	}
	if slices.Contains(allowed, name) {
		return table[i], nil
	}
	whose := "a client’s"
	if table[i].Server {
		whose = "the broker’s"
	}
	return Assignor{}, fmt.Errorf("assignor %q is %s: allowed are %s", name, whose, strings.Join(allowed, ", "))
}
