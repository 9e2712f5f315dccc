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
		add(l.readLoss(g), l.readAstray(g))
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
			if at.foreseen && !at.outside && o < min(at.begins, at.Committed) && !at.standing.settled(o) && !at.standing.gone(o) {
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
		head := "Nothing is committed of "
		if slices.ContainsFunc(g.parts, func(p part) bool { return p.Position >= 0 && p.atLeast && p.outside }) {
			head = "Nothing that the log has is committed of "
		}
		return say(head+kafka.Count(atEnd, "partition")+" that "+g.ID+" reads: ", "after a crash auto.offset.reset = latest begins at the end of the log then, behind what is written meanwhile.")
	}
	if partly := slices.ContainsFunc(g.parts, func(p part) bool { return p.Position >= 0 && !p.foreseen }); ahead == 0 && partly {
		return say("No gap in "+g.ID+" where it can be told: ", "there it goes on at its position after a crash, or behind it. Of the other partitions that it reads it cannot be said where it would go on.")
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
			"in %s. The position is what poll gives next; the sink’s offset is where the group goes on after a crash. %s", kafka.Count(partitions, "partition"), g.handText(hand))
	}
	return say(fmt.Sprintf("%s is %s ahead of its commits, ", g.ID, kafka.Count(ahead, "record")),
		"in %s. The position is what poll gives next; committed is where the group goes on after a crash%s. %s", kafka.Count(partitions, "partition"), outside, g.handText(hand))
}

// readNoPosition tells of partitions that are read by consumers who do not know where to begin.
func (l *layout) readNoPosition(g *groupState) view.Paragraph {
	var names []string
	for i := range g.parts {
		p := &g.parts[i]
		if p.owner != nil && p.owner.State == "stable" && p.owner.App != failedApp && p.Position < 0 && p.Committed < 0 && !p.blind && g.history.asked[i] == p.Owner && !l.looksUp(p.Owner) {
			names = append(names, p.TopicPartition.String())
		}
	}
	if len(names) == 0 || g.reset != byDuration {
		return nil
	}
	return say(fmt.Sprintf("%s has no position in %s: ", g.ID, listed(names)),
		"nothing is committed, and when it asked there was no record as young as auto.offset.reset = %s wants. The client asks again after request.timeout.ms = 30,000.", g.reset)
}

// looksUp says whether a consumer has asked where offsets lie in time and has no answer yet.
func (l *layout) looksUp(node kafka.NodeID) bool {
	return slices.ContainsFunc(l.View.UnderWay, func(m engine.MessageView) bool { return m.API == "ListOffsets" && (m.From == node || m.To == node) })
}

// handText says how much of what poll gave is not done.
func (g *groupState) handText(n int) string {
	left := 0
	for i := range g.parts {
		p := &g.parts[i]
		for o := p.LogStartOffset; o < p.HighWatermark; o++ {
			if p.fates.At(o).Delivered > 0 && !done(p.fates.At(o)) && !p.standing.holds(o) {
				left++
			}
		}
	}
	switch {
	case n > 0:
		return isAre(n) + " in the applications’ hands."
	case left > 0:
		return fmt.Sprintf("Of what poll gave %s not done, and nobody who reads has %s in hand.", isAre(left), labs.Verb(left, "it", "them"))
	}
	return "All that poll gave is done."
}

// isAre writes "1 record is", "2 records are".
func isAre(n int) string { return kafka.Count(n, "record") + " " + labs.Verb(n, "is", "are") }

