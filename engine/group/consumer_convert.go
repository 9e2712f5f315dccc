package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// MigrationPolicy says whether a group with members may change its protocol while they work: group.consumer.migration.policy.
type MigrationPolicy string

// The policies.
//
// Source: ConsumerGroupMigrationPolicy.
const (
	Bidirectional MigrationPolicy = "bidirectional"
	UpgradeOnly   MigrationPolicy = "upgrade"
	DowngradeOnly MigrationPolicy = "downgrade"
	NoMigration   MigrationPolicy = "disabled"
)

func (p MigrationPolicy) upgrades() bool   { return p == Bidirectional || p == UpgradeOnly }
func (p MigrationPolicy) downgrades() bool { return p == Bidirectional || p == DowngradeOnly }

// upgrade makes a group of the consumer protocol out of a classic one with members. They go on using the classic
// protocol; who waits to join or for an assignment is told to join again.
//
// Source: GroupMetadataManager.validateOnlineUpgrade and convertToConsumerGroup, ConsumerGroup.fromClassicGroup.
func (s *step) upgrade(ch *groupChange, classic *group) (*kerr.Error, string) {
	c := s.c.config
	switch {
	case !c.MigrationPolicy.upgrades():
		return kerr.GroupIDNotFound, fmt.Sprintf("the group uses the classic protocol, and group.consumer.migration.policy = %s", c.MigrationPolicy)
	case classic.protocolType != consumerType:
		return kerr.GroupIDNotFound, fmt.Sprintf("the group's protocol type is %q", classic.protocolType)
	case len(classic.members) > c.ConsumerMaxSize:
		return kerr.GroupIDNotFound, fmt.Sprintf("the group has %s, and group.consumer.max.size = %s", kafka.Count(len(classic.members), "member"), kafka.Thousands(c.ConsumerMaxSize))
	}
	for _, m := range classic.members {
		r := refusal{classic.id, m.id, kerr.RebalanceInProgress, "the group changes to the consumer protocol: the member must join again"}
		if m.awaitsJoin() && !m.join.answered {
			s.refuse(m.join.request, joinError(m.id, kerr.RebalanceInProgress), r)
		}
		if m.awaitsSync() && !m.sync.answered {
			s.refuse(m.sync.request, syncError(kerr.RebalanceInProgress), r)
		}
		m.join, m.sync = parked{}, parked{}
	}
	g := &consumerGroup{id: classic.id, epoch: kafka.GroupEpoch(classic.generation), assignmentEpoch: kafka.GroupEpoch(classic.generation)}
	for _, m := range classic.members {
		k, err, why := s.upgraded(classic, m)
		if err != nil {
			return err, why
		}
		g = g.withMember(k)
		g.targets = append(g.targets, target{k.id, k.assigned})
	}
	slices.SortFunc(g.targets, func(a, b target) int { return strings.Compare(a.member, b.member) })
	g.metadataHash = metadataHash(g.topics(), s.c.image)
	ch.g = g
	ch.values = append(ch.values, Tombstone{Key{Type: TypeGroupMetadata, Group: classic.id}})
	ch.values = append(ch.values, ch.all()...)
	ch.removed = append(ch.removed, classic)
	ch.events = append(ch.events, journal.GroupConverted{Group: classic.id, To: string(Consumer), Members: len(classic.members), Why: "a member of the consumer protocol joins"})
	sl := s.c.openSlot(classic.id)
	for _, m := range classic.members {
		sl.timersOf(m.id).session = s.after(m.sessionTimeout)
	}
	return nil, ""
}

// upgraded makes a member of the consumer protocol's group out of a classic one.
func (s *step) upgraded(g *group, m *member) (*consumerMember, *kerr.Error, string) {
	var given kmsg.ConsumerMemberAssignment
	if len(m.assignment) > 0 {
		if err := given.ReadFrom(m.assignment); err != nil {
			return nil, kerr.GroupIDNotFound, "the assignment of " + m.id + " cannot be read"
		}
		if len(given.UserData) > 0 {
			return nil, kerr.GroupIDNotFound, "the group uses an assignor whose data would be lost"
		}
	}
	switch {
	case g.protocol == "":
		return nil, kerr.UnknownServerError, "the group has not ended its first join phase: no assignor is chosen by which to read the subscriptions"
	case !m.supports(g.protocol):
		return nil, kerr.UnknownServerError, fmt.Sprintf("the group uses the assignor %s, which %s, who waits to join, does not have", g.protocol, m.id)
	}
	subscription, ok := readSubscription(m.subscription(g.protocol))
	if !ok {
		return nil, kerr.GroupIDNotFound, "the subscription of " + m.id + " cannot be read"
	}
	k := newConsumerMember(m.id)
	k.epoch, k.previous = kafka.MemberEpoch(g.generation), kafka.MemberEpoch(g.generation)
	k.instance, k.rack, k.client, k.host, k.rebalanceTimeout = m.instance, orEmpty(subscription.Rack), m.client, m.host, m.rebalanceTimeout
	k.topics = slices.Clone(subscription.Topics)
	slices.Sort(k.topics)
	k.topics = slices.Compact(k.topics)
	for _, t := range given.Topics {
		if known, ok := s.c.image.Topic(t.Topic); ok {
			k.assigned.add(known.ID, t.Partitions)
		}
	}
	k.assigned = k.assigned.sorted()
	k.classic = &ClassicMemberRecord{SessionTimeout: m.sessionTimeout}
	for _, p := range m.protocols {
		k.classic.Protocols = append(k.classic.Protocols, ClassicProtocol{p.Name, p.Metadata})
	}
	return k, nil, ""
}

