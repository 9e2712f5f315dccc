package record

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// A batch that Kafka 4.2 compressed with zstd by more than 8 to 1: null key, value of 300 letters "a".
func TestZstdOfHighRatio(t *testing.T) {
	raw, err := hex.DecodeString("00000000000000000000004effffffff02fa2b45140004000000000000018bcfe568000000018bcfe56800ffffffffffffffffffffffffffff0000000128b52ffd00588c000050e60400000001d80461000100282a3802010000")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	records, err := b.Records()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 1 || records[0].Key != nil || !bytes.Equal(records[0].Value, bytes.Repeat([]byte("a"), 300)) {
		t.Errorf("got %d records, the first with key %q and value %q", len(records), records[0].Key, records[0].Value)
	}
}

// Whatever the ratio, what is compressed comes back, with every codec.
func TestEveryRatio(t *testing.T) {
	for _, codec := range []Codec{None, Gzip, Snappy, LZ4, Zstd} {
		for _, size := range []int{1, 100, 5_000, 200_000, 3_000_000} {
			builder := NewBuilder(Options{Codec: codec})
			value := bytes.Repeat([]byte("a"), size)
			builder.Append(0, nil, value)
			raw, err := builder.Build()
			if err != nil {
				t.Fatal(err)
			}
			b, err := Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			records, err := b.Records()
			if err != nil || !bytes.Equal(records[0].Value, value) {
				t.Errorf("%s of %d bytes, %d compressed: %v", codec, size, len(raw), err)
			}
		}
	}
}
