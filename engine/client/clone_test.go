package client

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// storm runs a producer among brokers that refuse, lose connections and change leaders as a seed says. From is
// where it goes on from another run's state.
func storm(t *testing.T, seed uint64, f *fake, steps, from, to int) {
	for step := from; step < to; step++ {
		rnd := rand.New(rand.NewPCG(seed, uint64(step)))
		f.refuse, f.lose = func(n int, p int32) int16 {
			r := rand.New(rand.NewPCG(seed, uint64(n)*64+uint64(p)))
			if step > steps*3/4 || r.IntN(3) > 0 {
				return 0
			}
			codes := []int16{kerr.NotEnoughReplicas.Code, kerr.NotLeaderForPartition.Code, kerr.RequestTimedOut.Code, kerr.MessageTooLarge.Code}
			if patient(seed) {
				codes = codes[:3]
			}
			return codes[r.IntN(len(codes))]
		}, func(n int) bool {
			return step < steps*3/4 && rand.New(rand.NewPCG(seed, uint64(n)<<20)).IntN(8) == 0
		}
		if rnd.IntN(20) == 0 {
			p := rnd.IntN(len(f.leaders))
			f.leaders[p] = int32(1 + rnd.IntN(3))
			f.epochs[p]++
		}
		for range rnd.IntN(4) {
			f.produce(kafka.Partition(rnd.IntN(len(f.leaders))), fmt.Sprintf("k%d", f.out.Source.Handed().Len()))
		}
		f.run(kafka.Millis(rnd.IntN(60)))
	}
}

// fork gives a fake in the same state with a clone of the producer.
func (f *fake) fork() *fake {
	c := *f
	c.producer, c.journal, c.out = f.producer.Clone(), f.journal.Clone(), f.out.Clone()
	c.way, c.leaders, c.epochs = slices.Clone(f.way), slices.Clone(f.leaders), slices.Clone(f.epochs)
	c.logs, c.codes = make([][]string, len(f.logs)), slices.Clone(f.codes)
	for i := range f.logs {
		c.logs[i] = slices.Clone(f.logs[i])
	}
	c.states = map[string]state{}
	for k, v := range f.states {
		c.states[k] = v
	}
	return &c
}

// However brokers refuse and connections break: a clone runs as a run from the beginning does, whatever its original
// does meanwhile; every record has exactly one outcome in the end; what is acknowledged stands in the log at its
// offset; and with sequences nothing stands there twice, and records stand in the order of their handing in, in
// partitions whose sequences never began anew. No epoch is raised where no batch is given up.
func TestStorms(t *testing.T) {
	const steps = 120
	raised, settled := 0, 0
	for seed := range uint64(60) {
		config := DefaultProducerConfig("orders")
		config.Linger, config.BatchSize = kafka.Millis(seed%3*70), 150+int(seed%5)*200
		config.EnableIdempotence = []Idempotence{IdempotenceOn, IdempotenceOff}[seed%2]
		config.MaxInFlight = 1 + int(seed/2%5)
		config.RequestTimeout, config.DeliveryTimeout = 400, kafka.Millis(600+seed*100)
		if patient(seed) {
			config.DeliveryTimeout = 120000
		}
		f := newFake(t, config, 1, 2, 1, 3)
		storm(t, seed, f, steps, 0, int(seed))
		c, other := f.fork(), f.fork()
		for step := int(seed); step < steps; step++ { // three runs from one state, each its own way
			storm(t, seed+1000, f, steps, step, step+1)
			storm(t, seed, c, steps, step, step+1)
			storm(t, seed+2000, other, steps, step, step+1)
		}
		f = newFake(t, config, 1, 2, 1, 3)
		storm(t, seed, f, steps, 0, steps)
		if f.told() != c.told() || f.outcomes() != c.outcomes() || fmt.Sprint(f.logs, f.codes) != fmt.Sprint(c.logs, c.codes) {
			t.Fatalf("seed %d: a clone ran otherwise than from the beginning", seed)
		}
		f.run(20000)
		outcome := make([]int, f.out.Source.Handed().Len())
		for _, o := range f.out.Source.Outcomes().From(0) {
			outcome[o.Record]++
			h := f.out.Source.Handed().At(o.Record)
			if o.Kind == Acknowledged && f.logs[h.TopicPartition.Partition][o.Offset] != string(h.Key) {
				t.Errorf("seed %d: %s is acknowledged at %d, where %s stands", seed, h.Key, o.Offset, f.logs[h.TopicPartition.Partition][o.Offset])
			}
		}
		for number, n := range outcome {
			if n != 1 {
				t.Errorf("seed %d: record %d has %d outcomes", seed, number, n)
			}
			settled++
		}
		raised += len(f.texts("ProducerEpochBumped"))
		if config.EnableIdempotence != IdempotenceOn {
			continue
		}
		if v := f.producer.View(); patient(seed) && (v.ProducerEpoch != 0 || v.Failed != 0) {
			t.Errorf("seed %d: producer epoch %d, %d records failed", seed, v.ProducerEpoch, v.Failed)
		}
		begunAnew := map[kafka.TopicPartition]bool{}
		for e := range f.journal.All() {
			if b, ok := e.Body.(journal.ProducerEpochBumped); ok {
				for _, tp := range b.Partitions {
					begunAnew[tp] = true
				}
			}
		}
		for p, log := range f.logs {
			if begunAnew[kafka.TopicPartition{Topic: "orders", Partition: kafka.Partition(p)}] {
				continue
			}
			if !slices.IsSortedFunc(log, func(a, b string) int { return keyNumber(a) - keyNumber(b) }) || len(slices.Compact(slices.Clone(log))) != len(log) {
				t.Errorf("seed %d: partition %d holds %s", seed, p, strings.Join(log, " "))
			}
		}
	}
	if raised == 0 || settled < 1000 {
		t.Errorf("%d epochs raised, %d records settled: too little happened", raised, settled)
	}
	t.Logf("%d epochs raised, %d records settled", raised, settled)
}

// patient says whether a storm's batches fail only for what passes in time.
func patient(seed uint64) bool { return seed%4 == 0 }

func keyNumber(key string) (n int) {
	fmt.Sscanf(key, "k%d", &n)
	return n
}
