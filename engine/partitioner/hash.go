package partitioner

import (
	"fmt"
	"strconv"
	"strings"

	"loglab/engine/kafka"
)

// Hash is the 32-bit hash of one key and the way from there to a partition. It is a value;
// [Partitioner.Hash] makes one, and the zero value means nothing.
type Hash struct {
	function string
	raw      uint32
	mapping  mapping
}

// mapping is how a client makes a hash non-negative before it takes the remainder.
type mapping uint8

const (
	masked   mapping = iota // the top bit is cleared: Java's toPositive, which is not the absolute value
	unsigned                // the 32 bits are an unsigned number
	absolute                // the 32 bits are a signed number, its minus sign is dropped
)

// Unsigned returns the 32 bits of the hash read as an unsigned number.
func (h Hash) Unsigned() uint32 { return h.raw }

// Signed returns the 32 bits of the hash read as a signed number, as Java prints them.
func (h Hash) Signed() int32 { return int32(h.raw) }

// Masked returns the hash without its top bit, the toPositive of Kafka's Utils class. It is not the
// absolute value: −1563381124 gives 584102524.
func (h Hash) Masked() uint32 { return h.raw & 0x7fffffff }

// Mapped returns the non-negative number whose remainder is the partition: the masked hash, the
// unsigned one or the absolute value, as the partitioner does it.
//
// Sarama takes the remainder of the signed number first and drops its sign afterwards, librdkafka's
// fnv1a the other way round; both give the same partition.
func (h Hash) Mapped() uint32 {
	switch h.mapping {
	case unsigned:
		return h.raw
	case absolute:
		if h.Signed() < 0 {
			return -h.raw // the absolute value, 2147483648 for the smallest number too
		}
		return h.raw
	default:
		return h.Masked()
	}
}

// Mapping says in words how Mapped comes out of the hash.
func (h Hash) Mapping() string {
	switch h.mapping {
	case unsigned:
		return "the 32 bits as an unsigned number"
	case absolute:
		return "the 32 bits as a signed number, without its minus sign"
	default:
		return "& 0x7fffffff: the top bit is cleared"
	}
}

// Partition returns the mapped hash modulo n. It panics if n is below 1.
func (h Hash) Partition(n int32) kafka.Partition {
	if n < 1 {
		panic(fmt.Sprintf("partitioner: a topic of %d partitions; it must have at least 1", n))
	}
	return kafka.Partition(h.Mapped() % uint32(n))
}

// Formula returns the computation in one line, with every number on the way:
//
//	murmur2 = 0xa2d0b27c (−1563381124) & 0x7fffffff = 584102524; mod 6 = 4
//	crc32 = 0xe8b7be43 (3904355907); mod 6 = 3
//	fnv1a = 0xe40c292c (−468965076), absolute value 468965076; mod 6 = 0
//
// It panics if n is below 1.
func (h Hash) Formula(n int32) string {
	partition := h.Partition(n)
	start := fmt.Sprintf("%s = 0x%08x", h.function, h.raw)
	end := fmt.Sprintf("; mod %d = %d", n, partition)
	switch h.mapping {
	case unsigned:
		return fmt.Sprintf("%s (%d)%s", start, h.raw, end)
	case absolute:
		return fmt.Sprintf("%s (%s), absolute value %d%s", start, signedText(h.Signed()), h.Mapped(), end)
	default:
		return fmt.Sprintf("%s (%s) & 0x7fffffff = %d%s", start, signedText(h.Signed()), h.Mapped(), end)
	}
}

// signedText writes a number with a real minus sign instead of a hyphen.
func signedText(number int32) string {
	return strings.Replace(strconv.FormatInt(int64(number), 10), "-", "−", 1)
}
