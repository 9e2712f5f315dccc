package inspect

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs/view"
)

// Search is segments in which offsets and times are looked up as a broker does, step by step. They hold whole batches
// whose offsets rise, and indexes that lead to the first bytes of batches: a lookup in anything else panics.
type Search struct {
	Name           string // of the partition: "orders-0"
	Segments       []storage.Segment
	LogStartOffset kafka.Offset
	Clock          func(kafka.Timestamp) string // how timestamps are written; nil: as numbers

	// How a page opens what is found.
	Batch   func(text string, b Found) view.Item
	Segment func(text string, s storage.Segment) view.Item
	Links   func(offset kafka.Offset, s storage.Segment) []view.Link // of the batch found and of its segment
}

// Found is a batch where it was found.
type Found struct {
	Segment  storage.Segment
	Position int
	Batch    record.Batch
}

// Bytes that a lookup reads: an entry of an index, and of a batch the header.
const (
	offsetEntrySize = 8
	timeEntrySize   = 12
)

// Offset shows how a read finds an offset that the segments hold: the segment, the index entry, the batches from there.
func (s Search) Offset(in *view.Inspector, offset kafka.Offset) {
	found, ok, err := storage.Find(s.Segments, offset)
	if err != nil {
		panic(fmt.Sprintf("%s: offset %d: %v", s.Name, offset, err))
	}
	if !ok {
		in.AddFact("Answer", "no bytes: the cleaner took all from %d on", offset)
		return
	}
	segment, lookup := s.Segments[found.Segment], found.Lookup
	batch := found.Scanned[len(found.Scanned)-1]
	in.AddFact("1. Segment", "%s", s.choice(found.Segment, offset))
	s.indexFact(in, "2. Index", segment, lookup.IndexEntryNumber, lookup.IndexEntry, offset, len(found.Search))
	in.AddFact("3. Scan", "%s looked at, %s passed over, up to the first whose last offset is ≥ %d", kafka.Count(lookup.BatchesScanned, "batch"), kafka.Count(lookup.BytesScanned(), "byte"), offset)
	in.AddFact("Answer", "the batch of %s at byte %s", offsetWords(batch.BaseOffset, batch.LastOffset()), kafka.Thousands(lookup.Position))
	if batch.BaseOffset < offset {
		if before := recordsBefore(batch, offset); before > 0 {
			in.AddFact("Begins below", "a read gives whole batches; the consumer drops %s before %d", kafka.Count(before, "record"), offset)
		}
	}
	if batch.BaseOffset > offset {
		in.AddFact("Gap", "no record has offset %d any more; the read goes on with the next batch", offset)
	}
	in.AddFact("Bytes read", "%s", bytesRead(0, len(found.Search), lookup.BatchesScanned, 0))
	inSegment := without(segment, max(offset, segment.BaseOffset))
	before, passed := s.before(found.Segment)
	in.AddFact("Without index", "from the start of the segment: %s, %s passed over, %s", kafka.Count(inSegment.BatchesScanned, "batch"), kafka.Count(inSegment.BytesScanned(), "byte"), headersRead(inSegment.BatchesScanned))
	in.AddFact("Without segments", "from the start of the log: %s, %s passed over, %s", kafka.Count(before+inSegment.BatchesScanned, "batch"), kafka.Count(passed+inSegment.BytesScanned(), "byte"), headersRead(before+inSegment.BatchesScanned))
	in.Links = append(in.Links, s.Links(offset, segment)...)
	scan := s.scanTable("3. The scan, batch after batch", segment, lookup.IndexEntry.Position, found.Scanned, func(b record.Batch) string {
		if b.LastOffset() < offset {
			return fmt.Sprintf("%d < %d: the next", b.LastOffset(), offset)
		}
		return fmt.Sprintf("%d ≥ %d: here", b.LastOffset(), offset)
	})
	in.Tables = append(in.Tables, s.segmentTable(found.Segment), searchTable("2. The binary search in the offset index", found.Search, offset), scan)
}

// choice says which segment a read begins in. Where the one with the greatest base offset ≤ the target has nothing from
// there on, as after a cleaning, the search goes on.
func (s Search) choice(chosen int, offset kafka.Offset) string {
	name := func(i int) string { return storage.SegmentFileName(s.Segments[i].BaseOffset, storage.LogSuffix) }
	floor := chosen
	for floor > 0 && s.Segments[floor].BaseOffset > offset {
		floor--
	}
	text := fmt.Sprintf("%s: base offset %d is the greatest ≤ %d of %s", name(floor), s.Segments[floor].BaseOffset, offset, kafka.Count(len(s.Segments), "segment"))
	switch skipped := chosen - floor; {
	case skipped == 1:
		text += fmt.Sprintf("; it has nothing from %d on, so the search goes on with %s", offset, name(chosen))
	case skipped > 1:
		text += fmt.Sprintf("; it and %s behind it have nothing from %d on, so the search goes on with %s", kafka.Count(skipped-1, "segment"), offset, name(chosen))
	}
	return text
}

// offsetWords writes the offsets of a batch with their noun: "offset 6", "offsets 3 to 5".
func offsetWords(from, to kafka.Offset) string {
	if from == to {
		return "offset " + Offsets(from, to)
	}
	return "offsets " + Offsets(from, to)
}

