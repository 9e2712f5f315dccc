package group

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// deleteOffsets handles an OffsetDelete: of topics that no member subscribes to. What transactions have pending there
// goes, too.
//
// Source: OffsetMetadataManager.deleteOffsets, ClassicGroup.validateOffsetDelete.
func (s *step) deleteOffsets(m *simnet.Message, request *kmsg.OffsetDeleteRequest) {
	g, consumers := s.c.group(request.Group), s.c.consumerGroup(request.Group)
	refuse := func(err *kerr.Error, why string) {
		s.refuse(m, errorResponse(request, err), refusal{request.Group, "", err, why})
	}
	subscribes := func(topic string) bool { return consumers.subscribes(topic) }
	switch {
	case request.Group == "":
		refuse(kerr.InvalidGroupID, "the group's id is empty")
		return
	case consumers != nil:
	case g == nil:
		refuse(kerr.GroupIDNotFound, "there is no such group")
		return
	case g.state != Empty && g.protocolType != consumerType:
		refuse(kerr.NonEmptyGroup, fmt.Sprintf("the group has members, and what they are assigned is not known for protocol type %q", g.protocolType))
		return
	default:
		subscribes = g.subscribes
	}
	response := kmsg.NewPtrOffsetDeleteResponse()
	var w pendingWrite
	var records []coordinator.Record
	event := journal.OffsetsRemoved{Group: request.Group, Why: fmt.Sprintf("%s sent OffsetDelete for them", m.From)}
	for _, t := range request.Topics {
		topic := kmsg.NewOffsetDeleteResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			part := kmsg.NewOffsetDeleteResponseTopicPartition()
			part.Partition = p.Partition
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: kafka.Partition(p.Partition)}
			if subscribes(t.Topic) {
				part.ErrorCode = kerr.GroupSubscribedToTopic.Code
				s.journal(journal.GroupRequestRefused{
					API: m.API(), Group: request.Group, From: m.From, Error: kerr.GroupSubscribedToTopic.Message, Why: fmt.Sprintf("members subscribe to %s, so the offset of %s stays", t.Topic, tp),
				})
			} else {
				records = append(records, s.forgetAll(request.Group, tp, &event, &w)...)
			}
			topic.Partitions = append(topic.Partitions, part)
		}
		response.Topics = append(response.Topics, topic)
	}
	if len(records) == 0 {
		s.answerAfter(nil, m, response, request.Group)
		return
	}
	s.then(event)
	s.answerAfter(s.write(records, w), m, response, request.Group)
}

// forgetAll forgets what is committed and what is pending for a partition, if there is anything, with one tombstone.
func (s *step) forgetAll(group string, tp kafka.TopicPartition, event *journal.OffsetsRemoved, w *pendingWrite) []coordinator.Record {
	o := s.c.offsetsOf(group).latest
	_, found := find(o.committed, tp)
	if found {
		event.Partitions = append(event.Partitions, tp)
	}
	pending := o.isPending(tp)
	if pending {
		event.Pending = append(event.Pending, tp)
	}
	if !found && !pending {
		return nil
	}
	return []coordinator.Record{forget(group, tp, w)}
}

// forget notes that a committed offset is gone and gives its tombstone.
func forget(group string, tp kafka.TopicPartition, w *pendingWrite) coordinator.Record {
	w.changes = append(w.changes, change{group: group, entry: committed{tp: tp, forgotten: true}})
	return Tombstone{Key{Type: TypeOffsetCommit, Group: group, TopicPartition: tp}}.Encode()
}

// deleteGroups handles a DeleteGroups: groups without members go with their offsets, pending ones too.
//
// Source: GroupCoordinatorShard.deleteGroups, ClassicGroup.validateDeleteGroup.
func (s *step) deleteGroups(m *simnet.Message, request *kmsg.DeleteGroupsRequest) {
	response := kmsg.NewPtrDeleteGroupsResponse()
	var w pendingWrite
	var records []coordinator.Record
	for _, id := range request.Groups {
		answer := kmsg.NewDeleteGroupsResponseGroup()
		answer.Group = id
		g, consumers := s.c.group(id), s.c.consumerGroup(id)
		var err *kerr.Error
		why := ""
		switch {
		case consumers != nil && len(consumers.members) > 0:
			err, why = kerr.NonEmptyGroup, "the group is in state "+string(consumers.state())
		case consumers != nil:
		case g == nil:
			err, why = kerr.GroupIDNotFound, "there is no such group"
		case g.state != Empty:
			err, why = kerr.NonEmptyGroup, "the group is in state "+string(g.state)
		}
		if err != nil {
			answer.ErrorCode = err.Code
			s.journal(journal.GroupRequestRefused{API: m.API(), Group: id, From: m.From, Error: err.Message, Why: why})
		} else {
			event := journal.OffsetsRemoved{Group: id, Why: "the group is deleted"}
			o := s.c.offsetsOf(id).latest
			for _, entry := range o.committed {
				records = append(records, s.forgetAll(id, entry.tp, &event, &w)...)
			}
			for _, tp := range o.pendingPartitions() {
				if _, also := find(o.committed, tp); !also {
					records = append(records, s.forgetAll(id, tp, &event, &w)...)
				}
			}
			if len(event.Partitions)+len(event.Pending) > 0 {
				s.journal(event)
			}
			records = append(records, s.deleteGroup(id, fmt.Sprintf("%s sent DeleteGroups for it", m.From), &w)...)
		}
		response.Groups = append(response.Groups, answer)
	}
	if len(records) == 0 {
		s.answerAfter(nil, m, response, "")
		return
	}
	s.answerAfter(s.write(records, w), m, response, "")
}

