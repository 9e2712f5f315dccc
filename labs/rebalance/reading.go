package rebalance

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/journal"
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
	add(l.readNow(), l.readBroker())
	if c := l.history.lastChange(); c != nil {
		add(l.readChange(c), l.readMoved(c), l.readStood(c))
	} else if k := l.costOf(&change{to: -1}); k.ticks > 0 {
		add(say(fmt.Sprintf("%d of %s stood still since tick 0, for %s in all, without a rebalance. ", k.stood, kafka.Count(len(l.history.tracks), "partition"), kafka.Count(k.ticks, "tick")),
			"%s%s", l.longestText(k), l.hiddenText(k.hidden)))
	}
	add(l.readAdmin())
	add(l.readGone()...)
	add(l.readReturn())
	add(l.readOutsiders()...)
	add(l.readLoops())
	add(l.readRefused()...)
	add(l.readTwice(), l.readIdle(), l.readShares())
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
		byKind[t.now().kind]++
	}
	gaps := len(l.history.tracks) - byKind[read] - byKind[busy]
	if gaps == 0 {
		return say("Every partition is read. ", "%s, read by %s.", kafka.Count(len(l.history.tracks), "partition"), l.sharesText())
	}
	var parts []string
	for _, k := range []struct {
		kind standingKind
		text string
	}{
		{unowned, "%s without an owner"}, {begins, "%s whose new owner has no position yet"}, {deserted, "%s whose owner is gone, which the group has not noticed"},
		{away, "%s whose owner has said that it will be back"}, {stopped, "%s whose owner stands still"}, {unserved, "%s whose owner has nobody to read from"},
	} {
		if n := byKind[k.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf(k.text, fmt.Sprint(n)))
		}
	}
	nobody := "Nobody"
	if l.anotherReads() {
		nobody = "No owner"
	}
	return say(fmt.Sprintf("%s reads %d of %s now: ", nobody, gaps, kafka.Count(len(l.history.tracks), "partition")), "%s.", strings.Join(parts, "; "))
}

// anotherReads says whether a process that has a partition only as it believes reads it, and its owner does not.
func (l *layout) anotherReads() bool {
	for i := range l.group.Members {
		m, s := &l.group.Members[i], l.history.seats[i]
		if !m.Alive || m.Paused || s.failed || !l.history.reaches(s) {
			continue
		}
		for _, a := range m.Assignment {
			if t := l.history.byName[a.TopicPartition]; t != nil && t.now().gap() && t.served && a.Position >= 0 {
				return true
			}
		}
	}
	return false
}

// sharesText says how many members share them.
func (l *layout) sharesText() string {
	readers := map[int]bool{}
	for _, t := range l.history.tracks {
		if is := t.now(); !is.gap() {
			readers[is.owner] = true
		}
	}
	return kafka.Count(len(readers), "member")
}

