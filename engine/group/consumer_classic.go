package group

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// This file lets members that use the classic protocol take part in a group of the consumer protocol: an application
// can move to the new one a process at a time. Such a member learns by a heartbeat that it has to join again, and what
// the coordinator has it own by SyncGroup; its member epoch is its generation.

// classicJoins handles the JoinGroup of such a member.
//
// Source: GroupMetadataManager.classicGroupJoinToConsumerGroup.
func (s *step) classicJoins(m *simnet.Message, r *kmsg.JoinGroupRequest, g *consumerGroup) {
	refuse := func(err *kerr.Error, why string) {
		s.refuse(m, joinError("", err), refusal{r.Group, r.MemberID, err, why}) // Kafka throws, and the member id is lost
	}
	ch := &groupChange{s: s, g: g, epoch: g.epoch}
	unknown, id := r.MemberID == "", r.MemberID
	if unknown {
		id = s.newUUID()
	}
	if err, why := ch.full(id); err != nil {
		refuse(err, why)
		return
	}
	if !g.supportsClassic(r) {
		refuse(kerr.InconsistentGroupProtocol, "no assignor that it has is one that all members of the group have that use the classic protocol")
		return
	}
	if unknown && r.InstanceID == nil && r.Version >= memberIDRequiredFrom {
		event := s.journal(journal.MemberIDGiven{Group: g.id, Member: kafka.MemberID(id), From: m.From})
		s.answerBy(event, m, joinError(id, kerr.MemberIDRequired))
		return
	}
	instance := orEmpty(r.InstanceID)
	replaced := g.static(instance)
	member, err, why := ch.classicMemberOf(id, instance, unknown)
	if err != nil {
		refuse(err, why)
		return
	}
	subscription, ok := readSubscription(r.Protocols[0].Metadata)
	if !ok {
		refuse(kerr.UnknownServerError, "its subscription cannot be read")
		return
	}
	updated := *member
	updated.updateClassic(m, r, &subscription)
	change, err, why := ch.subscribe(member, &updated)
	if err != nil {
		refuse(err, why)
		return
	}
	changed := change.topics || change.regex
	ch.raiseEpoch(changed)
	owned := s.c.ownedBy(&subscription)
	next := &updated
	down := replaced != nil && s.mayDowngradeTo(g, replaced)
	switch {
	case !down:
		next = ch.reconcile(&updated, changed, &owned)
	case !changed: // the group has no need of another target assignment
		partitions, _ := ch.now().targetOf(updated.id)
		next = ch.reconcileTo(g.assignmentEpoch, partitions, &updated, changed, &owned)
	}
	response := kmsg.NewPtrJoinGroupResponse()
	protocolType := consumerType
	response.Generation, response.MemberID, response.ProtocolType, response.Protocol = int32(next.epoch), next.id, &protocolType, &next.classic.Protocols[0].Name
	if down {
		s.answerAfter(s.downgrade(ch, nil, next, changed), m, response, r.Group)
		return
	}
	s.answerWithTimers(ch.commit(r.Group), m, response, r.Group, classicTimers{next.id, kafka.Millis(r.SessionTimeoutMillis), kafka.Millis(r.RebalanceTimeoutMillis)})
	if change.resolve {
		s.resolvePatterns(r.Group)
	}
}

// classicTimers are those of a member that uses the classic protocol, which begin when its request is answered.
type classicTimers struct {
	member  string
	session kafka.Millis
	sync    kafka.Millis // it has to send SyncGroup within that; 0: it has
}

// answerWithTimers answers once the write is known, or all writes so far, and begins the member's timers then.
//
// Source: GroupMetadataManager.classicGroupJoinToConsumerGroup and classicGroupSyncToConsumerGroup, which do that when
// their records are appended.
func (s *step) answerWithTimers(w *pendingWrite, m *simnet.Message, response kmsg.Response, group string, t classicTimers) {
	if w == nil && len(s.c.writes) > 0 {
		w = &s.c.writes[len(s.c.writes)-1]
	}
	if w == nil {
		s.beginTimers(group, t)
		s.answer(m, response)
		return
	}
	s.wait(w, deferred{done: answerRequest, request: m, response: response, group: group, classic: &t})
}

func (s *step) beginTimers(group string, t classicTimers) {
	timers := s.c.openSlot(group).timersOf(t.member)
	timers.session, timers.sync = s.after(t.session), timer{}
	if t.sync > 0 {
		timers.join, timers.sync = timer{}, s.after(t.sync)
	}
}

// supportsClassic says whether a client of the classic protocol may join: it needs an assignor that all members have
// that use that protocol.
//
// Source: ConsumerGroup.supportsClassicProtocols.
func (g *consumerGroup) supportsClassic(r *kmsg.JoinGroupRequest) bool {
	return r.ProtocolType == consumerType && slices.ContainsFunc(r.Protocols, func(p kmsg.JoinGroupRequestProtocol) bool {
		return !slices.ContainsFunc(g.members, func(k *consumerMember) bool {
			return k.classic != nil && !slices.ContainsFunc(k.classic.Protocols, func(q ClassicProtocol) bool { return q.Name == p.Name })
		})
	})
}

