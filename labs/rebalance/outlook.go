package rebalance

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
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
		if at >= l.View.Now && (first == nil || at < first.at) {
			first = &timer{at, fmt.Sprintf(format, args...)}
		}
	}
	beats := map[kafka.Millis][]string{}
	for i := range l.group.Members {
		m, s := &l.group.Members[i], l.history.seats[i]
		if !m.Alive || m.Paused || m.MemberView == nil {
			continue
		}
		if l.beats(i) {
			beats[m.HeartbeatAt] = append(beats[m.HeartbeatAt], string(s.node))
		}
		if len(m.Busy)+len(m.Queue) > 0 && s.in != "" && s.in == s.id && s.leaving == unaware && !s.beatless {
			otherwise := "it leaves"
			if static := instanceFor(l.Address.Values, i) != ""; static && l.remote() {
				otherwise = "it says that it is away"
			} else if static {
				otherwise = "it sends no more heartbeats"
			}
			add(m.PollBy, "%s must have polled, or %s (max.poll.interval.ms)", s.node, otherwise)
		}
	}
	for at, names := range beats {
		learns := ""
		if l.history.open() == nil && l.answered(names) {
			learns = fmt.Sprintf(", and so %s of a rebalance if there is one", labs.Verb(len(names), "learns", "learn"))
		}
		add(at, "%s %s a heartbeat%s", listed(names), labs.Verb(len(names), "sends", "send"), learns)
	}
	if held := l.group.Held; held != nil && !l.history.broker.paused {
		for i := range held.Members {
			m := &held.Members[i]
			if m.SessionEnds > 0 && l.silent(m) && l.heard(m) == "" {
				add(m.SessionEnds, "the session of %s ends, and it is removed%s (%s)", l.processName(m.ID), l.unless(m), l.sessionSetting())
			}
			if m.RevokeEnds > 0 {
				add(m.RevokeEnds, "%s is fenced unless it has given up %s (max.poll.interval.ms)", l.processName(m.ID), partitionsText(m.Revoking))
			}
		}
		switch {
		case held.JoinEnds > 0 && held.JoinEndsBy == initialDelay:
			add(held.JoinEnds, "the join phase ends, or goes on if members came meanwhile (%s)", held.JoinEndsBy)
		case held.JoinEnds > 0:
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

// answered says whether the requests of these members come to the broker, and its answers to them.
func (l *layout) answered(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		i, ok := memberPlace(kafka.NodeID(name))
		return !ok || !l.history.reaches(l.history.seats[i])
	})
}

// beats says whether the next that a member sends for its membership is a heartbeat: it does not join, acknowledge or
// leave first.
func (l *layout) beats(i int) bool {
	m, s := &l.group.Members[i], l.history.seats[i]
	if s.in == "" || s.in != s.id || s.failed || s.beatless || s.leaving != unaware || m.Rejoin != "" || l.history.now.state == noCoordinator {
		return false
	}
	if (l.history.now.state != group.Stable || l.sent("JoinGroup", "LeaveGroup")) && slices.ContainsFunc(l.View.UnderWay, func(u engine.MessageView) bool {
		return u.API == "Heartbeat" && (u.From == s.node || u.To == s.node)
	}) { // its answer is that the member is to join again
		return false
	}
	if l.remote() {
		return m.State == "stable" && s.doing == reads && len(m.Target) == s.owned
	}
	return m.State == "stable" || m.State == "waiting for its assignment"
}

// silent says whether the coordinator will hear no more of a member as things stand.
func (l *layout) silent(m *group.MemberView) bool {
	i, ok := l.history.holders[m.ID]
	if !ok {
		return false
	}
	s := l.history.seats[i]
	return !s.alive || s.paused || s.id != m.ID || s.cutTo || s.cutFrom || s.beatless
}

// Bounds of looking ahead.
const (
	aheadTicks = 60
	aheadLong  = 130 // with the consumer protocol, whose sessions are long
	aheadMost  = 700 // members times partitions for which it is done
)

