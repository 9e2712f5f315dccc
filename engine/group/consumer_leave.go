package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
	"loglab/engine/simnet"
)

// consumerLeaves handles the heartbeat of a member that leaves: for good, or to come back, which only a static one does.
//
// Source: GroupMetadataManager.consumerGroupLeave.
func (s *step) consumerLeaves(m *simnet.Message, r *kmsg.ConsumerGroupHeartbeatRequest) (*kerr.Error, string) {
	ch, err, why := s.openConsumerGroup(r.Group, false)
	if err != nil {
		return err, why
	}
	k := ch.g.member(r.MemberID)
	if r.InstanceID != nil {
		k = ch.g.static(*r.InstanceID)
	}
	switch {
	case k == nil && r.InstanceID != nil:
		return kerr.UnknownMemberID, fmt.Sprintf("the group has no member with group.instance.id = %s", *r.InstanceID)
	case k == nil:
		return kerr.UnknownMemberID, "the group has no such member"
	case k.id != r.MemberID:
		return kerr.FencedInstanceID, fmt.Sprintf("group.instance.id = %s belongs to the member id %s now", k.instance, k.id)
	}
	response := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	response.MemberID, response.MemberEpoch = &k.id, r.MemberEpoch
	if kafka.MemberEpoch(r.MemberEpoch) == leavesToReturn && r.InstanceID != nil {
		away := *k
		away.epoch, away.revoking = leavesToReturn, nil
		ch.values = append(ch.values, ch.currentOf(&away))
		ch.events = append(ch.events, journal.StaticMemberAway{
			Group: ch.g.id, Member: kafka.MemberID(k.id), Instance: kafka.GroupInstanceID(k.instance), Keeps: s.c.named(k.assigned), Session: s.c.config.ConsumerSessionTimeout,
		})
		s.answerAfter(ch.commit(r.Group), m, response, r.Group)
		return nil, ""
	}
	w := s.fenceMembers(ch.g, []*consumerMember{k}, fmt.Sprintf("%s sent a heartbeat with member epoch %d: it leaves", m.From, r.MemberEpoch))
	s.answerAfter(w, m, response, r.Group)
	return nil, ""
}

// fenceMembers takes members out of a group. The group epoch rises; the target assignment is made anew with the next
// heartbeat of one that stays. If all that stay use the classic protocol, the group does too from then on.
//
// Source: GroupMetadataManager.consumerGroupFenceMembers.
func (s *step) fenceMembers(g *consumerGroup, members []*consumerMember, why string) *pendingWrite {
	if len(members) == 0 {
		return nil
	}
	ch := &groupChange{s: s, g: g, epoch: g.epoch}
	for i, m := range members {
		ch.events = append(ch.events, journal.MemberRemoved{
			Group: g.id, Member: kafka.MemberID(m.id), Static: kafka.GroupInstanceID(m.instance), Why: why, Members: len(g.members) - i - 1, Host: nodeOf(m.host),
		})
	}
	if s.mayDowngrade(g, members) {
		return s.downgrade(ch, members, nil, false)
	}
	var gone []string
	for _, m := range members {
		ch.bury(m.id)
		gone = append(gone, m.id)
	}
	ch.forgetPatterns(members)
	ch.cause = []string{strings.Join(gone, ", ") + " left or was removed"}
	ch.bump(metadataHash(ch.now().topics(), s.c.image))
	sl := s.c.openSlot(g.id)
	for _, id := range gone {
		sl.cancel(id)
	}
	return ch.commit(g.id)
}

// The timers of a member.
type memberTimer uint8

const (
	sessionEnds memberTimer = iota
	revokeEnds
	joinEnds
	syncEnds
)

