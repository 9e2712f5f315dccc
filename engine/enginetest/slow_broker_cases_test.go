package enginetest

import (
	"math"
	"slices"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// slowBroker sends records of 100 bytes without a key, rate a millisecond, to three partitions on a broker each, of
// which that of partition 0 takes some time for each write.
func slowBroker(t *testing.T, keyless string, adaptive bool, rate int, delay string, ticks int) *engine.Cluster {
	t.Helper()
	spec := replicated(3, 1)
	spec.Topic.Partitions, spec.Topic.ReplicationFactor = 3, 1
	spec.Topic.Replicas = [][]kafka.BrokerID{{1}, {2}, {3}}
	spec.Group.Consumers = 0
	spec.Producers[0].Config.Keyless, spec.Producers[0].Config.AdaptiveKeyless = keyless, adaptive
	spec.Producers[0].Workload = engine.Workload{Rate: rate, Every: 1, ValueBytes: 100}
	c := start(t, spec)
	give(t, c, "slow-disk b1 "+delay)
	tick(t, c, ticks)
	return c
}

// chosen gives the partition of each record that p0 was handed, in order.
func chosen(c *engine.Cluster) (list []kafka.Partition) {
	for _, p := range all[journal.RecordPartitioned](c, "p0") {
		list = append(list, p.TopicPartition.Partition)
	}
	return list
}

// shares gives each partition's part of the records.
func shares(list []kafka.Partition) (parts [3]float64) {
	for _, p := range list {
		parts[p] += 1 / float64(len(list))
	}
	return parts
}

// fullBatch is how many records of 100 bytes go into a batch of batch.size = 16,384 at one a millisecond: the header
// takes 61 bytes, each of the first 64 records 109, and each later one 111, for its deltas take two bytes each:
// 64 + (16,384 - 61 - 64 × 109) / 111 = 148. The case says 150, which is 16,384 / 109.
const fullBatch = 148

// PART-07, KIP-480: a switch comes with a new batch, and the slow broker's batches are full, while one record goes
// to each of the others.
func TestPART07Sticky480(t *testing.T) {
	list := chosen(slowBroker(t, "sticky-480", true, 1, "200ms", 600))
	lengths := [3][]int{}
	for i, run := 0, 0; i < len(list); i++ {
		run++
		if i+1 == len(list) || list[i+1] != list[i] {
			lengths[list[i]] = append(lengths[list[i]], run)
			run = 0
		}
	}
	// The first visits end sooner: b1 has no five requests in flight yet. The last one is not over.
	const first = 10
	for p, want := range [3]int{fullBatch, 1, 1} {
		visits := lengths[p][first : len(lengths[p])-1]
		if len(visits) < 10 || slices.Min(visits) != want || slices.Max(visits) != want {
			t.Errorf("visits to p%d have %v records, want %d each", p, visits, want)
		}
	}
	if got, want := shares(list[len(list)/4:])[0], 0.987; math.Abs(got-want) > 0.005 {
		t.Errorf("p0 has %.3f of the records, want about %.3f", got, want)
	}
}

// PART-07, KIP-794: a switch comes with bytes, so that each partition has the same part as long as the slow broker
// keeps up. Once it does not, its queue always ends in a batch that is not full: a switch is then put off until
// 2 × batch.size, and without adaptive partitioning p0 gets twice as much as each other. With it p0 gets less.
func TestPART07Sticky(t *testing.T) {
	for _, test := range []struct {
		name  string
		rate  int
		delay string
		want  [3]float64
	}{
		{"it keeps up, adaptive off", 4, "5ms", [3]float64{1. / 3, 1. / 3, 1. / 3}},
		{"it does not, adaptive off", 8, "200ms", [3]float64{1. / 2, 1. / 4, 1. / 4}},
	} {
		for p, share := range shares(chosen(slowBroker(t, "sticky", false, test.rate, test.delay, 1000))) {
			if math.Abs(share-test.want[p]) > 0.04 {
				t.Errorf("%s: p%d has %.3f of the records, want about %.3f", test.name, p, share, test.want[p])
			}
		}
	}
	if got := shares(chosen(slowBroker(t, "sticky", true, 8, "200ms", 1000)))[0]; got >= 1.0/3 {
		t.Errorf("adaptive on: p0 has %.3f of the records, want less than 0.333", got)
	}
}
