package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"loglab/engine/record"
)

// dumpCmd prints the record batches of one segment, ours or a real broker's.
type dumpCmd struct {
	File    string `arg:"" help:"A segment: a .log file of a partition's directory."`
	JSON    bool   `name:"json" help:"Print one JSON object a batch."`
	Anatomy bool   `help:"Print every field of every batch with its offset, width, bytes, value and meaning."`
}

// Run reads the file batch by batch. It ends at the first batch that is torn or corrupt, with exit
// status 1; what can't be read at all is exit status 2.
func (c *dumpCmd) Run(std *stdio) error {
	file, err := os.Open(c.File)
	if err != nil {
		return badInput("%v", err)
	}
	defer file.Close()
	out := bufio.NewWriter(std.Out)
	err = c.dump(bufio.NewReaderSize(file, 64<<10), out)
	if flushed := out.Flush(); flushed != nil {
		return badInput("write: %v", flushed)
	}
	return err
}

// dump prints the batches of r and returns an exitError.
func (c *dumpCmd) dump(r io.Reader, out *bufio.Writer) error {
	segment := segmentReader{r: r}
	for {
		batch, err := segment.next()
		switch {
		case err == record.ErrEnd:
			return nil
		case errors.Is(err, record.ErrTorn) || errors.Is(err, record.ErrCorrupt):
			return c.no(segment.position, err)
		case err != nil:
			return badInput("%s: byte %d: %v", c.File, segment.position, err)
		}
		// What the batch holds is printed only if it is what was written and can be decoded.
		crcErr := batch.CheckCRC()
		err = crcErr
		if err == nil {
			err = checkRecords(batch)
		}
		item := dumpedBatch{Batch: batch, position: segment.position, crcValid: crcErr == nil, readable: err == nil}
		if c.JSON {
			item.writeJSON(out, c.Anatomy)
		} else {
			item.writeText(out, c.Anatomy)
		}
		if err != nil {
			return c.no(segment.position, err)
		}
		segment.skip(batch)
	}
}

// no is the answer for a bad batch: the file, the byte at which the batch begins, and what is wrong.
func (c *dumpCmd) no(position int64, err error) error {
	var at *record.PositionError
	if errors.As(err, &at) && at.Position > 0 {
		return exitError{Code: exitNo, Msg: fmt.Sprintf("%s: byte %d: %v: at its byte %d: %s", c.File, position, at.Kind, at.Position, at.What)}
	}
	if at != nil {
		return exitError{Code: exitNo, Msg: fmt.Sprintf("%s: byte %d: %v: %s", c.File, position, at.Kind, at.What)}
	}
	return exitError{Code: exitNo, Msg: fmt.Sprintf("%s: byte %d: %v", c.File, position, err)}
}

// checkRecords walks over all records.
func checkRecords(b record.Batch) error {
	s := b.Scan()
	for s.Next() {
	}
	return s.Err()
}

// maxDumpedBatch bounds what one batch may hold in memory. A broker's max.message.bytes is 1 MiB unless
// it was raised.
const maxDumpedBatch = 64 << 20

// segmentReader reads one batch at a time. Its memory is one batch's, and grows with the bytes that are
// really there.
type segmentReader struct {
	r        io.Reader
	position int64 // of the batch that next returned or failed at
	buffer   bytes.Buffer
}

// next reads the batch at position. Besides the errors of record.Parse there are those of the reader.
// The batch is valid until the next call.
func (s *segmentReader) next() (record.Batch, error) {
	const beforeCRC = 17 // offset, length, leader epoch and magic: all that says how to go on
	s.buffer.Reset()
	if err := s.read(beforeCRC); err != nil {
		return record.Batch{}, err
	}
	if prefix := s.buffer.Bytes(); len(prefix) == beforeCRC {
		// A length that can't be is left to Parse, which also looks at the magic.
		length := int64(int32(binary.BigEndian.Uint32(prefix[8:])))
		size := length + 12
		if size > maxDumpedBatch && prefix[16] == record.Magic {
			return record.Batch{}, &record.PositionError{Kind: record.ErrCorrupt, Position: 8,
				What: fmt.Sprintf("batchLength is %d, allowed here are up to %d", length, maxDumpedBatch-12)}
		}
		if size >= record.HeaderSize && size <= maxDumpedBatch {
			if err := s.read(size - beforeCRC); err != nil {
				return record.Batch{}, err
			}
		}
	}
	return record.Parse(s.buffer.Bytes())
}

// read adds up to n bytes to the buffer; fewer if the file ends.
func (s *segmentReader) read(n int64) error {
	_, err := io.CopyN(&s.buffer, s.r, n)
	if err == io.EOF {
		return nil
	}
	return err
}

// skip moves the position behind the batch.
func (s *segmentReader) skip(b record.Batch) { s.position += int64(b.Size()) }

// dumpedBatch is one batch on its way to the output.
type dumpedBatch struct {
	record.Batch
	position int64
	crcValid bool
	readable bool // the records can be decoded
}

// fields gives the anatomy of the batch and, if it is compressed, of the decompressed records. A batch
// that is not readable has only its header's.
func (b dumpedBatch) fields() (batch, records []record.Field) {
	batch, _ = record.Anatomy(b.Bytes())
	if !b.readable {
		end := 0
		for end < len(batch) && batch[end].Offset < record.HeaderSize {
			end++
		}
		return batch[:end], nil
	}
	if b.Attributes.Codec() != record.None {
		records, _ = record.RecordsAnatomy(b.Bytes())
	}
	return batch, records
}

