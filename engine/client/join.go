package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/assignor"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// joinGrace is what a client waits for the answer to JoinGroup beyond the rebalance timeout.
//
// Source: AbstractCoordinator.JOIN_GROUP_TIMEOUT_LAPSE.
const joinGrace kafka.Millis = 5000

// coordinate does the member's part of poll: it takes an assignment over, and joins where it has to.
//
// Source: ConsumerCoordinator.poll, AbstractCoordinator.joinGroupIfNeeded.
func (c *Consumer) coordinate(s *step) {
	m := c.member
	switch {
	case c.selfAssigned():
		return
	case c.reconciles():
		c.attend(s)
		return
	}
	m.polled = s.now
	if m.failed != 0 {
		c.fail(s, "Heartbeat", m.failed, m.failedBy)
		return
	}
	if m.given != nil {
		c.takeOver(s)
	}
	c.noticeTopics()
	c.refresh(s)
	if due, ok := c.joinDue(); !ok || due > s.now {
		return
	}
	if !m.prepared && !c.prepareJoin(s) {
		return
	}
	c.sendJoin(s)
}

// joinDue is when the member joins; ok is false while it has not to or something must come first.
func (c *Consumer) joinDue() (due kafka.Millis, ok bool) {
	m := c.member
	if m.rejoin == "" || m.fresh == isAsked || m.joining != 0 || m.given != nil || m.roster != nil || m.sync != nil || m.coordinator == "" || !m.app.inPoll() {
		return 0, false
	}
	return max(m.joinAt, c.connections.openAt(m.coordinator)), true
}

// noticeTopics makes a leader join again when a topic that its group reads has another number of partitions than it
// has assigned, and any member when its pattern matches other topics than those that it has joined for.
//
// Source: ConsumerCoordinator.rejoinNeededOrPending.
func (c *Consumer) noticeTopics() {
	m := c.member
	if m.state != stable || m.rejoin != "" {
		return
	}
	if g := &c.config.Group; g.Pattern != "" {
		if topics := c.metadata.matched(); !slices.Equal(topics, m.joinedFor) {
			m.rejoin, c.last = fmt.Sprintf("its pattern %s matches [%s], and it has joined for [%s]", g.Pattern, strings.Join(topics, " "), strings.Join(m.joinedFor, " ")), c.learned
			return
		}
	}
	if !m.leader {
		return
	}
	for _, t := range m.counted {
		if known := c.metadata.topic(t.topic); known != nil && len(known.leaders) != t.count {
			m.rejoin, c.last = fmt.Sprintf("it leads the group and %s has %d partitions, of which it has assigned %d", t.topic, len(known.leaders), t.count), c.learned
			return
		}
	}
}

// refresh asks for metadata before a member with a pattern joins, unless that is young: a topic that is new makes one
// rebalance then, not one for each member that learns of it.
//
// Source: ConsumerCoordinator.poll.
func (c *Consumer) refresh(s *step) {
	m := c.member
	if due, ok := c.joinDue(); c.config.Group.Pattern == "" || m.fresh != notAsked || !ok || due > s.now {
		return
	}
	m.fresh = isFresh
	if !c.metadata.known || c.metadata.waiting || c.metadata.wanted || s.now >= c.metadata.refreshed+retryBackoff {
		c.metadata.request()
		m.fresh = isAsked
	}
}

// prepareJoin gives up what the member must before it joins; false: a commit has to be answered first.
//
// Source: ConsumerCoordinator.onJoinPrepare.
func (c *Consumer) prepareJoin(s *step) (done bool) {
	m := c.member
	owned := c.owned()
	if m.generation < 0 {
		if len(owned) > 0 {
			c.forget(owned)
			c.last = s.j.Append(c.node, c.last, journal.PartitionsLost{Group: c.config.Group.ID, Partitions: owned})
		}
		m.prepared = true
		return true
	}
	if !m.preparing {
		m.preparing = true
		if c.commitBeforeRevocation(s, owned); m.sync != nil || c.dead {
			return false
		}
	}
	if !c.cooperative() && len(owned) > 0 {
		dropped := c.forget(owned)
		c.last = s.j.Append(c.node, c.last, journal.PartitionsRevoked{Group: c.config.Group.ID, Partitions: owned, Unprocessed: dropped})
	}
	m.prepared = true
	return true
}