// all gives every record of the group.
//
// Source: ConsumerGroup.createConsumerGroupRecords.
func (ch *groupChange) all() (values []Value) {
	g := ch.g
	for _, m := range g.members {
		values = append(values, ch.subscriptionOf(m))
	}
	values = append(values, ConsumerGroupRecord{g.id, g.epoch, g.metadataHash})
	for _, t := range g.targets {
		values = append(values, TargetMemberRecord{g.id, kafka.MemberID(t.member), assignedTopics(t.partitions)})
	}
	values = append(values, TargetEpochRecord{g.id, g.epoch})
	for _, m := range g.members {
		values = append(values, ch.currentOf(m))
	}
	return values
}

// mayDowngrade says whether a group becomes a classic one when members leave: all that stay use the classic protocol.
//
// Source: GroupMetadataManager.validateOnlineDowngradeWithFencedMembers.
func (s *step) mayDowngrade(g *consumerGroup, leaving []*consumerMember) bool {
	stay := len(g.members) - len(leaving)
	return g.allClassicBut(leaving) && stay > 0 && s.c.config.MigrationPolicy.downgrades() && stay <= s.c.config.MaxSize
}

// mayDowngradeTo says whether a group becomes a classic one when a static member that uses the classic protocol takes
// the place of its only one that does not.
//
// Source: GroupMetadataManager.validateOnlineDowngradeWithReplacedMember.
func (s *step) mayDowngradeTo(g *consumerGroup, replaced *consumerMember) bool {
	return replaced.classic == nil && g.allClassicBut([]*consumerMember{replaced}) && s.c.config.MigrationPolicy.downgrades() && len(g.members) <= s.c.config.MaxSize
}

// downgrade makes a classic group out of one of the consumer protocol whose members all use the classic protocol now.
// Joining, if not nil, comes in the place of the static member with its instance. A rebalance begins, unless the one
// that came subscribes to the same as the one before.
//
// Source: GroupMetadataManager.convertToClassicGroup, ClassicGroup.fromConsumerGroup.
func (s *step) downgrade(ch *groupChange, leaving []*consumerMember, joining *consumerMember, changed bool) *pendingWrite {
	g := ch.g
	n := &group{
		id: g.id, state: Stable, previous: Empty, since: s.at(), generation: kafka.GenerationID(g.epoch), protocolType: consumerType,
	}
	source := map[string]string{} // only looked up: whose target assignment a member takes over
	for _, m := range g.members {
		if !slices.Contains(leaving, m) && (joining == nil || joining.instance != m.instance) {
			n.add(classicOf(m), consumerType)
			source[m.id] = m.id
		}
	}
	if joining != nil {
		n.add(classicOf(joining), consumerType)
		source[joining.id] = g.static(joining.instance).id
	}
	n.protocol, _ = n.vote()
	n.setTopics()
	for _, m := range n.members {
		partitions, _ := g.targetOf(source[m.id])
		m.assignment = s.c.classicAssignment(partitions, m.subscription(n.protocol))
	}
	ch.values = append(ch.values, g.tombstones(func(id string) string {
		if joining != nil && id == g.static(joining.instance).id {
			return joining.id
		}
		return id
	})...)
	ch.values = append(ch.values, n.record(func(m *member) []byte { return m.assignment }))
	why := "every member that stays uses the classic protocol"
	ch.events = append(ch.events, journal.GroupConverted{Group: g.id, To: string(Classic), Members: len(n.members), Why: why})
	for _, event := range ch.events {
		s.then(event)
	}
	s.c.put(n)
	for _, m := range n.members {
		s.extendSession(m)
	}
	w := s.writeValues(g.id, ch.values, pendingWrite{created: []string{g.id}, about: g.id})
	id := w.id
	switch {
	case joining == nil:
		s.startRebalance(n, "the group has changed from the consumer to the classic protocol, as a member left")
	case changed:
		s.startRebalance(n, "the group has changed from the consumer to the classic protocol, and its new static member subscribes to something else")
	}
	return s.c.pending(id)
}

// classicOf makes a classic member out of one that uses the classic protocol in a group of the consumer protocol.
func classicOf(m *consumerMember) *member {
	k := &member{id: m.id, instance: m.instance, client: m.client, host: m.host, rebalanceTimeout: m.rebalanceTimeout, sessionTimeout: m.classic.SessionTimeout}
	for _, p := range m.classic.Protocols {
		k.protocols = append(k.protocols, kmsg.JoinGroupRequestProtocol{Name: p.Name, Metadata: p.Metadata})
	}
	return k
}
