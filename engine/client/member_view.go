package client

import (
	"fmt"
	"slices"

	"loglab/engine/kafka"
)

// MemberView is what can be seen of a consumer's part in its group, with its application: an immutable value.
type MemberView struct {
	Group        string                `json:"group"`
	MemberID     kafka.MemberID        `json:"member_id"` // empty: none
	InstanceID   kafka.GroupInstanceID `json:"instance_id,omitempty"`
	Generation   kafka.GenerationID    `json:"generation"` // as it believes; -1: none
	State        string                `json:"member_state"`
	Assignor     string                `json:"assignor,omitempty"` // of the generation
	Leader       bool                  `json:"leader"`
	Cooperative  bool                  `json:"cooperative"`             // it goes on reading through a rebalance what it keeps
	Coordinator  kafka.NodeID          `json:"coordinator"`             // as it believes; empty: none known
	Rejoin       string                `json:"rejoins,omitempty"`       // why it joins when its application polls
	App          string                `json:"application"`             // what the application does, in words
	Refuses      string                `json:"-"`                       // why the application takes no orders; empty: it does
	Busy         []WorkView            `json:"in_hand"`                 // records being processed, by thread
	Queue        []PlaceView           `json:"waiting_to_be_processed"` // in order
	Done         []ProgressView        `json:"done"`                    // sorted by partition
	Committing   []ProgressView        `json:"commits_under_way"`       // oldest first; their offsets as Next
	Armed        string                `json:"crashes,omitempty"`       // the point at which it will crash
	PollBy       kafka.Millis          `json:"-"`                       // while the application works: when it must have polled
	HeartbeatAt  kafka.Millis          `json:"-"`                       // the next; valid while it is a member
	SelfAssigned bool                  `json:"self_assigned,omitempty"`
	Fetching     bool                  `json:"-"` // its application polls for records

	// Of the consumer protocol. Generation is then -1.
	Protocol GroupProtocol          `json:"group_protocol"`
	Epoch    kafka.MemberEpoch      `json:"member_epoch"`
	Target   []kafka.TopicPartition `json:"told_to_own,omitempty"` // what the coordinator last told it to own
}

// PlaceView is one record.
type PlaceView struct {
	kafka.TopicPartition
	Offset kafka.Offset `json:"offset"`
}

// WorkView is one record in an application's hands.
type WorkView struct {
	PlaceView
	Thread int          `json:"thread"` // from 1; 0: the poll loop
	DoneAt kafka.Millis `json:"done_at_ms"`
	Waits  bool         `json:"waits_for_sink,omitempty"`
}

// ProgressView is how far an application is in one partition.
type ProgressView struct {
	kafka.TopicPartition
	Next      kafka.Offset `json:"next"`      // after the last record that is done
	Committed kafka.Offset `json:"committed"` // by this process; -1: nothing
}

// The states of a member, in words.
var memberStates = [...]string{unjoined: "not joined", preparing: "joining", completing: "waiting for its assignment", stable: "stable"}

// MemberView gives the state of a member; nil for a consumer without a group.
func (c *Consumer) MemberView(now kafka.Millis) *MemberView {
	m := c.member
	if m == nil {
		return nil
	}
	g := &c.config.Group
	v := &MemberView{
		Group: g.ID, MemberID: m.id, InstanceID: g.InstanceID, Generation: m.generation, State: memberStates[m.state], Assignor: m.assignor, Leader: m.leader && m.state == stable,
		Cooperative: c.cooperative(), Coordinator: m.coordinator, Rejoin: m.rejoin, App: c.does(now), Refuses: c.why(), Armed: m.app.armed.String(), SelfAssigned: c.selfAssigned(),
		Busy: []WorkView{}, Queue: []PlaceView{}, Done: []ProgressView{}, Committing: []ProgressView{}, Fetching: m.app.state == appPolling && m.app.pollAt <= now,
	}
	if c.selfAssigned() {
		v.State = "assigns itself"
	}
	v.PollBy = m.polled + g.MaxPollInterval
	v.HeartbeatAt = m.beatAt
	c.viewMembership(v, now)
	work := func(t thread, number int) {
		if t.busy {
			v.Busy = append(v.Busy, WorkView{PlaceView{t.job.tp, t.job.offset}, number, t.doneAt, t.waits})
		}
	}
	work(m.app.loop, 0)
	for i, t := range m.app.pool {
		work(t, i+1)
	}
	for _, j := range m.app.queue {
		v.Queue = append(v.Queue, PlaceView{j.tp, j.offset})
	}
	for _, p := range m.app.done {
		v.Done = append(v.Done, ProgressView{p.tp, p.next, p.committed})
	}
	for _, u := range m.commits {
		for _, o := range u.offsets {
			v.Committing = append(v.Committing, ProgressView{o.tp, o.offset, kafka.NoOffset})
		}
	}
	return v
}

