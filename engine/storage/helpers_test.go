package storage

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// startTime is T of the byte vectors: 0000018bcfe56800.
const startTime = kafka.Timestamp(1700000000000)

// oneRecord is V1 with another timestamp: a producer's batch with the record k=v, 70 bytes.
func oneRecord(ts kafka.Timestamp) []byte {
	return buildBatch(record.Options{}, entry{ts, "k", "v"})
}

// entry is a record to build; key "-" is null.
type entry struct {
	ts         kafka.Timestamp
	key, value string
}

func buildBatch(options record.Options, entries ...entry) []byte {
	builder := record.NewBuilder(options)
	for _, e := range entries {
		key := []byte(e.key)
		if e.key == "-" {
			key = nil
		}
		builder.Append(e.ts, key, []byte(e.value))
	}
	batch, err := builder.Build()
	if err != nil {
		panic(err)
	}
	return batch
}

// newLog makes a log on a disk of its own, with the defaults changed by change.
func newLog(change func(*Config)) *Log {
	config := DefaultConfig()
	if change != nil {
		change(&config)
	}
	return New(new(simdisk.Disk), "orders-0", config, startTime)
}

// mustAppend appends and fails the test if the batch is refused.
func mustAppend(t testing.TB, l *Log, batch []byte, epoch kafka.LeaderEpoch, now kafka.Timestamp) Appended {
	t.Helper()
	appended, err := l.Append(batch, epoch, now)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return appended
}

// withSequence gives a batch another base sequence.
func withSequence(batch []byte, base kafka.Sequence) []byte {
	return edit(batch, func(b []byte) { binary.BigEndian.PutUint32(b[53:], uint32(base)) })
}

// unhex decodes hex digits; spaces are for the reader.
func unhex(digits string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if err != nil {
		panic(err)
	}
	return b
}

// bases gives the base offsets of the log's segments.
func bases(l *Log) []kafka.Offset {
	var list []kafka.Offset
	for _, s := range l.Segments() {
		list = append(list, s.BaseOffset)
	}
	return list
}

// crcOf computes a batch's CRC-32C.
func crcOf(batch []byte) uint32 {
	return crc32.Checksum(batch[21:], crc32.MakeTable(crc32.Castagnoli))
}
