package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/assignor"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// subscriptionChange says what a request changes of what a member subscribes to.
type subscriptionChange struct {
	topics   bool // the names
	regex    bool
	resolved bool // the topics that match its pattern now are known, or it has none any more
	resolve  bool // the patterns of the group are to be looked at
}

// subscribe records what a member has changed of itself.
//
// Source: GroupMetadataManager.hasMemberSubscriptionChanged and maybeUpdateRegularExpressions.
func (ch *groupChange) subscribe(before, updated *consumerMember) (subscriptionChange, *kerr.Error, string) {
	var c subscriptionChange
	c.topics = !slices.Equal(before.topics, updated.topics)
	if !updated.sameSubscription(before) {
		ch.values = append(ch.values, ch.subscriptionOf(updated))
	}
	err, why := ch.changePattern(before.regex, updated.regex, &c)
	if err != nil {
		return c, err, why
	}
	if ch.g.member(updated.id) == nil && (updated.instance == "" || ch.g.static(updated.instance) == nil) {
		ch.cause = append(ch.cause, updated.id+" joined")
		ch.events = append(ch.events, journal.ConsumerMemberJoined{
			Group: ch.g.id, Member: kafka.MemberID(updated.id), Instance: kafka.GroupInstanceID(updated.instance), From: kafka.NodeID(updated.client), Topics: updated.topics, Regex: updated.regex,
			Classic: updated.classic != nil, Members: len(ch.g.members) + 1,
		})
	} else if c.topics || c.regex {
		ch.cause = append(ch.cause, updated.id+" subscribes to something else")
		ch.events = append(ch.events, journal.SubscriptionChanged{Group: ch.g.id, Member: kafka.MemberID(updated.id), Topics: updated.topics, Regex: updated.regex, Host: nodeOf(updated.host)})
	}
	return c, nil, ""
}

// raiseEpoch raises the group epoch if the request asks for that, or if the topics that the group subscribes to are not
// what they were. They are looked at after each change of one of them, and whenever the group epoch rises.
//
// Source: GroupMetadataManager.updateSubscriptionMetadata.
func (ch *groupChange) raiseEpoch(asked bool) {
	sl := ch.s.c.openSlot(ch.g.id)
	if !asked && sl.looked && ch.g.epoch >= sl.lookedEpoch {
		return
	}
	topics := ch.now().topics()
	hash := metadataHash(topics, ch.s.c.image)
	counted := ch.s.c.count(topics)
	if hash != ch.g.metadataHash && !asked {
		ch.cause = append(ch.cause, changedTopics(sl.counted, counted))
		asked = true
	}
	if asked {
		ch.bump(hash)
	}
	sl.looked, sl.lookedEpoch, sl.counted = true, ch.epoch, counted
}

// bump raises the group epoch.
func (ch *groupChange) bump(hash uint64) {
	ch.epoch++
	ch.values = append(ch.values, ConsumerGroupRecord{ch.g.id, ch.epoch, hash})
	ch.events = append(ch.events, journal.GroupEpochBumped{Group: ch.g.id, Epoch: ch.epoch, Why: strings.Join(ch.cause, "; "), AssignmentEpoch: ch.g.assignmentEpoch})
}

// count gives how many partitions each topic has.
func (c *Coordinator) count(topics []string) (list []topicCount) {
	for _, name := range topics {
		if t, ok := c.image.Topic(name); ok {
			list = append(list, topicCount{name, len(t.Partitions)})
		}
	}
	return list
}

// changedTopics says in words what is different.
func changedTopics(before, now []topicCount) string {
	var words []string
	for _, t := range now {
		i := slices.IndexFunc(before, func(o topicCount) bool { return o.topic == t.topic })
		switch {
		case i < 0 && before != nil:
			words = append(words, fmt.Sprintf("the topic %s is new", t.topic))
		case i >= 0 && before[i].count != t.count:
			words = append(words, fmt.Sprintf("%s has %s, %d before", t.topic, kafka.Count(t.count, "partition"), before[i].count))
		}
	}
	if words == nil {
		return "the topics that it subscribes to have other partitions or racks than when it looked last"
	}
	return strings.Join(words, ", ")
}

