package sandbox

import (
	"slices"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
)

// Bounds of what a page draws, so that it stays small with six partitions, five brokers and two groups of four.
const (
	columnsShown  = 10
	columnsBeside = 7
	stripsBeside  = 2 // of each run where two stand beside each other; 1 while the inspector is open, and of the members
	stripsOpen    = 4 // while the inspector is open
	membersShown  = 8
	membersBeside = 4
	inboxShown    = 1 // messages on their way to one node; where two runs stand beside each other they are only counted
)

// layout is a frame with what the parts of the page share.
type layout struct {
	labs.Frame
	report  engine.LedgerReport
	first   int // the first partition drawn
	shown   int // partitions drawn at most
	columns int // places of a strip
	members int // members drawn at most
	inbox   int // messages drawn at most on their way to one node
	parts   []part
}

// part is one partition with its log.
type part struct {
	engine.PartitionView
	served  bool         // its leader runs
	stable  kafka.Offset // last stable offset
	written kafka.Offset // the first offset that was written in this tick
	all     []labs.StoredRecord
	from    int // index in all of the first record drawn

	second   int        // index in all of the first record whose offset was written more than once
	replaced []replaced // from there on
}

func newLayout(f labs.Frame) *layout {
	l := &layout{Frame: f, report: f.Cluster.Ledger(), shown: len(f.View.Partitions), columns: columnsShown, members: membersShown, inbox: inboxShown}
	switch open := f.Address.Shown() != (labs.Target{}) || f.Address.Why != 0; {
	case f.Beside != nil && open:
		l.shown, l.columns, l.members = 1, columnsBeside, 1
		l.inbox = 0
	case f.Beside != nil:
		l.shown, l.columns, l.members = stripsBeside, columnsBeside, membersBeside
		l.inbox = 0
	case open || len(f.View.Partitions) > 6: // partitions were added
		l.shown = stripsOpen
	}
	if at := f.Address.Shown().Partition; at.Topic == topic && int(at.Partition) < len(f.View.Partitions) {
		l.first = int(at.Partition) - int(at.Partition)%l.shown
	}
	l.View.Groups = l.asConfirmed()
	for _, p := range f.View.Partitions {
		l.parts = append(l.parts, l.newPart(p))
	}
	l.findReplaced()
	if f.Address.T > 0 { // all of the set-up belongs to tick 0
		l.findWritten()
	}
	return l
}

// newPart reads a partition's log and chooses what is drawn of it: where the first group's mark is in sight, else its end,
// and what is open in the inspector.
func (l *layout) newPart(p engine.PartitionView) part {
	log := p.Log
	at := part{PartitionView: p, stable: log.LastStableOffset, written: log.LogEndOffset}
	at.served = slices.ContainsFunc(p.Replicas, func(r engine.ReplicaView) bool { return r.Broker == p.Leader && r.Online })
	at.all = labs.RecordsFrom(log.Segments, log.LogStartOffset, int(log.LogEndOffset-log.LogStartOffset))
	at.second = len(at.all)
	room := l.columns - 1 // one place stays free for the next record
	if l.Beside != nil && int(p.Partition) < len(l.Beside.Partitions) {
		room -= min(max(int(l.Beside.Partitions[p.Partition].Log.LogEndOffset-log.LogEndOffset), 0), l.columns-2)
	}
	at.from = max(min(len(at.all)-room, l.lowestCommit(&at)-1), 0) // the record before a mark tells where it comes from
	shown := l.Address.Shown()
	if shown.Partition == p.TopicPartition && (shown.Kind == labs.RecordTarget || shown.Kind == labs.BatchTarget) {
		if i := at.indexOf(kafka.Offset(shown.Number)); i < at.from || i >= at.from+l.columns {
			at.from = max(i-l.columns/2, 0)
		}
	}
	return at
}

// lowestCommit gives the place in the log of the lowest offset that a group has committed.
func (l *layout) lowestCommit(p *part) int {
	lowest := len(p.all)
	for i := range l.View.Groups {
		if o := offsetOf(&l.View.Groups[i], p.TopicPartition); o.Committed >= 0 {
			lowest = min(lowest, p.indexOf(o.Committed))
		}
	}
	return lowest
}

// indexOf gives the place in the log of the first record at or behind an offset.
func (p *part) indexOf(o kafka.Offset) int {
	i, _ := slices.BinarySearchFunc(p.all, o, func(r labs.StoredRecord, o kafka.Offset) int { return int(r.Offset - o) })
	return i
}

// inSight lists the records that are drawn.
func (l *layout) inSight(p *part) []labs.StoredRecord {
	return p.all[p.from:min(p.from+l.columns, len(p.all))]
}

// drawn gives the range of partitions that are drawn.
func (l *layout) drawn() (from, to int) { return l.first, min(l.first+l.shown, len(l.parts)) }

func (l *layout) tick() kafka.Tick { return kafka.Tick(l.Address.T) }

func (l *layout) findWritten() {
	for e := range l.Cluster.Journal().Of(l.tick()) {
		b, ok := e.Body.(journal.BatchAppended)
		if !ok {
			continue
		}
		if p := l.partOf(b.TopicPartition); p != nil {
			p.written = min(p.written, b.BaseOffset)
		}
	}
}

// partOf is a partition of the topic; nil for one of another topic, or that this run's controller does not know yet.
func (l *layout) partOf(tp kafka.TopicPartition) *part {
	if tp.Topic != topic || int(tp.Partition) >= len(l.parts) {
		return nil
	}
	return &l.parts[tp.Partition]
}

// account is the ledger as labs draw it.
func (l *layout) account() labs.Ledger {
	return labs.Ledger{Frame: l.Frame, Report: l.report, Acks: labs.AcksNumber(l.Address.Values.Text("acks"))}
}

// offsetOf is how far a group is in a partition.
func offsetOf(g *engine.GroupView, tp kafka.TopicPartition) engine.OffsetView {
	for _, o := range g.Offsets {
		if o.TopicPartition == tp {
			return o
		}
	}
	return engine.OffsetView{TopicPartition: tp, Committed: kafka.NoOffset, Position: kafka.NoOffset, RecordsLag: -1}
}

// fatesOf is what became of each record of a partition in a group.
func fatesOf(g *engine.GroupView, tp kafka.TopicPartition) engine.FatesView {
	for _, f := range g.Sink.Fates {
		if f.TopicPartition == tp {
			return f
		}
	}
	return engine.FatesView{}
}
