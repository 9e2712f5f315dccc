package group

import (
	"fmt"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
	"loglab/engine/simnet"
)

// groupNotFoundFrom is the version of OffsetCommit from which on a group that there is not has an error of its own.
const groupNotFoundFrom = 9

// offsetCommit is an OffsetCommit, or a TxnOffsetCommit in the same form.
type offsetCommit struct {
	*kmsg.OffsetCommitRequest
	transaction *coordinator.Producer // the producer in whose transaction it is; nil: in none
}

// namesNobody says whether it has neither member id nor generation nor instance.
func (q offsetCommit) namesNobody() bool {
	return q.Generation < 0 && q.MemberID == "" && q.InstanceID == nil
}

// answer gives the response in the form that the request has.
func (q offsetCommit) answer(response *kmsg.OffsetCommitResponse) kmsg.Response {
	if q.transaction != nil {
		return asTxnOffsetCommit(response)
	}
	return response
}

// commitOffsets handles an OffsetCommit or a TxnOffsetCommit. The answer waits until the records are written. Topics have
// their names; a topic's id, if the request has one, is kept beside the offset.
//
// Source: OffsetMetadataManager.commitOffset and commitTransactionalOffset.
func (s *step) commitOffsets(m *simnet.Message, request offsetCommit) {
	refuse := func(err *kerr.Error, why string) {
		s.refuse(m, errorResponse(m.Request, err), refusal{request.Group, request.MemberID, err, why})
	}
	if g := s.c.consumerGroup(request.Group); g != nil {
		s.commitToConsumerGroup(m, request, g)
		return
	}
	g := s.c.group(request.Group)
	var created []string
	if g == nil {
		switch {
		case request.Generation >= 0 && request.Version >= groupNotFoundFrom && request.transaction == nil:
			refuse(kerr.GroupIDNotFound, "there is no such group, and only a client that is no member may make one by a commit")
			return
		case request.Generation >= 0:
			refuse(kerr.IllegalGeneration, "there is no such group")
			return
		}
		g = s.create(request.Group)
		created = []string{g.id}
	}
	if err, why := s.validateCommit(g, request); err != nil {
		refuse(err, why)
		return
	}
	if request.transaction == nil && (g.state == Stable || g.state == PreparingRebalance) {
		if k := g.member(request.MemberID); k != nil {
			s.extendSession(k)
		}
	}
	w := pendingWrite{created: created, transaction: request.transaction}
	records, response := s.commitRecords(m, request, g.id, &w)
	if len(records) == 0 {
		g.written = g.written || created != nil
		s.answerAfter(nil, m, response, g.id)
		return
	}
	s.answerAfter(s.write(records, w), m, response, g.id)
}

// commitRecords makes a record for each partition, and the response.
func (s *step) commitRecords(m *simnet.Message, request offsetCommit, group string, w *pendingWrite) (records []coordinator.Record, answer kmsg.Response) {
	response := kmsg.NewPtrOffsetCommitResponse()
	now := s.at()
	expires := kafka.NoTimestamp
	if request.Version >= 2 && request.Version <= 4 && request.RetentionTimeMillis >= 0 {
		expires = now + kafka.Timestamp(request.RetentionTimeMillis)
	}
	for _, topic := range request.Topics {
		answer := kmsg.NewOffsetCommitResponseTopic()
		answer.Topic, answer.TopicID = topic.Topic, topic.TopicID
		for _, p := range topic.Partitions {
			part := kmsg.NewOffsetCommitResponseTopicPartition()
			part.Partition = p.Partition
			tp := kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p.Partition)}
			metadata := orEmpty(p.Metadata)
			if size := len(utf16.Encode([]rune(metadata))); size > s.c.config.MetadataMaxBytes {
				part.ErrorCode = kerr.OffsetMetadataTooLarge.Code
				s.journal(journal.GroupRequestRefused{
					API: m.API(), Group: group, Member: kafka.MemberID(request.MemberID), From: m.From, Error: kerr.OffsetMetadataTooLarge.Message,
					Why: fmt.Sprintf("the metadata beside the offset of %s has %s characters, more than offset.metadata.max.bytes = %s",
						tp, kafka.Thousands(size), kafka.Thousands(s.c.config.MetadataMaxBytes)),
				})
			} else {
				entry := committed{
					tp: tp, offset: kafka.Offset(p.Offset), epoch: max(kafka.LeaderEpoch(p.LeaderEpoch), kafka.NoLeaderEpoch), metadata: metadata,
					at: now, expires: expires, topicID: topic.TopicID,
				}
				w.changes = append(w.changes, change{group, entry, request.MemberID, kafka.GenerationID(request.Generation)})
				records = append(records, entry.record(group))
			}
			answer.Partitions = append(answer.Partitions, part)
		}
		response.Topics = append(response.Topics, answer)
	}
	return records, request.answer(response)
}

