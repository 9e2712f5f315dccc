package partitions

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// picture draws members, strips, messages and the table of keys.
func (l *layout) picture() view.Picture {
	members := l.View.Groups[0].Members
	p := view.Picture{
		Title: fmt.Sprintf("Topic %s, %s; group %s, %s", topic, kafka.Count(l.partitions(), "partition"), group, kafka.Count(len(members), "consumer")),
		Legend: []view.Key{
			{Kind: "waiting", Text: "not read yet"}, {Kind: "read", Text: "read"}, {Kind: "new", Text: "written in this tick"},
			{Kind: "segment", Text: "a segment begins"},
		},
		Path: l.Address.Path(), Hidden: labs.HiddenParams(l.Address, "at", "why"),
		Network: l.network(), Tables: []view.Table{l.table()},
	}
	if t, ok := l.splitTable(); ok {
		p.Tables = append(p.Tables, t)
		p.Legend = append(p.Legend, view.Key{Kind: "split", Text: "the clients differ on its partition"})
	}
	if t, ok := l.lateTable(); ok {
		p.Tables = append(p.Tables, t)
		p.Legend = append(p.Legend, view.Key{Kind: "late", Text: "seen in the wrong order"})
	}
	if l.baseline != l.known() {
		p.Legend = append(p.Legend, view.Key{Kind: "moved", Text: fmt.Sprintf("its key had another partition with %d", l.baseline)})
	}
	for _, m := range members {
		if l.drawn(m) {
			p.Members = append(p.Members, drawMember(m))
		}
	}
	if left := len(members) - len(p.Members); left > 0 {
		p.MoreMembers = kafka.Count(left, "more consumer")
	}
	end := min(l.first+l.strips, l.partitions())
	for i := l.first; i < end; i++ {
		p.Strips = append(p.Strips, l.strip(i))
	}
	p.Pages = labs.StripPages(l.Address, l.partitions(), l.strips, l.first, func(i kafka.Partition) labs.Target {
		return logTarget(labs.SegmentTarget, kafka.TopicPartition{Topic: topic, Partition: i}, 0)
	})
	return p
}

// drawn says whether a member is drawn: all are, but of many beside those of another run only those that read
// a partition which is.
func (l *layout) drawn(m engine.MemberView) bool {
	return l.Beside == nil || len(l.View.Groups[0].Members) <= membersBeside || slices.ContainsFunc(m.Assignment, func(a engine.PositionView) bool {
		return int(a.Partition) >= l.first && int(a.Partition) < l.first+l.strips
	})
}

func drawMember(m engine.MemberView) view.Member {
	d := drawNode("member-", kafka.NodeID(m.ID), standing(m.Alive, m.Paused))
	var names []string
	for _, a := range m.Assignment {
		names = append(names, a.TopicPartition.String())
	}
	const most = 4
	if len(names) > most {
		names = append(names[:most-1], fmt.Sprintf("%d more", len(names)-most+1))
	}
	d.Text = strings.Join(names, ", ")
	if len(names) == 0 && d.State == working {
		d.State, d.Text = "idle", "no partition left"
	}
	return d
}

// strip draws one partition.
func (l *layout) strip(i int) view.Strip {
	p, r := l.View.Partitions[i], l.readers[i]
	start, end := p.Log.LogStartOffset, p.Log.LogEndOffset
	first, selected := l.windowOf(i), selectedIn(l.Address.At, p)
	name := p.TopicPartition.String()
	s := view.Strip{
		ID: "strip-" + name, Name: name, Owner: "nobody reads it", At: logTarget(labs.SegmentTarget, p.TopicPartition, lastSegment(p)).String(),
		First: int64(first), Columns: l.columns, Empty: "no records yet",
		Count: fmt.Sprintf("%s, %s\u00a0B, %s", kafka.Count(int(end-start), "record"), kafka.Thousands(p.Log.Bytes), kafka.Count(len(p.Log.Segments), "segment")),
	}
	if !l.served(p) {
		s.Owner = fmt.Sprintf("b%d is down: on its disk", p.Replicas[0].Broker)
	} else if r != nil {
		s.Owner, s.Lag = l.ownerText(r), kafka.Thousands(r.lag)+" to read"
		s.Moved = l.whyLink("lag-"+name, s.Lag, l.news[i].lag)
	}
	if len(p.Log.Segments) == 0 {
		s.Empty = "its broker has not heard of it yet"
	}
	s.Grew = l.whyLink("count-"+name, s.Count, l.news[i].appended)
	for _, rec := range labs.RecordsFrom(p.Log.Segments, first, l.columns) {
		s.Cells = append(s.Cells, l.cell(i, rec, selected))
	}
	s.Flags = flags(first, start, end, l.columns, r)
	labs.Shift(l.Address, &s, p.TopicPartition, start, first+kafka.Offset(len(s.Cells)), end)
	return s
}

