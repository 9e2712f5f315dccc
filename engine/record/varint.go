package record

import (
	"errors"
	"math"
	"math/bits"
)

// Numbers inside a record are zigzag varints: small numbers of either sign take few bytes.
//
//	zigzag   0 → 0, -1 → 1, 1 → 2, -2 → 3 …      the sign moves to bit 0
//	varint   7 bits a byte, the lowest first; bit 7 of a byte says that another one follows
//
// A varint holds 32 bits in at most 5 bytes, a varlong 64 bits in at most 10.
//
// Source: org.apache.kafka.common.utils.ByteUtils.

var (
	errVarintShort = errors.New("the bytes end inside a varint")
	errVarintLong  = errors.New("a varint is longer than its type allows")
)

func zigzag32(n int32) uint32 { return uint32(n<<1) ^ uint32(n>>31) }
func zigzag64(n int64) uint64 { return uint64(n<<1) ^ uint64(n>>63) }

// sizeUvarint is the number of bytes that u takes, 1 to 10: a seventh of its bits, rounded up. For 1 to
// 64 bits 9/64 rounds as 1/7 does, without a division.
func sizeUvarint(u uint64) int {
	return (bits.Len64(u|1)*9 + 64) >> 6
}

// sizeLength is sizeVarint for the length of a slice or string.
func sizeLength(n int) int { return sizeUvarint(uint64(n) << 1) }

// sizeVarint is the number of bytes that n takes, as a varint or as a varlong.
func sizeVarint(n int64) int { return sizeUvarint(zigzag64(n)) }

// putUvarint writes u at b[at:], which must have room, and returns the position after it.
func putUvarint(b []byte, at int, u uint64) int {
	for u >= 0x80 {
		b[at] = byte(u) | 0x80
		u >>= 7
		at++
	}
	b[at] = byte(u)
	return at + 1
}

// putVarint writes n zigzag at b[at:], which must have room, and returns the position after it.
func putVarint(b []byte, at int, n int64) int {
	return putUvarint(b, at, zigzag64(n))
}

// uvarint reads an unsigned varint of at most maxBytes bytes and returns it with the number of
// bytes it took. Bytes that carry nothing (80 00 for 0) are read, as Kafka reads them; no Kafka
// client writes them.
func uvarint(b []byte, maxBytes int) (uint64, int, error) {
	var u uint64
	for i, c := range b {
		if i == maxBytes {
			return 0, 0, errVarintLong
		}
		if c < 0x80 {
			if i == 9 && c > 1 {
				return 0, 0, errVarintLong // bits past the 64th
			}
			return u | uint64(c)<<(7*i), i + 1, nil
		}
		u |= uint64(c&0x7f) << (7 * i)
	}
	if len(b) >= maxBytes {
		return 0, 0, errVarintLong
	}
	return 0, 0, errVarintShort
}

// varint reads a zigzag varint of 32 bits.
func varint(b []byte) (int32, int, error) {
	if len(b) > 0 && b[0] < 0x80 {
		u := uint32(b[0])
		return int32(u>>1) ^ -int32(u&1), 1, nil
	}
	u, n, err := uvarint(b, 5)
	if err == nil && u > math.MaxUint32 {
		err = errVarintLong
	}
	if err != nil {
		return 0, 0, err
	}
	return int32(u>>1) ^ -int32(u&1), n, nil
}

// varlong reads a zigzag varint of 64 bits.
func varlong(b []byte) (int64, int, error) {
	if len(b) > 0 && b[0] < 0x80 {
		u := int64(b[0])
		return u>>1 ^ -(u & 1), 1, nil
	}
	u, n, err := uvarint(b, 10)
	if err != nil {
		return 0, 0, err
	}
	return int64(u>>1) ^ -int64(u&1), n, nil
}
