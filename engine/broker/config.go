package broker

import (
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/sabotage"
	"loglab/engine/storage"
	"loglab/engine/txn"
)

// Config holds a broker's settings under Kafka's names, and what it is told of its cluster.
type Config struct {
	ID         kafka.BrokerID            // node.id
	Rack       string                    // broker.rack; "": none
	ClusterID  string                    // of the cluster
	Start      kafka.Timestamp           // the wall clock at virtual time 0
	Controller kafka.NodeID              // controller.quorum.bootstrap.servers
	Rand       prng.Rand                 // of the ids that it draws
	Log        storage.Config            // of every topic that TopicLogs does not name
	TopicLogs  map[string]storage.Config // by topic; only looked up

	HeartbeatInterval       kafka.Millis // broker.heartbeat.interval.ms
	SessionTimeout          kafka.Millis // broker.session.timeout.ms
	ReplicaLagTimeMax       kafka.Millis // replica.lag.time.max.ms
	ReplicaFetchWaitMax     kafka.Millis // replica.fetch.wait.max.ms
	ReplicaFetchMinBytes    int32        // replica.fetch.min.bytes
	ReplicaFetchBackoff     kafka.Millis // replica.fetch.backoff.ms
	ReplicaFetchMaxBytes    int32        // replica.fetch.max.bytes, of one partition
	ReplicaFetchResponseMax int32        // replica.fetch.response.max.bytes
	ReplicaSocketTimeout    kafka.Millis // replica.socket.timeout.ms
	CheckpointInterval      kafka.Millis // replica.high.watermark.checkpoint.interval.ms
	MinInsyncReplicas       int          // min.insync.replicas, where neither topic nor cluster sets it
	RackAware               bool         // replica.selector.class is RackAwareReplicaSelector
	WritebackAge            kafka.Millis // os.writeback.ms
	RetentionCheckInterval  kafka.Millis // log.retention.check.interval.ms; 0: old segments are not looked for
	CleanerBackoff          kafka.Millis // log.cleaner.backoff.ms; 0: the cleaner does not run
	MetadataFetchWait       kafka.Millis // how long the controller holds a metadata fetch that finds nothing new

	OffsetsTopicPartitions             int          // offsets.topic.num.partitions
	OffsetsTopicReplicationFactor      int          // offsets.topic.replication.factor
	OffsetsTopicSegmentBytes           int          // offsets.topic.segment.bytes
	Group                              group.Config // of its group coordinators; New fills in Node, Start and Sabotage
	TransactionsTopicPartitions        int          // transaction.state.log.num.partitions
	TransactionsTopicReplicationFactor int          // transaction.state.log.replication.factor
	TransactionsTopicMinISR            int          // transaction.state.log.min.isr
	TransactionsTopicSegmentBytes      int          // transaction.state.log.segment.bytes
	Txn                                txn.Config   // of its transaction coordinators; New fills in Node, Start, Sabotage and OffsetsPartitions

	// InUse are the partitions of internal topics that a coordinator of the run lives on.
	//
	// Simplified: every partition of __consumer_offsets and __transaction_state stands in the metadata, with its replicas
	// and its leader, but a broker has a log only of those on which a group or a transactional.id of the run lives. The
	// others are not replicated and not told of, and their in-sync replicas do not grow again after a fencing.
	InUse []kafka.TopicPartition

	Sabotage sabotage.Rule // that a test breaks
}

// DefaultConfig gives the defaults of Kafka 4.2. Os.writeback.ms is the operating system's: 30 s, Linux'
// vm.dirty_expire_centisecs.
//
// Source: AbstractKafkaConfig, as dumped from Kafka 4.2.0.
func DefaultConfig(id kafka.BrokerID) Config {
	return Config{
		ID: id, Log: storage.DefaultConfig(), HeartbeatInterval: 2000, SessionTimeout: 9000, ReplicaLagTimeMax: 30000,
		ReplicaFetchWaitMax: 500, ReplicaFetchMinBytes: 1, ReplicaFetchBackoff: 1000, ReplicaFetchMaxBytes: 1 << 20,
		ReplicaFetchResponseMax: 10 << 20, ReplicaSocketTimeout: 30000, CheckpointInterval: 5000, MinInsyncReplicas: 1, WritebackAge: 30000, MetadataFetchWait: metadataFetchWait,
		OffsetsTopicPartitions: 50, OffsetsTopicReplicationFactor: 3, OffsetsTopicSegmentBytes: 100 << 20, Group: group.DefaultConfig(),
		TransactionsTopicPartitions: 50, TransactionsTopicReplicationFactor: 3, TransactionsTopicMinISR: 2, TransactionsTopicSegmentBytes: 100 << 20, Txn: txn.DefaultConfig(),
	}
}