// deleteGroup takes an empty group away and gives its tombstones.
func (s *step) deleteGroup(id, why string, w *pendingWrite) (records []coordinator.Record) {
	s.journal(journal.GroupDeleted{Group: id, Why: why})
	if g := s.c.consumerGroup(id); g != nil {
		values := g.tombstones(nil)
		for _, v := range values {
			records = append(records, v.Encode())
		}
		s.c.openSlot(id).latest = nil
		w.replayed = append(w.replayed, replayed{id, values})
		return records
	}
	w.removed = append(w.removed, s.c.group(id))
	s.c.drop(id)
	return []coordinator.Record{Tombstone{Key{Type: TypeGroupMetadata, Group: id}}.Encode()}
}

// describeGroups handles a DescribeGroups.
//
// Source: GroupMetadataManager.describeGroups.
func (s *step) describeGroups(m *simnet.Message, request *kmsg.DescribeGroupsRequest) {
	response := kmsg.NewPtrDescribeGroupsResponse()
	for _, id := range request.Groups {
		answer := kmsg.NewDescribeGroupsResponseGroup()
		answer.Group = id
		g := s.c.shown(id)
		if g == nil {
			answer.State = string(Dead)
			if request.Version >= 6 {
				message := fmt.Sprintf("Group %s not found.", id)
				if s.c.shownConsumer(id) != nil {
					message = fmt.Sprintf("Group %s is not a classic group.", id)
				}
				answer.ErrorCode, answer.ErrorMessage = kerr.GroupIDNotFound.Code, &message
			}
			response.Groups = append(response.Groups, answer)
			continue
		}
		answer.State, answer.ProtocolType = string(g.state), g.protocolType
		if g.state == Stable {
			answer.Protocol = g.protocol
		}
		for _, k := range g.members {
			described := kmsg.NewDescribeGroupsResponseGroupMember()
			described.MemberID, described.InstanceID, described.ClientID, described.ClientHost = k.id, orNull(k.instance), k.client, k.host
			described.MemberAssignment = k.assignment
			if g.state == Stable {
				described.ProtocolMetadata = k.subscription(g.protocol)
			}
			answer.Members = append(answer.Members, described)
		}
		response.Groups = append(response.Groups, answer)
	}
	s.answer(m, response)
}

// describeConsumerGroups handles a ConsumerGroupDescribe.
//
// Source: GroupMetadataManager.consumerGroupDescribe, ConsumerGroup.asDescribedGroup.
func (s *step) describeConsumerGroups(m *simnet.Message, request *kmsg.ConsumerGroupDescribeRequest) {
	response := kmsg.NewPtrConsumerGroupDescribeResponse()
	for _, id := range request.Groups {
		answer := kmsg.NewConsumerGroupDescribeResponseGroup()
		answer.Group = id
		g := s.c.shownConsumer(id)
		if g == nil {
			message := fmt.Sprintf("Group %s not found.", id)
			if s.c.shown(id) != nil {
				message = fmt.Sprintf("Group %s is not a consumer group.", id)
			}
			answer.ErrorCode, answer.ErrorMessage = kerr.GroupIDNotFound.Code, &message
			response.Groups = append(response.Groups, answer)
			continue
		}
		answer.State, answer.Epoch, answer.AssignmentEpoch, answer.AssignorName = string(g.state()), int32(g.epoch), int32(g.assignmentEpoch), s.c.preferredAssignor(g)
		for _, k := range g.members {
			described := kmsg.NewConsumerGroupDescribeResponseGroupMember()
			described.MemberID, described.InstanceID, described.RackID, described.MemberEpoch = k.id, orNull(k.instance), orNull(k.rack), int32(k.epoch)
			described.ClientID, described.ClientHost, described.SubscribedTopics, described.SubscribedTopicRegex = k.client, k.host, k.topics, &k.regex
			target, _ := g.targetOf(k.id)
			described.Assignment.TopicPartitions, described.TargetAssignment.TopicPartitions = s.c.described(k.assigned), s.c.described(target)
			if described.MemberType = 1; k.classic != nil {
				described.MemberType = 0
			}
			answer.Members = append(answer.Members, described)
		}
		response.Groups = append(response.Groups, answer)
	}
	s.answer(m, response)
}

