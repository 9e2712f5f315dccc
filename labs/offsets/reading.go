package offsets

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// Bounds of the reading.
const (
	crashesTold = 2 // the last ones
	looksAhead  = 4 // consumers whose crash is looked at, of all groups together
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
	for _, g := range l.groups {
		add(l.readCrashes(g)...)
		add(l.readLoss(g))
	}
	for _, g := range l.groups {
		add(l.readReplay(g))
		add(l.readZombies(g)...)
		add(l.readFailed(g)...)
		add(l.readRefused(g), l.readState(g))
	}
	for _, g := range l.groups {
		add(l.readGap(g), l.readNoPosition(g))
		add(l.readOutlook(g)...)
	}
	for _, g := range l.groups {
		add(l.readFailing(g), l.readSink(g), l.readLag(g))
	}
	return list
}

// say makes a statement with its head in bold.
func say(head, format string, args ...any) view.Paragraph {
	return view.Paragraph{{Text: head, Strong: true}, {Text: fmt.Sprintf(format, args...)}}
}

// readGap says how far positions are ahead of what is committed.
func (l *layout) readGap(g *groupState) view.Paragraph {
	ahead, partitions, hand, early, left, atEnd := 0, 0, 0, 0, 0, 0
	for i := range g.parts {
		at := &g.parts[i]
		hand += len(at.inHand)
		for _, o := range at.inHand {
			if o < at.Committed {
				early++
			}
		}
		if at.Position < 0 {
			left += at.again
			continue
		}
		if !at.foreseen {
			continue
		}
		if at.atLeast {
			atEnd++
		}
		if gap := int(min(at.Position, at.LogEndOffset) - at.begins); gap > 0 {
			ahead, partitions = ahead+gap, partitions+1
		}
	}
	if early > 0 {
		return say(fmt.Sprintf("%s committed and not processed yet ", isAre(early)), "by %s. Whoever takes over begins behind %s, so a crash loses %s.", g.ID, labs.Verb(early, "it", "them"), labs.Verb(early, "it", "them"))
	}
	if ahead == 0 && left > 0 {
		return say(fmt.Sprintf("%s processed and not committed, ", isAre(left)), "where nobody of %s reads: whoever takes over processes %s again.", g.ID, labs.Verb(left, "it", "them"))
	}
	if reads := slices.ContainsFunc(g.parts, func(p part) bool { return p.Position >= 0 && p.foreseen }); !reads {
		return nil
	}
	if ahead == 0 && atEnd > 0 {
		return say("Nothing is committed of "+kafka.Count(atEnd, "partition")+" that "+g.ID+" reads: ", "after a crash auto.offset.reset = latest begins at the end of the log then, behind what is written meanwhile.")
	}
	if ahead == 0 {
		return say("No gap in "+g.ID+": ", "wherever it reads, it goes on at its position after a crash, or behind it.")
	}
	outside := ""
	if slices.ContainsFunc(g.parts, func(p part) bool { return p.outside }) {
		outside = "; where the log does not have that offset, auto.offset.reset = " + g.reset + " decides"
	}
	if g.Sink.Kind == engine.SinkOffsets {
		return say(fmt.Sprintf("%s is %s ahead of what its sink has stored, ", g.ID, kafka.Count(ahead, "record")),
			"in %s. The position is what poll gives next; the sink’s offset is where the group goes on after a crash. %s", kafka.Count(partitions, "partition"), handText(hand))
	}
	return say(fmt.Sprintf("%s is %s ahead of its commits, ", g.ID, kafka.Count(ahead, "record")),
		"in %s. The position is what poll gives next; committed is where the group goes on after a crash%s. %s", kafka.Count(partitions, "partition"), outside, handText(hand))
}

