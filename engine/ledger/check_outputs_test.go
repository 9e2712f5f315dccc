package ledger

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// The first output of an input may be committed, again by a marker that was lost, and no second one, but where somebody
// had a member read again.
func TestOutputsOnce(t *testing.T) {
	const in = "in"
	state := GroupState{ID: "app", Outputs: "orders", InputOf: func(value []byte) (tp kafka.TopicPartition, offset kafka.Offset, found bool) {
		text, found := strings.CutPrefix(string(value), "of ")
		n, err := strconv.Atoi(text)
		return kafka.TopicPartition{Topic: in}, kafka.Offset(n), found && err == nil
	}}
	batch := func(base kafka.Offset, values ...string) []byte {
		b := record.NewBuilder(record.Options{Transactional: true, Producer: &record.Producer{ID: 1}})
		for _, v := range values {
			b.Append(1000, []byte("k"), []byte(v))
		}
		data, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		binary.BigEndian.PutUint64(data, uint64(base)) // no checksum covers it
		return data
	}
	for _, tc := range []struct {
		what    string
		batches [][]byte
		chosen  bool
		wrong   int
	}{
		{"one each", [][]byte{batch(0, "of 1", "of 2"), batch(3, "of 3")}, false, 0},
		{"by the same marker again", [][]byte{batch(0, "of 1", "of 2"), batch(0, "of 1", "of 2")}, false, 0},
		{"others", [][]byte{batch(0, "of one", "x"), batch(3, "x", "of one")}, false, 0},
		{"one of two again", [][]byte{batch(0, "of 1", "of 2"), batch(3, "of 2", "of 3")}, false, 1},
		{"read again by hand", [][]byte{batch(0, "of 1"), batch(3, "of 1")}, true, 0},
	} {
		var k Checker
		k.partitions = map[kafka.TopicPartition]*partitionSeen{}
		g := k.group(state.ID)
		g.chosen[kafka.TopicPartition{Topic: in}] = tc.chosen
		for _, b := range tc.batches {
			k.takeOutputs(&state, g, orders0, b)
		}
		if len(k.out) != tc.wrong || tc.wrong > 0 && k.out[0].Invariant != OutputsOnce {
			t.Errorf("%s: %v", tc.what, k.out)
		}
	}
}
