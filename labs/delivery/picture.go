package delivery

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// What a record is in the picture. Each is a class; brackets under the cells say it in words.
const (
	isPlain   = "plain"    // in no transaction
	isOpen    = "open"     // its transaction is open
	isKept    = "kept"     // its transaction is committed
	isUndone  = "undone"   // its transaction is aborted
	isMarker  = "marker"   // a control record
	isSeen    = "seen"     // a reader was given it
	isSkipped = "skip"     // a reader moved over it
	isAhead   = "ahead"    // a reader has not come to it
	isBarred  = "barred"   // a reader may not read it yet
	effectOne = "once"     // one effect
	effectTwo = "repeated" // more than one
	effectNo  = "none"     // none yet
	effectBad = "missed"   // none, and there will be none
)

// picture draws the logs, who writes them and who reads them.
func (l *layout) picture() view.Picture {
	p := view.Picture{
		Title: l.title(), Path: l.Address.Path(), Hidden: labs.HiddenParams(l.Address, "at", "why"),
		Machine: l.machine(), Cluster: l.cluster(), Legend: l.legend(), Tables: l.tables(),
	}
	p.LedgerTitle, p.Ledger = l.ledger()
	p.Strips = append(p.Strips, l.logStrip(l.orders))
	if l.app != nil && l.outside() != nothing {
		p.Strips = append(p.Strips, l.outsideStrip())
	}
	if l.bills != nil {
		s := l.logStrip(l.bills)
		s.Above = l.steps()
		p.Strips = append(p.Strips, s)
	} else if l.app != nil {
		p.Strips[len(p.Strips)-1].Above = l.steps()
	}
	for _, r := range l.readers {
		p.Strips = append(p.Strips, l.readerStrip(r))
	}
	return p
}

func (l *layout) title() string {
	writes := map[string]string{txnProducers: "the producers", txnApp: "the application", txnBoth: "producers and application"}
	who := "no transactions"
	if v := l.Address.Values; producersTransact(v) || appTransacts(v) {
		who = "transactions in " + writes[v.Text("transactions")]
	}
	way := kafka.Count(len(l.View.Producers), "producer") + " → orders"
	if l.app != nil {
		way += " → " + billing
	}
	if l.bills != nil {
		way += " → bills"
	}
	if l.app != nil && l.outside() != nothing {
		way += map[bool]string{true: " and ", false: " → "}[l.bills != nil] + outsideNames[l.outside()]
	}
	return way + "; " + who
}

// logStrip draws a log with its transactions.
func (l *layout) logStrip(c *contents) view.Strip {
	name := c.TopicPartition.String()
	s := l.newStrip("strip-"+name, name, c)
	s.At = labs.Target{Kind: labs.PartitionTarget, Partition: c.TopicPartition}.String()
	s.Owner = "the log of " + c.TopicPartition.Topic
	for i, e := range c.inSight() {
		s.Cells = append(s.Cells, l.cell(c, &e))
		if from := int(e.base - c.first); l.Beside == nil && (i == 0 || int(e.Offset-e.base) == 0) {
			s.Batches = append(s.Batches, view.BatchLabel{From: max(from, 0), To: int(e.last-c.first) + 1, Text: batchText(&e)})
		}
	}
	s.Gaps = l.brackets(c)
	for _, g := range s.Gaps {
		s.GapRows = max(s.GapRows, g.Row)
	}
	s.FlagRows = 2
	s.Flags = l.flags(c)
	if offsets, _ := c.heldUp(); offsets > 0 {
		s.Lag = kafka.Count(offsets, "offset") + " held up"
	}
	if c.unread {
		s.Lag = "no leader: the log cannot be read"
	}
	labs.Shift(l.Address, &s, c.TopicPartition, c.Log.LogStartOffset, c.first+kafka.Offset(len(s.Cells)), c.Log.LogEndOffset)
	return s
}

func (l *layout) newStrip(id, name string, c *contents) view.Strip {
	return view.Strip{ID: id, Name: name, First: int64(c.first), Columns: l.columns, Width: wideStrip, Empty: "no records yet"}
}

// wideStrip is the width of a place in percent of the usual: a word stands in each.
const wideStrip = 120

// batchText is producer id, epoch and sequences of a batch.
func batchText(e *entry) string {
	if e.producer < 0 {
		return "–"
	}
	text := fmt.Sprintf("%d·%d", e.producer, e.epoch)
	if e.baseSeq < 0 {
		return text
	}
	text += fmt.Sprintf("·%d", e.baseSeq)
	if n := e.last - e.base; n > 0 {
		text += fmt.Sprintf("–%d", int64(e.baseSeq)+int64(n))
	}
	return text
}