// commitBeforeRevocation commits what is the member's own still: the positions if the client commits by itself, what
// is processed if the application does so in onPartitionsRevoked.
func (c *Consumer) commitBeforeRevocation(s *step, leaving []kafka.TopicPartition) {
	switch g := &c.config.Group; {
	case len(leaving) == 0:
	case g.AutoCommit:
		c.startSync(s, c.positions(), "enable.auto.commit, before partitions are given up", appPolling)
	case g.App.CommitOnRevoke:
		c.startSync(s, c.committable(leaving), "commitSync in onPartitionsRevoked", appPolling)
	}
}

// sendJoin sends JoinGroup.
//
// Source: AbstractCoordinator.sendJoinGroupRequest, ConsumerCoordinator.metadata.
func (c *Consumer) sendJoin(s *step) {
	m, g := c.member, &c.config.Group
	request := kmsg.NewPtrJoinGroupRequest()
	request.Version, request.Group, request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = joinGroupVersion, g.ID, int32(g.SessionTimeout), int32(g.MaxPollInterval)
	request.MemberID, request.InstanceID, request.ProtocolType, request.Reason = string(m.id), c.instance(), "consumer", &m.rejoin
	m.joinedFor = c.subscribed()
	for _, name := range g.Assignors {
		protocol := kmsg.NewJoinGroupRequestProtocol()
		protocol.Name, protocol.Metadata = name, c.subscription(name)
		request.Protocols = append(request.Protocols, protocol)
	}
	seq := s.j.Append(c.node, c.last, journal.JoinSent{Group: g.ID, Why: m.rejoin, Member: m.id, Generation: m.generation, Assignors: g.Assignors, Owned: c.owned()})
	c.last = seq
	send := c.connections.sendWithin(s.now, m.coordinator, request, seq, max(c.config.RequestTimeout, g.MaxPollInterval+joinGrace))
	m.joining, m.state, m.fresh = c.post(s, send), preparing, notAsked
}

// subscription encodes what the member tells the group's leader under an assignor.
//
// Source: ConsumerProtocol, StickyAssignor.subscriptionUserData, CooperativeStickyAssignor.subscriptionUserData.
func (c *Consumer) subscription(assignor string) []byte {
	m := c.member
	data := kmsg.NewConsumerMemberMetadata()
	data.Version, data.Topics, data.Generation = 3, c.subscribed(), int32(m.generation)
	for topic, list := range partitionsByTopic(c.owned()) {
		owned := kmsg.NewConsumerMemberMetadataOwnedPartition()
		owned.Topic, owned.Partitions = topic, list
		data.OwnedPartitions = append(data.OwnedPartitions, owned)
	}
	switch assignor {
	case "sticky":
		sticky := kmsg.NewStickyMemberMetadata()
		sticky.Generation = int32(m.keptIn)
		for topic, list := range partitionsByTopic(m.kept) {
			had := kmsg.NewStickyMemberMetadataCurrentAssignment()
			had.Topic, had.Partitions = topic, list
			sticky.CurrentAssignment = append(sticky.CurrentAssignment, had)
		}
		data.UserData = sticky.AppendTo(nil)
	case "cooperative-sticky":
		data.UserData = []byte{byte(m.keptIn >> 24), byte(m.keptIn >> 16), byte(m.keptIn >> 8), byte(m.keptIn)}
	}
	return data.AppendTo(nil)
}

