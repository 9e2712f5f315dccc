package rebalance

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// reading says in plain words what the picture shows.
func (l *layout) reading() (list []view.Paragraph) {
	add := func(paragraphs ...view.Paragraph) {
		for _, p := range paragraphs {
			if len(p) > 0 {
				list = append(list, p)
			}
		}
	}
	add(l.readNow())
	if c := l.history.lastChange(); c != nil {
		add(l.readChange(c), l.readMoved(c), l.readStood(c))
	} else if k := l.costOf(&change{to: -1}); k.ticks > 0 {
		add(say(fmt.Sprintf("%d of %s stood still since tick 0, for %s in all, without a rebalance. ", k.stood, kafka.Count(len(l.history.tracks), "partition"), kafka.Count(k.ticks, "tick")),
			"The longest was %s: %s, %s.", k.worst, kafka.Count(k.longest, "tick"), l.seconds(k.longest)))
	}
	add(l.readGone()...)
	add(l.readReturn())
	add(l.readOutsiders()...)
	add(l.readLoops())
	add(l.readRefused()...)
	add(l.readIdle(), l.readShares())
	add(l.readNext())
	add(l.outlook()...)
	return list
}

// say makes a statement with its head in bold.
func say(head, format string, args ...any) view.Paragraph {
	return view.Paragraph{{Text: head, Strong: true}, {Text: fmt.Sprintf(format, args...)}}
}

// because makes a statement with a link to the causes of an event.
func (l *layout) because(p view.Paragraph, event uint64) view.Paragraph {
	if event == 0 {
		return p
	}
	return append(p, view.Span{Text: " "}, view.Span{Text: "why?", Label: "why? The causes of this", Href: l.Address.WithWhy(event).String(), Go: "replace"})
}

// readNow says how many partitions nobody reads at this tick.
func (l *layout) readNow() view.Paragraph {
	byKind := map[standingKind]int{}
	for _, t := range l.history.tracks {
		byKind[l.history.standingOf(t).kind]++
	}
	gaps := len(l.history.tracks) - byKind[read] - byKind[busy]
	if gaps == 0 {
		return say("Every partition is read. ", "%s, %s.", kafka.Count(len(l.history.tracks), "partition"), l.sharesText())
	}
	var parts []string
	for _, k := range []struct {
		kind standingKind
		text string
	}{
		{unowned, "%s without an owner"}, {begins, "%s whose new owner asks where to begin"}, {deserted, "%s whose owner is gone, which the group has not noticed"}, {stopped, "%s whose owner stands still"},
	} {
		if n := byKind[k.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf(k.text, fmt.Sprint(n)))
		}
	}
	return say(fmt.Sprintf("Nobody reads %d of %s now: ", gaps, kafka.Count(len(l.history.tracks), "partition")), "%s.", strings.Join(parts, "; "))
}

// sharesText says how many members share them.
func (l *layout) sharesText() string {
	n := 0
	for _, s := range l.history.seats {
		if s.alive && !s.paused && s.owned > 0 {
			n++
		}
	}
	return kafka.Count(n, "member") + " " + labs.Verb(n, "reads", "read")
}

// readChange says how far the last rebalance is, or how it went.
func (l *layout) readChange(c *change) view.Paragraph {
	why := strings.TrimSuffix(l.named(c.why), ".")
	if c.to >= 0 {
		rounds := ""
		if n := len(c.rounds); n > 1 && !l.remote() {
			rounds = fmt.Sprintf(" in %d rounds", n)
		}
		return l.because(say(fmt.Sprintf("The last rebalance: %s%s. ", ticksWords(c.from, c.to), rounds), "It began because %s.", why), c.event)
	}
	r := &c.rounds[len(c.rounds)-1]
	p := say(fmt.Sprintf("A rebalance goes on since tick %d. ", c.from), "It began because %s.", why)
	switch {
	case l.remote():
		p = append(p, view.Span{Text: " " + l.reconcileText(r)})
	case r.stable >= 0:
		p = append(p, view.Span{Text: fmt.Sprintf(" Round %d is over: %s held back until its owner has given it up and joined again; then the next round gives it out.", len(c.rounds), isAre(len(r.computed.Withheld), "partition"))})
	case r.joined < 0:
		p = append(p, view.Span{Text: " " + l.joinText()})
	case r.computed == nil:
		p = append(p, view.Span{Text: " All have joined: generation " + fmt.Sprint(r.generation) + ". The leader " + l.leaderName() + " divides the partitions; the others wait for it in SyncGroup."})
	default:
		p = append(p, view.Span{Text: " The leader has divided the partitions; the assignment is on its way to the coordinator and then to the members."})
	}
	return l.because(p, c.event)
}