// cell draws one record of a log.
func (l *layout) cell(c *contents, e *entry) view.Cell {
	stage, words := stageOf(e)
	at := entryTarget(c.Topic, e.Offset)
	d := view.Cell{
		ID: fmt.Sprintf("r-%s-%d", c.Topic, e.Offset), Text: nameOf(e.Record), Offset: fmt.Sprint(e.Offset), Word: fmt.Sprint(e.Offset), Stage: stage, At: at,
		New: e.Offset >= c.written, BatchStart: e.Offset == e.base, Selected: l.Address.At.String() == at,
	}
	label := []string{d.Text, fmt.Sprintf("offset %d", e.Offset)}
	if e.marker != "" {
		d.Text = map[string]string{"COMMIT": "C", "ABORT": "A"}[e.marker]
		label[0] = d.Text
		label = append(label, e.marker+" marker")
	} else {
		label = append(label, labs.Narrow(string(e.Value), 40))
	}
	if e.producer >= 0 {
		label = append(label, fmt.Sprintf("producer id %d, epoch %d", e.producer, e.epoch))
	}
	if e.sequence >= 0 {
		label = append(label, fmt.Sprintf("sequence %d", e.sequence))
	}
	if label = append(label, words); d.New {
		label = append(label, "written in this tick")
	}
	d.Label = strings.Join(label, ", ")
	return d
}

// stageOf says how the transaction of a record stands, as a class and in words.
func stageOf(e *entry) (stage, words string) {
	switch {
	case e.marker != "" && e.span != nil:
		return isMarker, "ends the transaction of " + e.span.who
	case e.marker != "":
		return isMarker, e.idle
	case e.span == nil:
		return isPlain, "in no transaction"
	case e.span.open():
		return isOpen, "in an open transaction of " + e.span.who
	case e.span.commit:
		return isKept, "in a committed transaction of " + e.span.who
	}
	return isUndone, "in an aborted transaction of " + e.span.who
}

// brackets draw the transactions over the records that they hold, as far as they are in sight; in rows, so that neither
// they nor their words meet.
func (l *layout) brackets(c *contents) (list []view.Gap) {
	var ends [openRows]float64
	for _, s := range c.spans {
		last := s.last()
		if s.marker >= 0 {
			last = s.marker
		}
		from, to := max(int(s.first()-c.first), 0), min(int(last+1-c.first), l.columns)
		if to <= 0 || from >= l.columns {
			continue
		}
		g := view.Gap{From: from, To: to, Kind: view.IsDone, Text: s.who + " " + s.state(c)}
		switch {
		case s.open():
			g.Kind = view.IsOpen
		case s.aborted():
			g.Kind = view.IsGone
		}
		begins, words := float64(from), view.BesidePlaces(g)
		if view.WordsLeft(g, l.columns) {
			begins, words = begins-words, 0
		}
		row := 0
		for row < openRows && ends[row] > begins {
			row++
		}
		if row == openRows {
			continue // the cells say it
		}
		g.Row = row + 1
		ends[row] = float64(to) + words
		list = append(list, g)
	}
	return list
}

// flags mark how far the log goes for whom.
func (l *layout) flags(c *contents) (list []view.Flag) {
	add := func(offset kafka.Offset, kind view.FlagKind, text string) {
		if column := int(offset - c.first); offset >= 0 && column >= 0 && column <= l.columns {
			list = append(list, view.Flag{Column: column, Kind: kind, Text: fmt.Sprintf("%s %d", text, offset)})
		}
	}
	if c == l.orders && l.app != nil {
		add(l.committedOrders(), view.Committed, billing+" committed")
		if l.app.Sink.Kind == engine.SinkOffsets {
			add(l.storedOutside(), view.Committed, "database has")
		}
		for _, o := range l.app.Offsets {
			if o.Topic == orders {
				add(o.Position, view.Position, "position")
			}
		}
	}
	high, end := c.Log.HighWatermark, c.Log.LogEndOffset
	switch {
	case c.lastStable == high && high == end:
		text := "stable, watermark, end"
		if l.Beside != nil { // there is less room
			text = "end, all stable"
		}
		add(end, view.LogEnd, text)
		return list
	case c.lastStable == high:
		add(high, view.HighWatermark, "stable, watermark")
		add(end, view.LogEnd, "end")
		return list
	}
	add(c.lastStable, view.LastStable, "last stable")
	if high == end {
		add(end, view.LogEnd, "watermark, end")
		return list
	}
	add(high, view.HighWatermark, "watermark")
	add(end, view.LogEnd, "end")
	return list
}

// readerStrip draws what one reader was given of the log, place by place under it.
func (l *layout) readerStrip(r *reader) view.Strip {
	c := l.read()
	s := l.newStrip("sees-"+r.level, r.level, c)
	s.At = labs.Target{Kind: labs.NodeTarget, Node: kafka.NodeID(r.member.ID)}.String()
	s.Owner = "what it sees"
	s.FlagRows = 1
	s.Empty = "nothing to see yet"
	seen := 0
	for i := range c.entries {
		if e := &c.entries[i]; e.marker == "" && r.saw(e.Offset) > 0 {
			seen++
		}
	}
	s.Count = kafka.Count(seen, "record") + " seen"
	if n := l.abortedSeen(r); n > 0 {
		s.Lag = fmt.Sprintf("%d of them aborted", n)
	}
	for _, e := range c.inSight() {
		s.Cells = append(s.Cells, l.sight(c, r, &e))
	}
	flag := func(o kafka.Offset, kind view.FlagKind, text string) {
		if column := int(o - c.first); o >= 0 && column >= 0 && column <= l.columns {
			s.Flags = append(s.Flags, view.Flag{Column: column, Kind: kind, Text: fmt.Sprintf("%s %d", text, o)})
		}
	}
	flag(r.kept, view.Committed, "committed")
	flag(r.position, view.Position, "position")
	return s
}

