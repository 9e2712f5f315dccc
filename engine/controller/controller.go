package controller

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/prng"
	"loglab/engine/sabotage"
	"loglab/engine/simdisk"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// Config is what a controller is started with. Start from DefaultConfig; Node, ClusterID and Rand have no
// default.
//
// Source: ReplicationConfigs, KRaftConfigs, QuorumConfig.
type Config struct {
	// Node is the controller's name on the network.
	Node kafka.NodeID
	// ClusterID is what a broker's registration must name.
	ClusterID string
	// Rand decides where replicas are placed and which ids topics get.
	Rand prng.Rand
	// Start is the wall clock at virtual time 0.
	Start kafka.Timestamp
	// Activated is when the controller becomes active; its timers count from there. It may be negative.
	Activated kafka.Millis
	// BrokerSessionTimeout is broker.session.timeout.ms: a broker without a heartbeat for longer is fenced.
	BrokerSessionTimeout kafka.Millis
	// EligibleLeaderReplicas is the level of the feature eligible.leader.replicas.version, 0 or 1.
	EligibleLeaderReplicas int16
	// UncleanLeaderElection is unclean.leader.election.enable of the node's configuration. What was set on all
	// brokers or on a topic goes before.
	UncleanLeaderElection bool
	// MinInSyncReplicas is min.insync.replicas of the node's configuration. What was set on all brokers or on a
	// topic goes before.
	MinInSyncReplicas int
	// AutoLeaderRebalance is auto.leader.rebalance.enable: preferred leaders are elected by a timer.
	AutoLeaderRebalance bool
	// LeaderImbalanceCheckInterval is leader.imbalance.check.interval.seconds, in milliseconds.
	LeaderImbalanceCheckInterval kafka.Millis
	// UncleanLeaderElectionInterval is unclean.leader.election.interval.ms: how often a partition without a
	// leader is tried anew where unclean elections are allowed.
	UncleanLeaderElectionInterval kafka.Millis
	// NumPartitions is num.partitions: of a topic whose request leaves it open.
	NumPartitions int
	// DefaultReplicationFactor is default.replication.factor: of a topic whose request leaves it open.
	DefaultReplicationFactor int
	// InUse are the partitions of internal topics that a coordinator of the run lives on. What becomes of the others is
	// not journalled.
	InUse []kafka.TopicPartition
	// Sabotage is a rule that a test breaks.
	Sabotage sabotage.Rule
}

// DefaultConfig gives the defaults of Kafka 4.2, and of a cluster that was formatted with it.
func DefaultConfig() Config {
	return Config{
		BrokerSessionTimeout:          9000,
		EligibleLeaderReplicas:        1,
		MinInSyncReplicas:             1,
		AutoLeaderRebalance:           true,
		LeaderImbalanceCheckInterval:  300_000,
		UncleanLeaderElectionInterval: 300_000,
		NumPartitions:                 1,
		DefaultReplicationFactor:      1,
	}
}

// Controller is the active controller.
//
// Source: QuorumController.
type Controller struct {
	config        Config
	disk          *simdisk.Disk
	log           *storage.Log
	image         metadata.Image
	registrations []registration // sorted by broker id
	sessions      []session      // sorted by broker id, then epoch
	parked        []parkedFetch  // in the order they came
	topicIDs      prng.Rand
	placement     prng.Rand
	timers        [timerCount]kafka.Millis // when each fires next; noTimer: never
}

