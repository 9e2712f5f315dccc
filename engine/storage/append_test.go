package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// codeOf is the error code in a refusal; 0 for no error, -1 for another error.
func codeOf(err error) int16 {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Err.Code
	}
	if err != nil {
		return -1
	}
	return 0
}

// edit changes a batch and gives it the right CRC again.
func edit(batch []byte, change func(b []byte)) []byte {
	b := bytes.Clone(batch)
	change(b)
	binary.BigEndian.PutUint32(b[17:], crcOf(b))
	return b
}

// The codes are of org.apache.kafka.common.protocol.Errors.
const (
	corruptMessage     = 2
	messageTooLarge    = 10
	recordListTooLarge = 18
	invalidTimestamp   = 32
	invalidRecord      = 87
)

// §1.5, and LogValidator for what it leaves open.
func TestAppendRefuses(t *testing.T) {
	three := buildBatch(record.Options{}, entry{startTime, "a", "1"}, entry{startTime, "b", "2"}, entry{startTime, "c", "3"})
	keyless := buildBatch(record.Options{}, entry{startTime, "a", "1"}, entry{startTime, "-", "2"})
	gzip := buildBatch(record.Options{Codec: record.Gzip}, entry{startTime, "-", strings.Repeat("x", 1000)})
	future := oneRecord(startTime + 3600001)
	marker := buildBatch(record.Options{
		Control: true, Transactional: true,
		Producer: &record.Producer{ID: 1000, Epoch: 2, BaseSequence: -1},
	}, entry{startTime, "k", "v"})
	compact := func(c *Config) { c.Compact = true }
	logAppendTime := func(c *Config) { c.MessageTimestampType = record.LogAppendTime }

	tests := []struct {
		name   string
		batch  []byte
		change func(*Config)
		code   int16
		why    string // part of the sentence
	}{
		{"as large as max.message.bytes", v1, func(c *Config) { c.MaxMessageBytes = 70 }, 0, ""},
		{"larger than max.message.bytes", v1, func(c *Config) { c.MaxMessageBytes = 69 }, messageTooLarge, "batch of 70 bytes > max.message.bytes 69"},
		{"compressed, the limit is on the batch", gzip, func(c *Config) { c.MaxMessageBytes = len(gzip) }, 0, ""},
		{"as large as segment.bytes", v1, func(c *Config) { c.SegmentBytes = 70 }, 0, ""},
		{"larger than segment.bytes", v1, func(c *Config) { c.SegmentBytes = 69 }, recordListTooLarge, "batch of 70 bytes > segment.bytes 69"},

		{"nothing", nil, nil, invalidRecord, "no whole batch in 0 bytes"},
		{"a torn batch", v1[:69], nil, invalidRecord, "no whole batch in 69 bytes"},
		{"two batches", append(bytes.Clone(v1), v1...), nil, invalidRecord, "a second batch at byte 70"},
		{"part of a second batch is left off", append(bytes.Clone(v1), v1[:60]...), nil, 0, ""},
		{"an impossible second batch", append(bytes.Clone(v1), make([]byte, 61)...), nil, corruptMessage, "after the batch, at byte 70"},
		{"magic 1", edit(v1, func(b []byte) { b[16] = 1 }), nil, invalidRecord, "magic is 1"},
		{"an impossible length", edit(v1, func(b []byte) { b[11] = 1 }), nil, corruptMessage, "corrupt batch"},
		{"base offset 1", edit(v1, func(b []byte) { b[7] = 1 }), nil, invalidRecord, "base offset is 1, a producer sends 0"},
		{"a flipped bit", append(bytes.Clone(v1[:69]), 1), nil, corruptMessage, "corrupt batch"},

		{"no records", edit(v1, func(b []byte) { b[60] = 0 }), nil, invalidRecord, "recordsCount is 0"},
		{"fewer records than offsets", edit(three, func(b []byte) { b[60] = 2 }), nil, invalidRecord, "lastOffsetDelta is 2, 2 records need 1"},
		{"fewer records than the count", edit(three, func(b []byte) { b[60], b[26] = 4, 3 }), nil, invalidRecord, "corrupt batch"},
		{"more records than the count", edit(three, func(b []byte) { b[60], b[26] = 2, 1 }), nil, invalidRecord, "corrupt batch"},
		{"an offset delta out of line", edit(v1, func(b []byte) { b[64] = 2 }), nil, invalidRecord, "record 0 has offset delta 1"},
		{"control records", marker, nil, invalidRecord, "control records"},
		{"a producer id without sequence", edit(v2, func(b []byte) { b[53] = 0xff }), nil, invalidRecord, "base sequence is"},

		{"3600000 ms ahead", oneRecord(startTime + 3600000), nil, 0, ""},
		{"3600001 ms ahead", future, nil, invalidTimestamp,
			"record 0: timestamp 1700003600001 is 3,600,001 ms after the leader's clock > message.timestamp.after.max.ms 3,600,000"},
		{"far behind, no limit by default", oneRecord(0), nil, 0, ""},
		{"1000 ms behind", oneRecord(startTime - 1000), func(c *Config) { c.TimestampBeforeMaxMillis = 1000 }, 0, ""},
		{"1001 ms behind", oneRecord(startTime - 1001), func(c *Config) { c.TimestampBeforeMaxMillis = 1000 }, invalidTimestamp,
			"1,001 ms before the leader's clock > message.timestamp.before.max.ms 1,000"},
		{"no timestamp", oneRecord(kafka.NoTimestamp), func(c *Config) { c.TimestampBeforeMaxMillis = 1000 }, 0, ""},
		{"any CreateTime under LogAppendTime", future, logAppendTime, 0, ""},
		{"a producer that sets LogAppendTime", edit(v1, func(b []byte) { b[22] = 8 }), logAppendTime, invalidTimestamp, "only the leader may set"},

		{"no key", keyless, nil, 0, ""},
		{"no key on a compacted topic", keyless, compact, invalidRecord, "record 1 has no key"},
		{"a bad timestamp decides over a missing key",
			buildBatch(record.Options{}, entry{startTime, "-", "1"}, entry{startTime + 3600001, "k", "2"}), compact, invalidTimestamp, "record 1"},

		{"size before CRC", append(bytes.Clone(v1[:69]), 1), func(c *Config) { c.MaxMessageBytes = 69 }, messageTooLarge, ""},
		{"CRC before timestamps", append(bytes.Clone(future[:69]), 1), nil, corruptMessage, ""},
		{"timestamps before segment.bytes", future, func(c *Config) { c.SegmentBytes = 69 }, invalidTimestamp, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog(tt.change)
			message := bytes.Clone(tt.batch)
			_, err := l.Append(message, 0, startTime)
			if codeOf(err) != tt.code || tt.code != 0 && !strings.Contains(err.Error(), tt.why) {
				t.Errorf("answer is %v (code %d), want code %d and %q", err, codeOf(err), tt.code, tt.why)
			}
			if !bytes.Equal(message, tt.batch) {
				t.Error("the producer's message was written")
			}
			if err != nil && (l.LogEndOffset() != 0 || l.Size() != 0 || len(l.LeaderEpochs()) != 0) {
				t.Errorf("a refused append left end offset %d, %d bytes, epochs %v", l.LogEndOffset(), l.Size(), l.LeaderEpochs())
			}
		})
	}
}

