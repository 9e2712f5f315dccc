package files

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// FileTable lists the files of a directory, each with the way to its bytes and, where download is set, to a copy.
func (d Directory) FileTable(s Shown, w Ways, download func(name string) string) view.Table {
	t := view.Table{ID: "files", Caption: "Files of " + d.Name + "/", Head: []string{"File", "Bytes", "What it holds"}}
	if download != nil {
		t.Head = append(t.Head, "Copy")
	}
	at := 0
	for i, f := range d.Files {
		if f.Name == s.File {
			at = i
		}
	}
	from, to := window(len(d.Files), at-inspect.RowsShown/2)
	for i, f := range d.Files[from:to] {
		id := fmt.Sprintf("file-%d", from+i)
		shown := NoTarget
		shown.View, shown.File = Bytes, f.Name
		row := view.Row{Items: [][]view.Item{w.item(id, f.Name, "", shown), view.Plain(kafka.Thousands(len(f.Bytes))), view.Plain(describe(f.Name))}, Selected: s.View == Bytes && f.Name == s.File}
		if download != nil {
			copied := view.Link{ID: id + "-copy", Text: "Download", Label: "Download " + f.Name, Href: download(f.Name)}
			row.Items = append(row.Items, []view.Item{{Text: copied.Text, Link: &copied}})
		}
		t.Rows = append(t.Rows, row)
	}
	t.More = inspect.RowsLeft(from, to, len(d.Files), "file")
	return t
}

// ShowBatches lists batches of a segment around the one chosen, and its records. It reports false where the directory
// has no such segment.
func (d Directory) ShowBatches(in *view.Inspector, s Shown, w Ways) bool {
	segment := d.segment(s.Segment)
	if segment == nil {
		return false
	}
	segment.show(in, s, w)
	return true
}

// show lists batches and records.
func (s *segment) show(in *view.Inspector, shown Shown, w Ways) {
	n := len(s.starts)
	in.AddFact("Read", "%s with %s in %s", kafka.Count(n, "batch"), kafka.Count(s.records(), "record"), kafka.Count(len(s.Bytes), "byte"))
	if n > 0 {
		in.AddFact("Offsets", "%s", inspect.Offsets(s.FirstOffset, s.LastOffset))
		in.AddFact("Largest time", "%s", inspect.Moment(s.LargestTimestamp))
	}
	s.addCompared(in)
	s.addUnused(in)
	if len(s.findings) > 0 {
		in.Links = append(in.Links, w.link("held", "Where the files disagree", "", s.toFinding(0)))
	}
	if s.fault != nil {
		in.AddFact("At fault", "%s, %v. What follows is not read.", s.log.Name, s.fault)
		in.Links = append(in.Links, w.link("fault", "The bytes at fault", "", s.toFault()))
	}
	if n == 0 {
		return
	}
	chosen := max(0, s.batchHolding(shown.Batch))
	in.Tables = append(in.Tables, s.batchTable(chosen, w), s.recordTable(chosen, shown.Record, w))
	in.Links = append(in.Links, s.listLinks(chosen, shown.Record, w)...)
}

// records counts the records of all batches.
func (s *segment) records() int {
	n := 0
	for i := range s.starts {
		n += int(s.batch(i).RecordsCount)
	}
	return n
}

// to is what shows a batch, by its place, and its records from one on.
func (s *segment) to(batch, record int) Shown {
	next := NoTarget
	next.Segment, next.Batch, next.Record = s.BaseOffset, s.starts[batch], record
	return next
}

