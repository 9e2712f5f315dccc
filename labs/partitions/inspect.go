package partitions

import (
	"errors"
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// inspect shows what the address points at; nil when it points at nothing.
func inspect(l *layout) *view.Inspector {
	f := l.Frame
	at := f.Address.At
	if at.Kind == "" {
		return nil
	}
	in := &view.Inspector{Title: strings.ReplaceAll(at.String(), ":", " "), Close: labs.CloseInspector(f.Address)}
	in.Title = strings.ToUpper(in.Title[:1]) + in.Title[1:]
	var ok bool
	switch at.Kind {
	case labs.MessageTarget:
		ok = inspectMessage(f, in, uint64(at.Number))
	case labs.NodeTarget:
		ok = inspectNode(f, in, at.Node)
	default:
		index := int(at.Partition.Partition)
		if at.Partition.Topic == topic && index < len(f.View.Partitions) {
			ok = inspectLog(l, in, f.View.Partitions[index], at)
		}
	}
	if !ok {
		in.Facts = []view.Fact{{Name: "Not there", Value: fmt.Sprintf("At tick %d there is no %s.", f.Address.T, strings.ReplaceAll(at.String(), ":", " "))}}
		in.Tables = nil
	}
	return in
}

// inspectLog shows a record, a batch or a segment.
func inspectLog(l *layout, in *view.Inspector, p engine.PartitionView, at labs.Target) bool {
	for _, segment := range p.Log.Segments {
		if at.Kind == labs.SegmentTarget {
			if segment.BaseOffset == kafka.Offset(at.Number) {
				inspectSegment(l, in, p, segment)
				return true
			}
			continue
		}
		if kafka.Offset(at.Number) > segment.LastOffset || segment.LastOffset == kafka.NoOffset {
			continue
		}
		for data := segment.Bytes; ; {
			b, err := record.Parse(data)
			if errors.Is(err, record.ErrEnd) {
				return false
			}
			if err != nil {
				panic(fmt.Sprintf("%s, segment %d: %v", p.TopicPartition, segment.BaseOffset, err))
			}
			if b.LastOffset() < kafka.Offset(at.Number) {
				data = data[b.Size():]
				continue
			}
			position := len(segment.Bytes) - len(data)
			if at.Kind == labs.BatchTarget {
				inspectBatch(l.Frame, in, p, segment, b, position, -1)
			} else {
				inspectRecord(l, in, p, segment, b, position, kafka.Offset(at.Number))
			}
			return true
		}
	}
	return false
}

// inspectRecord shows one record: its key, how it came to this partition, and its bytes.
func inspectRecord(l *layout, in *view.Inspector, p engine.PartitionView, segment storage.Segment, b record.Batch, position int, offset kafka.Offset) {
	index := -1
	for scanner := b.Scan(); scanner.Next(); {
		r := scanner.Record()
		index++
		if r.Offset != offset {
			continue
		}
		key, how := "no key (null)", "The producer chose by the rule "+l.Address.Values.Text("keyless")+"."
		if r.Key != nil {
			key = keyName(string(r.Key))
		}
		if partition, keyed := l.rule().Partition(r.Key, int32(l.partitions())); keyed {
			how = l.rule().Hash(r.Key).Formula(int32(l.partitions()))
			if partition != p.Partition {
				how += ", but it stands here"
			}
			before, _ := l.rule().Partition(r.Key, int32(l.baseline))
			how += fmt.Sprintf("; with %d partitions: %s-%d", l.baseline, topic, before)
		}
		in.Facts = append(in.Facts, view.Fact{Name: "Key", Value: key}, view.Fact{Name: "Value", Value: fmt.Sprintf("%q", r.Value)},
			view.Fact{Name: "Partition", Value: how},
			view.Fact{Name: "Offset", Value: fmt.Sprintf("%d, which is the batch’s base offset %d + %d", r.Offset, b.BaseOffset, r.OffsetDelta)},
			view.Fact{Name: "Timestamp", Value: fmt.Sprintf("%d ms since 1970, %d ms into the run", r.Timestamp, int64(r.Timestamp-engine.StartTime))})
		break
	}
	inspectBatch(l.Frame, in, p, segment, b, position, index)
}

// inspectBatch shows a batch field by field; with a record's index of 0 or more only that record's fields.
func inspectBatch(f labs.Frame, in *view.Inspector, p engine.PartitionView, segment storage.Segment, b record.Batch, position, only int) {
	in.Facts = append(in.Facts, view.Fact{Name: "Batch", Value: fmt.Sprintf("%s of %s, %s bytes at byte %s of %s",
		kafka.Count(int(b.RecordsCount), "record"), p.TopicPartition, kafka.Thousands(b.Size()), kafka.Thousands(position), storage.SegmentFileName(segment.BaseOffset, storage.LogSuffix))})
	if cause := appendEvent(f, p.TopicPartition, b.BaseOffset); cause != 0 {
		in.Chain = labs.Causes(f, cause)
	}
	fields, err := record.Anatomy(b.Bytes())
	if err != nil {
		in.Facts = append(in.Facts, view.Fact{Name: "Damaged", Value: err.Error()})
	}
	table := view.Table{ID: "anatomy", Caption: "The batch’s bytes, field by field", Head: []string{"At", "Bytes", "Field", "Value", "Meaning"}, Mono: true}
	if only >= 0 {
		table.Caption = "The record’s bytes, field by field"
		next := labs.Replace("open-batch", "the whole batch", f.Address.WithTarget(labs.Target{Kind: labs.BatchTarget, Partition: p.TopicPartition, Number: int64(b.BaseOffset)}))
		in.Links = append(in.Links, next)
	}
	const most = 36
	for _, field := range fields {
		if only >= 0 && field.Record != only {
			continue
		}
		if len(table.Rows) == most {
			table.More = fmt.Sprintf("The batch has %s; the first %d are shown.", kafka.Count(len(fields), "field"), most)
			break
		}
		table.Rows = append(table.Rows, view.Row{Items: [][]view.Item{
			view.Plain(fmt.Sprint(field.Offset)), view.Plain(hexBytes(field.Raw)), view.Plain(field.Name), view.Plain(field.Value), view.Plain(field.Meaning),
		}})
	}
	in.Tables = append(in.Tables, table)
}

// inspectSegment shows a segment's files.
func inspectSegment(l *layout, in *view.Inspector, p engine.PartitionView, s storage.Segment) {
	offsets := "empty"
	if s.LastOffset != kafka.NoOffset {
		offsets = fmt.Sprintf("%d to %d", s.FirstOffset, s.LastOffset)
	}
	state := "closed: a later segment takes the appends"
	if s.BaseOffset == p.Log.Segments[len(p.Log.Segments)-1].BaseOffset {
		state = "active: appends go here"
	}
	segmentBytes, _ := sizes(l.Address.Values)
	in.Facts = append(in.Facts, view.Fact{Name: "Offsets", Value: offsets}, view.Fact{Name: "State", Value: state},
		view.Fact{Name: "Size", Value: fmt.Sprintf("%s of segment.bytes = %s", kafka.Thousands(len(s.Bytes)), kafka.Thousands(segmentBytes))})
	files := view.Table{ID: "files", Caption: "Files in the directory " + p.TopicPartition.String(), Head: []string{"File", "Bytes"}, Mono: true}
	for _, file := range []struct {
		suffix string
		bytes  int
	}{{storage.LogSuffix, len(s.Bytes)}, {storage.OffsetIndexSuffix, len(s.OffsetIndex)}, {storage.TimeIndexSuffix, len(s.TimeIndex)}} {
		files.Rows = append(files.Rows, view.Row{Items: [][]view.Item{view.Plain(storage.SegmentFileName(s.BaseOffset, file.suffix)), view.Plain(kafka.Thousands(file.bytes))}})
	}
	entries := view.Table{ID: "index", Caption: fmt.Sprintf("Offset index: one entry after more than index.interval.bytes = %d bytes", indexInterval), Head: []string{"Offset", "Position in the .log"}, Mono: true}
	index := s.OffsetEntries()
	for _, e := range index {
		entries.Rows = append(entries.Rows, view.Row{Items: [][]view.Item{view.Plain(fmt.Sprint(e.Offset)), view.Plain(fmt.Sprint(e.Position))}})
	}
	if len(index) == 0 {
		entries.More = "No entry yet: the first batch of a segment never gets one."
	}
	in.Tables = append(in.Tables, files, entries)
	others := view.Table{ID: "segments", Caption: "All segments of " + p.TopicPartition.String(), Head: []string{"Base offset", "Bytes"}, Mono: true}
	for _, other := range p.Log.Segments {
		item := view.Item{Text: fmt.Sprint(other.BaseOffset), At: fmt.Sprintf("segment:%s:%d", p.TopicPartition, other.BaseOffset)}
		others.Rows = append(others.Rows, view.Row{Items: [][]view.Item{{item}, view.Plain(kafka.Thousands(len(other.Bytes)))}, Selected: other.BaseOffset == s.BaseOffset})
	}
	in.Tables = append(in.Tables, others)
}

// inspectMessage shows a message, with its bytes while it is on its way.
func inspectMessage(f labs.Frame, in *view.Inspector, id uint64) bool {
	j := f.Cluster.Journal()
	found := false
	for e := range j.All() {
		switch b := e.Body.(type) {
		case journal.MessageSent:
			if b.Message == id {
				found = true
				in.Facts = append(in.Facts, view.Fact{Name: "Sent", Value: fmt.Sprintf("in tick %d by %s: %s", e.Tick, e.Node, b.Sentence())})
				in.Chain = labs.Causes(f, e.Seq)
			}
		case journal.MessageDelivered:
			if b.Message == id {
				in.Facts = append(in.Facts, view.Fact{Name: "Delivered", Value: fmt.Sprintf("in tick %d to %s", e.Tick, e.Node)})
			}
		}
	}
	for _, m := range f.View.UnderWay {
		if m.ID != id {
			continue
		}
		body := m.Message.Body()
		in.Facts = append(in.Facts, view.Fact{Name: "Body", Value: fmt.Sprintf("%s bytes, without the header in front", kafka.Thousands(len(body)))})
		table := view.Table{ID: "body", Caption: "The body’s bytes as Kafka’s protocol writes them", Head: []string{"At", "Bytes"}, Mono: true}
		const most, row = 256, 16
		for at := 0; at < min(len(body), most); at += row {
			table.Rows = append(table.Rows, view.Row{Items: [][]view.Item{view.Plain(fmt.Sprint(at)), view.Plain(hexBytes(body[at:min(at+row, len(body))]))}})
		}
		if len(body) > most {
			table.More = fmt.Sprintf("%s more bytes follow.", kafka.Thousands(len(body)-most))
		}
		in.Tables = append(in.Tables, table)
	}
	return found
}

// inspectNode shows a consumer, the producer or the broker.
func inspectNode(f labs.Frame, in *view.Inspector, node kafka.NodeID) bool {
	for _, m := range f.View.Groups[0].Members {
		if kafka.NodeID(m.ID) != node {
			continue
		}
		in.Facts = append(in.Facts, view.Fact{Name: "Member of", Value: group + ", assignor " + f.Address.Values.Text("assignor")}, view.Fact{Name: "Why", Value: m.Rule + "."})
		table := view.Table{ID: "assignment", Caption: "What it reads", Head: []string{"Partition", "Position", "Read", "To read"}}
		for _, a := range m.Assignment {
			table.Rows = append(table.Rows, view.Row{Items: [][]view.Item{view.Plain(a.TopicPartition.String()), view.Plain(fmt.Sprint(a.Position)), view.Plain(fmt.Sprint(a.Read)), view.Plain(fmt.Sprint(a.Lag))}})
		}
		if len(m.Assignment) == 0 {
			table.More = "Nothing: it is idle."
		}
		in.Tables = append(in.Tables, table)
		return true
	}
	for _, p := range f.View.Producers {
		if p.ID == node {
			in.Facts = append(in.Facts, view.Fact{Name: "Handed in", Value: kafka.Count(p.Produced, "record")}, view.Fact{Name: "In open batches", Value: fmt.Sprint(p.Waiting)},
				view.Fact{Name: "Acknowledged", Value: fmt.Sprint(p.Acknowledged)})
			return true
		}
	}
	for _, b := range f.View.Brokers {
		if b.Node == node {
			in.Facts = append(in.Facts, view.Fact{Name: "Leads", Value: kafka.Count(len(f.View.Partitions), "partition")}, view.Fact{Name: "Waiting fetches", Value: fmt.Sprint(b.Parked)})
			return true
		}
	}
	return false
}

// appendEvent gives the Seq of the event that appended the batch with that base offset; 0: none.
func appendEvent(f labs.Frame, tp kafka.TopicPartition, base kafka.Offset) uint64 {
	j := f.Cluster.Journal()
	for e := range j.All() {
		if b, ok := e.Body.(journal.BatchAppended); ok && b.TopicPartition == tp && b.BaseOffset == base {
			return e.Seq
		}
	}
	return 0
}

// hexBytes writes bytes in pairs of digits, shortened when there are many.
func hexBytes(b []byte) string {
	const most = 24
	if len(b) > most {
		return fmt.Sprintf("% x … %d bytes", b[:most], len(b))
	}
	return fmt.Sprintf("% x", b)
}