// reconcileText says who has still to come to a target assignment.
func (l *layout) reconcileText(r *round) string {
	if r.computed == nil {
		return fmt.Sprintf("Group epoch %d: the next heartbeat of a member makes the coordinator divide anew.", r.generation)
	}
	var parts []string
	behind := 0
	if l.group.Held != nil {
		for i := range l.group.Held.Members {
			switch m := &l.group.Held.Members[i]; {
			case m.State == group.UnrevokedPartitions:
				parts = append(parts, fmt.Sprintf("%s is to give up %s", l.nameOf(m.ID), partitionsText(m.Revoking)))
			case m.State == group.UnreleasedPartitions:
				parts = append(parts, fmt.Sprintf("%s waits for %s", l.nameOf(m.ID), kafka.Count(len(m.Target)-len(m.Assignment), "partition")))
			case int32(m.Epoch) != int32(r.generation):
				behind++
			}
		}
	}
	if behind > 0 {
		parts = append(parts, fmt.Sprintf("%s of it with the next heartbeat", map[bool]string{true: "1 member learns", false: fmt.Sprintf("%d members learn", behind)}[behind == 1]))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("The target assignment is that of epoch %d.", r.generation)
	}
	return fmt.Sprintf("The target assignment is that of epoch %d: %s. Nobody waits for the whole group.", r.generation, strings.Join(parts, "; "))
}

// ticksWords writes from which tick to which.
func ticksWords(from, to kafka.Tick) string {
	if from == to {
		return fmt.Sprintf("tick %d", from)
	}
	return fmt.Sprintf("ticks %d to %d", from, to)
}

// isAre writes "1 partition is", "2 partitions are".
func isAre(n int, noun string) string { return kafka.Count(n, noun) + " " + labs.Verb(n, "is", "are") }

// leaderName names the group's leader.
func (l *layout) leaderName() string {
	if l.group.Held == nil {
		return "of the group"
	}
	return l.nameOf(l.group.Held.Leader)
}

// joinText says for whom a join phase waits, and until when.
func (l *layout) joinText() string {
	held := l.group.Held
	if held == nil || held.State != group.PreparingRebalance {
		return ""
	}
	var missing []string
	for _, m := range held.Members {
		if !m.WaitsInJoin {
			missing = append(missing, l.nameOf(m.ID))
		}
	}
	text := fmt.Sprintf("Join phase: %s joined", l.joinedText())
	if len(missing) > 0 {
		text += "; it waits for " + listed(missing)
	}
	if held.JoinEnds > 0 {
		text += fmt.Sprintf(", until tick %d at the latest (%s)", l.tickAt(held.JoinEnds), held.JoinEndsBy)
	}
	return text + "."
}

// listed writes names, of many only some.
func listed(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(names[:most-1:most-1], fmt.Sprintf("%d more", len(names)-most+1))
	}
	return strings.Join(names, ", ")
}

// readMoved says what changed hands, and what had to.
func (l *layout) readMoved(c *change) view.Paragraph {
	if !c.divided() {
		return nil
	}
	k := l.costOf(c)
	n := len(k.moved)
	verb := labs.Verb(n, "moves", "move")
	if c.to >= 0 {
		verb = "moved"
	}
	p := say(fmt.Sprintf("%s %s, %d had to. ", kafka.Count(n, "partition"), verb, k.fewest), "%s", movedText(n, k.fewest, c))
	if n > 0 && n <= movesTold {
		var moves []string
		for _, tp := range k.moved {
			moves = append(moves, fmt.Sprintf("%s from %s to %s", tp, memberName(c.before[tp]), memberName(c.after[tp])))
		}
		p = append(p, view.Span{Text: " It is " + strings.Join(moves, ", ") + "."})
		if n > 1 {
			p[len(p)-1].Text = " They are " + strings.Join(moves, ", ") + "."
		}
	}
	return p
}

// movesTold is how many moves are told one by one.
const movesTold = 4

// movedText judges how many partitions moved by the fewest that had to.
func movedText(n, fewest int, c *change) string {
	divisions := 0
	for i := range c.rounds {
		if c.rounds[i].computed != nil {
			divisions++
		}
	}
	assignor := c.rounds[len(c.rounds)-1].computed.Assignor
	switch blind := assignor == "range" || assignor == "roundrobin" || assignor == "server-range"; {
	case n > fewest && blind:
		return fmt.Sprintf("The rest moved because %s does not look at who had what.", assignor)
	case n > fewest && divisions > 1:
		return fmt.Sprintf("The group was divided %d times on the way, each time anew.", divisions)
	case n > fewest:
		return "An even division is possible with fewer moves."
	case n < fewest:
		return "An even division would have needed more."
	case n == 0:
		return "Everyone has what they had."
	}
	return "No division that is as even moves fewer."
}

