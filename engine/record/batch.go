package record

import (
	"encoding/binary"
	"hash/crc32"

	"loglab/engine/kafka"
)

// A batch is a header of 61 bytes and the records, one after another or compressed as one block:
//
//	 0        8        12       16  17     21     23        27
//	┌────────┬────────┬────────┬───┬──────┬──────┬─────────┬──
//	│ base   │ batch  │ leader │mag│ crc  │attri-│ last    │
//	│ offset │ length │ epoch  │ic │      │butes │ offset Δ│
//	└────────┴────────┴────────┴───┴──────┴──────┴─────────┴──
//	 27          35         43          51       53        57        61
//	──┬──────────┬──────────┬──────────┬────────┬─────────┬─────────┬─────────
//	  │ base     │ max      │ producer │producer│ base    │ records │ records
//	  │ timestamp│ timestamp│ id       │ epoch  │ sequence│ count   │ …
//	──┴──────────┴──────────┴──────────┴────────┴─────────┴─────────┴─────────
//	  the crc covers everything from the attributes on ──────────────────────▶
const (
	// HeaderSize is the number of bytes before the first record.
	HeaderSize = 61

	// CRCStart is the first byte that the CRC covers: the attributes. It covers all from there to the end.
	CRCStart = atAttributes

	// Magic is the only format that Kafka 4 writes: record batch v2.
	Magic = 2

	// lengthOverhead is what batchLength leaves out: base offset and batchLength itself.
	lengthOverhead = 12

	// minBatchLength is the batchLength of a batch without record data.
	minBatchLength = HeaderSize - lengthOverhead

	// maxBatchLength leaves Batch.Size in an int32, as in Kafka.
	maxBatchLength = 1<<31 - 1 - lengthOverhead
)

// Where each field of the header starts.
const (
	atBaseOffset      = 0
	atBatchLength     = 8
	atLeaderEpoch     = 12
	atMagic           = 16
	atCRC             = 17
	atAttributes      = 21
	atLastOffsetDelta = 23
	atBaseTimestamp   = 27
	atMaxTimestamp    = 35
	atProducerID      = 43
	atProducerEpoch   = 51
	atBaseSequence    = 53
	atRecordsCount    = 57
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Batch is the decoded header of one batch. It is a value; it shares the bytes it was parsed from
// and never writes them. The zero value holds no batch. Unless CheckCRC has answered nil, any field
// may hold any number.
//
// Source: org.apache.kafka.common.record.DefaultRecordBatch.
type Batch struct {
	// BaseOffset is the offset that offset deltas count from. A producer sends 0, the leader
	// overwrites it. After cleaning no record need have this offset.
	BaseOffset kafka.Offset
	// BatchLength is the number of bytes after this field: Size - 12.
	BatchLength int32
	// PartitionLeaderEpoch is the epoch of the leader that appended the batch; -1 from a producer.
	PartitionLeaderEpoch kafka.LeaderEpoch
	// Magic is always 2 in a batch that was parsed.
	Magic int8
	// CRC is the CRC-32C of all bytes from the attributes on.
	CRC uint32
	// Attributes holds codec, timestamp type and flags.
	Attributes Attributes
	// LastOffsetDelta is the last offset minus the base offset. Cleaning keeps it, so it may be
	// more than the delta of the last record that is left.
	LastOffsetDelta int32
	// BaseTimestamp is what timestamp deltas count from: the first record's timestamp when the
	// batch was written, or the delete horizon if Attributes.HasDeleteHorizon; -1 in an emptied
	// batch.
	BaseTimestamp kafka.Timestamp
	// MaxTimestamp is the largest timestamp of a record, or the time of the append under
	// LogAppendTime.
	MaxTimestamp kafka.Timestamp
	// ProducerID is -1 if the producer is neither idempotent nor transactional.
	ProducerID kafka.ProducerID
	// ProducerEpoch is -1 if there is no producer id.
	ProducerEpoch kafka.ProducerEpoch
	// BaseSequence is the sequence that offset deltas count from; -1 if there is no producer id
	// and in control batches.
	BaseSequence kafka.Sequence
	// RecordsCount is the number of records that are there now; 0 in an emptied batch.
	RecordsCount int32

	bytes []byte
}

// Parse reads the header of the first batch in b. It neither checks the CRC nor looks at the
// records, and allocates nothing unless it fails. The batch shares b, which must not be changed
// while the batch is used (Stamp writes before the batch is parsed, not after).
//
// Errors: ErrEnd if b is empty; ErrTorn if b ends inside the batch; ErrCorrupt if no batch can begin
// like that: an impossible batchLength or a magic other than 2. A magic that is wrong is corrupt
// even where the bytes also end too soon.
//
// Simplified: only record batch v2 is read. Message formats 0 and 1, which brokers before 0.11
// wrote, are reported as corrupt; Kafka 4 can still read them from disk.
func Parse(b []byte) (Batch, error) {
	if len(b) == 0 {
		return Batch{}, ErrEnd
	}
	if len(b) < lengthOverhead {
		return Batch{}, tornf(0, "base offset and batchLength need %d bytes, only %d are there", lengthOverhead, len(b))
	}
	length := int32(binary.BigEndian.Uint32(b[atBatchLength:]))
	if len(b) > atMagic && length != 0 && b[atMagic] != Magic {
		return Batch{}, corruptf(atMagic, "magic is %d, only %d (record batch v2) is read", int8(b[atMagic]), Magic)
	}
	if length < minBatchLength || length > maxBatchLength {
		return Batch{}, corruptf(atBatchLength, "batchLength is %d, allowed are %d to %d", length, minBatchLength, maxBatchLength)
	}
	size := lengthOverhead + int(length)
	if len(b) < size {
		return Batch{}, tornf(0, "the batch has %d bytes, only %d are there", size, len(b))
	}
	return decodeHeader(b[:size:size]), nil
}

// decodeHeader reads the fields of a whole batch.
func decodeHeader(b []byte) Batch {
	be := binary.BigEndian
	return Batch{
		BaseOffset:           kafka.Offset(be.Uint64(b[atBaseOffset:])),
		BatchLength:          int32(be.Uint32(b[atBatchLength:])),
		PartitionLeaderEpoch: kafka.LeaderEpoch(be.Uint32(b[atLeaderEpoch:])),
		Magic:                int8(b[atMagic]),
		CRC:                  be.Uint32(b[atCRC:]),
		Attributes:           Attributes(be.Uint16(b[atAttributes:])),
		LastOffsetDelta:      int32(be.Uint32(b[atLastOffsetDelta:])),
		BaseTimestamp:        kafka.Timestamp(be.Uint64(b[atBaseTimestamp:])),
		MaxTimestamp:         kafka.Timestamp(be.Uint64(b[atMaxTimestamp:])),
		ProducerID:           kafka.ProducerID(be.Uint64(b[atProducerID:])),
		ProducerEpoch:        kafka.ProducerEpoch(be.Uint16(b[atProducerEpoch:])),
		BaseSequence:         kafka.Sequence(be.Uint32(b[atBaseSequence:])),
		RecordsCount:         int32(be.Uint32(b[atRecordsCount:])),
		bytes:                b,
	}
}

// encodeHeader writes the header of h over b[:HeaderSize], with the length of b and its CRC. b is
// the whole batch; the records are already in place. Length, magic and CRC of h are not looked at.
func encodeHeader(b []byte, h Batch) {
	be := binary.BigEndian
	be.PutUint64(b[atBaseOffset:], uint64(h.BaseOffset))
	be.PutUint32(b[atBatchLength:], uint32(len(b)-lengthOverhead))
	be.PutUint32(b[atLeaderEpoch:], uint32(h.PartitionLeaderEpoch))
	b[atMagic] = Magic
	be.PutUint16(b[atAttributes:], uint16(h.Attributes))
	be.PutUint32(b[atLastOffsetDelta:], uint32(h.LastOffsetDelta))
	be.PutUint64(b[atBaseTimestamp:], uint64(h.BaseTimestamp))
	be.PutUint64(b[atMaxTimestamp:], uint64(h.MaxTimestamp))
	be.PutUint64(b[atProducerID:], uint64(h.ProducerID))
	be.PutUint16(b[atProducerEpoch:], uint16(h.ProducerEpoch))
	be.PutUint32(b[atBaseSequence:], uint32(h.BaseSequence))
	be.PutUint32(b[atRecordsCount:], uint32(h.RecordsCount))
	putCRC(b)
}

// putCRC computes the checksum of a whole batch and writes it.
func putCRC(b []byte) {
	binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], castagnoli))
}

