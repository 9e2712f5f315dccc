package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// asConfirmed gives the groups as they are drawn. Of one whose coordinator cannot be asked now nobody says what is
// committed: there each committed offset is the last that a coordinator confirmed.
func (l *layout) asConfirmed() []engine.GroupView {
	groups := slices.Clone(l.View.Groups)
	for i := range groups {
		if g := &groups[i]; g.Coordinator == "" {
			held := *g.CoordinatedView
			held.Offsets = l.confirmed(g)
			g.CoordinatedView = &held
		}
	}
	return groups
}

// confirmed lists how far a group is in each partition by what the journal has of its commits.
func (l *layout) confirmed(g *engine.GroupView) (list []engine.OffsetView) {
	for _, p := range l.View.Partitions {
		list = append(list, offsetOf(g, p.TopicPartition))
	}
	commit := func(tp kafka.TopicPartition, o kafka.Offset) {
		if tp.Topic == topic && int(tp.Partition) < len(list) {
			list[tp.Partition].Committed = o
		}
	}
	for e := range l.Cluster.Journal().All() {
		switch b := e.Body.(type) {
		case journal.OffsetCommitted:
			if b.Group == g.ID {
				commit(b.TopicPartition, b.Offset)
			}
		case journal.OffsetsRemoved:
			if b.Group == g.ID {
				for _, tp := range b.Partitions {
					commit(tp, kafka.NoOffset)
				}
			}
		}
	}
	return list
}

// lagOf is how far a group's commits are behind the high watermark; below 0: they are past it. Ok is false where nobody
// serves the log, so that its high watermark is not known.
func (l *layout) lagOf(g *engine.GroupView, p *part) (lag int64, ok bool) {
	from := p.Log.LogStartOffset
	if o := offsetOf(g, p.TopicPartition); o.Committed >= 0 {
		from = o.Committed
	}
	return int64(p.Log.HighWatermark - from), p.served
}

// lagText writes the lag of a group in a partition.
func (l *layout) lagText(g *engine.GroupView, p *part) string {
	switch lag, ok := l.lagOf(g, p); {
	case !ok:
		return "cannot be read"
	case lag < 0:
		return fmt.Sprintf("0, committed %d past the high watermark", -lag)
	default:
		return fmt.Sprint(lag)
	}
}

// lagSum writes the lag of a group over all partitions that can be read; one that has committed past the high watermark
// of a partition is behind by nothing there.
func (l *layout) lagSum(g *engine.GroupView) string {
	var sum int64
	var unread []string
	for i := range l.parts {
		lag, ok := l.lagOf(g, &l.parts[i])
		if !ok {
			unread = append(unread, l.parts[i].TopicPartition.String())
			continue
		}
		sum += max(lag, 0)
	}
	text := kafka.Thousands(sum)
	if g.Coordinator == "" {
		text += " by the last commits that were confirmed"
	}
	if len(unread) > 0 {
		text += fmt.Sprintf(", without %s, which cannot be read", few(unread))
	}
	return text
}

// processedFrom lists the records from an offset on, up to the position of who reads the partition, that a group has
// processed: what lies behind the position, after a replay, is read again in any case.
func (l *layout) processedFrom(g *engine.GroupView, p *part, from kafka.Offset) (list []kafka.Offset) {
	end := p.Log.LogEndOffset
	if at := offsetOf(g, p.TopicPartition).Position; at >= 0 {
		end = min(end, at)
	}
	for _, rec := range p.all[p.indexOf(from):] {
		if rec.Offset < end && l.fateOf(g, p, rec).Processed > 0 {
			list = append(list, rec.Offset)
		}
	}
	return list
}

// uncommitted lists what a group has processed of a partition from its committed offset on.
func (l *layout) uncommitted(g *engine.GroupView, p *part) []kafka.Offset {
	return l.processedFrom(g, p, offsetOf(g, p.TopicPartition).Committed)
}

// begins is the lowest offset at which somebody would begin who took a partition over now: what the group has committed, or
// what auto.offset.reset says. Ok is false if that would be an error.
func (l *layout) begins(g *engine.GroupView, p *part) (at kafka.Offset, ok bool) {
	at = offsetOf(g, p.TopicPartition).Committed
	switch reset := l.Address.Values.Text("reset"); {
	case at >= p.Log.LogStartOffset && at <= p.Log.LogEndOffset:
		return at, true
	case reset == earliest:
		return p.Log.LogStartOffset, true
	case reset == latest:
		return p.Log.HighWatermark, true
	}
	return kafka.NoOffset, false
}

