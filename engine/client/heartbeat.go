package client

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// beats says whether the member sends heartbeats now, as far as that is no question of time. Between says that the
// application is between two records.
func (c *Consumer) beats(between bool) bool {
	m := c.member
	if m.state != completing && m.state != stable || m.coordinator == "" || m.failed != 0 {
		return false
	}
	return !c.config.Group.HeartbeatInLoop || between || m.inPoll()
}

// beatDue is when the member sends its next heartbeat, or gives its coordinator up because none is answered.
func (c *Consumer) beatDue() (due kafka.Millis, ok bool) {
	m := c.member
	switch {
	case c.reconciles():
		return c.groupBeatDue()
	case !c.beats(false):
		return 0, false
	}
	due = max(m.beatAt, c.connections.openAt(m.coordinator))
	if end, ok := c.sessionEnd(); ok {
		due = min(due, end)
	}
	return due, true
}

// sessionEnd is when the member gives its coordinator up because no heartbeat is answered; ok is false for a client
// that does not look.
func (c *Consumer) sessionEnd() (end kafka.Millis, ok bool) {
	return c.member.heard + c.config.Group.SessionTimeout, !c.config.Group.HeartbeatInLoop
}

// pollDue is when the application must have polled again; ok is false while it is in poll, or closes the consumer.
func (c *Consumer) pollDue() (due kafka.Millis, ok bool) {
	m := c.member
	if c.reconciles() {
		return c.groupPollDue()
	}
	looks := (m.state == completing || m.state == stable) && m.coordinator != "" && !c.config.Group.HeartbeatInLoop
	return m.polled + c.config.Group.MaxPollInterval, looks && !m.inPoll() && m.app.state != appClosing
}

// inPoll says whether the application has called poll and not returned from it: it may wait there for a commit before
// partitions are given up.
func (m *member) inPoll() bool {
	return m.app.inPoll() || m.app.state == appCommitting && m.inCallback()
}

// inCallback says whether the application gives partitions up and has a commit of its own to wait for before.
func (m *member) inCallback() bool {
	return m.preparing || m.revoking != nil || m.membership.round != nil && m.membership.round.callback
}

// beat does what the heartbeat thread does.
//
// Source: AbstractCoordinator.HeartbeatThread.run.
func (c *Consumer) beat(s *step, between bool) {
	m, g := c.member, &c.config.Group
	if c.reconciles() {
		c.groupBeat(s)
		return
	}
	if end, ok := c.sessionEnd(); ok && end <= s.now && c.beats(between) {
		m.beating, m.beatAt = 0, s.now+retryBackoff
		c.loseCoordinator(s, fmt.Sprintf("no heartbeat was answered for session.timeout.ms = %s ms", kafka.Thousands(g.SessionTimeout)), c.last)
		return
	}
	if due, ok := c.pollDue(); ok && due <= s.now {
		c.exceedPoll(s)
		return
	}
	if !c.beats(between) || max(m.beatAt, c.connections.openAt(m.coordinator)) > s.now {
		return
	}
	request := kmsg.NewPtrHeartbeatRequest()
	request.Version, request.Group, request.Generation, request.MemberID, request.InstanceID = heartbeatVersion, g.ID, int32(m.generation), string(m.id), c.instance()
	correlation := c.post(s, c.connections.send(s.now, m.coordinator, request, 0))
	if m.beatAt = s.now + g.HeartbeatInterval; m.beating == 0 {
		m.beating = correlation
	}
}

// exceedPoll handles an application that has not polled for too long: a dynamic member leaves, and a static one forgets
// its membership without a word.
//
// Source: AbstractCoordinator.HeartbeatThread, maybeLeaveGroup.
func (c *Consumer) exceedPoll(s *step) {
	m, g := c.member, &c.config.Group
	c.last = s.j.Append(c.node, 0, journal.PollIntervalExceeded{Group: g.ID, Interval: g.MaxPollInterval, Static: g.InstanceID != ""})
	why := "it does not count as a member any more, for its application had not polled for max.poll.interval.ms"
	if g.InstanceID == "" {
		why = "it had left the group, for its application had not polled for max.poll.interval.ms"
		s.sends = append(s.sends, c.connections.send(s.now, m.coordinator, c.leaveRequest("consumer poll timeout has expired."), c.last))
	}
	m.reset(why, false)
}

func (c *Consumer) leaveRequest(reason string) kmsg.Request {
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Version, request.Group = leaveGroupVersion, c.config.Group.ID
	who := kmsg.NewLeaveGroupRequestMember()
	who.MemberID, who.InstanceID, who.Reason = string(c.member.id), c.instance(), &reason
	request.Members = append(request.Members, who)
	return request
}

// instance gives group.instance.id as requests carry it.
func (c *Consumer) instance() *string {
	if c.config.Group.InstanceID == "" {
		return nil
	}
	id := string(c.config.Group.InstanceID)
	return &id
}

// takeHeartbeat takes the coordinator's answer.
//
// Source: AbstractCoordinator.HeartbeatResponseHandler.
func (c *Consumer) takeHeartbeat(s *step, response *kmsg.HeartbeatResponse, correlation int32, cause uint64) {
	m := c.member
	if m.beating == 0 || correlation < m.beating {
		return // of a membership that is over
	}
	lost, keepID := isLost(response.ErrorCode)
	switch code := response.ErrorCode; {
	case code == 0:
		m.heard = s.now
	case coordinatorGone(code):
		m.beating, m.beatAt = 0, s.now+retryBackoff
		c.loseCoordinator(s, "Heartbeat was answered with "+errorName(code), cause)
	case code == kerr.RebalanceInProgress.Code:
		m.heard = s.now
		if m.state == stable && m.rejoin == "" {
			m.rejoin, m.joinAt = "a heartbeat was answered with REBALANCE_IN_PROGRESS", s.now
			c.last = cause
		}
	case lost:
		c.loseMembership(s, "Heartbeat", code, keepID, cause)
	case code == kerr.FencedInstanceID.Code:
		m.reset("", false)
		m.failed, m.failedBy = code, cause // the next poll throws it
	}
}
