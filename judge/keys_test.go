//go:build judge

package judge

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"loglab/engine/partitioner"
	"loglab/engine/prng"
)

// partitionCounts are the sizes of topic that a key is placed in.
var partitionCounts = []int32{1, 2, 3, 6, 7, 12, 50, 64, 1000}

// drawKeys gives random keys of 0 to 64 bytes, half of them text. The first is empty; the FNV-1a of the
// second is 0x80000000, the number that has no absolute value. None is null.
func drawKeys(rnd *prng.Rand, n int) [][]byte {
	keys := [][]byte{{}, []byte("qqk42v")}
	for len(keys) < n {
		key := make([]byte, rnd.IntN(65))
		text := rnd.IntN(2) == 0
		for i := range key {
			key[i] = byte(rnd.Uint32())
			if text {
				key[i] = "abcdefghijklmnopqrstuvwxyz-0123456789"[rnd.IntN(37)]
			}
		}
		keys = append(keys, key)
	}
	return keys
}

// keyQuestions asks for each key's place in topics of partitionCounts: the key in hex, then the counts.
func keyQuestions(keys [][]byte) []string {
	counts := strings.Trim(fmt.Sprint(partitionCounts), "[]")
	questions := make([]string, len(keys))
	for i, key := range keys {
		questions[i] = hex.EncodeToString(key) + " " + counts
	}
	return questions
}

// placesOf is what the named partitioner of ours answers to a question of keyQuestions.
func placesOf(t *testing.T, name string, key []byte) string {
	t.Helper()
	p, err := partitioner.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	places := make([]string, len(partitionCounts))
	for i, n := range partitionCounts {
		partition, keyed := p.Partition(key, n)
		places[i] = fmt.Sprint(partition)
		if !keyed {
			places[i] = "keyless"
		}
	}
	return strings.Join(places, " ")
}

// comparePlaces holds the named partitioner of ours against what a judge answered to keyQuestions.
func comparePlaces(t *testing.T, name string, keys [][]byte, judged []string) {
	t.Helper()
	for i, key := range keys {
		if ours := placesOf(t, name, key); ours != judged[i] {
			t.Fatalf("%s, key %x, partitions of topics with %v:\n ours  %s\n judge %s", name, key, partitionCounts, ours, judged[i])
		}
	}
	t.Logf("%s: %d keys in %d sizes of topic", name, len(keys), len(partitionCounts))
}