// classicMemberOf finds the member that a JoinGroup is of, or makes one. A static member that comes without a member id
// replaces the one of its instance, whether that has left or not.
func (ch *groupChange) classicMemberOf(id, instance string, unknown bool) (*consumerMember, *kerr.Error, string) {
	if instance == "" {
		if known := ch.g.member(id); known != nil {
			return known, nil, ""
		}
		return newConsumerMember(id), nil, ""
	}
	known := ch.g.static(instance)
	switch {
	case known == nil && unknown:
		return newConsumerMember(id), nil, ""
	case known == nil:
		return nil, kerr.UnknownMemberID, fmt.Sprintf("the group has no member with group.instance.id = %s", instance)
	case unknown:
		return ch.replace(known, id), nil, ""
	case known.id != id:
		return nil, kerr.FencedInstanceID, fmt.Sprintf("group.instance.id = %s belongs to the member id %s now", instance, known.id)
	}
	return known, nil, ""
}

// readSubscription reads the consumer's bytes of a JoinGroup.
func readSubscription(metadata []byte) (subscription kmsg.ConsumerMemberMetadata, ok bool) {
	err := subscription.ReadFrom(metadata)
	return subscription, err == nil
}

// updateClassic takes over what a JoinGroup says.
func (k *consumerMember) updateClassic(m *simnet.Message, r *kmsg.JoinGroupRequest, subscription *kmsg.ConsumerMemberMetadata) {
	if r.InstanceID != nil {
		k.instance = *r.InstanceID
	}
	if rack := orEmpty(subscription.Rack); rack != "" {
		k.rack = rack
	}
	if r.RebalanceTimeoutMillis != -1 {
		k.rebalanceTimeout = kafka.Millis(r.RebalanceTimeoutMillis)
	}
	k.topics = slices.Clone(subscription.Topics)
	slices.Sort(k.topics)
	k.topics = slices.Compact(k.topics)
	k.regex, k.client, k.host = "", string(m.From), hostOf(m)
	k.classic = &ClassicMemberRecord{SessionTimeout: kafka.Millis(r.SessionTimeoutMillis)}
	for _, p := range r.Protocols {
		k.classic.Protocols = append(k.classic.Protocols, ClassicProtocol{p.Name, p.Metadata})
	}
}

// ownedBy gives the partitions that a subscription says its member owns.
func (c *Coordinator) ownedBy(subscription *kmsg.ConsumerMemberMetadata) (o ownership) {
	for _, t := range subscription.OwnedPartitions {
		if known, ok := c.image.Topic(t.Topic); ok {
			o.add(known.ID, t.Partitions)
		}
	}
	return o.sorted()
}

// classicMember finds the member that a SyncGroup or Heartbeat is of.
//
// Source: GroupMetadataManager.validateConsumerGroupMember.
func (g *consumerGroup) classicMember(id string, instance *string, generation int32) (*consumerMember, *kerr.Error, string) {
	k := g.member(id)
	if instance != nil {
		k = g.static(*instance)
	}
	switch {
	case k == nil && instance != nil:
		return nil, kerr.UnknownMemberID, fmt.Sprintf("the group has no member with group.instance.id = %s", *instance)
	case k == nil:
		return nil, kerr.UnknownMemberID, "the group has no such member"
	case k.id != id:
		return nil, kerr.FencedInstanceID, fmt.Sprintf("group.instance.id = %s belongs to the member id %s now", *instance, k.id)
	case k.classic == nil:
		return nil, kerr.UnknownMemberID, "the member uses the consumer protocol"
	case int32(k.epoch) != generation:
		return nil, kerr.IllegalGeneration, fmt.Sprintf("it names generation %d, its member epoch is %d", generation, k.epoch)
	}
	return k, nil, ""
}

// classicSyncs tells a member what it owns.
//
// Source: GroupMetadataManager.classicGroupSyncToConsumerGroup.
func (s *step) classicSyncs(m *simnet.Message, r *kmsg.SyncGroupRequest, g *consumerGroup) {
	refuse := func(err *kerr.Error, why string) {
		s.refuse(m, syncError(err), refusal{r.Group, r.MemberID, err, why})
	}
	if len(g.members) == 0 {
		refuse(kerr.UnknownMemberID, "the group has no member")
		return
	}
	k, err, why := g.classicMember(r.MemberID, r.InstanceID, r.Generation)
	if err != nil {
		refuse(err, why)
		return
	}
	switch {
	case r.ProtocolType != nil && *r.ProtocolType != consumerType || r.Protocol != nil && *r.Protocol != k.classic.Protocols[0].Name:
		refuse(kerr.InconsistentGroupProtocol, fmt.Sprintf("it names %s %s, and was told %s %s", orEmpty(r.ProtocolType), orEmpty(r.Protocol), consumerType, k.classic.Protocols[0].Name))
		return
	case g.epoch > kafka.GroupEpoch(k.epoch) && k.state != UnrevokedPartitions:
		s.mustJoin(s.c.openSlot(g.id).timersOf(k.id), k)
		refuse(kerr.RebalanceInProgress, fmt.Sprintf("the group epoch is %d, its member epoch %d: it must join again", g.epoch, k.epoch))
		return
	}
	response := kmsg.NewPtrSyncGroupResponse()
	response.ProtocolType, response.Protocol = r.ProtocolType, r.Protocol
	response.MemberAssignment = s.c.classicAssignment(k.assigned, k.classic.Protocols[0].Metadata)
	s.answerWithTimers(nil, m, response, g.id, classicTimers{member: k.id, session: k.classic.SessionTimeout})
}

