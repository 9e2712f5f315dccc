package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// coordinate hands a request about one group to the group's coordinator. If that is not here the answer is
// NOT_COORDINATOR.
//
// Source: GroupCoordinatorService, CoordinatorRuntime.withActiveContextOrThrow.
func (b *Broker) coordinate(t *turn, m *simnet.Message, groupID string, cause uint64) {
	h := b.coordinator(b.offsetsPartition(groupID))
	if h == nil {
		b.answerFor(t, m, group.ErrorResponse(m.Request, kerr.NotCoordinator), b.noteNotCoordinator(t, m, groupID, cause))
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

// divide hands a request that names several groups to their coordinators, one for each group.
func (b *Broker) divide(t *turn, m *simnet.Message, groups []string, only func(groups []string) kmsg.Request, cause uint64) {
	parts := make([]part, len(groups))
	for i, id := range groups {
		parts[i] = part{key: id, message: withRequest(m, only([]string{id}))}
	}
	b.send(t, errand{message: m, cause: cause}, parts)
}

// withRequest gives a message with another request in it, for a coordinator.
func withRequest(m *simnet.Message, r kmsg.Request) *simnet.Message {
	c := *m
	c.Request = r
	return &c
}