// takeJoined takes the answer to JoinGroup.
//
// Source: AbstractCoordinator.JoinGroupResponseHandler.
func (c *Consumer) takeJoined(s *step, response *kmsg.JoinGroupResponse, correlation int32, cause uint64) {
	m := c.member
	if correlation != m.joining {
		return
	}
	m.joining = 0
	lost, keepID := isLost(response.ErrorCode)
	switch code := response.ErrorCode; {
	case code == 0:
		m.id, m.generation, m.state, m.heard, m.beatAt = kafka.MemberID(response.MemberID), kafka.GenerationID(response.Generation), completing, s.now, s.now+c.config.Group.HeartbeatInterval
		m.assignor, m.leader = *response.Protocol, response.LeaderID == response.MemberID
		switch {
		case m.leader && response.SkipAssignment:
			m.counted = c.counts()
			c.sendSync(s, nil, cause)
		case m.leader:
			c.lead(s, response, cause)
		default:
			c.sendSync(s, nil, cause)
		}
	case code == kerr.MemberIDRequired.Code:
		m.id, m.joinAt, m.rejoin = kafka.MemberID(response.MemberID), s.now, "the coordinator has given it the member id "+response.MemberID
	case coordinatorGone(code):
		m.joinFailed(s.now, m.rejoin)
		c.loseCoordinator(s, "JoinGroup was answered with "+errorName(code), cause)
	case code == kerr.CoordinatorLoadInProgress.Code:
		m.joinFailed(s.now, "JoinGroup was answered with "+errorName(code))
	case code == kerr.RebalanceInProgress.Code:
		m.rejoin, m.joinAt = "JoinGroup was answered with REBALANCE_IN_PROGRESS", s.now
	case lost:
		c.loseMembership(s, "JoinGroup", code, keepID, cause)
	default:
		c.fail(s, "JoinGroup", code, cause)
	}
}

// lead makes the assignment of a generation. Of topics that the leader does not know yet it asks a broker first.
//
// Source: ConsumerCoordinator.onLeaderElected.
func (c *Consumer) lead(s *step, response *kmsg.JoinGroupResponse, cause uint64) {
	m := c.member
	var topics []string
	m.roster = []assignor.Member{}
	for _, joined := range response.Members {
		one, err := memberOf(joined, m.assignor)
		if err != nil {
			panic("consumer " + string(c.node) + ": " + err.Error()) // no client here writes such a subscription
		}
		m.roster = append(m.roster, one)
		topics = append(topics, one.Topics...)
	}
	slices.Sort(topics)
	if !c.metadata.want(slices.Compact(topics)) {
		c.divide(s, cause)
	}
}

// counts gives how many partitions each topic has that the leader watches. A static leader that comes back while the
// group is stable makes no assignment and counts from then on: of partitions that were added while it was gone nobody
// reads anything before the next rebalance (KIP-814).
func (c *Consumer) counts() []topicCount {
	list := make([]topicCount, len(c.metadata.topics))
	for i := range c.metadata.topics {
		list[i] = topicCount{c.metadata.topics[i].name, len(c.metadata.topics[i].leaders)}
	}
	return list
}

// memberOf decodes what a member tells the leader.
func memberOf(joined kmsg.JoinGroupResponseMember, protocol string) (assignor.Member, error) {
	one := assignor.Member{ID: kafka.MemberID(joined.MemberID)}
	if joined.InstanceID != nil {
		one.InstanceID = kafka.GroupInstanceID(*joined.InstanceID)
	}
	var data kmsg.ConsumerMemberMetadata
	if err := data.ReadFrom(joined.ProtocolMetadata); err != nil {
		return one, err
	}
	one.Topics, one.Generation = data.Topics, kafka.GenerationID(data.Generation)
	for _, owned := range data.OwnedPartitions {
		one.Owned = append(one.Owned, assignor.TopicPartitions{Topic: owned.Topic, Partitions: partitionsOf(owned.Partitions)})
	}
	if protocol == "sticky" && len(data.UserData) > 0 {
		var sticky kmsg.StickyMemberMetadata
		if err := sticky.ReadFrom(data.UserData); err != nil {
			return one, err
		}
		one.Owned, one.SubscriptionGeneration = nil, one.Generation
		if one.Generation = kafka.GenerationID(sticky.Generation); one.SubscriptionGeneration == 0 {
			one.SubscriptionGeneration = -1
		}
		for _, had := range sticky.CurrentAssignment {
			one.Owned = append(one.Owned, assignor.TopicPartitions{Topic: had.Topic, Partitions: partitionsOf(had.Partitions)})
		}
	}
	return one, nil
}

