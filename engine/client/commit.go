package client

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// commitTimeout is how long commitSync tries.
//
// Source: default.api.timeout.ms.
const commitTimeout kafka.Millis = 60_000

// commitOffset is one partition of a commit: the next offset to read.
type commitOffset struct {
	tp     kafka.TopicPartition
	offset kafka.Offset
	epoch  kafka.LeaderEpoch // of the record before it
}

// syncCommit is a commit that the application waits for.
type syncCommit struct {
	offsets     []commitOffset // sorted
	how         string
	then        appState     // once it is done
	retryAt     kafka.Millis // it is not sent before
	deadline    kafka.Millis
	correlation int32 // under way; 0: not sent
}

// commitUnderWay is an OffsetCommit without an answer.
type commitUnderWay struct {
	correlation int32
	offsets     []commitOffset // never written once made
	generation  kafka.GenerationID
	auto        bool // by enable.auto.commit
}

func told(offsets []commitOffset) []journal.CommitOffset {
	list := make([]journal.CommitOffset, len(offsets))
	for i, o := range offsets {
		list[i] = journal.CommitOffset{TopicPartition: o.tp, Offset: o.offset}
	}
	return list
}

// positions lists where the consumer reads on in every partition of which it knows that.
//
// Source: SubscriptionState.allConsumed.
func (c *Consumer) positions() (list []commitOffset) {
	for i := range c.partitions {
		if a := &c.partitions[i]; a.position != kafka.NoOffset && !a.validating {
			list = append(list, commitOffset{a.tp, a.position, a.epoch})
		}
	}
	return list
}

// endsOf lists the positions, in the partitions of poll's records.
func (c *Consumer) endsOf(jobs []job) (list []commitOffset) {
	list = positionsAfter(jobs)
	for i := range list {
		if a := c.find(list[i].tp); a != nil {
			list[i].offset, list[i].epoch = max(list[i].offset, a.position), a.epoch
		}
	}
	return list
}

// batchOffsets lists what a commit after the batch says.
func (c *Consumer) batchOffsets() []commitOffset {
	list := c.member.app.processedOf(nil)
	if c.config.Group.App.What != CommitPosition {
		return list
	}
	for i := range list {
		for _, end := range c.member.app.ends {
			if end.tp == list[i].tp && end.offset > list[i].offset {
				list[i] = end
			}
		}
	}
	return list
}

// positionsAfter lists the positions that poll's records lead to.
func positionsAfter(jobs []job) (list []commitOffset) {
	for _, j := range jobs {
		at, found := slices.BinarySearchFunc(list, j.tp, func(o commitOffset, tp kafka.TopicPartition) int { return compareTP(o.tp, tp) })
		if !found {
			list = slices.Insert(list, at, commitOffset{tp: j.tp})
		}
		list[at].offset, list[at].epoch = j.offset+1, j.epoch
	}
	return list
}

// startSync makes the application wait for a commit; without offsets there is nothing to wait for.
func (c *Consumer) startSync(s *step, offsets []commitOffset, how string, then appState) {
	m := c.member
	if len(offsets) == 0 {
		m.app.state = then
		return
	}
	if c.crashes(s, beforeCommit, kafka.TopicPartition{}, 0) {
		return
	}
	m.sync = &syncCommit{offsets: offsets, how: how, then: then, retryAt: s.now, deadline: s.now + commitTimeout}
	m.app.state = appCommitting
	c.retrySync(s)
}

// syncDue is when the commit that the application waits for is sent, or given up.
func (c *Consumer) syncDue() (due kafka.Millis, ok bool) {
	m := c.member
	if m.sync == nil || m.sync.correlation != 0 {
		return 0, false
	}
	due = m.sync.deadline
	if m.coordinator != "" {
		due = min(due, max(m.sync.retryAt, c.connections.openAt(m.coordinator)))
	}
	return due, true
}

// retrySync sends the commit that the application waits for, if it can go now; it says whether anything was done.
//
// Source: ConsumerCoordinator.commitOffsetsSync.
func (c *Consumer) retrySync(s *step) (done bool) {
	m := c.member
	due, ok := c.syncDue()
	switch {
	case !ok || due > s.now:
		return false
	case s.now >= m.sync.deadline:
		c.endSync(s, "TimeoutException", c.last)
		return true
	}
	sync := *m.sync
	if why := c.refused(); why != "" {
		c.endSync(s, why, c.last)
		return true
	}
	sync.correlation = c.commit(s, sync.offsets, sync.how, false)
	m.sync = &sync
	return true
}

// refused says why the client does not send a commit: it knows that it is no member, or that the group rebalances.
// Empty: it sends it.
//
// A client of the consumer protocol leaves that to the coordinator.
//
// Source: ConsumerCoordinator.sendOffsetCommitRequest, CommitRequestManager.
func (c *Consumer) refused() (why string) {
	switch {
	case c.selfAssigned(), c.reconciles(), c.member.state == stable:
		return ""
	case c.member.state == unjoined:
		return "CommitFailedException: the consumer is not part of an active group"
	}
	return "RebalanceInProgressException"
}

