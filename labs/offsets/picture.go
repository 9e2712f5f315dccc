package offsets

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// How far a group is with a record. Each is a class and, but for the first, has a word in the picture.
const (
	waiting   = "waiting"   // not delivered
	inHand    = "hand"      // poll has returned it, nobody has begun with it
	working   = "working"   // it is being processed
	processed = "processed" // and not committed
	finished  = "committed" // processed, and committed
	skipped   = "skipped"   // given up after its attempts
	missed    = "missed"    // committed, and never processed
)

// words stand under the offsets.
var words = map[string]string{waiting: "", inHand: "polled", working: "busy", processed: "done", finished: "✓", skipped: "skipped", missed: "lost"}

// picture draws strips, consumers, the sink and how far the groups are behind.
func (l *layout) picture() view.Picture {
	g := l.groups[0]
	p := view.Picture{
		Title: fmt.Sprintf("Topic %s, %s; group %s, %s, %s", topic, kafka.Count(l.partitions(), "partition"), billing, kafka.Count(len(g.Members), "consumer"), g.standing()),
		Path:  l.Address.Path(), Hidden: labs.HiddenParams(l.Address, "at", "why"),
		Cluster: l.cards(), LedgerTitle: "The sink: what the applications of " + billing + " have written", Ledger: l.sinkCounts(g),
	}
	from, to := l.drawn()
	for i := from; i < to; i++ {
		p.Strips = append(p.Strips, l.strip(i))
	}
	p.Legend = l.legend()
	p.Pages = labs.StripPages(l.Address, l.partitions(), l.shown, l.first, func(i kafka.Partition) labs.Target {
		return labs.Target{Kind: labs.PartitionTarget, Partition: kafka.TopicPartition{Topic: topic, Partition: i}}
	})
	for _, g := range l.groups {
		p.Tables = append(p.Tables, l.lagTable(g))
	}
	return p
}

// legend explains the signs that the picture has.
func (l *layout) legend() []view.Key {
	list := []view.Key{
		{Kind: "stage-" + waiting, Text: "not delivered"}, {Kind: "stage-" + inHand, Text: "polled: in hand, not begun with"}, {Kind: "stage-" + working, Text: "busy: being processed"},
		{Kind: "stage-" + processed, Text: "done: processed, " + l.groups[0].uncommitted()}, {Kind: "stage-" + finished, Text: "✓: processed and committed"},
		{Kind: "stage-twice", Text: "2×: processed twice"}, {Kind: "stage-" + missed, Text: "lost: committed, never processed"},
	}
	if l.groups[0].Sink.Kind == engine.SinkOffsets {
		list[len(list)-1].Text = "lost: the group goes on behind it, without its effect"
	}
	if l.Address.Values.Text("handler") != handlerOK {
		list = append(list, view.Key{Kind: "stage-" + skipped, Text: "skipped: given up"})
	}
	return append(list, view.Key{Kind: "new", Text: "written in this tick"})
}

// uncommitted says of a record of which no commit can be seen why.
func (g *groupState) uncommitted() string {
	if g.blind {
		return "and nobody can say whether it is committed"
	}
	return "not committed"
}

// standing says what the coordinator makes of a group.
func (g *groupState) standing() string {
	switch {
	case g.Coordinator == "":
		return "no coordinator"
	case g.State == "":
		return "not formed"
	}
	return fmt.Sprintf("%s, generation %d", g.State, g.Generation)
}

// strip draws one partition, with the marks of all groups.
func (l *layout) strip(i int) view.Strip {
	p := l.orders()[i]
	name := p.TopicPartition.String()
	first := l.windowOf(i)
	s := view.Strip{
		ID: "strip-" + name, Name: name, At: labs.Target{Kind: labs.PartitionTarget, Partition: p.TopicPartition}.String(),
		First: int64(first), Columns: l.columns, Width: wideStrip, GapRows: len(l.groups), Empty: "no records yet",
	}
	if unread(p) {
		s.Empty = "its leader is gone: the log cannot be read now"
	}
	var owners []string
	for _, g := range l.groups {
		owners = append(owners, l.ownerText(g, &g.parts[i]))
	}
	s.Owner = strings.Join(owners, "; ")
	g := l.groups[0]
	at := &g.parts[i]
	s.Lag = "lag " + groupLagText(at)
	if at.unread {
		s.Lag = "no leader: the log cannot be read"
	}
	s.Count = "sink: " + l.sinkText(g, at)
	for _, rec := range labs.RecordsFrom(p.Log.Segments, first, l.columns) {
		s.Cells = append(s.Cells, l.cell(i, rec))
	}
	for row, g := range l.groups {
		s.Gaps = append(s.Gaps, l.gaps(g, i, first, row+1)...)
	}
	s.Flags = l.flags(i, first)
	labs.Shift(l.Address, &s, p.TopicPartition, p.Log.LogStartOffset, first+kafka.Offset(len(s.Cells)), p.Log.LogEndOffset)
	return s
}

