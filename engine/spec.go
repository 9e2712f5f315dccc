package engine

import (
	"fmt"

	"loglab/engine/assignor"
	"loglab/engine/client"
	"loglab/engine/kafka"
	"loglab/engine/storage"
)

// What a spec says of clients is in the clients' own terms.
type (
	ProducerConfig = client.ProducerConfig
	ConsumerConfig = client.ConsumerConfig
	Workload       = client.Workload
	KeyBy          = client.KeyBy
	Idempotence    = client.Idempotence
)

// The values of enable.idempotence.
const (
	IdempotenceUnset = client.IdempotenceUnset
	IdempotenceOn    = client.IdempotenceOn
	IdempotenceOff   = client.IdempotenceOff
)

// DefaultProducerConfig gives the producer's defaults of Kafka 4.2.
func DefaultProducerConfig(topic string) ProducerConfig { return client.DefaultProducerConfig(topic) }

// KeyBys lists what an application can use as a key. The slice is the caller's.
func KeyBys() []string { return client.KeyBys() }

// DefaultConsumerConfig gives the consumer's defaults of Kafka 4.2, but for auto.offset.reset.
func DefaultConsumerConfig(topic string) ConsumerConfig { return client.DefaultConsumerConfig(topic) }

// Spec says what runs. It is only read; clones share it.
type Spec struct {
	TickMillis kafka.Millis // virtual time of one tick, tick.ms
	Latency    kafka.Millis // of every link, at least 1 ms
	Topic      TopicSpec
	Producers  []ProducerSpec // p0, p1, …
	Group      GroupSpec
	MaxEvents  int // bound of the journal; 0: none
}

// TopicSpec is the one topic of a run.
type TopicSpec struct {
	Name       string
	Partitions int
	Config     storage.Config
}

// ProducerSpec is one producer with its application.
type ProducerSpec struct {
	Config   ProducerConfig
	Workload Workload
}

// GroupSpec is the one consumer group of a run; its members are c0, c1, ….
type GroupSpec struct {
	Name      string
	Consumers int
	Assignor  string // a name of assignor.Names
	Config    ConsumerConfig
	// CheckVersions makes the destination, which the members' applications write to, refuse an event that
	// is older than what it has.
	CheckVersions bool
}

// The bounds of a run.
const (
	MaxPartitions     = 64
	MaxMembers        = 64
	MaxProducers      = 8
	MaxValueBytes     = 64 << 10 // of one record
	MaxRecordsPerTick = 100      // that the workloads hand in
	MaxLogBytes       = 32 << 20 // of all .log files together
)

// LimitError says which bound was met.
type LimitError struct {
	What           string // "partitions"
	Found, Allowed int
}

// Error names the bound, what was found and what is allowed.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %d; a run may have at most %d", e.What, e.Found, e.Allowed)
}

// check refuses a spec that is out of bounds.
func (s *Spec) check() error {
	rate, value := 0, 0
	for _, p := range s.Producers {
		if p.Workload.Rate > 0 && p.Workload.Turn == 0 { // those with other turns deal the same records
			rate += p.Workload.Rate * int(max(s.TickMillis/max(p.Workload.Every, 1), 1))
		}
		value = max(value, p.Workload.ValueBytes)
	}
	for _, bound := range []LimitError{
		{"partitions", s.Topic.Partitions, MaxPartitions},
		{"members", s.Group.Consumers, MaxMembers},
		{"producers", len(s.Producers), MaxProducers},
		{"records a tick", rate, MaxRecordsPerTick},
		{"bytes of a value", value, MaxValueBytes},
	} {
		if bound.Found > bound.Allowed {
			return &bound
		}
	}
	if s.Topic.Partitions < 1 {
		return fmt.Errorf("topic %s: %d partitions; at least 1 is needed", s.Topic.Name, s.Topic.Partitions)
	}
	if s.Group.Config.MaxPollRecords < 1 {
		return fmt.Errorf("max.poll.records = %d; it must be at least 1", s.Group.Config.MaxPollRecords)
	}
	if s.TickMillis < 1 || s.Latency < 1 {
		return fmt.Errorf("tick.ms = %d and latency = %d ms; both must be at least 1", s.TickMillis, s.Latency)
	}
	_, err := assignor.ByName(s.Group.Assignor)
	return err
}