// readNoPosition tells of partitions that are read by consumers who do not know where to begin.
func (l *layout) readNoPosition(g *groupState) view.Paragraph {
	var names []string
	for i := range g.parts {
		if p := &g.parts[i]; p.owner != nil && p.owner.State == "stable" && p.owner.App != failedApp && p.Position < 0 {
			names = append(names, p.TopicPartition.String())
		}
	}
	if len(names) == 0 || g.reset != byDuration {
		return nil
	}
	return say(fmt.Sprintf("%s has no position in %s: ", g.ID, listed(names)),
		"nothing is committed, and when it asked there was no record as young as auto.offset.reset = %s wants. The client asks again after request.timeout.ms = 30,000.", g.reset)
}

// handText says how much of what poll gave is not done.
func handText(n int) string {
	if n == 0 {
		return "All that poll gave is done."
	}
	return isAre(n) + " in the applications’ hands."
}

// isAre writes "1 record is", "2 records are".
func isAre(n int) string { return kafka.Count(n, "record") + " " + labs.Verb(n, "is", "are") }

// readLoss names the records that are lost to a group.
func (l *layout) readLoss(g *groupState) view.Paragraph {
	var names []string
	n := 0
	for i := range g.parts {
		gone := g.parts[i].standing.allGone()
		n += len(gone)
		for _, o := range gone {
			names = append(names, fmt.Sprintf("%s @%d", g.parts[i].TopicPartition, o))
		}
	}
	if n == 0 {
		return nil
	}
	if g.Sink.Kind == engine.SinkOffsets {
		return say(fmt.Sprintf("%s lost to %s: ", isAre(n), g.ID), "%s. The sink has stored a later offset and not %s: it ignores %s, and the group goes on behind %s. The log still has %s.",
			listed(names), labs.Verb(n, "its effect", "their effects"), labs.Verb(n, "it", "them"), labs.Verb(n, "it", "them"), labs.Verb(n, "it", "them"))
	}
	return say(fmt.Sprintf("%s lost to %s: ", isAre(n), g.ID), "%s. The group has committed past %s, and nobody will process %s. The log still has %s.",
		listed(names), labs.Verb(n, "it", "them"), labs.Verb(n, "it", "them"), labs.Verb(n, "it", "them"))
}

// listed writes names, of many only some.
func listed(names []string) string {
	const most = 6
	if len(names) > most {
		names = append(names[:most-1:most-1], fmt.Sprintf("%d more", len(names)-most+1))
	}
	return strings.Join(names, ", ")
}

// readZombies tells of consumers that work on though the group counts them as gone.
func (l *layout) readZombies(g *groupState) (list []view.Paragraph) {
	for i := range g.Members {
		m := &g.Members[i]
		if m.Alive && m.State == "stable" && !g.counts(m) && g.Held != nil && !m.SelfAssigned {
			list = append(list, say(fmt.Sprintf("%s is no member any more and does not know it. ", m.ID),
				"It believes in generation %d; the group has %s in generation %d. What it commits will be refused.", m.Generation, kafka.Count(len(g.Held.Members), "member"), g.Generation))
		}
	}
	return list
}

// readRefused tells of the last commit that was not taken.
func (l *layout) readRefused(g *groupState) view.Paragraph {
	n := len(g.history.refused)
	if n == 0 {
		return nil
	}
	r := g.history.refused[n-1]
	after := ": " + r.then + "."
	if slices.Contains(notMember, r.error) {
		after = ". What is committed stays as it was, so what it processed meanwhile is processed by others too."
	}
	return view.Paragraph{
		{Text: fmt.Sprintf("%s’s commit was not taken in tick %d: ", r.node, r.tick), Strong: true},
		{Text: r.error, Href: l.Address.WithWhy(r.event).String(), Go: "replace"}, {Text: after},
	}
}

// notMember are the errors of commits that come from no member of the current generation.
var notMember = []string{"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID", "CommitFailedException: the consumer is not part of an active group"}

// readReplay tells of a replay or reset under way.
func (l *layout) readReplay(g *groupState) view.Paragraph {
	if len(g.history.replays) == 0 {
		return nil
	}
	t := g.history.replays[0]
	text := "the offsets are not set yet."
	if strings.HasPrefix(t.command, "replay ") {
		text = "the offsets are set as soon as the group is empty, and then its consumers are started."
		if l.Address.Values.Text("static") == on {
			text += " Static members do not leave: each stays until its session ends."
		}
	}
	return say(fmt.Sprintf("Under way since tick %d: %s. ", t.tick, t.command), "%s", strings.ToUpper(text[:1])+text[1:])
}

