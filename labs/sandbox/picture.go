package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/view"
)

// How far the first group is with a record, and what is no record. Each is a class.
const (
	waiting   = "waiting"   // not delivered
	inHand    = "hand"      // poll has returned it
	processed = "processed" // and not committed
	finished  = "committed" // processed, and committed
	missed    = "missed"    // delivered and committed, and never processed
	isMarker  = "marker"    // a control record
)

// picture draws the partitions, everybody who has to do with them, and the ledger.
func (l *layout) picture() view.Picture {
	v := l.Address.Values
	p := view.Picture{
		Title: fmt.Sprintf("Topic %s, %s, replication factor %s; %s, %s, %s", topic, kafka.Count(len(l.parts), "partition"), v.Text("rf"),
			kafka.Count(len(l.View.Brokers), "broker"), kafka.Count(len(l.View.Producers), "producer"), kafka.Count(len(l.View.Groups), "group")),
		Path: l.Address.Path(), Hidden: labs.HiddenParams(l.Address, "at", "why"),
		Cluster: l.cards(), Ledger: l.account().Counts(), Legend: legend(),
	}
	from, to := l.drawn()
	for i := from; i < to; i++ {
		p.Strips = append(p.Strips, l.strip(&l.parts[i]))
	}
	p.Pages = labs.StripPages(l.Address, len(l.parts), l.shown, l.first, func(i kafka.Partition) labs.Target {
		return labs.Target{Kind: labs.PartitionTarget, Partition: kafka.TopicPartition{Topic: topic, Partition: i}}
	})
	return p
}

// legend explains the signs of the cells.
func legend() []view.Key {
	return []view.Key{
		{Kind: "stage-" + waiting, Text: "neither in hand nor processed"}, {Kind: "stage-" + inHand, Text: "in hand"}, {Kind: "stage-" + processed, Text: "processed, not committed"},
		{Kind: "stage-" + finished, Text: "processed and committed"}, {Kind: "stage-twice", Text: "processed twice"}, {Kind: "stage-" + missed, Text: "committed, never processed"},
		{Kind: "stage-" + isMarker, Text: "C, A: a transaction’s end"}, {Kind: "new", Text: "written in this tick"},
	}
}

// wideStrip is the width of a place in percent of the usual.
const wideStrip = 110

// strip draws one partition: its leader's log, who leads it and how far the others are.
func (l *layout) strip(p *part) view.Strip {
	name := p.TopicPartition.String()
	s := view.Strip{
		ID: "strip-" + name, Name: name, At: labs.Target{Kind: labs.PartitionTarget, Partition: p.TopicPartition}.String(),
		Columns: l.columns, Width: wideStrip, Empty: "no records yet", Owner: l.leaderText(p), Count: l.followersText(p), GapRows: 1,
	}
	if p.from < len(p.all) {
		s.First = int64(p.all[p.from].Offset)
	}
	var lags []string
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		lags = append(lags, fmt.Sprintf("%s: lag %s", g.ID, l.lagText(g, p)))
	}
	s.Lag = strings.Join(lags, "; ")
	if !p.served {
		s.Empty, s.Lag = "nobody serves its log now", "cannot be read"
	}
	next := kafka.NoOffset
	for _, rec := range l.inSight(p) {
		s.Cells = append(s.Cells, l.cell(p, rec, next))
		next = rec.Offset + 1
	}
	s.Gaps, s.Flags = l.gaps(p), l.flags(p)
	l.shift(&s, p)
	return s
}

// shift adds the controls that move the window. They count records, which in a cleaned log are fewer than offsets.
func (l *layout) shift(s *view.Strip, p *part) {
	link := func(id string, n int, text string, to int) *view.Link {
		at := labs.Target{Kind: labs.RecordTarget, Partition: p.TopicPartition, Number: int64(p.all[to].Offset)}
		open := labs.Open(l.Address, id+s.Name, fmt.Sprintf("%d %s", n, text), at)
		open.Label = fmt.Sprintf("%s records of %s", open.Text, s.Name)
		return &open
	}
	half, end := l.columns/2, p.from+len(s.Cells)
	if p.from > 0 {
		s.Before = link("before-", p.from, "earlier", max(p.from-half, 0))
	}
	if left := len(p.all) - end; left > 0 {
		s.After = link("after-", left, "later", min(end+half, len(p.all)-1))
	}
}

