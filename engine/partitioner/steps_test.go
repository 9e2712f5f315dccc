package partitioner

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/prng"
)

// The last step is the hash, and the steps read the key from its first byte to its last: for random keys
// of every length, those that are not UTF-8 included.
func TestStepsLeadToTheHash(t *testing.T) {
	rnd := prng.New(judgeSeed)
	for _, name := range Names() {
		p := byName(t, name)
		for length := range 41 {
			for round := range 40 {
				key := make([]byte, length)
				for i := range key {
					key[i] = byte(rnd.Uint32())
					if round%2 == 0 {
						key[i] = "user-1é日😀"[int(key[i])%len("user-1é日😀")]
					}
				}
				checkSteps(t, p, key)
			}
		}
		for _, key := range vectorKeys {
			checkSteps(t, p, []byte(key))
		}
	}
}

func checkSteps(t *testing.T, p Partitioner, key []byte) {
	t.Helper()
	steps := slices.Collect(p.Steps(key))
	if got, want := steps[len(steps)-1].Hash, p.Hash(key).Unsigned(); got != want {
		t.Fatalf("%s of %q: the steps end at %#08x, the hash is %#08x", p.Name, key, got, want)
	}
	var read []byte
	for i, s := range steps {
		if s.Name == "" || s.Rule == "" {
			t.Fatalf("%s of %q: step %+v says nothing", p.Name, key, s)
		}
		switch {
		case p.Name == "kafkajs-legacy" && s.Name == "tail": // read once more, as that client does
		case i > 0 && len(s.Bytes) > 0 && len(steps[i-1].Bytes) > 0 && &s.Bytes[0] == &steps[i-1].Bytes[0]: // the second half of a surrogate pair
		default:
			read = append(read, s.Bytes...)
		}
	}
	if !bytes.Equal(read, key) {
		t.Fatalf("%s of %q: the steps read %q", p.Name, key, read)
	}
}

// The steps of murmur2 as §3.1 writes them down, each number worked out apart.
func TestMurmur2StepsOfUser1(t *testing.T) {
	type step struct {
		name, bytes string
		word, hash  uint32
	}
	const m = 0x5bd1e995
	mix := func(k uint32) uint32 { k *= m; k ^= k >> 24; return k * m }
	start := uint32(0x9747b28c ^ 6)
	k := mix('u' | 's'<<8 | 'e'<<16 | 'r'<<24)
	word := start*m ^ k
	const tailBytes = '-' | '1'<<8
	tail := (word ^ tailBytes) * m
	first := tail ^ tail>>13
	want := []step{
		{"start", "", 0, 0x9747b28a}, {"word 1", "user", k, word}, {"tail", "-1", 0x312d, tail},
		{"finish 1", "", 0, first}, {"finish 2", "", 0, first * m}, {"finish 3", "", 0, 0x53b136cc},
	}
	if start != 0x9747b28a {
		t.Fatalf("the start is %#x", start)
	}
	var got []step
	for s := range byName(t, "murmur2").Steps([]byte("user-1")) {
		got = append(got, step{s.Name, string(s.Bytes), s.Word, s.Hash})
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// §3.2: FNV-1a starts at 811c9dc5 and gives e40c292c after "a"; §3.3: hashCode of "abc" is 97, 97·31+98, …
func TestStepsOfShortKeys(t *testing.T) {
	for _, test := range []struct {
		name, key string
		want      []uint32
	}{
		{"fnv1a", "a", []uint32{0x811c9dc5, 0xe40c292c}},
		{"crc32", "a", []uint32{0xffffffff, 0x174841bc, 0xe8b7be43}},
		{"java-hashcode", "abc", []uint32{0, 97, 97*31 + 98, 96354}},
		{"java-hashcode", "😀", []uint32{0, 0xd83d, 1772899}},
		{"murmur3", "", []uint32{0, 0, 0, 0, 0}},
	} {
		var got []uint32
		for s := range byName(t, test.name).Steps([]byte(test.key)) {
			got = append(got, s.Hash)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s of %q (-want +got):\n%s", test.name, test.key, diff)
		}
	}
}

// Who has seen enough of a long key's steps stops.
func TestStepsCanBeLeft(t *testing.T) {
	seen := 0
	for range byName(t, "fnv1a").Steps(make([]byte, 1000)) {
		if seen++; seen == 5 {
			break
		}
	}
	if seen != 5 {
		t.Errorf("%d steps were seen, want 5", seen)
	}
}
