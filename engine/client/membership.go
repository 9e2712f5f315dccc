package client

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// membershipState says where a member of the consumer protocol is. PREPARE_LEAVING is passed through within a moment,
// for callbacks run before.
//
// Source: MemberState.
type membershipState uint8

const (
	memberUnsubscribed  membershipState = iota // before the first poll, and once it has left
	memberJoining                              // it sends heartbeats with epoch 0
	memberReconciling                          // it comes to what the coordinator has told it to own
	memberAcknowledging                        // the next heartbeat says that it has
	memberStable
	memberFenced  // it is none any more, and joins again once what it owned is given up
	memberLeaving // its last heartbeat is to be sent
	memberStale   // it has left, for its application had not polled, and joins again when it does
	memberFatal   // an error that no retry mends
)

// The states of a member of the consumer protocol, in Kafka's words.
var membershipStates = [...]string{
	memberUnsubscribed: "unsubscribed", memberJoining: "joining", memberReconciling: "reconciling", memberAcknowledging: "acknowledging",
	memberStable: "stable", memberFenced: "fenced", memberLeaving: "leaving", memberStale: "stale", memberFatal: "fatal",
}

// The epochs by which a heartbeat leaves a group.
//
// Source: ConsumerGroupHeartbeatRequest.
const (
	leaveEpoch       kafka.MemberEpoch = -1
	leaveStaticEpoch kafka.MemberEpoch = -2
)

// membership is a member's part in a group of the consumer protocol: where it is, what it owns and is told to own, and
// its heartbeats.
//
// Source: classes AbstractMembershipManager, ConsumerMembershipManager, ConsumerHeartbeatRequestManager.
type membership struct {
	state    membershipState
	why      string            // it joins
	epoch    kafka.MemberEpoch // of the last answer; 0: it joins
	current  allotment         // what it has come to
	target   allotment         // what it was told last
	round    *reconciliation   // under way; nil: none
	dropping bool              // what it owns is lost, and still to be given up
	held     string            // why a reconciliation waits, as told

	interval kafka.Millis // between heartbeats, by the last answer; 0: none has come
	beatAt   kafka.Millis // the interval is over
	retryAt  kafka.Millis // the wait after an error is over
	failures int          // in a row
	beating  int32        // heartbeat under way; 0: none
	told     bool         // the coordinator was told all settings since it was lost or the member was fenced
	owned    *allotment   // what it was told of current; nil: nothing since; never written once made
}

// allotment is an assignment as the coordinator gives it: partitions by the ids of their topics. Version counts those
// that differ; -1 is no assignment.
//
// Source: AbstractMembershipManager.LocalAssignment.
type allotment struct {
	version int
	topics  []allotted // sorted by id; never written once made
}

// allotted is what an allotment has of one topic.
type allotted struct {
	id         [16]byte
	partitions []int32 // sorted; never written
}

func (a allotment) none() bool { return a.version < 0 }

func (a allotment) holds(topics []allotted) bool {
	return slices.EqualFunc(a.topics, topics, func(a, b allotted) bool { return a.id == b.id && slices.Equal(a.partitions, b.partitions) })
}

func (a allotment) equals(b allotment) bool { return a.version == b.version && a.holds(b.topics) }

// noAllotment is before any assignment.
var noAllotment = allotment{version: -1}

func newMembership() membership {
	return membership{current: noAllotment, target: noAllotment, beatAt: atOnce, retryAt: atOnce}
}

func (ms *membership) clone() {
	if ms.round != nil {
		round := *ms.round
		ms.round = &round
	}
}

// reconciles says whether the consumer is a member by the consumer protocol.
func (c *Consumer) reconciles() bool {
	return c.config.Group.Protocol == ConsumerProtocol && !c.selfAssigned()
}

