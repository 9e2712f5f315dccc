package inspect

import (
	"fmt"
	"time"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs/view"
)

// timeStep is one step of the binary search in a time index for the greatest timestamp ≤ the target.
type timeStep struct {
	low, high, middle int
	timestamp         kafka.Timestamp
	above             bool
}

// timeLookup is how ListOffsets finds the first record, in offset order, whose timestamp is ≥ the target.
//
// Source: UnifiedLog.fetchOffsetByTimestamp, LogSegment.findOffsetByTimestamp, FileRecords.searchForTimestamp.
type timeLookup struct {
	segment int // the first whose largest timestamp is ≥ the target
	steps   []timeStep
	entries int               // of the time index
	number  int               // of entry; -1: none is ≤ the target
	entry   storage.TimeEntry // its offset, or the segment's base offset, leads into the offset index
	start   kafka.Offset      // that offset, or the log start offset if it is later
	index   storage.Lookup    // in the offset index
	search  []storage.SearchStep
	scanned []record.Batch // from there
	records int            // bytes of the records of those that were read whole
	found   bool
	record  record.Record
	batch   record.Batch
	at      int // position of batch
}

// lookupTime goes that way; ok is false if no segment has a timestamp ≥ target.
func (s Search) lookupTime(target kafka.Timestamp) (way timeLookup, ok bool) {
	for way.segment = range s.Segments {
		if s.Segments[way.segment].LargestTimestamp >= target {
			ok = true
			break
		}
	}
	if !ok {
		return way, false
	}
	segment := s.Segments[way.segment]
	list := segment.TimeEntries()
	way.entries, way.number = len(list), -1
	way.entry = storage.TimeEntry{Timestamp: kafka.NoTimestamp, Offset: segment.BaseOffset}
	for low, high := 0, len(list); low < high; {
		step := timeStep{low: low, high: high, middle: (low + high) / 2}
		step.timestamp = list[step.middle].Timestamp
		step.above = step.timestamp > target
		if step.above {
			high = step.middle
		} else {
			low, way.number, way.entry = step.middle+1, step.middle, list[step.middle]
		}
		way.steps = append(way.steps, step)
	}
	way.start = max(way.entry.Offset, s.LogStartOffset)
	from, ok, err := storage.Find([]storage.Segment{segment}, min(way.start, segment.LastOffset)) // the entries are the same
	if err != nil || !ok {
		panic(fmt.Sprintf("%s: offset %d of the time index is not in its segment: %v", s.Name, way.start, err))
	}
	way.index, way.search = from.Lookup, from.Search
	way.scan(segment, target, s.LogStartOffset)
	return way, true
}

// scan looks at batch after batch from the byte that the offset index led to.
func (w *timeLookup) scan(segment storage.Segment, target kafka.Timestamp, start kafka.Offset) {
	for at := w.index.IndexEntry.Position; at < len(segment.Bytes); at += w.batch.Size() {
		batch, err := record.Parse(segment.Bytes[at:])
		if err != nil {
			panic(fmt.Sprintf("segment %d at byte %d: %v", segment.BaseOffset, at, err))
		}
		w.batch, w.at = batch, at
		w.scanned = append(w.scanned, batch)
		if batch.MaxTimestamp < target {
			continue
		}
		w.records += batch.Size() - record.HeaderSize
		for scan := batch.Scan(); scan.Next(); {
			if r := scan.Record(); r.Timestamp >= target && r.Offset >= start {
				w.found, w.record = true, r
				return
			}
		}
	}
}

