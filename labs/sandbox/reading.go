package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// reading says in plain words what the picture shows. Of one partition it tells most: that in the inspector, or the first.
func (l *layout) reading() (list []view.Paragraph) {
	add := func(p view.Paragraph) {
		if len(p) > 0 {
			list = append(list, p)
		}
	}
	p := &l.parts[0]
	if at := l.Address.Shown().Partition; at.Topic == topic && int(at.Partition) < len(l.parts) {
		p = &l.parts[at.Partition]
	}
	add(l.readLoss())
	add(l.readOrder())
	add(l.readLeader(p))
	add(l.readOthers(p))
	add(l.readPromise(p))
	add(l.readOutlook(p))
	for i := range l.parts {
		add(l.readHeldUp(&l.parts[i]))
	}
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		add(l.readGroup(g))
		add(l.readAgain(g))
		add(l.readGone(g))
	}
	add(l.readStarts())
	return list
}

// say makes a statement with its head in bold.
func say(head, format string, args ...any) view.Paragraph {
	return view.Paragraph{{Text: head, Strong: true}, {Text: fmt.Sprintf(format, args...)}}
}

// readLoss tells what was lost, or stands twice.
func (l *layout) readLoss() view.Paragraph {
	r := &l.report
	switch {
	case len(r.Lost) > 0:
		n := len(r.Lost)
		return say(fmt.Sprintf("%s %s lost: ", kafka.Count(n, "acknowledged record"), labs.Verb(n, "is", "are")), "%s. The leader’s log does not have %s.", l.named(r.Lost), labs.Verb(n, "it", "them"))
	case len(r.Duplicated) > 0:
		n := len(r.Duplicated)
		return say(fmt.Sprintf("%s %s more than once: ", kafka.Count(n, "record"), labs.Verb(n, "stands", "stand")), "%s.%s", l.named(r.Duplicated), l.whyTwice())
	}
	return nil
}

// whyTwice says how that comes where no producer is idempotent.
func (l *layout) whyTwice() string {
	if slices.ContainsFunc(l.View.Producers, func(p engine.ProducerView) bool { return p.Producer.Idempotent }) {
		return ""
	}
	return " No answer came, so the producer sent the batch again; with enable.idempotence = false the leader cannot tell."
}

// readOrder tells which records stand behind later ones.
func (l *layout) readOrder() view.Paragraph {
	n := len(l.report.Reordered)
	if n == 0 {
		return nil
	}
	return say(fmt.Sprintf("%s %s out of order: ", kafka.Count(n, "record"), labs.Verb(n, "stands", "stand")), "%s, behind a record of the same producer and key that was handed in later.", l.named(l.report.Reordered))
}

// named names records of the ledger, at most a few.
func (l *layout) named(list []engine.LedgerEntry) string {
	var names []string
	for _, e := range list {
		names = append(names, l.account().EntryName(e))
	}
	return few(names)
}

// readLeader says who leads a partition, and who is in sync.
func (l *layout) readLeader(p *part) view.Paragraph {
	name := p.TopicPartition.String()
	switch {
	case p.Leader == engine.NoLeader:
		return say(name+" has no leader. ", "Nothing is written to it or read from it. In sync: %s; eligible leaders: %s.", labs.BrokerNames(p.ISR), labs.BrokerNames(p.ELR))
	case !p.served:
		return say(fmt.Sprintf("%s, the leader of %s, does not run. ", labs.BrokerName(p.Leader), name), "The controller does not know yet, so nobody else leads.")
	case l.View.Brokers[p.Leader-1].Paused:
		return say(fmt.Sprintf("%s, the leader of %s, is paused. ", labs.BrokerName(p.Leader), name), "Nothing is written to it or read from it.")
	}
	return say(fmt.Sprintf("%s leads %s ", labs.BrokerName(p.Leader), name), "in leader epoch %d. In sync: %s. Its log ends at %d; consumers read below its high watermark, %d.", p.LeaderEpoch, labs.BrokerNames(p.ISR), p.Log.LogEndOffset, p.Log.HighWatermark)
}

