package group

import (
	"slices"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// NextDue is when the next timer fires; ok is false when none is set.
func (c *Coordinator) NextDue() (due kafka.Millis, ok bool) { return c.next.due, c.next.set }

// setNext finds the first timer. The check of what has expired counts while there is a group.
func (c *Coordinator) setNext(now kafka.Millis) {
	next := timer{}
	earliest := func(t timer) {
		if t.set && (!next.set || t.due < next.due) {
			next = t
		}
	}
	if !c.resigned && c.hasGroups() {
		c.skipChecks(now)
		earliest(timer{c.check, true})
	}
	for _, g := range c.groups {
		earliest(g.joinEnds)
		earliest(g.syncEnds)
		for _, m := range g.members {
			earliest(m.session)
		}
		for _, p := range g.pending {
			earliest(timer{p.expires, true})
		}
	}
	for _, sl := range c.slots {
		for i := range sl.timers {
			t := &sl.timers[i]
			earliest(t.session)
			earliest(t.revoke)
			earliest(t.join)
			earliest(t.sync)
		}
	}
	for i := range c.writes {
		for k := range c.writes[i].waiting {
			earliest(timer{c.writes[i].waiting[k].deadline, true})
		}
	}
	c.next = next
}

// hasGroups says whether there is a group.
func (c *Coordinator) hasGroups() bool {
	return len(c.groups) > 0 || slices.ContainsFunc(c.slots, func(sl *slot) bool { return sl.latest != nil })
}

// skipChecks leaves out the checks that came while there was no group; the times of the others stay.
func (c *Coordinator) skipChecks(now kafka.Millis) {
	interval := max(c.config.RetentionCheckInterval, 1)
	if c.check < now {
		c.check += (now - c.check + interval - 1) / interval * interval
	}
}

// Tick lets the timers that are due fire: those of groups by time, at equal times by group and there the end of the
// join phase, then that of the sync phase, members in the order in which they joined, and pending ids, and behind the
// classic groups those of the consumer protocol; then what waits for a write too long; then the check of what has expired.
func (c *Coordinator) Tick(now kafka.Millis, j *journal.Journal) coordinator.Effects {
	if !c.next.isDue(now) {
		return coordinator.Effects{}
	}
	s := c.begin(now, 0, j)
	for s.fireFirst() {
		s.cause = 0
	}
	s.timeOutWrites()
	if c.hasGroups() && c.check <= now {
		c.check = now + c.config.RetentionCheckInterval
		s.cause = 0
		s.removeExpired()
	}
	return s.end()
}

// fireFirst lets the first timer of a group fire, if one is due.
func (s *step) fireFirst() bool {
	var fire func()
	first := s.now + 1
	consider := func(t timer, f func()) {
		if t.set && t.due < first {
			first, fire = t.due, f
		}
	}
	for _, g := range s.c.groups {
		consider(g.joinEnds, func() { s.joinPhaseTimer(g) })
		consider(g.syncEnds, func() { s.syncTimer(g) })
		for _, m := range g.members {
			consider(m.session, func() { s.sessionTimer(g, m) })
		}
		for _, p := range g.pending {
			consider(timer{p.expires, true}, func() { s.pendingTimer(g, p) })
		}
	}
	for _, sl := range s.c.slots {
		for i := range sl.timers {
			t := sl.timers[i]
			consider(t.session, func() { s.consumerTimer(sl, t.member, sessionEnds) })
			consider(t.revoke, func() { s.consumerTimer(sl, t.member, revokeEnds) })
			consider(t.join, func() { s.consumerTimer(sl, t.member, joinEnds) })
			consider(t.sync, func() { s.consumerTimer(sl, t.member, syncEnds) })
		}
	}
	if fire == nil {
		return false
	}
	fire()
	return true
}