func TestRefusalIsItsCode(t *testing.T) {
	_, err := newLog(func(c *Config) { c.MaxMessageBytes = 69 }).Append(v1, 0, startTime)
	if !errors.Is(err, kerr.MessageTooLarge) {
		t.Errorf("%v is not MESSAGE_TOO_LARGE", err)
	}
	if got, want := err.Error(), "MESSAGE_TOO_LARGE: batch of 70 bytes > max.message.bytes 69"; got != want {
		t.Errorf("error is %q, want %q", got, want)
	}
}

// LogValidator: under CreateTime the leader corrects a header that does not fit the records.
func TestAppendCorrectsTheHeader(t *testing.T) {
	tests := map[string]func(b []byte){
		"maxTimestamp too low": func(b []byte) { binary.BigEndian.PutUint64(b[35:], uint64(startTime-7)) },
		"LogAppendTime":        func(b []byte) { b[22] = 8 },
	}
	for name, change := range tests {
		l := newLog(nil)
		mustAppend(t, l, edit(v1, change), 0, startTime)
		want := append(unhex("0000000000000000 0000003a 00000000"), v1[16:]...)
		if got := l.Segments()[0].Bytes; !bytes.Equal(got, want) {
			t.Errorf("%s: stored %x, want %x", name, got, want)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	tests := map[string]func(*Config){
		"segment.bytes is 0, allowed are 1 to 2147483647": func(c *Config) { c.SegmentBytes = 0 },
		"segment.bytes is 2147483648,":                    func(c *Config) { c.SegmentBytes = 1 << 31 },
		"segment.ms is 0,":                                func(c *Config) { c.SegmentMillis = 0 },
		"segment.index.bytes is 3,":                       func(c *Config) { c.SegmentIndexBytes = 3 },
		"index.interval.bytes is -1,":                     func(c *Config) { c.IndexIntervalBytes = -1 },
		"max.message.bytes is -1,":                        func(c *Config) { c.MaxMessageBytes = -1 },
		"message.timestamp.before.max.ms is -1,":          func(c *Config) { c.TimestampBeforeMaxMillis = -1 },
		"message.timestamp.after.max.ms is -1,":           func(c *Config) { c.TimestampAfterMaxMillis = -1 },
		"max.compaction.lag.ms is 0,":                     func(c *Config) { c.MaxCompactionLagMillis = 0 },
	}
	for want, change := range tests {
		config := DefaultConfig()
		change(&config)
		if err := config.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
