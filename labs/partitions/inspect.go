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

// Bounds of the inspector, so that a page stays small.
const (
	rowsShown   = 12 // in a table
	causesShown = 14 // in a chain of causes
)

// inspect shows what the address points at; nil when it points at nothing.
func inspect(l *layout) *view.Inspector {
	at := l.Address.At
	if at.Kind == "" {
		return nil
	}
	in := &view.Inspector{Title: targetName(at), Close: labs.CloseInspector(l.Address)}
	var ok bool
	switch at.Kind {
	case labs.MessageTarget:
		ok = inspectMessage(l, in, uint64(at.Number))
	case labs.NodeTarget:
		ok = inspectNode(l.Frame, in, at.Node)
	default:
		index := int(at.Partition.Partition)
		if at.Partition.Topic == topic && index < len(l.View.Partitions) {
			ok = inspectLog(l, in, l.View.Partitions[index], at)
		}
	}
	if !ok {
		what := strings.ReplaceAll(at.String(), ":", " ")
		if at.Kind == labs.FindTarget {
			what = "partition " + at.Partition.String()
		}
		in.Facts = []view.Fact{{Name: "Not there", Value: fmt.Sprintf("At tick %d there is no %s.", l.Address.T, what)}}
	}
	return in
}

// logTarget names a record, a batch, a segment or an offset to find in a partition's log.
func logTarget(kind labs.TargetKind, tp kafka.TopicPartition, offset kafka.Offset) labs.Target {
	return labs.Target{Kind: kind, Partition: tp, Number: int64(offset)}
}

// open makes a control that opens something in the inspector.
func open(a labs.Address, id, text string, at labs.Target) view.Link {
	return labs.Replace(id, text, a.WithTarget(at))
}

// targetName is a target as a title.
func targetName(at labs.Target) string {
	if at.Kind == labs.FindTarget {
		return fmt.Sprintf("Find offset %d in %s", at.Number, at.Partition)
	}
	title := strings.ReplaceAll(at.String(), ":", " ")
	return strings.ToUpper(title[:1]) + title[1:]
}

// inspectLog shows a record, a batch, a segment or the way to an offset.
func inspectLog(l *layout, in *view.Inspector, p engine.PartitionView, at labs.Target) bool {
	switch at.Kind {
	case labs.FindTarget:
		inspectFind(l, in, p, kafka.Offset(at.Number))
		return true
	case labs.SegmentTarget:
		for i, segment := range p.Log.Segments {
			if segment.BaseOffset == kafka.Offset(at.Number) {
				inspectSegment(l, in, p, i)
				return true
			}
		}
		return false
	}
	found, ok := locate(p, kafka.Offset(at.Number))
	if !ok {
		return false
	}
	if at.Kind == labs.BatchTarget {
		inspectBatch(l, in, found)
	} else {
		inspectRecord(l, in, found)
	}
	return true
}

// location is where a record stands.
type location struct {
	partition engine.PartitionView
	segment   storage.Segment
	batch     record.Batch
	position  int // of the batch in the segment
	record    record.Record
	index     int // of the record in the batch
}

// locate finds the record with that offset; ok is false when there is none.
func locate(p engine.PartitionView, offset kafka.Offset) (location, bool) {
	found, ok, err := storage.Find(p.Log.Segments, offset)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", p.TopicPartition, err))
	}
	if !ok {
		return location{}, false
	}
	at := location{partition: p, segment: p.Log.Segments[found.Segment], batch: found.Scanned[len(found.Scanned)-1], position: found.Lookup.Position}
	scanner := at.batch.Scan()
	for ; scanner.Next(); at.index++ {
		if at.record = scanner.Record(); at.record.Offset == offset {
			return at, true
		}
	}
	if err := scanner.Err(); err != nil {
		panic(fmt.Sprintf("%s: %v", p.TopicPartition, err))
	}
	return location{}, false
}

// batches gives the batches of a segment.
func batches(s storage.Segment) []record.Batch {
	var list []record.Batch
	for data := s.Bytes; ; {
		b, err := record.Parse(data)
		if errors.Is(err, record.ErrEnd) {
			return list
		}
		if err != nil {
			panic(fmt.Sprintf("segment %d: %v", s.BaseOffset, err))
		}
		list = append(list, b)
		data = data[b.Size():]
	}
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

// around gives the range of at most rowsShown rows out of n that holds row at.
func around(n, at int) (from, to int) {
	from = max(min(at-rowsShown/2, n-rowsShown), 0)
	return from, min(from+rowsShown, n)
}

// rowsLeft says which rows of a table are shown, where not all are.
func rowsLeft(from, to, n int, noun string) string {
	if to-from == n {
		return ""
	}
	return fmt.Sprintf("%s; %s to %s are shown.", kafka.Count(n, noun), kafka.Thousands(from+1), kafka.Thousands(to))
}

// offsets writes a range of offsets: "17" or "17 to 19".
func offsets(first, last kafka.Offset) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d to %d", first, last)
}

// cells makes a table's row of plain texts.
func cells(texts ...string) view.Row {
	var row view.Row
	for _, text := range texts {
		row.Items = append(row.Items, view.Plain(text))
	}
	return row
}
