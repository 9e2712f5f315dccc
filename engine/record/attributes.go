package record

import (
	"fmt"
	"strings"
)

// Codec is how the records of a batch are compressed: bits 0 to 2 of the attributes. The zero value
// is None. The whole run of records is one compressed block; the batch's header stays readable.
//
// Source: org.apache.kafka.common.record.CompressionType.
type Codec int8

// The codecs of Kafka 4.2. Values 5, 6 and 7 are free: a batch that names one is corrupt.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

var codecNames = [...]string{None: "none", Gzip: "gzip", Snappy: "snappy", LZ4: "lz4", Zstd: "zstd"}

// String gives the value of compression.type: "none", "gzip", "snappy", "lz4" or "zstd".
func (c Codec) String() string {
	if c < 0 || int(c) >= len(codecNames) {
		return fmt.Sprintf("codec(%d)", int8(c))
	}
	return codecNames[c]
}

// ParseCodec reads what String writes.
func ParseCodec(name string) (Codec, error) {
	for c, n := range codecNames {
		if n == name {
			return Codec(c), nil
		}
	}
	return None, fmt.Errorf("compression %q: allowed are %s", name, strings.Join(codecNames[:], ", "))
}

// TimestampType says whose clock a batch's timestamps are: bit 3 of the attributes. The zero value
// is CreateTime.
//
// Source: org.apache.kafka.common.record.TimestampType; topic setting message.timestamp.type.
type TimestampType int8

const (
	// CreateTime: each record has the time that the producer gave it.
	CreateTime TimestampType = iota
	// LogAppendTime: every record has the batch's maxTimestamp, the leader's clock at the append.
	LogAppendTime
)

// String gives the value of message.timestamp.type: "CreateTime" or "LogAppendTime".
func (t TimestampType) String() string {
	if t == LogAppendTime {
		return "LogAppendTime"
	}
	return "CreateTime"
}

// Attributes is the bit field at byte 21 of a batch.
//
//	15 … 7 │    6    │    5    │      4        │       3        │ 2 1 0
//	unused │ delete  │ control │ transactional │ timestamp type │ codec
//	       │ horizon │         │               │                │
type Attributes int16

const (
	codecMask        Attributes = 0x07
	logAppendTimeBit Attributes = 0x08
	transactionalBit Attributes = 0x10
	controlBit       Attributes = 0x20
	deleteHorizonBit Attributes = 0x40
	unusedAttributes Attributes = ^0x7f
)

// Codec is how the records are compressed. It may be a number that no codec has.
func (a Attributes) Codec() Codec { return Codec(a & codecMask) }

// TimestampType says whose clock the timestamps are.
func (a Attributes) TimestampType() TimestampType { return TimestampType(a & logAppendTimeBit >> 3) }

// Transactional says that the batch belongs to a transaction: it is hidden from read_committed
// consumers until a marker with the same producer id commits it.
func (a Attributes) Transactional() bool { return a&transactionalBit != 0 }

// Control says that the batch holds control records, which take offsets and are never given to an
// application.
func (a Attributes) Control() bool { return a&controlBit != 0 }

// HasDeleteHorizon says that the base timestamp is the time from which the cleaner may drop the
// batch's tombstones or marker, not a record's time.
//
// Source: KIP-534.
func (a Attributes) HasDeleteHorizon() bool { return a&deleteHorizonBit != 0 }
