package record

import (
	"math"

	"loglab/engine/kafka"
)

// NoSequence stands in a batch without a producer id, and in every control batch.
const NoSequence kafka.Sequence = -1

// IncrementSequence is the sequence number n records after s: after 2147483647 comes 0. Both
// numbers must be 0 or more.
//
// Source: org.apache.kafka.common.record.DefaultRecordBatch.incrementSequence.
func IncrementSequence(s kafka.Sequence, n int32) kafka.Sequence {
	return kafka.Sequence((int64(s) + int64(n)) & math.MaxInt32)
}