// batchTable lists the batches around one.
func (s *segment) batchTable(chosen int, w Ways) view.Table {
	t := view.Table{ID: "batches", Caption: "Batches of " + s.log.Name, Head: []string{"Byte", "Offsets", "Bytes", "Records", "Kind", "Leader epoch", "Index entry"}, Mono: true}
	indexed := map[int]kafka.Offset{}
	for _, e := range s.OffsetEntries() {
		indexed[e.Position] = e.Offset
	}
	from, to := window(len(s.starts), chosen-inspect.RowsShown/2)
	for i := from; i < to; i++ {
		b, entry := s.batch(i), ""
		if offset, ok := indexed[s.starts[i]]; ok {
			entry = fmt.Sprint(offset)
		}
		offsets := inspect.Offsets(b.BaseOffset, b.LastOffset())
		bytes := NoTarget
		bytes.View, bytes.File, bytes.Byte = Bytes, s.log.Name, s.starts[i]
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			w.item(fmt.Sprintf("bytes-%d", s.starts[i]), kafka.Thousands(s.starts[i]), "Bytes of the batch at byte "+kafka.Thousands(s.starts[i]), bytes),
			w.item(fmt.Sprintf("batch-%d", s.starts[i]), offsets, "Records of offsets "+offsets, s.to(i, 0)),
			view.Plain(kafka.Thousands(b.Size())), view.Plain(kafka.Thousands(b.RecordsCount)), view.Plain(kindOfBatch(b)), view.Plain(fmt.Sprint(b.PartitionLeaderEpoch)), view.Plain(entry),
		}, Selected: i == chosen})
	}
	t.More = inspect.RowsLeft(from, to, len(s.starts), "batch")
	return t
}

// kindOfBatch is codec and flags in a few words.
func kindOfBatch(b record.Batch) string {
	text := "data"
	switch {
	case b.Attributes.Control():
		text = "control"
	case b.Attributes.Transactional():
		text = "transactional"
	case b.ProducerID >= 0:
		text = "idempotent"
	}
	if codec := b.Attributes.Codec(); codec != record.None {
		text += ", " + codec.String()
	}
	return text
}

// recordTable lists records of a batch from one on.
func (s *segment) recordTable(batch, first int, w Ways) view.Table {
	b, at := s.batch(batch), s.starts[batch]
	t := view.Table{ID: "records", Caption: "Records of the batch at byte " + kafka.Thousands(at), Head: []string{"Offset", "Time", "Key", "Value", "Headers"}, Mono: true}
	from, to := window(int(b.RecordsCount), first)
	i := 0
	for scan := b.Scan(); i < to && scan.Next(); i++ {
		if i < from {
			continue
		}
		r := scan.Record()
		bytes := NoTarget
		bytes.View, bytes.File, bytes.Byte = Bytes, s.log.Name, at+record.HeaderSize+r.Position
		if b.Attributes.Codec() != record.None {
			bytes.Inside, bytes.Batch, bytes.Byte = true, at, r.Position
		}
		key, value := record.Printable(r.Key), record.Printable(r.Value)
		if b.Attributes.Control() {
			if c, err := record.DecodeControl(r); err == nil {
				key = c.Type.String()
			}
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			w.item(fmt.Sprintf("record-%d", i), fmt.Sprint(r.Offset), fmt.Sprintf("Bytes of the record with offset %d", r.Offset), bytes),
			view.Plain(inspect.Moment(r.Timestamp)), view.Plain(key), view.Plain(value), view.Plain(inspect.Headers(r.Headers)),
		}})
	}
	t.More = inspect.RowsLeft(from, to, int(b.RecordsCount), "record")
	if b.RecordsCount == 0 {
		t.More = "None is left: the cleaner keeps the header for its producer's last sequence."
	}
	return t
}

// listLinks lead along the batches, and along the records of the one chosen.
func (s *segment) listLinks(chosen, first int, w Ways) []view.Link {
	n := len(s.starts)
	move := func(id, text string, batch, record int) view.Link {
		batch = max(0, min(batch, n-1))
		link := w.link(id, text, "", s.to(batch, record))
		link.Inactive = batch == chosen && record == first
		return link
	}
	links := []view.Link{
		move("batches-start", "First batch", 0, 0), move("batches-before", "12 batches back", chosen-inspect.RowsShown, 0),
		move("batches-after", "12 batches on", chosen+inspect.RowsShown, 0), move("batches-end", "Last batch", n-1, 0),
	}
	if records := int(s.batch(chosen).RecordsCount); records > inspect.RowsShown {
		from, to := window(records, first)
		links = append(links, move("records-before", "Records before", chosen, max(0, from-inspect.RowsShown)), move("records-after", "Records after", chosen, min(to, records-inspect.RowsShown)))
	}
	return links
}

// window gives the range of at most inspect.RowsShown rows out of n that begins with row from, or as near as there are rows.
func window(n, from int) (int, int) {
	from = max(0, min(from, n-inspect.RowsShown))
	return from, min(from+inspect.RowsShown, n)
}
