package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// benchSegment writes a segment of 64 MiB: batches of 16 KiB, records with a key and a value of so many bytes.
func benchSegment(b *testing.B, codec record.Codec, valueBytes int) (name string, size int64) {
	b.Helper()
	rng := rand.New(rand.NewSource(1))
	half := make([]byte, valueBytes/4) // hex digits for half of the value, so that more than half of it can be compressed away
	builder := record.NewBuilder(record.Options{Codec: codec})
	var content []byte
	next := kafka.Offset(0)
	for len(content) < 64<<20 {
		builder.Reset()
		for i := 0; builder.Size()+valueBytes < 16<<10; i++ {
			rng.Read(half)
			value := append(hex.AppendEncode(nil, half), bytes.Repeat([]byte("paid "), valueBytes/10)...)
			builder.Append(kafka.Timestamp(1700000000000)+kafka.Timestamp(next), fmt.Appendf(nil, "user-%d", i), value)
		}
		batch, err := builder.Build()
		if err != nil {
			b.Fatal(err)
		}
		record.Stamp(batch, next, 0)
		next += kafka.Offset(builder.Count())
		content = append(content, batch...)
	}
	name = filepath.Join(b.TempDir(), storage.SegmentFileName(0, storage.LogSuffix))
	if err := os.WriteFile(name, content, 0o600); err != nil {
		b.Fatal(err)
	}
	return name, int64(len(content))
}

// BenchmarkDump dumps a segment of 64 MiB in batches of 16 KiB to nowhere: MB of the file a second, beside a plain scan
// of it, which decompresses nothing, and a scan that decompresses and decodes, which is what no dump can do without.
func BenchmarkDump(b *testing.B) {
	for _, kind := range []struct {
		name  string
		codec record.Codec
		value int
	}{
		{"100B", record.None, 100}, {"1KiB", record.None, 1024}, {"1KiB-gzip", record.Gzip, 1024}, {"1KiB-snappy", record.Snappy, 1024},
		{"1KiB-lz4", record.LZ4, 1024}, {"1KiB-zstd", record.Zstd, 1024},
	} {
		name, size := benchSegment(b, kind.codec, kind.value)
		b.Run(kind.name+"/scan", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				plainScan(b, name)
			}
		})
		b.Run(kind.name+"/decode", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				decodeScan(b, name)
			}
		})
		for _, flag := range []string{"", "--json", "--check"} {
			args := []string{"dump", name}
			if flag != "" {
				args = append(args, flag)
			}
			b.Run(kind.name+"/dump"+flag, func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					if code := run(args, &stdio{Out: io.Discard, Err: os.Stderr}); code != exitOK {
						b.Fatal(code)
					}
				}
			})
		}
	}
}

// plainScan reads a segment and checks the checksum of each batch, and does no more.
func plainScan(b *testing.B, name string) {
	file, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	table := crc32.MakeTable(crc32.Castagnoli)
	buffer := make([]byte, 0, 128<<10)
	for {
		n, err := file.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		rest := buffer
		for len(rest) > 12 {
			size := 12 + int(binary.BigEndian.Uint32(rest[8:]))
			if len(rest) < size {
				break
			}
			if crc32.Checksum(rest[21:size], table) != binary.BigEndian.Uint32(rest[17:]) {
				b.Fatal("bad checksum")
			}
			rest = rest[size:]
		}
		buffer = buffer[:copy(buffer, rest)]
		if err == io.EOF {
			return
		}
	}
}

// decodeScan reads a segment, checks the checksum of each batch and walks over its records, and does no more.
func decodeScan(b *testing.B, name string) {
	file, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	segment := record.NewReader(file)
	for {
		batch, err := segment.Next()
		if err == record.ErrEnd {
			return
		}
		if err == nil {
			err = batch.CheckCRC()
		}
		if err == nil {
			err = checkRecords(segment.Scan(batch))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