// indexFact says where the offset index lets a scan begin.
func (s Search) indexFact(in *view.Inspector, name string, segment storage.Segment, number int, entry storage.OffsetEntry, offset kafka.Offset, steps int) {
	n := kafka.Count(len(segment.OffsetEntries()), "entry")
	if number < 0 {
		in.AddFact(name, "none of %s is ≤ %d, so the scan begins at byte 0", n, offset)
		return
	}
	in.AddFact(name, "entry %d, offset %d, is the greatest ≤ %d of %s: the scan begins at byte %s, found in %s", number, entry.Offset, offset, n, kafka.Thousands(entry.Position), kafka.Count(steps, "step"))
}

// bytesRead counts what a lookup reads: entries of the time index and of the offset index, headers of batches, and the
// records of those that were read whole.
func bytesRead(times, offsets, headers, records int) string {
	text, sum := "", 0
	add := func(n int, words string) {
		if n == 0 {
			return
		}
		if text != "" {
			text += ", "
		}
		text += words
		sum += n
	}
	add(times*timeEntrySize, fmt.Sprintf("%s of the time index × %d", kafka.Count(times, "entry"), timeEntrySize))
	add(offsets*offsetEntrySize, fmt.Sprintf("%s of the offset index × %d", kafka.Count(offsets, "entry"), offsetEntrySize))
	add(headers*record.HeaderSize, headersRead(headers))
	add(records, fmt.Sprintf("%s of records", kafka.Count(records, "byte")))
	return fmt.Sprintf("%s: %s", kafka.Count(sum, "byte"), text)
}

// headersRead counts the bytes of so many batches' headers.
func headersRead(n int) string {
	return fmt.Sprintf("%s × %d = %s", kafka.Count(n, "header"), record.HeaderSize, kafka.Thousands(n*record.HeaderSize))
}

// before counts the batches and bytes of the segments before that one.
func (s Search) before(index int) (n, bytes int) {
	for _, earlier := range s.Segments[:index] {
		n, bytes = n+len(batches(earlier)), bytes+len(earlier.Bytes)
	}
	return n, bytes
}

// without is the lookup in a segment that has no index.
func without(s storage.Segment, offset kafka.Offset) storage.Lookup {
	s.OffsetIndex = nil
	found, _, err := storage.Find([]storage.Segment{s}, offset)
	if err != nil {
		panic(err) // with the index there was none
	}
	return found.Lookup
}

// searchTable shows the binary search in the offset index.
func searchTable(caption string, steps []storage.SearchStep, offset kafka.Offset) view.Table {
	t := view.Table{ID: "search", Caption: caption, Head: []string{"Entries left", "In the middle", "Its offset", "So"}, Mono: true}
	for _, s := range steps {
		t.Rows = append(t.Rows, stepRow(s, fmt.Sprint(s.Offset), fmt.Sprint(offset)))
	}
	if len(steps) == 0 {
		t.More = "The index has no entry."
	}
	return t
}

// stepRow is one step of a binary search for the greatest number ≤ the target.
func stepRow(s storage.SearchStep, found, target string) view.Row {
	so := fmt.Sprintf("≤ %s: go on after it", target)
	if s.Above {
		so = fmt.Sprintf("> %s: go on before it", target)
	}
	return Cells(Offsets(kafka.Offset(s.Low), kafka.Offset(s.High-1)), fmt.Sprintf("entry %d", s.Middle), found, so)
}

// recordsBefore counts the records of a batch below an offset.
func recordsBefore(b record.Batch, offset kafka.Offset) (n int) {
	for s := b.Scan(); s.Next() && s.Record().Offset < offset; {
		n++
	}
	return n
}

// scanTable shows the batches that were looked at, from a position on; the last one is where the scan ended.
func (s Search) scanTable(caption string, segment storage.Segment, position int, scanned []record.Batch, so func(record.Batch) string) view.Table {
	t := view.Table{ID: "scan", Caption: caption, Head: []string{"Byte", "Offsets", "Bytes", "So"}, Mono: true}
	n := len(scanned)
	from, to := around(n, n)
	for i, b := range scanned {
		if i >= from && i < to {
			item := s.Batch(Offsets(b.BaseOffset, b.LastOffset()), Found{segment, position, b})
			t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{view.Plain(kafka.Thousands(position)), {item}, view.Plain(kafka.Thousands(b.Size())), view.Plain(so(b))}, Selected: i == n-1})
		}
		position += b.Size()
	}
	t.More = RowsLeft(from, to, n, "batch")
	return t
}

// segmentTable lists the segments around one of them.
func (s Search) segmentTable(index int) view.Table {
	t := view.Table{ID: "segments", Caption: "All segments of " + s.Name, Head: []string{"Base offset", "Bytes"}, Mono: true}
	from, to := around(len(s.Segments), index)
	for i, segment := range s.Segments[from:to] {
		item := s.Segment(fmt.Sprint(segment.BaseOffset), segment)
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{item}, view.Plain(kafka.Thousands(len(segment.Bytes)))}, Selected: from+i == index})
	}
	t.More = RowsLeft(from, to, len(s.Segments), "segment")
	return t
}
