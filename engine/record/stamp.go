package record

import (
	"encoding/binary"

	"loglab/engine/kafka"
)

// Stamp writes base offset and leader epoch over the batch at the start of b, as the leader does
// when it appends: bytes 0 to 7 and 12 to 15, nothing else. The CRC does not cover them and stays
// valid. b must hold at least a whole header.
//
// Source: DefaultRecordBatch.setLastOffset and setPartitionLeaderEpoch, called by LogValidator.
func Stamp(b []byte, base kafka.Offset, epoch kafka.LeaderEpoch) {
	binary.BigEndian.PutUint64(b[atBaseOffset:], uint64(base))
	binary.BigEndian.PutUint32(b[atLeaderEpoch:], uint32(epoch))
}

// StampLogAppendTime turns the batch b into one of LogAppendTime: it sets the timestamp type and
// maxTimestamp and computes the CRC anew, because it covers both. The base timestamp and the
// records stay as they are; readers ignore their timestamps from now on. b must be exactly one
// whole batch.
//
// Source: DefaultRecordBatch.setMaxTimestamp.
func StampLogAppendTime(b []byte, ts kafka.Timestamp) { stampMaxTimestamp(b, logAppendTimeBit, ts) }

// StampCreateTime corrects the batch b, whose timestamp type or maxTimestamp does not fit its records: the
// type becomes CreateTime and maxTimestamp the largest timestamp of a record, and the CRC is computed
// anew. b must be exactly one whole batch.
//
// Source: DefaultRecordBatch.setMaxTimestamp.
func StampCreateTime(b []byte, largest kafka.Timestamp) { stampMaxTimestamp(b, 0, largest) }

// stampMaxTimestamp writes timestamp type and maxTimestamp. Attribute bits that mean nothing are cleared, as
// Kafka does when it writes the attributes anew.
func stampMaxTimestamp(b []byte, timestampType Attributes, ts kafka.Timestamp) {
	attributes := Attributes(binary.BigEndian.Uint16(b[atAttributes:]))
	attributes = attributes&^(unusedAttributes|logAppendTimeBit) | timestampType
	binary.BigEndian.PutUint16(b[atAttributes:], uint16(attributes))
	binary.BigEndian.PutUint64(b[atMaxTimestamp:], uint64(ts))
	putCRC(b)
}
