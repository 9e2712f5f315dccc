package storage

import (
	"encoding/binary"
	"hash/crc32"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// Where the fields stand in a batch's header; see package record.
const (
	crcAt          = 17
	attributesAt   = 21
	maxTimestampAt = 35
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stampCreateTime corrects a header whose timestamp type or maxTimestamp does not fit its records, as
// the leader does before it appends. The CRC covers both and is computed anew.
//
// Source: DefaultRecordBatch.setMaxTimestamp.
func stampCreateTime(b []byte, largest kafka.Timestamp) {
	const logAppendTimeBit = byte(record.LogAppendTime) << 3
	b[attributesAt+1] &^= logAppendTimeBit
	binary.BigEndian.PutUint64(b[maxTimestampAt:], uint64(largest))
	binary.BigEndian.PutUint32(b[crcAt:], crc32.Checksum(b[attributesAt:], castagnoli))
}
