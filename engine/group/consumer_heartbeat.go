package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// memberIDFrom is the version of ConsumerGroupHeartbeat from which on the client makes its member id.
const memberIDFrom = 1

// groupChange gathers what one request changes in a group of the consumer protocol: records, and events that tell of
// them. Nothing is in force before commit.
type groupChange struct {
	s       *step
	g       *consumerGroup // before the request; not nil
	values  []Value
	events  []journal.Body
	removed []*group // classic groups in whose place it comes
	cause   []string // why the group epoch rises, in words
	epoch   kafka.GroupEpoch
}

// consumerHeartbeat handles a ConsumerGroupHeartbeat.
//
// Source: GroupCoordinatorService.consumerGroupHeartbeat, GroupMetadataManager.consumerGroupHeartbeat.
func (s *step) consumerHeartbeat(m *simnet.Message, request *kmsg.ConsumerGroupHeartbeatRequest) {
	err, why := s.c.checkHeartbeat(request)
	if err == nil && request.MemberEpoch < int32(joins) {
		err, why = s.consumerLeaves(m, request)
	} else if err == nil {
		err, why = s.consumerReports(m, request)
	}
	if err != nil {
		s.refuse(m, consumerHeartbeatError(err, why), refusal{request.Group, request.MemberID, err, why})
	}
}

func consumerHeartbeatError(err *kerr.Error, why string) *kmsg.ConsumerGroupHeartbeatResponse {
	response := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	response.ErrorCode, response.ErrorMessage = err.Code, orNull(why)
	return response
}

// checkHeartbeat refuses a request that could not be right whatever the group is.
//
// Source: GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid.
func (c *Coordinator) checkHeartbeat(r *kmsg.ConsumerGroupHeartbeatRequest) (*kerr.Error, string) {
	epoch := kafka.MemberEpoch(r.MemberEpoch)
	empty := func(text *string) bool { return text != nil && strings.TrimSpace(*text) == "" }
	switch {
	case (r.Version >= memberIDFrom || epoch > joins || epoch == leaves) && strings.TrimSpace(r.MemberID) == "":
		return kerr.InvalidRequest, "the member id is empty"
	case strings.TrimSpace(r.Group) == "":
		return kerr.InvalidRequest, "the group's id is empty"
	case empty(r.InstanceID):
		return kerr.InvalidRequest, "group.instance.id is empty"
	case empty(r.RackID):
		return kerr.InvalidRequest, "client.rack is empty"
	case epoch == joins && r.RebalanceTimeoutMillis == -1:
		return kerr.InvalidRequest, "it joins without a rebalance timeout"
	case epoch == joins && (r.Topics == nil || len(r.Topics) > 0):
		return kerr.InvalidRequest, "it joins and does not say that it owns nothing"
	case epoch == joins && r.SubscribedTopicNames == nil && r.SubscribedTopicRegex == nil:
		return kerr.InvalidRequest, "it joins and subscribes neither to topics nor to a pattern"
	case epoch == leavesToReturn && r.InstanceID == nil:
		return kerr.InvalidRequest, "only a static member leaves to come back"
	case epoch < leavesToReturn:
		return kerr.InvalidRequest, fmt.Sprintf("no member epoch is %d", epoch)
	case r.ServerAssignor != nil && !slices.Contains(c.config.Assignors, *r.ServerAssignor):
		return kerr.UnsupportedAssignor, fmt.Sprintf("group.remote.assignor = %s is none of group.consumer.assignors = %s", *r.ServerAssignor, strings.Join(c.config.Assignors, ","))
	}
	return nil, ""
}

// ownedIn gives the partitions that a heartbeat says its member owns; nil: it says nothing of that.
func ownedIn(r *kmsg.ConsumerGroupHeartbeatRequest) *ownership {
	if r.Topics == nil {
		return nil
	}
	var o ownership
	for _, t := range r.Topics {
		o.add(t.TopicID, t.Partitions)
	}
	o = o.sorted()
	return &o
}