// commit sends OffsetCommit; 0: it is not sent.
//
// Simplified: a commit that the application does not wait for is dropped while no coordinator is known; Kafka's client
// keeps it until one is found.
func (c *Consumer) commit(s *step, offsets []commitOffset, how string, auto bool) (correlation int32) {
	m, g := c.member, &c.config.Group
	if why := c.refused(); why != "" {
		c.notCommitted(s, offsets, why, auto, c.last)
		return 0
	}
	if m.coordinator == "" {
		c.notCommitted(s, offsets, "COORDINATOR_NOT_AVAILABLE", auto, c.last)
		return 0
	}
	request := offsetCommitRequest(g.ID, offsets)
	request.Generation, request.MemberID = int32(m.generation), string(m.id)
	epoch := max(m.membership.epoch, 0)
	if epoch > 0 {
		request.Generation = int32(epoch)
	}
	if !c.selfAssigned() {
		request.InstanceID = c.instance()
	}
	c.last = s.j.Append(c.node, c.last, journal.CommitSent{Group: g.ID, How: how, Generation: m.generation, Offsets: told(offsets), Epoch: epoch})
	correlation = c.post(s, c.connections.send(s.now, m.coordinator, request, c.last))
	m.commits = append(m.commits, commitUnderWay{correlation: correlation, offsets: offsets, generation: m.generation, auto: auto})
	return correlation
}

// offsetCommitRequest is OffsetCommit of one that is no member of the group; the offsets are sorted by partition.
func offsetCommitRequest(group string, offsets []commitOffset) *kmsg.OffsetCommitRequest {
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Version, request.Group, request.Generation = offsetCommitVersion, group, -1
	for _, o := range offsets {
		if n := len(request.Topics); n == 0 || request.Topics[n-1].Topic != o.tp.Topic {
			topic := kmsg.NewOffsetCommitRequestTopic()
			topic.Topic = o.tp.Topic
			request.Topics = append(request.Topics, topic)
		}
		part := kmsg.NewOffsetCommitRequestTopicPartition()
		part.Partition, part.Offset, part.LeaderEpoch = int32(o.tp.Partition), int64(o.offset), int32(o.epoch)
		topic := &request.Topics[len(request.Topics)-1]
		topic.Partitions = append(topic.Partitions, part)
	}
	return request
}

// takeCommitted takes the answer to OffsetCommit. The first error of a partition is that of the commit.
//
// Source: ConsumerCoordinator.OffsetCommitResponseHandler.
func (c *Consumer) takeCommitted(s *step, response *kmsg.OffsetCommitResponse, correlation int32, cause uint64) {
	m := c.member
	at := slices.IndexFunc(m.commits, func(u commitUnderWay) bool { return u.correlation == correlation })
	if at < 0 {
		return
	}
	under := m.commits[at]
	code := int16(0)
	for _, topic := range response.Topics {
		for _, p := range topic.Partitions {
			if code == 0 {
				code = p.ErrorCode
			}
		}
	}
	if code == 0 {
		m.commits = slices.Delete(m.commits, at, at+1)
		c.last = s.j.Append(c.node, cause, journal.CommitAccepted{Group: c.config.Group.ID, Offsets: told(under.offsets)})
		m.app.committed(under.offsets)
		if m.isForRound(correlation) {
			c.committedForRound(s, false)
		}
		if c.crashes(s, afterCommit, kafka.TopicPartition{}, 0) {
			return
		}
		if m.sync != nil && m.sync.correlation == correlation {
			m.app.state, m.sync = m.sync.then, nil
		}
		return
	}
	if c.reconciles() {
		c.refusedCommit(s, correlation, code, cause)
		return
	}
	unchanged := under.generation == m.generation
	lost, keepID := isLost(code)
	retriable := false
	name := errorName(code)
	switch {
	case coordinatorGone(code), code == kerr.RequestTimedOut.Code:
		retriable = true
		c.loseCoordinator(s, "OffsetCommit was answered with "+name, cause)
	case code == kerr.CoordinatorLoadInProgress.Code, code == kerr.UnknownTopicOrPartition.Code:
		retriable = true
	case code == kerr.RebalanceInProgress.Code && m.rejoin == "":
		m.rejoin, m.joinAt = "OffsetCommit was answered with REBALANCE_IN_PROGRESS", s.now
	case lost && (unchanged || m.state != preparing) && !c.selfAssigned():
		c.loseMembership(s, "OffsetCommit", code, keepID, cause)
	case code == kerr.FencedInstanceID.Code && unchanged:
		c.commitFailed(s, correlation, name, false, cause)
		c.fail(s, "OffsetCommit", code, cause)
		return
	}
	c.commitFailed(s, correlation, name, retriable, cause)
}