// readChange says how far the last rebalance is, or how it went.
func (l *layout) readChange(c *change) view.Paragraph {
	why := strings.TrimSuffix(l.whyOf(c), ".")
	if c.to >= 0 {
		rounds := ""
		if n := len(c.rounds); n > 1 && !l.remote() {
			rounds = fmt.Sprintf(" in %d rounds", n)
		}
		p := say(fmt.Sprintf("The last rebalance: %s%s. ", ticksWords(c.from, c.to), rounds), "It began because %s.", why)
		if c.broken {
			p = append(p, view.Span{Text: " It came to no end, as the coordinator ended: what holds is the assignment before."})
		} else if n := l.epochsText(c); n != "" {
			p = append(p, view.Span{Text: n})
		}
		return l.because(p, c.event)
	}
	r := &c.rounds[len(c.rounds)-1]
	p := say(fmt.Sprintf("A rebalance goes on since tick %d. ", c.from), "It began because %s.", why)
	switch {
	case l.history.now.state == noCoordinator:
		p = append(p, view.Span{Text: " It waits for a coordinator."})
	case l.history.broker.paused:
		p = append(p, view.Span{Text: fmt.Sprintf(" It waits for %s, which stands still.", brokerNode)})
	case l.remote():
		p = append(p, view.Span{Text: " " + l.reconcileText(r) + l.epochsText(c)})
	case r.stable >= 0:
		p = append(p, view.Span{Text: fmt.Sprintf(" Round %d is over: %s held back until its owner has given it up and joined again; then the next round gives it out.", len(c.rounds), isAre(len(r.computed.Withheld), "partition"))})
	case r.joined < 0:
		p = append(p, view.Span{Text: " " + l.joinText()})
	case r.computed == nil && l.leaderSilent():
		p = append(p, view.Span{Text: fmt.Sprintf(" The join phase is over: generation %d. Nothing is heard of its leader, %s, which is to divide the partitions: the others wait for it in SyncGroup.", r.generation, l.leaderName())})
	case r.computed == nil && l.answering("JoinGroup"):
		p = append(p, view.Span{Text: fmt.Sprintf(" The join phase is over: generation %d. The answers to JoinGroup are on their way; that to the leader, %s, has the members’ subscriptions.", r.generation, l.leaderName())})
	case r.computed == nil:
		p = append(p, view.Span{Text: " The join phase is over: generation " + fmt.Sprint(r.generation) + ". The leader " + l.leaderName() + " divides the partitions; the others wait for it in SyncGroup."})
	case l.sentBy(l.leaderName(), "SyncGroup"):
		p = append(p, view.Span{Text: " The leader has divided the partitions; the assignment is on its way to the coordinator and then to the members."})
	default:
		p = append(p, view.Span{Text: " The leader has divided the partitions, and the coordinator does not have the assignment."})
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
				parts = append(parts, fmt.Sprintf("%s is to give up %s", l.processName(m.ID), partitionsText(m.Revoking)))
			case m.State == group.UnreleasedPartitions:
				parts = append(parts, fmt.Sprintf("%s waits for %s", l.processName(m.ID), kafka.Count(len(m.Target)-len(m.Assignment), "partition")))
			case int32(m.Epoch) != int32(r.generation) && l.silent(m):
				parts = append(parts, fmt.Sprintf("%s is not heard of and stays in epoch %d", l.processName(m.ID), m.Epoch))
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

// leaderSilent says whether the coordinator will hear no more of the group's leader as things stand.
func (l *layout) leaderSilent() bool {
	if l.group.Held == nil {
		return false
	}
	return slices.ContainsFunc(l.group.Held.Members, func(m group.MemberView) bool { return m.ID == l.group.Held.Leader && l.silent(&m) })
}

// sentBy says whether one of some requests of a node is on its way to the broker.
func (l *layout) sentBy(node string, apis ...string) bool {
	return slices.ContainsFunc(l.View.UnderWay, func(m engine.MessageView) bool {
		return !m.Answer && string(m.From) == node && slices.Contains(apis, m.API)
	})
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
			missing = append(missing, l.processName(m.ID))
		}
	}
	joined, pending := l.joinedText()
	text := fmt.Sprintf("Join phase: %s%s", joined, pending)
	if len(missing) > 0 {
		text += "; it waits for " + listed(missing)
	}
	switch {
	case held.JoinEnds > 0 && held.JoinEndsBy == initialDelay:
		text += fmt.Sprintf("; as the group was empty, it waits for more until tick %d (%s), and longer if any come", l.tickAt(held.JoinEnds), held.JoinEndsBy)
	case held.JoinEnds > 0:
		text += fmt.Sprintf(", until tick %d at the latest (%s)", l.tickAt(held.JoinEnds), held.JoinEndsBy)
	}
	return text + "."
}

// initialDelay is the setting after which the first join phase of a group ends, though all have joined.
const initialDelay = "group.initial.rebalance.delay.ms"

