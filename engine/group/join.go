package group

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// newMemberJoinTimeout is how long a new member's JoinGroup waits at most.
//
// Source: GroupCoordinatorConfig.CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS, which no setting changes.
const newMemberJoinTimeout kafka.Millis = 300_000

// The versions of JoinGroup from which on a client can do with MEMBER_ID_REQUIRED, and with an answer that tells a
// leader to divide nothing.
const (
	memberIDRequiredFrom = 4
	skipAssignmentFrom   = 9
)

func joinError(memberID string, err *kerr.Error) *kmsg.JoinGroupResponse {
	response := kmsg.NewPtrJoinGroupResponse()
	response.Generation, response.MemberID = -1, memberID
	if err != nil {
		response.ErrorCode = err.Code
	}
	return response
}

func (s *step) refuseJoin(m *simnet.Message, request *kmsg.JoinGroupRequest, memberID string, err *kerr.Error, format string, args ...any) {
	s.refuse(m, joinError(memberID, err), refusal{request.Group, request.MemberID, err, fmt.Sprintf(format, args...)})
}

// joinGroup handles a JoinGroup.
//
// Source: GroupCoordinatorService.joinGroup, GroupMetadataManager.classicGroupJoinToClassicGroup.
func (s *step) joinGroup(m *simnet.Message, request *kmsg.JoinGroupRequest) {
	c := s.c.config
	session := kafka.Millis(request.SessionTimeoutMillis)
	switch {
	case request.Group == "":
		s.refuseJoin(m, request, request.MemberID, kerr.InvalidGroupID, "the group's id is empty")
		return
	case session < c.MinSessionTimeout || session > c.MaxSessionTimeout:
		s.refuseJoin(m, request, request.MemberID, kerr.InvalidSessionTimeout, "session.timeout.ms = %s is not within group.min.session.timeout.ms = %s and group.max.session.timeout.ms = %s",
			kafka.Thousands(session), kafka.Thousands(c.MinSessionTimeout), kafka.Thousands(c.MaxSessionTimeout))
		return
	}
	if g := s.c.consumerGroup(request.Group); g != nil && len(g.members) > 0 {
		s.classicJoins(m, request, g)
		return
	}
	g := s.c.group(request.Group)
	created := g == nil
	var before []Value
	if created {
		if request.MemberID != "" {
			s.refuseJoin(m, request, request.MemberID, kerr.UnknownMemberID, "there is no such group, so its member id is of one that is gone")
			return
		}
		if empty := s.c.consumerGroup(request.Group); empty != nil {
			s.then(journal.GroupConverted{Group: empty.id, To: string(Classic), Why: "it was an empty group of the consumer protocol, and a member of the classic protocol joins"})
			before = empty.tombstones(nil)
		}
		g = s.create(request.Group)
	}
	switch {
	case !s.accepts(g, request.MemberID):
		if known := g.member(request.MemberID); known != nil {
			s.removeMember(g, known, "it joined again, but as many members as group.max.size allows had joined before it")
		}
		g.dropPending(request.MemberID)
		s.refuseJoin(m, request, "", kerr.GroupMaxSizeReached, "the group has %s, and group.max.size = %s", kafka.Count(len(g.members), "member"), kafka.Thousands(c.MaxSize))
	case request.MemberID == "":
		s.joinNew(m, request, g)
	default:
		s.joinKnown(m, request, g)
	}
	if created {
		// The record makes the group known to who only reads, and to the next coordinator.
		w := s.writeValues(g.id, append(before, GroupMetadataRecord{Group: g.id, StateTimestamp: g.since}), pendingWrite{about: g.id, created: []string{g.id}})
		s.wait(w, deferred{done: groupCreated, request: m, group: g.id})
	}
}

