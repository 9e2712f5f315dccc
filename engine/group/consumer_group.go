package group

import (
	"slices"
	"strings"

	"loglab/engine/kafka"
)

// The member epochs that say something else.
//
// Source: ConsumerGroupHeartbeatRequest.
const (
	joins          kafka.MemberEpoch = 0
	leaves         kafka.MemberEpoch = -1
	leavesToReturn kafka.MemberEpoch = -2 // a static member
)

// consumerGroup is a group of the consumer protocol: the sum of its records. It is never changed, replay gives another
// one.
//
// Source: ConsumerGroup, ModernGroup.
type consumerGroup struct {
	id              string
	epoch           kafka.GroupEpoch
	assignmentEpoch kafka.GroupEpoch
	metadataHash    uint64
	members         []*consumerMember // in the order in which they came
	targets         []target          // sorted by member
	patterns        []pattern         // sorted; those whose topics are known
}

// consumerMember is a member of it, never changed.
//
// Source: ConsumerGroupMember.
type consumerMember struct {
	id               string
	instance         string // group.instance.id; empty: a dynamic member
	rack             string
	client           string
	host             string
	rebalanceTimeout kafka.Millis
	topics           []string // sorted, without doubles
	regex            string   // empty: none
	assignor         string   // Kafka's name; empty: none asked for
	classic          *ClassicMemberRecord
	epoch            kafka.MemberEpoch
	previous         kafka.MemberEpoch
	state            MemberState
	assigned         ownership // what it owns, without what it is to give up
	revoking         ownership
}

// target is what a member is to own in the end.
type target struct {
	member     string
	partitions ownership
}

// pattern is a pattern with the topics that matched when it was last looked at.
//
// Source: ResolvedRegularExpression.
type pattern struct {
	regex   string
	topics  []string // sorted
	version kafka.Offset
	at      kafka.Timestamp
}

func newConsumerMember(id string) *consumerMember {
	return &consumerMember{id: id, previous: -1, state: MemberStable, rebalanceTimeout: -1}
}

// reconciledTo says whether the member has come to the target assignment of that epoch.
func (m *consumerMember) reconciledTo(epoch kafka.GroupEpoch) bool {
	return m.state == MemberStable && kafka.GroupEpoch(m.epoch) == epoch
}

// sameAs says whether all is the same of both.
func (m *consumerMember) sameAs(o *consumerMember) bool {
	return m.sameSubscription(o) && m.epoch == o.epoch && m.previous == o.previous && m.state == o.state && slices.Equal(m.assigned, o.assigned) && slices.Equal(m.revoking, o.revoking)
}

// sameSubscription says whether what stands in the members' records is the same.
func (m *consumerMember) sameSubscription(o *consumerMember) bool {
	return m.instance == o.instance && m.rack == o.rack && m.client == o.client && m.host == o.host && m.rebalanceTimeout == o.rebalanceTimeout &&
		slices.Equal(m.topics, o.topics) && m.regex == o.regex && m.assignor == o.assignor && sameClassic(m.classic, o.classic)
}

func sameClassic(a, b *ClassicMemberRecord) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.SessionTimeout == b.SessionTimeout && slices.EqualFunc(a.Protocols, b.Protocols, func(p, q ClassicProtocol) bool {
		return p.Name == q.Name && string(p.Metadata) == string(q.Metadata)
	})
}

