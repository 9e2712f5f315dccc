package main

import (
	"encoding/hex"
	"fmt"
	"strings"

	"loglab/engine/record"
)

// writeText writes the batch for a reader: one line, then the records or the fields.
func (b dumpedBatch) writeText(out *printer, anatomy bool) {
	fmt.Fprintf(out, "byte %d: %s\n", b.position, b.summary())
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
	for s := b.records; s.Next(); {
		b.writeRecordText(out, s.Record())
	}
}

// summary is the batch's header in one line.
func (b dumpedBatch) summary() string {
	parts := []string{
		fmt.Sprintf("offsets %d to %d", b.BaseOffset, b.LastOffset()),
		plural(int(b.RecordsCount), "record"),
		plural(b.Size(), "byte"),
		fmt.Sprintf("epoch %d", b.PartitionLeaderEpoch),
		fmt.Sprintf("%v %d", b.Attributes.TimestampType(), b.MaxTimestamp),
	}
	if codec := b.Attributes.Codec(); codec != record.None {
		parts = append(parts, codec.String())
	}
	if b.ProducerID >= 0 {
		producer := fmt.Sprintf("producer %d epoch %d", b.ProducerID, b.ProducerEpoch)
		if b.BaseSequence >= 0 {
			producer += fmt.Sprintf(" sequences %d to %d", b.BaseSequence, b.LastSequence())
		}
		parts = append(parts, producer)
	}
	if b.Attributes.Transactional() {
		parts = append(parts, "transactional")
	}
	if b.Attributes.Control() {
		parts = append(parts, "control")
	}
	if horizon, ok := b.DeleteHorizon(); ok {
		parts = append(parts, fmt.Sprintf("delete horizon %d", horizon))
	}
	crc := "right"
	if !b.crcValid {
		crc = "WRONG"
	}
	return strings.Join(append(parts, fmt.Sprintf("crc %08x %s", b.CRC, crc)), ", ")
}

func (b dumpedBatch) writeRecordText(out *printer, r record.Record) {
	out.int("  ", int64(r.Offset))
	out.int("  ", int64(r.Timestamp))
	out.text("  ")
	if text, is := b.describeControl(r); is {
		out.text(text)
	} else {
		out.b = record.AppendPrintable(out.b, r.Key)
		out.text(" = ")
		out.b = record.AppendPrintable(out.b, r.Value)
		for _, h := range r.Headers {
			out.text("  ")
			out.b = record.AppendPrintable(out.b, []byte(h.Key))
			out.text(": ")
			out.b = record.AppendPrintable(out.b, h.Value)
		}
	}
	out.text("\n")
	out.wrote()
}

// describeControl says what a control record means, if this is one that can be read.
func (b dumpedBatch) describeControl(r record.Record) (text string, is bool) {
	if !b.Attributes.Control() {
		return "", false
	}
	c, err := record.DecodeControl(r)
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
	return fmt.Sprintf("%d %ss", n, noun)
}