// accepts says whether group.max.size leaves room for the member.
//
// Source: GroupMetadataManager.acceptJoiningMember.
func (s *step) accepts(g *group, memberID string) bool {
	m := g.member(memberID)
	switch g.state {
	case PreparingRebalance:
		return m != nil && m.awaitsJoin() || g.joined() < s.c.config.MaxSize
	case CompletingRebalance, Stable:
		return m != nil || len(g.members) < s.c.config.MaxSize
	}
	return true
}

// newMemberID draws an id: the client's, or for a static member the instance's, with a UUID behind.
func (s *step) newMemberID(m *simnet.Message, instance string) string {
	hi, lo := s.uuid()
	name := instance
	if name == "" {
		name = string(m.From)
	}
	return fmt.Sprintf("%s-%08x-%04x-%04x-%04x-%012x", name, hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1))
}

// uuid draws a random one: version 4, variant 2.
func (s *step) uuid() (hi, lo uint64) {
	hi, lo = s.c.rnd.Uint64(), s.c.rnd.Uint64()
	return hi&^0xf000 | 0x4000, lo&^(3<<62) | (2 << 62)
}

// newUUID draws the id of a member as Kafka writes one that it made itself: 22 characters of base64.
//
// Source: Uuid.randomUuid, which never gives one that begins with a dash.
func (s *step) newUUID() string {
	for {
		hi, lo := s.uuid()
		text := base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, hi), lo))
		if text[0] != '-' {
			return text
		}
	}
}

// joinNew handles a JoinGroup without a member id.
func (s *step) joinNew(m *simnet.Message, request *kmsg.JoinGroupRequest, g *group) {
	if !g.supportsProtocols(request.ProtocolType, request.Protocols) {
		s.refuseInconsistent(m, request, g, "")
		return
	}
	instance := orEmpty(request.InstanceID)
	id := s.newMemberID(m, instance)
	switch {
	case instance != "":
		if old := g.static(instance); old != nil {
			s.staticReturns(m, request, g, old, id)
			return
		}
		s.addMember(m, request, g, id)
	case request.Version >= memberIDRequiredFrom:
		session := kafka.Millis(request.SessionTimeoutMillis)
		g.pending = append(g.pending, pendingID{id, string(m.From), s.after(session).due})
		event := s.journal(journal.MemberIDGiven{Group: g.id, Member: kafka.MemberID(id), From: m.From, SessionTimeout: session})
		s.answerBy(event, m, joinError(id, kerr.MemberIDRequired))
	default:
		s.addMember(m, request, g, id)
	}
}

func (s *step) refuseInconsistent(m *simnet.Message, request *kmsg.JoinGroupRequest, g *group, memberID string) {
	names := make([]string, len(request.Protocols))
	for i, p := range request.Protocols {
		names[i] = p.Name
	}
	if g.state == Empty {
		s.refuseJoin(m, request, memberID, kerr.InconsistentGroupProtocol, "the request has protocol type %q and %s; it needs a type and an assignor",
			request.ProtocolType, kafka.Count(len(names), "assignor"))
		return
	}
	s.refuseJoin(m, request, memberID, kerr.InconsistentGroupProtocol, "its protocol type is %q and its assignors are %s; the group's type is %q, and an assignor is needed that every member supports",
		request.ProtocolType, strings.Join(names, ", "), g.protocolType)
}

