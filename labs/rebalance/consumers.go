package rebalance

import (
	"slices"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// reached is how far a member of the consumer protocol is, as the coordinator has it.
type reached struct {
	epoch kafka.MemberEpoch
	state group.MemberState
}

// ofConsumers takes in what happened at the coordinator of a group of the consumer protocol.
func (h *history) ofConsumers(e journal.Event) {
	switch b := e.Body.(type) {
	case journal.ConsumerMemberJoined:
		h.joined(b.From, b.Member)
		h.remote = true
		if i, ok := memberPlace(b.From); ok {
			h.seats[i].epoch, h.seats[i].state = 0, group.MemberStable
			h.places[b.Member] = reached{state: group.MemberStable}
		}
	case journal.StaticMemberAway:
		h.places[b.Member] = reached{awayEpoch, group.MemberStable}
		h.behind(e)
	case journal.StaticMemberReturned:
		h.places[b.Member] = h.places[b.Old]
		delete(h.places, b.Old)
		h.replaced(b.Old, b.Member, b.Instance, "", e)
	case journal.GroupEpochBumped:
		h.epochBumped(b, e)
	case journal.TargetAssigned:
		h.targetAssigned(b, e)
	case journal.MemberReconciled:
		if i, ok := h.holders[b.Member]; ok {
			s := h.seats[i]
			s.epoch, s.state = b.Epoch, group.MemberState(b.State)
			h.places[b.Member] = reached{b.Epoch, s.state}
			if s.doing == reads {
				s.since = e.Seq
			}
		}
		h.maybeReconciled(e)
	}
}

// behind notes that a member is not where the target assignment is.
func (h *history) behind(e journal.Event) {
	if h.now.state == group.Stable {
		h.now.state, h.since = group.Reconciling, e.Seq
	}
}

// epochBumped notes that something has changed for which the target assignment does not hold any more.
func (h *history) epochBumped(b journal.GroupEpochBumped, e journal.Event) {
	h.now, h.since = groupPhase{group.Assigning, int32(b.Epoch)}, e.Seq
	c := h.open()
	if c == nil {
		c = h.begun(b.Why, e)
	}
	c.rounds = append(c.rounds, round{from: e.Tick, joined: -1, stable: -1, generation: kafka.GenerationID(b.Epoch)})
	h.maybeEmpty(e)
}

// maybeEmpty notes that no member is left, if it is so.
func (h *history) maybeEmpty(e journal.Event) {
	for _, s := range h.seats {
		if s.in != "" || len(s.ghosts) > 0 {
			return
		}
	}
	h.now.state = group.Empty
	h.emptied(e)
}

// targetAssigned notes a target assignment.
func (h *history) targetAssigned(b journal.TargetAssigned, e journal.Event) {
	h.now, h.since = groupPhase{group.Reconciling, int32(b.Epoch)}, e.Seq
	c, r := h.open(), h.round()
	if r == nil {
		return
	}
	r.joined, r.joins = e.Tick, map[kafka.MemberID]claim{}
	for _, share := range b.Shares {
		r.joins[share.Member] = claim{owned: h.targets[share.Member], generation: -1}
	}
	for id, target := range h.targets { // also of those that are gone
		if _, there := r.joins[id]; !there {
			r.joins[id] = claim{owned: target, generation: -1}
		}
	}
	clear(h.targets)
	r.computed, r.event = &journal.AssignmentComputed{Group: b.Group, Generation: kafka.GenerationID(b.Epoch), Assignor: b.Assignor, Shares: b.Shares}, e.Seq
	c.after = map[kafka.TopicPartition]int{}
	for n, share := range b.Shares {
		h.targets[share.Member] = share.Partitions
		i, ok := memberPlace(b.Hosts[n])
		if !ok {
			continue
		}
		h.holders[share.Member] = i
		for _, tp := range share.Partitions {
			c.after[tp] = i
		}
	}
}

// maybeReconciled notes that every member has come to the target assignment, if it is so.
func (h *history) maybeReconciled(e journal.Event) {
	if h.now.state != group.Reconciling {
		return
	}
	there := func(id kafka.MemberID) bool {
		at := h.places[id]
		return at.state == group.MemberStable && int32(at.epoch) == h.now.number
	}
	for _, s := range h.seats {
		if s.in != "" && !there(s.in) || slices.ContainsFunc(s.ghosts, func(id kafka.MemberID) bool { return !there(id) }) {
			return
		}
	}
	h.now.state, h.since = group.Stable, e.Seq
	if c, r := h.open(), h.round(); r != nil {
		r.stable, h.last, c.to = e.Tick, c.after, e.Tick
	}
}
