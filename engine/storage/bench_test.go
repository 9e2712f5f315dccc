package storage

import (
	"bytes"
	"fmt"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

const (
	// benchBatchBytes is the producer's default batch.size.
	benchBatchBytes = 16 << 10
	// benchSegmentBytes is what a segment takes before the next log begins.
	benchSegmentBytes = 16 << 20
)

// benchServer appends to one log after another. The room for a segment is made while the clock stands still,
// as with Kafka's preallocate=true: what is measured is the work on records, not the memory of the machine.
type benchServer struct {
	log     *Log
	records int
}

func (s *benchServer) append(b *testing.B, batch []byte, records int) {
	if s.log == nil || s.log.Size()+len(batch) > benchSegmentBytes {
		b.StopTimer()
		config := DefaultConfig()
		config.SegmentBytes = benchSegmentBytes
		s.log = New(new(simdisk.Disk), "orders-0", config, startTime)
		s.log.disk.Reserve(s.log.active.log, benchSegmentBytes)
		b.StartTimer()
	}
	if _, err := s.log.Append(batch, 0, startTime); err != nil {
		b.Fatal(err)
	}
	s.records += records
}

// report gives the measure that counts.
func (s *benchServer) report(b *testing.B) {
	b.ReportMetric(float64(s.records)/b.Elapsed().Seconds(), "records/s")
}

// fill puts so many records into the builder that the batch is full.
func fill(builder *record.Builder, value []byte) {
	key := []byte("user-1")
	for ts := range kafka.Timestamp(benchBatchBytes / (len(value) + 16)) {
		builder.Append(startTime+ts, key, value)
	}
}

// benchValue makes a record with a key of 6 bytes about recordBytes large.
func benchValue(recordBytes int) []byte { return bytes.Repeat([]byte("v"), recordBytes-16) }

func benchmarkAppend(b *testing.B, recordBytes int) {
	builder := record.NewBuilder(record.Options{})
	fill(builder, benchValue(recordBytes))
	batch, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	var server benchServer
	b.ReportAllocs()
	for b.Loop() {
		server.append(b, batch, builder.Count())
	}
	server.report(b)
}

// BenchmarkAppend100B appends full batches of 100-byte records: CRC, a look at every record, the copy
// into the segment, index entries and rolls.
func BenchmarkAppend100B(b *testing.B) { benchmarkAppend(b, 100) }

// BenchmarkAppend1KiB does the same with records of 1 KiB.
func BenchmarkAppend1KiB(b *testing.B) { benchmarkAppend(b, 1024) }

// BenchmarkEncodeAppend100B also builds every batch: encode, CRC, check and append in one goroutine.
func BenchmarkEncodeAppend100B(b *testing.B) { benchmarkEncodeAppend(b, 100) }

// BenchmarkEncodeAppend1KiB does the same with records of 1 KiB.
func BenchmarkEncodeAppend1KiB(b *testing.B) { benchmarkEncodeAppend(b, 1024) }

func benchmarkEncodeAppend(b *testing.B, recordBytes int) {
	builder := record.NewBuilder(record.Options{})
	value := benchValue(recordBytes)
	var server benchServer
	var batch []byte
	var err error
	b.ReportAllocs()
	for b.Loop() {
		builder.Reset()
		fill(builder, value)
		if batch, err = builder.Finish(); err != nil {
			b.Fatal(err)
		}
		server.append(b, batch, builder.Count())
	}
	server.report(b)
}

// benchLog is a log of so many batches of one record of 70 bytes, a millisecond apart, in segments of 1 MiB.
func benchLog(b *testing.B, batches int) *Log {
	config := DefaultConfig()
	config.SegmentBytes = 1 << 20
	log := New(new(simdisk.Disk), "orders-0", config, startTime)
	for i := range kafka.Timestamp(batches) {
		if _, err := log.Append(oneRecord(startTime+i), 0, startTime+i); err != nil {
			b.Fatal(err)
		}
	}
	return log
}

// BenchmarkRead fetches 1 KiB from a log of 1 MiB segments.
func BenchmarkRead(b *testing.B) {
	log := benchLog(b, 10_000)
	b.ReportAllocs()
	offset := kafka.Offset(0)
	for b.Loop() {
		if _, err := log.Read(offset, 1024, log.LogEndOffset(), true); err != nil {
			b.Fatal(err)
		}
		offset = (offset + 7919) % log.LogEndOffset()
	}
}

// BenchmarkLookupByOffset finds the batch of an offset among 100,000 in 7 segments: an index entry, then up to 58
// headers.
func BenchmarkLookupByOffset(b *testing.B) {
	log := benchLog(b, 100_000)
	b.ReportAllocs()
	offset := kafka.Offset(0)
	for b.Loop() {
		if _, _, err := log.locate(log.segmentAt(log.floorSegment(offset)), offset); err != nil {
			b.Fatal(err)
		}
		offset = (offset + 7919) % log.LogEndOffset()
	}
}

// BenchmarkLookupByTime finds the first record of a time in the same log: both indexes, headers, and the records of
// one batch.
func BenchmarkLookupByTime(b *testing.B) {
	log := benchLog(b, 100_000)
	b.ReportAllocs()
	offset := kafka.Timestamp(0)
	for b.Loop() {
		if found, err := log.OffsetForTimestamp(startTime + offset); err != nil || found.Offset != kafka.Offset(offset) {
			b.Fatal(found.Offset, err)
		}
		offset = (offset + 7919) % 100_000
	}
}

// BenchmarkRecovery opens a log of 16 MiB after an unclean stop, all of it above the recovery point: full batches of
// an idempotent producer with records of 100 bytes.
func BenchmarkRecovery(b *testing.B) {
	config := DefaultConfig()
	config.SegmentBytes = 1 << 20
	log := New(new(simdisk.Disk), "orders-0", config, startTime)
	producer := record.Producer{ID: 1}
	for log.Size() < 16<<20 {
		builder := record.NewBuilder(record.Options{Producer: &producer})
		fill(builder, benchValue(100))
		batch, err := builder.Build()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := log.Append(batch, 0, startTime); err != nil {
			b.Fatal(err)
		}
		producer.BaseSequence += kafka.Sequence(builder.Count())
	}
	b.SetBytes(int64(log.Size()))
	b.ReportAllocs()
	for b.Loop() {
		opened, recovered := Open(log.disk.Clone(), "orders-0", config, startTime, false, 0)
		if recovered.Bytes != log.Size() || opened.LogEndOffset() != log.LogEndOffset() {
			b.Fatalf("%+v", recovered)
		}
	}
}

// BenchmarkClone clones the 64 partitions of a topic with their disk, 8 segments each: with segments of
// 64 KiB the most that a run holds.
func BenchmarkClone(b *testing.B) {
	var disk simdisk.Disk
	var logs []*Log
	for p := range kafka.Partition(64) {
		config := DefaultConfig()
		config.SegmentBytes = 70
		log := New(&disk, kafka.TopicPartition{Topic: "orders", Partition: p}.String(), config, startTime)
		for range 8 {
			if _, err := log.Append(oneRecord(startTime), 0, startTime); err != nil {
				b.Fatal(err)
			}
		}
		logs = append(logs, log)
	}
	b.ReportAllocs()
	for b.Loop() {
		clone := disk.Clone()
		for _, log := range logs {
			log.Clone(clone)
		}
	}
}

// BenchmarkClean measures one cleaning of a log of small records in uncompressed batches of 16 KiB, with as many
// keys as a tenth of the records. The log is made while the clock stands still.
func BenchmarkClean(b *testing.B) {
	const records, perBatch = 100_000, 150
	config := DefaultConfig()
	config.Compact, config.SegmentBytes = true, 1<<20
	original := New(new(simdisk.Disk), "orders-0", config, startTime)
	value := benchValue(100)
	for n := 0; n < records; n += perBatch {
		builder := record.NewBuilder(record.Options{})
		for i := range perBatch {
			builder.Append(startTime, fmt.Appendf(nil, "user-%d", (n+i)*7919%(records/10)), value)
		}
		batch, err := builder.Build()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := original.Append(batch, 0, startTime); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	read := 0
	for b.Loop() {
		l := original.Clone(original.disk.Clone())
		done, err := l.Clean(l.Cleanable(kafka.NoOffset, l.LogEndOffset(), startTime), startTime)
		if err != nil {
			b.Fatal(err)
		}
		read += done.RecordsRead
	}
	b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "records/s")
}