// divide works the assignment out and sends it.
func (c *Consumer) divide(s *step, cause uint64) {
	m := c.member
	rule, err := assignor.ClientByName(m.assignor)
	if err != nil {
		panic("consumer " + string(c.node) + ": " + err.Error()) // every member lists it, and the spec was checked
	}
	group := assignor.Group{Members: m.roster}
	m.counted = c.counts()
	for _, t := range m.counted {
		group.Topics = append(group.Topics, assignor.Topic{Name: t.topic, PartitionCount: int32(t.count)})
	}
	assigned := rule.Assign(group)
	event := journal.AssignmentComputed{Group: c.config.Group.ID, Generation: m.generation, Assignor: rule.Name}
	var shares []kmsg.SyncGroupRequestGroupAssignment
	for _, one := range assigned.Members {
		data := kmsg.NewConsumerMemberAssignment()
		share := journal.MemberShare{Member: one.Member}
		for _, list := range one.Topics {
			topic := kmsg.NewConsumerMemberAssignmentTopic()
			topic.Topic = list.Topic
			for _, p := range list.Partitions {
				topic.Partitions = append(topic.Partitions, int32(p))
				share.Partitions = append(share.Partitions, kafka.TopicPartition{Topic: list.Topic, Partition: p})
			}
			data.Topics = append(data.Topics, topic)
		}
		sent := kmsg.NewSyncGroupRequestGroupAssignment()
		sent.MemberID, sent.MemberAssignment = string(one.Member), data.AppendTo(nil)
		shares, event.Shares = append(shares, sent), append(event.Shares, share)
	}
	for _, list := range assigned.Withheld {
		for _, p := range list.Partitions {
			event.Withheld = append(event.Withheld, kafka.TopicPartition{Topic: list.Topic, Partition: p})
		}
	}
	m.roster = nil
	c.last = s.j.Append(c.node, cause, event)
	c.sendSync(s, shares, c.last)
}

// sendSync sends SyncGroup, with the assignment if the member leads. If the coordinator was lost while the answer to
// JoinGroup was on its way, it joins again.
func (c *Consumer) sendSync(s *step, shares []kmsg.SyncGroupRequestGroupAssignment, cause uint64) {
	m, g := c.member, &c.config.Group
	if m.coordinator == "" {
		m.joinFailed(s.now, "no coordinator is known to send SyncGroup to")
		return
	}
	protocolType := "consumer"
	request := kmsg.NewPtrSyncGroupRequest()
	request.Version, request.Group, request.Generation, request.MemberID, request.InstanceID = syncGroupVersion, g.ID, int32(m.generation), string(m.id), c.instance()
	request.ProtocolType, request.Protocol, request.GroupAssignment = &protocolType, &m.assignor, shares
	m.joining = c.post(s, c.connections.send(s.now, m.coordinator, request, cause))
}

