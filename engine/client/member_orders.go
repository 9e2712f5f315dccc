package client

import (
	"fmt"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// This file has what a person can order the application of a member to do. Each order says why it cannot be carried
// out; empty: it is.

// why says why the application takes no orders; empty: it does.
func (c *Consumer) why() string {
	switch {
	case c.member == nil:
		return fmt.Sprintf("%s is in no group with a coordinator", c.node)
	case c.dead:
		return fmt.Sprintf("%s does not run", c.node)
	case c.member.app.state == appClosing:
		return fmt.Sprintf("%s is closing", c.node)
	case c.member.app.state == appFailed:
		return fmt.Sprintf("the application of %s has ended with an error", c.node)
	}
	return ""
}

// IsMember says whether the consumer is in a group with a coordinator.
func (c *Consumer) IsMember() bool { return c.member != nil }

// Failed says whether the application has ended with an error that poll threw.
func (c *Consumer) Failed() bool {
	return !c.dead && c.member != nil && c.member.app.state == appFailed
}

// newStep makes a step of the member.
func newStep(now kafka.Millis, out *Outside, j *journal.Journal) *step {
	return &step{now: now, tick: j.Tick, out: out, j: j}
}

// Crash ends the process at once. Its connections are the caller's to end.
func (c *Consumer) Crash(cause uint64, out *Outside, j *journal.Journal) (seq uint64) {
	seq = j.Append(c.node, cause, journal.ConsumerCrashed{})
	c.Kill(seq, out, j)
	return seq
}

// Leave closes the consumer: it commits what it should, and a dynamic member leaves its group.
func (c *Consumer) Leave(now kafka.Millis, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, why string) {
	if why := c.why(); why != "" {
		return nil, why
	}
	c.last = cause
	c.closeProducer(j)
	offsets, how := c.committable(nil), "commitSync before close"
	c.abandon()
	m := c.member
	if m.app.inPoll() && c.reconciles() {
		m.polled = now
	}
	m.app.pool, m.app.dead, m.sync, m.app.state = nil, nil, nil, appClosing
	s := newStep(now, out, j)
	when := c.config.Group.App.Commit
	switch {
	case c.config.Group.AutoCommit:
		offsets, how = c.positions(), "enable.auto.commit, in close"
	case when == CommitNever || when == CommitBefore || when == "" || c.transactional():
		offsets = nil
	}
	if m.state == stable || c.selfAssigned() || c.reconciles() {
		c.startSync(s, offsets, how, appClosing)
	}
	if c.dead {
		return s.sends, ""
	}
	return c.advance(s), ""
}

// close leaves the group and ends the process; it waits for a commit before, and for the answer to LeaveGroup.
//
// Source: ClassicKafkaConsumer.close, AbstractCoordinator.maybeLeaveGroup, AsyncKafkaConsumer.close.
func (c *Consumer) close(s *step) bool {
	m := c.member
	if m.leaving != 0 {
		return false
	}
	if c.stays() != "" {
		c.end(s, c.last, true)
		return false
	}
	if c.reconciles() {
		c.leaveGroup(s)
		return false
	}
	m.leaving = c.post(s, c.connections.send(s.now, m.coordinator, c.leaveRequest("the consumer is being closed"), c.last))
	return false
}

// CommitNow makes the application commit what it is done with; it does not wait for the answer.
func (c *Consumer) CommitNow(now kafka.Millis, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, why string) {
	if why := c.why(); why != "" {
		return nil, why
	}
	offsets := c.committable(nil)
	if len(offsets) == 0 {
		return nil, fmt.Sprintf("%s has processed nothing that it has not committed", c.node)
	}
	c.last = cause
	s := newStep(now, out, j)
	if c.crashes(s, beforeCommit, kafka.TopicPartition{}, 0) {
		return s.sends, ""
	}
	c.commit(s, offsets, "commitAsync by hand", false)
	return c.advance(s), ""
}

// CommitAt makes the application commit one offset as it is given.
func (c *Consumer) CommitAt(now kafka.Millis, tp kafka.TopicPartition, offset kafka.Offset, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, why string) {
	if why := c.why(); why != "" {
		return nil, why
	}
	c.last = cause
	s := newStep(now, out, j)
	c.commit(s, []commitOffset{{tp, offset, kafka.NoLeaderEpoch}}, "commitAsync of an offset by hand", false)
	return c.advance(s), ""
}

// Process lets an application that processes by hand process some records more.
func (c *Consumer) Process(now kafka.Millis, count int, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, why string) {
	switch why := c.why(); {
	case why != "":
		return nil, why
	case !c.config.Group.App.ByHand:
		return nil, fmt.Sprintf("the application of %s processes by itself", c.node)
	case len(c.member.app.queue) == 0:
		return nil, fmt.Sprintf("poll has returned no record to %s that waits to be processed", c.node)
	}
	c.last = cause
	c.member.app.tokens += count
	return c.advance(newStep(now, out, j)), ""
}

// Seek moves the position in a partition, as seek of a running consumer does.
func (c *Consumer) Seek(now kafka.Millis, tp kafka.TopicPartition, to kafka.Offset, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, why string) {
	a := c.find(tp)
	switch why := c.why(); {
	case why != "":
		return nil, why
	case a == nil:
		return nil, fmt.Sprintf("%s does not own %s", c.node, tp)
	}
	c.last = cause
	s := newStep(now, out, j)
	c.member.app.drop(func(of kafka.TopicPartition) bool { return of == tp })
	c.seek(s, a, to, "you asked for it")
	return c.advance(s), ""
}

// EnforceRebalance makes the member join its group again at the next poll.
//
// Source: KafkaConsumer.enforceRebalance; AsyncKafkaConsumer.enforceRebalance does nothing.
func (c *Consumer) EnforceRebalance(now kafka.Millis, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, why string) {
	if why := c.why(); why != "" {
		return nil, why
	}
	if c.config.Group.Protocol == ConsumerProtocol {
		return nil, fmt.Sprintf("%s has group.protocol = consumer, whose client does not support enforceRebalance: it logs a warning and does nothing", c.node)
	}
	c.last = cause
	c.member.rejoin, c.member.joinAt = "enforceRebalance was called", now
	return c.advance(newStep(now, out, j)), ""
}