// ownerText says who reads a partition, or why its consumer does not.
func (l *layout) ownerText(r *reader) string {
	switch m := r.member; {
	case !m.Alive:
		return string(m.ID) + " does not run"
	case m.Paused:
		return string(m.ID) + " stands still"
	case l.View.Brokers[0].Paused:
		return string(l.View.Brokers[0].Node) + " stands still"
	case !l.serves():
		return string(l.View.Brokers[0].Node) + " does not lead it"
	case !l.reaches(kafka.NodeID(m.ID)):
		return string(m.ID) + " is cut off"
	}
	return "read by " + string(r.member.ID)
}

// served says whether the broker of a partition runs, so that it can be read and written.
func (l *layout) served(p engine.PartitionView) bool {
	for _, b := range l.View.Brokers {
		if b.ID == p.Replicas[0].Broker {
			return b.Up()
		}
	}
	return false
}

// lastSegment gives the base offset of a partition's last segment; 0 while its broker has not heard of it.
func lastSegment(p engine.PartitionView) kafka.Offset {
	if len(p.Log.Segments) == 0 {
		return 0
	}
	return p.Log.Segments[len(p.Log.Segments)-1].BaseOffset
}

// windowOf gives the offset at which the drawn part of a partition's log begins: where its end is in sight, or
// else the record in the inspector. Two runs beside each other begin at the same offset where both have it.
func (l *layout) windowOf(i int) kafka.Offset {
	p := l.View.Partitions[i]
	start, end := p.Log.LogStartOffset, p.Log.LogEndOffset
	most := kafka.Offset(l.columns)
	first := max(start, end-most+1) // one place stays free for the next record
	if l.Beside != nil && i < len(l.Beside.Partitions) {
		if common := l.Beside.Partitions[i].Log.LogEndOffset - most + 1; common > first && common < end {
			first = common
		}
	}
	if selected := selectedIn(l.Address.Shown(), p); selected != kafka.NoOffset && selected < first {
		first = max(start, selected-most/2)
	}
	return first
}

// selectedIn gives the offset of a partition's record or batch that a target names; NoOffset: none.
func selectedIn(at labs.Target, p engine.PartitionView) kafka.Offset {
	if at.Partition == p.TopicPartition && (at.Kind == labs.RecordTarget || at.Kind == labs.BatchTarget) {
		return kafka.Offset(at.Number)
	}
	return kafka.NoOffset
}

// whyLink makes of a number that changed in this tick a link to the causes; nil where it did not.
func (l *layout) whyLink(id, text string, seq uint64) *view.Link {
	if seq == 0 {
		return nil
	}
	link := labs.Replace(id, text, l.Address.WithWhy(seq))
	link.Label = text + ", changed in this tick: why?"
	return &link
}

// cell draws one record.
func (l *layout) cell(i int, rec labs.StoredRecord, selected kafka.Offset) view.Cell {
	tp, r := l.View.Partitions[i].TopicPartition, l.readers[i]
	c := view.Cell{
		ID: fmt.Sprintf("r-%d-%d", i, rec.Offset), Offset: fmt.Sprint(rec.Offset), At: logTarget(labs.RecordTarget, tp, rec.Offset).String(),
		New: rec.Offset >= l.news[i].from, Waiting: r == nil || rec.Offset >= l.past[i].read,
		BatchStart: rec.BatchStart, SegmentStart: rec.SegmentStart, Selected: rec.Offset == selected,
	}
	words := []string{fmt.Sprintf("offset %d", rec.Offset)}
	if rec.Key == nil {
		c.Text = "–"
		words = append(words, "no key")
	} else {
		key := string(rec.Key)
		c.Text = labs.Narrow(keyName(key), cellWidth)
		words = append(words, "key "+keyName(key))
		if at, ok := l.places[key]; ok {
			k := l.placed[at]
			c.Text, c.Color, c.Moved = l.short[key], k.color, k.moved()
			if c.Moved {
				words = append(words, fmt.Sprintf("with %d partitions in %s-%d", l.baseline, topic, k.before))
			}
		}
	}
	if late, ok := l.late[place{tp, rec.Offset}]; ok {
		c.Late = true
		words = append(words, late)
	}
	if c.New {
		words = append(words, "written in this tick")
	}
	if c.Waiting {
		words = append(words, "not read yet")
	}
	c.Label = strings.Join(words, ", ")
	return c
}

