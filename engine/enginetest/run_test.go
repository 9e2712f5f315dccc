package enginetest

import (
	"fmt"
	"testing"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// orders makes a spec of one topic with a group that reads it and one producer that sends nothing by
// itself and is not idempotent, so that every message is one of records.
func orders(partitions, consumers int) *engine.Spec {
	config := storage.DefaultConfig()
	config.SegmentBytes, config.IndexIntervalBytes = 1<<20, 4096
	return &engine.Spec{
		TickMillis: 10,
		Latency:    10,
		Cluster:    engine.DefaultCluster(1),
		Topic:      engine.TopicSpec{Name: "orders", Partitions: partitions, Config: config},
		Producers:  []engine.ProducerSpec{{Config: producer()}},
		Group:      engine.GroupSpec{Name: "billing", Consumers: consumers, Assignor: "range", Config: engine.DefaultConsumerConfig("orders")},
	}
}

// producer gives the settings of a producer that is not idempotent.
func producer() engine.ProducerConfig {
	config := engine.DefaultProducerConfig("orders")
	config.EnableIdempotence = engine.IdempotenceOff
	return config
}

// start makes the cluster of a spec.
func start(t *testing.T, spec *engine.Spec) *engine.Cluster {
	t.Helper()
	c, err := engine.New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// give carries out commands at the present tick.
func give(t *testing.T, c *engine.Cluster, texts ...string) {
	t.Helper()
	for _, text := range texts {
		cmd, err := command.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Apply(cmd); err != nil {
			t.Fatal(err)
		}
	}
}

// tick lets n ticks pass.
func tick(t *testing.T, c *engine.Cluster, n int) {
	t.Helper()
	for range n {
		if err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
}

// lines gives the journal as text.
func lines(c *engine.Cluster) []string {
	var list []string
	for _, e := range events(c) {
		list = append(list, e.Line())
	}
	return list
}

// events gives the journal.
func events(c *engine.Cluster) []journal.Event {
	var list []journal.Event
	for seq := uint64(1); ; seq++ {
		e, ok := c.Journal().At(seq)
		if !ok {
			return list
		}
		list = append(list, e)
	}
}

// counts gives the number of records in each partition.
func counts(c *engine.Cluster) []int {
	var list []int
	for _, p := range c.View().Partitions {
		list = append(list, int(p.Log.LogEndOffset))
	}
	return list
}

// contents decodes a partition's segments: "offset:value" for each record.
func contents(t *testing.T, c *engine.Cluster, partition int) []string {
	t.Helper()
	return recordsIn(t, c.View().Partitions[partition].Log.Segments)
}

// recordsIn decodes segments: "offset:value" for each record.
func recordsIn(t *testing.T, segments []storage.Segment) []string {
	t.Helper()
	var list []string
	batchesOf(t, segments, func(b record.Batch, r record.Record) { list = append(list, fmt.Sprintf("%d:%s", r.Offset, r.Value)) })
	return list
}
