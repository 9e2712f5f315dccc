package main

import (
	"encoding/hex"
	"math"
	"math/rand"
	"strconv"
	"testing"
)

// The digits are those of encoding/hex, for every byte at every place and any length.
func TestHexPairs(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	pairs := newHexPairs()
	rng := rand.New(rand.NewSource(3))
	for range 2000 {
		b := all[rng.Intn(256):]
		b = b[:rng.Intn(len(b)+1)]
		if got, want := string(pairs.append([]byte("x"), b)), "x"+hex.EncodeToString(b); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

// A counter gives what strconv gives, whatever number comes after which.
func TestCounter(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	n := int64(0)
	var c counter
	for range 100_000 {
		switch rng.Intn(5) {
		case 0:
			n = int64(rng.Uint64()) >> rng.Intn(64)
		case 1:
			n = []int64{math.MinInt64, -1, 0, 9_999, 10_000, 99_999_999, math.MaxInt64}[rng.Intn(7)]
		default: // past the largest it goes on with the smallest
			n += int64(rng.Intn(3_000))
		}
		if got, want := string(c.append([]byte("x"), n)), "x"+strconv.FormatInt(n, 10); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
