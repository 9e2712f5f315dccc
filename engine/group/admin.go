package group

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// deleteOffsets handles an OffsetDelete: of topics that no member subscribes to.
//
// Source: OffsetMetadataManager.deleteOffsets, ClassicGroup.validateOffsetDelete.
func (s *step) deleteOffsets(m *simnet.Message, request *kmsg.OffsetDeleteRequest) {
	g := s.c.group(request.Group)
	refuse := func(err *kerr.Error, why string) {
		s.refuse(m, errorResponse(request, err), refusal{request.Group, "", err, why})
	}
	switch {
	case request.Group == "":
		refuse(kerr.InvalidGroupID, "the group's id is empty")
		return
	case g == nil:
		refuse(kerr.GroupIDNotFound, "there is no such group")
		return
	case g.state != Empty && g.protocolType != consumerType:
		refuse(kerr.NonEmptyGroup, fmt.Sprintf("the group has members, and what they are assigned is not known for protocol type %q", g.protocolType))
		return
	}
	response := kmsg.NewPtrOffsetDeleteResponse()
	var w pendingWrite
	var records []Record
	event := journal.OffsetsRemoved{Group: g.id, Why: fmt.Sprintf("%s sent OffsetDelete for them", m.From)}
	for _, t := range request.Topics {
		topic := kmsg.NewOffsetDeleteResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			part := kmsg.NewOffsetDeleteResponseTopicPartition()
			part.Partition = p.Partition
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: kafka.Partition(p.Partition)}
			if g.subscribes(t.Topic) {
				part.ErrorCode = kerr.GroupSubscribedToTopic.Code
				s.journal(journal.GroupRequestRefused{
					API: m.API(), Group: g.id, From: m.From, Error: kerr.GroupSubscribedToTopic.Message, Why: fmt.Sprintf("members subscribe to %s, so the offset of %s stays", t.Topic, tp),
				})
			} else if _, found := find(s.c.offsetsOf(g.id).latest, tp); found {
				records = append(records, forget(g.id, tp, &w))
				event.Partitions = append(event.Partitions, tp)
			}
			topic.Partitions = append(topic.Partitions, part)
		}
		response.Topics = append(response.Topics, topic)
	}
	if len(records) == 0 {
		s.answerAfter(nil, m, response, g.id)
		return
	}
	s.then(event)
	s.answerAfter(s.write(records, w), m, response, g.id)
}

// forget notes that a committed offset is gone and gives its tombstone.
func forget(group string, tp kafka.TopicPartition, w *pendingWrite) Record {
	w.changes = append(w.changes, change{group: group, entry: committed{tp: tp, forgotten: true}})
	return Tombstone{Key{TypeOffsetCommit, group, tp}}.Encode()
}

// deleteGroups handles a DeleteGroups: groups without members go with their offsets.
//
// Source: GroupCoordinatorShard.deleteGroups, ClassicGroup.validateDeleteGroup.
func (s *step) deleteGroups(m *simnet.Message, request *kmsg.DeleteGroupsRequest) {
	response := kmsg.NewPtrDeleteGroupsResponse()
	var w pendingWrite
	var records []Record
	for _, id := range request.Groups {
		answer := kmsg.NewDeleteGroupsResponseGroup()
		answer.Group = id
		g := s.c.group(id)
		var err *kerr.Error
		why := ""
		switch {
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
			for _, entry := range s.c.offsetsOf(id).latest {
				records = append(records, forget(id, entry.tp, &w))
				event.Partitions = append(event.Partitions, entry.tp)
			}
			if len(event.Partitions) > 0 {
				s.journal(event)
			}
			records = append(records, s.deleteGroup(g, fmt.Sprintf("%s sent DeleteGroups for it", m.From), &w))
		}
		response.Groups = append(response.Groups, answer)
	}
	if len(records) == 0 {
		s.answerAfter(nil, m, response, "")
		return
	}
	s.answerAfter(s.write(records, w), m, response, "")
}

// deleteGroup takes an empty group away and gives its tombstone.
func (s *step) deleteGroup(g *group, why string, w *pendingWrite) Record {
	s.c.drop(g.id)
	w.removed = append(w.removed, g)
	s.journal(journal.GroupDeleted{Group: g.id, Why: why})
	return Tombstone{Key{Type: TypeGroupMetadata, Group: g.id}}.Encode()
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

// errorResponse gives the response to a request that says nothing but an error.
func errorResponse(request kmsg.Request, err *kerr.Error) kmsg.Response {
	switch request := request.(type) {
	case *kmsg.JoinGroupRequest:
		return joinError("", err)
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