// The name of the range assignor of the broker, on the network and here.
const (
	rangeOnWire  = "range"
	serverRange  = "server-range"
	noAssignment = "it has no target assignment yet"
)

// assignorOf gives the name of an assignor of ours by that which requests and records have.
func assignorOf(wire string) string {
	if wire == rangeOnWire {
		return serverRange
	}
	return wire
}

// preferredAssignor gives the assignor that most members ask for; the broker's first one if none does.
//
// Source: ConsumerGroup.computePreferredServerAssignor: of those with equally many the one that a hash table has first.
func (c *Coordinator) preferredAssignor(g *consumerGroup) string {
	var ballots []ballot
	for _, m := range g.members {
		if m.assignor == "" {
			continue
		}
		i := slices.IndexFunc(ballots, func(b ballot) bool { return b.protocol == m.assignor })
		if i < 0 {
			i = len(ballots)
			ballots = append(ballots, ballot{protocol: m.assignor})
		}
		ballots[i].votes++
	}
	if won := winner(ballots); won >= 0 {
		return ballots[won].protocol
	}
	return c.config.Assignors[0]
}

// assignTarget makes the target assignment for a new group epoch, and records what is different. It gives that of one
// member.
//
// Source: GroupMetadataManager.updateTargetAssignment, TargetAssignmentBuilder.
//
// Simplified: an assignor's rule for equal subscriptions is taken where they are equal. Kafka counts who subscribes to what
// name and pattern: where different patterns match the same topics it takes the rule for different subscriptions. And it
// counts when the group epoch rises: if a member joins then that subscribes to nothing yet, and no target assignment has
// been made since, Kafka may take the rule for equal subscriptions, and leave partitions to nobody.
func (ch *groupChange) assignTarget(of string) (target ownership) {
	c, g := ch.s.c, ch.now()
	name := c.preferredAssignor(g)
	rule, err := assignor.ByName(assignorOf(name))
	if err != nil {
		panic("group " + g.id + ": " + err.Error()) // checkHeartbeat lets no other in
	}
	var group assignor.Group
	for _, t := range g.topics() {
		if known, ok := c.image.Topic(t); ok {
			group.Topics = append(group.Topics, assignor.Topic{Name: t, PartitionCount: int32(len(known.Partitions))})
		}
	}
	for _, m := range g.members {
		one := assignor.Member{ID: kafka.MemberID(m.id), InstanceID: kafka.GroupInstanceID(m.instance), Topics: g.subscription(m), Generation: -1, Joining: ch.g.member(m.id) == nil}
		owned, _ := g.targetOf(m.id)
		for _, tp := range c.named(owned) {
			if n := len(one.Owned); n == 0 || one.Owned[n-1].Topic != tp.Topic {
				one.Owned = append(one.Owned, assignor.TopicPartitions{Topic: tp.Topic})
			}
			last := &one.Owned[len(one.Owned)-1]
			last.Partitions = append(last.Partitions, tp.Partition)
		}
		group.Members = append(group.Members, one)
	}
	assigned := rule.Assign(group)
	event := journal.TargetAssigned{Group: g.id, Epoch: ch.epoch, Assignor: rule.Name}
	for _, m := range g.members {
		i := slices.IndexFunc(assigned.Members, func(a assignor.MemberAssignment) bool { return string(a.Member) == m.id })
		share := journal.MemberShare{Member: kafka.MemberID(m.id)}
		var partitions ownership
		for _, list := range assigned.Members[i].Topics {
			t, _ := c.image.Topic(list.Topic)
			for _, p := range list.Partitions {
				partitions = append(partitions, idPartition{t.ID, p})
				share.Partitions = append(share.Partitions, kafka.TopicPartition{Topic: list.Topic, Partition: p})
			}
		}
		partitions = partitions.sorted()
		if m.id == of {
			target = partitions
		}
		event.Shares, event.Hosts = append(event.Shares, share), append(event.Hosts, nodeOf(m.host))
		if old, known := ch.g.targetOf(m.id); !known || !slices.Equal(old, partitions) {
			ch.values = append(ch.values, TargetMemberRecord{g.id, kafka.MemberID(m.id), assignedTopics(partitions)})
		}
	}
	ch.values = append(ch.values, TargetEpochRecord{g.id, ch.epoch})
	ch.events = append(ch.events, event)
	return target
}
