package engine

import (
	"fmt"

	"loglab/engine/assignor"
	"loglab/engine/client"
	"loglab/engine/command"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
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
	Cluster    ClusterSpec
	Topic      TopicSpec
	Topics     []TopicSpec         // further topics
	Producers  []ProducerSpec      // p0, p1, …
	Group      GroupSpec           // whose members are given their partitions; without a name there is none
	Groups     []ConsumerGroupSpec // with a coordinator
	// Prologue are commands that are carried out and settled before tick 0.
	Prologue []command.Command
	// PrologueSpan is how long before tick 0 they are given, where that is longer than a few hops: for commands that
	// wait, or that retry.
	PrologueSpan kafka.Millis
	MaxEvents    int // bound of the journal; 0: none
	MaxFiles     int // bound of the files on a broker's disk; 0: none
	// Sabotage is a rule that this run breaks, for the tests of the invariants.
	Sabotage sabotage.Rule
}

// ClusterSpec is the brokers of a run, b1, b2, …, and their controller. Settings have Kafka's names.
type ClusterSpec struct {
	Brokers           int
	Racks             []string     // broker.rack of b1, b2, …; nil: none
	HeartbeatInterval kafka.Millis // broker.heartbeat.interval.ms
	SessionTimeout    kafka.Millis // broker.session.timeout.ms
	ReplicaLagTimeMax kafka.Millis // replica.lag.time.max.ms
	UncleanElection   bool         // unclean.leader.election.enable
	ELR               bool         // eligible.leader.replicas.version is 1
	RackAware         bool         // replica.selector.class is RackAwareReplicaSelector
	// MetadataFetchWait is how long the controller holds a broker's metadata fetch that finds nothing new; 0: Kafka's
	// 500 ms. News are answered at once in any case: a long one only saves messages where nothing happens for hours.
	MetadataFetchWait kafka.Millis
	Groups            GroupSettings
	Transactions      TransactionSettings
	Logs              LogSettings
}

// LogSettings are the brokers' settings of what they do to their logs by themselves. The zero value is for a run in
// which no log is old or compacted.
//
// Simplified: where a page offers no setting of retention or compaction, brokers neither look for old segments nor
// clean, __consumer_offsets too; no segment there comes to the age of retention.ms = 604,800,000.
type LogSettings struct {
	RetentionCheckInterval kafka.Millis // log.retention.check.interval.ms; 0: old segments are not looked for
	CleanerBackoff         kafka.Millis // log.cleaner.backoff.ms; 0: the cleaner does not run
}

// DefaultLogSettings gives the defaults of Kafka 4.2.
func DefaultLogSettings() LogSettings {
	return LogSettings{RetentionCheckInterval: 300_000, CleanerBackoff: 15_000}
}

// GroupSettings are the brokers' settings of groups. The zero value is for a run without any.
type GroupSettings struct {
	OffsetsReplicationFactor int          // offsets.topic.replication.factor
	InitialRebalanceDelay    kafka.Millis // group.initial.rebalance.delay.ms
	OffsetsRetention         kafka.Millis // offsets.retention.minutes
	RetentionCheckInterval   kafka.Millis // offsets.retention.check.interval.ms
	OffsetsSegmentBytes      int          // offsets.topic.segment.bytes; 0: the default

	ConsumerSessionTimeout    kafka.Millis // group.consumer.session.timeout.ms; 0: the default
	ConsumerHeartbeatInterval kafka.Millis // group.consumer.heartbeat.interval.ms; 0: the default
}

// TransactionSettings are the brokers' settings of transactions. The zero value is for a run without any.
type TransactionSettings struct {
	ReplicationFactor int          // transaction.state.log.replication.factor
	MinISR            int          // transaction.state.log.min.isr
	Version           int16        // transaction.version, a feature of the cluster; 0: the default, 2
	AbortInterval     kafka.Millis // transaction.abort.timed.out.transaction.cleanup.interval.ms; 0: the default
}

// DefaultCluster gives a cluster of that many brokers with the defaults of Kafka 4.2, but for the replication factors of
// __consumer_offsets and __transaction_state where there are fewer than three.
func DefaultCluster(brokers int) ClusterSpec {
	defaults := group.DefaultConfig()
	return ClusterSpec{
		Brokers: brokers, HeartbeatInterval: 2000, SessionTimeout: 9000, ReplicaLagTimeMax: 30000, ELR: true,
		Groups: GroupSettings{
			OffsetsReplicationFactor: min(brokers, 3), InitialRebalanceDelay: defaults.InitialRebalanceDelay,
			OffsetsRetention: defaults.OffsetsRetention, RetentionCheckInterval: defaults.RetentionCheckInterval,
		},
		Transactions: TransactionSettings{ReplicationFactor: min(brokers, 3), MinISR: min(brokers, 2)},
	}
}