// flags marks the ends of the log and the reader's position in the window that begins at first.
func flags(first, start, end kafka.Offset, columns int, r *reader) []view.Flag {
	var list []view.Flag
	add := func(offset kafka.Offset, kind view.FlagKind, text string) {
		if column := int(offset - first); column >= 0 && column < columns {
			list = append(list, view.Flag{Column: column, Kind: kind, Text: fmt.Sprintf("%s %d", text, offset)})
		}
	}
	if start == first && end > start {
		add(start, view.LogStart, "start")
	}
	if r != nil && r.position >= 0 {
		add(r.position, view.Position, string(r.member.ID)+" at")
	}
	add(end, view.LogEnd, "end")
	return list
}

// table shows partition, consumer and keys.
func (l *layout) table() view.Table {
	t := view.Table{ID: "keys", Caption: l.movedSentence(), Head: []string{"Partition", "Consumer", "Keys", "Records", "Share", "Bytes"}}
	if len(l.senders) > 1 {
		t.Head[2] = "Keys, as p0 places them"
	}
	end := min(l.first+l.strips, l.partitions())
	each := max(l.keys/(end-l.first), 4)
	total := l.records()
	for i := l.first; i < end; i++ {
		p := l.View.Partitions[i]
		consumer := "nobody"
		if r := l.readers[i]; r != nil {
			consumer = string(r.member.ID)
		}
		var keys []view.Item
		more := 0
		for _, k := range l.placed {
			switch {
			case !k.keyed || int(k.now) != i:
			case len(keys) == each:
				more++
			default:
				keys = append(keys, l.keyItem(k))
			}
		}
		if more > 0 {
			keys = append(keys, view.Item{Text: fmt.Sprintf("and %d more", more)})
		}
		if len(keys) == 0 {
			keys = view.Plain("none")
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			view.Plain(p.TopicPartition.String()), view.Plain(consumer), keys,
			view.Plain(kafka.Thousands(records(p))), view.Plain(percent(records(p), total)), view.Plain(kafka.Thousands(p.Log.Bytes)),
		}})
	}
	return t
}

func (l *layout) keyItem(k placedKey) view.Item {
	item := view.Item{Text: keyName(k.key), Color: k.color}
	mark := func(name, words string) {
		item.Mark = strings.TrimSpace(item.Mark + " " + name)
		item.Label = strings.TrimPrefix(item.Label+"; "+words, "; ")
	}
	if k.moved() {
		mark("moved", fmt.Sprintf("moved, was in %s-%d with %d partitions", topic, k.before, l.baseline))
	}
	if k.split {
		mark("split", "p1 puts it into "+l.secondPlace(k))
	}
	if l.lateKeys[k.key] {
		mark("late", "an event of it was seen late")
	}
	return item
}

// movedSentence says how many keys the change of the count moves.
func (l *layout) movedSentence() string {
	keyed := 0
	for _, k := range l.placed {
		if k.keyed {
			keyed++
		}
	}
	switch n := l.known(); {
	case keyed == 0:
		return "No record has a key, so no key can move."
	case n == l.baseline:
		return fmt.Sprintf("%s over %s; the baseline is %d too, so none has moved.", kafka.Count(keyed, "key"), kafka.Count(n, "partition"), l.baseline)
	default:
		return fmt.Sprintf("Going from %d to %d partitions moves %d of %s.", l.baseline, n, moves(l.placed, l.rule(), l.baseline, n), kafka.Count(keyed, "key"))
	}
}
