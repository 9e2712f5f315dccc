package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
)

// The settings that end a join phase.
const (
	initialDelaySetting     = "group.initial.rebalance.delay.ms"
	rebalanceTimeoutSetting = "max.poll.interval.ms"
)

// rebalanceOrComplete starts a rebalance where the state allows one, or ends the join phase if that was the last
// thing it waited for. It gives the write of what is to be recorded, nil: nothing is.
//
// Source: GroupMetadataManager.maybePrepareRebalanceOrCompleteJoin.
func (s *step) rebalanceOrComplete(g *group, why string) *pendingWrite {
	switch g.state {
	case Empty, CompletingRebalance, Stable:
		return s.startRebalance(g, why)
	}
	return s.maybeCompleteJoin(g)
}

// maybeCompleteJoin ends the join phase when everybody has joined. The first one of an empty group waits for its
// timer all the same.
func (s *step) maybeCompleteJoin(g *group) *pendingWrite {
	if g.state != PreparingRebalance || g.previous == Empty || !g.allJoined() {
		return nil
	}
	return s.completeJoin(g, everybodyJoined)
}

const everybodyJoined = "every member has joined and no id is pending"

// startRebalance begins a join phase. Whoever waits for an assignment is told to join again.
//
// Source: GroupMetadataManager.prepareRebalance.
func (s *step) startRebalance(g *group, why string) *pendingWrite {
	event := journal.RebalanceStarted{Group: g.id, From: string(g.state), Generation: g.generation, Why: why, Setting: rebalanceTimeoutSetting, Ends: g.rebalanceTimeout()}
	initial := g.state == Empty
	if initial {
		event.Setting, event.Ends = initialDelaySetting, s.c.config.InitialRebalanceDelay
	}
	for _, m := range g.members {
		if g.state == CompletingRebalance && m.awaitsSync() {
			event.Refused++
		}
	}
	s.then(event)
	if g.state == CompletingRebalance {
		s.withdrawAssignment(g, kerr.RebalanceInProgress, "a rebalance of the group has begun")
	}
	g.owesSync, g.syncEnds = nil, timer{}
	s.transition(g, PreparingRebalance)
	if initial {
		delay := s.c.config.InitialRebalanceDelay
		g.joinEnds, g.initial, g.window, g.remaining = s.after(delay), true, delay, max(g.rebalanceTimeout()-delay, 0)
		return nil
	}
	if g.allJoined() {
		return s.completeJoin(g, everybodyJoined)
	}
	g.joinEnds, g.initial = s.after(g.rebalanceTimeout()), false
	return nil
}

// withdrawAssignment empties every assignment of a generation that is not written yet, and refuses who waits for it.
//
// Source: GroupMetadataManager.resetAndPropagateAssignmentWithError.
func (s *step) withdrawAssignment(g *group, err *kerr.Error, why string) {
	for _, m := range g.members {
		m.assignment = nil
		if !m.awaitsSync() {
			continue
		}
		if !m.sync.answered {
			s.refuse(m.sync.request, syncError(err), refusal{g.id, m.id, err, why})
		}
		m.sync = parked{}
		s.extendSession(m)
	}
}

// joinPhaseTimer ends the join phase, or prolongs the initial delay while members come.
//
// Source: GroupMetadataManager.tryCompleteInitialRebalanceElseSchedule.
func (s *step) joinPhaseTimer(g *group) {
	g.joinEnds = timer{}
	if !g.initial {
		s.completeJoin(g, fmt.Sprintf("its time, the longest %s of a member, is over", rebalanceTimeoutSetting))
		return
	}
	if !g.newMemberAdded || g.remaining == 0 {
		why := "no other member came within %s = %s ms"
		if g.newMemberAdded {
			why = "members came within %s = %s ms, but no time of the rebalance timeout is left to wait for more"
		}
		s.completeJoin(g, fmt.Sprintf(why, initialDelaySetting, kafka.Thousands(s.c.config.InitialRebalanceDelay)))
		return
	}
	g.newMemberAdded = false
	window := min(s.c.config.InitialRebalanceDelay, g.remaining)
	g.remaining = max(g.remaining-g.window, 0)
	g.window = window
	g.joinEnds = s.after(window)
	s.journal(journal.InitialDelayExtended{Group: g.id, Window: window, Remaining: g.remaining, Delay: s.c.config.InitialRebalanceDelay})
}

