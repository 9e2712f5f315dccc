package record

import (
	"fmt"
	"hash/crc32"
	"math"

	"loglab/engine/kafka"
)

// Field is one field of a batch with the bytes that it takes.
type Field struct {
	// Name is the field's name in Kafka's documentation, for example "baseOffset" or "valueLength".
	Name string
	// Offset is the position of the first byte, in the batch or in the decompressed records.
	Offset int
	// Width is the number of bytes, never 0.
	Width int
	// Raw is the bytes themselves; shared with the batch, not to be changed.
	Raw []byte
	// Value is the number, or for keys and values the text or the bytes in hex, cut to a readable
	// length.
	Value string
	// Meaning says in a plain phrase what the value means here.
	Meaning string
	// Record is the index of the record that the field belongs to, from 0; -1 if it belongs to the
	// batch.
	Record int
}

const (
	// maxAnatomyFields is after how many fields no further record is taken apart.
	maxAnatomyFields = 10_000

	// maxAnatomyHeaders is how many headers of one record are taken apart.
	maxAnatomyHeaders = 100
)

// Anatomy takes the first batch in b apart: every byte of it lies in exactly one field, and the fields
// are in the order of the bytes. First come the 13 fields of the header, then for each record length,
// attributes, timestampDelta, offsetDelta, keyLength, key, valueLength, value, headerCount and for each
// header headerKeyLength, headerKey, headerValueLength, headerValue. A null or empty key or value has
// no field of its own. The records of a compressed batch are one field, "records": see RecordsAnatomy.
// Of a batch of some ten thousand fields the rest is one field, "records" or "headers".
//
// Errors are those of Parse, with no fields, and ErrCorrupt if a record can't be decoded or the block not
// be decompressed: then the bytes from there on are one field, "unreadable". A wrong CRC is no error
// here; the meaning of the field says so.
func Anatomy(b []byte) ([]Field, error) { return AnatomyBetween(b, 0, math.MaxInt) }

// AnatomyBetween is Anatomy without the records that lie outside the bytes from..to, to exclusive, of the batch; the
// header is always there. So any place of a batch of very many records can be taken apart.
func AnatomyBetween(b []byte, from, to int) ([]Field, error) {
	batch, err := Parse(b)
	if err != nil {
		return nil, err
	}
	fields := headerFields(batch)
	if batch.Attributes.Codec() == None {
		return appendRecordFields(fields, batch, HeaderSize, from-HeaderSize, to-HeaderSize)
	}
	block := batch.bytes[HeaderSize:]
	if len(block) == 0 {
		return fields, nil
	}
	s := batch.Scan()
	if s.err != nil {
		return append(fields, unreadable(block, HeaderSize, s.err)), s.err
	}
	return append(fields, Field{
		Name: "records", Offset: HeaderSize, Width: len(block), Raw: block, Record: -1,
		Value: kafka.Count(len(block), "byte"),
		Meaning: fmt.Sprintf("%s, %s once decompressed with %v", kafka.Count(int(batch.RecordsCount), "record"),
			kafka.Count(len(s.data), "byte"), batch.Attributes.Codec()),
	}), nil
}

// RecordsAnatomy takes the records of the first batch in b apart as Anatomy does, after
// decompression: offsets count from the first byte of the decompressed records, or of the record data if
// the batch is not compressed, and every byte of that lies in exactly one field. Errors are those of
// Anatomy; data that can't be decompressed gives no fields.
func RecordsAnatomy(b []byte) ([]Field, error) { return RecordsAnatomyBetween(b, 0, math.MaxInt) }

// RecordsAnatomyBetween is RecordsAnatomy without the records that lie outside the bytes from..to, to exclusive, of
// the decompressed records.
func RecordsAnatomyBetween(b []byte, from, to int) ([]Field, error) {
	batch, err := Parse(b)
	if err != nil {
		return nil, err
	}
	return appendRecordFields(nil, batch, 0, from, to)
}

// unreadable is the field of bytes that can't be decoded.
func unreadable(raw []byte, offset int, err error) Field {
	return Field{
		Name: "unreadable", Offset: offset, Width: len(raw), Raw: raw, Record: -1,
		Value: hexText(raw), Meaning: err.Error(),
	}
}

// headerFields takes the 61 bytes before the records apart.
func headerFields(b Batch) []Field {
	fields := make([]Field, 0, 64)
	at := 0
	add := func(name string, end int, value any, meaning string) {
		fields = append(fields, Field{
			Name: name, Offset: at, Width: end - at, Raw: b.bytes[at:end:end], Record: -1,
			Value: fmt.Sprint(value), Meaning: meaning,
		})
		at = end
	}
	add("baseOffset", atBatchLength, b.BaseOffset, describeBaseOffset(b))
	add("batchLength", atLeaderEpoch, b.BatchLength, fmt.Sprintf("%s follow this field: the batch has %s",
		kafka.Count(int(b.BatchLength), "byte"), kafka.Thousands(b.Size())))
	add("partitionLeaderEpoch", atMagic, b.PartitionLeaderEpoch, describeLeaderEpoch(b))
	add("magic", atCRC, b.Magic, "record batch v2")
	add("crc", atAttributes, fmt.Sprintf("%08x", b.CRC), describeCRC(b))
	add("attributes", atLastOffsetDelta, fmt.Sprintf("0x%04x", uint16(b.Attributes)), describeAttributes(b.Attributes))
	add("lastOffsetDelta", atBaseTimestamp, b.LastOffsetDelta, fmt.Sprintf("the last offset is %s = %s + %s",
		kafka.Thousands(b.LastOffset()), kafka.Thousands(b.BaseOffset), kafka.Thousands(b.LastOffsetDelta)))
	add("baseTimestamp", atMaxTimestamp, b.BaseTimestamp, describeBaseTimestamp(b))
	add("maxTimestamp", atProducerID, b.MaxTimestamp, describeMaxTimestamp(b))
	add("producerId", atProducerEpoch, b.ProducerID, describeProducerID(b))
	add("producerEpoch", atBaseSequence, b.ProducerEpoch, describeProducerEpoch(b))
	add("baseSequence", atRecordsCount, b.BaseSequence, describeBaseSequence(b))
	add("recordsCount", HeaderSize, b.RecordsCount, describeRecordsCount(b))
	return fields
}