// commitToConsumerGroup handles a commit to a group of the consumer protocol. It has to name the member epoch in which
// the member is; it does not extend its session.
//
// Source: ConsumerGroup.validateOffsetCommit.
func (s *step) commitToConsumerGroup(m *simnet.Message, r offsetCommit, g *consumerGroup) {
	err, why := s.validateEpoch(g, r)
	if err != nil {
		s.refuse(m, errorResponse(m.Request, err), refusal{r.Group, r.MemberID, err, why})
		return
	}
	w := pendingWrite{transaction: r.transaction}
	records, response := s.commitRecords(m, r, g.id, &w)
	if len(records) == 0 {
		s.answerAfter(nil, m, response, g.id)
		return
	}
	s.answerAfter(s.write(records, w), m, response, g.id)
}

// validateEpoch says whether a group of the consumer protocol takes a commit. One in a transaction may name nobody, and
// is told of an old epoch by the error of the classic protocol.
func (s *step) validateEpoch(g *consumerGroup, r offsetCommit) (*kerr.Error, string) {
	if r.Generation < 0 && len(g.members) == 0 || s.c.config.Sabotage == sabotage.OldCommitsAccepted {
		return nil, ""
	}
	if r.transaction != nil && r.namesNobody() && r.Generation == -1 {
		return nil, ""
	}
	k := g.member(r.MemberID)
	if k == nil {
		return kerr.UnknownMemberID, "the group has no such member; it is in state " + string(g.state())
	}
	if r.transaction == nil && k.classic == nil && r.Version < groupNotFoundFrom {
		return kerr.UnsupportedVersion, "a member of the consumer protocol commits by version 9 or above"
	}
	err, why := k.sameEpoch(r.Generation)
	if r.transaction != nil && err == kerr.StaleMemberEpoch {
		err = kerr.IllegalGeneration
	}
	return err, why
}

// sameEpoch refuses a request of a member that names another epoch than the one that it is in.
//
// Source: ConsumerGroup.validateMemberEpoch.
func (k *consumerMember) sameEpoch(named int32) (*kerr.Error, string) {
	switch {
	case named == int32(k.epoch):
		return nil, ""
	case k.classic != nil:
		return kerr.IllegalGeneration, fmt.Sprintf("it names generation %d, its member epoch is %d", named, k.epoch)
	}
	return kerr.StaleMemberEpoch, fmt.Sprintf("it names member epoch %d, it is in epoch %d", named, k.epoch)
}

func (c committed) record(group string) coordinator.Record {
	return OffsetCommitRecord{
		Group: group, TopicPartition: c.tp, Offset: c.offset, LeaderEpoch: c.epoch, Metadata: c.metadata,
		CommitTimestamp: c.at, ExpireTimestamp: c.expires, TopicID: c.topicID,
	}.Encode()
}

// validateCommit says whether a group takes a commit. It looks at member and generation, not at who was assigned the
// partition nor whether the offset goes back. One in a transaction may name nobody, and comes in every state.
//
// Source: ClassicGroup.validateOffsetCommit.
func (s *step) validateCommit(g *group, request offsetCommit) (*kerr.Error, string) {
	if request.Generation < 0 && g.state == Empty {
		return nil, ""
	}
	if request.namesNobody() {
		if request.transaction != nil {
			return nil, ""
		}
		return kerr.UnknownMemberID, "it names no member, and the group is in state " + string(g.state) + ": without a member id offsets are committed in an empty group only"
	}
	if s.c.config.Sabotage == sabotage.OldCommitsAccepted {
		return nil, ""
	}
	if err, why := g.validate(request.MemberID, request.InstanceID); err != nil {
		return err, why
	}
	if kafka.GenerationID(request.Generation) != g.generation {
		return kerr.IllegalGeneration, g.otherGeneration(request.Generation)
	}
	if request.transaction == nil && g.state == CompletingRebalance {
		return kerr.RebalanceInProgress, "the group is in state CompletingRebalance: who owns which partition is being decided"
	}
	return nil, ""
}

// fetchOffsets handles an OffsetFetch. With RequireStable it is answered once everything is written that was asked
// for before, and gives that, but no offset of a partition for which a transaction has one that is pending. Else it gives
// what is written now.
//
// Source: GroupCoordinatorService.fetchOffsets, OffsetMetadataManager.fetchOffsets and fetchAllOffsets.
func (s *step) fetchOffsets(m *simnet.Message, request *kmsg.OffsetFetchRequest) {
	response := kmsg.NewPtrOffsetFetchResponse()
	latest := request.RequireStable || s.c.showsEarly()
	for _, asked := range groupsOf(request) {
		answer := kmsg.NewOffsetFetchResponseGroup()
		answer.Group = asked.Group
		if err, why := s.c.validateFetch(asked, latest); err != nil {
			answer.ErrorCode = err.Code
			s.journal(journal.GroupRequestRefused{API: m.API(), Group: asked.Group, Member: kafka.MemberID(orEmpty(asked.MemberID)), From: m.From, Error: err.Message, Why: why})
		} else {
			var unstable []kafka.TopicPartition
			answer.Topics, unstable = s.c.fetchGroup(asked, latest, request.RequireStable)
			if len(unstable) > 0 {
				s.tellUnstable(m, asked, unstable)
			}
		}
		if request.Version < groupsFrom {
			response.Topics = oneGroup(answer.Topics)
			continue
		}
		response.Groups = append(response.Groups, answer)
	}
	if request.RequireStable && !s.c.showsEarly() {
		group := ""
		if groups := groupsOf(request); len(groups) > 0 {
			group = groups[0].Group
		}
		s.answerAfter(nil, m, response, group)
		return
	}
	s.answer(m, response)
}

