package inspect

import (
	"fmt"
	"time"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs/view"
)

// Time shows how ListOffsets finds the first record whose timestamp is ≥ target: the segment, the entry of the time
// index, that of the offset index, the batches from there.
func (s Search) Time(in *view.Inspector, target kafka.Timestamp) {
	in.AddFact("Time", "%s", Moment(target))
	way, err := storage.FindTimestamp(s.Segments, s.LogStartOffset, target)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", s.Name, err))
	}
	if way.Segment < 0 {
		in.AddFact("Answer", "offset −1: no segment has a timestamp ≥ %s", s.when(target))
		in.Tables = append(in.Tables, s.timesTable(-1, target))
		return
	}
	segment := s.Segments[way.Segment]
	start := max(way.TimeEntry.Offset, s.LogStartOffset)
	entries := kafka.Count(len(segment.TimeEntries()), "entry")
	in.AddFact("1. Segment", "%s: the first of %s whose largest timestamp, %s, is ≥ %s", storage.SegmentFileName(segment.BaseOffset, storage.LogSuffix), kafka.Count(len(s.Segments), "segment"), s.when(segment.LargestTimestamp), s.when(target))
	if way.TimeEntryNumber < 0 {
		in.AddFact("2. Time index", "none of %s is ≤ %s, so the base offset %d serves", entries, s.when(target), segment.BaseOffset)
	} else {
		in.AddFact("2. Time index", "entry %d, timestamp %s, is the greatest ≤ %s of %s: it leads to offset %d, found in %s", way.TimeEntryNumber, s.when(way.TimeEntry.Timestamp), s.when(target),
			entries, way.TimeEntry.Offset, kafka.Count(len(way.TimeSearch), "step"))
	}
	s.indexFact(in, "3. Offset index", segment, way.IndexEntryNumber, way.IndexEntry, start, len(way.Search))
	in.AddFact("4. Scan", "%s looked at; of those with a maxTimestamp ≥ %s the records were read", kafka.Count(len(way.Scanned), "batch"), s.when(target))
	if way.Offset != kafka.NoOffset {
		in.AddFact("Answer", "offset %d, timestamp %s, in the batch at byte %s", way.Offset, s.when(way.Timestamp), kafka.Thousands(way.Position))
		in.Links = append(in.Links, s.Links(way.Offset, segment)...)
	} else {
		in.AddFact("Answer", "offset −1: no record of this segment from the log start offset %d on has a timestamp ≥ %s, and no further segment is looked at", s.LogStartOffset, s.when(target))
	}
	records := 0
	for _, b := range way.Scanned {
		if b.MaxTimestamp >= target {
			records += b.Size() - record.HeaderSize
		}
	}
	in.AddFact("Bytes read", "%s", bytesRead(len(way.TimeSearch), len(way.Search), len(way.Scanned), records))
	skipped := segment
	skipped.Bytes = segment.Bytes[:way.IndexEntry.Position]
	inSegment := len(batches(skipped)) + len(way.Scanned)
	before, _ := s.before(way.Segment)
	in.AddFact("Without index", "from the start of the segment: %s", headersRead(inSegment))
	in.AddFact("Without segments", "from the start of the log: %s", headersRead(before+inSegment))
	in.Tables = append(in.Tables, s.timesTable(way.Segment, target), s.timeSearchTable(way.TimeSearch, target), searchTable("3. The binary search in the offset index", way.Search, start),
		s.scanTable("4. The scan, batch after batch", segment, way.IndexEntry.Position, way.Scanned, func(b record.Batch) string {
			switch {
			case b.MaxTimestamp < target:
				return fmt.Sprintf("max %s < %s: the next", s.when(b.MaxTimestamp), s.when(target))
			case way.Offset >= b.BaseOffset && way.Offset <= b.LastOffset():
				return fmt.Sprintf("max %s ≥ %s: offset %d", s.when(b.MaxTimestamp), s.when(target), way.Offset)
			}
			return fmt.Sprintf("max %s ≥ %s, but no record that counts", s.when(b.MaxTimestamp), s.when(target))
		}))
}

// when writes a timestamp as the page does.
func (s Search) when(t kafka.Timestamp) string {
	switch {
	case t == kafka.NoTimestamp:
		return "none"
	case s.Clock != nil:
		return s.Clock(t)
	}
	return fmt.Sprint(t)
}

// timeSearchTable shows the binary search in the time index.
func (s Search) timeSearchTable(steps []storage.SearchStep, target kafka.Timestamp) view.Table {
	t := view.Table{ID: "times", Caption: "2. The binary search in the time index", Head: []string{"Entries left", "In the middle", "Its timestamp", "So"}, Mono: true}
	for _, step := range steps {
		t.Rows = append(t.Rows, stepRow(step, s.when(step.Timestamp), s.when(target)))
	}
	if len(steps) == 0 {
		t.More = "The index has no entry."
	}
	return t
}

// timesTable lists the segments with their largest timestamps up to the one chosen; -1: none was.
func (s Search) timesTable(chosen int, target kafka.Timestamp) view.Table {
	t := view.Table{ID: "segments", Caption: "1. Segments of " + s.Name, Head: []string{"Base offset", "Largest timestamp", "So"}, Mono: true}
	n := chosen + 1
	if chosen < 0 {
		n = len(s.Segments)
	}
	from, to := around(n, n)
	for i, segment := range s.Segments[from:to] {
		so := fmt.Sprintf("< %s: the next", s.when(target))
		if from+i == chosen {
			so = fmt.Sprintf("≥ %s: here", s.when(target))
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{s.Segment(fmt.Sprint(segment.BaseOffset), segment)}, view.Plain(s.when(segment.LargestTimestamp)), view.Plain(so)}, Selected: from+i == chosen})
	}
	t.More = RowsLeft(from, to, n, "segment")
	return t
}

// Moment writes a timestamp as a moment: "2023-11-14 22:13:20.000 UTC". What no calendar has is only a number.
func Moment(t kafka.Timestamp) string {
	const lastYear = 253_402_300_799_999 // the end of 9999
	if t < 0 || t > lastYear {
		return fmt.Sprintf("%d ms", t)
	}
	return time.UnixMilli(int64(t)).UTC().Format("2006-01-02 15:04:05.000 UTC")
}