// consumerReports handles the heartbeat of a member that joins or is one: the member is made or updated, the target
// assignment made anew if the group epoch has risen, and the member brought nearer to it.
func (s *step) consumerReports(m *simnet.Message, r *kmsg.ConsumerGroupHeartbeatRequest) (*kerr.Error, string) {
	ch, err, why := s.openConsumerGroup(r.Group, kafka.MemberEpoch(r.MemberEpoch) == joins)
	if err != nil {
		return err, why
	}
	id := r.MemberID
	if id == "" {
		id = s.newUUID()
	}
	if err, why := ch.full(id); err != nil {
		return err, why
	}
	owned := ownedIn(r)
	member, err, why := ch.memberOf(id, orEmpty(r.InstanceID), kafka.MemberEpoch(r.MemberEpoch), owned)
	if err != nil {
		return err, why
	}
	updated := *member
	updated.update(m, r)
	change, err, why := ch.subscribe(member, &updated)
	if err != nil {
		return err, why
	}
	ch.raiseEpoch(ch.g.epoch == 0 || change.topics || change.resolved)
	next := ch.reconcile(&updated, change.topics || change.regex, owned)
	sl := s.c.openSlot(r.Group)
	ch.setRevokeTimer(sl, &updated, next)
	sl.timersOf(next.id).session = s.after(s.c.config.ConsumerSessionTimeout)

	response := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	response.MemberID, response.MemberEpoch, response.HeartbeatIntervalMillis = &next.id, int32(next.epoch), int32(s.c.config.ConsumerHeartbeatInterval)
	full := r.RebalanceTimeoutMillis != -1 && (r.SubscribedTopicNames != nil || r.SubscribedTopicRegex != nil) && r.Topics != nil
	if kafka.MemberEpoch(r.MemberEpoch) == joins || full || !slices.Equal(member.assigned, next.assigned) {
		response.Assignment = consumerAssignment(next.assigned)
	}
	w := ch.commit(r.Group)
	s.answerAfter(w, m, response, r.Group)
	if change.resolve {
		s.resolvePatterns(r.Group)
	}
	return nil, ""
}

// update takes over what a heartbeat says; null means that it is as before.
func (k *consumerMember) update(m *simnet.Message, r *kmsg.ConsumerGroupHeartbeatRequest) {
	if r.InstanceID != nil {
		k.instance = *r.InstanceID
	}
	if r.RackID != nil {
		k.rack = *r.RackID
	}
	if r.RebalanceTimeoutMillis != -1 {
		k.rebalanceTimeout = kafka.Millis(r.RebalanceTimeoutMillis)
	}
	if r.ServerAssignor != nil {
		k.assignor = *r.ServerAssignor
	}
	if r.SubscribedTopicNames != nil {
		k.topics = slices.Clone(r.SubscribedTopicNames)
		slices.Sort(k.topics)
		k.topics = slices.Compact(k.topics)
	}
	if r.SubscribedTopicRegex != nil {
		k.regex = *r.SubscribedTopicRegex
	}
	k.client, k.host, k.classic = string(m.From), hostOf(m), nil
}

func consumerAssignment(o ownership) *kmsg.ConsumerGroupHeartbeatResponseAssignment {
	a := kmsg.NewConsumerGroupHeartbeatResponseAssignment()
	a.Topics = []kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{}
	o.byTopic(func(topic [16]byte, partitions []int32) {
		t := kmsg.NewConsumerGroupHeartbeatResponseAssignmentTopic()
		t.TopicID, t.Partitions = topic, partitions
		a.Topics = append(a.Topics, t)
	})
	return &a
}

// openConsumerGroup begins a change of a group of the consumer protocol. Where create says so it makes one: out of
// nothing, in the place of an empty classic group, or out of a classic group with members.
//
// Source: GroupMetadataManager.getOrMaybeCreateConsumerGroup.
func (s *step) openConsumerGroup(id string, create bool) (*groupChange, *kerr.Error, string) {
	ch := &groupChange{s: s}
	classic := s.c.group(id)
	switch g := s.c.consumerGroup(id); {
	case g != nil:
		ch.g = g
	case !create && classic != nil:
		return nil, kerr.GroupIDNotFound, "the group uses the classic protocol"
	case !create:
		return nil, kerr.GroupIDNotFound, "there is no such group"
	case classic == nil:
		ch.g = &consumerGroup{id: id}
	case classic.state == Empty:
		ch.g = &consumerGroup{id: id}
		ch.values = append(ch.values, Tombstone{Key{Type: TypeGroupMetadata, Group: id}})
		ch.removed = append(ch.removed, classic)
		ch.events = append(ch.events, journal.GroupConverted{Group: id, To: string(Consumer), Why: "it was an empty classic group, and a member of the consumer protocol joins"})
	default:
		if err, why := s.upgrade(ch, classic); err != nil {
			return nil, err, why
		}
	}
	ch.epoch = ch.g.epoch
	return ch, nil, ""
}

// full refuses a new member of a group that has as many as it may.
//
// Source: GroupMetadataManager.throwIfConsumerGroupIsFull.
func (ch *groupChange) full(id string) (*kerr.Error, string) {
	if most := ch.s.c.config.ConsumerMaxSize; len(ch.g.members) >= most && ch.g.member(id) == nil {
		return kerr.GroupMaxSizeReached, fmt.Sprintf("the group has %s, and group.consumer.max.size = %s", kafka.Count(len(ch.g.members), "member"), kafka.Thousands(most))
	}
	return nil, ""
}