// readOthers counts the other partitions whose replicas are not all in sync, or that nobody leads.
func (l *layout) readOthers(told *part) view.Paragraph {
	var behind, without []string
	for i := range l.parts {
		switch p := &l.parts[i]; {
		case p.Leader == engine.NoLeader && p != told:
			without = append(without, p.TopicPartition.String())
		case len(p.ISR) < len(p.Replicas):
			behind = append(behind, p.TopicPartition.String())
		}
	}
	var parts []string
	if len(behind) > 0 {
		parts = append(parts, "under-replicated: "+few(behind))
	}
	if len(without) > 0 {
		parts = append(parts, "offline: "+few(without))
	}
	if len(parts) == 0 {
		return nil
	}
	return say("Not all replicas are in sync: ", "%s.", strings.Join(parts, "; "))
}

// readPromise says what an acknowledgement means now.
func (l *layout) readPromise(p *part) view.Paragraph {
	if !p.served || l.View.Brokers[p.Leader-1].Paused {
		return nil
	}
	const means = "An acknowledgement now means "
	switch acks := labs.AcksNumber(l.Address.Values.Text("acks")); {
	case acks == 0:
		return say("There are no acknowledgements: ", "acks = 0.")
	case acks == 1:
		return say(means, "that %s has the record in its page cache (acks = 1). The others may not have it yet.", labs.BrokerName(p.Leader))
	case len(p.ISR) < p.MinISR:
		return say("A write with acks = all is refused now: ", "%d in sync, min.insync.replicas = %d. The producer gets NOT_ENOUGH_REPLICAS and tries again.", len(p.ISR), p.MinISR)
	case len(p.ISR) == 1:
		return say(means, "that %s alone has the record: nobody else is in sync, and min.insync.replicas = %d allows that.", labs.BrokerNames(p.ISR), p.MinISR)
	}
	return say(means, "that %s have the record, each in its page cache (acks = all).", labs.BrokerNames(p.ISR))
}

// readOutlook says who would lead if the leader ended now.
func (l *layout) readOutlook(p *part) view.Paragraph {
	if !p.served {
		return nil
	}
	b := l.View.Brokers[p.Leader-1]
	after := l.Cluster.WithoutBroker(p.TopicPartition, p.Leader)
	text := fmt.Sprintf("%s would lead %s", labs.BrokerName(after.Leader), p.TopicPartition)
	if after.Leader == engine.NoLeader {
		text = fmt.Sprintf("nobody could lead %s", p.TopicPartition)
	} else if !after.Clean {
		text += ", without all that was committed"
	}
	kill := command.Kill{Node: b.Node}
	return view.Paragraph{
		{Text: fmt.Sprintf("If %s ended now, ", b.Node), Strong: true}, {Text: text + " once the controller has noticed ("},
		labs.TryIt(fmt.Sprintf("kill %s", b.Node), l.Address.WithCommand(kill, false)), {Text: ")."},
	}
}

// readHeldUp says what an open transaction holds up in a partition.
func (l *layout) readHeldUp(p *part) view.Paragraph {
	held := p.Log.HighWatermark - p.stable
	if !p.served || held <= 0 {
		return nil
	}
	var open []string
	for _, t := range l.View.Transactions {
		if t.Held != nil && slices.Contains(t.Held.Partitions, p.TopicPartition) {
			open = append(open, fmt.Sprintf("%s is %s", t.TransactionalID, t.Held.State))
		}
	}
	text := fmt.Sprintf("its last stable offset is %d, its high watermark %d", p.stable, p.Log.HighWatermark)
	if len(open) > 0 {
		text += "; " + few(open)
	}
	what := "Groups here have isolation.level = read_uncommitted and read on."
	if l.Address.Values.Text("isolation") == readCommitted {
		what = "Groups here have isolation.level = read_committed and wait at the last stable offset, for records of other producers too."
	}
	return say(fmt.Sprintf("A transaction holds up %s of %s: ", kafka.Count(int(held), "offset"), p.TopicPartition), "%s. %s", text, what)
}

