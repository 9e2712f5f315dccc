//go:build judge

package judge

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// Where the fields of a batch's header start that spoil writes.
const (
	atBatchLength     = 8
	atMagic           = 16
	atCRC             = 17
	atAttributes      = 21
	atLastOffsetDelta = 23
	atMaxTimestamp    = 35
	atProducerID      = 43
	atBaseSequence    = 53
	atRecordsCount    = 57
	atRecords         = 61
)

// spoil changes a producer's batch in a way that the leader must notice, or that it must put right.
func (r *logRun) spoil(batch []byte) []byte {
	b := bytes.Clone(batch)
	addTo := func(at int, n int32) {
		binary.BigEndian.PutUint32(b[at:], binary.BigEndian.Uint32(b[at:])+uint32(n))
	}
	r.spoiled = r.rnd.IntN(14)
 switch r.spoiled {
	case 0:
		b[atCRC]++
		return b
	case 1:
		b[7] = 5 // base offset
		return b
	case 2:
		addTo(atRecordsCount, int32(1-2*r.rnd.IntN(2)))
	case 3:
		addTo(atLastOffsetDelta, 1)
	case 4:
		addTo(atRecordsCount, 1)
		addTo(atLastOffsetDelta, 1)
	case 5:
		b[atAttributes+1] |= 0x20 // control
	case 6:
		b[atAttributes+1] |= 0x08 // LogAppendTime
	case 7:
		addTo(atMaxTimestamp+4, int32(r.rnd.IntN(2000)-1000))
	case 8:
		return b[:r.rnd.IntN(len(b))]
	case 9:
		return append(b, batch...)
	case 10:
		return append(b, batch[:r.rnd.IntN(len(b))]...)
	case 11:
		b[atMagic] = byte(r.rnd.IntN(4))
	case 12:
		addTo(atBatchLength, int32(r.rnd.IntN(200)-100))
	case 13:
		binary.BigEndian.PutUint64(b[atProducerID:], 7)
		binary.BigEndian.PutUint32(b[atBaseSequence:], 0xffffffff)
	}
	binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}
