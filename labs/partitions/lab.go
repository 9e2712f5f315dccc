package partitions

import (
	"loglab/engine"
	"loglab/engine/assignor"
	"loglab/engine/partitioner"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// Names of the topic and the group.
const (
	topic = "orders"
	group = "billing"
)

// What the lab runs with, besides its settings.
const (
	tickMillis    = 10 // one message hop a tick
	latencyMillis = 10
	segmentBytes  = 1000
	indexInterval = 300
)

// Lab makes the partition explorer.
func Lab() *labs.Lab {
	return &labs.Lab{
		Name:    "partitions",
		Title:   "Partition explorer",
		Goal:    "See that a group has no more working consumers than the topic has partitions, that order holds only per key, and that changing the number of partitions moves keys.",
		Summary: "Type your own keys and see in which partition each lands, who reads it, who is idle, and which keys move when the number of partitions changes.",
		Horizon: 20,
		Settings: []labs.Setting{
			{Name: "partitions", Label: "Partitions", Default: "4", Min: 1, Max: engine.MaxPartitions},
			{Name: "baseline", Label: "Baseline partitions", Default: "4", Min: 1, Max: engine.MaxPartitions, Help: "the count before you changed it"},
			{Name: "consumers", Label: "Consumers", Default: "6", Min: 0, Max: engine.MaxMembers, Help: "in one group"},
			{Name: "assignor", Label: "Assignor", Default: "range", Options: assignor.Names()},
			{Name: "partitioner", Label: "Partitioner", Default: "murmur2", Options: partitioner.Names()},
			{Name: "keyless", Label: "Without a key", Default: "sticky", Options: partitioner.KeylessNames()},
			{Name: "keys", Label: "Keys", Default: "24", Max: maxKeys, Canonical: canonicalKeys, Help: "0: records have no key"},
			{Name: "rate", Label: "Records per tick", Default: "3", Min: 0, Max: engine.MaxRecordsPerTick},
		},
		Packages: []string{
			"engine", "engine/assignor", "engine/broker", "engine/client", "engine/partitioner", "engine/record",
			"engine/simdisk", "engine/simnet", "engine/storage", "labs/partitions",
		},
		Spec:  spec,
		Build: build,
	}
}

// spec says what runs.
func spec(v labs.Values) (*engine.Spec, error) {
	config := storage.DefaultConfig()
	config.SegmentBytes, config.IndexIntervalBytes = segmentBytes, indexInterval
	producer := engine.DefaultProducerConfig(topic)
	producer.Partitioner, producer.Keyless = v.Text("partitioner"), v.Text("keyless")
	return &engine.Spec{
		TickMillis: tickMillis,
		Latency:    latencyMillis,
		Topic:      engine.TopicSpec{Name: topic, Partitions: v.Int("partitions"), Config: config},
		Producers: []engine.ProducerSpec{{
			Config:   producer,
			Workload: engine.Workload{Entities: keysOf(v.Text("keys")), Rate: v.Int("rate"), Every: tickMillis},
		}},
		Group: engine.GroupSpec{
			Name: group, Consumers: v.Int("consumers"), Assignor: v.Text("assignor"), Config: engine.DefaultConsumerConfig(topic),
		},
	}, nil
}

// build draws the frame.
func build(f labs.Frame, p *view.Page) {
	l := newLayout(f)
	p.Settings = settings(f.Address)
	actions(f, p)
	p.Picture = l.picture()
	p.Reading = l.reading()
	if in := inspect(l); in != nil {
		p.Inspector = in
	}
}