// listed writes names, of many only some.
func listed(names []string) string {
	const most = 5
	if left := len(names) - most + 1; left > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), left)
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
	switch hidden := l.hiddenText(k.hidden); {
	case k.stood == 0 && hidden != "":
		return say("At the end of each tick no partition stood still for it. ", "%s", strings.TrimPrefix(hidden, " "))
	case k.stood == 0 && l.anyGap(c):
		return say("No partition stood still for it. ", "What stood still, did so for another reason.")
	case k.stood == 0 && c.to < 0:
		return say("No partition has stood still so far. ", "Whoever has one reads it.")
	case k.stood == 0:
		return say("No partition stood still. ", "Whoever had one went on reading it.")
	}
	so := ""
	if c.to < 0 {
		so = " so far"
	}
	p := say(fmt.Sprintf("%d of %s stood still%s, for %s in all. ", k.stood, kafka.Count(l.partitionsIn(c), "partition"), so, kafka.Count(k.ticks, "tick")), "%s", l.longestText(k))
	if k.waited > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" %s written to them meanwhile and waited.", were(k.waited, "record"))})
	}
	p[len(p)-1].Text += l.hiddenText(k.hidden)
	if k.needless > 0 && c.to >= 0 && !c.broken {
		p = append(p, view.Span{Text: fmt.Sprintf(" %d of these partitions %s handed back to whoever had %s: an eager member gives up all it has before it joins.", k.needless, labs.Verb(k.needless, "was", "were"), labs.Verb(k.needless, "it", "them"))})
	}
	return p
}

// hiddenText says that ticks do not count what passes within waits; empty: there were none.
func (l *layout) hiddenText(span kafka.Millis) string {
	if span == 0 {
		return ""
	}
	return fmt.Sprintf(" Ticks do not show what passes within a wait, here %s in all.", labs.Span(span))
}

// anyGap says whether a partition stood still in a change, whatever the reason.
func (l *layout) anyGap(c *change) bool {
	for _, t := range l.history.tracks {
		if slices.ContainsFunc(t.gaps(), func(gap stretch[standing]) bool { return gap.reaches(c) }) {
			return true
		}
	}
	return false
}

// longestText says which partitions stood still longest.
func (l *layout) longestText(k cost) string {
	ticks := kafka.Count(k.longest, "tick")
	if k.hidden == 0 {
		ticks += ", " + l.seconds(k.longest)
	}
	switch {
	case k.equal == 1:
		return fmt.Sprintf("The longest was %s: %s.", k.worst, ticks)
	case k.equal == k.stood:
		return fmt.Sprintf("Each for %s.", ticks)
	}
	return fmt.Sprintf("The longest were %s and %d more: %s each.", k.worst, k.equal-1, ticks)
}

// epochsText says how many group epochs a rebalance of the consumer protocol takes together; empty: one.
func (l *layout) epochsText(c *change) string {
	if n := len(c.rounds); l.remote() && n > 1 {
		return fmt.Sprintf(" %d group epochs began in it, %d to %d: the members had not come to one target when the next was made.", n, c.rounds[0].generation, c.rounds[n-1].generation)
	}
	return ""
}

// whyOf says why a rebalance began: of a member that is gone in which way, and of more partitions of which topic.
func (l *layout) whyOf(c *change) string {
	why := l.named(c.why)
	for seq := c.event - 1; seq > 0 && seq+whyEvents >= c.event; seq-- {
		e, _ := l.Cluster.Journal().At(seq)
		if b, is := e.Body.(journal.MemberRemoved); is && strings.Contains(why, "left or was removed") {
			if strings.Contains(b.Why, "it leaves") {
				return l.nameOf(b.Member) + " left"
			}
			return strings.TrimSuffix(fmt.Sprintf("%s was removed: %s", l.nameOf(b.Member), l.named(b.Why)), ".")
		}
	}
	if strings.Contains(why, "joined again") {
		return l.whyAgain(c, strings.TrimSuffix(why, "."))
	}
	return why
}