// Bytes gives the batch as it is on disk and on the wire, header included. The slice is shared and
// must not be changed.
func (b Batch) Bytes() []byte { return b.bytes }

// Size is the number of bytes of the batch, header included.
func (b Batch) Size() int { return lengthOverhead + int(b.BatchLength) }

// LastOffset is the offset of the last record that the batch was written with, inclusive. Cleaning
// may have removed that record.
func (b Batch) LastOffset() kafka.Offset { return b.BaseOffset + kafka.Offset(b.LastOffsetDelta) }

// NextOffset is where the batch after this one may begin: LastOffset + 1. A consumer goes on from
// here, not from the last record it saw.
func (b Batch) NextOffset() kafka.Offset { return b.LastOffset() + 1 }

// LastSequence is the sequence of the record at LastOffset, or -1 if there is no base sequence.
// After 2147483647 comes 0.
func (b Batch) LastSequence() kafka.Sequence {
	if b.BaseSequence == NoSequence {
		return NoSequence
	}
	return IncrementSequence(b.BaseSequence, b.LastOffsetDelta)
}

// DeleteHorizon is the time from which the cleaner may drop the batch's tombstones or its
// transaction marker, and whether the batch has one.
//
// Source: KIP-534.
func (b Batch) DeleteHorizon() (kafka.Timestamp, bool) {
	if b.Attributes.HasDeleteHorizon() {
		return b.BaseTimestamp, true
	}
	return kafka.NoTimestamp, false
}

// CheckCRC compares the checksum in the header with the bytes. The error is ErrCorrupt and names
// both values.
func (b Batch) CheckCRC() error {
	if computed := crc32.Checksum(b.bytes[atAttributes:], castagnoli); computed != b.CRC {
		return corruptf(atCRC, "crc is %08x, the bytes from %d on have %08x", b.CRC, atAttributes, computed)
	}
	return nil
}
