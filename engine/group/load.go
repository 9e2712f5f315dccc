package group

import (
	"fmt"
	"iter"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// Load replays the partition's log, oldest record first, and starts the sessions of the members found there. A record
// that cannot be read, or is of a kind that this package does not know, is passed over. Offsets of a transaction are
// pending until the log has its end.
//
// Source: GroupCoordinatorShard.replay, GroupMetadataManager.onLoaded.
func (c *Coordinator) Load(now kafka.Millis, records iter.Seq[coordinator.Logged], cause uint64, j *journal.Journal) coordinator.Effects {
	s := c.begin(now, cause, j)
	event := journal.GroupsLoaded{}
	for r := range records {
		event.Records++
		if r.End != coordinator.NotEnded {
			s.replayEnd(r.Producer, r.End == coordinator.Committed)
			continue
		}
		key, err := DecodeKey(r.Key)
		if err != nil {
			continue
		}
		var in *coordinator.Producer
		if r.Transactional {
			in = &coordinator.Producer{ID: r.Producer}
		}
		if value, err := DecodeValue(key, r.Value); err == nil {
			s.replay(value, in)
		}
	}
	event.Groups = len(c.groups) + len(c.slots)
	for _, sl := range c.slots {
		event.Members += len(sl.latest.members)
		for _, m := range sl.latest.members {
			t := sl.timersOf(m.id)
			t.session = s.after(c.config.ConsumerSessionTimeout)
			if m.state == UnrevokedPartitions {
				t.revoke, t.revokeEpoch = s.after(m.rebalanceTimeout), m.epoch
			}
		}
	}
	for _, g := range c.groups {
		event.Members += len(g.members)
		for _, m := range g.members {
			s.extendSession(m)
		}
	}
	for _, o := range c.offsets {
		event.Offsets += len(o.visible.committed)
		event.Pending += len(o.visible.pending)
	}
	s.then(event)
	loaded := s.cause
	for _, g := range c.groups {
		if len(g.members) > c.config.MaxSize {
			s.cause = loaded
			s.startRebalance(g, fmt.Sprintf("it has %s, more than group.max.size = %s", kafka.Count(len(g.members), "member"), kafka.Thousands(c.config.MaxSize)))
		}
	}
	return s.end()
}

// replay takes in what a record says; in is the producer in whose transaction it is, nil: it is in none.
func (s *step) replay(value Value, in *coordinator.Producer) {
	if ofConsumerProtocol(value.key()) {
		s.replayConsumer(value)
		return
	}
	switch v := value.(type) {
	case OffsetCommitRecord:
		if s.c.group(v.Group) == nil && s.c.consumerGroup(v.Group) == nil {
			s.create(v.Group).written = true // a simple group
		}
		s.replayOffset(v.Group, committed{
			tp: v.TopicPartition, offset: v.Offset, epoch: max(v.LeaderEpoch, kafka.NoLeaderEpoch), metadata: v.Metadata,
			at: v.CommitTimestamp, expires: v.ExpireTimestamp, topicID: v.TopicID,
		}, in)
	case GroupMetadataRecord:
		s.c.put(replayGroup(v))
	case Tombstone:
		if v.Key.Type == TypeGroupMetadata {
			s.c.drop(v.Key.Group)
			return
		}
		if v.Key.Type == TypeOffsetCommit || v.Key.Type == TypeOffsetCommitOld {
			s.replayOffset(v.Key.Group, committed{tp: v.Key.TopicPartition, forgotten: true}, in)
		}
	}
}

// replayConsumer replays a record of the consumer protocol. A group that had only offsets before is one of that
// protocol then.
func (s *step) replayConsumer(value Value) {
	id := value.key().Group
	sl := s.c.openSlot(id)
	sl.latest = sl.latest.replay(value)
	sl.visible = sl.latest
	if sl.latest != nil {
		s.c.drop(id)
	}
	s.c.closeSlots()
}

func (s *step) replayOffset(group string, entry committed, in *coordinator.Producer) {
	o := s.c.offsetsOf(group)
	o.latest = o.latest.with(s.c.numbered(entry), in)
	o.visible = o.latest
	s.c.setOffsets(o)
}

// replayEnd takes in the end of a transaction.
func (s *step) replayEnd(producer kafka.ProducerID, commits bool) {
	for _, o := range slices.Clone(s.c.offsets) {
		o.latest, _ = o.latest.ended(producer, commits)
		o.visible = o.latest
		s.c.setOffsets(o)
	}
}

// replayGroup makes a group of its record. Of each member's assignors only the chosen one is known.
func replayGroup(r GroupMetadataRecord) *group {
	g := &group{
		id: r.Group, state: Empty, previous: Dead, since: r.StateTimestamp, generation: r.Generation, protocolType: r.ProtocolType,
		protocol: r.Protocol, leader: string(r.Leader), written: true,
	}
	if len(r.Members) > 0 {
		g.state = Stable
	}
	for _, m := range r.Members {
		k := &member{
			id: string(m.ID), instance: string(m.InstanceID), client: m.ClientID, host: m.ClientHost, rebalanceTimeout: m.RebalanceTimeout,
			sessionTimeout: m.SessionTimeout, assignment: m.Assignment,
			protocols: []kmsg.JoinGroupRequestProtocol{{Name: r.Protocol, Metadata: m.Subscription}},
		}
		if k.rebalanceTimeout < 0 {
			k.rebalanceTimeout = k.sessionTimeout
		}
		g.add(k, r.ProtocolType)
	}
	g.setTopics()
	return g
}

// Resign ends the coordinator: its broker does not lead the partition any more. Whoever waits is answered
// NOT_COORDINATOR.
func (c *Coordinator) Resign(now kafka.Millis, cause uint64, j *journal.Journal) coordinator.Effects {
	s := c.begin(now, cause, j)
	if c.resigned {
		return s.effects
	}
	c.resigned = true
	waiting := 0
	for _, g := range c.groups {
		for _, m := range g.members {
			if m.awaitsJoin() && !m.join.answered {
				waiting++
			}
			if m.awaitsSync() && !m.sync.answered {
				waiting++
			}
		}
	}
	for _, w := range c.writes {
		for _, d := range w.waiting {
			if d.done == answerRequest && d.request != nil {
				waiting++
			}
		}
	}
	s.then(journal.CoordinatorResigned{Groups: len(c.groups) + len(c.slots), Answered: waiting})
	for _, g := range c.groups {
		s.answerAll(g, kerr.NotCoordinator)
	}
	for _, w := range c.writes {
		for _, d := range w.waiting {
			if d.done == answerRequest && d.request != nil {
				s.answer(d.request, errorResponse(d.request.Request, kerr.NotCoordinator))
			}
		}
	}
	c.groups, c.slots, c.offsets, c.writes = nil, nil, nil, nil
	return s.end()
}

// answerAll answers every join and sync of a group that waits.
func (s *step) answerAll(g *group, err *kerr.Error) {
	for _, m := range g.members {
		if m.awaitsJoin() && !m.join.answered {
			s.answer(m.join.request, joinError(m.id, err))
		}
		if m.awaitsSync() && !m.sync.answered {
			s.answer(m.sync.request, syncError(err))
		}
		m.join, m.sync = parked{}, parked{}
	}
}
