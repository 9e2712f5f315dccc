package journal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	From      kafka.Partition `json:"from"` // sticky may draw the same partition again
	To        kafka.Partition `json:"to"`
	Rule      string          `json:"rule"`       // sticky or sticky-480
	Bytes     int             `json:"bytes"`      // appended to From through the sticky path; 0 in sticky-480
	BatchSize int             `json:"batch_size"` // 0 in sticky-480
	Forced    bool            `json:"forced"`     // the last batch of From could still take records

	// The draw of sticky: partitions with a leader, batches in the queue of each, and its weight. Empty if
	// each had the same chance.
	Partitions []kafka.Partition `json:"partitions"`
	Queues     []int             `json:"queues"`
	Weights    []int             `json:"weights"`
}

// Kind gives the kind's name.
func (StickyPartitionSwitched) Kind() string { return "StickyPartitionSwitched" }

// Text gives both partitions, what made the producer switch, and the weights of the draw.
func (b StickyPartitionSwitched) Text() string {
	if b.Rule == "sticky-480" {
		return fmt.Sprintf("%d→%d new batch needed", b.From, b.To)
	}
	text := fmt.Sprintf("%d→%d after %dB batch.size=%d", b.From, b.To, b.Bytes, b.BatchSize)
	if b.Forced {
		text += " forced"
	}
	if len(b.Weights) > 0 {
		text += fmt.Sprintf(" partitions=%s queues=%s weights=%s", listed(b.Partitions, ","), listed(b.Queues, ","), listed(b.Weights, ","))
	}
	return text
}

// Sentence gives the rule, and the weights of the draw.
func (b StickyPartitionSwitched) Sentence() string {
	move := fmt.Sprintf("Records without a key now go to partition %d, no longer to %d", b.To, b.From)
	switch {
	case b.Rule == "sticky-480":
		return fmt.Sprintf("%s: a record needed a new batch there, for no batch of %d could take it.", move, b.From)
	case b.To == b.From:
		move = fmt.Sprintf("Records without a key stay with partition %d, which was drawn again", b.To)
	}
	why := fmt.Sprintf("%d had got %s bytes, at least batch.size = %s, and its last batch was complete",
		b.From, kafka.Thousands(b.Bytes), kafka.Thousands(b.BatchSize))
	if b.Forced {
		why = fmt.Sprintf("%d had got %s bytes, at least twice batch.size = %s, which forces a switch although its last batch was not complete",
			b.From, kafka.Thousands(b.Bytes), kafka.Thousands(b.BatchSize))
	}
	return fmt.Sprintf("%s: %s. %s", move, why, b.draw())
}

// draw tells by which chances the partition was drawn.
func (b StickyPartitionSwitched) draw() string {
	i := slices.Index(b.Partitions, b.To)
	if i < 0 {
		return "Each partition had the same chance in the draw."
	}
	sum := 0
	for _, weight := range b.Weights {
		sum += weight
	}
	return fmt.Sprintf("A shorter queue gave a better chance in the draw: queue lengths %s of partitions %s → weights %s, so %d of %d for partition %d.",
		listed(b.Queues, ", "), listed(b.Partitions, ", "), listed(b.Weights, ", "), b.Weights[i], sum, b.To)
}

// listed writes numbers one after another.
func listed[N ~int | ~int32 | ~int64](numbers []N, separator string) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(int(n))
	}
	return strings.Join(words, separator)
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

// ProduceFailed says that a producer gave up a batch for an error.
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
	answer := "the broker answered " + b.Error
	switch b.Error {
	case "NETWORK_EXCEPTION":
		answer = "the connection was lost before an answer came (NETWORK_EXCEPTION), so they may be written all the same"
	case "REQUEST_TIMED_OUT":
		answer = "request.timeout.ms was over (REQUEST_TIMED_OUT), here or at the leader, so they may be written all the same"
	}
	return fmt.Sprintf("The producer gave up %s for %s: %s.", kafka.Count(b.Records, "record"), b.TopicPartition, answer)
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

// ClockSet says that the clock of a producer's machine was set.
type ClockSet struct {
	Skew kafka.Millis `json:"skew_ms"` // ahead of the brokers' clocks; below 0: behind
}

// Kind gives the kind's name.
func (ClockSet) Kind() string { return "ClockSet" }

// Text gives the skew.
func (b ClockSet) Text() string { return fmt.Sprintf("skew=%d", b.Skew) }

// Sentence gives the skew and what it means.
func (b ClockSet) Sentence() string {
	switch {
	case b.Skew > 0:
		return fmt.Sprintf("The clock of the producer's machine is %s ms ahead of the brokers' now. Its records say so unless the topic has message.timestamp.type = LogAppendTime: a producer writes its own time into them.", kafka.Thousands(b.Skew))
	case b.Skew < 0:
		return fmt.Sprintf("The clock of the producer's machine is %s ms behind the brokers' now. Its records say so unless the topic has message.timestamp.type = LogAppendTime: a producer writes its own time into them.", kafka.Thousands(-b.Skew))
	}
	return "The clock of the producer's machine is right again."
}