// viewMembership shows what is of the consumer protocol.
func (c *Consumer) viewMembership(v *MemberView, now kafka.Millis) {
	if v.Protocol = ClassicProtocol; c.config.Group.Protocol == ConsumerProtocol {
		v.Protocol = ConsumerProtocol
	}
	if !c.reconciles() {
		return
	}
	ms := &c.member.membership
	v.State, v.Epoch = membershipStates[ms.state], ms.epoch
	_, v.Target = c.resolve(ms.target)
	if v.HeartbeatAt = max(ms.beatAt, now); ms.state == memberJoining {
		v.Rejoin = ms.why
	}
}

// beatDoes says which heartbeat is the next, in words.
func (ms *membership) beatDoes() string {
	switch ms.state {
	case memberJoining:
		return "joins its group by a heartbeat with epoch 0"
	case memberAcknowledging:
		return "tells the coordinator what it owns now"
	}
	return fmt.Sprintf("sends a heartbeat, every %s ms as the coordinator has told it", kafka.Thousands(ms.interval))
}

// does says what the application does, in words.
func (c *Consumer) does(now kafka.Millis) string {
	app := &c.member.app
	switch {
	case c.dead:
		return "not running"
	case app.state == appFailed:
		return "ended with an error"
	case app.state == appClosing:
		return "closing"
	case app.state == appCommitting && c.member.inCallback():
		return "committing before it gives partitions up"
	case app.state == appCommitting:
		return "waiting for a commit"
	case app.state == appStarting && c.transactional():
		return "in initTransactions"
	case app.state == appStarting:
		return "waiting for its producer"
	case app.state == appFlushing:
		return "waiting for its records to be acknowledged"
	case app.state == appSendingOffsets:
		return "in sendOffsetsToTransaction"
	case app.state == appEnding && app.gaveUp:
		return "in abortTransaction"
	case app.state == appEnding:
		return "in commitTransaction"
	case app.state == appDeadLettering:
		return "waiting for the dead-letter topic"
	case app.loop.busy && app.loop.waits:
		return "waiting for the sink"
	case app.loop.busy:
		return fmt.Sprintf("processing %s @%d", app.loop.job.tp, app.loop.job.offset)
	case app.state == appWorking && c.config.Group.App.ByHand && len(app.queue) > 0:
		return "holding records until you let it process"
	case slices.ContainsFunc(app.pool, func(t thread) bool { return t.busy }):
		return "polling, its threads at work"
	case app.pollAt > now:
		return "not started to read"
	}
	return "polling"
}

// memberDoes says what a member does at a time that is the next at which one of its timers fires, in words; empty:
// none of its own does.
func (c *Consumer) memberDoes(due kafka.Millis) string {
	if c.member == nil {
		return ""
	}
	app := &c.member.app
	is := func(at kafka.Millis, any bool) bool { return any && at == due }
	if c.producer != nil && is(c.producer.NextDue()) {
		_, does, _ := c.producer.NextTimer()
		return "its producer: " + does
	}
	switch g := &c.config.Group; {
	case is(app.loop.doneAt, app.state == appWorking && app.loop.busy):
		return fmt.Sprintf("the application is done with %s @%d", app.loop.job.tp, app.loop.job.offset)
	case slices.ContainsFunc(app.pool, func(t thread) bool { return t.busy && t.doneAt == due }):
		return "a thread is done with its record"
	case is(c.beatDue()) && c.reconciles():
		return c.member.membership.beatDoes()
	case is(c.beatDue()):
		return fmt.Sprintf("sends a heartbeat, every heartbeat.interval.ms = %s", kafka.Thousands(g.HeartbeatInterval))
	case is(c.autoCommitDue()):
		return fmt.Sprintf("commits its positions, every auto.commit.interval.ms = %s", kafka.Thousands(g.AutoCommitInterval))
	case is(c.pollDue()):
		return fmt.Sprintf("has not polled for max.poll.interval.ms = %s", kafka.Thousands(g.MaxPollInterval))
	case is(c.joinDue()):
		return "joins its group"
	case is(c.findDue()):
		return "asks for its coordinator"
	case is(c.lookDue()):
		return "asks where its group has committed"
	case is(c.syncDue()), is(c.roundDue()):
		return "sends its commit again"
	case is(app.pollAt, true):
		return "the application polls"
	}
	return ""
}