// readFailed tells of the applications that have ended with an error.
func (l *layout) readFailed(g *groupState) (list []view.Paragraph) {
	for i := range g.Members {
		m := &g.Members[i]
		at := slices.IndexFunc(g.history.failed, func(f failure) bool { return f.node == kafka.NodeID(m.ID) })
		if at < 0 || !m.Alive || m.App != failedApp {
			continue
		}
		f := g.history.failed[at]
		list = append(list, view.Paragraph{
			{Text: fmt.Sprintf("The application of %s has ended: ", m.ID), Strong: true}, {Text: "poll threw "},
			{Text: f.error, Href: l.Address.WithWhy(f.event).String(), Go: "replace"}, {Text: ". It reads nothing more."},
		})
	}
	return list[:min(len(list), looksAhead)]
}

// failedApp is what the client says of an application that has ended with an error.
const failedApp = "ended with an error"

// readState tells of a group that is not stable, and of consumers in it that wait.
func (l *layout) readState(g *groupState) view.Paragraph {
	switch {
	case len(g.Members) == 0:
		return say(g.ID+" has no consumers: ", "records are written all the same and stay in the log.")
	case g.Coordinator == "" && len(l.View.Offsets) == 0:
		return say("Nobody coordinates "+g.ID+" yet: ", "no consumer has asked for its coordinator, and __consumer_offsets does not exist before one does.")
	case g.Coordinator == "":
		return say("No broker coordinates "+g.ID+": ", "nobody can join or commit.")
	case g.Held == nil:
		return say("Nobody has joined "+g.ID+" yet.", "")
	case g.State == group.PreparingRebalance:
		return say(g.ID+" is being rebalanced: ", "it waits until every member has joined again.%s", l.awaited(g))
	case g.State == group.CompletingRebalance:
		return say(g.ID+" is being rebalanced: ", "its members wait for their partitions.")
	case g.State == group.Empty:
		return say(g.ID+" is empty: ", "its offsets stay, and can be reset.")
	}
	return nil
}

// awaited says for whom a rebalance waits.
func (l *layout) awaited(g *groupState) (text string) {
	silent := g.silent()
	for _, held := range g.Held.Members {
		m := g.consumer(held.Host)
		switch {
		case held.WaitsInJoin:
		case m != nil && m.State == "joining" && m.MemberView.MemberID == held.ID:
			text += fmt.Sprintf(" %s has sent its JoinGroup.", held.Host)
		case slices.ContainsFunc(silent, func(s group.MemberView) bool { return s.ID == held.ID }):
			text += fmt.Sprintf(" %s is silent: its session ends in tick %d.", held.Host, l.tickAt(held.SessionEnds))
		case m != nil && len(m.Busy)+len(m.Queue) > 0:
			text += fmt.Sprintf(" %s joins when its application polls: it has %s in hand.", held.Host, kafka.Count(len(m.Busy)+len(m.Queue), "record"))
		default:
			text += fmt.Sprintf(" %s learns of it by its next heartbeat.", held.Host)
		}
	}
	return text
}