// TopicSpec is one topic of a run.
type TopicSpec struct {
	Name              string
	Partitions        int
	ReplicationFactor int                // 0: 1
	Replicas          [][]kafka.BrokerID // of each partition, the preferred leader first; nil: the controller places them
	MinInsyncReplicas int                // min.insync.replicas; 0: the default, 1
	Config            storage.Config
	Later             bool // the command create-topic makes it
}

// ProducerSpec is one producer with its application.
type ProducerSpec struct {
	Config   ProducerConfig
	Workload Workload
	Off      bool // its process does not run before a command starts it
}

// GroupSpec is a consumer group without a coordinator; its members are c0, c1, ….
type GroupSpec struct {
	Name      string
	Consumers int
	Assignor  string // a name of assignor.ClientNames
	Config    ConsumerConfig
	// CheckVersions makes the destination, which the members' applications write to, refuse an event that
	// is older than what it has.
	CheckVersions bool
}

// The bounds of a run.
const (
	MaxBrokers        = 9
	MaxPartitions     = 64
	MaxMembers        = 64
	MaxProducers      = 10
	MaxValueBytes     = 64 << 10 // of one record
	MaxRecordsPerTick = 100      // that the workloads hand in
	MaxLogBytes       = 32 << 20 // of all .log files of a broker together
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

// ConsumerGroupSpec is a consumer group with a coordinator; its members are billing-1, billing-2, … by the group's id.
type ConsumerGroupSpec struct {
	ID      string // group.id
	Members []MemberSpec
	Sink    client.SinkConfig
}

// MemberSpec is one consumer of a group with its application.
type MemberSpec struct {
	Config ConsumerConfig
	Off    bool // its process does not run before a command starts it
}

// topics lists all topics of the run.
func (s *Spec) topics() []TopicSpec { return append([]TopicSpec{s.Topic}, s.Topics...) }

// topicLogs gives the settings of the logs of Topics.
func (s *Spec) topicLogs() map[string]storage.Config {
	logs := map[string]storage.Config{}
	for _, t := range s.Topics {
		config := t.Config
		config.Sabotage = s.Sabotage
		logs[t.Name] = config
	}
	return logs
}

// replicationFactor is the topic's replication factor.
func (s *TopicSpec) replicationFactor() int { return max(s.ReplicationFactor, 1) }

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
		{"brokers", s.Cluster.Brokers, MaxBrokers},
		{"partitions", s.mostPartitions(), MaxPartitions},
		{"members", s.members(), MaxMembers},
		{"producers", len(s.Producers), MaxProducers},
		{"records a tick", rate, MaxRecordsPerTick},
		{"bytes of a value", value, MaxValueBytes},
	} {
		if bound.Found > bound.Allowed {
			return &bound
		}
	}
	switch {
	case s.Cluster.Brokers < 1:
		return fmt.Errorf("%d brokers; at least 1 is needed", s.Cluster.Brokers)
	case s.TickMillis < 1 || s.Latency < 1:
		return fmt.Errorf("tick.ms = %d and latency = %d ms; both must be at least 1", s.TickMillis, s.Latency)
	}
	for _, t := range s.topics() {
		switch rf := t.replicationFactor(); {
		case rf > s.Cluster.Brokers:
			return fmt.Errorf("replication factor %d with %s: every replica needs a broker of its own (Kafka answers INVALID_REPLICATION_FACTOR); at most %d is allowed",
				rf, kafka.Count(s.Cluster.Brokers, "broker"), s.Cluster.Brokers)
		case t.Partitions < 1:
			return fmt.Errorf("topic %s: %d partitions; at least 1 is needed", t.Name, t.Partitions)
		}
	}
	if err := s.checkGroups(); err != nil || s.Group.Name == "" {
		return err
	}
	if s.Group.Config.MaxPollRecords < 1 {
		return fmt.Errorf("max.poll.records = %d; it must be at least 1", s.Group.Config.MaxPollRecords)
	}
	_, err := assignor.ClientByName(s.Group.Assignor)
	return err
}