// sight draws what a reader makes of one place of the log.
func (l *layout) sight(c *contents, r *reader, e *entry) view.Cell {
	d := view.Cell{
		ID: fmt.Sprintf("s-%s-%d", r.level, e.Offset), Offset: fmt.Sprint(e.Offset), At: entryTarget(c.Topic, e.Offset),
		New: l.Address.T > 0 && l.past.seen[r.index()][e.Offset].tick == l.tick() && r.position > e.Offset,
	}
	limit, limitText := c.Log.HighWatermark, "high watermark"
	if r.level == readCommitted {
		limit, limitText = c.lastStable, "last stable offset"
	}
	what := ""
	switch {
	case r.saw(e.Offset) > 0 && e.marker == "":
		d.Text, d.Stage, d.Word, what = nameOf(e.Record), isSeen, "seen", "seen"
		if e.aborted() {
			d.Stage, d.Word, what = isSeen+" stage-undone", "aborted", "seen, though its transaction was aborted"
		} else if e.open() {
			d.Word, what = "open", "seen, while its transaction is open"
		}
	case e.Offset < r.position && e.marker != "":
		d.Text, d.Stage, d.Word, what = "·", isSkipped, "marker", "a marker: passed over"
	case e.Offset < r.position:
		d.Text, d.Stage, d.Word, what = "·", isSkipped, "filtered", "aborted: filtered out by the client"
	case limit >= 0 && e.Offset >= limit:
		d.Text, d.Stage, d.Word, what = "?", isBarred, "waits", fmt.Sprintf("not readable: the %s is %d", limitText, limit)
	default:
		d.Text, d.Stage, d.Word, what = "", isAhead, "", "not read yet"
	}
	if d.New {
		what += ", in this tick"
	}
	d.Label = strings.TrimPrefix(fmt.Sprintf("%s, offset %d for %s: %s", d.Text, e.Offset, r.level, what), ", ")
	return d
}

// index is the reader's place among the two.
func (r *reader) index() int {
	if r.level == readCommitted {
		return 1
	}
	return 0
}

// outsideStrip draws the effects outside the cluster, order by order.
func (l *layout) outsideStrip() view.Strip {
	c := l.orders
	s := l.newStrip("outside", outsideNames[l.outside()], c)
	s.At = labs.Target{Kind: labs.GroupTarget, Node: billing}.String()
	s.Owner = "outside the cluster, by order"
	s.FlagRows = 1
	s.Empty = "no effects yet"
	s.Count = kafka.Count(l.app.Sink.Effects, "effect")
	s.Lag = l.tallyOf(func(e *effect) int { return e.outside }).text()
	byOffset := map[kafka.Offset]*effect{}
	for i := range l.effects {
		byOffset[l.effects[i].Offset] = &l.effects[i]
	}
	for _, e := range c.inSight() {
		d := view.Cell{ID: fmt.Sprintf("x-%d", e.Offset), Offset: fmt.Sprint(e.Offset), At: entryTarget(orders, e.Offset), Stage: isAhead}
		what := "not for the application"
		if x := byOffset[e.Offset]; x != nil {
			switch {
			case x.outside == 1:
				d.Text, d.Word, d.Stage, what = "1×", "once", effectOne, "one effect"
			case x.outside > 1:
				d.Text, d.Word, d.Stage, what = fmt.Sprintf("%d×", x.outside), "again", effectTwo, kafka.Count(x.outside, "effect")
			case x.lost():
				d.Text, d.Word, d.Stage, what = "0", "lost", effectBad, "lost: committed, and never processed"
			default:
				what = "no effect yet"
			}
		}
		d.Label = strings.TrimPrefix(fmt.Sprintf("%s, order %d in the %s: %s", d.Text, e.Offset, outsideNames[l.outside()], what), ", ")
		s.Cells = append(s.Cells, d)
	}
	return s
}

// legend explains the signs of the picture.
func (l *layout) legend() []view.Key {
	list := []view.Key{
		{Kind: "stage-" + isPlain, Text: "in no transaction"}, {Kind: "stage-" + isOpen, Text: "transaction open"}, {Kind: "stage-" + isKept, Text: "committed"},
		{Kind: "stage-" + isUndone, Text: "aborted"}, {Kind: "stage-" + isMarker, Text: "C, A: COMMIT or ABORT marker, takes an offset"},
		{Kind: "stage-" + isSeen, Text: "seen by a reader"}, {Kind: "stage-" + isBarred, Text: "a reader waits for it"},
		{Kind: "new", Text: "in this tick"},
	}
	return append(list, view.Key{Kind: "batch", Text: "over a batch: producer id · epoch · sequences; –: no producer id"})
}

// leads says whether a broker leads a partition.
func leads(c *contents, b engine.BrokerView) bool { return c.Leader == b.ID }