// described gives partitions as ConsumerGroupDescribe has them.
func (c *Coordinator) described(o ownership) (list []kmsg.AssignmentTopicPartition) {
	for _, tp := range c.named(o) {
		if n := len(list); n == 0 || list[n-1].Topic != tp.Topic {
			t, _ := c.image.Topic(tp.Topic)
			list = append(list, kmsg.AssignmentTopicPartition{TopicID: t.ID, Topic: tp.Topic})
		}
		last := &list[len(list)-1]
		last.Partitions = append(last.Partitions, int32(tp.Partition))
	}
	return list
}

// ErrorResponse gives the response to a request about groups that says nothing but an error, in the shape that each API
// has for it. Another request panics.
//
// Source: GroupCoordinatorService, the getErrorResponse of each request.
func ErrorResponse(request kmsg.Request, err *kerr.Error) kmsg.Response {
	response := errorResponse(request, err)
	response.SetVersion(request.GetVersion())
	if join, ok := response.(*kmsg.JoinGroupResponse); ok && join.Version < 7 {
		join.Protocol = new(string) // null only since then
	}
	return response
}

func errorResponse(request kmsg.Request, err *kerr.Error) kmsg.Response {
	switch request := request.(type) {
	case *kmsg.JoinGroupRequest:
		return joinError(request.MemberID, err)
	case *kmsg.SyncGroupRequest:
		return syncError(err)
	case *kmsg.HeartbeatRequest:
		return heartbeatResponse(err.Code)
	case *kmsg.LeaveGroupRequest:
		response := kmsg.NewPtrLeaveGroupResponse()
		response.ErrorCode = err.Code
		return response
	case *kmsg.OffsetCommitRequest:
		return commitError(request, err)
	case *kmsg.TxnOffsetCommitRequest:
		return asTxnOffsetCommit(commitError(asOffsetCommit(request), err))
	case *kmsg.OffsetFetchRequest:
		response := kmsg.NewPtrOffsetFetchResponse()
		if request.Version < groupsFrom {
			response.ErrorCode = err.Code
			return response
		}
		for _, g := range request.Groups {
			answer := kmsg.NewOffsetFetchResponseGroup()
			answer.Group, answer.ErrorCode = g.Group, err.Code
			response.Groups = append(response.Groups, answer)
		}
		return response
	case *kmsg.OffsetDeleteRequest:
		response := kmsg.NewPtrOffsetDeleteResponse()
		response.ErrorCode = err.Code
		return response
	case *kmsg.DeleteGroupsRequest:
		response := kmsg.NewPtrDeleteGroupsResponse()
		for _, id := range request.Groups {
			answer := kmsg.NewDeleteGroupsResponseGroup()
			answer.Group, answer.ErrorCode = id, err.Code
			response.Groups = append(response.Groups, answer)
		}
		return response
	case *kmsg.ConsumerGroupHeartbeatRequest:
		return consumerHeartbeatError(err, "")
	case *kmsg.ConsumerGroupDescribeRequest:
		response := kmsg.NewPtrConsumerGroupDescribeResponse()
		for _, id := range request.Groups {
			answer := kmsg.NewConsumerGroupDescribeResponseGroup()
			answer.Group, answer.ErrorCode = id, err.Code
			response.Groups = append(response.Groups, answer)
		}
		return response
	case *kmsg.DescribeGroupsRequest:
		response := kmsg.NewPtrDescribeGroupsResponse()
		for _, id := range request.Groups {
			answer := kmsg.NewDescribeGroupsResponseGroup()
			answer.Group, answer.ErrorCode = id, err.Code
			response.Groups = append(response.Groups, answer)
		}
		return response
	}
	panic(fmt.Sprintf("group: %s is not for a group coordinator", kmsg.NameForKey(request.Key())))
}

func commitError(request *kmsg.OffsetCommitRequest, err *kerr.Error) *kmsg.OffsetCommitResponse {
	response := kmsg.NewPtrOffsetCommitResponse()
	for _, t := range request.Topics {
		topic := kmsg.NewOffsetCommitResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			part := kmsg.NewOffsetCommitResponseTopicPartition()
			part.Partition, part.ErrorCode = p.Partition, err.Code
			topic.Partitions = append(topic.Partitions, part)
		}
		response.Topics = append(response.Topics, topic)
	}
	return response
}
