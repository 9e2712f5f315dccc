package record

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/rand"
	"testing"
)

// Facts §1.2: the zigzag vectors.
func TestVarintVectors(t *testing.T) {
	tests := []struct {
		n   int64
		hex string
	}{
		{0, "00"}, {-1, "01"}, {1, "02"}, {-2, "03"}, {2, "04"}, {63, "7e"}, {-64, "7f"}, {64, "8001"}, {-65, "8101"},
		{127, "fe01"}, {128, "8002"}, {300, "d804"}, {-300, "d704"}, {8191, "fe7f"}, {8192, "808001"},
		{1700000000000, "80a0abfef962"}, {math.MaxInt32, "feffffff0f"}, {math.MinInt32, "ffffffff0f"},
		// By the definition, the ends of a varlong.
		{math.MaxInt64, "feffffffffffffffff01"}, {math.MinInt64, "ffffffffffffffffff01"},
	}
	for _, test := range tests {
		want, _ := hex.DecodeString(test.hex)
		got := make([]byte, 10)
		got = got[:putVarint(got, 0, test.n)]
		if !bytes.Equal(got, want) {
			t.Errorf("%d is written %x, want %s", test.n, got, test.hex)
		}
		if size := sizeVarint(test.n); size != len(want) {
			t.Errorf("sizeVarint(%d) = %d, want %d", test.n, size, len(want))
		}
		if n, size, err := varlong(want); n != test.n || size != len(want) || err != nil {
			t.Errorf("varlong(%s) = %d, %d, %v, want %d, %d", test.hex, n, size, err, test.n, len(want))
		}
		n, size, err := varint(want)
		if test.n == int64(int32(test.n)) {
			if int64(n) != test.n || size != len(want) || err != nil {
				t.Errorf("varint(%s) = %d, %d, %v, want %d, %d", test.hex, n, size, err, test.n, len(want))
			}
		} else if !errors.Is(err, errVarintLong) {
			t.Errorf("varint(%s) = %d, %v, want %v", test.hex, n, err, errVarintLong)
		}
	}
}

func TestVarintRefuses(t *testing.T) {
	tests := []struct {
		name, hex string
		read      func([]byte) error
		want      error
	}{
		{"varint of no bytes", "", readVarint, errVarintShort},
		{"varint that ends too soon", "ff", readVarint, errVarintShort},
		{"varint of 6 bytes", "808080808000", readVarint, errVarintLong},
		{"varint of 5 bytes that goes on", "8080808080", readVarint, errVarintLong},
		{"varint of 33 bits", "ffffffff1f", readVarint, errVarintLong},
		{"varlong of no bytes", "", readVarlong, errVarintShort},
		{"varlong that ends too soon", "ffffffffffffffffff", readVarlong, errVarintShort},
		{"varlong of 11 bytes", "8080808080808080808000", readVarlong, errVarintLong},
		{"varlong of 65 bits", "ffffffffffffffffff02", readVarlong, errVarintLong},
	}
	for _, test := range tests {
		raw, _ := hex.DecodeString(test.hex)
		if err := test.read(raw); !errors.Is(err, test.want) {
			t.Errorf("%s (%s): %v, want %v", test.name, test.hex, err, test.want)
		}
	}
}

func readVarint(b []byte) error  { _, _, err := varint(b); return err }
func readVarlong(b []byte) error { _, _, err := varlong(b); return err }

// encoding/binary writes the same zigzag varints.
func TestVarintAgainstEncodingBinary(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewSource(seed))
	for i := range 10_000 {
		n := int64(rng.Uint64()) >> rng.Intn(64)
		want := binary.AppendVarint(nil, n)
		got := make([]byte, 10)
		got = got[:putVarint(got, 0, n)]
		if !bytes.Equal(got, want) || sizeVarint(n) != len(want) {
			t.Fatalf("seed %d, number %d: %d is %x with size %d, want %x", seed, i, n, got, sizeVarint(n), want)
		}
		if back, size, err := varlong(got); back != n || size != len(got) || err != nil {
			t.Fatalf("seed %d, number %d: %x reads as %d, %d, %v, want %d", seed, i, got, back, size, err, n)
		}
	}
}