// wideStrip is the width of a place in percent of the usual: a word stands in each.
const wideStrip = 120

// ownerText says who reads a partition for a group.
func (l *layout) ownerText(g *groupState, at *part) string {
	if at.Owner != "" {
		return "read by " + string(at.Owner)
	}
	return "nobody of " + g.ID + " reads it"
}

// windowOf gives the offset at which the drawn part of a partition's log begins: where the first mark of a group is in
// sight, else where the log's end is. A record in the inspector is always in sight.
func (l *layout) windowOf(i int) kafka.Offset {
	p := l.orders()[i]
	most := kafka.Offset(l.columns)
	start, end := p.Log.LogStartOffset, p.Log.LogEndOffset
	if l.Beside != nil && i < len(ordersOf(*l.Beside)) {
		end = max(end, l.Beside.Partitions[i].Log.LogEndOffset)
	}
	first := max(start, end-most+1) // one place stays free for the next record
	lowest := l.lowestMark(l.View.Groups, i)
	if l.Beside != nil {
		lowest = min(lowest, l.lowestMark(l.Beside.Groups, i))
	}
	if lowest > 0 {
		lowest-- // the record before a mark tells where it comes from
	}
	first = max(start, min(first, lowest))
	shown := l.Address.Shown()
	if shown.Partition == p.TopicPartition && (shown.Kind == labs.RecordTarget || shown.Kind == labs.BatchTarget) {
		if o := kafka.Offset(shown.Number); o < first || o >= first+most {
			first = max(start, o-most/2)
		}
	}
	return first
}

// lowestMark is the lowest committed offset or position in a partition of all groups.
func (l *layout) lowestMark(groups []engine.GroupView, i int) kafka.Offset {
	p := l.orders()[i]
	lowest := p.Log.LogEndOffset
	for _, g := range groups {
		if g.CoordinatedView == nil {
			continue
		}
		for _, o := range g.Offsets {
			if o.TopicPartition != p.TopicPartition {
				continue
			}
			if o.Committed >= 0 {
				lowest = min(lowest, o.Committed)
			}
			if o.Position >= 0 {
				lowest = min(lowest, o.Position)
			}
		}
	}
	return lowest
}

// cell draws one record as the first group has it.
func (l *layout) cell(i int, rec labs.StoredRecord) view.Cell {
	p, g := l.orders()[i], l.groups[0]
	at := &g.parts[i]
	stage := g.stage(at, rec.Offset)
	fate := at.fates.At(rec.Offset)
	shown := l.Address.At
	c := view.Cell{
		ID: fmt.Sprintf("r-%d-%d", i, rec.Offset), Text: fmt.Sprint(rec.Offset), Offset: fmt.Sprint(rec.Offset), Stage: stage, Word: words[stage], Waiting: stage == waiting,
		At:  labs.Target{Kind: labs.RecordTarget, Partition: p.TopicPartition, Number: int64(rec.Offset)}.String(),
		New: rec.Offset >= l.written[i], Selected: shown.Kind == labs.RecordTarget && shown.Partition == p.TopicPartition && shown.Number == int64(rec.Offset) && shown.Node == "",
	}
	if fate.Processed > 1 {
		c.Stage += " twice"
		c.Word = fmt.Sprintf("%s%d×", map[bool]string{true: "✓", false: ""}[stage == finished], fate.Processed)
	}
	label := []string{fmt.Sprintf("offset %d", rec.Offset), keyText(rec.Key), l.stageText(g, at, rec.Offset)}
	for _, other := range l.groups[1:] {
		label = append(label, "for "+other.ID+": "+l.stageText(other, &other.parts[i], rec.Offset))
	}
	if c.New {
		label = append(label, "written in this tick")
	}
	c.Label = strings.Join(label, ", ")
	return c
}

func keyText(key []byte) string {
	if key == nil {
		return "no key"
	}
	return "key " + labs.Narrow(string(key), 24)
}

// stage says how far a group is with a record.
func (g *groupState) stage(at *part, o kafka.Offset) string {
	fate := at.fates.At(o)
	if at.owner != nil {
		for _, b := range at.owner.Busy {
			if b.TopicPartition == at.TopicPartition && b.Offset == o {
				return working
			}
		}
	}
	switch {
	case at.standing.holds(o), at.standing.astray(o) && at.standing.passed(o) && !at.standing.gone(o):
		return inHand
	case done(fate) && fate.Processed == 0:
		return skipped
	case at.standing.gone(o):
		return missed
	case fate.Processed > 0 && o < max(at.Committed, at.stored):
		return finished
	case fate.Processed > 0:
		return processed
	}
	return waiting
}