// Time shows how ListOffsets finds the first record whose timestamp is ≥ target: the segment, the entry of the time
// index, that of the offset index, the batches from there.
func (s Search) Time(in *view.Inspector, target kafka.Timestamp) {
	in.AddFact("Time", "%s", Moment(target))
	way, ok := s.lookupTime(target)
	if !ok {
		in.AddFact("Answer", "offset −1: no segment has a timestamp ≥ %d", target)
		in.Tables = append(in.Tables, s.timesTable(-1, target))
		return
	}
	segment := s.Segments[way.segment]
	in.AddFact("1. Segment", "%s: the first of %s whose largest timestamp, %d, is ≥ %d", storage.SegmentFileName(segment.BaseOffset, storage.LogSuffix), kafka.Count(len(s.Segments), "segment"), segment.LargestTimestamp, target)
	if way.number < 0 {
		in.AddFact("2. Time index", "none of %s is ≤ %d, so the base offset %d serves", kafka.Count(way.entries, "entry"), target, segment.BaseOffset)
	} else {
		in.AddFact("2. Time index", "entry %d, timestamp %d, is the greatest ≤ %d of %s: it leads to offset %d, found in %s", way.number, way.entry.Timestamp, target,
			kafka.Count(way.entries, "entry"), way.entry.Offset, kafka.Count(len(way.steps), "step"))
	}
	s.indexFact(in, "3. Offset index", segment, way.index.IndexEntryNumber, way.index.IndexEntry, way.start, len(way.search))
	in.AddFact("4. Scan", "%s looked at; of those with a maxTimestamp ≥ %d the records were read", kafka.Count(len(way.scanned), "batch"), target)
	if way.found {
		in.AddFact("Answer", "offset %d, timestamp %d, in the batch at byte %s", way.record.Offset, way.record.Timestamp, kafka.Thousands(way.at))
		in.Links = append(in.Links, s.Links(way.record.Offset, segment)...)
	} else {
		in.AddFact("Answer", "offset −1: no record that is left has a timestamp ≥ %d", target)
	}
	in.AddFact("Bytes read", "%s", bytesRead(len(way.steps), len(way.search), len(way.scanned), way.records))
	inSegment := way.unindexed(segment)
	before, _ := s.before(way.segment)
	in.AddFact("Without index", "from the start of the segment: %s", headersRead(inSegment))
	in.AddFact("Without segments", "from the start of the log: %s", headersRead(before+inSegment))
	in.Tables = append(in.Tables, s.timesTable(way.segment, target), way.stepsTable(target), searchTable("3. The binary search in the offset index", way.search, way.start),
		s.scanTable("4. The scan, batch after batch", segment, way.index.IndexEntry.Position, way.scanned, func(b record.Batch) string {
			switch {
			case b.MaxTimestamp < target:
				return fmt.Sprintf("max %d < %d: the next", b.MaxTimestamp, target)
			case way.found && b.BaseOffset == way.batch.BaseOffset:
				return fmt.Sprintf("max %d ≥ %d: offset %d", b.MaxTimestamp, target, way.record.Offset)
			}
			return fmt.Sprintf("max %d ≥ %d, but no record that counts", b.MaxTimestamp, target)
		}))
}

// unindexed is how many batches a scan from the start of the segment looks at.
func (w *timeLookup) unindexed(segment storage.Segment) int {
	segment.Bytes = segment.Bytes[:w.index.IndexEntry.Position]
	return len(batches(segment)) + len(w.scanned)
}

// stepsTable shows the binary search in the time index.
func (w *timeLookup) stepsTable(target kafka.Timestamp) view.Table {
	t := view.Table{ID: "times", Caption: "2. The binary search in the time index", Head: []string{"Entries left", "In the middle", "Its timestamp", "So"}, Mono: true}
	for _, s := range w.steps {
		t.Rows = append(t.Rows, stepRow(s.low, s.high, s.middle, int64(s.timestamp), int64(target), s.above))
	}
	if len(w.steps) == 0 {
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
		so := fmt.Sprintf("< %d: the next", target)
		if from+i == chosen {
			so = fmt.Sprintf("≥ %d: here", target)
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{s.Segment(fmt.Sprint(segment.BaseOffset), segment)}, view.Plain(fmt.Sprint(segment.LargestTimestamp)), view.Plain(so)}, Selected: from+i == chosen})
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
