package journal

import (
	"fmt"
	"strconv"

	"loglab/engine/kafka"
)

// RecordPartitioned says that a producer chose a partition for a record and put it into the open batch
// of that partition.
type RecordPartitioned struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Key            string               `json:"key"`
	Named          bool                 `json:"named"`       // the record names its partition: no rule was asked
	Keyless        bool                 `json:"keyless"`     // the client's rule sees no key
	Partitioner    string               `json:"partitioner"` // or the keyless rule that chose
	Hash           uint32               `json:"hash"`        // after the client's mapping; 0 when keyless
	Partitions     int                  `json:"partitions"`
}

// Kind gives the kind's name.
func (RecordPartitioned) Kind() string { return "RecordPartitioned" }

// Text gives key and choice.
func (b RecordPartitioned) Text() string {
	if b.Named {
		return fmt.Sprintf("%s named by the record", b.TopicPartition)
	}
	if b.Keyless {
		return fmt.Sprintf("%s keyless by %s", b.TopicPartition, b.Partitioner)
	}
	return fmt.Sprintf("%s key=%s %s=%d mod %d", b.TopicPartition, strconv.Quote(b.Key), b.Partitioner, b.Hash, b.Partitions)
}

// Sentence gives the arithmetic of the choice.
func (b RecordPartitioned) Sentence() string {
	if b.Named {
		return fmt.Sprintf("A record goes to %s: it names its partition, so no partitioner is asked.", b.TopicPartition)
	}
	if b.Keyless {
		return fmt.Sprintf("A record without a key goes to %s, the choice of %s.", b.TopicPartition, b.Partitioner)
	}
	return fmt.Sprintf("The record with %s goes to %s: its %s hash, as this client maps it, is %s, and that modulo %d is %d.",
		keyText(b.Key, false), b.TopicPartition, b.Partitioner, kafka.Thousands(b.Hash), b.Partitions, b.TopicPartition.Partition)
}

// StickyPartitionSwitched says that records without a key now go to another partition.
type StickyPartitionSwitched struct {
	From      kafka.Partition `json:"from"` // the same partition may be drawn again
	To        kafka.Partition `json:"to"`
	Bytes     int             `json:"bytes"` // appended to From through the sticky path
	BatchSize int             `json:"batch_size"`
}

// Kind gives the kind's name.
func (StickyPartitionSwitched) Kind() string { return "StickyPartitionSwitched" }

// Text gives both partitions.
func (b StickyPartitionSwitched) Text() string {
	return fmt.Sprintf("%d→%d after %dB batch.size=%d", b.From, b.To, b.Bytes, b.BatchSize)
}

// Sentence gives the rule.
func (b StickyPartitionSwitched) Sentence() string {
	return fmt.Sprintf("Records without a key now go to partition %d: %d had got %s bytes, and the producer stays until at least batch.size = %s.",
		b.To, b.From, kafka.Thousands(b.Bytes), kafka.Thousands(b.BatchSize))
}

// BatchesSent says that a producer closed batches and sent them in one request.
type BatchesSent struct {
	Batches int    `json:"batches"`
	Records int    `json:"records"`
	Bytes   int    `json:"bytes"`
	Reason  string `json:"reason"` // what made the first of them ready
}

// Kind gives the kind's name.
func (BatchesSent) Kind() string { return "BatchesSent" }

// Text gives the counts and the reason.
func (b BatchesSent) Text() string {
	return fmt.Sprintf("batches=%d records=%d %dB: %s", b.Batches, b.Records, b.Bytes, b.Reason)
}

// Sentence gives the counts and the reason.
func (b BatchesSent) Sentence() string {
	return fmt.Sprintf("%s with %s (%s bytes) went into one Produce request: %s.",
		kafka.Count(b.Batches, "batch"), kafka.Count(b.Records, "record"), kafka.Thousands(b.Bytes), b.Reason)
}

// ProduceAcknowledged says that a producer learned that its batch is in the log.
type ProduceAcknowledged struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	BaseOffset     kafka.Offset         `json:"base_offset"`
	Records        int                  `json:"records"`
	Acks           string               `json:"acks"`
}

// Kind gives the kind's name.
func (ProduceAcknowledged) Kind() string { return "ProduceAcknowledged" }

// Text gives offset and count.
func (b ProduceAcknowledged) Text() string {
	return fmt.Sprintf("%s base=%d records=%d acks=%s", b.TopicPartition, b.BaseOffset, b.Records, b.Acks)
}

// Sentence says what the producer now knows.
func (b ProduceAcknowledged) Sentence() string {
	return fmt.Sprintf("The producer was told that %s of %s %s written from offset %d (acks=%s).",
		kafka.Count(b.Records, "record"), b.TopicPartition, were(b.Records), b.BaseOffset, b.Acks)
}

// ProduceFailed says that a producer was told that its batch was refused.
type ProduceFailed struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Records        int                  `json:"records"`
	Error          string               `json:"error"`
}

// Kind gives the kind's name.
func (ProduceFailed) Kind() string { return "ProduceFailed" }

// Text gives the code.
func (b ProduceFailed) Text() string {
	return fmt.Sprintf("%s records=%d %s", b.TopicPartition, b.Records, b.Error)
}

// Sentence gives the code.
func (b ProduceFailed) Sentence() string {
	return fmt.Sprintf("The producer gave up %s for %s: the broker answered %s.", kafka.Count(b.Records, "record"), b.TopicPartition, b.Error)
}

// SendingStopped says that a producer's application hands in no more records of its workload.
type SendingStopped struct {
	Held int `json:"held"` // records in batches that are not sent yet
}

// Kind gives the kind's name.
func (SendingStopped) Kind() string { return "SendingStopped" }

// Text gives what the producer still holds.
func (b SendingStopped) Text() string { return fmt.Sprintf("held=%d", b.Held) }

// Sentence gives what the producer still holds.
func (b SendingStopped) Sentence() string {
	return fmt.Sprintf("The application hands in no more records. The producer still sends what it holds: %s.", kafka.Count(b.Held, "record"))
}

// SendingStarted says that a producer's application goes on with its workload.
type SendingStarted struct {
	Partitions int `json:"partitions"` // that the producer knows of
}

// Kind gives the kind's name.
func (SendingStarted) Kind() string { return "SendingStarted" }

// Text gives how many partitions the producer knows of.
func (b SendingStarted) Text() string { return fmt.Sprintf("partitions=%d", b.Partitions) }

// Sentence gives how many partitions the producer knows of.
func (b SendingStarted) Sentence() string {
	return fmt.Sprintf("The application hands in records again. The producer divides them among the %s that it knows of.", kafka.Count(b.Partitions, "partition"))
}
