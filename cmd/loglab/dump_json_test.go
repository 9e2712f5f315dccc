package main

import (
	"encoding/hex"
	"math/rand"
	"testing"
)

// The digits are those of encoding/hex, for every byte at every place and any length.
func TestAppendHex(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	rng := rand.New(rand.NewSource(3))
	for range 2000 {
		b := all[rng.Intn(256):]
		b = b[:rng.Intn(len(b)+1)]
		if got, want := string(appendHex([]byte("x"), b)), "x"+hex.EncodeToString(b); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
