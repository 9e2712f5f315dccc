package client

import (
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// The points at which a consumer can crash, as commands name them.
const (
	afterPoll        = command.AfterPoll
	beforeProcessing = command.BeforeProcessing
	afterProcessing  = command.AfterProcessing
	beforeCommit     = command.BeforeCommit
	afterCommit      = command.AfterCommit
)

// Arm makes the consumer crash when its application comes to a point; false: it does not run.
func (c *Consumer) Arm(at command.CrashPoint, cause uint64, j *journal.Journal) bool {
	if c.dead || c.member == nil {
		return false
	}
	c.member.app.armed, c.member.app.armedBy = at, j.Append(c.node, cause, journal.CrashArmed{At: at.String()})
	return true
}

// crashes ends the process if the application is at the armed point.
func (c *Consumer) crashes(s *step, when command.CrashWhen, tp kafka.TopicPartition, offset kafka.Offset) bool {
	app := &c.member.app
	if app.armed.When != when || app.armed.TopicPartition != (kafka.TopicPartition{}) && (app.armed.TopicPartition != tp || app.armed.Offset != offset) {
		return false
	}
	c.end(s, s.j.Append(c.node, max(c.last, app.armedBy), journal.ConsumerCrashed{At: app.armed.String()}), false)
	return true
}

// end ends the process from within. The cluster learns of it by [Consumer.Ended] and ends its connections.
func (c *Consumer) end(s *step, cause uint64, orderly bool) {
	if orderly {
		event := journal.ConsumerClosed{Group: c.config.Group.ID, Stays: c.stays()}
		if c.reconciles() && c.member.leaving != 0 {
			event.Stays, event.Epoch = "", c.leavingEpoch()
		}
		cause = s.j.Append(c.node, cause, event)
	}
	c.Kill(cause, s.out, s.j)
	c.ended = cause
}

// stays says why the consumer does not leave its group when it is closed; empty: it leaves.
func (c *Consumer) stays() string {
	switch m := c.member; {
	case c.reconciles() && m.membership.absent():
		return "it is no member"
	case c.reconciles() && m.coordinator != "":
		return ""
	case c.config.Group.InstanceID != "":
		return "it has a group.instance.id, so its partitions wait for it until its session ends"
	case c.selfAssigned():
		return "it assigns its partitions itself and is no member"
	case !c.reconciles() && (m.id == "" || m.state == unjoined):
		return "it is no member"
	case m.coordinator == "":
		return "no coordinator is known, and its session has to end"
	}
	return ""
}

// Ended gives the Seq of the event by which the process ended by itself since the last call; 0: it did not.
func (c *Consumer) Ended() (cause uint64) {
	cause, c.ended = c.ended, 0
	return cause
}