func (g *consumerGroup) member(id string) *consumerMember {
	for _, m := range g.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

func (g *consumerGroup) static(instance string) *consumerMember {
	for _, m := range g.members {
		if m.instance == instance && instance != "" {
			return m
		}
	}
	return nil
}

// state says how far the group is.
//
// Source: ConsumerGroup.maybeUpdateGroupState.
func (g *consumerGroup) state() State {
	switch {
	case len(g.members) == 0:
		return Empty
	case g.epoch > g.assignmentEpoch:
		return Assigning
	case slices.ContainsFunc(g.members, func(m *consumerMember) bool { return !m.reconciledTo(g.assignmentEpoch) }):
		return Reconciling
	}
	return Stable
}

func (g *consumerGroup) targetIndex(member string) (int, bool) {
	return slices.BinarySearchFunc(g.targets, member, func(t target, id string) int { return strings.Compare(t.member, id) })
}

// targetOf gives the target assignment of a member; known is false when there is none, not even an empty one.
func (g *consumerGroup) targetOf(member string) (partitions ownership, known bool) {
	if i, found := g.targetIndex(member); found {
		return g.targets[i].partitions, true
	}
	return nil, false
}

// owner gives the member that owns a partition or has not given it up; nil: it is free.
//
// Source: ConsumerGroup.currentPartitionEpoch.
func (g *consumerGroup) owner(p idPartition) *consumerMember {
	for _, m := range g.members {
		if m.assigned.has(p) || m.revoking.has(p) {
			return m
		}
	}
	return nil
}

func (g *consumerGroup) pattern(regex string) (pattern, bool) {
	for _, p := range g.patterns {
		if p.regex == regex {
			return p, true
		}
	}
	return pattern{}, false
}

// subscribedBy counts the members that subscribe to a pattern.
func (g *consumerGroup) subscribedBy(regex string) (n int) {
	for _, m := range g.members {
		if m.regex == regex {
			n++
		}
	}
	return n
}

// subscription gives the topics that a member subscribes to, those that match its pattern too, as far as that is known.
func (g *consumerGroup) subscription(m *consumerMember) []string {
	if m.regex == "" {
		return m.topics
	}
	p, _ := g.pattern(m.regex)
	if len(m.topics) == 0 {
		return p.topics
	}
	all := slices.Concat(m.topics, p.topics)
	slices.Sort(all)
	return slices.Compact(all)
}

// topics gives the topics that the group subscribes to, sorted.
func (g *consumerGroup) topics() (all []string) {
	for _, m := range g.members {
		all = append(all, m.topics...)
	}
	for _, p := range g.patterns {
		all = append(all, p.topics...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (g *consumerGroup) subscribes(topic string) bool {
	_, found := slices.BinarySearch(g.topics(), topic)
	return found
}

// allClassicBut says whether all members but those use the classic protocol.
//
// Source: ConsumerGroup.allMembersUseClassicProtocolExcept.
func (g *consumerGroup) allClassicBut(but []*consumerMember) bool {
	return !slices.ContainsFunc(g.members, func(m *consumerMember) bool { return m.classic == nil && !slices.Contains(but, m) })
}

// withMember gives the group with a member in the place of the one with its id, or as its last one.
func (g *consumerGroup) withMember(m *consumerMember) *consumerGroup {
	n := *g
	n.members = slices.Clone(g.members)
	if i := slices.IndexFunc(n.members, func(k *consumerMember) bool { return k.id == m.id }); i >= 0 {
		n.members[i] = m
	} else {
		n.members = append(n.members, m)
	}
	return &n
}

// replay gives the group with what a record says; nil: the record deletes it. G is nil when there is none yet, then a
// tombstone changes nothing.
//
// Source: GroupMetadataManager.replay.
func (g *consumerGroup) replay(v Value) *consumerGroup {
	if t, is := v.(Tombstone); is {
		if g == nil {
			return nil
		}
		return g.bury(t.Key)
	}
	if g == nil {
		g = &consumerGroup{id: v.key().Group}
	}
	n := *g
	switch v := v.(type) {
	case ConsumerGroupRecord:
		n.epoch, n.metadataHash = v.Epoch, v.MetadataHash
	case ConsumerMemberRecord:
		m := *g.memberOrNew(v.Member)
		m.instance, m.rack, m.client, m.host = string(v.InstanceID), v.Rack, v.ClientID, v.ClientHost
		m.topics, m.regex, m.rebalanceTimeout, m.assignor, m.classic = v.Topics, v.Regex, v.RebalanceTimeout, v.ServerAssignor, v.Classic
		return g.withMember(&m)
	case TargetEpochRecord:
		n.assignmentEpoch = v.Epoch
	case TargetMemberRecord:
		t := target{string(v.Member), ownershipOf(v.Partitions)}
		n.targets = slices.Clone(g.targets)
		if i, found := g.targetIndex(t.member); found {
			n.targets[i] = t
		} else {
			n.targets = slices.Insert(n.targets, i, t)
		}
	case CurrentAssignmentRecord:
		m := *g.memberOrNew(v.Member)
		m.epoch, m.previous, m.state = v.Epoch, v.PreviousEpoch, v.State
		m.assigned, m.revoking = ownershipOf(v.Assigned), ownershipOf(v.Revoking)
		return g.withMember(&m)
	case RegularExpressionRecord:
		n.patterns = slices.DeleteFunc(slices.Clone(g.patterns), func(p pattern) bool { return p.regex == v.Regex })
		n.patterns = append(n.patterns, pattern{v.Regex, v.Topics, kafka.Offset(v.Version), v.Timestamp})
		slices.SortFunc(n.patterns, func(a, b pattern) int { return strings.Compare(a.regex, b.regex) })
	}
	return &n
}

func (g *consumerGroup) memberOrNew(id kafka.MemberID) *consumerMember {
	if m := g.member(string(id)); m != nil {
		return m
	}
	return newConsumerMember(string(id))
}

// bury gives the group without what the key names.
func (g *consumerGroup) bury(key Key) *consumerGroup {
	n := *g
	switch key.Type {
	case TypeConsumerGroupMetadata:
		return nil
	case TypeConsumerGroupMemberMetadata:
		n.members = slices.DeleteFunc(slices.Clone(g.members), func(m *consumerMember) bool { return m.id == string(key.Member) })
	case TypeTargetAssignmentMetadata:
		n.assignmentEpoch = -1
	case TypeTargetAssignmentMember:
		n.targets = slices.DeleteFunc(slices.Clone(g.targets), func(t target) bool { return t.member == string(key.Member) })
	case TypeCurrentMemberAssignment:
		if old := g.member(string(key.Member)); old != nil {
			m := *old
			m.epoch, m.previous, m.assigned, m.revoking = leaves, leaves, nil, nil
			return g.withMember(&m)
		}
	case TypeRegularExpression:
		n.patterns = slices.DeleteFunc(slices.Clone(g.patterns), func(p pattern) bool { return p.regex == key.Regex })
	}
	return &n
}

// ofConsumerProtocol says whether a record is one of groups of the consumer protocol.
func ofConsumerProtocol(key Key) bool { return consumerRecordMeaning(key.Type) != "" }
