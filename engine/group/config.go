package group

import (
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
)

// Topic is the name of the topic that keeps groups and their offsets.
const Topic = kafka.OffsetsTopic

// Config holds a broker's settings of groups under Kafka's names.
type Config struct {
	Node                   kafka.NodeID    // the broker, for the journal
	Start                  kafka.Timestamp // wall clock at virtual time 0
	InitialRebalanceDelay  kafka.Millis    // group.initial.rebalance.delay.ms
	MinSessionTimeout      kafka.Millis    // group.min.session.timeout.ms
	MaxSessionTimeout      kafka.Millis    // group.max.session.timeout.ms
	MaxSize                int             // group.max.size
	OffsetsRetention       kafka.Millis    // offsets.retention.minutes
	RetentionCheckInterval kafka.Millis    // offsets.retention.check.interval.ms
	CommitTimeout          kafka.Millis    // offsets.commit.timeout.ms
	MetadataMaxBytes       int             // offset.metadata.max.bytes
	Sabotage               sabotage.Rule

	ConsumerSessionTimeout    kafka.Millis    // group.consumer.session.timeout.ms
	ConsumerHeartbeatInterval kafka.Millis    // group.consumer.heartbeat.interval.ms
	ConsumerMaxSize           int             // group.consumer.max.size
	Assignors                 []string        // group.consumer.assignors, by Kafka's names; the first is the default
	MigrationPolicy           MigrationPolicy // group.consumer.migration.policy
	RegexRefreshInterval      kafka.Millis    // group.consumer.regex.refresh.interval.ms
}

// DefaultConfig gives the defaults of Kafka 4.2.
//
// Source: class GroupCoordinatorConfig.
func DefaultConfig() Config {
	return Config{
		InitialRebalanceDelay: 3000, MinSessionTimeout: 6000, MaxSessionTimeout: 1_800_000, MaxSize: 1<<31 - 1,
		OffsetsRetention: 7 * 24 * 3_600_000, RetentionCheckInterval: 600_000, CommitTimeout: 5000, MetadataMaxBytes: 4096,
		ConsumerSessionTimeout: 45_000, ConsumerHeartbeatInterval: 5000, ConsumerMaxSize: 1<<31 - 1, Assignors: []string{"uniform", rangeOnWire},
		MigrationPolicy: Bidirectional, RegexRefreshInterval: 600_000,
	}
}
