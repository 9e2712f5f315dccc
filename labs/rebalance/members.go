package rebalance

import (
	"slices"
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// ofMember takes in what happened at a member.
func (h *history) ofMember(i int, e journal.Event) {
	s := h.seats[i]
	does := func(kind phaseKind) { s.doing, s.since = kind, e.Seq }
	switch b := e.Body.(type) {
	case journal.MessageSent:
		if !s.alive && !strings.HasPrefix(b.API, "connection") {
			s.alive, s.failed, s.begun, s.id = true, false, true, ""
			does(outside)
		}
	case journal.JoinSent:
		s.leaving, s.beatless = unaware, false
		if s.id = b.Member; b.Member != "" {
			h.holders[b.Member] = i
		}
		s.claim.owned, s.claim.generation = b.Owned, b.Generation
		does(joins)
	case journal.JoinHeartbeatSent:
		s.leaving, s.beatless = unaware, false
		s.id, h.holders[b.Member] = b.Member, i
		does(joins)
	case journal.MemberEpochMoved:
		if b.From == 0 {
			does(reads)
		}
	case journal.PartitionsTaken:
		h.take(i, b, e.Seq)
		does(reads)
	case journal.PartitionsRevoked:
		s.hand = max(s.hand-b.Unprocessed, 0)
		h.lose(i, b.Partitions, e.Seq)
	case journal.PartitionsLost:
		s.hand = 0
		h.lose(i, b.Partitions, e.Seq)
	case journal.LeaveHeartbeatSent:
		h.leaves(i, b, e.Seq)
		does(outside)
	case journal.MembershipLost:
		s.leaving = answered
		does(outside)
	case journal.PollIntervalExceeded:
		h.loops = append(h.loops, loop{i, e.Tick, e.Seq, b.Static})
		s.beatless = b.Static
		if !b.Static || b.Epoch != 0 {
			s.leaving = overdue
			does(outside)
		}
	case journal.ConsumerFailed:
		s.failed, s.error, s.since = true, b.Error, e.Seq
		h.touch(i, e.Seq)
	case journal.ConsumerCrashed, journal.ProcessKilled, journal.ConsumerClosed:
		h.end(i, e)
	case journal.NodePaused:
		s.paused, s.since = true, e.Seq
		h.touch(i, e.Seq)
	case journal.NodeResumed:
		s.paused, s.since = false, e.Seq
		h.touch(i, e.Seq)
	case journal.AssignmentComputed:
		h.divided(b, e)
	default:
		h.worked(i, e)
	}
}

// worked takes in what a member's application did.
func (h *history) worked(i int, e journal.Event) {
	s := h.seats[i]
	switch b := e.Body.(type) {
	case journal.RecordsRead:
		if !s.polls { // it polls when nothing is left of what it had
			s.polls, s.hand = true, 0
		}
		s.hand, s.sign = s.hand+b.Records, e.Tick
	case journal.RecordProcessed:
		s.polls, s.hand, s.sign = false, max(s.hand-1, 0), e.Tick
	case journal.PositionCommitted:
		h.begin(i, b.TopicPartition, b.Offset, e.Seq)
	case journal.PositionReset:
		h.begin(i, b.TopicPartition, b.To, e.Seq)
	case journal.PositionMoved:
		h.begin(i, b.TopicPartition, b.To, e.Seq)
	case journal.CommitFailed:
		s.refused = &refusal{e.Tick, e.Seq, b.Error, b.Then}
	case journal.CommitAccepted:
		s.refused = nil
	}
}

// take gives a member its partitions.
func (h *history) take(i int, b journal.PartitionsTaken, since uint64) {
	s := h.seats[i]
	s.owned, s.claim.kept, s.claim.keptIn = len(b.Partitions), b.Partitions, b.Generation
	for _, tp := range b.Partitions {
		t := h.byName[tp]
		if t == nil || s.in != s.id && t.owner >= 0 && t.owner != i && h.counts(t) {
			continue // who takes it is no member any more, and its owner is one
		}
		if t.owner != i || slices.Contains(b.Added, tp) {
			t.owner, t.known, t.since = i, false, since
		}
		t.by, t.left, t.away = s.id, false, false
	}
}

// counts says whether the group counts the process that has a partition.
func (h *history) counts(t *track) bool {
	s := h.seats[t.owner]
	return s.in == t.by || slices.Contains(s.ghosts, t.by)
}

// lose takes partitions from a member.
func (h *history) lose(i int, list []kafka.TopicPartition, since uint64) {
	s := h.seats[i]
	for _, tp := range list {
		s.owned = max(s.owned-1, 0)
		if t := h.byName[tp]; t != nil && t.owner == i {
			t.owner, t.known, t.since = -1, false, since
		}
	}
}

// leaves notes that a member of the consumer protocol gives all up and says so: a static one is to come back.
func (h *history) leaves(i int, b journal.LeaveHeartbeatSent, since uint64) {
	s := h.seats[i]
	s.owned, s.hand = 0, 0
	for _, t := range h.tracks {
		if t.owner == i && !t.left {
			t.left, t.away, t.known, t.since = true, true, false, since
			if b.Epoch != awayEpoch {
				t.owner, t.left, t.away = -1, false, false
			}
		}
	}
}

// touch notes why it stands with a member's partitions as it does now.
func (h *history) touch(i int, since uint64) {
	for _, t := range h.tracks {
		if t.owner == i {
			t.since = since
		}
	}
}

// begin notes a member's position in a partition; -1: none yet.
func (h *history) begin(i int, tp kafka.TopicPartition, at kafka.Offset, since uint64) {
	if t := h.byName[tp]; t != nil && t.owner == i && at >= 0 && !t.known {
		t.known, t.since = true, since
	}
}

// awayEpoch is the epoch by which a static member of the consumer protocol says that it will be back.
const awayEpoch kafka.MemberEpoch = -2

// end notes that a member's process ended. Of one that was not closed in order the group does not know yet.
func (h *history) end(i int, e journal.Event) {
	s := h.seats[i]
	s.alive, s.paused, s.doing, s.since = false, false, notRunning, e.Seq
	s.claim, s.hand, s.leaving, s.beatless = claim{generation: -1, keptIn: -1}, 0, unaware, false
	if closed, is := e.Body.(journal.ConsumerClosed); is && closed.Stays == "" && closed.Epoch != awayEpoch {
		s.in = ""
	}
	for _, t := range h.tracks {
		switch {
		case t.owner != i || t.left:
		case s.in == "" || t.by != s.in:
			t.owner, t.known, t.since = -1, false, e.Seq
		default:
			t.left, t.known, t.since = true, false, e.Seq
		}
	}
	if s.in == "" {
		s.owned = 0
	}
}

// removed notes that the group counts a member no more. What a process has that still runs it goes on reading.
func (h *history) removed(b journal.MemberRemoved, e journal.Event) {
	i, ok := h.holders[b.Member]
	if !ok || b.Pending {
		return
	}
	s := h.seats[i]
	was := s.in
	if s.forget(b.Member); was == b.Member && !s.alive {
		s.owned, s.since = 0, e.Seq
	}
	for _, t := range h.tracks {
		if t.owner == i && t.left && t.by == b.Member {
			t.owner, t.left, t.away, t.since = -1, false, false, e.Seq
		}
	}
}
