package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"runtime"
	"strings"
	"testing"

	"github.com/golang/snappy"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// The same three records, compressed by the Java client of Kafka 4.2 with each codec.
var javaCompressed = []struct {
	codec Codec
	hex   string
}{
	{None, "00000000000000000000007bffffffff028bf97c870000000000020000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff00000003580000000c757365722d31406161616161616161616161616161616161616161616161616161616161616161002a000a020c757365722d3101040468310278046832010c000504010000"},
	{Gzip, "00000000000000000000006cffffffff02c1b7c1c70001000000020000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff000000031f8b08000000000000ff8b606060e0292d4e2dd2357448240018b418b898a08a195958320c992a58328c187918585918191800cf7c84cb4a000000"},
	{Snappy, "000000000000000000000072ffffffff0217751c160002000000020000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff0000000382534e415050590000000001000000010000002d4a30580000000c757365722d3140617a010010002a000a020d2d4401040468310278046832010c000504010000"},
	{LZ4, "00000000000000000000006dffffffff029f5782de0003000000020000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff0000000304224d186040822d000000df580000000c757365722d31406101000c53002a000a022d00f00301040468310278046832010c00050401000000000000"},
	{Zstd, "00000000000000000000006affffffff025714e6820004000000020000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff0000000328b52ffd00586c01004402580000000c757365722d314061002a000a0201040468310278046832010c000504010000020050655a03be010000"},
}

// appendJavaRecords appends what is in javaCompressed.
func appendJavaRecords(b *Builder) {
	b.Append(T, []byte("user-1"), bytes.Repeat([]byte("a"), 32))
	b.Append(T+5, []byte("user-1"), nil, Header{Key: "h1", Value: []byte("x")}, Header{Key: "h2"})
	b.Append(T-3, nil, []byte{})
}

func TestReadsWhatJavaCompresses(t *testing.T) {
	var plain []Record
	for _, test := range javaCompressed {
		raw := unhex(t, test.hex)
		batch := parse(t, raw)
		if batch.Attributes.Codec() != test.codec {
			t.Fatalf("codec is %v, want %v", batch.Attributes.Codec(), test.codec)
		}
		records, err := batch.Records()
		if err != nil {
			t.Fatalf("%v: %v", test.codec, err)
		}
		if test.codec == None {
			b := NewBuilder(Options{})
			appendJavaRecords(b)
			ours, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			wantBytes(t, "uncompressed", ours, raw)
			plain = records
		}
		if diff := cmp.Diff(plain, records); diff != "" {
			t.Errorf("%v (-none +%v)\n%s", test.codec, test.codec, diff)
		}
	}
}

// Where Java's framing is fixed, ours begins with the same bytes; of snappy and lz4 all is equal here.
func TestWritesJavasFraming(t *testing.T) {
	same := map[Codec]int{Gzip: 3, Snappy: math.MaxInt, LZ4: 7, Zstd: 4}
	for _, test := range javaCompressed[1:] {
		b := NewBuilder(Options{Codec: test.codec})
		appendJavaRecords(b)
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		want := unhex(t, test.hex)[HeaderSize:]
		n := min(same[test.codec], len(want))
		wantBytes(t, fmt.Sprintf("first %d bytes of %v", n, test.codec), raw[HeaderSize:][:n], want[:n])
	}
}

// compressible is deterministic data of n bytes, half of it repetitive.
func compressible(n int) []byte {
	rng := rand.New(rand.NewSource(1))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `{"user":"user-%d","amount":%d},`, rng.Intn(50), rng.Intn(1_000_000))
	}
	return b.Bytes()[:n]
}

// The compressed bytes are the same on every machine: these hashes hold with and without assembly
// (go test -tags noasm) and must not change with a library, or an address replays differently.
func TestCompressionIsDeterministic(t *testing.T) {
	want := map[Codec]string{
		Gzip:   "ea56d0948f22133f",
		Snappy: "76e4f9ac8323f355",
		LZ4:    "406e7cec884d3720",
		Zstd:   "0ff357921c2556ed",
	}
	for codec, hash := range want {
		var all []byte
		c := new(compressor)
		for _, n := range []int{0, 1, 100, 16 << 10, 100_000, 1 << 20} {
			src := compressible(n)
			out, err := c.append(nil, codec, src)
			if err != nil {
				t.Fatal(err)
			}
			again, err := new(compressor).append(nil, codec, src)
			if err != nil || !bytes.Equal(out, again) {
				t.Errorf("%v of %d bytes: a new compressor gives other bytes (%v)", codec, n, err)
			}
			all = append(all, out...)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(all))[:16]; got != hash {
			t.Errorf("%v: hash is %s, want %s", codec, got, hash)
		}
	}
}

func TestDecompressRoundTrip(t *testing.T) {
	for codec := Gzip; codec <= Zstd; codec++ {
		for _, n := range []int{1, 61, 32<<10 - 1, 32 << 10, 32<<10 + 1, 128<<10 + 5, 3 << 20} {
			src := compressible(n)
			out, err := new(compressor).append([]byte("before"), codec, src)
			if err != nil || string(out[:6]) != "before" {
				t.Fatalf("%v of %d bytes: %v", codec, n, err)
			}
			back, err := decompress(codec, out[6:])
			if err != nil || !bytes.Equal(back, src) {
				t.Errorf("%v of %d bytes: %d bytes come back, %v", codec, n, len(back), err)
			}
		}
	}
}