// whyAgain says why a member joined again, with which a rebalance began: as the member itself says it, and of more partitions
// since when there are so many.
func (l *layout) whyAgain(c *change, why string) string {
	join, told := l.joinBefore(c.event)
	if !told {
		return why
	}
	if leader, _, is := strings.Cut(why, ", which it does when"); is && !strings.Contains(join.Why, "of which it has assigned") {
		return leader + ": " + l.named(join.Why)
	} else if !is {
		return why + ": " + l.named(join.Why)
	}
	var added []string
	for _, a := range l.history.additions {
		if a.tick <= c.from && !c.knew(a) {
			added = append(added, fmt.Sprintf("%s has %d partitions since tick %d, and had %d", a.topic, a.to, a.tick, a.from))
		}
	}
	if len(added) == 0 {
		return why + ": " + l.named(join.Why)
	}
	return why + ": " + strings.Join(added, "; ")
}

// joinBefore gives the JoinGroup that led to an event, as its member sent it.
func (l *layout) joinBefore(event uint64) (join journal.JoinSent, ok bool) {
	for _, e := range l.Cluster.Journal().Causes(event) {
		if join, ok = e.Body.(journal.JoinSent); ok {
			return join, true
		}
	}
	return join, false
}

// knew says whether partitions that were added are given out before a change.
func (c *change) knew(a addition) bool {
	_, had := c.before[kafka.TopicPartition{Topic: a.topic, Partition: kafka.Partition(a.from)}]
	return had
}

// readAdmin tells of the last request of an administrator that was refused.
func (l *layout) readAdmin() view.Paragraph {
	e := l.history.refusedRequest
	b, is := e.Body.(journal.RequestRefused)
	if !is {
		return nil
	}
	return l.because(say(fmt.Sprintf("A request was refused in tick %d. ", e.Tick), "%s", b.Sentence()), e.Seq)
}

// whyEvents is how many events before a group epoch moves the removal of a member may be that moves it.
const whyEvents = 8

// answering says whether answers to a request are on their way.
func (l *layout) answering(api string) bool {
	return slices.ContainsFunc(l.View.UnderWay, func(m engine.MessageView) bool { return m.Answer && m.API == api })
}

// readBroker tells of the broker where it does not do its work.
func (l *layout) readBroker() view.Paragraph {
	switch h := l.history; {
	case !h.broker.up:
		return say(fmt.Sprintf("%s does not run. ", brokerNode), "No other broker has the partitions or the group: nobody reads, commits or joins.")
	case h.broker.paused:
		return say(fmt.Sprintf("%s stands still. ", brokerNode), "No other broker has the partitions or the group: no request is answered, and no session ends, until it goes on.")
	case l.View.Brokers[0].State == isShuttingDown:
		return say(fmt.Sprintf("%s shuts down. ", brokerNode), "No other broker has the partitions or the group: when it is done, nobody reads, commits or joins.")
	case h.now.state == noCoordinator && l.View.Brokers[0].State == isStarting:
		return say("The group has no coordinator. ", "%s is starting; it has to lead %s-%d and to read the group from it first.", brokerNode, group.Topic, l.group.OffsetsPartition)
	case h.now.state == noCoordinator:
		return say("The group has no coordinator. ", "%s runs; it has to lead %s-%d and to read the group from it first.", brokerNode, group.Topic, l.group.OffsetsPartition)
	}
	return nil
}

// readReturn tells of the last static member whose place another process took.
func (l *layout) readReturn() view.Paragraph {
	n := len(l.history.returns)
	if n == 0 || l.history.returns[n-1].tick == 0 {
		return nil
	}
	b := l.history.returns[n-1]
	follows := "its partitions are its own again at once, and nobody else joins."
	if b.had == 0 {
		follows = "it has no partitions, as before, and nobody else joins."
	}
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
