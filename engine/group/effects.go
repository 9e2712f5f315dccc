package group

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/simnet"
)

// Record is one record of __consumer_offsets, as Kafka writes it. A nil Value is a tombstone.
type Record struct{ Key, Value []byte }

// Write is what a coordinator wants appended to its partition, as one batch with acks=all. The broker tells by
// [Coordinator.Written] what became of it.
type Write struct {
	ID      uint64 // counts the writes of one coordinator, from 1
	Records []Record
	Cause   uint64 // Seq of the event that led to it
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
}
