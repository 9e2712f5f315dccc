//go:build judge

package judge

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"loglab/engine/prng"
)

// Where the fields of a batch's header start that spoil writes.
const (
	atBatchLength     = 8
	atMagic           = 16
	atCRC             = 17
	atAttributes      = 21
	atLastOffsetDelta = 23
	atBaseTimestamp   = 27
	atMaxTimestamp    = 35
	atProducerID      = 43
	atBaseSequence    = 53
	atRecordsCount    = 57
)

// spoil changes a producer's batch in a way that the leader must notice or put right. Its records stay as
// they are: what becomes of a batch whose records are damaged under a right CRC is not the same in both,
// see the simplifications of package storage.
func spoil(rnd *prng.Rand, batch []byte) []byte {
	b := bytes.Clone(batch)
	addTo := func(at int, n int) {
		binary.BigEndian.PutUint32(b[at:], binary.BigEndian.Uint32(b[at:])+uint32(n))
	}
	switch rnd.IntN(17) {
	case 0:
		b[atCRC]++
		return b
	case 1:
		b[7] = 5 // base offset
		return b
	case 2:
		return b[:rnd.IntN(len(b))]
	case 3:
		return append(b, batch...)
	case 4:
		return append(b, batch[:rnd.IntN(len(b))]...)
	case 5:
		b[atMagic] = byte(rnd.IntN(4))
	case 6:
		addTo(atBatchLength, rnd.IntN(200)-100)
	case 7:
		addTo(atRecordsCount, 1-2*rnd.IntN(2))
	case 8:
		addTo(atLastOffsetDelta, 1)
	case 9: // one record more than there is
		addTo(atRecordsCount, 1)
		addTo(atLastOffsetDelta, 1)
	case 10:
		b[atAttributes+1] |= 0x20 // control
	case 11:
		b[atAttributes+1] |= 0x08 // LogAppendTime
	case 12:
		b[atAttributes+rnd.IntN(2)] ^= 0x40 // a delete horizon, or a bit without meaning
	case 13:
		b[atAttributes+1] |= 0x05 // a codec that does not exist, 5 or 7
	case 14:
		b[atBaseTimestamp+rnd.IntN(8)]++ // moves the timestamps of all records
	case 15:
		addTo(atMaxTimestamp+4, rnd.IntN(2000)-1000)
	case 16: // idempotent without a sequence
		binary.BigEndian.PutUint64(b[atProducerID:], 7)
		binary.BigEndian.PutUint32(b[atBaseSequence:], 0xffffffff)
	}
	binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}
