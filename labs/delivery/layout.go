package delivery

import (
	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
)

// Bounds of what a page draws.
const (
	columnsShown  = 13
	columnsOpen   = 10 // while the inspector is open
	columnsBeside = 7
	rowsShown     = 6 // of a table, the last ones
	rowsOpen      = 3
	cardsBeside   = 4 // nodes
	inboxShown    = 2 // messages on their way to one node
	openRows      = 3 // rows of brackets under a strip
)

// layout is a frame with what the parts of the page share.
type layout struct {
	labs.Frame
	report  engine.LedgerReport
	orders  *contents
	bills   *contents // nil: the application writes to no topic
	app     *engine.GroupView
	readers [2]*reader // read_uncommitted, read_committed
	columns int
	rows    int  // of a table
	brief   bool // there is room for no tables
	past    past
	effects []effect // of the orders that count, by offset
}

// reader is one of the two who read what was written.
type reader struct {
	level    string // isolation.level
	group    *engine.GroupView
	member   *engine.MemberView
	position kafka.Offset // -1: none
	kept     kafka.Offset // committed by it; -1: nothing
	fates    engine.FatesView
}

func newLayout(f labs.Frame) *layout {
	l := &layout{Frame: f, report: f.Cluster.Ledger(), columns: columnsShown, rows: rowsShown}
	switch {
	case f.Beside != nil:
		l.columns, l.rows, l.brief = columnsBeside, rowsOpen, true
	case f.Address.Shown() != labs.Target{} || f.Address.Why != 0:
		l.columns, l.rows, l.brief = columnsOpen, rowsOpen, true
	}
	for i := range f.View.Groups {
		g := &f.View.Groups[i]
		switch g.ID {
		case billing:
			l.app = g
		case uncommitted:
			l.readers[0] = l.newReader(g, readUncommitted)
		case committed:
			l.readers[1] = l.newReader(g, readCommitted)
		}
	}
	for _, p := range f.View.Partitions {
		c := l.readContents(p)
		c.columns = l.columns
		if p.TopicPartition.Topic == orders {
			l.orders = c
		} else {
			l.bills = c
		}
	}
	for _, c := range l.logs() {
		c.first = l.windowOf(c)
	}
	if f.Address.T > 0 { // all of the set-up belongs to tick 0
		l.findWritten()
	}
	l.past = l.readPast()
	l.effects = l.countEffects()
	return l
}

// logs lists what is drawn.
func (l *layout) logs() []*contents {
	if l.bills == nil {
		return []*contents{l.orders}
	}
	return []*contents{l.orders, l.bills}
}

// read is the log that the two readers read.
func (l *layout) read() *contents {
	if l.bills != nil {
		return l.bills
	}
	return l.orders
}

func (l *layout) tick() kafka.Tick { return kafka.Tick(l.Address.T) }

func (l *layout) newReader(g *engine.GroupView, level string) *reader {
	r := &reader{level: level, group: g, member: &g.Members[0], position: kafka.NoOffset, kept: kafka.NoOffset}
	for _, a := range r.member.Assignment {
		r.position = a.Position
	}
	for _, o := range g.Offsets {
		r.kept = o.Committed
	}
	for _, fates := range g.Sink.Fates {
		r.fates = fates
	}
	return r
}

// saw says how often a reader was given the record at an offset.
func (r *reader) saw(o kafka.Offset) int { return int(r.fates.At(o).Delivered) }

// allProducers lists the clients that write: the producers of orders, and those inside the application.
func (l *layout) allProducers() (list []*engine.WriterView) {
	for _, p := range l.View.Producers {
		list = append(list, p.Producer)
	}
	if l.app != nil {
		for _, m := range l.app.Members {
			if m.Producer != nil {
				list = append(list, m.Producer)
			}
		}
	}
	return list
}

func (l *layout) findWritten() {
	for e := range l.Cluster.Journal().Of(l.tick()) {
		b, ok := e.Body.(journal.BatchAppended)
		if !ok {
			continue
		}
		for _, c := range l.logs() {
			if c.TopicPartition == b.TopicPartition {
				c.written = min(c.written, b.BaseOffset)
			}
		}
	}
}

// windowOf gives the offset at which the drawn part of a log begins: where its end is in sight, and the record in the
// inspector is.
func (l *layout) windowOf(c *contents) kafka.Offset {
	most := kafka.Offset(l.columns)
	start, end := c.Log.LogStartOffset, c.Log.LogEndOffset
	if l.Beside != nil {
		for _, p := range l.Beside.Partitions {
			if p.TopicPartition == c.TopicPartition {
				end = max(end, p.Log.LogEndOffset)
			}
		}
	}
	first := max(start, end-most+1) // one place stays free for the next record
	shown := l.Address.Shown()
	if shown.Partition == c.TopicPartition && (shown.Kind == labs.RecordTarget || shown.Kind == labs.BatchTarget) {
		if o := kafka.Offset(shown.Number); o < first || o >= first+most {
			first = max(start, o-most/2)
		}
	}
	return first
}
