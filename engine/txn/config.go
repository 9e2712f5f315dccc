package txn

import (
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
)

// Topic is the name of the topic that keeps transactions.
const Topic = kafka.TransactionsTopic

// Config holds a broker's settings of transactions under Kafka's names.
type Config struct {
	Node                    kafka.NodeID    // the broker, for the journal
	Start                   kafka.Timestamp // wall clock at virtual time 0
	MaxTimeout              kafka.Millis    // transaction.max.timeout.ms
	AbortInterval           kafka.Millis    // transaction.abort.timed.out.transaction.cleanup.interval.ms
	IDExpiration            kafka.Millis    // transactional.id.expiration.ms
	ExpirationCheckInterval kafka.Millis    // transaction.remove.expired.transaction.cleanup.interval.ms
	RequestTimeout          kafka.Millis    // request.timeout.ms of the broker
	TransactionVersion      int16           // transaction.version, a feature of the cluster: 0, 1 or 2
	OffsetsPartitions       int             // offsets.topic.num.partitions
	Sabotage                sabotage.Rule
}

// DefaultConfig gives the defaults of Kafka 4.2.
//
// Source: classes TransactionStateManagerConfig, TransactionVersion.
func DefaultConfig() Config {
	return Config{
		MaxTimeout: 900_000, AbortInterval: 10_000, IDExpiration: 7 * 24 * 3_600_000, ExpirationCheckInterval: 3_600_000,
		RequestTimeout: 30_000, TransactionVersion: 2, OffsetsPartitions: 50,
	}
}