// outlook says what would follow if somebody joined or crashed now.
func (l *layout) outlook() (list []view.Paragraph) {
	if state := l.history.now.state; l.history.open() != nil || state != group.Stable && state != group.Empty {
		return nil
	}
	if l.underWay() {
		return nil
	}
	add := func(p view.Paragraph) {
		if len(p) > 0 {
			list = append(list, p)
		}
	}
	if i, ok := l.nextToJoin(); ok {
		add(l.readIf("joined", "join of "+memberName(i), memberName(i), command.Start{Node: kafka.NodeID(memberName(i))}))
	}
	for i, s := range l.history.seats {
		if s.phase().kind == reads && s.in != "" {
			add(l.readIf("crashed", "crash "+memberName(i), memberName(i), command.Crash{Node: kafka.NodeID(memberName(i))}))
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
		p[0].Text = fmt.Sprintf("If %s %s now: ", name, verb)
		return append(p, labs.TryIt(what, a.WithTick(l.Address.T+1)), view.Span{Text: "."})
	}
	f := l.foresee(name, cmd)
	if f.disturbed {
		return nil
	}
	to := a.WithTick(min(f.tick, a.Last()))
	if f.error != "" {
		return append(p, view.Span{Text: fmt.Sprintf("it would end with %s, and the group would go on as it is: ", f.error)}, labs.TryIt(what, to), view.Span{Text: "."})
	}
	if f.left > 0 {
		return append(p, view.Span{Text: fmt.Sprintf("%s would stay without a reader: ", kafka.Count(f.left, "partition"))}, labs.TryIt(what, to), view.Span{Text: "."})
	}
	if !f.settled {
		return append(p, view.Span{Text: fmt.Sprintf("the group would not be through with it %s later: ", kafka.Count(f.tick-l.Address.T, "tick"))}, labs.TryIt(what, to), view.Span{Text: "."})
	}
	if n := l.unread(); n > 0 { // it stood still before, and not for this
		return append(p, view.Span{Text: fmt.Sprintf("the %s that nobody reads would be read, all of them %s later: ", kafka.Count(n, "partition"), l.seconds(f.tick-l.Address.T))}, labs.TryIt(what, to), view.Span{Text: "."})
	}
	parts := []string{fmt.Sprintf("%s would move", kafka.Count(len(f.moved), "partition"))}
	if f.stood == 0 {
		parts = append(parts, "none would stand still")
	} else {
		parts = append(parts, fmt.Sprintf("%d would stand still for %s in all, the longest for %s", f.stood, kafka.Count(f.ticks, "tick"), l.seconds(f.longest)))
	}
	return append(p, view.Span{Text: strings.Join(parts, " and ") + ": "}, labs.TryIt(what, to), view.Span{Text: "."})
}

// prospect is what would follow from a command.
type prospect struct {
	cost
	tick      int
	settled   bool   // the group is through with it, and every partition is read again or nobody is left to read any
	disturbed bool   // a rebalance for another reason comes in between
	left      int    // partitions that nobody is left to read
	error     string // with which the member ends instead
}

// foresee carries a command for a member out in a copy of the cluster and goes on until the group is through with it and
// every partition is read again, if that is soon.
func (l *layout) foresee(name string, cmd command.Command) (f prospect) {
	c := l.Cluster.Clone()
	f.tick = l.Address.T + 1
	if c.Apply(cmd) != nil {
		return f
	}
	ahead := *l
	ahead.history = l.base.clone(c.Journal())
	ahead.history.readFrom(l.Cluster.Journal().Len())
	before := len(ahead.history.changes)
	last := min(l.Address.T+l.aheadTicks(), l.Address.Last())
	for ; f.tick <= last; f.tick++ {
		if c.Tick() != nil {
			return f
		}
		ahead.history.readTick(kafka.Tick(f.tick))
		after := ahead.history.changes[before:]
		if i, ok := memberPlace(kafka.NodeID(name)); ok && ahead.history.seats[i].failed && len(after) == 0 {
			f.error = ahead.history.seats[i].error
			return f
		}
		if len(after) == 0 {
			continue
		}
		if f.disturbed = len(after) > 1 || !strings.Contains(ahead.named(after[0].why), name); f.disturbed {
			return f
		}
		if change := after[0]; change.to >= 0 && (change.emptied || ahead.allRead()) {
			if f.cost, f.settled = ahead.costOf(change), true; change.emptied {
				f.left = len(ahead.history.tracks)
			}
			return f
		}
	}
	f.tick = last
	return f
}

// underWay says whether something is under way that changes the group without a further command, or a partition is not
// read: what would follow from a command then is not that command’s alone.
func (l *layout) underWay() bool {
	for _, t := range l.history.tracks {
		if t.now().gap() && len(l.present()) > 0 && l.running() > 0 {
			return true
		}
		if _, given := l.history.last[t.TopicPartition]; t.added > 0 && !given {
			return true
		}
	}
	if l.sent("CreatePartitions", "JoinGroup", "SyncGroup", "LeaveGroup") {
		return true
	}
	for _, s := range l.history.seats {
		if len(s.ghosts) > 0 || s.leaving != unaware || s.cutTo || s.cutFrom || s.in != "" && (!s.alive || s.paused || s.id != s.in) || s.alive && s.in == "" && !s.failed {
			return true
		}
	}
	return l.View.Brokers[0].State != isRunning || l.history.broker.paused
}

// sent says whether one of some requests, or its answer, is on its way.
func (l *layout) sent(apis ...string) bool {
	return slices.ContainsFunc(l.View.UnderWay, func(m engine.MessageView) bool { return slices.Contains(apis, m.API) })
}

// aheadTicks is how far is looked ahead.
func (l *layout) aheadTicks() int {
	if l.remote() {
		return aheadLong
	}
	return aheadTicks
}

// unread counts the partitions that nobody reads now.
func (l *layout) unread() (n int) {
	for _, t := range l.history.tracks {
		if t.now().gap() {
			n++
		}
	}
	return n
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