// readFailing tells of a record that the application fails at.
func (l *layout) readFailing(g *groupState) view.Paragraph {
	at := &g.parts[0]
	rule := l.Address.Values.Text("handler")
	o := kafka.Offset(l.Address.Values.Int("fails-at"))
	fate := at.fates.At(o)
	if rule == handlerOK || fate.Failed == 0 {
		return nil
	}
	p := say(fmt.Sprintf("%s of %s fails at %s @%d: ", "The handler", g.ID, at.TopicPartition, o), "it has failed %s. ", times(fate.Failed))
	switch {
	case fate.GivenUp > 0 && deadLettered(l.Address.Values):
		return append(p, view.Span{Text: "The record stands in the topic " + deadLetters + " now, and the records behind it are processed."})
	case fate.GivenUp > 0:
		return append(p, view.Span{Text: "It was skipped, and the records behind it are processed; the sink never gets its effect."})
	case rule == handlerSeek || rule == handlerBack:
		return append(p, view.Span{Text: "The application seeks back to it and polls again: it stays a member, and the records behind it are delivered again and again."})
	}
	if l.Address.Values.Int("threads") > 0 {
		return append(p, view.Span{Text: "It keeps one thread busy; the others process the records behind it, and what is committed up to the first record not done stays before it."})
	}
	return append(p, view.Span{Text: fmt.Sprintf("Nothing behind it is processed: from it on %s in this partition.", waitVerb(int(at.HighWatermark-o)))})
}

// waitVerb writes "1 record waits", "2 records wait".
func waitVerb(n int) string { return kafka.Count(n, "record") + " " + labs.Verb(n, "waits", "wait") }

// readSink says what the sink has, where that is more or less than each record once.
func (l *layout) readSink(g *groupState) view.Paragraph {
	doubled := 0
	for i := range g.parts {
		doubled += g.effectsOf(&g.parts[i]).more
	}
	switch {
	case g.Sink.Kind == engine.SinkUpsert && g.Sink.Doubled > 0:
		return say(fmt.Sprintf("The sink wrote %s again: ", kafka.Count(g.Sink.Doubled, "effect")), "over what it had under the same key, so nothing counts twice. An old value can come back for a moment.")
	case g.Sink.Ignored > 0 && g.Sink.Kind == engine.SinkOffsets:
		return say(fmt.Sprintf("The sink ignored %s: ", kafka.Count(g.Sink.Ignored, "effect")), "it knows one offset for each partition, the next to take, and ignores what is below it, be it an effect that it has or one that comes late.")
	case g.Sink.Ignored > 0:
		return say(fmt.Sprintf("The sink ignored %s: ", kafka.Count(g.Sink.Ignored, "effect")), "it knows each by topic, partition and offset. Each record counts once, whatever is processed again.")
	case doubled > 0:
		return say(fmt.Sprintf("%s applied more than once ", isAre(doubled)), "by a plain sink: it has %s of %s.", kafka.Count(g.Sink.Effects, "effect"), kafka.Count(g.Sink.Effects-g.Sink.Doubled, "record"))
	}
	return nil
}

// readLag says how far a group is behind, and whether it falls behind more.
func (l *layout) readLag(g *groupState) view.Paragraph {
	growth, oldest := int64(0), kafka.Millis(-1)
	for i := range g.parts {
		growth += g.history.growth[i]
		if age, ok := l.oldest(&g.parts[i]); ok {
			oldest = max(oldest, age)
		}
	}
	if g.lag().unread > 0 {
		return say("The log of "+kafka.Count(g.lag().unread, "partition")+" cannot be read now: ", "no broker that has it leads. How far %s is behind there is not known.", g.ID)
	}
	if oldest < 0 {
		return say("The lag of "+g.ID+" is 0: ", "all that is visible is committed.")
	}
	span := kafka.Count(int(l.growthSpan()), "tick")
	how := ", and has not changed in " + span
	switch {
	case l.Address.T == 0:
		how = ""
	case growth > 0:
		how = fmt.Sprintf(", and has grown by %s in %s", kafka.Thousands(growth), span)
	case growth < 0:
		how = fmt.Sprintf(", and has shrunk by %s in %s", kafka.Thousands(-growth), span)
	}
	text := fmt.Sprintf("watermark minus committed%s. The oldest record that is not committed is %s ms old.%s", how, kafka.Thousands(oldest), g.lag().sentence())
	if g.Sink.Capacity > 0 && growth > 0 {
		text += fmt.Sprintf(" The sink takes %s a tick from all consumers together: more consumers do not help.", kafka.Count(g.Sink.Capacity, "effect"))
	}
	return say(fmt.Sprintf("The lag of %s is %s: ", g.ID, kafka.Thousands(g.lag().sum)), "%s", text)
}
