package files

import (
	"fmt"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// ShowBytes shows a window of a file: hex and text beside the fields. It reports false where the directory has no such
// file, or no compressed batch whose inside could be shown.
func (d Directory) ShowBytes(in *view.Inspector, s Shown, w Ways) bool {
	f, ok := d.file(s.File)
	if !ok {
		return false
	}
	segment := d.segmentOf(f.Name)
	if s.Inside {
		return segment != nil && segment.showInside(in, s, w)
	}
	s.Byte = within(s.Byte, len(f.Bytes))
	in.AddFact("File", "%s: %s", f.Name, describe(f.Name))
	in.AddFact("Size", "%s", kafka.Count(len(f.Bytes), "byte"))
	if len(f.Bytes) == 0 {
		return true
	}
	from := s.Byte
	parts := partsOf(f, segment, from-from%16, from+inspect.WindowBytes)
	caption := func(from, to int) string {
		return fmt.Sprintf("Bytes %s to %s of %s", kafka.Thousands(from), kafka.Thousands(to-1), kafka.Thousands(len(f.Bytes)))
	}
	in.Links = append(in.Links, s.window(in, parts, len(f.Bytes), w, caption)...)
	if kindOf(f.Name) == storage.OffsetIndexSuffix {
		d.linkPositions(in.Anatomies[0].Fields, f, w)
	}
	if segment != nil {
		if segment.log.Name == f.Name {
			in.Links = append(in.Links, s.batchLinks(segment, w)...)
		}
		segment.addFile(in, f.Name, w)
	}
	in.Forms = append(in.Forms, w.ask("goto", "byte", "Byte", "Go to byte", s, int64(from), int64(len(f.Bytes)-1)))
	return true
}

// linkPositions lead from the entries of an offset index to the batches in the .log of its name, if that is there.
func (d Directory) linkPositions(fields []view.ByteField, index File, w Ways) {
	base, _ := BaseOffset(index.Name)
	log, ok := d.file(logName(base))
	if !ok {
		return
	}
	for i, f := range fields {
		at, err := strconv.Atoi(f.Value)
		if !strings.HasSuffix(f.Name, " position") || err != nil || at < 0 || at >= len(log.Bytes) {
			continue
		}
		shown := NoTarget
		shown.View, shown.File, shown.Byte = Bytes, log.Name, at
		link := w.link(fmt.Sprintf("position-%d", i), "its bytes", fmt.Sprintf("its bytes, from %d on", at), shown)
		fields[i].Link = &link
	}
}

// showInside shows a window of the decompressed records of a batch.
func (s *segment) showInside(in *view.Inspector, shown Shown, w Ways) bool {
	i := -1
	if s.log.Name == shown.File {
		i = s.batchAt(shown.Batch)
	}
	if i < 0 || s.batch(i).Attributes.Codec() == record.None {
		return false
	}
	b := s.batch(i)
	size := 0
	for scan := b.Scan(); scan.Next(); {
		size += scan.Record().Size
	}
	shown.Byte = within(shown.Byte, size)
	in.AddFact("Batch", "offsets %s at byte %s of %s", inspect.Offsets(b.BaseOffset, b.LastOffset()), kafka.Thousands(shown.Batch), shown.File)
	in.AddFact("Size", "%s, %s decompressed from %s", kafka.Count(int(b.RecordsCount), "record"), kafka.Count(size, "byte"), b.Attributes.Codec())
	fields, _ := record.RecordsAnatomyBetween(b.Bytes(), shown.Byte-shown.Byte%16, shown.Byte+inspect.WindowBytes) // it was sound
	var parts []inspect.Part
	for _, f := range fields {
		parts = append(parts, inspect.Part{At: f.Offset, Raw: f.Raw, Field: inspect.FieldOf(f)})
	}
	in.Links = append(in.Links, shown.window(in, parts, size, w, func(from, to int) string {
		return fmt.Sprintf("Bytes %s to %s of the decompressed records", kafka.Thousands(from), kafka.Thousands(to-1))
	})...)
	outside := shown
	outside.Inside, outside.Byte = false, shown.Batch
	in.Links = append(in.Links, w.link("outside", "the batch in the file", "", outside))
	return true
}

// within is the nearest byte that a file of that size has.
func within(at, size int) int { return max(0, min(at, size-1)) }

// window adds the bytes from s.Byte on and gives the ways along the file.
func (s Shown) window(in *view.Inspector, parts []inspect.Part, size int, w Ways, caption func(from, to int) string) []view.Link {
	a, to := inspect.Window("bytes", "", s.Byte, size, parts)
	from := s.Byte - s.Byte%16
	a.Caption = caption(from, to)
	in.Anatomies = append(in.Anatomies, a)
	last := within(size-1, size)
	last -= last % 16
	move := func(id, text string, to int) view.Link {
		next := s
		next.Byte = within(to, size)
		link := w.link(id, text, "", next)
		link.Inactive = next.Byte == s.Byte
		return link
	}
	forward := to
	if to >= size {
		forward = s.Byte // there is nothing behind
	}
	return []view.Link{
		move("bytes-start", "Start of the file", 0), move("bytes-before", "Before", from-inspect.WindowBytes),
		move("bytes-after", "After", forward), move("bytes-end", "End of the file", max(from, last-inspect.WindowBytes+16)),
	}
}

// batchLinks lead from batch to batch, and from a compressed one to its records.
func (s Shown) batchLinks(segment *segment, w Ways) []view.Link {
	i := segment.batchHolding(s.Byte)
	if i < 0 || s.Byte >= len(segment.Bytes) {
		return nil
	}
	move := func(id, text string, place int) view.Link {
		next := s
		place = max(0, min(place, len(segment.starts)-1))
		next.Byte = segment.starts[place]
		link := w.link(id, text, "", next)
		link.Inactive = next.Byte == s.Byte
		return link
	}
	before := i
	if segment.starts[i] == s.Byte {
		before--
	}
	links := []view.Link{move("batch-before", "Batch before", before), move("batch-after", "Batch after", i+1)}
	listed := NoTarget
	listed.Segment, listed.Batch = segment.BaseOffset, segment.starts[i]
	links = append(links, w.link("list-batch", "its records", "", listed))
	if segment.batch(i).Attributes.Codec() != record.None {
		inside := s
		inside.Inside, inside.Batch, inside.Byte = true, segment.starts[i], 0
		links = append(links, w.link("inside", "its records, decompressed", "", inside))
	}
	return links
}

// Names of the files of a segment.
func logName(base kafka.Offset) string { return storage.SegmentFileName(base, storage.LogSuffix) }
