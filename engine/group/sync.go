package group

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
	"loglab/engine/simnet"
)

func syncError(err *kerr.Error) *kmsg.SyncGroupResponse {
	response := kmsg.NewPtrSyncGroupResponse()
	response.ErrorCode = err.Code
	return response
}

func (g *group) syncResponse(m *member) *kmsg.SyncGroupResponse {
	response := kmsg.NewPtrSyncGroupResponse()
	response.Protocol, response.ProtocolType, response.MemberAssignment = orNull(g.protocol), orNull(g.protocolType), m.assignment
	return response
}

// syncGroup handles a SyncGroup.
//
// Source: GroupMetadataManager.classicGroupSyncToClassicGroup.
func (s *step) syncGroup(m *simnet.Message, request *kmsg.SyncGroupRequest) {
	refuse := func(err *kerr.Error, why string) {
		s.refuse(m, syncError(err), refusal{request.Group, request.MemberID, err, why})
	}
	if request.Group == "" {
		refuse(kerr.InvalidGroupID, "the group's id is empty")
		return
	}
	if g := s.c.consumerGroup(request.Group); g != nil {
		s.classicSyncs(m, request, g)
		return
	}
	g := s.c.group(request.Group)
	if g == nil || g.state == Empty {
		refuse(kerr.UnknownMemberID, "the group does not exist or has no member")
		return
	}
	if err, why := g.validateSync(request); err != nil {
		refuse(err, why)
		return
	}
	k := g.member(request.MemberID)
	switch g.state {
	case PreparingRebalance:
		refuse(kerr.RebalanceInProgress, "the group is in state PreparingRebalance: the member must join again")
	case CompletingRebalance:
		k.sync = parked{request: m}
		s.paySync(g, k)
		if g.leader == k.id {
			s.leaderSyncs(g, k, request)
			return
		}
		s.then(journal.SyncGroupParked{Group: g.id, Member: kafka.MemberID(k.id), Generation: g.generation})
	case Stable:
		s.paySync(g, k)
		s.answer(m, g.syncResponse(k))
	}
}

// paySync notes that a member has sent SyncGroup; with the last one the timer ends.
func (s *step) paySync(g *group, m *member) {
	g.synced(m.id)
	if len(g.owesSync) == 0 {
		g.syncEnds = timer{}
	}
}

func (g *group) validateSync(request *kmsg.SyncGroupRequest) (*kerr.Error, string) {
	if err, why := g.validate(request.MemberID, request.InstanceID); err != nil {
		return err, why
	}
	if kafka.GenerationID(request.Generation) != g.generation {
		return kerr.IllegalGeneration, g.otherGeneration(request.Generation)
	}
	differs := func(asked *string, has string) bool { return asked != nil && has != "" && *asked != has }
	if differs(request.ProtocolType, g.protocolType) || differs(request.Protocol, g.protocol) {
		return kerr.InconsistentGroupProtocol, fmt.Sprintf("it names %s %s, the group has %s %s",
			orEmpty(request.ProtocolType), orEmpty(request.Protocol), g.protocolType, g.protocol)
	}
	return nil, ""
}

func (g *group) otherGeneration(asked int32) string {
	return fmt.Sprintf("it names generation %d, the group is in generation %d", asked, g.generation)
}

// leaderSyncs writes the assignment that the leader brought. It holds when that is done.
func (s *step) leaderSyncs(g *group, leader *member, request *kmsg.SyncGroupRequest) {
	brought := &leaderSync{generation: g.generation, leader: leader.id, assignments: map[string][]byte{}}
	for _, a := range request.GroupAssignment {
		brought.assignments[a.MemberID] = a.MemberAssignment
	}
	event := journal.SyncGroupParked{Group: g.id, Member: kafka.MemberID(leader.id), Generation: g.generation, Leader: true}
	for _, m := range g.members {
		if _, found := brought.assignments[m.id]; !found {
			event.Missing = append(event.Missing, kafka.MemberID(m.id))
		}
	}
	s.then(event)
	if s.c.config.Sabotage == sabotage.LeaderServesAll {
		for _, m := range g.members {
			brought.assignments[m.id] = brought.assignments[leader.id]
		}
	}
	w := s.write([]coordinator.Record{g.record(func(m *member) []byte { return brought.assignments[m.id] }).Encode()}, pendingWrite{about: g.id})
	s.wait(w, deferred{done: leaderSynced, request: leader.sync.request, group: g.id, sync: brought})
}

// assignmentWritten gives the assignment to every member that waits; the group is stable. If the group has gone on
// meanwhile, it does nothing.
func (s *step) assignmentWritten(g *group, brought *leaderSync) {
	if g.state != CompletingRebalance || g.generation != brought.generation {
		return
	}
	told := 0
	for _, m := range g.members {
		m.assignment = brought.assignments[m.id]
		if m.awaitsSync() {
			told++
		}
	}
	s.transition(g, Stable)
	s.then(journal.GroupStable{Group: g.id, Generation: g.generation, Members: len(g.members), Told: told})
	for _, m := range g.members {
		if s.answerSync(m, g.syncResponse(m)) {
			s.extendSession(m)
		}
	}
}

// assignmentFailed refuses everybody who waits for the assignment, and a rebalance starts.
func (s *step) assignmentFailed(g *group, brought *leaderSync, err *kerr.Error, why string) {
	if g.state != CompletingRebalance || g.generation != brought.generation {
		return
	}
	s.withdrawAssignment(g, err, why)
	s.startRebalance(g, fmt.Sprintf("the assignment that %s brought could not be written", brought.leader))
}