// joinKnown handles a JoinGroup with a member id.
//
// Source: GroupMetadataManager.classicGroupJoinExistingMember.
func (s *step) joinKnown(m *simnet.Message, request *kmsg.JoinGroupRequest, g *group) {
	if !g.supportsProtocols(request.ProtocolType, request.Protocols) {
		s.refuseInconsistent(m, request, g, request.MemberID)
		return
	}
	if g.isPending(request.MemberID) {
		s.addMember(m, request, g, request.MemberID)
		return
	}
	if err, why := g.validate(request.MemberID, request.InstanceID); err != nil {
		s.refuseJoin(m, request, request.MemberID, err, "%s", why)
		return
	}
	k := g.member(request.MemberID)
	same := k.matches(request.Protocols)
	leads := g.leader == k.id
	switch {
	case g.state == PreparingRebalance:
		s.rejoin(m, request, g, k, "")
	case g.state == CompletingRebalance && same:
		s.answer(m, g.joinResponse(k, false))
	case g.state == CompletingRebalance:
		s.rejoin(m, request, g, k, fmt.Sprintf("%s (%s) joined again %s", k.id, m.From, k.difference(request.Protocols)))
	case g.state == Stable && leads:
		s.rejoin(m, request, g, k, fmt.Sprintf("the leader, %s (%s), joined again, which it does when what it assigned no longer holds", k.id, m.From))
	case g.state == Stable && !same:
		s.rejoin(m, request, g, k, fmt.Sprintf("%s (%s) joined again %s", k.id, m.From, k.difference(request.Protocols)))
	case g.state == Stable:
		s.answer(m, g.joinResponse(k, false))
	default:
		s.refuseJoin(m, request, request.MemberID, kerr.UnknownMemberID, "the group is in state %s", g.state)
	}
}

// difference says in what a JoinGroup differs from the one before, which is what makes a rebalance of it: in the topics,
// or only in the partitions and the generation that it tells the assignors of.
func (m *member) difference(protocols []kmsg.JoinGroupRequestProtocol) string {
	if !slices.EqualFunc(m.protocols, protocols, func(a, b kmsg.JoinGroupRequestProtocol) bool { return a.Name == b.Name }) {
		return "with other assignors"
	}
	for i, p := range protocols {
		before, _ := subscribed(m.protocols[i].Metadata)
		if now, ok := subscribed(p.Metadata); ok && !slices.Equal(before, now) {
			return "and subscribes to other topics"
		}
	}
	return "and tells the assignors other things than before, of the same topics: what it owns or its generation"
}

// validate holds a request's ids against the group's.
//
// Source: ClassicGroup.validateMember.
func (g *group) validate(memberID string, instanceID *string) (*kerr.Error, string) {
	if instanceID != nil {
		known := g.static(*instanceID)
		if known == nil {
			return kerr.UnknownMemberID, fmt.Sprintf("the group has no member with group.instance.id = %s", *instanceID)
		}
		if known.id != memberID {
			return kerr.FencedInstanceID, fmt.Sprintf("group.instance.id = %s belongs to the member id %s now", *instanceID, known.id)
		}
	}
	if g.member(memberID) == nil {
		return kerr.UnknownMemberID, "the group has no such member; it is in state " + string(g.state)
	}
	return nil, ""
}

// joinResponse tells a member of the current generation. The leader is told the members' subscriptions.
func (g *group) joinResponse(m *member, skipAssignment bool) *kmsg.JoinGroupResponse {
	response := kmsg.NewPtrJoinGroupResponse()
	response.Generation, response.MemberID, response.LeaderID = int32(g.generation), m.id, g.leader
	response.Protocol, response.ProtocolType = orNull(g.protocol), orNull(g.protocolType)
	response.SkipAssignment = skipAssignment
	if g.leader == m.id {
		response.Members = g.subscriptions()
	}
	return response
}

func (g *group) subscriptions() []kmsg.JoinGroupResponseMember {
	list := make([]kmsg.JoinGroupResponseMember, len(g.members))
	for i, m := range g.members {
		list[i] = kmsg.JoinGroupResponseMember{MemberID: m.id, InstanceID: orNull(m.instance), ProtocolMetadata: m.subscription(g.protocol)}
	}
	return list
}