// mustJoin begins the time in which a member that uses the classic protocol has to join again.
func (s *step) mustJoin(t *memberTimers, k *consumerMember) {
	if !t.join.set {
		t.join = s.after(k.rebalanceTimeout)
	}
}

// classicAssignment gives partitions as a consumer of the classic protocol is told of them, in the version of its
// subscription.
func (c *Coordinator) classicAssignment(o ownership, subscription []byte) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	if known, ok := readSubscription(subscription); ok {
		a.Version = known.Version
	}
	for _, tp := range c.named(o) {
		if n := len(a.Topics); n == 0 || a.Topics[n-1].Topic != tp.Topic {
			a.Topics = append(a.Topics, kmsg.ConsumerMemberAssignmentTopic{Topic: tp.Topic})
		}
		last := &a.Topics[len(a.Topics)-1]
		last.Partitions = append(last.Partitions, int32(tp.Partition))
	}
	return a.AppendTo(nil)
}

// classicBeats tells a member by its heartbeat whether it has to join again: to come to a new group epoch, because it
// has to give partitions up, or because partitions are free now that it waited for.
//
// Source: GroupMetadataManager.classicGroupHeartbeatToConsumerGroup.
func (s *step) classicBeats(m *simnet.Message, r *kmsg.HeartbeatRequest, g *consumerGroup) {
	k, err, why := g.classicMember(r.MemberID, r.InstanceID, r.Generation)
	if err != nil {
		s.refuse(m, heartbeatResponse(err.Code), refusal{r.Group, r.MemberID, err, why})
		return
	}
	t := s.c.openSlot(g.id).timersOf(k.id)
	t.session = s.after(k.classic.SessionTimeout)
	switch {
	case kafka.GroupEpoch(k.epoch) < g.epoch:
		why = fmt.Sprintf("the group epoch is %d, its member epoch %d", g.epoch, k.epoch)
	case k.state == UnrevokedPartitions:
		why = "it has to give partitions up"
	case k.state == UnreleasedPartitions && !g.waits(k):
		why = "partitions that it waited for are free"
	}
	response := heartbeatResponse(0)
	if why != "" {
		response = heartbeatResponse(kerr.RebalanceInProgress.Code)
		s.mustJoin(t, k)
		s.then(journal.GroupRequestRefused{
			API: m.API(), Group: g.id, Member: kafka.MemberID(k.id), From: m.From, Error: kerr.RebalanceInProgress.Message, Why: why + ": it must join again",
		})
	}
	s.answerAfter(nil, m, response, g.id)
}

// waits says whether a partition of the member's target assignment is not free yet.
//
// Source: ConsumerGroup.waitingOnUnreleasedPartition.
func (g *consumerGroup) waits(k *consumerMember) bool {
	wanted, _ := g.targetOf(k.id)
	return slices.ContainsFunc(wanted.without(k.assigned), func(p idPartition) bool { return g.owner(p) != nil })
}

// classicLeaves takes members out that a LeaveGroup names, whichever protocol they use.
//
// Source: GroupMetadataManager.classicGroupLeaveToConsumerGroup.
func (s *step) classicLeaves(m *simnet.Message, r *kmsg.LeaveGroupRequest, g *consumerGroup) {
	response := kmsg.NewPtrLeaveGroupResponse()
	var leaving []*consumerMember
	for _, l := range leavingIn(r) {
		answer := kmsg.NewLeaveGroupResponseMember()
		answer.MemberID, answer.InstanceID = l.MemberID, l.InstanceID
		k := g.member(l.MemberID)
		var err *kerr.Error
		if l.InstanceID != nil {
			if k = g.static(*l.InstanceID); k != nil && l.MemberID != "" && k.id != l.MemberID {
				err = kerr.FencedInstanceID
			}
		}
		if k == nil {
			err = kerr.UnknownMemberID
		}
		if err != nil {
			answer.ErrorCode = err.Code
			s.then(journal.GroupRequestRefused{API: m.API(), Group: g.id, Member: kafka.MemberID(l.MemberID), From: m.From, Error: err.Message, Why: "the group has no such member"})
		} else if !slices.Contains(leaving, k) {
			leaving = append(leaving, k)
		}
		response.Members = append(response.Members, answer)
	}
	if r.Version < leaveMembersFrom {
		response.ErrorCode, response.Members = response.Members[0].ErrorCode, nil
	}
	w := s.fenceMembers(g, leaving, fmt.Sprintf("%s sent LeaveGroup for it", m.From))
	s.answerAfter(w, m, response, g.id)
}
