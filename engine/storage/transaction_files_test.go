package storage

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// §2.2, .txnindex: producer 1000, records 100 to the marker 103, last stable offset 104.
func TestTransactionIndexVector(t *testing.T) {
	vector := unhex("0000 00000000000003e8 0000000000000064 0000000000000067 0000000000000068")
	want := []AbortedTransaction{{ProducerID: 1000, FirstOffset: 100, LastOffset: 103, LastStableOffset: 104}}
	got, err := ParseTransactionIndex(vector)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if b := appendAbortedTransaction(nil, want[0]); !bytes.Equal(b, vector) {
		t.Errorf("the entry is written %x, want %x", b, vector)
	}
	for says, b := range map[string][]byte{
		"entry 0 (byte 0): only 33 of 34 bytes":          vector[:33],
		"entry 1 (byte 34): only 1 of 34 bytes":          append(bytes.Clone(vector), 0),
		"entry 0 (byte 0): version is 1, allowed is 0":   append([]byte{0, 1}, vector[2:]...),
		"entry 1 (byte 34): last offset is 103, must be": append(bytes.Clone(vector), vector...),
	} {
		if _, err := ParseTransactionIndex(b); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%x: %v, want it to say %q", b, err, says)
		}
	}
}

// §2.2, .snapshot: producer 1000, epoch 2, last sequence 7, last offset 102, delta 2, T+5, coordinator epoch 4,
// transaction open since 100.
func TestProducerSnapshotVector(t *testing.T) {
	vector := unhex("0001 e085b298 00000001 00000000000003e8 0002 00000007 0000000000000066 00000002 0000018bcfe56805 00000004 0000000000000064")
	want := []ProducerSnapshotEntry{{
		ProducerID: 1000, ProducerEpoch: 2, LastSequence: 7, LastOffset: 102, OffsetDelta: 2, Timestamp: startTime + 5,
		CoordinatorEpoch: 4, TransactionFirstOffset: 100,
	}}
	got, err := ParseProducerSnapshot(vector)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if b := encodeProducerSnapshot(want); !bytes.Equal(b, vector) {
		t.Errorf("the snapshot is written %x, want %x", b, vector)
	}
	damaged := bytes.Clone(vector)
	damaged[20]++
	declared := encodeProducerSnapshot(append(want, want...))
	for says, b := range map[string][]byte{
		"only 9 of 10 bytes of the header": vector[:9],
		"version is 2, allowed is 1":       append([]byte{0, 2}, vector[2:]...),
		"CRC is e085b298, the bytes give":  damaged,
		"CRC is":                           declared[:len(declared)-1],
	} {
		if _, err := ParseProducerSnapshot(b); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%x: %v, want it to say %q", b, err, says)
		}
	}
}

// Whatever the bytes, both files are parsed or refused, and what was parsed formats back to the same bytes.
func FuzzTransactionFiles(f *testing.F) {
	f.Add(unhex("0000 00000000000003e8 0000000000000064 0000000000000067 0000000000000068"))
	f.Add(unhex("0001 e085b298 00000001 00000000000003e8 0002 00000007 0000000000000066 00000002 0000018bcfe56805 00000004 0000000000000064"))
	f.Add(encodeProducerSnapshot(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		aborted, _ := ParseTransactionIndex(b)
		var again []byte
		for _, e := range aborted {
			again = appendAbortedTransaction(again, e)
		}
		if !bytes.HasPrefix(b, again) {
			t.Fatalf("%v formats to %x, not to the start of %x", aborted, again, b)
		}
		if producers, err := ParseProducerSnapshot(b); err == nil && !bytes.Equal(encodeProducerSnapshot(producers), b) {
			t.Fatalf("%v formats to %x, not to %x", producers, encodeProducerSnapshot(producers), b)
		}
	})
}