// addMember takes a new member in; its JoinGroup waits.
//
// Source: GroupMetadataManager.addMemberThenRebalanceOrCompleteJoin.
func (s *step) addMember(m *simnet.Message, request *kmsg.JoinGroupRequest, g *group, id string) {
	if g.state == PreparingRebalance && g.previous == Empty {
		g.newMemberAdded = true
	}
	k := &member{
		id: id, instance: orEmpty(request.InstanceID), client: string(m.From), host: hostOf(m),
		rebalanceTimeout: kafka.Millis(request.RebalanceTimeoutMillis), sessionTimeout: kafka.Millis(request.SessionTimeoutMillis),
		protocols: request.Protocols, join: parked{request: m}, isNew: true, session: s.after(newMemberJoinTimeout),
	}
	g.add(k, request.ProtocolType)
	s.memberJoined(g, k, m, true)
	s.rebalanceOrComplete(g, fmt.Sprintf("%s (%s) joined", id, m.From))
}

// rejoin lets a member's new JoinGroup wait, in the place of an older one.
//
// Source: GroupMetadataManager.updateMemberThenRebalanceOrCompleteJoin.
func (s *step) rejoin(m *simnet.Message, request *kmsg.JoinGroupRequest, g *group, k *member, why string) {
	k.update(request.Protocols, kafka.Millis(request.RebalanceTimeoutMillis), kafka.Millis(request.SessionTimeoutMillis))
	k.join = parked{request: m}
	s.memberJoined(g, k, m, false)
	s.rebalanceOrComplete(g, why)
}

func (m *member) update(protocols []kmsg.JoinGroupRequestProtocol, rebalanceTimeout, sessionTimeout kafka.Millis) {
	m.protocols, m.rebalanceTimeout, m.sessionTimeout = protocols, rebalanceTimeout, sessionTimeout
}

func (s *step) memberJoined(g *group, k *member, m *simnet.Message, isNew bool) {
	names := make([]string, len(k.protocols))
	for i, p := range k.protocols {
		names[i] = p.Name
	}
	s.then(journal.MemberJoined{
		Group: g.id, Member: kafka.MemberID(k.id), Instance: kafka.GroupInstanceID(k.instance), From: m.From, Protocols: names, New: isNew,
		State: string(g.state), Generation: g.generation, Members: len(g.members), Joined: g.joined(), Pending: len(g.pending),
	})
}

// answerJoin answers a member's JoinGroup, if one waits.
func (s *step) answerJoin(m *member, response *kmsg.JoinGroupResponse) {
	if m.awaitsJoin() && !m.join.answered {
		s.answer(m.join.request, response)
	}
	m.join = parked{}
}

// answerSync answers a member's SyncGroup, if one waits.
func (s *step) answerSync(m *member, response *kmsg.SyncGroupResponse) bool {
	waits := m.awaitsSync()
	if waits && !m.sync.answered {
		s.answer(m.sync.request, response)
	}
	m.sync = parked{}
	return waits
}

// extendSession lets the member's session timeout run anew.
func (s *step) extendSession(m *member) { m.session = s.after(m.sessionTimeout) }

// replaceStatic gives a static member another id in the same place; who waits with the old one is fenced.
//
// Source: ClassicGroup.replaceStaticMember.
func (s *step) replaceStatic(g *group, old *member, newID string) *member {
	s.fence(g, old)
	n := &member{
		id: newID, instance: old.instance, client: old.client, host: old.host, rebalanceTimeout: old.rebalanceTimeout, sessionTimeout: old.sessionTimeout,
		protocols: old.protocols, assignment: old.assignment,
	}
	g.members[slices.Index(g.members, old)] = n
	if g.leader == old.id {
		g.leader = newID
	}
	return n
}

func (s *step) fence(g *group, old *member) {
	why := fmt.Sprintf("another consumer joined with group.instance.id = %s", old.instance)
	r := refusal{g.id, old.id, kerr.FencedInstanceID, why}
	if old.awaitsJoin() && !old.join.answered {
		s.refuse(old.join.request, joinError(old.id, kerr.FencedInstanceID), r)
	}
	if old.awaitsSync() && !old.sync.answered {
		s.refuse(old.sync.request, syncError(kerr.FencedInstanceID), r)
	}
	old.join, old.sync = parked{}, parked{}
}