// New makes a controller with an empty metadata log and writes its first records: the levels of the features
// and, with eligible leader replicas, min.insync.replicas of all brokers.
//
// Source: ActivationRecordsGenerator.recordsForEmptyLog.
func New(config Config) *Controller {
	c := &Controller{
		config: config, disk: &simdisk.Disk{},
		topicIDs: config.Rand.Split("topic ids"), placement: config.Rand.Split("placement"),
	}
	c.log = storage.New(c.disk, metadata.LogPartition().String(), logConfig(), c.clock(config.Activated))
	c.startTimers()
	var first operation
	for _, f := range [...]metadata.FeatureLevelRecord{
		{Name: "metadata.version", FeatureLevel: metadataVersion}, // first: it says how to read the others
		{Name: metadata.ELRFeature, FeatureLevel: config.EligibleLeaderReplicas},
		{Name: "group.version", FeatureLevel: 1},
		{Name: "share.version", FeatureLevel: 1},
		{Name: "streams.version", FeatureLevel: 1},
		{Name: "transaction.version", FeatureLevel: 2},
	} {
		if f.FeatureLevel > 0 {
			first.records = append(first.records, f)
		}
	}
	if config.EligibleLeaderReplicas > 0 {
		minISR := fmt.Sprint(config.MinInSyncReplicas)
		first.records = append(first.records, metadata.ConfigRecord{ResourceType: metadata.BrokerResource, Name: metadata.MinInSyncReplicas, Value: &minISR})
	}
	c.write(config.Activated, first.records)
	return c
}

// metadataVersion is the feature level of metadata.version 4.2-IV1.
const metadataVersion = 29

// told says whether the events of a partition are journalled.
func (c *Controller) told(topic string, index kafka.Partition) bool {
	return !kafka.IsInternal(topic) || slices.Contains(c.config.InUse, kafka.TopicPartition{Topic: topic, Partition: index})
}

// Node gives the controller's name on the network.
func (c *Controller) Node() kafka.NodeID { return c.config.Node }

// Image gives what the records written so far add up to.
func (c *Controller) Image() metadata.Image { return c.image }

// Log gives the metadata log. It belongs to the controller: only read it.
func (c *Controller) Log() *storage.Log { return c.log }

// clock gives the wall clock at now.
func (c *Controller) clock(now kafka.Millis) kafka.Timestamp {
	return c.config.Start + kafka.Timestamp(now)
}

// Receive handles one delivered message. Cause is the Seq of the event that says it was delivered.
func (c *Controller) Receive(now kafka.Millis, m *simnet.Message, cause uint64, j *journal.Journal) []simnet.Send {
	var response kmsg.Response
	var op operation
	switch request := m.Request.(type) {
	case *kmsg.FetchRequest:
		return c.fetch(now, m, request, cause, j)
	case *kmsg.BrokerHeartbeatRequest:
		return c.heartbeat(now, m, request, cause, j)
	case *kmsg.BrokerRegistrationRequest:
		response, op = c.registerBroker(now, request)
	case *kmsg.AlterPartitionRequest:
		response, op = c.alterPartition(request)
	case *kmsg.CreateTopicsRequest:
		response, op = c.createTopics(request)
	case *kmsg.CreatePartitionsRequest:
		response, op = c.createPartitions(request)
	case *kmsg.ElectLeadersRequest:
		response, op = c.electLeaders(request)
	case *kmsg.IncrementalAlterConfigsRequest:
		response, op = c.incrementalAlterConfigs(request)
	case *kmsg.AllocateProducerIDsRequest:
		response, op = c.allocateProducerIDs(request)
	default:
		panic(fmt.Sprintf("controller %s: no handler for %s", c.config.Node, m.API()))
	}
	last, fetched := c.commit(now, op, cause, j)
	return append(answer(m, response, last), fetched...)
}

// answer makes the one response to a request.
func answer(m *simnet.Message, response kmsg.Response, cause uint64) []simnet.Send {
	return []simnet.Send{{To: m.From, Response: response, Correlation: m.Correlation, Connection: m.Connection, Cause: cause}}
}

// Disconnected forgets what a peer was waiting for: its connection is gone, so nobody could be answered. The
// broker's session goes on until it expires.
func (c *Controller) Disconnected(_ kafka.Millis, peer kafka.NodeID, _ uint64, _ *journal.Journal) {
	c.parked = slices.DeleteFunc(c.parked, func(p parkedFetch) bool { return p.message.From == peer })
}

// Clone gives a controller in the same state; see storage and simdisk for what is shared. The image is shared:
// it is never written.
func (c *Controller) Clone() *Controller {
	n := *c
	n.disk = c.disk.Clone()
	n.log = c.log.Clone(n.disk)
	n.registrations = slices.Clone(c.registrations)
	n.sessions = slices.Clone(c.sessions)
	n.parked = slices.Clone(c.parked)
	return &n
}
