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
func StampLogAppendTime(b []byte, ts kafka.Timestamp) {
	attributes := Attributes(binary.BigEndian.Uint16(b[atAttributes:])) | logAppendTimeBit
	binary.BigEndian.PutUint16(b[atAttributes:], uint16(attributes))
	binary.BigEndian.PutUint64(b[atMaxTimestamp:], uint64(ts))
	putCRC(b)
}
