package group

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// staticReturns gives a static member that comes back without its member id a new one. In a stable group that is
// all, unless another assignor would be chosen now.
//
// Source: GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin.
func (s *step) staticReturns(m *simnet.Message, request *kmsg.JoinGroupRequest, g *group, old *member, newID string) {
	before := &staticReturn{
		instance: old.instance, oldID: old.id, newID: newID, leader: g.leader,
		protocols: old.protocols, sessionTimeout: old.sessionTimeout, rebalanceTimeout: old.rebalanceTimeout,
	}
	k := s.replaceStatic(g, old, newID)
	s.extendSession(k)
	k.update(request.Protocols, kafka.Millis(request.RebalanceTimeoutMillis), kafka.Millis(request.SessionTimeoutMillis))
	k.join = parked{request: m}
	event := journal.StaticMemberReplaced{
		Group: g.id, Instance: kafka.GroupInstanceID(k.instance), Old: kafka.MemberID(before.oldID), Member: kafka.MemberID(newID),
		State: string(g.state), Generation: g.generation, Protocol: g.protocol,
	}
	switch g.state {
	case Stable:
		next, _ := g.vote()
		if next != g.protocol {
			event.Rebalance = fmt.Sprintf("%s (%s) came back with other assignors, and %s would be chosen instead of %s", newID, m.From, next, g.protocol)
			s.then(event)
			s.rebalanceOrComplete(g, event.Rebalance)
			return
		}
		s.then(event)
		w := s.write([]coordinator.Record{g.record(func(m *member) []byte { return m.assignment }).Encode()}, pendingWrite{about: g.id})
		s.wait(w, deferred{done: staticBack, request: m, group: g.id, static: before})
	case CompletingRebalance:
		event.Rebalance = fmt.Sprintf("%s (%s) came back while the leader divides the partitions for %s", newID, m.From, before.oldID)
		s.then(event)
		s.startRebalance(g, event.Rebalance)
	default:
		s.then(event)
		s.maybeCompleteJoin(g)
	}
}

// staticWritten tells the member its new id and the generation as it stands. A leader is told to divide nothing. If a
// rebalance has begun meanwhile, a leader's JoinGroup waits for its end.
func (s *step) staticWritten(g *group, d deferred) {
	m := g.member(d.static.newID)
	if m == nil || m.join.request != d.request {
		return
	}
	leads := g.leader == m.id
	if d.request.Version() < skipAssignmentFrom {
		// An older client would divide the partitions anew if it were told that it leads.
		response := g.joinResponse(m, false)
		response.LeaderID, response.Members = d.static.leader, nil
		s.answerJoin(m, response)
		return
	}
	if leads && g.state == PreparingRebalance {
		return
	}
	s.answerJoin(m, g.joinResponse(m, leads))
}

// staticFailed gives the member its old id back.
func (s *step) staticFailed(g *group, d deferred, err *kerr.Error, why string) {
	before := d.static
	m := g.member(before.newID)
	if m == nil {
		return
	}
	waits := m.join.request == d.request && !m.join.answered
	m.update(before.protocols, before.rebalanceTimeout, before.sessionTimeout)
	if m.join.request == d.request {
		m.join = parked{}
	}
	if waits {
		response := g.joinResponse(m, false)
		response.ErrorCode, response.MemberID, response.LeaderID, response.Members = err.Code, "", before.leader, nil
		s.refuse(d.request, response, refusal{g.id, before.newID, err, why})
	}
	if slices.ContainsFunc(g.members, func(k *member) bool { return k.id == before.oldID }) {
		return
	}
	s.extendSession(s.replaceStatic(g, m, before.oldID))
}
