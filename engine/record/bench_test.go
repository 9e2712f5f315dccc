package record

import (
	"bytes"
	"testing"

	"loglab/engine/kafka"
)

// batchSize is the default batch.size of the Java producer.
const batchSize = 16 << 10

func BenchmarkEncode100B(b *testing.B) { benchmarkEncode(b, 100) }
func BenchmarkEncode1KiB(b *testing.B) { benchmarkEncode(b, 1024) }

// benchmarkEncode fills batches up to batch.size, builds them with their CRC and stamps them as the
// leader does.
func benchmarkEncode(b *testing.B, valueSize int) {
	value := bytes.Repeat([]byte{'x'}, valueSize)
	builder := NewBuilder(Options{})
	records := 0
	b.ReportAllocs()
	for b.Loop() {
		builder.Reset()
		for ts := kafka.Timestamp(T); builder.Size()+RecordSizeUpperBound(nil, value) <= batchSize; ts++ {
			builder.Append(ts, nil, value)
		}
		batch, err := builder.Finish()
		if err != nil {
			b.Fatal(err)
		}
		Stamp(batch, 1000, 7)
		records += builder.Count()
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkScan checks and walks over a batch of 100-byte records, without and with keys.
func BenchmarkScan(b *testing.B) {
	builder := NewBuilder(Options{})
	value := bytes.Repeat([]byte{'x'}, 100)
	for builder.Size()+RecordSizeUpperBound(nil, value) <= batchSize {
		builder.Append(T, nil, value)
	}
	raw, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	records := 0
	b.ReportAllocs()
	for b.Loop() {
		batch, err := Parse(raw)
		if err == nil {
			err = batch.CheckCRC()
		}
		if err != nil {
			b.Fatal(err)
		}
		s := batch.Scan()
		for s.Next() {
			records += len(s.Record().Value) / 100
		}
		if s.Err() != nil {
			b.Fatal(s.Err())
		}
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}