// stageText says it in words.
func (l *layout) stageText(g *groupState, at *part, o kafka.Offset) string {
	fate := at.fates.At(o)
	var text string
	switch g.stage(at, o) {
	case waiting:
		text = "not delivered"
		if fate.Delivered > 0 {
			text = fmt.Sprintf("delivered %s, not processed", times(fate.Delivered))
		}
	case inHand:
		text = "delivered, not begun with"
		if !at.standing.holds(o) {
			text = "committed, and only in the hands of a consumer that does not read the partition any more"
		}
	case working:
		text = "being processed"
	case skipped:
		text = "given up after failing"
	case finished:
		text = "processed and committed"
		if o >= at.Committed {
			text = "processed, and the sink has stored the offset"
		}
	case processed:
		text = "processed, " + g.uncommitted()
	case missed:
		text = "committed and never processed"
		if fate.Processed > 0 || at.stored > o {
			text = "lost: the sink has stored a later offset, and not its effect"
		}
	}
	if fate.Processed > 1 || fate.Processed == 1 && at.standing.holds(o) {
		text += ", processed " + times(fate.Processed)
	}
	return text
}

// times writes how often: "once", "twice", "3 times".
func times(n uint16) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// gaps draws what lies between the committed offset and the position of a group.
func (l *layout) gaps(g *groupState, i int, first kafka.Offset, row int) (list []view.Gap) {
	at := &g.parts[i]
	prefix := ""
	if len(l.groups) > 1 {
		prefix = g.ID + ": "
	}
	add := func(from, to kafka.Offset, kind view.GapKind, text string) {
		a, b := int(max(from-first, 0)), int(min(to-first, kafka.Offset(l.columns)))
		if a < b {
			list = append(list, view.Gap{From: a, To: b, Row: row, Kind: kind, Text: prefix + text})
		}
	}
	if !at.foreseen {
		return nil
	}
	end := max(min(at.Position, at.LogEndOffset), at.begins) // seek and a commit can name any place
	for o := at.begins; o < at.HighWatermark; o++ {
		if at.fates.At(o).Processed > 0 {
			end = max(end, o+1)
		}
	}
	switch {
	case at.again > 0:
		add(at.begins, end, view.ToRepeat, fmt.Sprintf("%d to repeat", at.again))
	case end > at.begins:
		hand := 0
		for _, o := range at.inHand {
			if o >= at.begins && o < end {
				hand++
			}
		}
		text := fmt.Sprintf("%d in hand", hand)
		if hand == 0 {
			text = fmt.Sprintf("%d ahead", end-at.begins)
		}
		add(at.begins, end, view.InHand, text)
	}
	var from kafka.Offset = -1
	atRisk := 0
	for o := at.LogStartOffset; o < min(at.begins, at.LogEndOffset); o++ {
		if at.standing.holds(o) && !at.standing.settled(o) && !at.standing.gone(o) {
			if from < 0 {
				from = o
			}
			atRisk++
		}
	}
	if atRisk > 0 {
		add(from, at.begins, view.ToLose, fmt.Sprintf("%d to lose", atRisk))
	}
	return list
}

// flags marks the ends of the log and how far each group is.
func (l *layout) flags(i int, first kafka.Offset) []view.Flag {
	p := l.orders()[i]
	var list []view.Flag
	add := func(offset kafka.Offset, kind view.FlagKind, text string) {
		switch column := int(offset - first); {
		case column >= 0 && column <= l.columns:
			list = append(list, view.Flag{Column: column, Kind: kind, Text: fmt.Sprintf("%s %d", text, offset)})
		case column > l.columns && kind == view.Position: // out of sight
			list = append(list, view.Flag{Column: l.columns, Kind: kind, Text: fmt.Sprintf("%s %d ›", text, offset)})
		}
	}
	startText := "start"
	for _, g := range l.groups {
		at, whose := &g.parts[i], ""
		if len(l.groups) > 1 {
			whose = g.ID + " "
		}
		if at.Committed >= 0 {
			add(at.Committed, view.Committed, whose+"committed")
		} else if len(l.groups) == 1 && at.coming < 0 && at.stored < 0 && !at.blind {
			startText = "nothing committed, start"
		}
		if at.stored >= 0 {
			add(at.stored, view.Committed, whose+"sink stored")
		}
		if at.coming > at.Committed {
			add(at.coming, view.Committed, whose+"commit under way:")
		}
		if at.Position >= 0 {
			add(at.Position, view.Position, whose+"position")
		}
	}
	if start := p.Log.LogStartOffset; start == first {
		add(start, view.LogStart, startText)
	}
	if p.Log.HighWatermark == p.Log.LogEndOffset {
		add(p.Log.LogEndOffset, view.LogEnd, "watermark, end")
		return list
	}
	add(p.Log.HighWatermark, view.HighWatermark, "watermark")
	add(p.Log.LogEndOffset, view.LogEnd, "end")
	return list
}