// 8 blocks of 32 KiB: the framing is that of SnappyOutputStream.
func TestSnappyFraming(t *testing.T) {
	src := compressible(256 << 10)
	out := appendXerial(nil, src)
	if string(out[:16]) != "\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01" {
		t.Errorf("header is %x", out[:16])
	}
	blocks := 0
	for at := 16; at < len(out); blocks++ {
		length := int(binary.BigEndian.Uint32(out[at:]))
		if n, err := snappy.DecodedLen(out[at+4 : at+4+length]); n != 32<<10 || err != nil {
			t.Errorf("block %d decodes to %d bytes, %v, want %d", blocks, n, err, 32<<10)
		}
		at += 4 + length
	}
	if blocks != 8 {
		t.Errorf("%d blocks, want 8", blocks)
	}
	bare, err := decodeSnappy(nil, snappy.Encode(nil, src))
	if err != nil || !bytes.Equal(bare, src) {
		t.Errorf("a bare block: %d bytes, %v", len(bare), err)
	}
}

// zeros compresses n zero bytes: a small block that holds a lot.
func zeros(t *testing.T, codec Codec, n int) []byte {
	out, err := new(compressor).append(nil, codec, make([]byte, n))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDecompressionIsBounded(t *testing.T) {
	for codec := Gzip; codec <= Zstd; codec++ {
		out, err := decompress(codec, zeros(t, codec, MaxDecompressedBytes))
		if err != nil || len(out) != MaxDecompressedBytes {
			t.Errorf("%v: %d bytes, %v, want %d", codec, len(out), err, MaxDecompressedBytes)
		}
		block := zeros(t, codec, MaxDecompressedBytes+1)
		if out, err = decompress(codec, block); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v: a block of %d bytes gives %d, %v, want %v", codec, len(block), len(out), err, ErrCorrupt)
		}
	}
}

// Nothing is allocated from a length that a block only declares.
func TestDeclaredSizesAreNotBelieved(t *testing.T) {
	xerial := func(block string) string { return xerialHeader + block }
	tests := []struct {
		name  string
		codec Codec
		block string
	}{
		{"gzip that is no gzip", Gzip, "hello"},
		{"gzip that is cut", Gzip, "\x1f\x8b\x08\x00"},
		{"snappy of 4 GiB", Snappy, "\xff\xff\xff\xff\x0f"},
		{"snappy of 30 MiB in 10 bytes", Snappy, "\x80\x80\x80\x0f\x00aaaaa"},
		{"xerial with a block length past the end", Snappy, xerial("\x7f\xff\xff\xff")},
		{"xerial with a negative block length", Snappy, xerial("\xff\xff\xff\xff")},
		{"xerial that is cut in a block length", Snappy, xerial("\x00\x00")},
		{"xerial of version 2", Snappy, xerialHeader[:15] + "\x02"},
		{"lz4 that is no lz4", LZ4, "hello"},
		{"lz4 with a block of 2 GiB", LZ4, "\x04\x22\x4d\x18\x60\x40\x82\xff\xff\xff\x7f"},
		{"lz4 of block size 4 MiB that is cut", LZ4, "\x04\x22\x4d\x18\x60\x70\x73\x00"},
		{"zstd that is no zstd", Zstd, "hello"},
		{"zstd of 30 MiB in 13 bytes", Zstd, "\x28\xb5\x2f\xfd\xa0\x00\x00\xe0\x01\x03\x00\x00a"},
		{"zstd of 4 GiB", Zstd, "\x28\xb5\x2f\xfd\xe0\xff\xff\xff\xff\x00\x00\x00\x00"},
		{"codec 5", 5, "hello"},
		{"codec 7", 7, "hello"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out, err := decompress(test.codec, []byte(test.block))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%d bytes, %v, want %v", len(out), err, ErrCorrupt)
			}
			// An lz4 frame may ask for blocks of 4 MiB, and its reader takes two.
			if used := after.TotalAlloc - before.TotalAlloc; used > 10<<20 {
				t.Errorf("%d bytes were allocated for a block of %d", used, len(test.block))
			}
		})
	}
}

// zstd level 22 of the Java client declares a window of 128 MiB, and no content size.
func TestZstdWindowOfLevel22(t *testing.T) {
	src := compressible(1 << 20)
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		t.Fatal(err)
	}
	for half := range 2 { // in two writes and a flush, so that the size is not known in advance
		if _, err := w.Write(src[half<<19 : (half+1)<<19]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var header zstd.Header
	if err := header.Decode(out.Bytes()); err != nil || header.WindowSize != 128<<20 || header.HasFCS {
		t.Fatalf("the test's frame has window %d and a size %v: %v", header.WindowSize, header.HasFCS, err)
	}
	if back, err := decompress(Zstd, out.Bytes()); err != nil || !bytes.Equal(back, src) {
		t.Errorf("%d bytes come back, %v", len(back), err)
	}
}

// A fault inside compressed records has the position of the block and names the byte in the data.
func TestFaultInCompressedRecords(t *testing.T) {
	b := NewBuilder(Options{Codec: Gzip})
	b.Append(T, nil, nil)
	b.buffer[len(b.buffer)-1] = 2 // header count 1, but there is no header
	raw, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	_, err = parse(t, raw).Records()
	var at *PositionError
	if !errors.As(err, &at) || at.Kind != ErrCorrupt || at.Position != HeaderSize || !strings.Contains(at.What, "byte 6 of the decompressed records") {
		t.Errorf("error is %v, want %v at byte %d that names byte 6", err, ErrCorrupt, HeaderSize)
	}
}
