package client

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// consumerGroupHeartbeatVersion is the newest of Kafka 4.2.
const consumerGroupHeartbeatVersion = 1

// groupBeatDue is when a member of the consumer protocol sends its next heartbeat. To join and to acknowledge it does so
// at once, even after an error, as long as none is under way.
//
// Source: AbstractHeartbeatRequestManager.poll, AbstractMembershipManager.shouldHeartbeatNow.
func (c *Consumer) groupBeatDue() (due kafka.Millis, ok bool) {
	ms := &c.member.membership
	if c.member.coordinator == "" || ms.absent() || ms.beating != 0 {
		return 0, false
	}
	open := c.connections.openAt(c.member.coordinator)
	if ms.state == memberJoining || ms.state == memberAcknowledging {
		return open, true
	}
	return max(ms.beatAt, ms.retryAt, open), true
}

// groupPollDue is when the application must have polled again. Nobody looks while there is no coordinator to tell.
//
// Source: AbstractHeartbeatRequestManager.poll, resetPollTimer.
func (c *Consumer) groupPollDue() (due kafka.Millis, ok bool) {
	m := c.member
	looks := m.coordinator != "" && !m.membership.absent() && !m.app.inPoll() && m.app.state != appClosing
	return max(m.polled+c.config.Group.MaxPollInterval, c.connections.openAt(m.coordinator)), looks
}

// groupBeat does what the background thread does with heartbeats; it says whether it has sent one.
//
// Source: AbstractHeartbeatRequestManager.poll.
func (c *Consumer) groupBeat(s *step) (sent bool) {
	if due, ok := c.groupPollDue(); ok && due <= s.now {
		c.goStale(s)
		return true
	}
	if due, ok := c.groupBeatDue(); !ok || due > s.now {
		return false
	}
	m, g := c.member, &c.config.Group
	ms := &m.membership
	cause := uint64(0)
	switch ms.state {
	case memberJoining:
		c.last = s.j.Append(c.node, c.last, journal.JoinHeartbeatSent{
			Group: g.ID, Why: ms.why, Member: m.id, Instance: g.InstanceID, Topics: c.subscribed(), Pattern: g.Pattern, Assignor: g.RemoteAssignor, RebalanceTimeout: g.MaxPollInterval,
		})
		cause = c.last
	case memberAcknowledging:
		c.last = s.j.Append(c.node, c.last, journal.AssignmentAcknowledged{Group: g.ID, Epoch: ms.epoch, Owned: c.owned()})
		cause = c.last
	}
	c.postHeartbeat(s, cause)
	if ms.state == memberAcknowledging {
		if ms.state = memberReconciling; ms.current.equals(ms.target) {
			ms.state = memberStable
		}
	}
	return true
}

// postHeartbeat sends ConsumerGroupHeartbeat.
func (c *Consumer) postHeartbeat(s *step, cause uint64) (correlation int32) {
	ms := &c.member.membership
	ms.beating = c.post(s, c.connections.send(s.now, c.member.coordinator, c.heartbeatRequest(), cause))
	ms.beatAt = s.now + ms.interval
	return ms.beating
}

// heartbeatRequest says who the member is and what has changed since the last request: everything when it joins, and
// everything but the rack after an error.
//
// Source: ConsumerHeartbeatRequestManager.HeartbeatState.buildRequestData.
func (c *Consumer) heartbeatRequest() *kmsg.ConsumerGroupHeartbeatRequest {
	m, g := c.member, &c.config.Group
	ms := &m.membership
	request := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	request.Version, request.Group, request.MemberID, request.MemberEpoch = consumerGroupHeartbeatVersion, g.ID, string(m.id), int32(ms.epoch)
	request.InstanceID = c.instance()
	all := ms.state == memberJoining
	if all || !ms.told {
		request.RebalanceTimeoutMillis = int32(g.MaxPollInterval)
		request.SubscribedTopicNames = append([]string{}, c.subscribed()...)
		if g.Pattern != "" {
			request.SubscribedTopicRegex = &g.Pattern
		}
		if g.RemoteAssignor != "" {
			name := serverName(g.RemoteAssignor)
			request.ServerAssignor = &name
		}
		ms.told = true
	}
	if all || ms.owned == nil || !ms.owned.equals(ms.current) {
		request.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		for _, t := range ms.current.topics {
			topic := kmsg.NewConsumerGroupHeartbeatRequestTopic()
			topic.TopicID, topic.Partitions = t.id, t.partitions
			request.Topics = append(request.Topics, topic)
		}
		owned := ms.current
		ms.owned = &owned
	}
	if all && c.config.ClientRack != "" {
		rack := c.config.ClientRack
		request.RackID = &rack
	}
	return request
}

// serverName gives the name that Kafka's coordinator has for an assignor: its range assignor is "range" there.
func serverName(assignor string) string {
	if assignor == "server-range" {
		return "range"
	}
	return assignor
}

// forgetBeats makes the member forget what was answered to heartbeats, and what it has told.
//
// Source: HeartbeatRequestState.reset, HeartbeatState.reset.
func (ms *membership) forgetBeats() {
	ms.beating, ms.failures, ms.retryAt, ms.told, ms.owned = 0, 0, atOnce, false, nil
}

// beatFailed makes the member wait before the next heartbeat and tell everything in it.
//
// Source: HeartbeatRequestState.onFailedAttempt.
func (ms *membership) beatFailed(now kafka.Millis) {
	failures := ms.failures + 1
	ms.forgetBeats()
	ms.failures, ms.beatAt = failures, now
	ms.retryAt = now + backoff(retryBackoff, retryBackoffMax, failures-1)
}

// takeGroupHeartbeat takes the coordinator's answer.
//
// Source: AbstractHeartbeatRequestManager.onResponse, onErrorResponse.
func (c *Consumer) takeGroupHeartbeat(s *step, response *kmsg.ConsumerGroupHeartbeatResponse, correlation int32, cause uint64) {
	m := c.member
	ms := &m.membership
	switch {
	case correlation == m.leaving:
		c.end(s, cause, true)
		return
	case correlation != ms.beating:
		return
	}
	code := response.ErrorCode
	if code == 0 {
		ms.beating, ms.failures, ms.retryAt = 0, 0, s.now+retryBackoff
		if interval := kafka.Millis(response.HeartbeatIntervalMillis); interval != ms.interval {
			ms.interval, ms.beatAt = interval, s.now+interval
		}
		c.attained(s, response, cause)
		return
	}
	ms.beatFailed(s.now)
	switch {
	case coordinatorGone(code):
		c.loseCoordinator(s, "ConsumerGroupHeartbeat was answered with "+errorName(code), cause)
		ms.forgetBeats()
	case code == kerr.FencedMemberEpoch.Code, code == kerr.UnknownMemberID.Code:
		c.fence(s, code, cause)
		ms.forgetBeats()
	case groupHeartbeatFatal(code):
		c.breakDown(code, cause)
	}
}

// subscribed lists the topics that the member subscribes to, sorted; none for a pattern of the consumer protocol, which
// the coordinator resolves.
func (c *Consumer) subscribed() []string {
	if c.config.Group.Pattern == "" {
		return slices.Sorted(slices.Values(c.config.Topics))
	}
	return c.metadata.matched()
}
