package group

import (
	"slices"
	"strings"

	"loglab/engine/kafka"
)

// GroupView is a group at one moment, a value that never changes. Of a group of the consumer protocol there is what is
// written: Generation, Protocol, Leader, Pending, JoinEnds and SyncEnds are those of a classic one.
type GroupView struct {
	ID           string
	Type         Type
	State        State
	Since        kafka.Timestamp // of the last change of the state; -1: not known
	ProtocolType string          // "consumer"; empty: a simple group, or nobody has joined yet
	Generation   kafka.GenerationID
	Protocol     string         // the assignor that the generation uses; empty: none
	Leader       kafka.MemberID // empty: none
	Members      []MemberView   // in the order in which they joined
	Pending      []PendingView  // ids given out that nobody has joined with, oldest first
	JoinEnds     kafka.Millis   // when the join phase ends at the latest; 0 outside it
	JoinEndsBy   string         // the setting that says so; empty outside a join phase
	SyncEnds     kafka.Millis   // who has not sent SyncGroup then is removed; 0: nobody is awaited
	Offsets      []OffsetView   // that are written, by topic and partition

	// PendingOffsets were committed in transactions that have not ended, and are written; by topic and partition, then by
	// producer id.
	PendingOffsets []PendingOffsetView

	// Of a group of the consumer protocol.
	Epoch           kafka.GroupEpoch // the group epoch
	AssignmentEpoch kafka.GroupEpoch // the group epoch for which the target assignment was made
	ServerAssignor  string           // that makes the target assignment: "uniform" or "server-range"
}

// MemberView is a member of a group.
type MemberView struct {
	ID               kafka.MemberID
	InstanceID       kafka.GroupInstanceID // empty: a dynamic member
	ClientID         string
	Host             kafka.NodeID // the node that it joined from
	SessionTimeout   kafka.Millis
	RebalanceTimeout kafka.Millis
	SessionEnds      kafka.Millis // removed then, unless it is heard of or waits; 0: the timer does not run
	New              bool         // has not seen the end of a join phase yet
	WaitsInJoin      bool         // its JoinGroup is not answered: it waits for the end of the join phase
	WaitsInSync      bool         // its SyncGroup is not answered: it waits for the assignment
	OwesSync         bool         // has not sent SyncGroup in this generation
	Protocols        []string     // assignors that it supports, the one it prefers first
	Topics           []string     // that it subscribes to, as it told the chosen assignor; nil: not known
	Assignment       []kafka.TopicPartition

	// Of a group of the consumer protocol. Assignment is then what the coordinator has it own, without what it is to
	// give up; SessionTimeout is the broker's setting; Protocols are empty unless Classic.
	Epoch         kafka.MemberEpoch
	PreviousEpoch kafka.MemberEpoch
	State         MemberState
	Revoking      []kafka.TopicPartition // it is to give up, and has not said that it has; sorted
	Target        []kafka.TopicPartition // it is to own in the end; sorted
	RevokeEnds    kafka.Millis           // fenced then unless it has given Revoking up; 0: it has nothing to
	Regex         string                 // the pattern that it subscribes to; empty: none
	Classic       bool                   // it takes part through the requests of the classic protocol
	JoinEnds      kafka.Millis           // of a Classic one: fenced then unless it has joined again; 0: it need not
	SyncEnds      kafka.Millis           // of a Classic one: fenced then unless it has sent SyncGroup; 0: it has
}

// PendingView is a member id that was given out.
type PendingView struct {
	ID      kafka.MemberID
	Client  kafka.NodeID
	Expires kafka.Millis
}

// OffsetView is a committed offset.
type OffsetView struct {
	TopicPartition kafka.TopicPartition
	Offset         kafka.Offset // the next record to read
	LeaderEpoch    kafka.LeaderEpoch
	Metadata       string
	CommittedAt    kafka.Timestamp
	Expires        bool            // it does, as things stand
	ExpiresAt      kafka.Timestamp // at the first check then or after; 0 if it does not
}

// PendingOffsetView is an offset that was committed in a transaction and becomes the committed one when that is committed.
type PendingOffsetView struct {
	kafka.TopicPartition
	Offset      kafka.Offset      `json:"offset"`      // the next record to read
	ProducerID  kafka.ProducerID  `json:"producer_id"` // whose transaction it is
	LeaderEpoch kafka.LeaderEpoch `json:"leader_epoch"`
	Metadata    string            `json:"metadata"`
	WrittenAt   kafka.Timestamp   `json:"written_at"`
}