// leaderText says who leads a partition, and who is in sync.
func (l *layout) leaderText(p *part) string {
	if p.Leader == engine.NoLeader {
		return "no leader; in sync " + labs.BrokerNames(p.ISR)
	}
	text := fmt.Sprintf("%s leads, epoch %d; in sync %s", labs.BrokerName(p.Leader), p.LeaderEpoch, labs.BrokerNames(p.ISR))
	if !p.served {
		text = fmt.Sprintf("%s leads and %s; in sync %s", labs.BrokerName(p.Leader), l.leaderIs(p), labs.BrokerNames(p.ISR))
	}
	return text
}

// followersText says where the logs of the other replicas end.
func (l *layout) followersText(p *part) string {
	var ends []string
	for _, r := range p.Replicas {
		switch {
		case r.Broker == p.Leader:
		case r.Online:
			ends = append(ends, fmt.Sprintf("%s ends at %d", labs.BrokerName(r.Broker), r.LogEndOffset))
		case r.OnDisk != nil:
			ends = append(ends, fmt.Sprintf("%s at %d, on its disk", labs.BrokerName(r.Broker), r.LogEndOffset))
		default:
			ends = append(ends, labs.BrokerName(r.Broker)+" has nothing")
		}
	}
	if len(ends) == 0 {
		return "no other replica"
	}
	return strings.Join(ends, ", ")
}

// cell draws one record as the first group has it. Next is the offset behind the cell before; -1: there is none.
func (l *layout) cell(p *part, rec labs.StoredRecord, next kafka.Offset) view.Cell {
	g := &l.View.Groups[0]
	at := labs.Target{Kind: labs.RecordTarget, Partition: p.TopicPartition, Number: int64(rec.Offset)}.String()
	stage := l.stageOf(g, p, rec)
	c := view.Cell{
		ID: fmt.Sprintf("r-%d-%d", p.Partition, rec.Offset), Text: nameOf(rec), Offset: fmt.Sprint(rec.Offset), Word: fmt.Sprint(rec.Offset), Stage: stage, At: at,
		New: rec.Offset >= p.written, Waiting: stage == waiting, BatchStart: rec.BatchStart, SegmentStart: rec.SegmentStart, Selected: l.Address.At.String() == at,
		Tombstone: rec.Value == nil && !rec.Control,
	}
	label := []string{c.Text, fmt.Sprintf("offset %d", rec.Offset), stageWords[stage]}
	if stage == waiting && l.fateOf(g, p, rec).Delivered > 0 {
		label[2] = "delivered to " + billing + " before, neither in hand nor processed"
	}
	if next >= 0 && rec.Offset > next {
		c.Hole = labs.HoleText(next, rec.Offset)
		label = append(label, kafka.Count(int(rec.Offset-next), "offset")+" before it "+labs.Verb(int(rec.Offset-next), "has", "have")+" no record any more")
	}
	if n := l.fateOf(g, p, rec).Processed; n > 1 {
		c.Stage += " twice"
		label = append(label, fmt.Sprintf("processed %d times", n))
	}
	if rec.Offset >= p.Log.HighWatermark {
		label = append(label, "not below the high watermark")
	}
	if c.New {
		label = append(label, "written in this tick")
	}
	c.Label = strings.Join(label, ", ")
	return c
}

// stageWords say the stages of a record.
var stageWords = map[string]string{
	waiting: "not delivered to " + billing, inHand: "in hand of " + billing, processed: "processed by " + billing + ", not committed",
	finished: "processed by " + billing + " and committed", missed: "committed by " + billing + " and never processed", isMarker: "the end of a transaction, for no application",
}

