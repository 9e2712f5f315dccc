package partitioner

import "encoding/binary"

// Constants of murmur2 as Kafka uses it; the seed is fixed.
const (
	murmur2Seed       = 0x9747b28c
	murmur2Multiplier = 0x5bd1e995
)

// murmur2 is the 32-bit hash of Kafka's Java client. A full word is little-endian.
//
// Source: class Utils, method murmur2.
func murmur2(key []byte) uint32 {
	const m = murmur2Multiplier
	h := murmur2Seed ^ uint32(len(key))
	for len(key) >= 4 {
		k := binary.LittleEndian.Uint32(key) * m
		k ^= k >> 24
		h = h*m ^ k*m
		key = key[4:]
	}
	switch len(key) {
	case 3:
		h ^= uint32(key[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(key[1]) << 8
		fallthrough
	case 1:
		h ^= uint32(key[0])
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}
