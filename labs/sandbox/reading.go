package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
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
		list = append(list, l.readGone(g)...)
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

// whyTwice says how that comes, as the journal has it, and why the leader did not notice.
func (l *layout) whyTwice() string {
	text, doubled, plain := "", 0, 0
	var codes []string
	wrote := l.appendsOf(l.report.Duplicated)
	for i, e := range l.report.Duplicated {
		byLink, code := l.secondCopy(e.TopicPartition, wrote[i])
		switch {
		case byLink:
			doubled++
		case code != "" && !slices.Contains(codes, code):
			codes = append(codes, code)
		}
		if i := slices.IndexFunc(l.View.Producers, func(p engine.ProducerView) bool { return p.ID == e.Producer }); i >= 0 && !l.View.Producers[i].Producer.Idempotent {
			plain++
		}
	}
	if doubled > 0 {
		text += " The network delivered a request twice."
	}
	if len(codes) > 0 {
		text += fmt.Sprintf(" The producer sent a batch again after %s.", strings.Join(codes, ", "))
	}
	if plain == len(l.report.Duplicated) {
		text += " With enable.idempotence = false the leader cannot tell."
	}
	return text
}

// secondCopy says how a record that stands twice came into the log again, with the events that wrote its first two copies:
// a link delivered the request of the first once more, or its producer sent it again, after an error.
func (l *layout) secondCopy(tp kafka.TopicPartition, wrote [2]uint64) (byLink bool, code string) {
	was, is := l.requestOf(wrote[0]), l.requestOf(wrote[1])
	if is == 0 || was == is {
		return is != 0, ""
	}
	for _, cause := range l.Cluster.Journal().Causes(is) {
		if b, ok := cause.Body.(journal.BatchRetried); ok && b.TopicPartition == tp {
			return false, b.Error
		}
	}
	return false, ""
}

// requestOf gives the event that sent the request which led to an event; 0: there is none.
func (l *layout) requestOf(seq uint64) uint64 {
	for _, cause := range l.Cluster.Journal().Causes(seq) {
		if _, sent := cause.Body.(journal.MessageSent); sent {
			return cause.Seq
		}
	}
	return 0
}

// appendsOf gives, for each record that stands more than once, the events with which a leader wrote its first two copies;
// 0: none is known.
func (l *layout) appendsOf(list []engine.LedgerEntry) [][2]uint64 {
	wrote := make([][2]uint64, len(list))
	for event := range l.Cluster.Journal().All() {
		b, ok := event.Body.(journal.BatchAppended)
		if !ok || b.TopicPartition.Topic != topic {
			continue
		}
		for i, e := range list {
			for j, o := range e.Offsets[:min(2, len(e.Offsets))] {
				if b.TopicPartition == e.TopicPartition && b.BaseOffset <= o && o <= b.LastOffset {
					wrote[i][j] = event.Seq
				}
			}
		}
	}
	return wrote
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
	case !p.served && l.View.Brokers[p.Leader-1].Up():
		return say(fmt.Sprintf("%s, the leader of %s, %s. ", labs.BrokerName(p.Leader), name, l.leaderIs(p)), "Nothing is written to it or read from it yet.")
	case !p.served:
		return say(fmt.Sprintf("%s, the leader of %s, %s. ", labs.BrokerName(p.Leader), name, l.leaderIs(p)), "The controller does not know yet, so nobody else leads.")
	case l.View.Brokers[p.Leader-1].Paused:
		return say(fmt.Sprintf("%s, the leader of %s, is paused. ", labs.BrokerName(p.Leader), name), "Nothing is written to it or read from it.")
	}
	return say(fmt.Sprintf("%s leads %s ", labs.BrokerName(p.Leader), name), "in leader epoch %d. In sync: %s. Its log ends at %d; consumers read below its high watermark, %d.", p.LeaderEpoch, labs.BrokerNames(p.ISR), p.Log.LogEndOffset, p.Log.HighWatermark)
}

// leaderIs says why the leader of a partition does not serve it.
func (l *layout) leaderIs(p *part) string {
	switch b := l.View.Brokers[p.Leader-1]; {
	case !b.Up():
		return "does not run"
	case b.State == engine.BrokerStarting:
		return "is starting"
	}
	return "has not opened its log yet"
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
	if silent := l.notFetching(p); len(silent) > 0 {
		return say("A write with acks = all waits now: ", "%s %s in sync and cannot fetch. It is acknowledged when %s the record, or %s taken out of the in-sync replicas and at least min.insync.replicas = %d are left.",
			labs.BrokerNames(silent), labs.Verb(len(silent), "is", "are"), labs.Verb(len(silent), "it has", "they have"), labs.Verb(len(silent), "is", "are"), p.MinISR)
	}
	return say(means, "that %s have the record, each in its page cache (acks = all).", labs.BrokerNames(p.ISR))
}

// notFetching lists the in-sync replicas that cannot fetch from the leader as things stand.
func (l *layout) notFetching(p *part) (ids []kafka.BrokerID) {
	leader := l.View.Brokers[p.Leader-1].Node
	for _, id := range p.ISR {
		b := l.View.Brokers[id-1]
		if id != p.Leader && (!b.Up() || b.State == engine.BrokerStarting || b.Paused || l.IsCut(b.Node, leader) || l.IsCut(leader, b.Node)) {
			ids = append(ids, id)
		}
	}
	return ids
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
	}
	text += " once the controller has noticed"
	if n := p.lacks(after.Leader); n > 0 {
		text += fmt.Sprintf(", without %s that %s committed", kafka.Count(n, "record"), labs.Verb(n, "was", "were"))
	} else if !after.Clean && after.Leader != engine.NoLeader {
		text += ", not in sync, but with all that is committed"
	}
	kill := command.Kill{Node: b.Node}
	return view.Paragraph{
		{Text: fmt.Sprintf("If %s ended now, ", b.Node), Strong: true}, {Text: text + " ("},
		labs.TryIt(fmt.Sprintf("kill %s", b.Node), l.Address.WithCommand(kill, false)), {Text: ")."},
	}
}

// lacks counts the records below the high watermark that a replica does not have, or has others for. What it has deleted or
// cleaned by itself does not count.
func (p *part) lacks(id kafka.BrokerID) (n int) {
	at := slices.IndexFunc(p.Replicas, func(r engine.ReplicaView) bool { return r.Broker == id })
	if at < 0 {
		return 0
	}
	r := p.Replicas[at]
	has := labs.RecordsFrom(labs.SegmentsOf(r), p.Log.LogStartOffset, int(max(r.LogEndOffset-p.Log.LogStartOffset, 0)))
	for _, rec := range p.all[:p.indexOf(p.Log.HighWatermark)] {
		i, found := slices.BinarySearchFunc(has, rec.Offset, func(r labs.StoredRecord, o kafka.Offset) int { return int(r.Offset - o) })
		if rec.Offset >= r.LogEndOffset || found && (has[i].LeaderEpoch != rec.LeaderEpoch || string(has[i].Value) != string(rec.Value)) {
			n++
		}
	}
	return n
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
	text := fmt.Sprintf("%s. Lag: %s", standing(g), l.lagSum(g))
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