// readStood says what stood still in the last rebalance, and for how long.
func (l *layout) readStood(c *change) view.Paragraph {
	k := l.costOf(c)
	if k.stood == 0 {
		return say("No partition stood still. ", "Whoever had one went on reading it.")
	}
	p := say(fmt.Sprintf("%d of %s stood still, for %s in all. ", k.stood, kafka.Count(len(l.history.tracks), "partition"), kafka.Count(k.ticks, "tick")),
		"The longest was %s: %s, %s.", k.worst, kafka.Count(k.longest, "tick"), l.seconds(k.longest))
	if k.waited > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" %s written to them meanwhile and waited.", were(k.waited, "record"))})
	}
	if k.needless > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" %d of these %s handed back to whoever had %s: an eager member gives up all it has before it joins.", k.needless, labs.Verb(k.needless, "was", "were"), labs.Verb(k.needless, "it", "them"))})
	}
	return p
}

// readReturn tells of the last static member whose place another process took.
func (l *layout) readReturn() view.Paragraph {
	n := len(l.history.returns)
	if n == 0 || l.history.returns[n-1].tick == 0 {
		return nil
	}
	b := l.history.returns[n-1]
	follows := "its partitions are its own again at once, and nobody else joins."
	if b.rebalance != "" {
		follows = "a rebalance follows: " + l.named(b.rebalance) + "."
	}
	p := say(fmt.Sprintf("%s came back in tick %d. ", memberName(b.to), b.tick), "It has its group.instance.id, %s: %s", b.instance, follows)
	if b.from != b.to {
		p = say(fmt.Sprintf("%s took the place of %s in tick %d. ", memberName(b.to), memberName(b.from), b.tick),
			"Both have group.instance.id = %s: the last to join has the partitions, and the other is answered FENCED_INSTANCE_ID.", b.instance)
	}
	return l.because(p, b.event)
}

// were writes "1 record was", "2 records were".
func were(n int, noun string) string { return kafka.Count(n, noun) + " " + labs.Verb(n, "was", "were") }

// goneTold is how many members that the group will hear of no more are told of.
const goneTold = 3

// readGone tells of members whose process is gone or stands still, and of whom the group does not know that.
func (l *layout) readGone() (list []view.Paragraph) {
	for _, i := range l.present() {
		s, held := l.history.seats[i], l.held(i)
		if held == nil || !l.silent(i) || len(list) == goneTold {
			continue
		}
		what := "is gone"
		if s.alive && s.paused {
			what = "stands still"
		} else if s.alive {
			what = "was started again, and its earlier process is still a member"
		}
		text := fmt.Sprintf("Its %s stay with it meanwhile.", kafka.Count(len(held.Assignment), "partition"))
		if len(held.Assignment) == 0 {
			text = ""
		}
		if held.SessionEnds == 0 {
			list = append(list, say(fmt.Sprintf("%s %s, and the group has not noticed. ", s.node, what), "%s", text))
			continue
		}
		at := l.tickAt(held.SessionEnds)
		p := say(fmt.Sprintf("%s %s, and the group has not noticed. ", s.node, what), "Its session ends in tick %d: %s = %s after its last heartbeat. %s ", at, l.sessionSetting(), kafka.Thousands(held.SessionTimeout), text)
		list = append(list, append(p, labs.TryIt(fmt.Sprintf("tick %d", at), l.Address.WithTick(at)), view.Span{Text: "."}))
	}
	return list
}

// readOutsiders tells of processes that read though the group counts them as gone.
func (l *layout) readOutsiders() (list []view.Paragraph) {
	for _, i := range l.present() {
		s := l.history.seats[i]
		switch {
		case s.failed:
			list = append(list, l.because(say(fmt.Sprintf("%s has ended with %s. ", s.node, s.error), "No retry mends that: poll throws it, and the application ends."), s.since))
		case s.alive && s.in == "" && s.owned > 0 && l.group.Held != nil:
			list = append(list, say(fmt.Sprintf("%s is no member any more and does not know it. ", s.node), "It has %s by its own belief; what it commits for them will be refused.", kafka.Count(s.owned, "partition")))
		}
	}
	return list
}

// readLoops tells of applications that do not poll in time.
func (l *layout) readLoops() view.Paragraph {
	n := len(l.history.loops)
	if n == 0 {
		return nil
	}
	last := l.history.loops[n-1]
	times := 0
	for _, o := range l.history.loops {
		if o.member == last.member {
			times++
		}
	}
	head := fmt.Sprintf("%s has not polled in time, in tick %d. ", memberName(last.member), last.tick)
	if times > 1 {
		head = fmt.Sprintf("%s has not polled in time %s, last in tick %d. ", memberName(last.member), timesText(times), last.tick)
	}
	does := "the client left the group by itself; its partitions go to others, who begin at what it had committed. When it polls again it joins anew, is given records again, and the same may follow."
	if last.static {
		does = "a static member sends no more heartbeats then, and is removed when its session ends."
	}
	return l.because(say(head, "max.poll.interval.ms = %s: %s", kafka.Thousands(int64(l.Address.Values.Int("poll-interval"))), does), last.event)
}