// batchJSON is the part of a batch's object that stands before the records.
type batchJSON struct {
	BaseOffset           int64  `json:"base_offset"`
	BatchLength          int32  `json:"batch_length"`
	PartitionLeaderEpoch int32  `json:"partition_leader_epoch"`
	Magic                int8   `json:"magic"`
	CRC32C               uint32 `json:"crc32c"`
	CRCValid             bool   `json:"crc_valid"`
	Attributes           int16  `json:"attributes"`
	Compression          string `json:"compression"`
	Transactional        bool   `json:"transactional"`
	Control              bool   `json:"control"`
	LastOffsetDelta      int32  `json:"last_offset_delta"`
	BaseTimestamp        int64  `json:"base_timestamp"`
	MaxTimestamp         int64  `json:"max_timestamp"`
	ProducerID           int64  `json:"producer_id"`
	ProducerEpoch        int16  `json:"producer_epoch"`
	BaseSequence         int32  `json:"base_sequence"`
	NumRecords           int32  `json:"num_records"`
}

type recordJSON struct {
	Offset    int64        `json:"offset"`
	Timestamp int64        `json:"timestamp"`
	KeyHex    *string      `json:"key_hex"`
	ValueHex  *string      `json:"value_hex"`
	Headers   []headerJSON `json:"headers"`
}

type headerJSON struct {
	Key      string  `json:"key"`
	ValueHex *string `json:"value_hex"`
}

type fieldJSON struct {
	Name    string `json:"name"`
	Offset  int    `json:"offset"`
	Width   int    `json:"width"`
	Hex     string `json:"hex"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
	Record  int    `json:"record"`
}

// hexOrNull is null for a nil slice.
func hexOrNull(p []byte) *string {
	if p == nil {
		return nil
	}
	text := hex.EncodeToString(p)
	return &text
}

// writeJSON writes the batch as one line. The records are written one by one, not gathered.
func (b dumpedBatch) writeJSON(out *bufio.Writer, anatomy bool) {
	head := marshal(batchJSON{
		BaseOffset: int64(b.BaseOffset), BatchLength: b.BatchLength, PartitionLeaderEpoch: int32(b.PartitionLeaderEpoch),
		Magic: b.Magic, CRC32C: b.CRC, CRCValid: b.crcValid, Attributes: int16(b.Attributes),
		Compression: b.Attributes.Codec().String(), Transactional: b.Attributes.Transactional(), Control: b.Attributes.Control(),
		LastOffsetDelta: b.LastOffsetDelta, BaseTimestamp: int64(b.BaseTimestamp), MaxTimestamp: int64(b.MaxTimestamp),
		ProducerID: int64(b.ProducerID), ProducerEpoch: int16(b.ProducerEpoch), BaseSequence: int32(b.BaseSequence),
		NumRecords: b.RecordsCount,
	})
	out.Write(head[:len(head)-1]) // without the closing brace
	if b.readable {
		out.WriteString(`,"records":[`)
		s := b.Scan()
		for comma := ""; s.Next(); comma = "," {
			out.WriteString(comma)
			out.Write(marshal(toRecordJSON(s.Record())))
		}
		out.WriteString("]")
	}
	if anatomy {
		fields, inner := b.fields()
		writeFieldsJSON(out, "anatomy", fields)
		if inner != nil {
			writeFieldsJSON(out, "records_anatomy", inner)
		}
	}
	out.WriteString("}\n")
}

func toRecordJSON(r record.Record) recordJSON {
	j := recordJSON{
		Offset: int64(r.Offset), Timestamp: int64(r.Timestamp),
		KeyHex: hexOrNull(r.Key), ValueHex: hexOrNull(r.Value), Headers: []headerJSON{},
	}
	for _, h := range r.Headers {
		j.Headers = append(j.Headers, headerJSON{Key: h.Key, ValueHex: hexOrNull(h.Value)})
	}
	return j
}

func writeFieldsJSON(out *bufio.Writer, name string, fields []record.Field) {
	fmt.Fprintf(out, ",%q:[", name)
	for i, f := range fields {
		if i > 0 {
			out.WriteString(",")
		}
		out.Write(marshal(fieldJSON{
			Name: f.Name, Offset: f.Offset, Width: f.Width, Hex: hex.EncodeToString(f.Raw),
			Value: f.Value, Meaning: f.Meaning, Record: f.Record,
		}))
	}
	out.WriteString("]")
}

// marshal encodes one of the structs above, which can't fail.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("loglab dump: %v", err))
	}
	return b
}

// writeText writes the batch for a reader: one line, then the records or the fields.
func (b dumpedBatch) writeText(out *bufio.Writer, anatomy bool) {
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
	s := b.Scan()
	for s.Next() {
		r := s.Record()
		fmt.Fprintf(out, "  %d  %d  %s\n", r.Offset, r.Timestamp, b.describeRecord(r))
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

func (b dumpedBatch) describeRecord(r record.Record) string {
	if b.Attributes.Control() {
		if c, err := record.DecodeControl(r); err == nil {
			if c.Type == record.Abort || c.Type == record.Commit {
				return fmt.Sprintf("%v, coordinator epoch %d", c.Type, c.CoordinatorEpoch)
			}
			return c.Type.String()
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s = %s", record.Printable(r.Key), record.Printable(r.Value))
	for _, h := range r.Headers {
		fmt.Fprintf(&text, "  %s: %s", record.Printable([]byte(h.Key)), record.Printable(h.Value))
	}
	return text.String()
}

func writeFieldsText(out *bufio.Writer, indent string, fields []record.Field) {
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
