package group

import (
	"slices"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
)

// reconciliation brings one member nearer to its target assignment: what its heartbeat allows now, and no more. There is
// no barrier: each member goes by itself, and a partition is given only when nobody owns it.
//
// Source: CurrentAssignmentBuilder.
type reconciliation struct {
	g           *consumerGroup // before the heartbeat
	member      *consumerMember
	target      ownership // of the topics that it subscribes to
	targetEpoch kafka.GroupEpoch
	subscribed  func(topic [16]byte) bool
	owned       *ownership // what its heartbeat says that it owns; nil: nothing of that
	early       bool       // a test breaks the rule that an owned partition is not given
}

// reconcile brings a member nearer to its target assignment, which is made anew if the group epoch has risen, and records
// that; changed says that it subscribes to something else than before.
func (ch *groupChange) reconcile(updated *consumerMember, changed bool, owned *ownership) *consumerMember {
	broken := ch.s.c.config.Sabotage
	targetEpoch := ch.g.assignmentEpoch
	partitions, _ := ch.now().targetOf(updated.id)
	if ch.epoch > targetEpoch && (broken != sabotage.TargetStands || targetEpoch == 0) {
		targetEpoch, partitions = ch.epoch, ch.assignTarget(updated.id)
	}
	if broken == sabotage.TargetAhead {
		targetEpoch++
	}
	return ch.reconcileTo(targetEpoch, partitions, updated, changed, owned)
}

// reconcileTo does that with the target assignment that there is.
//
// Source: GroupMetadataManager.maybeReconcile.
func (ch *groupChange) reconcileTo(targetEpoch kafka.GroupEpoch, partitions ownership, updated *consumerMember, changed bool, owned *ownership) *consumerMember {
	if !changed && updated.reconciledTo(targetEpoch) {
		return updated
	}
	topics := ch.g.subscription(updated)
	r := reconciliation{
		g: ch.g, member: updated, targetEpoch: targetEpoch, owned: owned, early: ch.s.c.config.Sabotage == sabotage.GivenBeforeReleased,
		subscribed: func(id [16]byte) bool {
			t, ok := ch.s.c.image.TopicByID(id)
			return ok && slices.Contains(topics, t.Name)
		},
	}
	r.target = partitions.filter(func(p idPartition) bool { return r.subscribed(p.topic) })
	next := r.next(changed)
	if !next.sameAs(updated) {
		ch.values = append(ch.values, ch.currentOf(next))
		if !next.sameAs(updated.withPrevious(next.previous)) { // which alone says nothing
			ch.tellReconciled(updated, next, r)
		}
	}
	return next
}

// withPrevious gives the member with another epoch before its own.
func (m consumerMember) withPrevious(epoch kafka.MemberEpoch) *consumerMember {
	m.previous = epoch
	return &m
}

// next gives the member as it is after its heartbeat.
//
// Source: CurrentAssignmentBuilder.build.
func (r *reconciliation) next(changed bool) *consumerMember {
	switch m := r.member; {
	case m.state == MemberStable && kafka.GroupEpoch(m.epoch) != r.targetEpoch:
		return r.approach()
	case m.state == MemberStable && changed:
		return r.shrink()
	case m.state == MemberStable:
		return m
	case m.state == UnrevokedPartitions && r.owns(m.revoking) && changed:
		return r.shrink()
	case m.state == UnrevokedPartitions && r.owns(m.revoking):
		return m
	}
	return r.approach()
}

// owns says whether the member has, as far as it has told, any of these partitions still: only a heartbeat that lists
// what it owns tells that it has given something up.
//
// Source: CurrentAssignmentBuilder.ownsRevokedPartitions.
func (r *reconciliation) owns(partitions ownership) bool {
	return r.owned == nil || r.owned.intersects(partitions)
}

// approach gives up what the target assignment has not. Once the member has said that it has given that up, it comes to
// the epoch of the target assignment and is given what is free.
//
// Source: CurrentAssignmentBuilder.computeNextAssignment.
func (r *reconciliation) approach() *consumerMember {
	n := *r.member
	n.previous = n.epoch
	keep := r.member.assigned.and(r.target)
	revoke := r.member.assigned.without(keep)
	if len(revoke) > 0 && r.owns(revoke) {
		n.state, n.assigned, n.revoking = UnrevokedPartitions, keep, revoke
		return &n
	}
	wanted := r.target.without(keep)
	free := wanted.filter(func(p idPartition) bool {
		return r.early || r.member.revoking.has(p) || r.g.owner(p) == nil
	})
	n.epoch, n.state, n.assigned, n.revoking = kafka.MemberEpoch(r.targetEpoch), MemberStable, keep.with(free), nil
	if len(free) < len(wanted) {
		n.state = UnreleasedPartitions
	}
	return &n
}

// shrink takes the partitions of topics away to which the member subscribes no longer.
//
// Source: CurrentAssignmentBuilder.updateCurrentAssignment.
func (r *reconciliation) shrink() *consumerMember {
	n := *r.member
	gone := n.assigned.filter(func(p idPartition) bool { return !r.subscribed(p.topic) })
	if len(gone) == 0 {
		return r.member
	}
	n.assigned = n.assigned.without(gone)
	if revoking := n.revoking.with(gone); r.owns(revoking) {
		n.state, n.revoking = UnrevokedPartitions, revoking
	}
	return &n
}

// tellReconciled says what has become of the member.
func (ch *groupChange) tellReconciled(before, after *consumerMember, r reconciliation) {
	c := ch.s.c
	event := journal.MemberReconciled{
		Group: ch.g.id, Member: kafka.MemberID(after.id), From: string(before.state), State: string(after.state), Before: before.epoch, Epoch: after.epoch,
		TargetEpoch: r.targetEpoch, Assigned: c.named(after.assigned), Revoking: c.named(after.revoking), Given: c.named(after.assigned.without(before.assigned)),
		Released: c.named(before.revoking.without(after.revoking)), RebalanceTimeout: after.rebalanceTimeout, Host: nodeOf(after.host),
	}
	if after.state == UnreleasedPartitions {
		waits := r.target.without(after.assigned)
		event.Waits = c.named(waits)
		for _, p := range waits {
			if owner := r.g.owner(p); owner != nil && !slices.Contains(event.Owners, nodeOf(owner.host)) {
				event.Owners = append(event.Owners, nodeOf(owner.host))
			}
		}
	}
	ch.events = append(ch.events, event)
}

// setRevokeTimer begins the time in which a member must give up what it is to, and ends it when it has.
func (ch *groupChange) setRevokeTimer(sl *slot, before, after *consumerMember) {
	if after.classic != nil || after.sameAs(before) {
		return
	}
	t := sl.timersOf(after.id)
	if after.state == UnrevokedPartitions {
		t.revoke, t.revokeEpoch = ch.s.after(after.rebalanceTimeout), after.epoch
		return
	}
	t.revoke = timer{}
}
