package group

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// heartbeat handles a Heartbeat: it extends the session, and tells a member when it must join again.
//
// Source: GroupMetadataManager.classicGroupHeartbeatToClassicGroup.
func (s *step) heartbeat(m *simnet.Message, request *kmsg.HeartbeatRequest) {
	refuse := func(err *kerr.Error, why string) {
		s.refuse(m, heartbeatResponse(err.Code), refusal{request.Group, request.MemberID, err, why})
	}
	if request.Group == "" {
		refuse(kerr.InvalidGroupID, "the group's id is empty")
		return
	}
	if g := s.c.consumerGroup(request.Group); g != nil {
		s.classicBeats(m, request, g)
		return
	}
	g := s.c.group(request.Group)
	if g == nil {
		refuse(kerr.UnknownMemberID, "there is no such group")
		return
	}
	if err, why := g.validate(request.MemberID, request.InstanceID); err != nil {
		refuse(err, why)
		return
	}
	if kafka.GenerationID(request.Generation) != g.generation {
		refuse(kerr.IllegalGeneration, g.otherGeneration(request.Generation))
		return
	}
	s.extendSession(g.member(request.MemberID))
	response := heartbeatResponse(0)
	if g.state == PreparingRebalance {
		response = heartbeatResponse(kerr.RebalanceInProgress.Code)
		s.then(journal.GroupRequestRefused{
			API: m.API(), Group: g.id, Member: kafka.MemberID(request.MemberID), From: m.From, Error: kerr.RebalanceInProgress.Message,
			Why: "the group is in state PreparingRebalance: the member must join again",
		})
	}
	s.answerAfter(nil, m, response, g.id)
}

func heartbeatResponse(code int16) *kmsg.HeartbeatResponse {
	response := kmsg.NewPtrHeartbeatResponse()
	response.ErrorCode = code
	return response
}

// leaveGroup handles a LeaveGroup: members and pending ids go at once. An administrator may name a static member by
// its instance alone.
//
// Source: GroupMetadataManager.classicGroupLeaveToClassicGroup.
func (s *step) leaveGroup(m *simnet.Message, request *kmsg.LeaveGroupRequest) {
	response := kmsg.NewPtrLeaveGroupResponse()
	if request.Group == "" {
		response.ErrorCode = kerr.InvalidGroupID.Code
		s.refuse(m, response, refusal{request.Group, "", kerr.InvalidGroupID, "the group's id is empty"})
		return
	}
	if g := s.c.consumerGroup(request.Group); g != nil {
		s.classicLeaves(m, request, g)
		return
	}
	g := s.c.group(request.Group)
	left := ""
	for _, l := range leavingIn(request) {
		answer := kmsg.NewLeaveGroupResponseMember()
		answer.MemberID, answer.InstanceID = l.MemberID, l.InstanceID
		err, why := s.leave(g, l, m.From)
		if err != nil {
			answer.ErrorCode = err.Code
			s.then(journal.GroupRequestRefused{API: m.API(), Group: request.Group, Member: kafka.MemberID(l.MemberID), From: m.From, Error: err.Message, Why: why})
		} else {
			if left != "" {
				left += ", "
			}
			left += l.MemberID
			if l.MemberID == "" {
				left += orEmpty(l.InstanceID)
			}
		}
		response.Members = append(response.Members, answer)
	}
	if request.Version < leaveMembersFrom {
		response.ErrorCode, response.Members = response.Members[0].ErrorCode, nil
	}
	if g == nil {
		s.answer(m, response)
		return
	}
	var w *pendingWrite
	if left != "" {
		switch g.state {
		case Stable, CompletingRebalance:
			w = s.rebalanceOrComplete(g, left+" left")
		case PreparingRebalance:
			w = s.maybeCompleteJoin(g)
		}
	}
	s.answerAfter(w, m, response, g.id)
}

// leaveMembersFrom is the version of LeaveGroup from which on it can name several members.
const leaveMembersFrom = 3

// leavingIn gives the members that a LeaveGroup names.
func leavingIn(r *kmsg.LeaveGroupRequest) []kmsg.LeaveGroupRequestMember {
	if r.Version < leaveMembersFrom {
		return []kmsg.LeaveGroupRequestMember{{MemberID: r.MemberID}}
	}
	return r.Members
}

// leave takes one member out that a LeaveGroup names.
func (s *step) leave(g *group, l kmsg.LeaveGroupRequestMember, from kafka.NodeID) (*kerr.Error, string) {
	if g == nil {
		return kerr.UnknownMemberID, "there is no such group"
	}
	why := fmt.Sprintf("%s sent LeaveGroup for it", from)
	if l.Reason != nil && *l.Reason != "" {
		why += fmt.Sprintf(" (%s)", *l.Reason)
	}
	switch {
	case l.MemberID == "":
		k := g.static(orEmpty(l.InstanceID))
		if k == nil {
			return kerr.UnknownMemberID, fmt.Sprintf("the group has no member with group.instance.id = %s", orEmpty(l.InstanceID))
		}
		s.removeMember(g, k, why)
	case g.isPending(l.MemberID):
		g.remove(l.MemberID)
		s.then(journal.MemberRemoved{Group: g.id, Member: kafka.MemberID(l.MemberID), Pending: true, Why: why, Members: len(g.members)})
	default:
		if err, why := g.validate(l.MemberID, l.InstanceID); err != nil {
			return err, why
		}
		s.removeMember(g, g.member(l.MemberID), why)
	}
	return nil, ""
}