// refusedCommit takes the error of a commit of a member of the consumer protocol, which stays what it is. An old epoch
// is no error that commitSync tries again.
//
// Source: CommitRequestManager.OffsetCommitRequestState.onResponse, commitSyncExceptionForError.
func (c *Consumer) refusedCommit(s *step, correlation int32, code int16, cause uint64) {
	name, retriable := errorName(code), false
	switch code {
	case kerr.NotCoordinator.Code, kerr.CoordinatorNotAvailable.Code, kerr.RequestTimedOut.Code:
		retriable = true
		c.loseCoordinator(s, "OffsetCommit was answered with "+name, cause)
	case kerr.CoordinatorLoadInProgress.Code, kerr.UnknownTopicOrPartition.Code:
		retriable = true
	case kerr.StaleMemberEpoch.Code:
		retriable = c.member.isForRound(correlation) && c.member.membership.epoch > 0
		fallthrough
	case kerr.UnknownMemberID.Code:
		name = "CommitFailedException: " + name
	}
	c.commitFailed(s, correlation, name, retriable, cause)
}

// commitFailed lets a commit fail that was sent: the application tries again, or goes on without it.
func (c *Consumer) commitFailed(s *step, correlation int32, why string, retriable bool, cause uint64) {
	m := c.member
	at := slices.IndexFunc(m.commits, func(u commitUnderWay) bool { return u.correlation == correlation })
	if at < 0 {
		return
	}
	under := m.commits[at]
	m.commits = slices.Delete(m.commits, at, at+1)
	waits := m.sync != nil && m.sync.correlation == correlation
	if waits && retriable && s.now < m.sync.deadline {
		again := *m.sync
		again.correlation, again.retryAt = 0, s.now+retryBackoff
		m.sync = &again
		c.last = s.j.Append(c.node, cause, journal.CommitFailed{Group: c.config.Group.ID, Offsets: told(under.offsets), Error: why, Then: "commitSync tries again"})
		return
	}
	if waits {
		c.endSync(s, why, cause)
		return
	}
	if m.isForRound(correlation) {
		then := "the client goes on without it"
		if c.committedForRound(s, retriable); m.membership.round.commits {
			then = "the client tries again before partitions change hands"
		}
		c.last = s.j.Append(c.node, cause, journal.CommitFailed{Group: c.config.Group.ID, Offsets: told(under.offsets), Error: why, Then: then})
		return
	}
	if under.auto && retriable {
		m.commitAt = s.now + retryBackoff
	}
	c.last = s.j.Append(c.node, cause, journal.CommitFailed{Group: c.config.Group.ID, Offsets: told(under.offsets), Error: why, Then: "nobody waits for it and it is not sent again"})
}

// notCommitted tells of a commit that was not sent.
func (c *Consumer) notCommitted(s *step, offsets []commitOffset, why string, auto bool, cause uint64) {
	if auto {
		c.member.commitAt = s.now + retryBackoff
	}
	c.last = s.j.Append(c.node, cause, journal.CommitFailed{Group: c.config.Group.ID, Offsets: told(offsets), Error: why, Then: "it is not sent"})
}

// endSync lets commitSync throw an error. The application catches it: what else poll had returned it leaves, for its
// partitions may be others' by now, seeks back in those it still has, and polls.
func (c *Consumer) endSync(s *step, why string, cause uint64) {
	m := c.member
	sync := m.sync
	m.sync = nil
	goesOn := m.inCallback() || sync.then == appClosing
	then := "the application goes on"
	if !goesOn {
		then = "commitSync throws, and the application polls"
		if dropped := len(m.app.queue); dropped > 0 {
			then = "commitSync throws; the application drops " + kafka.Count(dropped, "record") + " that poll had returned, seeks back where it still has the partition, and polls"
		}
	}
	c.last = s.j.Append(c.node, cause, journal.CommitFailed{Group: c.config.Group.ID, Offsets: told(sync.offsets), Error: why, Then: then})
	if goesOn {
		m.app.state = sync.then
		return
	}
	c.seekBack(s)
	m.app.loop.busy, m.app.state = false, appPolling
}

// autoCommitDue is when the client commits by itself; ok is false while the application is not in poll.
func (c *Consumer) autoCommitDue() (due kafka.Millis, ok bool) {
	m := c.member
	ready := c.config.Group.AutoCommit && m.app.inPoll() && m.coordinator != "" && len(c.partitions) > 0 && (m.state == stable || c.selfAssigned() || c.reconciles() && !m.autoCommitting())
	return max(m.commitAt, c.connections.openAt(m.coordinator)), ready
}

// autoCommitting says whether a commit by enable.auto.commit has no answer.
func (m *member) autoCommitting() bool {
	return slices.ContainsFunc(m.commits, func(u commitUnderWay) bool { return u.auto })
}

// autoCommit commits the positions: everything that poll has returned.
//
// Source: ConsumerCoordinator.maybeAutoCommitOffsetsAsync, CommitRequestManager.maybeAutoCommitAsync.
func (c *Consumer) autoCommit(s *step) {
	m := c.member
	if due, ok := c.autoCommitDue(); !ok || due > s.now {
		return
	}
	m.commitAt = s.now + c.config.Group.AutoCommitInterval
	if offsets := c.positions(); len(offsets) > 0 && !c.crashes(s, beforeCommit, kafka.TopicPartition{}, 0) {
		c.commit(s, offsets, "enable.auto.commit, in poll", true)
	}
}
