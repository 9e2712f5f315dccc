package inspect

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// Batch shows a batch: its header and one of its records, byte by byte, and the way to the others.
func (l Log) Batch(in *view.Inspector, at Location) {
	b := at.Batch
	in.AddFact("Records", "%s, %s %s", kafka.Count(int(b.RecordsCount), "record"), labs.Verb(int(b.RecordsCount), "offset", "offsets"), Offsets(b.BaseOffset, b.LastOffset()))
	in.AddFact("Size", "%s: %d of header, %s of records%s", kafka.Count(b.Size(), "byte"), record.HeaderSize, kafka.Thousands(b.Size()-record.HeaderSize), compression(b))
	in.AddFact("Place", "bytes %s to %s of %s", kafka.Thousands(at.Position), kafka.Thousands(at.Position+b.Size()-1), storage.SegmentFileName(at.Segment.BaseOffset, storage.LogSuffix))
	in.AddFact("CRC-32C", "%s", checksum(b))
	in.Links = append(l.recordLinks(at),
		l.open("open-segment", "the segment", labs.SegmentTarget, at.Segment.BaseOffset))
	in.Chain = l.appendChain(at)

	fields, err := record.Anatomy(b.Bytes())
	if err != nil {
		in.AddFact("Damaged", "%v", err)
	}
	d := newDissector("batch", fmt.Sprintf("The batch’s header and record %d", at.Record.Offset))
	if b.Attributes.Codec() != record.None {
		d.Caption = "The batch: its header and its compressed records"
		d.fields(ofRecord(fields, -1), 0)
		in.Anatomies = []view.Anatomy{d.done(), recordAnatomy(at)}
		if at.Index < 0 {
			in.Anatomies = in.Anatomies[:1]
		}
		return
	}
	d.fields(ofRecord(fields, -1), 0)
	if at.Index < 0 {
		d.Caption = "The batch’s header: the cleaner took its records and kept it"
		in.Anatomies = []view.Anatomy{d.done()}
		return
	}
	if at.Index > 0 {
		d.gap(-1, fmt.Sprintf("… %s before it, %s …", kafka.Count(at.Index, "record"), kafka.Count(at.Record.Position, "byte")))
	}
	d.fields(ofRecord(fields, at.Index), 0)
	if rest := b.Size() - record.HeaderSize - at.Record.Position - at.Record.Size; rest > 0 {
		d.gap(-1, fmt.Sprintf("… %s after it, %s …", kafka.Count(int(b.RecordsCount)-at.Index-1, "record"), kafka.Count(rest, "byte")))
	}
	in.Anatomies = []view.Anatomy{d.done()}
}

// compression says what the records of a compressed batch would take without.
func compression(b record.Batch) string {
	codec := b.Attributes.Codec()
	if codec == record.None {
		return ""
	}
	size := 0
	for scanner := b.Scan(); scanner.Next(); {
		size += scanner.Record().Size
	}
	return fmt.Sprintf(", which %s made of %s", codec, kafka.Thousands(size))
}

// checksum compares the batch's CRC with its bytes.
func checksum(b record.Batch) string {
	if err := b.CheckCRC(); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%08x: right, over the bytes from attributes to the end", b.CRC)
}

// recordLinks lead to the records of a batch around the one shown.
func (l Log) recordLinks(at Location) []view.Link {
	var links []view.Link
	if at.Index < 0 {
		return nil
	}
	n := int(at.Batch.RecordsCount)
	from, to := around(n, at.Index)
	if n == 1 {
		to = from // there is no other
	}
	add := func(id, text, label string, offset kafka.Offset, kind labs.TargetKind) {
		link := l.open(id, text, kind, offset)
		link.Label = label
		link.Inactive = link.Href == l.Address.String()
		links = append(links, link)
	}
	scanner := at.Batch.Scan()
	for i := 0; i < to && scanner.Next(); i++ {
		offset := scanner.Record().Offset // a batch that was cleaned has gaps
		if i < from {
			continue
		}
		add(fmt.Sprintf("batch-record-%d", offset), fmt.Sprint(offset), fmt.Sprintf("Show record %d of the batch", offset), offset, labs.BatchTarget)
	}
	add("open-record", fmt.Sprintf("record %d with its key", at.Record.Offset), "", at.Record.Offset, labs.RecordTarget)
	return links
}

// appendChain gives the causes of the append that brought the batch.
func (l Log) appendChain(at Location) []view.EventLine {
	if seq := l.AppendEvent(at.Batch.BaseOffset); seq != 0 {
		return labs.Causes(l.Frame.Frame, seq, CausesShown)
	}
	return nil
}

// recordAnatomy takes one record apart. Positions count from the batch's first byte, or from that of the
// decompressed records.
func recordAnatomy(at Location) view.Anatomy {
	caption, origin := "The record’s own bytes in the batch", record.HeaderSize
	if at.Batch.Attributes.Codec() != record.None {
		caption, origin = fmt.Sprintf("Record %d, decompressed", at.Record.Offset), 0
	}
	d := newDissector("record", caption)
	d.inside = origin == 0
	fields, err := record.RecordsAnatomy(at.Batch.Bytes())
	list := ofRecord(fields, at.Index)
	d.fields(list, origin)
	switch {
	case err != nil:
		d.More = err.Error()
	case len(list) == 0:
		d.More = "The batch has so many fields that this record is not taken apart."
	}
	return d.done()
}
