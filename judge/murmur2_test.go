//go:build judge

package judge

import (
	"fmt"
	"strings"
	"testing"

	"loglab/engine/partitioner"
)

// Kafka's Utils.murmur2 gives the same 32 bits, and BuiltInPartitioner.partitionForKey the same partition.
func TestMurmur2(t *testing.T) {
	rnd := draws(t)
	keys := drawKeys(&rnd, 100_000)
	judged := answers(t, kafkaProgram(t, "Murmur2"), keyQuestions(keys))

	murmur2, err := partitioner.ByName("murmur2")
	if err != nil {
		t.Fatal(err)
	}
	places := make([]string, len(keys))
	for i, key := range keys {
		var hash string
		hash, places[i], _ = strings.Cut(judged[i], " ")
		if ours := fmt.Sprint(murmur2.Hash(key).Signed()); ours != hash {
			t.Fatalf("murmur2 of %x: ours %s, Kafka %s", key, ours, hash)
		}
	}
	comparePlaces(t, "murmur2", keys, places)
}
