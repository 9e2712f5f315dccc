package assignor

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHashOfString(t *testing.T) {
	for _, test := range []struct {
		text string
		want uint32
	}{
		{"", 0},
		{"a", 97},
		{"m0", 109*31 + 48},
		{"polygenelubricants", 1 << 31},
		{"ä", 0xe4},
		{"😀", 0xd83d*31 + 0xde00}, // two UTF-16 units
	} {
		if got := hashOfString(test.text); got != test.want {
			t.Errorf("%q: got %d, want %d", test.text, got, test.want)
		}
	}
}

func TestHashTableOrder(t *testing.T) {
	insert := func(hashes ...uint32) *hashTable[uint32] {
		var table hashTable[uint32]
		for _, hash := range hashes {
			table.insert(hash, hash)
		}
		return &table
	}
	for _, test := range []struct {
		name   string
		hashes []uint32
		want   []uint32
	}{
		{"by bucket", []uint32{3, 1, 2}, []uint32{1, 2, 3}},
		{"of 16; in a bucket by arrival", []uint32{17, 2, 1, 33}, []uint32{17, 1, 33, 2}},
		{"the upper half counts", []uint32{1, 3 << 16, 2}, []uint32{1, 2, 3 << 16}},
		{"32 buckets from the thirteenth value on", []uint32{16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
			[]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16}},
		{"or when one bucket has nine", []uint32{16, 0, 32, 64, 96, 128, 160, 192, 224},
			[]uint32{0, 32, 64, 96, 128, 160, 192, 224, 16}},
	} {
		if diff := cmp.Diff(test.want, insert(test.hashes...).values()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	table := insert(2, 18, 1)
	for _, want := range []uint32{1, 2, 18} {
		got := table.first()
		if got != want || !slices.Contains(table.values(), want) {
			t.Errorf("first: got %d, want %d", got, want)
		}
		table.remove(got, got)
	}
	if table.size != 0 {
		t.Errorf("%d values are left", table.size)
	}
}
