package client

import (
	"slices"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// reconciliation is one way from what a member owns to what it is told to own: it commits, gives up, takes, and then
// acknowledges. One is under way at a time, and goes on to its end though the coordinator tells otherwise meanwhile.
//
// Source: AbstractMembershipManager.maybeReconcile, revokeAndAssign.
//
// Simplified: onPartitionsRevoked and onPartitionsAssigned run in the same moment of a poll. Where a member is fenced
// while one of them waits for its application to poll, only onPartitionsLost runs.
type reconciliation struct {
	allotment allotment              // that it leads to
	given     []kafka.TopicPartition // the same by names, sorted
	revoked   []kafka.TopicPartition // of what it owned, sorted
	commits   bool                   // enable.auto.commit: what poll has returned is still to be committed
	callback  bool                   // the application is in onPartitionsRevoked
	rejoined  bool                   // the member was fenced meanwhile

	commit   int32        // OffsetCommit under way; 0: none
	attempts int          // of it
	retryAt  kafka.Millis // it is not sent before
	deadline kafka.Millis // from then on it is not tried again
}

// listens says whether the application has a ConsumerRebalanceListener: to commit in it, to seek to what its sink has
// stored, or to keep its partitions while a transaction is open. Without one, and without enable.auto.commit, partitions
// change hands behind the back of an application that is not in poll; it would then send offsets in the new epoch of
// partitions that others read already, and a coordinator, which looks at the epoch alone, would take them.
func (c *Consumer) listens(s *step) bool {
	return c.config.Group.App.CommitOnRevoke || s.out.sink(c.config.Group.ID).config.Kind == SinkOffsets || c.transactional()
}

// reconcile lets the member give up what is lost and come to what it is told to own, as far as it can; polling says that
// the application is in poll. It says whether anything was done.
func (c *Consumer) reconcile(s *step, polling bool) (moved bool) {
	for !c.dead && c.reconcileFurther(s, polling) {
		moved = true
	}
	return moved
}

func (c *Consumer) reconcileFurther(s *step, polling bool) bool {
	switch ms := &c.member.membership; {
	case ms.dropping && !c.member.inCallback():
		return c.dropLost(s, polling)
	case ms.round != nil && ms.round.commits:
		return c.commitForRound(s)
	case ms.round != nil:
		return c.changeHands(s, polling)
	case ms.state == memberReconciling && !ms.current.equals(ms.target):
		return c.beginRound(s, polling)
	}
	return false
}

// beginRound begins to come to the target, as far as its topics are known.
//
// Source: AbstractMembershipManager.maybeReconcile, findResolvableAssignmentAndTriggerMetadataUpdate.
func (c *Consumer) beginRound(s *step, polling bool) bool {
	ms := &c.member.membership
	resolved, given := c.resolve(ms.target)
	if len(resolved.topics) < len(ms.target.topics) {
		c.metadata.request()
	}
	if !ms.current.none() && ms.current.holds(resolved.topics) {
		ms.current, ms.state = resolved, memberAcknowledging
		return true
	}
	if c.config.Group.AutoCommit && !polling {
		return c.hold(s, "enable.auto.commit commits first, which is safe only while the application is in poll")
	}
	ms.round = &reconciliation{
		allotment: resolved, given: given, revoked: without(c.owned(), given), commits: c.config.Group.AutoCommit, retryAt: atOnce, deadline: s.now + c.config.Group.MaxPollInterval,
	}
	for _, tp := range ms.round.revoked {
		a := c.find(tp)
		a.revoking = true
		c.buffered = slices.DeleteFunc(slices.Clone(c.buffered), func(f fetched) bool { return f.tp == tp })
	}
	return true
}

// hold tells, once, why a reconciliation waits.
func (c *Consumer) hold(s *step, why string) (moved bool) {
	if ms := &c.member.membership; ms.held != why {
		ms.held = why
		c.last = s.j.Append(c.node, c.last, journal.ReconciliationHeld{Group: c.config.Group.ID, Why: why})
	}
	return false
}

// resolve gives the part of an allotment whose topics are known, and its partitions by their names, sorted.
func (c *Consumer) resolve(all allotment) (known allotment, given []kafka.TopicPartition) {
	known.version = all.version
	for _, t := range all.topics {
		name := c.metadata.nameOf(t.id)
		if name == "" {
			continue
		}
		known.topics = append(known.topics, t)
		for _, p := range t.partitions {
			given = append(given, kafka.TopicPartition{Topic: name, Partition: kafka.Partition(p)})
		}
	}
	slices.SortFunc(given, compareTP)
	return known, given
}

// without lists what of a list is not in another.
func without(list, other []kafka.TopicPartition) (left []kafka.TopicPartition) {
	for _, tp := range list {
		if !slices.Contains(other, tp) {
			left = append(left, tp)
		}
	}
	return left
}

// roundDue is when the commit of a reconciliation is sent; ok is false while none waits for time.
func (c *Consumer) roundDue() (due kafka.Millis, ok bool) {
	m := c.member
	r := m.membership.round
	if r == nil || !r.commits || r.commit != 0 || m.coordinator == "" {
		return 0, false
	}
	return max(r.retryAt, c.connections.openAt(m.coordinator)), true
}

// commitForRound commits all that poll has returned, before anything changes hands. The application goes on meanwhile.
//
// Source: CommitRequestManager.maybeAutoCommitSyncBeforeRebalance, autoCommitSyncBeforeRebalanceWithRetries.
func (c *Consumer) commitForRound(s *step) bool {
	r := c.member.membership.round
	if len(c.positions()) == 0 && r.commit == 0 {
		r.commits = false
		return true
	}
	if due, ok := c.roundDue(); !ok || due > s.now {
		return false
	}
	if r.attempts > 0 && s.now >= r.deadline {
		r.commits = false
		return true
	}
	if c.crashes(s, beforeCommit, kafka.TopicPartition{}, 0) {
		return false
	}
	r.attempts++
	r.commit = c.commit(s, c.positions(), "enable.auto.commit, before partitions change hands", true)
	return true
}

// committedForRound takes the end of the commit of a reconciliation, which goes on also without it.
func (c *Consumer) committedForRound(s *step, again bool) {
	r := c.member.membership.round
	r.commit = 0
	if r.commits = again && s.now < r.deadline; r.commits {
		r.retryAt = s.now + backoff(retryBackoff, retryBackoffMax, r.attempts-1)
	}
}

// isForRound says whether a commit is that of the reconciliation.
func (m *member) isForRound(correlation int32) bool {
	return m.membership.round != nil && m.membership.round.commit == correlation
}

// changeHands gives partitions up and takes others. An application with a listener takes part in that, in poll.
//
// Source: AbstractMembershipManager.revokeAndAssign, maybeAbortReconciliation.
func (c *Consumer) changeHands(s *step, polling bool) bool {
	m, g := c.member, &c.config.Group
	ms := &m.membership
	r := ms.round
	switch {
	case m.sync != nil && r.callback:
		return false
	case ms.state != memberReconciling || r.rejoined:
		ms.round = nil
		return true
	case !polling && c.listens(s):
		return c.hold(s, "its ConsumerRebalanceListener runs only while the application is in poll")
	case len(r.revoked) > 0 && g.App.CommitOnRevoke && !g.AutoCommit && !r.callback:
		r.callback = true
		c.startSync(s, c.committable(r.revoked), "commitSync in onPartitionsRevoked", appPolling)
		return m.sync == nil
	}
	if len(r.revoked) > 0 {
		event := journal.PartitionsRevoked{Group: g.ID, Partitions: r.revoked, Epoch: ms.epoch}
		if polling {
			event.Unprocessed = c.forget(r.revoked)
		} else {
			c.release(r.revoked)
		}
		c.last = s.j.Append(c.node, c.last, event)
	}
	added := without(r.given, c.owned())
	c.last = s.j.Append(c.node, c.last, journal.PartitionsTaken{Group: g.ID, Generation: -1, Partitions: r.given, Added: added, Epoch: ms.epoch})
	c.adopt(r.given)
	m.app.done = slices.DeleteFunc(slices.Clone(m.app.done), func(p progress) bool { return slices.Contains(added, p.tp) })
	c.seekToStored(s, added)
	ms.current, ms.state, ms.round = r.allotment, memberAcknowledging, nil
	m.commitAt = s.now + g.AutoCommitInterval
	return true
}

// dropLost gives up everything without a commit: others may own it already. An application with a listener is told so in
// onPartitionsLost, in poll.
//
// Source: AbstractMembershipManager.transitionToFenced, transitionToStale, clearAssignment.
func (c *Consumer) dropLost(s *step, polling bool) bool {
	ms := &c.member.membership
	owned := c.owned()
	if len(owned) > 0 {
		if !polling && c.listens(s) {
			return false
		}
		if polling {
			c.forget(owned)
		} else {
			c.release(owned)
		}
		c.last = s.j.Append(c.node, c.last, journal.PartitionsLost{Group: c.config.Group.ID, Partitions: owned})
	}
	ms.dropping, ms.current, ms.target = false, noAllotment, noAllotment
	if ms.state == memberFenced {
		ms.join(ms.why)
	}
	return true
}
