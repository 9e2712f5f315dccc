package inspect

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// Find shows how a read finds an offset: the segment, the index entry, the batches from there.
func (l Log) Find(in *view.Inspector, offset kafka.Offset) {
	in.Forms = append(in.Forms, l.wayForms(offset)...)
	start, end := l.LogStartOffset, l.LogEndOffset
	switch {
	case offset < start:
		in.AddFact("Answer", "%s: offset %d < log start offset %d", kerr.OffsetOutOfRange.Message, offset, start)
		return
	case offset > end:
		in.AddFact("Answer", "%s: offset %d > log end offset %d", kerr.OffsetOutOfRange.Message, offset, end)
		return
	case offset == end:
		in.AddFact("Answer", "no bytes: %d is the log end offset, the record that gets it has not come yet", offset)
		return
	}
	segments := l.Segments
	found, ok, err := storage.Find(segments, offset)
	if err != nil {
		panic(fmt.Sprintf("%s: offset %d below the log end %d is not found: %v", l.Partition, offset, end, err))
	}
	if !ok {
		in.AddFact("Answer", "no bytes: the cleaner took all from %d on", offset)
		return
	}
	s, lookup := segments[found.Segment], found.Lookup
	batch := found.Scanned[len(found.Scanned)-1]
	in.AddFact("1. Segment", "%s: base offset %d is the greatest ≤ %d of %s", storage.SegmentFileName(s.BaseOffset, storage.LogSuffix), s.BaseOffset, offset, kafka.Count(len(segments), "segment"))
	if lookup.IndexEntryNumber < 0 {
		in.AddFact("2. Index", "none of %s is ≤ %d, so the scan begins at byte 0", kafka.Count(len(s.OffsetEntries()), "entry"), offset)
	} else {
		in.AddFact("2. Index", "entry %d, offset %d, is the greatest ≤ %d of %s: the scan begins at byte %s, found in %s", lookup.IndexEntryNumber, lookup.IndexEntry.Offset, offset,
			kafka.Count(len(s.OffsetEntries()), "entry"), kafka.Thousands(lookup.IndexEntry.Position), kafka.Count(len(found.Search), "step"))
	}
	in.AddFact("3. Scan", "%s looked at, %s passed over, up to the first whose last offset is ≥ %d", kafka.Count(lookup.BatchesScanned, "batch"), kafka.Count(lookup.BytesScanned(), "byte"), offset)
	in.AddFact("Answer", "the batch of offsets %s at byte %s", Offsets(batch.BaseOffset, batch.LastOffset()), kafka.Thousands(lookup.Position))
	if before := recordsBefore(batch, offset); before > 0 {
		in.AddFact("Begins below", "a read gives whole batches; the consumer drops %s before %d", kafka.Count(before, "record"), offset)
	}
	if batch.BaseOffset > offset {
		in.AddFact("Gap", "no record has offset %d any more; the read goes on with the next batch", offset)
	}
	inSegment := without(s, offset)
	before, bytes := 0, 0
	for _, earlier := range segments[:found.Segment] {
		before, bytes = before+len(batches(earlier)), bytes+len(earlier.Bytes)
	}
	in.AddFact("Without index", "from the start of the segment: %s, %s passed over", kafka.Count(inSegment.BatchesScanned, "batch"), kafka.Count(inSegment.BytesScanned(), "byte"))
	in.AddFact("Without segments", "from the start of the log: %s, %s passed over", kafka.Count(before+inSegment.BatchesScanned, "batch"), kafka.Count(bytes+inSegment.BytesScanned(), "byte"))
	in.AddFact("Bytes read", "%s", bytesRead(len(found.Search)*offsetEntryBytes, ".index", lookup.BytesScanned(), bytes+inSegment.BytesScanned()))
	in.Links = append(in.Links,
		l.open("open-batch", "the batch found", labs.BatchTarget, offset),
		l.open("open-segment", "the segment", labs.SegmentTarget, s.BaseOffset))
	in.Tables = append(in.Tables, l.segmentTable(found.Segment), searchTable(found, offset), l.scanTable(found, offset))
}

// Sizes of index entries.
const (
	offsetEntryBytes = 8
	timeEntryBytes   = 12
)

// bytesRead sums up the bytes up to the batch that is found: those of index entries, and those passed over in the .log
// file, beside those that a scan from the start of the log passes over.
func bytesRead(entries int, of string, passed, scan int) string {
	return fmt.Sprintf("%s of %s and %s of .log up to the batch, %s in all; a scan of the log without index reads %s", kafka.Thousands(entries), of, kafka.Thousands(passed), kafka.Thousands(entries+passed), kafka.Thousands(scan))
}

// recordsBefore counts the records of a batch below an offset.
func recordsBefore(b record.Batch, offset kafka.Offset) (n int) {
	for s := b.Scan(); s.Next() && s.Record().Offset < offset; {
		n++
	}
	return n
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
func searchTable(found storage.Found, offset kafka.Offset) view.Table {
	t := view.Table{ID: "search", Caption: "2. The binary search in the offset index", Head: []string{"Entries left", "In the middle", "Its offset", "So"}, Mono: true}
	for _, s := range found.Search {
		so := fmt.Sprintf("≤ %d: go on after it", offset)
		if s.Above {
			so = fmt.Sprintf("> %d: go on before it", offset)
		}
		t.Rows = append(t.Rows, Cells(Offsets(kafka.Offset(s.Low), kafka.Offset(s.High-1)), fmt.Sprintf("entry %d", s.Middle), fmt.Sprint(s.Offset), so))
	}
	if len(found.Search) == 0 {
		t.More = "The index has no entry yet."
	}
	return t
}

// scanTable shows the batches that were looked at.
func (l Log) scanTable(found storage.Found, offset kafka.Offset) view.Table {
	t := view.Table{ID: "scan", Caption: "3. The scan, batch after batch", Head: []string{"Byte", "Offsets", "Bytes", "So"}, Mono: true}
	position := found.Lookup.IndexEntry.Position
	n := len(found.Scanned)
	from, to := around(n, n)
	for i, b := range found.Scanned {
		so := fmt.Sprintf("%d < %d: the next", b.LastOffset(), offset)
		if i == n-1 {
			so = fmt.Sprintf("%d ≥ %d: here", b.LastOffset(), offset)
		}
		if i >= from && i < to {
			item := view.Item{Text: Offsets(b.BaseOffset, b.LastOffset()), At: l.Target(labs.BatchTarget, b.BaseOffset).String()}
			t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{view.Plain(kafka.Thousands(position)), {item}, view.Plain(kafka.Thousands(b.Size())), view.Plain(so)}, Selected: i == n-1})
		}
		position += b.Size()
	}
	t.More = rowsLeft(from, to, n, "batch")
	return t
}