// readLoss names the records that are lost to a group.
func (l *layout) readLoss(g *groupState) view.Paragraph {
	var names []string
	n, bySink := 0, 0 // those of which the sink has stored a later offset
	for i := range g.parts {
		gone := g.parts[i].standing.allGone()
		if n += len(gone); g.parts[i].stored >= 0 {
			bySink += len(gone)
		}
		for _, o := range gone {
			names = append(names, fmt.Sprintf("%s @%d", g.parts[i].TopicPartition, o))
		}
	}
	if n == 0 {
		return nil
	}
	if len(g.history.replays) > 0 && bySink == 0 {
		return say(fmt.Sprintf("%s passed over by %s: ", isAre(n), g.ID), "%s. The group has committed past %s; what is under way (%s) decides whether %s read again. The log still has %s.",
			listed(names), labs.Verb(n, "it", "them"), g.history.replays[0].command, labs.Verb(n, "it is", "they are"), labs.Verb(n, "it", "them"))
	}
	if 0 < bySink && bySink < n {
		return say(fmt.Sprintf("%s lost to %s: ", isAre(n), g.ID), "%s. The group goes on behind them: of %s the sink has stored a later offset and ignores the effects, and past the others the group has committed. The log still has them.",
			listed(names), kafka.Count(bySink, "record"))
	}
	if bySink > 0 {
		return say(fmt.Sprintf("%s lost to %s: ", isAre(n), g.ID), "%s. The sink has stored a later offset and not %s: it ignores %s, and the group goes on behind %s. The log still has %s.",
			listed(names), labs.Verb(n, "its effect", "their effects"), labs.Verb(n, "it", "them"), labs.Verb(n, "it", "them"), labs.Verb(n, "it", "them"))
	}
	return say(fmt.Sprintf("%s lost to %s: ", isAre(n), g.ID), "%s. The group has committed past %s, and nobody will process %s. The log still has %s.",
		listed(names), labs.Verb(n, "it", "them"), labs.Verb(n, "it", "them"), labs.Verb(n, "it", "them"))
}