// consumerTimer fences a member whose time is over.
//
// Source: GroupMetadataManager.consumerGroupFenceMemberOperation and scheduleConsumerGroupRebalanceTimeout.
func (s *step) consumerTimer(sl *slot, member string, which memberTimer) {
	t := sl.timersOf(member)
	var why string
	switch which {
	case sessionEnds:
		t.session = timer{}
		why = fmt.Sprintf("no heartbeat came for group.consumer.session.timeout.ms = %s ms", kafka.Thousands(s.c.config.ConsumerSessionTimeout))
	case revokeEnds:
		t.revoke = timer{}
		why = "it has not given up what it was to within its rebalance timeout, max.poll.interval.ms = %s ms"
	case joinEnds:
		t.join = timer{}
		why = "it uses the classic protocol and has not joined again within its rebalance timeout, max.poll.interval.ms = %s ms"
	case syncEnds:
		t.sync = timer{}
		why = "it uses the classic protocol and has sent no SyncGroup within its rebalance timeout, max.poll.interval.ms = %s ms"
	}
	epoch := t.revokeEpoch
	if *t == (memberTimers{member: member, revokeEpoch: epoch}) {
		sl.cancel(member)
	}
	g := sl.latest
	if g == nil {
		return
	}
	k := g.member(member)
	if k == nil || which == revokeEnds && k.epoch != epoch || s.c.config.Sabotage == sabotage.SessionsNeverEnd && which == sessionEnds {
		return
	}
	switch {
	case which == sessionEnds && k.classic != nil:
		why = fmt.Sprintf("no heartbeat came for session.timeout.ms = %s ms", kafka.Thousands(k.classic.SessionTimeout))
	case which != sessionEnds:
		why = fmt.Sprintf(why, kafka.Thousands(k.rebalanceTimeout))
	}
	if w := s.fenceMembers(g, []*consumerMember{k}, why); w != nil {
		w.retry = &retriedTimer{group: g.id, member: member, which: which}
	}
}

// retriedTimer is a timer that is set anew when the records of what it led to cannot be written.
//
// Source: CoordinatorRuntime.EventBasedCoordinatorTimer, whose timers are retried.
type retriedTimer struct {
	group, member string
	which         memberTimer
}

// timerBackoff is how long such a timer waits.
const timerBackoff kafka.Millis = 500

func (s *step) retryTimer(r *retriedTimer) {
	g := s.c.consumerGroup(r.group)
	if g == nil || g.member(r.member) == nil {
		return
	}
	t := s.c.openSlot(r.group).timersOf(r.member)
	again := s.after(timerBackoff)
	switch r.which {
	case sessionEnds:
		t.session = again
	case revokeEnds:
		t.revoke, t.revokeEpoch = again, g.member(r.member).epoch
	case joinEnds:
		t.join = again
	case syncEnds:
		t.sync = again
	}
}

// tombstones gives the records that delete the group; replaced stands for another id of a member that has its records
// already.
func (g *consumerGroup) tombstones(replaced func(id string) string) (values []Value) {
	id := func(m *consumerMember) kafka.MemberID {
		if replaced != nil {
			return kafka.MemberID(replaced(m.id))
		}
		return kafka.MemberID(m.id)
	}
	for _, m := range g.members {
		values = append(values, Tombstone{Key{Type: TypeCurrentMemberAssignment, Group: g.id, Member: id(m)}})
	}
	for _, m := range g.members {
		values = append(values, Tombstone{Key{Type: TypeTargetAssignmentMember, Group: g.id, Member: id(m)}})
	}
	values = append(values, Tombstone{Key{Type: TypeTargetAssignmentMetadata, Group: g.id}})
	for _, m := range g.members {
		values = append(values, Tombstone{Key{Type: TypeConsumerGroupMemberMetadata, Group: g.id, Member: id(m)}})
	}
	for _, p := range g.patterns {
		values = append(values, Tombstone{Key{Type: TypeRegularExpression, Group: g.id, Regex: p.regex}})
	}
	return append(values, Tombstone{Key{Type: TypeConsumerGroupPartitionMetadata, Group: g.id}}, Tombstone{Key{Type: TypeConsumerGroupMetadata, Group: g.id}})
}

// forgetPatterns adds tombstones of the patterns that only these members subscribe to.
//
// Source: GroupMetadataManager.maybeDeleteResolvedRegularExpressions.
func (ch *groupChange) forgetPatterns(members []*consumerMember) {
	var seen []string
	for _, m := range members {
		if m.regex == "" || slices.Contains(seen, m.regex) {
			continue
		}
		seen = append(seen, m.regex)
		stays := slices.ContainsFunc(ch.g.members, func(k *consumerMember) bool { return k.regex == m.regex && !slices.Contains(members, k) })
		if !stays {
			ch.values = append(ch.values, Tombstone{Key{Type: TypeRegularExpression, Group: ch.g.id, Regex: m.regex}})
		}
	}
}