func timesText(n int) string {
	if n == 2 {
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// readRefused tells of the commits that were not taken, those of several members with the same error together.
func (l *layout) readRefused() (list []view.Paragraph) {
	var errors []string
	by := map[string][]*seat{}
	for _, s := range l.history.seats {
		if r := s.refused; r != nil {
			if by[r.error] == nil {
				errors = append(errors, r.error)
			}
			by[r.error] = append(by[r.error], s)
		}
	}
	for _, name := range errors {
		seats := by[name]
		r := seats[len(seats)-1].refused
		head := fmt.Sprintf("%s’s commit was not taken in tick %d: ", seats[0].node, r.tick)
		if len(seats) > 1 {
			var names []string
			for _, s := range seats {
				names = append(names, string(s.node))
			}
			head = fmt.Sprintf("Commits of %s were not taken, the last in tick %d: ", listed(names), r.tick)
		}
		after := fmt.Sprintf(": %s.", r.then)
		if slices.Contains(notMember, r.error) {
			after = ". What was processed is processed again by whoever has the partitions now."
		}
		list = append(list, view.Paragraph{{Text: head, Strong: true}, {Text: r.error, Href: l.Address.WithWhy(r.event).String(), Go: "replace"}, {Text: after}})
	}
	return list
}

// notMember are the errors of commits that come from no member of the current generation.
var notMember = []string{"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID", "CommitFailedException: the consumer is not part of an active group"}

// readIdle says who has nothing, and why.
func (l *layout) readIdle() view.Paragraph {
	var names []string
	first := -1
	for i, s := range l.history.seats {
		if s.phase().kind == idles {
			if names = append(names, string(s.node)); first < 0 {
				first = i
			}
		}
	}
	if len(names) == 0 || l.history.open() != nil {
		return nil
	}
	why := "the assignor gives it none"
	members, partitions := 0, 0
	for i, s := range l.history.seats {
		if s.in != "" && sharesTopic(l, i, first) {
			members++
		}
	}
	for _, name := range subscriptionOf(l.Address.Values, first) {
		partitions += l.partitionsOf(name)
	}
	switch most := l.mostPartitions(first); {
	case members > partitions:
		why = fmt.Sprintf("%d members share %s, and a partition is never read by two members of a group", members, kafka.Count(partitions, "partition"))
	case l.assignorName() == "range" && members > most:
		why = fmt.Sprintf("range divides topic by topic: no topic has more than %s, and the first members of %d get them in each", kafka.Count(most, "partition"), members)
	}
	return say(listed(names)+" "+labs.Verb(len(names), "is idle: ", "are idle: "), "%s.", why)
}

// sharesTopic says whether two members read a topic in common.
func sharesTopic(l *layout, i, j int) bool {
	for _, name := range subscriptionOf(l.Address.Values, i) {
		if slices.Contains(subscriptionOf(l.Address.Values, j), name) {
			return true
		}
	}
	return false
}

// mostPartitions is how many partitions the largest topic of a member has.
func (l *layout) mostPartitions(i int) (most int) {
	for _, name := range subscriptionOf(l.Address.Values, i) {
		most = max(most, l.partitionsOf(name))
	}
	return most
}

// assignorName is the assignor of the group's last assignment; empty: there is none.
func (l *layout) assignorName() string {
	if r := l.history.lastRound(); r != nil {
		return r.computed.Assignor
	}
	return ""
}

// readShares tells of uneven shares.
func (l *layout) readShares() view.Paragraph {
	if l.history.open() != nil {
		return nil
	}
	least, most := -1, -1
	for i, s := range l.history.seats {
		if is := s.phase(); is.kind != reads && is.kind != idles {
			continue
		}
		if least < 0 || s.owned < l.history.seats[least].owned {
			least = i
		}
		if most < 0 || s.owned > l.history.seats[most].owned {
			most = i
		}
	}
	if least < 0 || l.history.seats[most].owned-l.history.seats[least].owned < 2 {
		return nil
	}
	a, b := l.history.seats[most], l.history.seats[least]
	why := "what they subscribe to differs, or the assignor divides so"
	if l.assignorName() == "range" && l.Address.Values.Int("topics") > 1 {
		why = "range divides each topic by itself, and what is left over goes to the first members, in every topic the same ones"
	}
	return say("The shares are uneven: ", "%s has %s and %s has %d. The reason: %s.", a.node, kafka.Count(a.owned, "partition"), b.node, b.owned, why)
}