// atRisk counts records of a group by what a crash means for them.
type atRisk struct {
	pending     int // processed and not committed, and who takes over repeats them
	left        int // the same, and nobody reads them now
	behind      int // processed and not committed, and who takes over begins behind them or not at all
	unread      int // processed and not committed, in partitions that nobody serves
	unconfirmed int // processed, and no coordinator that could be asked has their commit
	twice       int // processed more than once
	passed      int // committed and never processed, and nobody is to read them
}

// weigh counts them.
func (l *layout) weigh(g *engine.GroupView) (r atRisk) {
	for i := range l.parts {
		p := &l.parts[i]
		for _, rec := range p.all {
			if l.fateOf(g, p, rec).Processed > 1 {
				r.twice++
			}
			if l.stageOf(g, p, rec) == missed {
				r.passed++
			}
		}
		open, again := len(l.uncommitted(g, p)), 0
		at, ok := l.begins(g, p)
		if committed := offsetOf(g, p.TopicPartition).Committed; ok {
			again = len(l.processedFrom(g, p, max(at, committed)))
		}
		switch {
		case g.Coordinator == "":
			r.unconfirmed += open
			continue
		case !p.served:
			r.unread += open
			continue
		case offsetOf(g, p.TopicPartition).Owner == "":
			r.left += again
		default:
			r.pending += again
		}
		r.behind += open - again
	}
	return r
}

// readAgain says what a crash would repeat, and what was repeated and passed over.
func (l *layout) readAgain(g *engine.GroupView) view.Paragraph {
	var parts []string
	add := func(n int, one, many, format string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, kafka.Count(n, "record")+" "+labs.Verb(n, one, many), labs.Verb(n, "it", "them")))
		}
	}
	r := l.weigh(g)
	add(r.passed, "is", "are", "%s committed and never processed: who begins at the committed offset passes over %s.")
	add(r.twice, "was", "were", "%[1]s processed more than once.")
	add(r.unconfirmed, "is", "are", "%s processed, and no coordinator has confirmed a commit of %s.")
	add(r.unread, "is", "are", "%[1]s processed and not committed, where nobody serves the log now.")
	add(r.left, "is", "are", "%s processed and not committed, and nobody reads there: who takes over repeats %s.")
	add(r.pending, "is", "are", "%s processed and not committed: a crash before the commit arrives repeats %s.")
	if l.Address.Values.Text("reset") == latest {
		add(r.behind, "is", "are", "%s processed and not committed: by auto.offset.reset = latest who takes over begins at the end, and does not repeat %s.")
	} else {
		add(r.behind, "is", "are", "%[1]s processed and not committed: with auto.offset.reset = none who takes over fails there.")
	}
	if len(parts) == 0 {
		return nil
	}
	return say("In "+g.ID+": ", "%s", strings.Join(parts, " "))
}

// readGone says where a group has committed what its log does not have: below its start, or past its end.
func (l *layout) readGone(g *engine.GroupView) (list []view.Paragraph) {
	var below, past []string
	for i := range l.parts {
		switch p := &l.parts[i]; {
		case !p.served:
		case offsetOf(g, p.TopicPartition).Committed > p.Log.LogEndOffset:
			past = append(past, fmt.Sprintf("%s (committed %d, end %d)", p.TopicPartition, offsetOf(g, p.TopicPartition).Committed, p.Log.LogEndOffset))
		default:
			if o := offsetOf(g, p.TopicPartition); o.Committed >= 0 && o.Committed < p.Log.LogStartOffset {
				below = append(below, fmt.Sprintf("%s (committed %d, start %d)", p.TopicPartition, o.Committed, p.Log.LogStartOffset))
			}
		}
	}
	add := func(names []string, where string) {
		if len(names) > 0 {
			list = append(list, say(fmt.Sprintf("What %s has committed is %s of the log: ", g.ID, where), "%s. Who begins there is out of range, and auto.offset.reset = %s decides where to go on.", few(names), l.Address.Values.Text("reset")))
		}
	}
	add(below, "below the start")
	add(past, "past the end")
	return list
}