func describeBaseOffset(b Batch) string {
	if b.BaseOffset == 0 && b.PartitionLeaderEpoch < 0 {
		return "what every producer sends: the leader writes the real offset here"
	}
	return fmt.Sprintf("offset deltas count from %s; not covered by the crc", kafka.Thousands(b.BaseOffset))
}

func describeLeaderEpoch(b Batch) string {
	if b.PartitionLeaderEpoch < 0 {
		return "not yet appended by a leader"
	}
	return fmt.Sprintf("appended by the leader of epoch %d; not covered by the crc", b.PartitionLeaderEpoch)
}

func describeCRC(b Batch) string {
	covered := fmt.Sprintf("CRC-32C of bytes %d to %s", atAttributes, kafka.Thousands(b.Size()-1))
	if computed := crc32.Checksum(b.bytes[atAttributes:], castagnoli); computed != b.CRC {
		return fmt.Sprintf("%s: wrong, they have %08x", covered, computed)
	}
	return covered + ": right"
}

func describeAttributes(a Attributes) string {
	text := "not compressed"
	if c := a.Codec(); c > Zstd {
		text = fmt.Sprintf("compression %d, which no codec has", c)
	} else if c != None {
		text = "compressed with " + c.String()
	}
	text += fmt.Sprintf(", %v", a.TimestampType())
	if a.Transactional() {
		text += ", transactional"
	}
	if a.Control() {
		text += ", control"
	}
	if a.HasDeleteHorizon() {
		text += ", baseTimestamp is a delete horizon"
	}
	if unused := a & unusedAttributes; unused != 0 {
		text += fmt.Sprintf(", unused bits 0x%04x", uint16(unused))
	}
	return text
}

func describeBaseTimestamp(b Batch) string {
	switch {
	case b.Attributes.HasDeleteHorizon():
		return fmt.Sprintf("the delete horizon: from %s on the cleaner may drop tombstones and markers; timestamp deltas count from here",
			kafka.Thousands(b.BaseTimestamp))
	case b.BaseTimestamp < 0:
		return "none"
	}
	return fmt.Sprintf("%s ms since 1970-01-01 UTC; timestamp deltas count from here", kafka.Thousands(b.BaseTimestamp))
}

func describeMaxTimestamp(b Batch) string {
	at := kafka.Thousands(b.MaxTimestamp)
	switch {
	case b.Attributes.TimestampType() == LogAppendTime:
		return at + ": when the leader appended the batch, and the timestamp of every record"
	case b.MaxTimestamp < 0:
		return "none"
	case b.RecordsCount == 0:
		return at + ": the largest timestamp of the records that were here"
	case b.BaseTimestamp < 0 || b.Attributes.HasDeleteHorizon():
		return at + ": the largest timestamp of a record"
	}
	return fmt.Sprintf("%s = %s: the largest timestamp of a record", at, distance("base", int64(b.MaxTimestamp-b.BaseTimestamp)))
}

func describeProducerID(b Batch) string {
	if b.ProducerID < 0 {
		return "none: not from an idempotent producer"
	}
	if b.Attributes.Control() {
		return "the producer whose transaction ends here"
	}
	return "the producer that numbered these records"
}

func describeProducerEpoch(b Batch) string {
	if b.ProducerEpoch < 0 {
		return "none"
	}
	return fmt.Sprintf("after it, writes with an epoch below %d are fenced", b.ProducerEpoch)
}

func describeBaseSequence(b Batch) string {
	switch {
	case b.BaseSequence >= 0:
		return fmt.Sprintf("sequences %s to %s", kafka.Thousands(b.BaseSequence), kafka.Thousands(b.LastSequence()))
	case b.Attributes.Control():
		return "none: control batches are not numbered"
	}
	return "none"
}

func describeRecordsCount(b Batch) string {
	written := int64(b.LastOffsetDelta) + 1
	switch {
	case b.RecordsCount < 0:
		return "impossible"
	case int64(b.RecordsCount) == written:
		return kafka.Count(int(b.RecordsCount), "record")
	case b.RecordsCount == 0:
		return "emptied by the cleaner; the header is kept for its producer's last sequence"
	}
	return fmt.Sprintf("%s for %s", kafka.Count(int(b.RecordsCount), "record"), kafka.Count(int(written), "offset"))
}