// validateFetch refuses a member of a group of the consumer protocol that is not where it believes to be. Who names no
// member is told.
//
// Source: ConsumerGroup.validateOffsetFetch.
func (c *Coordinator) validateFetch(asked kmsg.OffsetFetchRequestGroup, latest bool) (*kerr.Error, string) {
	sl := c.slot(asked.Group)
	if sl == nil || asked.MemberID == nil && asked.MemberEpoch < 0 {
		return nil, ""
	}
	g := sl.visible
	if latest {
		g = sl.latest
	}
	if g == nil {
		return nil, ""
	}
	k := g.member(orEmpty(asked.MemberID))
	if k == nil {
		return kerr.UnknownMemberID, "the group has no such member"
	}
	return k.sameEpoch(asked.MemberEpoch)
}

// groupsFrom is the version of OffsetFetch from which on it can ask for several groups.
const groupsFrom = 8

// groupsOf gives the groups that are asked for.
func groupsOf(request *kmsg.OffsetFetchRequest) []kmsg.OffsetFetchRequestGroup {
	if request.Version >= groupsFrom {
		return request.Groups
	}
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = request.Group
	for _, t := range request.Topics {
		topic := kmsg.NewOffsetFetchRequestGroupTopic()
		topic.Topic, topic.Partitions = t.Topic, t.Partitions
		asked.Topics = append(asked.Topics, topic)
	}
	return []kmsg.OffsetFetchRequestGroup{asked}
}

// oneGroup gives the answer for one group as older versions have it.
func oneGroup(topics []kmsg.OffsetFetchResponseGroupTopic) []kmsg.OffsetFetchResponseTopic {
	list := make([]kmsg.OffsetFetchResponseTopic, len(topics))
	for i, t := range topics {
		list[i].Topic = t.Topic
		for _, p := range t.Partitions {
			part := kmsg.NewOffsetFetchResponseTopicPartition()
			part.Partition, part.Offset, part.LeaderEpoch, part.Metadata, part.ErrorCode = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode
			list[i].Partitions = append(list[i].Partitions, part)
		}
	}
	return list
}

// fetchGroup gives the committed offsets that are asked for, or all if no topics are named. Stable says that those are
// left out for whose partitions something is pending; unstable lists them.
func (c *Coordinator) fetchGroup(asked kmsg.OffsetFetchRequestGroup, latest, stable bool) (topics []kmsg.OffsetFetchResponseGroupTopic, unstable []kafka.TopicPartition) {
	o := c.offsetsOf(asked.Group)
	state := o.visible
	known := c.shown(asked.Group) != nil || c.shownConsumer(asked.Group) != nil
	if latest {
		state = o.latest
		known = c.group(asked.Group) != nil || c.consumerGroup(asked.Group) != nil
	}
	if !known {
		state = offsetState{}
	}
	topics = []kmsg.OffsetFetchResponseGroupTopic{}
	for _, t := range askedTopics(asked, state) {
		topic := kmsg.NewOffsetFetchResponseGroupTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: kafka.Partition(p)}
			entry, found := find(state.committed, tp)
			if found && entry.topicID != [16]byte{} && t.TopicID != [16]byte{} && entry.topicID != t.TopicID {
				found = false // of a topic that had this name before
			}
			pending := stable && state.isPending(tp)
			part := fetched(p, entry, found && !pending)
			if pending {
				part.ErrorCode = kerr.UnstableOffsetCommit.Code
				unstable = append(unstable, tp)
			}
			topic.Partitions = append(topic.Partitions, part)
		}
		topics = append(topics, topic)
	}
	return topics, unstable
}

// askedTopics gives the topics that are asked for; if none are named, those with committed offsets.
func askedTopics(asked kmsg.OffsetFetchRequestGroup, state offsetState) (topics []kmsg.OffsetFetchRequestGroupTopic) {
	if asked.Topics != nil {
		return asked.Topics
	}
	for _, entry := range state.committed {
		if n := len(topics); n == 0 || topics[n-1].Topic != entry.tp.Topic {
			topic := kmsg.NewOffsetFetchRequestGroupTopic()
			topic.Topic = entry.tp.Topic
			topics = append(topics, topic)
		}
		last := &topics[len(topics)-1]
		last.Partitions = append(last.Partitions, int32(entry.tp.Partition))
	}
	return topics
}

func fetched(partition int32, entry committed, found bool) kmsg.OffsetFetchResponseGroupTopicPartition {
	p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	empty := ""
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = partition, int64(kafka.NoOffset), int32(kafka.NoLeaderEpoch), &empty
	if found {
		p.Offset, p.LeaderEpoch, p.Metadata = int64(entry.offset), int32(entry.epoch), &entry.metadata
	}
	return p
}