// readAstray names the records that the group has passed and that only somebody has in hand who does not read the
// partition for it any more.
func (l *layout) readAstray(g *groupState) view.Paragraph {
	var names []string
	for i := range g.parts {
		p := &g.parts[i]
		for k, s := range p.strays {
			if again := k > 0 && p.strays[k-1].offset == s.offset; !again && p.stored < 0 && p.standing.passed(s.offset) {
				names = append(names, fmt.Sprintf("%s @%d (%s)", p.TopicPartition, s.offset, s.node))
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return say(fmt.Sprintf("%s only in hands that do not read for %s any more: ", isAre(len(names)), g.ID), "%s. The group has committed past %s: if %s not processed there, nobody processes %s.",
		listed(names), labs.Verb(len(names), "it", "them"), labs.Verb(len(names), "it is", "they are"), labs.Verb(len(names), "it", "them"))
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
		if !m.Alive || m.State != "stable" || g.counts(m) || g.Held == nil || m.SelfAssigned {
			continue
		}
		if g.knows(m) {
			list = append(list, say(fmt.Sprintf("%s is a member and does not know of generation %d. ", m.ID, g.Generation), "It believes in generation %d; what it commits is refused until it has joined again.", m.Generation))
		} else {
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
	head, after := fmt.Sprintf("%s’s commit was not taken in tick %d: ", r.node, r.tick), ": "+r.then+"."
	switch {
	case r.taken:
		head = fmt.Sprintf("%s’s commit failed in tick %d and was taken all the same: ", r.node, r.tick)
		after += " The coordinator has it; the consumer does not know."
	case slices.Contains(notMember, r.error):
		after = ". What is committed stays as it was, whatever it has processed meanwhile."
	case !r.answered():
		head = fmt.Sprintf("%s’s commit failed in tick %d: ", r.node, r.tick)
	}
	return view.Paragraph{
		{Text: head, Strong: true},
		{Text: r.error, Href: l.Address.WithWhy(r.event).String(), Go: "replace"}, {Text: after},
	}
}

// answered says whether the error says that the commit was not taken. Where the connection was lost, the time was up or
// replicas were missing, it may have been.
func (r *refusal) answered() bool {
	return r.then == notSent || !strings.HasPrefix(r.error, "NETWORK_EXCEPTION") && r.error != "COORDINATOR_NOT_AVAILABLE" && !strings.Contains(r.error, "TIMED_OUT") && !strings.Contains(r.error, "Timeout")
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
		if g.history.joined {
			return say("The coordinator knows of no group "+g.ID+" any more: ", "it has neither members nor offsets of it.")
		}
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
		case m != nil && m.App == failedApp:
			text += fmt.Sprintf(" The application of %s has ended with an error: it does not join again.", held.Host)
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
	case at.Owner == "" || !at.standing.holds(o) && (at.Position < 0 || at.Position > o):
		text := "Nobody has it in hand now."
		if at.standing.astray(o) {
			text = "Nobody who reads the partition has it in hand now."
		}
		return append(p, view.Span{Text: g.behindText(at, o) + text})
	case rule == handlerSeek || rule == handlerBack:
		return append(p, view.Span{Text: "The application seeks back to it and polls again: it stays a member, and the records behind it are delivered again and again."})
	}
	if !at.standing.holds(o) {
		return append(p, view.Span{Text: g.behindText(at, o) + "It is delivered again."})
	}
	if l.Address.Values.Int("threads") > 0 {
		return append(p, view.Span{Text: "It keeps one thread busy; the others process the records behind it, and what is committed up to the first record not done stays before it."})
	}
	if _, behind := settledFrom(at, o); behind > 0 {
		return append(p, view.Span{Text: g.behindText(at, o) + fmt.Sprintf("While %s is at it, it processes none of them.", at.Owner)})
	}
	return append(p, view.Span{Text: fmt.Sprintf("Nothing behind it is processed: from it on %s in this partition.", waitVerb(int(at.HighWatermark-o)))})
}

// settledFrom counts the visible records of a partition behind one, and how many of them need no processing any more.
func settledFrom(at *part, o kafka.Offset) (records, settled int) {
	for o++; o < at.HighWatermark; o++ {
		if records++; done(at.fates.At(o)) {
			settled++
		}
	}
	return records, settled
}

// behindText says how many of the records behind one are processed; empty: there are none.
func (g *groupState) behindText(at *part, o kafka.Offset) string {
	records, settled := settledFrom(at, o)
	if records == 0 {
		return ""
	}
	return fmt.Sprintf("Of %s behind it %s done. ", kafka.Count(records, "record"), labs.Verb(settled, "1 is", fmt.Sprint(settled)+" are"))
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
	growth, oldest, behind := int64(0), kafka.Millis(0), false
	for i := range g.parts {
		growth += g.history.growth[i]
		if age, ok := l.oldest(&g.parts[i]); ok {
			if !behind || age > oldest {
				oldest = age
			}
			behind = true
		}
	}
	if g.blind && g.lag().unread == 0 {
		return say("How far "+g.ID+" is behind is not known: ", "no broker coordinates it, so nobody can say what it has committed.")
	}
	if g.lag().unread > 0 {
		where := "there is not known."
		if g.blind {
			where = "is not known: no broker coordinates it either."
		}
		return say("The log of "+kafka.Count(g.lag().unread, "partition")+" cannot be read now: ", "no broker that has it leads. How far %s is behind %s", g.ID, where)
	}
	if !behind {
		beyond := lagSum{beyond: g.lag().beyond}
		return say("The lag of "+g.ID+" is 0: ", "all that is visible is committed.%s", beyond.sentence())
	}
	span := l.growthText()
	how := ", and has not changed in " + span
	switch {
	case l.Address.T == 0:
		how = ""
	case growth > 0:
		how = fmt.Sprintf(", and has grown by %s in %s", kafka.Thousands(growth), span)
	case growth < 0:
		how = fmt.Sprintf(", and has shrunk by %s in %s", kafka.Thousands(-growth), span)
	}
	text := fmt.Sprintf("watermark minus committed%s. The oldest record that is not committed is %s.%s", how, oldText(oldest), g.lag().sentence())
	if g.Sink.Capacity > 0 && growth > 0 {
		text += fmt.Sprintf(" The sink takes %s a tick from all consumers together: more consumers do not help.", kafka.Count(g.Sink.Capacity, "effect"))
	}
	return say(fmt.Sprintf("The lag of %s is %s: ", g.ID, kafka.Thousands(g.lag().sum)), "%s", text)
}

// oldText writes how old a record is by its timestamp, which a producer whose clock is ahead sets.
func oldText(age kafka.Millis) string {
	if age < 0 {
		return kafka.Thousands(-age) + " ms ahead by its timestamp"
	}
	return kafka.Thousands(age) + " ms old"
}