// nameOf is a record's name in a cell: "a1" of the first event of a, its value, or C and A for markers.
func nameOf(rec labs.StoredRecord) string {
	if rec.Control {
		if control, err := record.DecodeControl(rec.Record); err == nil && control.Type == record.Abort {
			return "A"
		}
		return "C"
	}
	const eventWord, most = "event ", 5
	value := string(rec.Value)
	if number, ok := strings.CutPrefix(value, eventWord); ok {
		value = string(rec.Key) + number
	}
	if value == "" {
		value = string(rec.Key)
	}
	return labs.Narrow(value, most)
}

// stageOf says how far a group is with a record.
func (l *layout) stageOf(g *engine.GroupView, p *part, rec labs.StoredRecord) string {
	fate, at := l.fateOf(g, p, rec), offsetOf(g, p.TopicPartition)
	below := rec.Offset < at.Committed
	switch {
	case rec.Control:
		return isMarker
	case holds(g, p.TopicPartition, rec.Offset):
		return inHand
	case fate.Processed > 0 && below:
		return finished
	case fate.Processed > 0:
		return processed
	case fate.Delivered > 0 && below && (at.Position < 0 || rec.Offset < at.Position): // else it is read again
		return missed
	}
	return waiting
}

// holds says whether a process of the group has a record that is not done.
func holds(g *engine.GroupView, tp kafka.TopicPartition, o kafka.Offset) bool {
	return slices.ContainsFunc(g.Members, func(m engine.MemberView) bool {
		return m.Alive && (slices.ContainsFunc(m.Busy, func(b engine.WorkView) bool { return b.TopicPartition == tp && b.Offset == o }) ||
			slices.ContainsFunc(m.Queue, func(q engine.PlaceView) bool { return q.TopicPartition == tp && q.Offset == o }))
	})
}

// gaps draw what an open transaction holds up, or else what the first group has not committed.
func (l *layout) gaps(p *part) (list []view.Gap) {
	add := func(from, to kafka.Offset, kind view.GapKind, text string) {
		a, b := max(p.indexOf(from)-p.from, 0), min(p.indexOf(to)-p.from, l.columns)
		if a < b {
			list = append(list, view.Gap{From: a, To: b, Row: 1, Kind: kind, Text: text})
		}
	}
	if held := p.Log.HighWatermark - p.stable; p.served && held > 0 {
		add(p.stable, p.Log.HighWatermark, view.IsOpen, fmt.Sprintf("%d held up", held))
		return list
	}
	if open := l.uncommitted(&l.View.Groups[0], p); len(open) > 0 {
		add(max(offsetOf(&l.View.Groups[0], p.TopicPartition).Committed, p.Log.LogStartOffset), open[len(open)-1]+1, view.ToRepeat, fmt.Sprintf("%d not committed", len(open)))
	}
	return list
}

// flags mark the ends of the log and how far each group has committed.
func (l *layout) flags(p *part) (list []view.Flag) {
	add := func(offset kafka.Offset, kind view.FlagKind, text string) {
		switch column := p.indexOf(offset) - p.from; {
		case column >= 0 && column <= l.columns:
			list = append(list, view.Flag{Column: column, Kind: kind, Text: fmt.Sprintf("%s %d", text, offset)})
		case column > l.columns && kind == view.LogEnd: // out of sight
			list = append(list, view.Flag{Column: l.columns, Kind: kind, Text: fmt.Sprintf("%s %d ›", text, offset)})
		}
	}
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		if o := offsetOf(g, p.TopicPartition); o.Committed >= 0 {
			add(o.Committed, view.Committed, g.ID)
		}
	}
	log := p.Log
	if p.from == 0 {
		add(log.LogStartOffset, view.LogStart, "start")
	}
	if p.stable < log.HighWatermark {
		add(p.stable, view.LastStable, "last stable")
	}
	if log.HighWatermark == log.LogEndOffset {
		add(log.LogEndOffset, view.LogEnd, "watermark, end")
		return list
	}
	add(log.HighWatermark, view.HighWatermark, "watermark")
	add(log.LogEndOffset, view.LogEnd, "end")
	return list
}