// memberOf finds the member that a heartbeat is of, or makes one for it if it joins. A static member that had left to
// come back is replaced by the one that comes.
//
// Source: GroupMetadataManager.getOrMaybeSubscribeDynamicConsumerGroupMember and
// getOrMaybeSubscribeStaticConsumerGroupMember.
func (ch *groupChange) memberOf(id, instance string, epoch kafka.MemberEpoch, owned *ownership) (*consumerMember, *kerr.Error, string) {
	known := ch.g.member(id)
	if instance != "" {
		known = ch.g.static(instance)
	}
	switch {
	case known == nil && epoch == joins && ch.g.member(id) != nil:
		return ch.g.member(id), nil, ""
	case known == nil && epoch == joins:
		return newConsumerMember(id), nil, ""
	case known == nil && instance != "":
		return nil, kerr.UnknownMemberID, fmt.Sprintf("the group has no member with group.instance.id = %s", instance)
	case known == nil:
		return nil, kerr.UnknownMemberID, fmt.Sprintf("the group has no such member; it is in state %s", ch.g.state())
	case instance != "" && epoch == joins:
		if known.classic == nil && known.epoch != leavesToReturn {
			return nil, kerr.UnreleasedInstanceID, fmt.Sprintf("group.instance.id = %s belongs to the member %s, which has not left", instance, known.id)
		}
		return ch.replace(known, id), nil, ""
	case instance != "" && known.id != id:
		return nil, kerr.FencedInstanceID, fmt.Sprintf("group.instance.id = %s belongs to the member id %s now", instance, known.id)
	}
	err, why := known.checkEpoch(epoch, owned)
	return known, err, why
}

// checkEpoch fences a member that is not where the coordinator has it. One that comes with the epoch before, and owns
// nothing that is not its own, has lost the answer with the new one.
//
// Source: GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid.
func (k *consumerMember) checkEpoch(epoch kafka.MemberEpoch, owned *ownership) (*kerr.Error, string) {
	switch {
	case epoch == joins || epoch == k.epoch:
		return nil, ""
	case epoch > k.epoch:
		return kerr.FencedMemberEpoch, fmt.Sprintf("it names member epoch %d, but the coordinator knows it in epoch %d: it must give up all partitions and join again", epoch, k.epoch)
	case epoch == k.previous && owned != nil && owned.within(k.assigned):
		return nil, ""
	}
	return kerr.FencedMemberEpoch, fmt.Sprintf("it names member epoch %d, but it is in epoch %d now: it must give up all partitions and join again", epoch, k.epoch)
}

// replace gives a static member another id: it comes with its target assignment and what it owned.
//
// Source: GroupMetadataManager.replaceMember.
func (ch *groupChange) replace(old *consumerMember, id string) *consumerMember {
	k := *old
	k.id, k.epoch, k.previous = id, 0, 0
	partitions, _ := ch.g.targetOf(old.id)
	ch.bury(old.id)
	ch.values = append(ch.values, ch.subscriptionOf(&k),
		TargetMemberRecord{ch.g.id, kafka.MemberID(id), assignedTopics(partitions)}, ch.currentOf(&k))
	ch.events = append(ch.events, journal.StaticMemberReturned{
		Group: ch.g.id, Instance: kafka.GroupInstanceID(old.instance), Old: kafka.MemberID(old.id), Member: kafka.MemberID(id), Keeps: ch.s.c.named(k.assigned), Epoch: ch.g.epoch,
	})
	return &k
}

// bury adds the tombstones of a member.
func (ch *groupChange) bury(id string) {
	for _, kind := range [...]int16{TypeCurrentMemberAssignment, TypeTargetAssignmentMember, TypeConsumerGroupMemberMetadata} {
		ch.values = append(ch.values, Tombstone{Key{Type: kind, Group: ch.g.id, Member: kafka.MemberID(id)}})
	}
}

func (ch *groupChange) subscriptionOf(k *consumerMember) ConsumerMemberRecord {
	return ConsumerMemberRecord{
		Group: ch.g.id, Member: kafka.MemberID(k.id), InstanceID: kafka.GroupInstanceID(k.instance), Rack: k.rack, ClientID: k.client, ClientHost: k.host, Topics: k.topics,
		Regex: k.regex, RebalanceTimeout: k.rebalanceTimeout, ServerAssignor: k.assignor, Classic: k.classic,
	}
}

func (ch *groupChange) currentOf(k *consumerMember) CurrentAssignmentRecord {
	return CurrentAssignmentRecord{
		Group: ch.g.id, Member: kafka.MemberID(k.id), Epoch: k.epoch, PreviousEpoch: k.previous, State: k.state, Assigned: assignedTopics(k.assigned), Revoking: assignedTopics(k.revoking),
	}
}

// now gives the group with what the change has recorded so far.
func (ch *groupChange) now() *consumerGroup { return ch.g.replayAll(ch.values) }

// commit puts the change into force and wants it written; nil: there was nothing to write.
func (ch *groupChange) commit(id string) *pendingWrite {
	for _, event := range ch.events {
		ch.s.then(event)
	}
	for _, g := range ch.removed {
		ch.s.c.drop(g.id)
	}
	if len(ch.values) == 0 {
		return nil
	}
	return ch.s.writeValues(id, ch.values, pendingWrite{removed: ch.removed})
}
