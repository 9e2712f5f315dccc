package coordinator

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// Record is one record of an internal topic, as Kafka writes it. A nil Value is a tombstone.
type Record struct{ Key, Value []byte }

// Logged is what a coordinator finds in its partition's log as it loads: a record, or the end of a transaction.
type Logged struct {
	Record
	Transactional bool // it belongs to a transaction of Producer, or ends it
	Producer      kafka.ProducerID
	End           End // with one there is no record
}

// End says how a transaction ended.
type End uint8

const (
	NotEnded End = iota
	Committed
	Aborted
)

// Write is what a coordinator wants appended to its partition, as one batch with acks=all. The broker tells it what became
// of that.
type Write struct {
	ID      uint64 // counts the writes of one coordinator, from 1
	Records []Record
	Cause   uint64 // Seq of the event that led to it

	// Transaction is the producer in whose transaction the records are; nil: in none.
	Transaction *Producer
	// Marker ends a transaction; there are no records then.
	Marker *storage.TransactionMarker
}

// Producer is a producer with its epoch.
type Producer struct {
	ID    kafka.ProducerID
	Epoch kafka.ProducerEpoch
}

// Answer is the response to a request.
type Answer struct {
	Request  *simnet.Message
	Response kmsg.Response
	Cause    uint64 // Seq of the event that led to it
}

// Effects is what a step of a coordinator wants done, in this order.
type Effects struct {
	Writes  []Write
	Answers []Answer
	Markers []Marker // of a transaction coordinator
}

// Marker asks for the end of a transaction to be written to partitions, by their leaders. The broker asks each until it
// has an answer that counts, and tells the coordinator.
type Marker struct {
	storage.TransactionMarker
	TransactionalID string
	Partitions      []kafka.TopicPartition
	Cause           uint64 // Seq of the event that led to it
}
