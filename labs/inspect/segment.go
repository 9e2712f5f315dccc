package inspect

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// Segment shows a segment, by its place among the log’s: its files, batches and index entries, and a form to find an offset.
func (l Log) Segment(in *view.Inspector, index int) {
	s := l.Segments[index]
	held := "none: it is empty"
	if s.LastOffset != kafka.NoOffset {
		held = Offsets(s.FirstOffset, s.LastOffset)
	}
	state := "closed: a later segment takes the appends"
	if index == len(l.Segments)-1 {
		state = "active: appends go here"
	}
	list := batches(s)
	in.Facts = append(in.Facts, view.Fact{Name: "Base offset", Value: fmt.Sprintf("%d, the name of its files", s.BaseOffset)},
		view.Fact{Name: "Offsets", Value: held}, view.Fact{Name: "State", Value: state},
		view.Fact{Name: "Size", Value: fmt.Sprintf("%s of segment.bytes = %s, in %s", kafka.Thousands(len(s.Bytes)), kafka.Thousands(l.Config.SegmentBytes), kafka.Count(len(list), "batch"))})
	for _, file := range []struct {
		suffix string
		bytes  int
	}{{storage.LogSuffix, len(s.Bytes)}, {storage.OffsetIndexSuffix, len(s.OffsetIndex)}, {storage.TimeIndexSuffix, len(s.TimeIndex)}} {
		in.Facts = append(in.Facts, view.Fact{Name: file.suffix, Value: fmt.Sprintf("%s, %s", storage.SegmentFileName(s.BaseOffset, file.suffix), kafka.Count(file.bytes, "byte"))})
	}
	in.Forms = append(in.Forms, l.wayForms(s.BaseOffset)...)
	if seq := l.rollEvent(s.BaseOffset); seq != 0 {
		in.Chain = labs.Causes(l.Frame.Frame, seq, CausesShown)
	}
	in.Tables = append(in.Tables, l.batchTable(s), l.indexTable(s), timeTable(s), l.search().segmentTable(index))
}

// rollEvent gives the Seq of the event that began a segment: a roll, or the topic's creation for the
// first; 0: none.
func (l Log) rollEvent(base kafka.Offset) uint64 {
	j := l.Cluster.Journal()
	for e := range j.All() {
		switch b := e.Body.(type) {
		case journal.TopicCreated:
			if b.Topic == l.Partition.Topic && base == 0 {
				return e.Seq
			}
		case journal.SegmentRolled:
			if b.TopicPartition == l.Partition && b.Base == base && (l.Broker == "" || l.Broker == e.Node) {
				return e.Seq
			}
		}
	}
	return 0
}

// findForm asks for the way to an offset.
func (l Log) findForm(offset kafka.Offset) view.Form {
	name := l.Partition.String()
	if l.Broker != "" {
		name += "@" + string(l.Broker)
	}
	return l.wayForm("find", fmt.Sprintf("%s:%s:", labs.FindTarget, name), view.Field{Label: "Find offset", Value: fmt.Sprint(offset), Max: int(l.LogEndOffset)})
}

// wayForm asks for a way into the log.
func (l Log) wayForm(id, to string, field view.Field) view.Form {
	field.ID, field.Name, field.Kind = id+"-offset", "at", view.Number
	return view.Form{
		ID: id, Action: l.Address.Path() + "#inspector", Submit: "Find", Go: "replace", Fields: []view.Field{field},
		Hidden: append(labs.HiddenParams(l.Address, "at", "why"), view.Param{Name: "at", Value: to}),
	}
}

// batchTable lists the batches of a segment, the last ones if there are many.
func (l Log) batchTable(s storage.Segment) view.Table {
	t := view.Table{ID: "batches", Caption: "Batches in the .log file", Head: []string{"Byte", "Offsets", "Bytes", "Index entry"}, Mono: true}
	indexed := map[int]kafka.Offset{}
	for _, e := range s.OffsetEntries() {
		indexed[e.Position] = e.Offset
	}
	list := batches(s)
	from, to := around(len(list), len(list))
	position := 0
	for i, b := range list {
		if i >= from && i < to {
			entry := ""
			if offset, ok := indexed[position]; ok {
				entry = fmt.Sprint(offset)
			}
			item := view.Item{Text: Offsets(b.BaseOffset, b.LastOffset()), At: l.Target(labs.BatchTarget, b.BaseOffset).String()}
			t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{view.Plain(kafka.Thousands(position)), {item}, view.Plain(kafka.Thousands(b.Size())), view.Plain(entry)}})
		}
		position += b.Size()
	}
	t.More = RowsLeft(from, to, len(list), "batch")
	if len(list) == 0 {
		t.More = "None."
	}
	return t
}

// indexTable lists the entries of the offset index, the last ones if there are many.
func (l Log) indexTable(s storage.Segment) view.Table {
	t := view.Table{ID: "index", Caption: fmt.Sprintf("Offset index: an entry once more than index.interval.bytes = %d have come", l.Config.IndexIntervalBytes), Head: []string{"Entry", "Last offset of the batch", "Its first byte"}, Mono: true}
	list := s.OffsetEntries()
	from, to := around(len(list), len(list))
	for i, e := range list[from:to] {
		t.Rows = append(t.Rows, Cells(fmt.Sprint(from+i), fmt.Sprint(e.Offset), kafka.Thousands(e.Position)))
	}
	t.More = RowsLeft(from, to, len(list), "entry")
	if len(list) == 0 {
		t.More = "No entry: the first batch of a segment never gets one."
	}
	return t
}

// timeTable lists the entries of the time index, the last ones if there are many.
func timeTable(s storage.Segment) view.Table {
	t := view.Table{ID: "times", Caption: "Time index: the largest timestamp so far", Head: []string{"Entry", "Timestamp, ms into the run", "Last offset of its batch"}, Mono: true}
	list := s.TimeEntries()
	from, to := around(len(list), len(list))
	for i, e := range list[from:to] {
		t.Rows = append(t.Rows, Cells(fmt.Sprint(from+i), fmt.Sprint(int64(e.Timestamp-engine.StartTime)), fmt.Sprint(e.Offset)))
	}
	t.More = RowsLeft(from, to, len(list), "entry")
	if len(list) == 0 {
		t.More = "No entry: one is written with an entry of the offset index, if a later timestamp than the last indexed one has come, and when the segment is closed."
	}
	return t
}
