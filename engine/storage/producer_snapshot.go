package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"loglab/engine/kafka"
)

// ProducerSnapshotEntry is what a snapshot file keeps of one producer: its last batch and its open
// transaction. The file is a header and an entry a producer:
//
//	 0       2                6                10
//	┌───────┬────────────────┬────────────────┬───────────
//	│ 1     │ CRC-32C of all │ entries        │ entries …
//	│ int16 │ behind it      │ int32          │
//	└───────┴────────────────┴────────────────┴───────────
//
//	 0             8       10              14            22             26          34            38              46
//	┌─────────────┬───────┬───────────────┬─────────────┬──────────────┬───────────┬─────────────┬───────────────┐
//	│ producer id │ epoch │ last sequence │ last offset │ offset delta │ timestamp │ coordinator │ first offset  │
//	│ int64       │ int16 │ int32         │ int64       │ int32        │ int64     │ epoch, int32│ of txn, int64 │
//	└─────────────┴───────┴───────────────┴─────────────┴──────────────┴───────────┴─────────────┴───────────────┘
//
// Source: org.apache.kafka.storage.internals.log.ProducerStateManager.
type ProducerSnapshotEntry struct {
	ProducerID             kafka.ProducerID
	ProducerEpoch          kafka.ProducerEpoch
	LastSequence           kafka.Sequence
	LastOffset             kafka.Offset    // of the last batch, inclusive
	OffsetDelta            int32           // of the last batch: its last offset minus its first
	Timestamp              kafka.Timestamp // of the last batch
	CoordinatorEpoch       int32           // of the last transaction marker; -1: none
	TransactionFirstOffset kafka.Offset    // of the open transaction; NoOffset: none is open
}

const (
	producerSnapshotVersion    = 1
	producerSnapshotHeaderSize = 10
	producerSnapshotEntrySize  = 46
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeProducerSnapshot gives the bytes of a snapshot file.
func encodeProducerSnapshot(entries []ProducerSnapshotEntry) []byte {
	b := binary.BigEndian.AppendUint16(nil, producerSnapshotVersion)
	b = binary.BigEndian.AppendUint32(b, 0) // the CRC, below
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	for _, e := range entries {
		b = binary.BigEndian.AppendUint64(b, uint64(e.ProducerID))
		b = binary.BigEndian.AppendUint16(b, uint16(e.ProducerEpoch))
		b = binary.BigEndian.AppendUint32(b, uint32(e.LastSequence))
		b = binary.BigEndian.AppendUint64(b, uint64(e.LastOffset))
		b = binary.BigEndian.AppendUint32(b, uint32(e.OffsetDelta))
		b = binary.BigEndian.AppendUint64(b, uint64(e.Timestamp))
		b = binary.BigEndian.AppendUint32(b, uint32(e.CoordinatorEpoch))
		b = binary.BigEndian.AppendUint64(b, uint64(e.TransactionFirstOffset))
	}
	binary.BigEndian.PutUint32(b[2:], crc32.Checksum(b[6:], castagnoli))
	return b
}

// ParseProducerSnapshot reads a snapshot file. The caller owns the slice. Errors: a file that is too short or
// too long for its count, another version, a wrong CRC.
//
// Source: ProducerStateManager.readSnapshot.
func ParseProducerSnapshot(b []byte) ([]ProducerSnapshotEntry, error) {
	if len(b) < producerSnapshotHeaderSize {
		return nil, fmt.Errorf("producer snapshot: only %d of %d bytes of the header", len(b), producerSnapshotHeaderSize)
	}
	if version := int16(binary.BigEndian.Uint16(b)); version != producerSnapshotVersion {
		return nil, fmt.Errorf("producer snapshot: version is %d, allowed is %d", version, producerSnapshotVersion)
	}
	if stored, computed := binary.BigEndian.Uint32(b[2:]), crc32.Checksum(b[6:], castagnoli); stored != computed {
		return nil, fmt.Errorf("producer snapshot: CRC is %08x, the bytes give %08x", stored, computed)
	}
	count, rest := int64(int32(binary.BigEndian.Uint32(b[6:]))), b[producerSnapshotHeaderSize:]
	if count < 0 || count*producerSnapshotEntrySize != int64(len(rest)) {
		return nil, fmt.Errorf("producer snapshot: %d entries of %d bytes are declared, %d bytes are there", count, producerSnapshotEntrySize, len(rest))
	}
	entries := make([]ProducerSnapshotEntry, 0, len(rest)/producerSnapshotEntrySize)
	for e := rest; len(e) > 0; e = e[producerSnapshotEntrySize:] {
		entries = append(entries, ProducerSnapshotEntry{
			ProducerID:             kafka.ProducerID(binary.BigEndian.Uint64(e)),
			ProducerEpoch:          kafka.ProducerEpoch(binary.BigEndian.Uint16(e[8:])),
			LastSequence:           kafka.Sequence(binary.BigEndian.Uint32(e[10:])),
			LastOffset:             kafka.Offset(binary.BigEndian.Uint64(e[14:])),
			OffsetDelta:            int32(binary.BigEndian.Uint32(e[22:])),
			Timestamp:              kafka.Timestamp(binary.BigEndian.Uint64(e[26:])),
			CoordinatorEpoch:       int32(binary.BigEndian.Uint32(e[34:])),
			TransactionFirstOffset: kafka.Offset(binary.BigEndian.Uint64(e[38:])),
		})
	}
	return entries, nil
}