// readGroup says how a group is and how far it is behind.
func (l *layout) readGroup(g *engine.GroupView) view.Paragraph {
	text := fmt.Sprintf("%s. Lag: %s", standing(g), kafka.Thousands(l.lagSum(g)))
	var idle, unread []string
	for i := range g.Members {
		if m := &g.Members[i]; m.Alive && m.State == "stable" && len(m.Assignment) == 0 {
			idle = append(idle, string(m.ID))
		}
	}
	for i := range l.parts {
		if offsetOf(g, l.parts[i].TopicPartition).Owner == "" {
			unread = append(unread, l.parts[i].TopicPartition.String())
		}
	}
	text += "."
	if len(unread) > 0 {
		text += fmt.Sprintf(" Nobody reads %s.", few(unread))
	}
	if len(idle) > 0 {
		text += fmt.Sprintf(" Idle: %s.", few(idle))
	}
	return say("Group "+g.ID+": ", "%s", text)
}

// readAgain says what a crash would repeat, and what was repeated and passed over.
func (l *layout) readAgain(g *engine.GroupView) view.Paragraph {
	pending, left, twice, passed := 0, 0, 0, 0
	for i := range l.parts {
		p := &l.parts[i]
		if n, _ := uncommitted(g, p); offsetOf(g, p.TopicPartition).Owner == "" {
			left += n
		} else {
			pending += n
		}
		fates := fatesOf(g, p.TopicPartition)
		for _, rec := range p.all {
			if fates.At(rec.Offset).Processed > 1 {
				twice++
			}
			if l.stageOf(g, p, rec) == missed {
				passed++
			}
		}
	}
	var parts []string
	add := func(n int, one, many, format string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, kafka.Count(n, "record")+" "+labs.Verb(n, one, many), labs.Verb(n, "it", "them")))
		}
	}
	add(passed, "is", "are", "%s committed and never processed: who begins at the committed offset passes over %s.")
	add(twice, "was", "were", "%[1]s processed more than once.")
	add(left, "is", "are", "%s processed and not committed, and nobody reads there: who takes over repeats %s.")
	add(pending, "is", "are", "%s processed and not committed: a crash before the commit arrives repeats %s.")
	if len(parts) == 0 {
		return nil
	}
	return say("In "+g.ID+": ", "%s", strings.Join(parts, " "))
}

// readGone says where a group has committed below the log's start.
func (l *layout) readGone(g *engine.GroupView) view.Paragraph {
	var names []string
	for i := range l.parts {
		p := &l.parts[i]
		if o := offsetOf(g, p.TopicPartition); o.Committed >= 0 && o.Committed < p.Log.LogStartOffset && p.served {
			names = append(names, fmt.Sprintf("%s (committed %d, start %d)", p.TopicPartition, o.Committed, p.Log.LogStartOffset))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return say("What "+g.ID+" has committed is below the start of the log: ", "%s. Who begins there is out of range, and auto.offset.reset = %s decides where to go on.", few(names), l.Address.Values.Text("reset"))
}

// readStarts says where logs do not begin at 0 any more, or have gaps.
func (l *layout) readStarts() view.Paragraph {
	var starts, gaps []string
	for i := range l.parts {
		p := &l.parts[i]
		name := p.TopicPartition.String()
		if start := p.Log.LogStartOffset; start > 0 {
			starts = append(starts, fmt.Sprintf("%s at %d", name, start))
		}
		if missing := int(p.Log.LogEndOffset-p.Log.LogStartOffset) - len(p.all); missing > 0 {
			gaps = append(gaps, fmt.Sprintf("%d in %s", missing, name))
		}
	}
	var parts []string
	if len(starts) > 0 {
		parts = append(parts, "logs begin later: "+few(starts)+".")
	}
	if len(gaps) > 0 {
		parts = append(parts, "offsets without a record: "+few(gaps)+".")
	}
	if len(parts) == 0 {
		return nil
	}
	return say("What was deleted or cleaned: ", "%s", strings.Join(parts, " "))
}
