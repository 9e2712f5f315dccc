package segments

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/files"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectFile shows a file: its bytes with every field, how much of it would survive, when it goes, and how to keep it.
func (l *layout) inspectFile(in *view.Inspector, at labs.Target) bool {
	i := slices.IndexFunc(l.files, func(f engine.DiskFile) bool { return f.Name == at.Name })
	if i < 0 {
		return false
	}
	f := l.files[i]
	in.Title = "File " + f.Name
	files.Of(partition.String(), l.files).ShowBytes(in, files.Shown{View: files.Bytes, File: f.Name, Byte: int(at.Number)}, l.ways(f.Name))
	switch lost := len(f.Bytes) - f.Synced; {
	case lost > 0:
		in.AddFact("Synced", "%s; a power loss takes the last %s", kafka.Thousands(f.Synced), kafka.Count(lost, "byte"))
	default:
		in.AddFact("Synced", "all of it")
	}
	in.Links = append(in.Links, view.Link{ID: "keep-file", Text: "Download it", Href: labs.DiskPath(l.Address, f.Name)}, view.Link{ID: "keep-directory", Text: "Download all as a zip", Href: labs.DiskPath(l.Address, "")})
	base, ok := files.BaseOffset(f.Name)
	if !ok {
		return true
	}
	kind, deleted := strings.CutSuffix(suffixOf(f.Name), storage.DeletedSuffix)
	switch kind {
	case storage.LogSuffix:
		in.AddFact("Named after", "its base offset %d, which no record in it is below, with zeros up to 20 digits", base)
	case storage.ProducerSnapshotSuffix:
		in.AddFact("Named after", "offset %d: what was known of the producers before it", base)
	default:
		in.AddFact("Named after", "the base offset %d of its segment", base)
	}
	if !deleted {
		in.Links = append(in.Links, labs.Open(l.Address, "open-segment", fmt.Sprintf("segment %d", base), target(labs.SegmentTarget, base)))
		return true
	}
	in.AddFact("Goes", "%s. It was given up, and a broker that runs keeps it for file.delete.delay.ms = %s", l.goes(f), kafka.Thousands(l.config.FileDeleteDelayMillis))
	in.Chain = l.chainOf(func(b journal.Body) bool { return gaveUp(b, base) })
	if kind == storage.LogSuffix {
		in.Tables = append(in.Tables, recordTable(l.goneCaption(base), f.Bytes))
	}
	return true
}

// goneCaption says what became of the records of a segment that is no part of the log any more.
func (l *layout) goneCaption(base kafka.Offset) string {
	if slices.ContainsFunc(l.log.Segments, func(s storage.Segment) bool { return s.BaseOffset <= base && base <= s.LastOffset }) {
		return "Its records; what the cleaner has kept of them is in the segment that took its place"
	}
	return "Its records, which nobody can read any more"
}

// ways lead from the bytes of a file to other bytes and to the batches of a segment.
func (l *layout) ways(name string) files.Ways {
	of := func(name string, byte int) labs.Target {
		return labs.Target{Kind: labs.FileTarget, Partition: partition, Name: name, Number: int64(byte)}
	}
	return files.Ways{
		Go: "replace", Field: "at",
		To: func(s files.Shown) string {
			if s.View == files.Bytes && !s.Inside {
				return labs.Open(l.Address, "", "", of(s.File, s.Byte)).Href
			}
			return labs.Open(l.Address, "", "", l.batchAt(s.Segment, s.Batch)).Href
		},
		Ask: func(files.Shown, string) (action string, hidden []view.Param) {
			return l.Address.Path() + "#inspector", append(labs.HiddenParams(l.Address, "at", "why"), view.Param{Name: "at", Value: of(name, 0).String() + ":"})
		},
	}
}

// batchAt names the batch at a byte of a segment, or the segment where none begins there.
func (l *layout) batchAt(base kafka.Offset, position int) labs.Target {
	name := storage.SegmentFileName(base, storage.LogSuffix)
	for _, f := range l.files {
		if f.Name != name || position >= len(f.Bytes) {
			continue
		}
		if b, err := record.Parse(f.Bytes[position:]); err == nil {
			return target(labs.BatchTarget, b.BaseOffset)
		}
	}
	return target(labs.SegmentTarget, base)
}

// gaveUp says whether an event gave up the segment of a base offset.
func gaveUp(b journal.Body, base kafka.Offset) bool {
	switch b := b.(type) {
	case journal.SegmentsDeleted:
		return b.TopicPartition == partition && slices.Contains(b.Segments, base)
	case journal.LogCleaned:
		return b.TopicPartition == partition && slices.Contains(b.SegmentsBefore, base)
	}
	return false
}

// recordTable lists the records in the bytes of a .log file, the first if there are many.
func recordTable(caption string, data []byte) view.Table {
	t := view.Table{ID: "records", Caption: caption, Head: []string{"Offset", "Key", "Value"}, Mono: true}
	left := 0
	for len(data) > 0 {
		b, err := record.Parse(data)
		if err != nil {
			break
		}
		data = data[b.Size():]
		for _, r := range records(b, int(b.RecordsCount)) {
			if len(t.Rows) == inspect.RowsShown {
				left++
				continue
			}
			t.Rows = append(t.Rows, inspect.Cells(fmt.Sprint(r.Offset), keyText(r.Key), valueText(r.Value)))
		}
	}
	if left > 0 {
		t.More = fmt.Sprintf("And %s more.", kafka.Count(left, "record"))
	}
	return t
}
