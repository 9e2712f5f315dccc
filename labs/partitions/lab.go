package partitions

import (
	"cmp"
	"loglab/engine"
	"loglab/engine/kafka"
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
	indexInterval = 300
)

// sizes gives segment.bytes and batch.size: a batch always fits into a segment.
func sizes(v labs.Values) (segmentBytes, batchSize int) {
	if entities, _ := entitiesOf(v.Text("keys")); len(entities) == 0 {
		return 20_000, engine.DefaultProducerConfig(topic).BatchSize
	}
	return 1000, 900
}

// logConfig gives the settings of the topic's logs.
func logConfig(v labs.Values) storage.Config {
	config := storage.DefaultConfig()
	segmentBytes, _ := sizes(v)
	config.SegmentBytes, config.IndexIntervalBytes = segmentBytes, indexInterval
	return config
}

// none is the choice of no second client.
const none = "none"

// Lab makes the partition explorer.
func Lab() *labs.Lab {
	return &labs.Lab{
		Name:       "partitions",
		Title:      "Partition explorer",
		Goal:       "See that a consumer group has no more working consumers than the topic has partitions (a share group can have more), that order holds only per key, and that changing the number of partitions moves keys.",
		Summary:    "Type your own keys and see in which partition each lands, who reads it, who is idle, which keys move when partitions are added, and what that does to their order.",
		TickMillis: tickMillis,
		Horizon:    20,
		Settings:   append(groupSettings(), producerSettings()...),
		Ready:      readyRuns(),
		Packages: []string{
			"engine", "engine/assignor", "engine/broker", "engine/client", "engine/controller", "engine/metadata", "engine/partitioner",
			"engine/record", "engine/simdisk", "engine/simnet", "engine/storage", "labs/inspect", "labs/partitions",
		},
		Spec:  spec,
		Build: build,
	}
}

// groupSettings are those of the topic and the group that reads it.
func groupSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "partitions", Label: "Partitions", Default: "4", Min: 1, Max: engine.MaxPartitions},
		{Name: "baseline", Label: "Baseline partitions", Default: "4", Min: 1, Max: engine.MaxPartitions, Help: "the count before you changed it"},
		{Name: "consumers", Label: "Consumers", Default: "6", Min: 0, Max: engine.MaxMembers, Help: "in one group"},
		{Name: "assignor", Label: "Assignor", Default: "range", Options: []string{"range", "roundrobin"}}, // the sticky ones need to know what members own
		{Name: "work", Label: "Work per record, ms", Default: "0", Min: 0, Max: 1000, Help: "what a consumer needs for one record; a tick is 10 ms"},
		{Name: "destination", Label: "Destination checks", Default: "nothing", Options: []string{"nothing", "versions"}},
		{Name: "metadata", Label: "Metadata age, ms", Default: "100", Min: 10, Max: 300_000, Help: "metadata.max.age.ms: when clients learn of new partitions; Kafka’s default is 300,000"},
	}
}

// producerSettings are those of the producers and of what they send.
func producerSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "partitioner", Label: "Partitioner", Default: "murmur2", Options: partitioner.Names()},
		{Name: "second", Label: "Second client", Default: none, Options: append([]string{none}, partitioner.Names()...), Help: "a second producer, p1, sends every other round of keys, or record where there are no rounds"},
		{Name: "keyless", Label: "Without a key", Default: "sticky", Options: partitioner.KeylessNames()},
		{Name: "keys", Label: "Keys", Default: "24", Max: maxKeys, Canonical: canonicalKeys, Help: "0: records have no key"},
		{Name: "key-by", Label: "The key is", Default: engine.KeyBys()[0], Options: engine.KeyBys(), Help: "an entity is what events are about, here an order"},
		{Name: "draw", Label: "Keys come", Default: drawInTurn, Options: draws()},
		{Name: "zipf", Label: "Zipf exponent", Default: "1.0", Options: zipfExponents()},
		{Name: "hot", Label: "Hot key’s share, %", Default: "50", Min: 1, Max: 100},
		{Name: "rate", Label: "Records per tick", Default: "3", Min: 0, Max: engine.MaxRecordsPerTick},
	}
}

// spec says what runs.
//
// Simplified: producers run with enable.idempotence = false, so that each message is one of records. Where
// a command loses or doubles a message, a batch can stand in the log twice and behind later ones.
func spec(v labs.Values) (*engine.Spec, error) {
	_, batchSize := sizes(v)
	s := &engine.Spec{
		TickMillis: tickMillis,
		Latency:    latencyMillis,
		Cluster:    engine.DefaultCluster(1),
		Topic:      engine.TopicSpec{Name: topic, Partitions: v.Int("partitions"), Config: logConfig(v)},
		Group: engine.GroupSpec{
			Name: group, Consumers: v.Int("consumers"), Assignor: v.Text("assignor"), Config: engine.DefaultConsumerConfig(topic),
			CheckVersions: v.Text("destination") == "versions",
		},
	}
	s.Group.Config.MetadataMaxAge = kafka.Millis(v.Int("metadata"))
	if work := v.Int("work"); work > 0 {
		s.Group.Config.Work, s.Group.Config.MaxPollRecords = kafka.Millis(work), 1
	}
	clients := partitioners(v)
	for i, rule := range clients {
		p := engine.ProducerSpec{Config: engine.DefaultProducerConfig(topic), Workload: workload(v)}
		p.Config.Partitioner, p.Config.Keyless, p.Config.MetadataMaxAge = rule, v.Text("keyless"), kafka.Millis(v.Int("metadata"))
		p.Config.BatchSize, p.Config.EnableIdempotence = batchSize, engine.IdempotenceOff
		p.Workload.Turn, p.Workload.Turns = i, len(clients)
		s.Producers = append(s.Producers, p)
	}
	return s, nil
}

// partitioners gives the rule of each producer.
func partitioners(v labs.Values) []string {
	if v.Text("second") == none {
		return []string{v.Text("partitioner")}
	}
	return []string{v.Text("partitioner"), v.Text("second")}
}

// build draws the frame.
func build(f labs.Frame, p *view.Page) {
	l := newLayout(f)
	p.Settings = settings(f.Address)
	actions(f, p)
	p.Picture = l.picture()
	p.Reading = l.reading()
	p.Inspector = cmp.Or(inspectAt(l), p.Inspector)
}
