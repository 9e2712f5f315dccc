package rebalance

import (
	"slices"
	"strings"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// brokerState is what the broker can do: it leads all partitions and coordinates the group.
type brokerState struct {
	up, paused bool
	before     groupPhase // where the group was when its coordinator ended
}

// ofBroker takes in what becomes of the broker itself; false: the event is of something else.
func (h *history) ofBroker(e journal.Event) bool {
	switch b := e.Body.(type) {
	case journal.BrokerStarted:
		h.broker.up, h.broker.paused = true, false
	case journal.ProcessKilled, journal.BrokerStopped, journal.PowerLost:
		if e.Node != brokerNode {
			return false
		}
		h.broker.up, h.broker.paused = false, false
		for _, t := range h.tracks {
			h.serve(t, false, e.Seq)
		}
		h.resigned(e)
	case journal.NodePaused, journal.NodeResumed:
		if e.Node != brokerNode {
			return false
		}
		_, h.broker.paused = b.(journal.NodePaused)
		h.touchAll(e.Seq)
	case journal.LeadershipTaken:
		h.serve(h.byName[b.TopicPartition], true, e.Seq)
	case journal.LeaderlessLearned:
		h.serve(h.byName[b.TopicPartition], false, e.Seq)
	case journal.CoordinatorResigned:
		h.resigned(e)
	case journal.GroupsLoaded:
		h.loaded(b, e)
	default:
		return false
	}
	return true
}

// serve notes that the leader of a partition begins to serve it, or does not any more.
func (h *history) serve(t *track, does bool, since uint64) {
	if t != nil && t.served != does {
		t.served, t.since = does, since
	}
}

// touchAll notes why it stands with all partitions that somebody has as it does now.
func (h *history) touchAll(since uint64) {
	for _, t := range h.tracks {
		if t.owner >= 0 {
			t.since = since
		}
	}
}

// linkChanged notes whether anything passes between a member and the broker.
func (h *history) linkChanged(b journal.LinkChanged, since uint64) {
	if i, ok := memberPlace(b.From); ok && b.To == brokerNode {
		h.seats[i].cutTo = b.Cut
		h.touch(i, since)
	}
	if i, ok := memberPlace(b.To); ok && b.From == brokerNode {
		h.seats[i].cutFrom = b.Cut
		h.touch(i, since)
	}
}

// reaches says whether a member can talk with the broker.
func (h *history) reaches(s *seat) bool {
	return h.broker.up && !h.broker.paused && !s.cutTo && !s.cutFrom
}

// resigned notes that nobody coordinates the group. A join phase and a sync phase are over with that: what counts is
// what is written. A target assignment is written, and members go on to it when there is a coordinator again.
func (h *history) resigned(e journal.Event) {
	if h.now.state == noCoordinator {
		return
	}
	h.broker.before = h.now
	h.now, h.since = groupPhase{noCoordinator, h.now.number}, e.Seq
	if c := h.open(); c != nil && !h.remote {
		c.to, c.broken = e.Tick, true
	}
}

// loaded notes that a broker has read the group from __consumer_offsets.
func (h *history) loaded(b journal.GroupsLoaded, e journal.Event) {
	if h.now.state != noCoordinator {
		return
	}
	switch {
	case b.Members == 0:
		h.now = groupPhase{group.Empty, h.now.number}
		for id, i := range h.holders {
			h.seats[i].forget(id)
		}
	case !h.remote:
		h.now = h.written
		for id, i := range h.holders {
			if !h.records[id] {
				h.seats[i].forget(id)
			}
		}
		for id := range h.records {
			if s := h.seats[h.holders[id]]; s.in == "" {
				s.in = id
			} else if s.in != id && !slices.Contains(s.ghosts, id) {
				s.ghosts = append(s.ghosts, id)
			}
		}
	default:
		h.now = h.broker.before
	}
	h.since = e.Seq
}

// writes notes that the classic group is written as it is now, with these members.
func (h *history) writes(members ...kafka.MemberID) {
	h.written = h.now
	clear(h.records)
	for _, id := range members {
		h.records[id] = true
	}
}

// forget notes that the group does not count an id of a member any more.
func (s *seat) forget(id kafka.MemberID) {
	if s.in == id {
		s.in = ""
	}
	s.ghosts = slices.DeleteFunc(s.ghosts, func(g kafka.MemberID) bool { return g == id })
}

// The states of a broker in which its process runs.
const (
	isStarting     = "starting"
	isRunning      = "running"
	isShuttingDown = "shutting down"
)

// noCoordinator is the state of a group that no broker coordinates.
const noCoordinator group.State = ""

// told notes that a member is told to leave, or that the command could not apply.
func (h *history) told(command string, is leaving) {
	name, leaves := strings.CutPrefix(command, "leave ")
	if i, ok := memberPlace(kafka.NodeID(name)); ok && leaves && h.seats[i].alive {
		h.seats[i].leaving = is
	}
}

// added notes the partitions that a topic has got: those that nobody has had yet.
func (h *history) added(e journal.Event) {
	b := e.Body.(journal.PartitionsAdded)
	h.additions = append(h.additions, addition{e.Tick, b.Topic, b.From, b.To})
	for _, t := range h.tracks {
		if t.Topic == b.Topic && int(t.Partition) >= b.From && int(t.Partition) < b.To {
			t.added, t.since = e.Tick, e.Seq
		}
	}
}