// takeSynced takes the answer to SyncGroup. The assignment is taken over when the application polls.
//
// Source: AbstractCoordinator.SyncGroupResponseHandler.
func (c *Consumer) takeSynced(s *step, response *kmsg.SyncGroupResponse, correlation int32, cause uint64) {
	m := c.member
	if correlation != m.joining {
		return
	}
	m.joining = 0
	lost, keepID := isLost(response.ErrorCode)
	switch code := response.ErrorCode; {
	case code == 0:
		var data kmsg.ConsumerMemberAssignment
		if len(response.MemberAssignment) > 0 {
			if err := data.ReadFrom(response.MemberAssignment); err != nil {
				panic("consumer " + string(c.node) + ": " + err.Error())
			}
		}
		list := []kafka.TopicPartition{}
		for _, topic := range data.Topics {
			for _, p := range topic.Partitions {
				list = append(list, kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p)})
			}
		}
		slices.SortFunc(list, compareTP)
		m.given, m.state, m.rejoin, m.preparing, m.prepared = &list, stable, "", false, false
		m.kept, m.keptIn = list, m.generation
		c.last = cause
	case coordinatorGone(code):
		m.joinFailed(s.now, "SyncGroup was answered with "+errorName(code))
		c.loseCoordinator(s, "SyncGroup was answered with "+errorName(code), cause)
	case code == kerr.RebalanceInProgress.Code:
		m.rejoin, m.joinAt = "SyncGroup was answered with REBALANCE_IN_PROGRESS", s.now
	case lost:
		c.loseMembership(s, "SyncGroup", code, keepID, cause)
	default:
		c.fail(s, "SyncGroup", code, cause)
	}
}

// takeOver makes what SyncGroup has given the member's own: poll does so. A cooperative member first gives up what
// others get, and then joins once more.
//
// Source: ConsumerCoordinator.onJoinComplete.
func (c *Consumer) takeOver(s *step) {
	m := c.member
	m.lastKnown.member, m.lastKnown.generation = m.id, m.generation
	given, owned := *m.given, c.owned()
	var gone, added []kafka.TopicPartition
	for _, tp := range owned {
		if !slices.Contains(given, tp) {
			gone = append(gone, tp)
		}
	}
	for _, tp := range given {
		if !slices.Contains(owned, tp) {
			added = append(added, tp)
		}
	}
	if len(gone) > 0 && m.revoking == nil {
		m.revoking = gone
		if c.config.Group.App.CommitOnRevoke && !c.config.Group.AutoCommit {
			c.startSync(s, c.committable(gone), "commitSync in onPartitionsRevoked", appPolling)
		}
	}
	if m.sync != nil || c.dead {
		return // the application's callback waits for its commit
	}
	m.revoking, m.given = nil, nil
	if len(gone) > 0 {
		dropped := c.forget(gone)
		c.last = s.j.Append(c.node, c.last, journal.PartitionsRevoked{Group: c.config.Group.ID, Partitions: gone, Cooperative: true, Unprocessed: dropped})
		m.rejoin, m.joinAt = "it has given up partitions that others are to get", s.now
	}
	c.last = s.j.Append(c.node, c.last, journal.PartitionsTaken{Group: c.config.Group.ID, Generation: m.generation, Assignor: m.assignor, Partitions: given, Added: added})
	c.adopt(given)
	m.commitAt = s.now + c.config.Group.AutoCommitInterval
	c.seekToStored(s, added)
}

// seekToStored moves the positions in new partitions to what the sink has stored, which an application does in
// onPartitionsAssigned.
func (c *Consumer) seekToStored(s *step, added []kafka.TopicPartition) {
	for _, tp := range added {
		if at := s.out.sink(c.config.Group.ID).storedOffset(tp); at >= 0 {
			c.seek(s, c.find(tp), at, "the sink has stored this offset with its effects")
		}
	}
}

// adopt makes exactly these partitions the consumer's; those it has already keep their positions.
func (c *Consumer) adopt(given []kafka.TopicPartition) {
	var list []assigned
	for _, tp := range given {
		if had := c.find(tp); had != nil {
			list = append(list, *had)
		} else {
			list = append(list, newAssigned(tp))
			c.order = append(slices.Clone(c.order), tp)
		}
	}
	c.partitions = list
}