// drawMemberID draws a UUID as Kafka writes one: version 4, 22 characters, the first no hyphen.
//
// Source: Uuid.randomUuid, toString.
func drawMemberID(rnd *prng.Rand) kafka.MemberID {
	for {
		var id [16]byte
		binary.BigEndian.PutUint64(id[:8], rnd.Uint64())
		binary.BigEndian.PutUint64(id[8:], rnd.Uint64())
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
		if text := base64.RawURLEncoding.EncodeToString(id[:]); !strings.HasPrefix(text, "-") {
			return kafka.MemberID(text)
		}
	}
}

// absent says whether the member is none for its coordinator, or about to be none.
//
// Source: AbstractMembershipManager.isNotInGroup, shouldSkipHeartbeat.
func (ms *membership) absent() bool {
	switch ms.state {
	case memberUnsubscribed, memberFenced, memberFatal, memberStale:
		return true
	}
	return false
}

// attend does the member's part of poll: it comes to what it is told to own, joins for the first time, and again after
// its application had been away for too long.
//
// Source: AsyncKafkaConsumer.poll, ApplicationEventProcessor.process(AsyncPollEvent).
func (c *Consumer) attend(s *step) {
	m := c.member
	m.polled = s.now
	c.reconcile(s, true)
	switch ms := &m.membership; {
	case c.dead, m.app.state != appPolling:
	case m.failed != 0:
		c.fail(s, "ConsumerGroupHeartbeat", m.failed, m.failedBy)
	case ms.state == memberUnsubscribed:
		ms.join("its process has started")
	case ms.state == memberStale && !ms.dropping:
		ms.join("its application polls again")
	}
}

// join makes the next heartbeat one with epoch 0.
//
// Source: AbstractMembershipManager.transitionToJoining.
func (ms *membership) join(why string) {
	if ms.round != nil {
		ms.round.rejoined = true
	}
	ms.state, ms.why, ms.epoch, ms.target = memberJoining, why, 0, noAllotment
}

// attained takes a successful answer to a heartbeat.
//
// Source: ConsumerMembershipManager.onHeartbeatSuccess.
func (c *Consumer) attained(s *step, response *kmsg.ConsumerGroupHeartbeatResponse, cause uint64) {
	ms := &c.member.membership
	epoch := kafka.MemberEpoch(response.MemberEpoch)
	if ms.absent() || epoch < 0 {
		return
	}
	if epoch != ms.epoch {
		c.last = s.j.Append(c.node, cause, journal.MemberEpochMoved{Group: c.config.Group.ID, Member: c.member.id, From: ms.epoch, To: epoch, Interval: ms.interval})
		ms.epoch, cause = epoch, c.last
		c.member.lastKnown.member, c.member.lastKnown.generation = c.member.id, kafka.GenerationID(epoch)
	}
	if response.Assignment == nil {
		return
	}
	topics := make([]allotted, len(response.Assignment.Topics))
	for i, t := range response.Assignment.Topics {
		topics[i] = allotted{t.TopicID, slices.Sorted(slices.Values(t.Partitions))}
	}
	slices.SortFunc(topics, func(a, b allotted) int { return slices.Compare(a.id[:], b.id[:]) })
	c.aim(s, topics, cause)
}

// aim takes what the coordinator has told the member to own.
//
// Source: AbstractMembershipManager.processAssignmentReceived.
func (c *Consumer) aim(s *step, topics []allotted, cause uint64) {
	ms := &c.member.membership
	if ms.target.none() || !ms.target.holds(topics) {
		ms.target, ms.held = allotment{ms.target.version + 1, topics}, ""
		c.metadata.follow(topics)
		resolved, given := c.resolve(ms.target)
		event := journal.TargetLearned{Group: c.config.Group.ID, Epoch: ms.epoch, Partitions: given, Unknown: len(topics) - len(resolved.topics)}
		owned := c.owned()
		event.Revoked, event.Added = without(owned, given), without(given, owned)
		c.last = s.j.Append(c.node, cause, event)
	}
	switch {
	case !ms.current.equals(ms.target):
		ms.state = memberReconciling
	case ms.state == memberReconciling, ms.state == memberJoining:
		ms.state = memberStable
	}
}

