package offsets

import (
	"fmt"
	"iter"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// foresee works out what would come of a partition if whoever reads it crashed now: where the next one would begin,
// which records would then be processed again, and which nobody would process. Commits on their way count as arrived.
// Records that are in somebody's hands are not processed yet.
func (g *groupState) foresee(p *part) {
	if p.unread || p.blind { // and what is in it, or committed of it, is not known
		return
	}
	at := p.coming
	if p.stored >= 0 {
		at = p.stored
	}
	p.outside = at >= 0 && (at < p.LogStartOffset || at > p.LogEndOffset)
	switch {
	case at >= 0 && !p.outside:
		p.begins, p.foreseen = at, true
	case g.reset == earliest:
		p.begins, p.foreseen = p.LogStartOffset, true
	case g.reset == latest:
		p.begins, p.foreseen, p.atLeast = p.HighWatermark, true, true
	default: // nobody can begin, or where depends on when
		return
	}
	r := p.standing.reckon(p.begins)
	p.again, p.lost = len(r.again), len(r.lost)
}

// readOutlook says what the crash of each consumer would do now.
func (l *layout) readOutlook(g *groupState) (list []view.Paragraph) {
	for i := range g.Members {
		if len(list) == looksAhead/len(l.groups) {
			break
		}
		if m := &g.Members[i]; g.counts(m) && len(m.Assignment) > 0 && m.App != failedApp {
			list = append(list, l.readIf(g, m))
		}
	}
	return list
}

// outcome is what a consumer's crash would mean.
type outcome struct {
	again, lost int
	atLeast     bool     // more is lost if more is written before somebody takes over
	unknown     bool     // of some partition it cannot be said where the next one begins
	unread      bool     // since the log of some partition cannot be read now
	outside     bool     // something is committed of some of the partitions for which auto.offset.reset decides
	beyond      []string // partitions that go on elsewhere if their logs have reached by then what is committed
}

// ifCrashed adds up what the crash of a consumer would mean for its partitions.
func (g *groupState) ifCrashed(m *engine.MemberView) (o outcome) {
	for i := range g.parts {
		at := &g.parts[i]
		if at.owner != m {
			o.lost += at.straysOf(kafka.NodeID(m.ID))
			continue
		}
		if at.beyond() {
			o.beyond = append(o.beyond, at.TopicPartition.String())
		}
		o.outside = o.outside || at.outside
		o.again, o.lost = o.again+at.again, o.lost+at.lost
		o.unread = o.unread || at.unread
		o.unknown, o.atLeast = o.unknown || !at.foreseen, o.atLeast || at.atLeast
	}
	return o
}

// beyond says whether what is committed of a partition, or about to be, lies behind the end of its log.
func (p *part) beyond() bool { return p.outside && p.coming > p.LogEndOffset }

// straysOf counts the records that would be lost with a consumer that does not read the partition any more and still has
// them in hand: those that the group has passed.
func (p *part) straysOf(node kafka.NodeID) (n int) {
	for _, s := range p.strays {
		if s.node == node && p.stored < 0 && p.standing.passed(s.offset) {
			n++
		}
	}
	return n
}

// nothingOf says of what nothing is committed, where auto.offset.reset decides.
func (o *outcome) nothingOf() string {
	if o.outside {
		return "nothing that the log has is committed of some of its partitions"
	}
	return "nothing is committed of some of its partitions"
}

func (l *layout) readIf(g *groupState, m *engine.MemberView) view.Paragraph {
	o := g.ifCrashed(m)
	p := view.Paragraph{{Text: fmt.Sprintf("If %s crashed now, ", m.ID), Strong: true}}
	alone := g.alone(m)
	switch {
	case o.unread:
		return append(p, view.Span{Text: "what would come of it cannot be said: the log of some of its partitions cannot be read now."})
	case o.unknown && g.reset == noReset:
		p = append(p, view.Span{Text: "whoever takes over would fail: nothing that the log has is committed of some of its partitions, and auto.offset.reset = none. "})
	case o.unknown:
		p = append(p, view.Span{Text: fmt.Sprintf("%s, and auto.offset.reset = %s would decide by the time of the takeover where to begin there. ", o.nothingOf(), g.reset)})
	default:
		lost := none(o.lost, "")
		if o.atLeast {
			lost = fmt.Sprintf("%d or more", o.lost)
		}
		once := ""
		if alone {
			once = ", once somebody is started who takes over"
		}
		p = append(p, view.Span{Text: fmt.Sprintf("%s would be processed again%s and %s lost%s: ", none(o.again, "record"), l.sinkWould(g, o.again), lost, once)})
		if o.atLeast {
			p = append(p, view.Span{Text: o.nothingOf() + ", and auto.offset.reset = latest begins at their end then: "})
		}
	}
	fork := l.tryCrash(g, m)
	p = append(p, labs.TryIt("crash "+string(m.ID), fork.address), view.Span{Text: "."})
	if len(o.beyond) > 0 && !o.unknown {
		p = append(p, view.Span{Text: fmt.Sprintf(" What is committed of %s is beyond the end: once the log has reached that, whoever takes over begins there instead.", listed(o.beyond))})
	}
	if !alone && o.again > 0 && l.Address.Values.Int("process") == 0 {
		p = append(p, view.Span{Text: " Whoever takes over has to be let process them."})
	}
	if n := l.othersAgain(g, m); n > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" The rebalance then makes the other consumers begin at their commits too: %s more, as things stand.", kafka.Count(n, "record"))})
	}
	if n := l.othersLost(g, m); n > 0 && !alone {
		p = append(p, view.Span{Text: fmt.Sprintf(" The rebalance also drops what waits for the threads of the other consumers, and by then that is committed: %s now.", kafka.Count(n, "record"))})
	}
	return p
}

