package rebalance

import (
	"fmt"
	"strings"

	"loglab/engine/command"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// readNext says which timer fires next for the group's membership, and what it does.
func (l *layout) readNext() view.Paragraph {
	type timer struct {
		at   kafka.Millis
		text string
	}
	var first *timer
	add := func(at kafka.Millis, format string, args ...any) {
		if at > l.View.Now && (first == nil || at < first.at) {
			first = &timer{at, fmt.Sprintf(format, args...)}
		}
	}
	beats := map[kafka.Millis][]string{}
	for i := range l.group.Members {
		m, s := &l.group.Members[i], l.history.seats[i]
		if !m.Alive || m.Paused || m.MemberView == nil {
			continue
		}
		if m.State == "stable" || m.State == "waiting for its assignment" || l.remote() && s.in != "" {
			beats[m.HeartbeatAt] = append(beats[m.HeartbeatAt], string(s.node))
		}
		if len(m.Busy)+len(m.Queue) > 0 {
			add(m.PollBy, "%s must have polled, or it leaves (max.poll.interval.ms)", s.node)
		}
	}
	for at, names := range beats {
		add(at, "%s %s a heartbeat, and so %s of a rebalance if there is one", listed(names), labs.Verb(len(names), "sends", "send"), labs.Verb(len(names), "learns", "learn"))
	}
	if held := l.group.Held; held != nil {
		for i := range held.Members {
			m := &held.Members[i]
			if at, ok := l.history.holders[m.ID]; ok && m.SessionEnds > 0 && l.silent(at) {
				add(m.SessionEnds, "the session of %s ends, and it is removed (%s)", l.nameOf(m.ID), l.sessionSetting())
			}
			if m.RevokeEnds > 0 {
				add(m.RevokeEnds, "%s is fenced unless it has given up %s (max.poll.interval.ms)", l.nameOf(m.ID), partitionsText(m.Revoking))
			}
		}
		if held.JoinEnds > 0 {
			add(held.JoinEnds, "the join phase ends without those who have not joined (%s)", held.JoinEndsBy)
		}
		if held.SyncEnds > 0 {
			add(held.SyncEnds, "who has not sent SyncGroup is removed (the longest max.poll.interval.ms)")
		}
	}
	if first == nil {
		return nil
	}
	return say(fmt.Sprintf("The next timer, in tick %d: ", l.tickAt(first.at)), "%s.", first.text)
}

// silent says whether the group counts a member of which it will hear no more as things stand.
func (l *layout) silent(i int) bool {
	s := l.history.seats[i]
	return s.in != "" && (!s.alive || s.paused || s.id != s.in)
}

// Bounds of looking ahead.
const (
	aheadTicks = 60
	aheadLong  = 130 // with the consumer protocol, whose sessions are long
	aheadMost  = 700 // members times partitions for which it is done
)

// outlook says what would follow if somebody joined or crashed now.
func (l *layout) outlook() (list []view.Paragraph) {
	if l.history.open() != nil || l.group.State != group.Stable && l.group.State != group.Empty {
		return nil
	}
	for _, t := range l.history.tracks {
		if l.history.standingOf(t).gap() && len(l.present()) > 0 && l.running() > 0 {
			return nil
		}
	}
	if i, ok := l.nextToJoin(); ok {
		list = append(list, l.readIf("joined", "join of "+memberName(i), memberName(i), command.Start{Node: kafka.NodeID(memberName(i))}))
	}
	for i, s := range l.history.seats {
		if s.phase().kind == reads {
			list = append(list, l.readIf("crashed", "crash "+memberName(i), memberName(i), command.Crash{Node: kafka.NodeID(memberName(i))}))
			break
		}
	}
	return list
}

// readIf says what would follow from a command now, which it tries out.
func (l *layout) readIf(verb, what, name string, cmd command.Command) view.Paragraph {
	a := l.Address.WithCommand(cmd, false)
	p := view.Paragraph{{Text: fmt.Sprintf("If %s %s now, ", name, verb), Strong: true}}
	if len(l.present())*len(l.history.tracks) > aheadMost || l.Beside != nil {
		return append(p, labs.TryIt(what, a.WithTick(l.Address.T+1)), view.Span{Text: "."})
	}
	k, at, settled := l.foresee(cmd)
	to := a.WithTick(min(at, a.Last()))
	if !settled {
		return append(p, view.Span{Text: fmt.Sprintf("the group would not be through with it %d ticks later: ", l.aheadTicks())}, labs.TryIt(what, to), view.Span{Text: "."})
	}
	var parts []string
	parts = append(parts, fmt.Sprintf("%s would move", kafka.Count(len(k.moved), "partition")))
	if k.stood == 0 {
		parts = append(parts, "none would stand still")
	} else {
		parts = append(parts, fmt.Sprintf("%d would stand still for %s in all, the longest for %s", k.stood, kafka.Count(k.ticks, "tick"), l.seconds(k.longest)))
	}
	return append(p, view.Span{Text: strings.Join(parts, " and ") + ": "}, labs.TryIt(what, to), view.Span{Text: "."})
}

// foresee carries a command out in a copy of the cluster and goes on until the group is through with it and every
// partition is read again, if that is soon. It gives what it cost and the tick.
func (l *layout) foresee(cmd command.Command) (k cost, tick int, settled bool) {
	c := l.Cluster.Clone()
	if c.Apply(cmd) != nil {
		return k, l.Address.T + 1, false
	}
	ahead := *l
	ahead.history = l.base.clone(c.Journal())
	ahead.history.readFrom(l.Cluster.Journal().Len())
	last := min(l.Address.T+l.aheadTicks(), l.Address.Last())
	for tick = l.Address.T + 1; tick <= last; tick++ {
		if c.Tick() != nil {
			return k, tick, false
		}
		ahead.history.readTick(kafka.Tick(tick))
		if change := ahead.history.lastChange(); change != nil && int(change.from) > l.Address.T && change.to >= 0 && ahead.allRead() {
			return ahead.costOf(change), tick, true
		}
	}
	return k, last, false
}

// aheadTicks is how far is looked ahead.
func (l *layout) aheadTicks() int {
	if l.remote() {
		return aheadLong
	}
	return aheadTicks
}

// allRead says whether every partition is read.
func (l *layout) allRead() bool {
	for _, t := range l.history.tracks {
		if l.history.standingOf(t).gap() {
			return false
		}
	}
	return true
}
