package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// coordinate hands a request about one group to the group's coordinator. If that is not here the answer is
// NOT_COORDINATOR.
//
// Source: GroupCoordinatorService, CoordinatorRuntime.withActiveContextOrThrow.
func (b *Broker) coordinate(t *turn, m *simnet.Message, groupID string, cause uint64) {
	h := b.coordinator(b.offsetsPartition(groupID).Partition)
	if h == nil {
		b.answerFor(t, m, notCoordinator(m.Request), b.noteNotCoordinator(t, m, groupID, cause))
		return
	}
	b.perform(t, h, h.group.Receive(t.now, m, cause, t.j))
}

func (b *Broker) noteNotCoordinator(t *turn, m *simnet.Message, groupID string, cause uint64) uint64 {
	tp := b.offsetsPartition(groupID)
	leader := kafka.BrokerID(-1)
	if p, ok := b.image.Partition(tp); ok {
		leader = p.Leader
	}
	return t.note(cause, journal.NotCoordinator{From: m.From, API: m.API(), Group: groupID, TopicPartition: tp, Leader: leader})
}

// notCoordinator makes the answer NOT_COORDINATOR to a request about one group, in the shape that each API has for it.
//
// Source: CoordinatorOperationExceptionHelper, the getErrorResponse of each request.
func notCoordinator(request kmsg.Request) kmsg.Response {
	failed := kerr.NotCoordinator.Code
	switch r := request.(type) {
	case *kmsg.JoinGroupRequest:
		response := r.ResponseKind().(*kmsg.JoinGroupResponse)
		response.ErrorCode, response.Generation, response.MemberID = failed, -1, r.MemberID
		if r.Version < 7 {
			response.Protocol = new(string) // null only since then
		}
		return response
	case *kmsg.SyncGroupRequest:
		response := r.ResponseKind().(*kmsg.SyncGroupResponse)
		response.ErrorCode, response.MemberAssignment = failed, []byte{}
		return response
	case *kmsg.HeartbeatRequest:
		response := r.ResponseKind().(*kmsg.HeartbeatResponse)
		response.ErrorCode = failed
		return response
	case *kmsg.LeaveGroupRequest:
		response := r.ResponseKind().(*kmsg.LeaveGroupResponse)
		response.ErrorCode = failed
		return response
	case *kmsg.ConsumerGroupHeartbeatRequest:
		response := r.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
		response.ErrorCode = failed
		return response
	case *kmsg.ConsumerGroupDescribeRequest:
		response := r.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
		for _, id := range r.Groups {
			described := kmsg.NewConsumerGroupDescribeResponseGroup()
			described.Group, described.ErrorCode = id, failed
			response.Groups = append(response.Groups, described)
		}
		return response
	case *kmsg.OffsetDeleteRequest:
		response := r.ResponseKind().(*kmsg.OffsetDeleteResponse)
		response.ErrorCode = failed
		return response
	case *kmsg.OffsetCommitRequest:
		response := r.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				addCommitted(response, refusedCommit{topic.Topic, topic.TopicID, p.Partition, failed})
			}
		}
		return response
	case *kmsg.OffsetFetchRequest:
		return notCoordinatorOfOffsets(r)
	case *kmsg.DescribeGroupsRequest:
		response := r.ResponseKind().(*kmsg.DescribeGroupsResponse)
		for _, id := range r.Groups {
			described := kmsg.NewDescribeGroupsResponseGroup()
			described.Group, described.ErrorCode = id, failed
			response.Groups = append(response.Groups, described)
		}
		return response
	case *kmsg.DeleteGroupsRequest:
		response := r.ResponseKind().(*kmsg.DeleteGroupsResponse)
		for _, id := range r.Groups {
			deleted := kmsg.NewDeleteGroupsResponseGroup()
			deleted.Group, deleted.ErrorCode = id, failed
			response.Groups = append(response.Groups, deleted)
		}
		return response
	}
	panic("no request about one group: " + kmsg.NameForKey(request.Key()))
}

// notCoordinatorOfOffsets answers a fetch of committed offsets: for each group of it since version 8, before as a whole.
func notCoordinatorOfOffsets(r *kmsg.OffsetFetchRequest) kmsg.Response {
	response := r.ResponseKind().(*kmsg.OffsetFetchResponse)
	if r.Version < 8 {
		response.ErrorCode = kerr.NotCoordinator.Code
		return response
	}
	for _, asked := range r.Groups {
		fetched := kmsg.NewOffsetFetchResponseGroup()
		fetched.Group, fetched.ErrorCode = asked.Group, kerr.NotCoordinator.Code
		response.Groups = append(response.Groups, fetched)
	}
	return response
}

// describeGroups hands a request to the coordinators of its groups.
func (b *Broker) describeGroups(t *turn, m *simnet.Message, r *kmsg.DescribeGroupsRequest, cause uint64) {
	var parts []part
	for _, id := range r.Groups {
		one := *r
		one.Groups = []string{id}
		parts = append(parts, part{group: id, message: withRequest(m, &one)})
	}
	b.send(t, errand{message: m, cause: cause}, parts)
}

// describeConsumerGroups hands a request to the coordinators of its groups.
func (b *Broker) describeConsumerGroups(t *turn, m *simnet.Message, r *kmsg.ConsumerGroupDescribeRequest, cause uint64) {
	var parts []part
	for _, id := range r.Groups {
		one := *r
		one.Groups = []string{id}
		parts = append(parts, part{group: id, message: withRequest(m, &one)})
	}
	b.send(t, errand{message: m, cause: cause}, parts)
}

// deleteGroups hands a request to the coordinators of its groups.
func (b *Broker) deleteGroups(t *turn, m *simnet.Message, r *kmsg.DeleteGroupsRequest, cause uint64) {
	var parts []part
	for _, id := range r.Groups {
		one := *r
		one.Groups = []string{id}
		parts = append(parts, part{group: id, message: withRequest(m, &one)})
	}
	b.send(t, errand{message: m, cause: cause}, parts)
}

// withRequest gives a message with another request in it, for a coordinator.
func withRequest(m *simnet.Message, r kmsg.Request) *simnet.Message {
	c := *m
	c.Request = r
	return &c
}
