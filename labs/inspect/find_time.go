package inspect

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// wayForms ask for the way to an offset, and in the log that clients are served from to the first record from a time on.
func (l Log) wayForms(offset kafka.Offset) []view.Form {
	if l.Broker != "" {
		return []view.Form{l.findForm(offset)}
	}
	return []view.Form{l.findForm(offset), l.timeForm()}
}

// timeForm asks for the way to the first record from a time on.
func (l Log) timeForm() view.Form {
	at := int64(l.View.Now)
	if l.Address.At.Kind == labs.TimeTarget {
		at = l.Address.At.Number
	}
	const most = 1 << 53
	return l.wayForm("find-time", fmt.Sprintf("%s:%s:", labs.TimeTarget, l.Partition), view.Field{Label: "Find ms into the run", Value: fmt.Sprint(at), Max: most})
}

// FindTime shows how ListOffsets finds the first record from a time on, in ms into the run.
func (l Log) FindTime(in *view.Inspector, at kafka.Millis) {
	in.Forms = append(in.Forms, l.wayForms(l.LogStartOffset)...)
	target := engine.StartTime + kafka.Timestamp(at)
	found, err := storage.FindTimestamp(l.Segments, l.LogStartOffset, target)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", l.Partition, err))
	}
	if found.Segment < 0 {
		in.AddFact("Answer", "offset -1: no segment has a timestamp of %s ms into the run or later", kafka.Thousands(at))
		return
	}
	s := l.Segments[found.Segment]
	in.AddFact("1. Segment", "%s: the first whose largest timestamp, %s, is not before %s ms; %s passed over", storage.SegmentFileName(s.BaseOffset, storage.LogSuffix),
		sinceStart(s.LargestTimestamp), kafka.Thousands(at), kafka.Count(found.Segment, "segment"))
	if found.TimeEntryNumber < 0 {
		in.AddFact("2. Time index", "none of %s is ≤ %s ms, so it gives the segment’s first offset %d", kafka.Count(len(s.TimeEntries()), "entry"), kafka.Thousands(at), s.BaseOffset)
	} else {
		in.AddFact("2. Time index", "entry %d, %s, is the greatest ≤ the target of %s: up to offset %d nothing is later", found.TimeEntryNumber, sinceStart(found.TimeEntry.Timestamp),
			kafka.Count(len(s.TimeEntries()), "entry"), found.TimeEntry.Offset)
	}
	in.AddFact("3. Offset index", "%s", l.indexWords(found, s))
	in.AddFact("4. Scan", "%s looked at, %s passed over, up to the first with a timestamp that is not before it", kafka.Count(found.BatchesScanned, "batch"), kafka.Count(found.Position-found.IndexEntry.Position, "byte"))
	if found.Offset == kafka.NoOffset {
		in.AddFact("Answer", "offset -1: no record above the log start offset %d is that late", l.LogStartOffset)
	} else {
		in.AddFact("Answer", "offset %d with %s: the first record, in the order of offsets, that is not older. Later ones may be", found.Offset, sinceStart(found.Timestamp))
		in.Links = append(in.Links, l.open("open-record", "the record found", labs.RecordTarget, found.Offset))
	}
	before := 0
	for _, earlier := range l.Segments[:found.Segment] {
		before += len(earlier.Bytes)
	}
	entries := len(found.TimeSearch)*timeEntryBytes + len(found.Search)*offsetEntryBytes
	in.AddFact("Bytes read", "%s", bytesRead(entries, "the indexes", found.Position-found.IndexEntry.Position, before+found.Position))
	in.Links = append(in.Links, l.open("open-segment", "the segment", labs.SegmentTarget, s.BaseOffset))
	in.Tables = append(in.Tables, timeSearchTable(found, at), l.segmentTable(found.Segment))
}

// indexWords says where the offset that the time index gave leads.
func (l Log) indexWords(found storage.FoundTimestamp, s storage.Segment) string {
	from := max(found.TimeEntry.Offset, l.LogStartOffset)
	if found.IndexEntryNumber < 0 {
		return fmt.Sprintf("none of %s is ≤ %d, so the scan begins at byte 0", kafka.Count(len(s.OffsetEntries()), "entry"), from)
	}
	return fmt.Sprintf("entry %d, offset %d, is the greatest ≤ %d: the scan begins at byte %s", found.IndexEntryNumber, found.IndexEntry.Offset, from, kafka.Thousands(found.IndexEntry.Position))
}

// timeSearchTable shows the binary search in the time index.
func timeSearchTable(found storage.FoundTimestamp, at kafka.Millis) view.Table {
	t := view.Table{ID: "search", Caption: "2. The binary search in the time index", Head: []string{"Entries left", "In the middle", "Its timestamp, ms into the run", "So"}, Mono: true}
	for _, s := range found.TimeSearch {
		so := fmt.Sprintf("≤ %s: go on after it", kafka.Thousands(at))
		if s.Above {
			so = fmt.Sprintf("> %s: go on before it", kafka.Thousands(at))
		}
		t.Rows = append(t.Rows, Cells(Offsets(kafka.Offset(s.Low), kafka.Offset(s.High-1)), fmt.Sprintf("entry %d", s.Middle), kafka.Thousands(s.Timestamp-engine.StartTime), so))
	}
	if len(found.TimeSearch) == 0 {
		t.More = "The index has no entry yet."
	}
	return t
}