// othersLost counts the records that wait for the threads of the other consumers and would be lost by a rebalance now:
// with an eager assignor they are dropped with their partitions, and auto commit commits the position before that.
func (l *layout) othersLost(g *groupState, m *engine.MemberView) (n int) {
	v := l.Address.Values
	if m.Cooperative || v.Int("threads") == 0 || g.Sink.Kind == engine.SinkOffsets {
		return 0
	}
	for i := range g.parts {
		p := &g.parts[i]
		if p.owner == nil || p.owner == m || !p.foreseen {
			continue
		}
		for _, q := range p.owner.Queue {
			if q.TopicPartition == p.TopicPartition && !p.standing.settled(q.Offset) && (v.Text("commit") == automatic || q.Offset < p.begins) {
				n++
			}
		}
	}
	return n
}

// alone says whether nobody but one consumer runs who could take over.
func (g *groupState) alone(m *engine.MemberView) bool {
	for i := range g.Members {
		if other := &g.Members[i]; other.ID != m.ID && other.Alive && !other.Paused && other.App != failedApp {
			return false
		}
	}
	return true
}

// othersAgain counts the records that the other consumers would process again after a rebalance as things stand: with an
// eager assignor they give up all that they read, and what they have not committed before that they begin anew.
func (l *layout) othersAgain(g *groupState, m *engine.MemberView) (n int) {
	v := l.Address.Values
	threads, revoke := v.Int("threads") > 0, v.Text("on-revoke") == on
	switch commit := v.Text("commit"); {
	case m.Cooperative || commit == automatic || g.Sink.Kind == engine.SinkOffsets:
		return 0
	case threads && v.Text("commits") == contiguous: // what is done behind the first that is not
	case commit == manual && !revoke: // all
	default: // a consumer joins between two batches, and has committed
		return 0
	}
	for i := range g.parts {
		p := &g.parts[i]
		if p.owner == nil || p.owner == m {
			continue
		}
		if !threads || !revoke {
			n += p.again
			continue
		}
		if len(p.inHand) > 0 && p.foreseen { // onPartitionsRevoked commits up to there
			n += len(p.standing.reckon(max(p.begins, p.inHand[0])).again)
		}
	}
	return n
}

// none writes a count, 0 as "none" or "no record".
func none(n int, noun string) string {
	switch {
	case n == 0 && noun == "":
		return "none"
	case n == 0:
		return "no " + noun
	case noun == "":
		return fmt.Sprint(n)
	}
	return kafka.Count(n, noun)
}