// completeJoin ends the join phase: the group has a new generation, or no member any more.
//
// Source: GroupMetadataManager.completeClassicGroupJoin.
func (s *step) completeJoin(g *group, why string) *pendingWrite {
	g.joinEnds = timer{}
	for _, m := range slices.Clone(g.members) {
		if !m.awaitsJoin() && m.instance == "" {
			s.removeMember(g, m, fmt.Sprintf("it did not join again while the join phase lasted (%s)", rebalanceTimeoutSetting))
		}
	}
	if !g.electJoinedLeader() && len(g.members) > 0 {
		g.joinEnds, g.initial = s.after(max(g.rebalanceTimeout(), 1)), false // of 0 ms it would fire for ever
		s.then(journal.JoinPhaseProlonged{Group: g.id, Members: len(g.members), Wait: g.rebalanceTimeout()})
		return nil
	}
	g.generation++
	g.owesSync = nil
	if len(g.members) == 0 {
		return s.becomeEmpty(g)
	}
	protocol, ballots := g.vote()
	g.protocol = protocol
	g.setTopics()
	s.transition(g, CompletingRebalance)
	event := journal.JoinPhaseEnded{
		Group: g.id, Generation: g.generation, Protocol: g.protocol, Leader: kafka.MemberID(g.leader), Votes: votesText(ballots), Why: why, SyncWithin: g.rebalanceTimeout(),
	}
	for _, m := range g.members {
		event.Members = append(event.Members, kafka.MemberID(m.id))
	}
	s.then(event)
	for _, m := range g.members {
		s.answerJoin(m, g.joinResponse(m, false))
		s.extendSession(m)
		m.isNew = false
		g.owesSync = append(g.owesSync, m.id)
	}
	g.syncEnds = s.after(g.rebalanceTimeout())
	return nil
}

func votesText(ballots []ballot) string {
	words := make([]string, len(ballots))
	for i, b := range ballots {
		words[i] = fmt.Sprintf("%s has %s", b.protocol, kafka.Count(b.votes, "vote"))
	}
	return strings.Join(words, ", ")
}

// becomeEmpty ends a join phase in which no member is left. The empty generation is recorded.
func (s *step) becomeEmpty(g *group) *pendingWrite {
	g.protocol = ""
	g.setTopics()
	s.transition(g, Empty)
	s.then(journal.GroupEmpty{Group: g.id, Generation: g.generation, Retention: s.c.config.OffsetsRetention})
	return s.write([]coordinator.Record{g.record(nil).Encode()}, pendingWrite{about: g.id})
}

// removeMember takes a member out. Its JoinGroup, if one waits, is refused, so that it joins anew.
func (s *step) removeMember(g *group, m *member, why string) {
	if m.awaitsJoin() && !m.join.answered {
		s.refuse(m.join.request, joinError("", kerr.UnknownMemberID), refusal{g.id, m.id, kerr.UnknownMemberID, "it was removed from the group: " + why})
	}
	m.join = parked{}
	g.remove(m.id)
	s.then(journal.MemberRemoved{Group: g.id, Member: kafka.MemberID(m.id), Static: kafka.GroupInstanceID(m.instance), Why: why, Members: len(g.members), Host: nodeOf(m.host)})
}

// sessionTimer removes a member of which nothing was heard. Who waits for an answer is alive, but not for ever if it
// is new.
//
// Source: GroupMetadataManager.expireClassicGroupMemberHeartbeat.
func (s *step) sessionTimer(g *group, m *member) {
	m.session = timer{}
	if !m.isNew && (m.awaitsJoin() || m.awaitsSync()) || s.c.config.Sabotage == sabotage.SessionsNeverEnd {
		return
	}
	why := fmt.Sprintf("no heartbeat or commit came for session.timeout.ms = %s ms", kafka.Thousands(m.sessionTimeout))
	if m.isNew {
		why = fmt.Sprintf("its first JoinGroup has waited %s ms, which is the most for a new member", kafka.Thousands(newMemberJoinTimeout))
	}
	s.removeMember(g, m, why)
	switch {
	case g.state == Stable || g.state == CompletingRebalance:
		s.rebalanceOrComplete(g, fmt.Sprintf("%s was removed, as its session timed out", m.id))
	case g.state == PreparingRebalance && g.allJoined():
		s.completeJoin(g, everybodyJoined)
	}
}

// pendingTimer forgets an id that nobody has joined with.
func (s *step) pendingTimer(g *group, p pendingID) {
	g.remove(p.id)
	s.then(journal.MemberRemoved{
		Group: g.id, Member: kafka.MemberID(p.id), Pending: true, Members: len(g.members),
		Why: "nobody joined with it within session.timeout.ms",
	})
	if g.state == PreparingRebalance && g.allJoined() {
		s.completeJoin(g, everybodyJoined)
	}
}

// syncTimer removes who has not sent SyncGroup since the join phase ended.
//
// Source: GroupMetadataManager.expirePendingSync. As there, the id of a static member that was replaced before it sent
// SyncGroup still counts: a rebalance starts, and nobody is removed.
func (s *step) syncTimer(g *group) {
	g.syncEnds = timer{}
	if len(g.owesSync) == 0 || g.state != CompletingRebalance && g.state != Stable {
		return
	}
	owing := slices.Clone(g.owesSync)
	for _, id := range owing {
		if m := g.member(id); m != nil {
			s.removeMember(g, m, fmt.Sprintf("it sent no SyncGroup within %s after the join phase", rebalanceTimeoutSetting))
		}
		g.remove(id)
	}
	s.startRebalance(g, fmt.Sprintf("%s sent no SyncGroup in time", strings.Join(owing, ", ")))
}
