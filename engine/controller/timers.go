package controller

import (
	"fmt"
	"math"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// The periodic tasks, in the order in which they run when they are due at the same time.
const (
	fenceTimer     = iota // looks for one broker whose session is over
	preferredTimer        // elects preferred leaders
	uncleanTimer          // elects leaders uncleanly where that is allowed
	timerCount
)

// noTimer is when a timer that is off fires.
const noTimer kafka.Millis = math.MaxInt64

// immediatePeriod is how soon a task runs again that has not done all of its work.
//
// Source: PeriodicTask.DEFAULT_IMMEDIATE_PERIOD_NS.
const immediatePeriod kafka.Millis = 10

// period is how often a task runs.
//
// Source: QuorumController.maybeFenceStaleBrokerPeriodNs, registerElectPreferred, registerElectUnclean.
func (c *Controller) period(timer int) kafka.Millis {
	switch timer {
	case fenceTimer:
		return max(1, c.config.BrokerSessionTimeout/8)
	case preferredTimer:
		return c.config.LeaderImbalanceCheckInterval
	}
	return c.config.UncleanLeaderElectionInterval
}

func (c *Controller) startTimers() {
	for timer := range c.timers {
		c.timers[timer] = c.config.Activated + c.period(timer)
	}
	if !c.config.AutoLeaderRebalance {
		c.timers[preferredTimer] = noTimer
	}
}

// NextDue is when the next timer fires: a periodic task, or a fetch that has waited long enough. There is always
// one.
func (c *Controller) NextDue() (due kafka.Millis, ok bool) {
	due = noTimer
	for _, at := range c.timers {
		due = min(due, at)
	}
	for _, p := range c.parked {
		due = min(due, p.deadline)
	}
	return due, due != noTimer
}

// NextTimer is when the controller's next timer fires and what it then does, in words.
func (c *Controller) NextTimer() (due kafka.Millis, does string, ok bool) {
	due, ok = c.NextDue()
	switch due {
	case c.timers[fenceTimer]:
		return due, fmt.Sprintf("looks for a broker without a heartbeat for more than broker.session.timeout.ms = %s", kafka.Thousands(c.config.BrokerSessionTimeout)), ok
	case c.timers[preferredTimer]:
		return due, fmt.Sprintf("elects preferred leaders, every leader.imbalance.check.interval.seconds = %s", kafka.Thousands(c.config.LeaderImbalanceCheckInterval/1000)), ok
	case c.timers[uncleanTimer]:
		return due, fmt.Sprintf("looks for partitions without a leader that may get one uncleanly, every unclean.leader.election.interval.ms = %s", kafka.Thousands(c.config.UncleanLeaderElectionInterval)), ok
	}
	for _, p := range c.parked {
		if p.deadline == due {
			return due, fmt.Sprintf("answers the fetch of %s, which has then waited as long as it asked to", p.message.From), ok
		}
	}
	return due, "", false
}

// Tick runs the periodic tasks that are due and answers the parked fetches whose wait is over.
func (c *Controller) Tick(now kafka.Millis, j *journal.Journal) []simnet.Send {
	var sends []simnet.Send
	for timer := range c.timers {
		if c.timers[timer] > now {
			continue
		}
		op, again := c.run(timer, now)
		_, fetched := c.commit(now, op, 0, j)
		sends = append(sends, fetched...)
		c.timers[timer] = now + c.period(timer)
		if again {
			c.timers[timer] = now + immediatePeriod
		}
	}
	return append(sends, c.completeFetches(func(p parkedFetch) (uint64, bool) { return p.parked, p.deadline <= now })...)
}

// run does one periodic task; again says that it has not done all of its work.
func (c *Controller) run(timer int, now kafka.Millis) (op operation, again bool) {
	switch timer {
	case fenceTimer:
		return c.maybeFenceOneStaleBroker(now)
	case preferredTimer:
		return c.balanceLeaders()
	}
	return c.electUncleanLeaders()
}