// sinkWould says what the sink would make of effects that come again.
func (l *layout) sinkWould(g *groupState, again int) string {
	if again == 0 {
		return ""
	}
	switch g.Sink.Kind {
	case engine.SinkIdempotent:
		return " (the sink would ignore " + labs.Verb(again, "it", "them") + ")"
	case engine.SinkUpsert:
		return " (the sink would write over what it has)"
	}
	return ""
}

// Bounds of looking ahead for the outcome of a crash.
const (
	aheadTicks   = 30 // until others have begun where it read; beyond that the end of its session is shown
	repeatsTicks = 8  // until they have repeated what there is to repeat
	mostAhead    = 3  // consumers of one page; for the others the end of the session is shown
)

// fork is where a crash leads.
type fork struct {
	address labs.Address
	seen    bool // the outcome can be seen there
}

// tryCrash leads to the tick of the fork at which the outcome can be seen: where others have begun in all partitions, and
// have repeated what is repeated, if that is soon.
func (l *layout) tryCrash(g *groupState, m *engine.MemberView) fork {
	cmd := command.Crash{Node: kafka.NodeID(m.ID)}
	a := l.Address.WithCommand(cmd, false)
	ends := l.View.Now + kafka.Millis(l.Address.Values.Int("session-timeout"))
	for _, held := range g.Held.Members {
		if held.Host == kafka.NodeID(m.ID) && held.SessionEnds > 0 {
			ends = held.SessionEnds
		}
	}
	at := l.tickAt(ends)
	if g.alone(m) || at > l.Address.T+aheadTicks || l.ahead == mostAhead {
		return fork{address: a.WithTick(at + 1)}
	}
	l.ahead++
	c := l.Cluster.Clone()
	if c.Apply(cmd) != nil {
		return fork{address: a.WithTick(at + 1)}
	}
	w := watch{again: g.ifCrashed(m).again, from: map[kafka.TopicPartition]kafka.Offset{}, beyond: map[kafka.TopicPartition]bool{}}
	for i := range g.parts {
		if at := &g.parts[i]; at.owner == m {
			w.from[at.TopicPartition], w.beyond[at.TopicPartition] = kafka.NoOffset, at.beyond()
		}
	}
	last := min(l.Address.T+aheadTicks, a.Last())
	begun := 0
	for tick := l.Address.T + 1; tick <= last; tick++ {
		if c.Tick() != nil {
			break
		}
		w.take(c.Journal().Of(kafka.Tick(tick)), g.ID)
		if begun == 0 && w.all() {
			begun, last = tick, min(tick+repeatsTicks, a.Last())
		}
		if begun > 0 && w.again <= 0 {
			return fork{a.WithTick(tick), true}
		}
	}
	if begun > 0 {
		return fork{a.WithTick(begun), true}
	}
	return fork{address: a.WithTick(at + 1)}
}

// watch waits for the outcome of a crash.
type watch struct {
	from   map[kafka.TopicPartition]kafka.Offset // where others have begun; -1: they have not
	beyond map[kafka.TopicPartition]bool         // what is committed is beyond the end, and will not do
	again  int                                   // records that have not been repeated yet
}

// take takes in the events of a tick.
func (w *watch) take(events iter.Seq[journal.Event], group string) {
	begin := func(tp kafka.TopicPartition, at kafka.Offset) {
		if _, of := w.from[tp]; of && at >= 0 {
			w.from[tp] = at
		}
	}
	for e := range events {
		if _, found := strings.CutPrefix(string(e.Node), group); !found {
			continue
		}
		switch b := e.Body.(type) {
		case journal.PositionCommitted:
			if !w.beyond[b.TopicPartition] {
				begin(b.TopicPartition, b.Offset)
			}
		case journal.PositionReset:
			begin(b.TopicPartition, b.To)
		case journal.PositionMoved:
			begin(b.TopicPartition, b.To)
		case journal.RecordProcessed:
			if from, of := w.from[b.TopicPartition]; of && from >= 0 && b.Offset >= from && b.Times > 1 {
				w.again--
			}
		}
	}
}

// all says whether others have begun everywhere.
func (w *watch) all() bool {
	for _, from := range w.from {
		if from < 0 {
			return false
		}
	}
	return true
}
