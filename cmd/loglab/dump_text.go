package main

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"loglab/engine/record"
)

// writeText writes the batch for a reader: one line, then the records or the fields.
func (b *dumpedBatch) writeText(out *printer, anatomy bool) {
	b.writeSummary(out)
	if anatomy {
		fields, inner := b.fields()
		writeFieldsText(out, "  ", fields)
		if inner != nil {
			fmt.Fprintln(out, "  decompressed:")
			writeFieldsText(out, "    ", inner)
		}
		return
	}
	if !b.readable {
		return
	}
	s := b.records // not in the loop, which would copy it for each record
	for s.Next() {
		b.writeRecordText(out, s.Current())
	}
}

// writeSummary writes the batch's header in one line.
func (b *dumpedBatch) writeSummary(out *printer) {
	out.int("byte ", b.position)
	out.int(": offsets ", int64(b.BaseOffset))
	out.int(" to ", int64(b.LastOffset()))
	out.text(", " + plural(int(b.RecordsCount), "record"))
	out.text(", " + plural(b.Size(), "byte"))
	out.int(", epoch ", int64(b.PartitionLeaderEpoch))
	out.text(", ")
	out.int(b.Attributes.TimestampType().String()+" ", int64(b.MaxTimestamp))
	if codec := b.Attributes.Codec(); codec != record.None {
		out.text(", " + codec.String())
	}
	if b.ProducerID >= 0 {
		out.int(", producer ", int64(b.ProducerID))
		out.int(" epoch ", int64(b.ProducerEpoch))
		if b.BaseSequence >= 0 {
			out.int(" sequences ", int64(b.BaseSequence))
			out.int(" to ", int64(b.LastSequence()))
		}
	}
	if b.Attributes.Transactional() {
		out.text(", transactional")
	}
	if b.Attributes.Control() {
		out.text(", control")
	}
	if horizon, ok := b.DeleteHorizon(); ok {
		out.int(", delete horizon ", int64(horizon))
	}
	crc := "right"
	if !b.crcValid {
		crc = "WRONG"
	}
	fmt.Fprintf(out, ", crc %08x %s\n", b.CRC, crc)
}

func (b *dumpedBatch) writeRecordText(out *printer, r *record.Record) {
	line := append(out.b, "  "...)
	line = out.offsets.append(line, int64(r.Offset))
	line = append(line, "  "...)
	line = out.timestamps.append(line, int64(r.Timestamp))
	line = append(line, "  "...)
	if text, is := b.describeControl(r); is {
		line = append(line, text...)
	} else {
		line = record.AppendPrintable(line, r.Key)
		line = append(line, " = "...)
		line = record.AppendPrintable(line, r.Value)
		for _, h := range r.Headers {
			line = append(line, "  "...)
			line = record.AppendPrintable(line, []byte(h.Key))
			line = append(line, ": "...)
			line = record.AppendPrintable(line, h.Value)
		}
	}
	out.b = append(line, '\n')
	out.wrote()
}

// describeControl says what a control record means, if this is one that can be read.
func (b *dumpedBatch) describeControl(r *record.Record) (text string, is bool) {
	if !b.Attributes.Control() {
		return "", false
	}
	c, err := record.DecodeControl(*r)
	if err != nil {
		return "", false
	}
	if c.Type == record.Abort || c.Type == record.Commit {
		return fmt.Sprintf("%v, coordinator epoch %d", c.Type, c.CoordinatorEpoch), true
	}
	return c.Type.String(), true
}

func writeFieldsText(out *printer, indent string, fields []record.Field) {
	lastRecord := -1
	for _, f := range fields {
		if f.Record != lastRecord && f.Record >= 0 {
			fmt.Fprintf(out, "%srecord %d\n", indent, f.Record)
		}
		lastRecord = f.Record
		shown := f.Raw
		more := ""
		if len(shown) > 8 {
			shown, more = shown[:8], "…"
		}
		fmt.Fprintf(out, "%s%6d %5d  %-20s %-17s %-14s %s\n", indent, f.Offset, f.Width, f.Name, hex.EncodeToString(shown)+more, f.Value, f.Meaning)
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
