package client

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// lookDue is when the consumer asks for committed offsets; ok is false when it needs none or the answer is under way.
func (c *Consumer) lookDue() (due kafka.Millis, ok bool) {
	m := c.member
	if m.looking != 0 || m.coordinator == "" || !m.app.inPoll() {
		return 0, false
	}
	for i := range c.partitions {
		if a := &c.partitions[i]; a.position == kafka.NoOffset && !a.looked && !a.revoking {
			return max(m.lookAt, c.connections.openAt(m.coordinator)), true
		}
	}
	return 0, false
}

// lookUp asks the coordinator for the committed offsets of the partitions without a position. It wants those that are
// stable, whatever isolation.level is: none while a transaction holds others back (KIP-447).
//
// Simplified: a member of the consumer protocol commits and asks by the names of topics. Kafka's client does so as long as
// it does not know the id of one, and by ids (version 10) then.
//
// Source: ConsumerCoordinator.initWithCommittedOffsetsIfNeeded, CommitRequestManager.fetchOffsets.
func (c *Consumer) lookUp(s *step) {
	if due, ok := c.lookDue(); !ok || due > s.now {
		return
	}
	m := c.member
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Version, request.RequireStable = offsetFetchVersion, true
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group, group.MemberEpoch = c.config.Group.ID, -1
	if epoch := m.membership.epoch; epoch > 0 {
		id := string(m.id)
		group.MemberID, group.MemberEpoch = &id, int32(epoch)
	}
	var missing []kafka.TopicPartition
	for i := range c.partitions {
		if a := &c.partitions[i]; a.position == kafka.NoOffset && !a.looked && !a.revoking {
			missing = append(missing, a.tp)
		}
	}
	for name, list := range partitionsByTopic(missing) {
		topic := kmsg.NewOffsetFetchRequestGroupTopic()
		topic.Topic, topic.Partitions = name, list
		group.Topics = append(group.Topics, topic)
	}
	request.Groups = append(request.Groups, group)
	m.looking = c.post(s, c.connections.send(s.now, m.coordinator, request, c.last))
}

// takeLookedUp sets positions from the coordinator's answer. Where nothing is committed auto.offset.reset decides.
//
// Source: ConsumerCoordinator.OffsetFetchResponseHandler, ConsumerUtils.refreshCommittedOffsets.
func (c *Consumer) takeLookedUp(s *step, response *kmsg.OffsetFetchResponse, correlation int32, cause uint64) {
	m := c.member
	if correlation != m.looking {
		return
	}
	m.looking = 0
	group := response.Groups[0]
	switch code := group.ErrorCode; {
	case coordinatorGone(code):
		c.loseCoordinator(s, "OffsetFetch was answered with "+errorName(code), cause)
		return
	case code == kerr.CoordinatorLoadInProgress.Code, code == kerr.StaleMemberEpoch.Code && m.membership.epoch > 0:
		m.lookAt = s.now + retryBackoff
		return
	case code != 0:
		c.fail(s, "OffsetFetch", code, cause)
		return
	}
	if waits := unstable(&group, kerr.UnstableOffsetCommit.Code); len(waits) > 0 {
		m.lookAt = s.now + retryBackoff
		c.last = s.j.Append(c.node, cause, journal.OffsetsUnstable{Group: c.config.Group.ID, Partitions: waits, Backoff: retryBackoff})
		return
	}
	for _, topic := range group.Topics {
		for _, p := range topic.Partitions {
			a := c.find(kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p.Partition)})
			if a == nil || a.looked || a.position != kafka.NoOffset {
				continue
			}
			if p.ErrorCode != 0 {
				m.lookAt = s.now + retryBackoff
				continue
			}
			c.takeCommittedOffset(s, a, p, cause)
		}
	}
}

func (c *Consumer) takeCommittedOffset(s *step, a *assigned, p kmsg.OffsetFetchResponseGroupTopicPartition, cause uint64) {
	a.looked = true
	event := journal.PositionCommitted{Group: c.config.Group.ID, TopicPartition: a.tp, Offset: kafka.Offset(p.Offset), Policy: c.config.AutoOffsetReset}
	c.last = s.j.Append(c.node, cause, event)
	switch {
	case p.Offset >= 0:
		a.position, a.epoch = kafka.Offset(p.Offset), kafka.LeaderEpoch(p.LeaderEpoch)
		a.leader = c.metadata.leaderOf(a.tp)
		a.validating = a.epoch >= 0 && a.leader.node != ""
	case c.config.AutoOffsetReset == resetNone:
		c.pollFails(a, "NoOffsetForPartitionException", s.j)
	}
}

// pollFails stops a partition without a position that poll could go on from: poll throws, and the application of a
// member does not go on.
func (c *Consumer) pollFails(a *assigned, exception string, j *journal.Journal) {
	a.stopped = true
	if c.member != nil {
		c.last = j.Append(c.node, c.last, journal.ConsumerFailed{Group: c.config.Group.ID, API: "poll", Error: exception})
		c.member.app.state = appFailed
	}
}

// seek moves the position of a partition.
func (c *Consumer) seek(s *step, a *assigned, to kafka.Offset, why string) {
	c.last = s.j.Append(c.node, c.last, journal.PositionMoved{TopicPartition: a.tp, From: a.position, To: to, Why: why})
	a.position, a.epoch, a.validating, a.looked, a.stopped = to, kafka.NoLeaderEpoch, false, true, false
	a.leader = c.metadata.leaderOf(a.tp)
	c.drop(a)
}
