package storage

import (
	"fmt"
	"math"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/sabotage"
)

// Config holds the topic settings that a partition's log obeys, with Kafka's names and units. Start
// from DefaultConfig; the zero value is not valid.
//
// Simplified: segment.jitter.ms is always 0, its default; no segment rolls early by chance.
//
// Simplified: compression.type is always producer, its default; the leader never compresses anew.
//
// Source: org.apache.kafka.storage.internals.log.LogConfig.
type Config struct {
	// SegmentBytes is segment.bytes: the greatest size of a segment, and of a batch.
	//
	// Simplified: segment.bytes may be as small as 1. Kafka 4 refuses less than 1,048,576.
	SegmentBytes int
	// SegmentMillis is segment.ms: the greatest distance between the timestamps in a segment.
	SegmentMillis kafka.Millis
	// SegmentIndexBytes is segment.index.bytes: the greatest size of each index file. An index that
	// is full makes the segment roll.
	SegmentIndexBytes int
	// IndexIntervalBytes is index.interval.bytes: an index entry is due once more than this many
	// bytes have been appended since the last one.
	IndexIntervalBytes int
	// MaxMessageBytes is max.message.bytes: the greatest size of a batch, compressed.
	MaxMessageBytes int
	// MessageTimestampType is message.timestamp.type: whose clock the timestamps are.
	MessageTimestampType record.TimestampType
	// TimestampBeforeMaxMillis is message.timestamp.before.max.ms: how far a CreateTime may lie
	// before the leader's clock, inclusive.
	TimestampBeforeMaxMillis kafka.Millis
	// TimestampAfterMaxMillis is message.timestamp.after.max.ms: how far a CreateTime may lie after
	// the leader's clock, inclusive.
	TimestampAfterMaxMillis kafka.Millis
	// Compact says that cleanup.policy contains compact: every record needs a key, and the cleaner takes
	// away records that newer ones of the same key have replaced.
	Compact bool
	// Delete says that cleanup.policy contains delete: old segments go by size and time. With neither
	// Compact nor Delete, the empty policy, a log is kept forever.
	Delete bool
	// RetentionBytes is retention.bytes: segments go while the log would still have as many bytes; below 0:
	// no limit.
	RetentionBytes int
	// RetentionMillis is retention.ms: a segment goes when its largest timestamp is older than this; -1: no
	// limit.
	RetentionMillis kafka.Millis
	// FileDeleteDelayMillis is file.delete.delay.ms: how long the files of a segment that is gone stay on the
	// disk, with the suffix .deleted.
	FileDeleteDelayMillis kafka.Millis
	// MinCleanableDirtyRatio is min.cleanable.dirty.ratio, from 0 to 1: a log is cleaned when more than this
	// share of its bytes has not been cleaned yet.
	MinCleanableDirtyRatio float64
	// MinCompactionLagMillis is min.compaction.lag.ms: a segment with a record that is younger is not cleaned,
	// nor any behind it.
	MinCompactionLagMillis kafka.Millis
	// MaxCompactionLagMillis is max.compaction.lag.ms. If Compact is set, a segment rolls by time
	// after this span if it is less than SegmentMillis, and a log with a dirty segment that began longer ago
	// is cleaned whatever its ratio.
	MaxCompactionLagMillis kafka.Millis
	// DeleteRetentionMillis is delete.retention.ms: how long after the cleaning that first meets it a tombstone
	// or a transaction marker stays.
	DeleteRetentionMillis kafka.Millis
	// DedupeBufferBytes is log.cleaner.dedupe.buffer.size, a setting of the broker, for one cleaner thread: the
	// memory for the keys of one cleaning, 24 bytes each. Nine tenths of it are used.
	//
	// Simplified: log.cleaner.dedupe.buffer.size may be as small as 48. Kafka refuses less than 1,048,576 a
	// thread.
	//
	// Simplified: log.cleaner.io.buffer.load.factor is always 0.9, its default.
	DedupeBufferBytes int
	// ProducerIDExpirationMillis is producer.id.expiration.ms, a setting of the broker: what is known of a
	// producer is forgotten this long after its last batch.
	ProducerIDExpirationMillis kafka.Millis
	// Sabotage is a rule that a test breaks.
	Sabotage sabotage.Rule
}

// slotSize is what the cleaner counts for a key: an MD5 hash and an offset.
//
// Source: SkimpyOffsetMap.bytesPerEntry.
const slotSize = 16 + 8