// View gives the groups by id.
func (c *Coordinator) View() []GroupView {
	views := make([]GroupView, 0, len(c.groups)+len(c.slots))
	for _, sl := range c.slots {
		if sl.visible != nil {
			v := c.viewConsumers(sl)
			v.Offsets, v.PendingOffsets = c.viewOffsets(sl.id)
			views = append(views, v)
		}
	}
	for _, g := range c.groups {
		v := GroupView{
			ID: g.id, Type: Classic, State: g.state, Since: g.since, ProtocolType: g.protocolType, Generation: g.generation, Protocol: g.protocol,
			Leader: kafka.MemberID(g.leader), SyncEnds: g.syncEnds.due,
		}
		if g.joinEnds.set {
			v.JoinEnds, v.JoinEndsBy = g.joinEnds.due, rebalanceTimeoutSetting
			if g.initial {
				v.JoinEndsBy = initialDelaySetting
			}
		}
		for _, m := range g.members {
			v.Members = append(v.Members, g.viewMember(m))
		}
		for _, p := range g.pending {
			v.Pending = append(v.Pending, PendingView{kafka.MemberID(p.id), kafka.NodeID(p.client), p.expires})
		}
		v.Offsets, v.PendingOffsets = c.viewOffsets(g.id)
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b GroupView) int { return strings.Compare(a.ID, b.ID) })
	return views
}

// viewOffsets gives the committed offsets of a group, and the pending ones.
func (c *Coordinator) viewOffsets(id string) (views []OffsetView, pending []PendingOffsetView) {
	state := c.offsetsOf(id).visible
	if c.showsEarly() {
		state = c.offsetsOf(id).latest
	}
	for _, p := range state.pending {
		pending = append(pending, PendingOffsetView{p.tp, p.offset, p.producer, p.epoch, p.metadata, p.at})
	}
	for _, entry := range state.committed {
		o := OffsetView{
			TopicPartition: entry.tp, Offset: entry.offset, LeaderEpoch: entry.epoch, Metadata: entry.metadata, CommittedAt: entry.at,
		}
		if c.group(id) != nil || c.consumerGroup(id) != nil {
			if at, _, never := c.expiresOf(id, entry); !never && !state.isPending(entry.tp) {
				o.Expires, o.ExpiresAt = true, at
			}
		}
		views = append(views, o)
	}
	return views, pending
}

// viewConsumers gives a group of the consumer protocol, as it is written.
func (c *Coordinator) viewConsumers(sl *slot) GroupView {
	g := sl.visible
	v := GroupView{
		ID: g.id, Type: Consumer, State: g.state(), Since: kafka.NoTimestamp, ProtocolType: consumerType, Generation: -1,
		Epoch: g.epoch, AssignmentEpoch: g.assignmentEpoch, ServerAssignor: assignorOf(c.preferredAssignor(g)),
	}
	for _, k := range g.members {
		target, _ := g.targetOf(k.id)
		m := MemberView{
			ID: kafka.MemberID(k.id), InstanceID: kafka.GroupInstanceID(k.instance), ClientID: k.client, Host: nodeOf(k.host), RebalanceTimeout: k.rebalanceTimeout,
			SessionTimeout: c.config.ConsumerSessionTimeout, Topics: g.subscription(k), Assignment: c.named(k.assigned), Epoch: k.epoch, PreviousEpoch: k.previous, State: k.state,
			Revoking: c.named(k.revoking), Target: c.named(target), Regex: k.regex, Classic: k.classic != nil,
		}
		if k.classic != nil {
			m.SessionTimeout = k.classic.SessionTimeout
			for _, p := range k.classic.Protocols {
				m.Protocols = append(m.Protocols, p.Name)
			}
		}
		for _, t := range sl.timers {
			if t.member == k.id {
				m.SessionEnds, m.RevokeEnds, m.JoinEnds, m.SyncEnds = t.session.due, t.revoke.due, t.join.due, t.sync.due
			}
		}
		v.Members = append(v.Members, m)
	}
	return v
}

func (g *group) viewMember(m *member) MemberView {
	v := MemberView{
		ID: kafka.MemberID(m.id), InstanceID: kafka.GroupInstanceID(m.instance), ClientID: m.client, Host: nodeOf(m.host),
		SessionTimeout: m.sessionTimeout, RebalanceTimeout: m.rebalanceTimeout, SessionEnds: m.session.due, New: m.isNew,
		WaitsInJoin: m.awaitsJoin() && !m.join.answered, WaitsInSync: m.awaitsSync() && !m.sync.answered,
		OwesSync: slices.Contains(g.owesSync, m.id), Assignment: assigned(m.assignment),
	}
	for _, p := range m.protocols {
		v.Protocols = append(v.Protocols, p.Name)
	}
	if g.protocolType == consumerType {
		v.Topics, _ = subscribed(m.subscription(g.protocol))
	}
	return v
}