// fence takes the news that the member is none any more: it loses what it owns and joins again.
//
// Source: AbstractMembershipManager.transitionToFenced.
func (c *Consumer) fence(s *step, code int16, cause uint64) {
	m := c.member
	ms := &m.membership
	if ms.absent() {
		return
	}
	c.last = s.j.Append(c.node, cause, journal.MembershipLost{Group: c.config.Group.ID, API: "ConsumerGroupHeartbeat", Error: errorName(code), Member: m.id, Generation: -1, Epoch: ms.epoch})
	ms.state, ms.epoch, ms.dropping = memberFenced, 0, true
	ms.why = "a heartbeat was answered with " + errorName(code)
}

// breakDown takes an error that no retry mends: the next poll throws it.
//
// Source: AbstractHeartbeatRequestManager.handleFatalFailure, AbstractMembershipManager.transitionToFatal.
func (c *Consumer) breakDown(code int16, cause uint64) {
	m := c.member
	if ms := &m.membership; !ms.absent() {
		ms.state, ms.epoch, ms.dropping = memberFatal, 0, true
		m.failed, m.failedBy = code, cause
	}
}

// goStale lets a member leave whose application has not polled for max.poll.interval.ms. It does not wait for the answer.
//
// Source: AbstractHeartbeatRequestManager.poll, AbstractMembershipManager.transitionToSendingLeaveGroup, transitionToStale.
func (c *Consumer) goStale(s *step) {
	m, g := c.member, &c.config.Group
	ms := &m.membership
	ms.state, ms.epoch, ms.current = memberLeaving, c.leavingEpoch(), noAllotment
	c.last = s.j.Append(c.node, 0, journal.PollIntervalExceeded{Group: g.ID, Interval: g.MaxPollInterval, Static: g.InstanceID != "", Epoch: ms.epoch})
	c.postHeartbeat(s, c.last)
	ms.forgetBeats()
	ms.state, ms.dropping = memberStale, true
}

// leaveGroup gives up what the member owns and sends its last heartbeat, which it waits for.
//
// Source: AbstractMembershipManager.leaveGroup, clearAssignmentAndLeaveGroup.
func (c *Consumer) leaveGroup(s *step) {
	m := c.member
	ms := &m.membership
	owned := c.owned()
	c.forget(owned)
	ms.state, ms.epoch, ms.current, ms.target, ms.round = memberLeaving, c.leavingEpoch(), noAllotment, noAllotment, nil
	c.last = s.j.Append(c.node, c.last, journal.LeaveHeartbeatSent{Group: c.config.Group.ID, Member: m.id, Epoch: ms.epoch, Partitions: owned})
	m.leaving = c.postHeartbeat(s, c.last)
	ms.beating, ms.state = 0, memberUnsubscribed
}

// leavingEpoch is the epoch by which the member leaves.
//
// Source: ConsumerMembershipManager.leaveGroupEpoch.
func (c *Consumer) leavingEpoch() kafka.MemberEpoch {
	if c.config.Group.InstanceID != "" {
		return leaveStaticEpoch
	}
	return leaveEpoch
}

// groupHeartbeatFatal says whether an error of a heartbeat is mended by no retry.
//
// Source: AbstractHeartbeatRequestManager.onErrorResponse, ConsumerHeartbeatRequestManager.handleSpecificExceptionInResponse.
func groupHeartbeatFatal(code int16) bool {
	switch code {
	case kerr.NotCoordinator.Code, kerr.CoordinatorNotAvailable.Code, kerr.CoordinatorLoadInProgress.Code, kerr.FencedMemberEpoch.Code, kerr.UnknownMemberID.Code:
		return false
	}
	return true
}