// DefaultConfig gives Kafka 4.2's defaults for a topic.
//
// Source: LogConfig, as dumped from Kafka 4.2.0.
func DefaultConfig() Config {
	return Config{
		SegmentBytes:               1 << 30,
		SegmentMillis:              7 * 24 * 60 * 60 * 1000,
		SegmentIndexBytes:          10 << 20,
		IndexIntervalBytes:         4096,
		MaxMessageBytes:            1<<20 + 12,
		MessageTimestampType:       record.CreateTime,
		TimestampBeforeMaxMillis:   math.MaxInt64,
		TimestampAfterMaxMillis:    60 * 60 * 1000,
		Compact:                    false,
		Delete:                     true,
		RetentionBytes:             -1,
		RetentionMillis:            7 * 24 * 60 * 60 * 1000,
		FileDeleteDelayMillis:      60 * 1000,
		MinCleanableDirtyRatio:     0.5,
		MinCompactionLagMillis:     0,
		MaxCompactionLagMillis:     math.MaxInt64,
		DeleteRetentionMillis:      24 * 60 * 60 * 1000,
		DedupeBufferBytes:          128 << 20,
		ProducerIDExpirationMillis: 24 * 60 * 60 * 1000,
	}
}

// Validate returns an error that names the first setting that is out of range, its value and what is
// allowed. Timestamp types other than the two of package record count as CreateTime.
func (c Config) Validate() error {
	settings := [...]struct {
		name              string
		value, least, max int64
	}{
		{"segment.bytes", int64(c.SegmentBytes), 1, math.MaxInt32},
		{"segment.ms", int64(c.SegmentMillis), 1, math.MaxInt64},
		{"segment.index.bytes", int64(c.SegmentIndexBytes), 4, math.MaxInt32},
		{"index.interval.bytes", int64(c.IndexIntervalBytes), 0, math.MaxInt32},
		{"max.message.bytes", int64(c.MaxMessageBytes), 0, math.MaxInt32},
		{"message.timestamp.before.max.ms", int64(c.TimestampBeforeMaxMillis), 0, math.MaxInt64},
		{"message.timestamp.after.max.ms", int64(c.TimestampAfterMaxMillis), 0, math.MaxInt64},
		{"retention.bytes", int64(c.RetentionBytes), math.MinInt64, math.MaxInt64},
		{"retention.ms", int64(c.RetentionMillis), -1, math.MaxInt64},
		{"file.delete.delay.ms", int64(c.FileDeleteDelayMillis), 0, math.MaxInt64},
		{"min.compaction.lag.ms", int64(c.MinCompactionLagMillis), 0, math.MaxInt64},
		{"max.compaction.lag.ms", int64(c.MaxCompactionLagMillis), 1, math.MaxInt64},
		{"delete.retention.ms", int64(c.DeleteRetentionMillis), 0, math.MaxInt64},
		{"log.cleaner.dedupe.buffer.size", int64(c.DedupeBufferBytes), 2 * slotSize, math.MaxInt64},
		{"producer.id.expiration.ms", int64(c.ProducerIDExpirationMillis), 1, math.MaxInt32},
	}
	for _, s := range settings {
		if s.value < s.least || s.value > s.max {
			return fmt.Errorf("%s is %d, allowed are %d to %d", s.name, s.value, s.least, s.max)
		}
	}
	if !(c.MinCleanableDirtyRatio >= 0 && c.MinCleanableDirtyRatio <= 1) {
		return fmt.Errorf("min.cleanable.dirty.ratio is %v, allowed are 0 to 1", c.MinCleanableDirtyRatio)
	}
	if c.MinCompactionLagMillis > c.MaxCompactionLagMillis {
		return fmt.Errorf("min.compaction.lag.ms is %d, more than max.compaction.lag.ms %d", c.MinCompactionLagMillis, c.MaxCompactionLagMillis)
	}
	return nil
}

// maxSegmentMillis is the span after which a segment rolls by time, and the setting that says so.
//
// Source: LogConfig.maxSegmentMs.
func (c *Config) maxSegmentMillis() (kafka.Millis, string) {
	if c.Compact && c.MaxCompactionLagMillis < c.SegmentMillis {
		return c.MaxCompactionLagMillis, "max.compaction.lag.ms"
	}
	return c.SegmentMillis, "segment.ms"
}
