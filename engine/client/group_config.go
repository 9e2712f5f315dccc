package client

import (
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
)

// GroupConfig holds the settings of a consumer that is in a group with a coordinator. The zero value is a consumer
// without one.
type GroupConfig struct {
	ID                string                // group.id; empty: none
	InstanceID        kafka.GroupInstanceID // group.instance.id; empty: a dynamic member
	Protocol          GroupProtocol         // group.protocol; empty: classic
	RemoteAssignor    string                // group.remote.assignor, of the consumer protocol: "uniform" or "server-range"; empty: the broker's choice
	Pattern           string                // that topics are subscribed to by; empty: by ConsumerConfig.Topics
	Assignors         []string              // partition.assignment.strategy, by the assignors' names
	SessionTimeout    kafka.Millis          // session.timeout.ms
	HeartbeatInterval kafka.Millis          // heartbeat.interval.ms
	MaxPollInterval   kafka.Millis          // max.poll.interval.ms
	// HeartbeatInLoop makes the client send heartbeats only while the application is in poll and between two records.
	// Such a client knows no max.poll.interval.ms. Java's and librdkafka's send them from a thread of their own.
	HeartbeatInLoop    bool
	AutoCommit         bool         // enable.auto.commit
	AutoCommitInterval kafka.Millis // auto.commit.interval.ms
	// Assign names the partitions of a consumer that subscribes to nothing: it takes no part in the group, only its
	// commits name it.
	Assign []kafka.TopicPartition
	App    AppConfig
}

// DefaultGroupConfig gives the defaults of Kafka 4.2 for a member of a group.
//
// Source: class ConsumerConfig.
func DefaultGroupConfig(id string) GroupConfig {
	return GroupConfig{
		ID: id, Assignors: []string{"range", "cooperative-sticky"}, SessionTimeout: 45_000, HeartbeatInterval: 3000,
		MaxPollInterval: 300_000, AutoCommit: true, AutoCommitInterval: 5000,
	}
}

// DefaultConsumerGroupConfig gives the defaults of Kafka 4.2 for a member of a group of the consumer protocol: session
// timeout and heartbeat interval are the broker's, and so is the division.
//
// Source: class ConsumerConfig.
func DefaultConsumerGroupConfig(id string) GroupConfig {
	return GroupConfig{ID: id, Protocol: ConsumerProtocol, MaxPollInterval: 300_000, AutoCommit: true, AutoCommitInterval: 5000}
}

// GroupProtocol is how the members of a group find out who reads what.
type GroupProtocol string

// The values of GroupProtocol.
const (
	ClassicProtocol  GroupProtocol = "classic"  // all join anew, and a leader among them divides
	ConsumerProtocol GroupProtocol = "consumer" // the coordinator divides, and each member comes to its share by itself (KIP-848)
)

// CommitWhen says when an application commits by itself.
type CommitWhen string

// The values of CommitWhen.
const (
	CommitNever      CommitWhen = "by hand"            // only when it is told to, or the client does by enable.auto.commit
	CommitBefore     CommitWhen = "before processing"  // commitSync of what poll has returned, before any of it is processed
	CommitRecord     CommitWhen = "after each record"  // commitSync
	CommitBatch      CommitWhen = "after each batch"   // commitSync when all that poll had returned is processed
	CommitBatchAsync CommitWhen = "after, not waiting" // commitAsync when all that poll had returned is processed
)

// CommitWhat says which offset an application commits.
type CommitWhat string

// The values of CommitWhat.
const (
	CommitContiguous CommitWhat = "contiguous" // before the first record that is not done
	CommitHighest    CommitWhat = "highest"    // after the last record that is done
	// CommitPosition commits, after a batch and without threads, where poll has come to: behind the markers and aborted
	// records that follow the last record, too.
	//
	// Source: ConsumerRecords.nextOffsets.
	CommitPosition CommitWhat = "position"
)

// FailureRule says what an application does with a record that it fails to process.
type FailureRule string

// The values of FailureRule.
const (
	RetryInPlace FailureRule = "retry"       // again and again, before any other
	SeekBack     FailureRule = "seek"        // it seeks back to the record and polls again
	SkipRecord   FailureRule = "skip"        // after Attempts it goes on as if the record were processed
	DeadLetter   FailureRule = "dead-letter" // after Attempts it sends the record to DeadLetterTopic and goes on
)

// AppConfig says what the application around a consumer of a group does.
type AppConfig struct {
	// Work is what one record takes; 0: no time. With ByHand the application processes a record when a person says so.
	Work   kafka.Millis
	ByHand bool
	// SlowEvery makes every record whose offset divides by it take SlowWork; 0: none.
	SlowEvery int
	SlowWork  kafka.Millis
	// Workers is how many threads process records while the application goes on polling; 0: it processes them in its
	// loop, one after the other, before it polls again.
	Workers   int
	PollEvery kafka.Millis // with Workers: between two polls
	Commit    CommitWhen
	What      CommitWhat // with Workers, or CommitPosition; empty: contiguous, which without threads is after the last record
	// CommitOnRevoke makes the application commit what is processed in onPartitionsRevoked, before others read on.
	CommitOnRevoke bool

	Poison          []Poison // records that it fails to process
	Attempts        int      // before FailureRule gives a record up; 0: without end
	OnFailure       FailureRule
	DeadLetterTopic string // with DeadLetter
	// ForgetCommit leaves out the commit after a record was sent to the dead-letter topic.
	ForgetCommit bool
	// Sabotage is a rule that the application breaks.
	Sabotage sabotage.Rule
	// Transform makes the application write a record for each that it processes; nil: it does not.
	Transform *TransformConfig
	// CallsOut makes an application with Transform also write an effect to its group's sink for each record, while it
	// processes it. Without it the records that it writes are its only effects.
	CallsOut bool
	// StartAt holds the application's first poll back until then.
	StartAt kafka.Millis
}

// Poison is a record that the application fails to process.
type Poison struct {
	TopicPartition kafka.TopicPartition
	Offset         kafka.Offset
	Times          int // how often it fails; 0: always
}
