package client

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// The versions of a member's requests: the newest of Kafka 4.2's classic consumer.
const (
	findCoordinatorVersion = 6
	joinGroupVersion       = 9
	syncGroupVersion       = 5
	heartbeatVersion       = 4
	leaveGroupVersion      = 5
	offsetCommitVersion    = 9
	offsetFetchVersion     = 9
)

// findDue is when the member asks who coordinates its group; ok is false while one is known or the answer is under
// way.
func (c *Consumer) findDue() (due kafka.Millis, ok bool) {
	m := c.member
	return max(m.findAt, c.metadata.reachableAt(&c.connections)), m.coordinator == "" && m.finding == 0 && m.app.state != appFailed
}

// findCoordinator asks any broker who coordinates the group.
//
// Source: AbstractCoordinator.lookupCoordinator.
func (c *Consumer) findCoordinator(s *step) {
	if due, ok := c.findDue(); !ok || due > s.now || c.dead {
		return
	}
	to, ok := c.metadata.anyBroker(s.now, &c.connections)
	if !ok {
		return
	}
	request := kmsg.NewPtrFindCoordinatorRequest()
	request.Version, request.CoordinatorKeys = findCoordinatorVersion, []string{c.config.Group.ID}
	c.member.finding = c.post(s, c.connections.send(s.now, to, request, c.last))
}

// takeCoordinator takes the answer of a broker.
//
// Source: AbstractCoordinator.FindCoordinatorResponseHandler.
func (c *Consumer) takeCoordinator(s *step, response *kmsg.FindCoordinatorResponse, cause uint64) {
	m := c.member
	m.finding = 0
	found := response.Coordinators[0]
	if found.ErrorCode != 0 {
		m.findAt = s.now + retryBackoff
		c.last = s.j.Append(c.node, cause, journal.CoordinatorLost{Group: c.config.Group.ID, Why: "FindCoordinator was answered with " + errorName(found.ErrorCode)})
		return
	}
	m.coordinator, m.heard = kafka.NodeID(found.Host), s.now
	c.last = s.j.Append(c.node, cause, journal.CoordinatorFound{Group: c.config.Group.ID, Coordinator: m.coordinator})
}

// loseCoordinator makes the member ask again who coordinates its group.
//
// Source: AbstractCoordinator.markCoordinatorUnknown.
func (c *Consumer) loseCoordinator(s *step, why string, cause uint64) {
	m := c.member
	if m.coordinator == "" {
		return
	}
	c.last = s.j.Append(c.node, cause, journal.CoordinatorLost{Group: c.config.Group.ID, Coordinator: m.coordinator, Why: why})
	m.coordinator, m.findAt = "", s.now
}

// coordinatorGone says whether an error means that the broker does not coordinate the group.
func coordinatorGone(code int16) bool {
	return code == kerr.CoordinatorNotAvailable.Code || code == kerr.NotCoordinator.Code
}

// isLost says whether an error means that the member is none any more; keepID says whether its id is still good.
func isLost(code int16) (lost, keepID bool) {
	return code == kerr.UnknownMemberID.Code || code == kerr.IllegalGeneration.Code, code == kerr.IllegalGeneration.Code
}

// loseMembership takes the news that the member is none any more.
func (c *Consumer) loseMembership(s *step, api string, code int16, keepID bool, cause uint64) {
	m := c.member
	c.last = s.j.Append(c.node, cause, journal.MembershipLost{Group: c.config.Group.ID, API: api, Error: errorName(code), Member: m.id, Generation: m.generation})
	m.reset(api+" was answered with "+errorName(code), keepID)
}

// fail ends the application: poll threw an error.
func (c *Consumer) fail(s *step, api string, code int16, cause uint64) {
	c.last = s.j.Append(c.node, cause, journal.ConsumerFailed{Group: c.config.Group.ID, API: api, Error: errorName(code)})
	m := c.member
	m.reset("", c.reconciles())
	if m.app.state = appFailed; c.reconciles() {
		ms := &m.membership
		ms.state, ms.epoch, ms.dropping, ms.round = memberFatal, 0, false, nil
	}
	c.forget(c.owned())
}
