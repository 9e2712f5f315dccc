package client

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// ConsumerConfig holds a consumer's settings under Kafka's names.
type ConsumerConfig struct {
	Topic                 string
	AutoOffsetReset       string       // auto.offset.reset: "earliest" or "latest"
	FetchMinBytes         int32        // fetch.min.bytes
	FetchMaxWait          kafka.Millis // fetch.max.wait.ms
	FetchMaxBytes         int32        // fetch.max.bytes
	MaxPartitionFetchSize int32        // max.partition.fetch.bytes
	RequestTimeout        kafka.Millis // request.timeout.ms
}

// DefaultConsumerConfig gives the defaults of Kafka 4.2, but for auto.offset.reset, which is "latest"
// there: a lab reads from the beginning unless it says otherwise.
//
// Source: class ConsumerConfig.
func DefaultConsumerConfig(topic string) ConsumerConfig {
	return ConsumerConfig{
		Topic: topic, AutoOffsetReset: "earliest", FetchMinBytes: 1, FetchMaxWait: 500,
		FetchMaxBytes: 52428800, MaxPartitionFetchSize: 1048576, RequestTimeout: 30000,
	}
}

// assigned is one partition that a consumer reads.
type assigned struct {
	partition kafka.Partition
	position  kafka.Offset // next to read; -1 until the leader has said where to begin
	read      int          // records taken so far
	stopped   bool         // an error ended the reading
}

// Consumer is one consuming client.
type Consumer struct {
	node        kafka.NodeID
	broker      kafka.NodeID
	config      ConsumerConfig
	asked       bool // for metadata
	topicID     [16]byte
	partitions  []assigned // sorted by partition
	correlation int32
}

// NewConsumer makes a consumer that reads the given partitions, sorted, from one broker. Without any it
// asks for metadata and then has nothing to do: it is idle.
//
// Simplified: the membership of the group is fixed before the run: each consumer is given its
// partitions by the assignor at once, without a coordinator, a join or a heartbeat.
func NewConsumer(node, broker kafka.NodeID, config ConsumerConfig, partitions []kafka.Partition) *Consumer {
	c := &Consumer{node: node, broker: broker, config: config}
	for _, p := range partitions {
		c.partitions = append(c.partitions, assigned{partition: p, position: kafka.NoOffset})
	}
	return c
}

// Node gives the consumer's name on the network.
func (c *Consumer) Node() kafka.NodeID { return c.node }

// Ready says whether the consumer knows where to read.
func (c *Consumer) Ready() bool {
	for _, a := range c.partitions {
		if a.position == kafka.NoOffset {
			return false
		}
	}
	return c.topicID != [16]byte{}
}

// NextDue is when the consumer's next timer fires; ok is false when none is set.
func (c *Consumer) NextDue() (due kafka.Millis, ok bool) { return atOnce, !c.asked }

// Tick lets the timers that are due fire.
func (c *Consumer) Tick(kafka.Millis, *journal.Journal) []simnet.Send {
	if c.asked {
		return nil
	}
	c.asked = true
	return []simnet.Send{c.send(metadataRequest(c.config.Topic), 0)}
}

func (c *Consumer) send(request kmsg.Request, cause uint64) simnet.Send {
	c.correlation++
	return simnet.Send{To: c.broker, Request: request, Correlation: c.correlation, Cause: cause}
}

// Receive handles one response. Cause is the Seq of the event that says it was delivered.
func (c *Consumer) Receive(_ kafka.Millis, m *simnet.Message, cause uint64, j *journal.Journal) []simnet.Send {
	switch response := m.Response.(type) {
	case *kmsg.MetadataResponse:
		topic := response.Topics[0]
		c.topicID = topic.TopicID
		cause = j.Append(c.node, cause, journal.MetadataLearned{Topic: c.config.Topic, Partitions: len(topic.Partitions)})
		if len(c.partitions) == 0 {
			return nil
		}
		return []simnet.Send{c.send(c.listOffsetsRequest(), cause)}
	case *kmsg.ListOffsetsResponse:
		cause = c.reset(response, cause, j)
	case *kmsg.FetchResponse:
		cause = c.take(response, cause, j)
	default:
		panic(fmt.Sprintf("consumer %s: no handler for %s", c.node, m.API()))
	}
	if request := c.fetchRequest(); request != nil {
		return []simnet.Send{c.send(request, cause)}
	}
	return nil
}

// reset sets the positions from the leader's answer; it returns the last event.
func (c *Consumer) reset(response *kmsg.ListOffsetsResponse, cause uint64, j *journal.Journal) uint64 {
	last := cause
	for _, result := range response.Topics[0].Partitions {
		a := c.find(result.Partition)
		if result.ErrorCode != 0 {
			a.position, a.stopped = 0, true
			last = j.Append(c.node, cause, journal.FetchFailed{TopicPartition: c.name(a), Error: errorName(result.ErrorCode)})
			continue
		}
		a.position = kafka.Offset(result.Offset)
		last = j.Append(c.node, cause, journal.PositionReset{TopicPartition: c.name(a), To: a.position, Policy: c.config.AutoOffsetReset})
	}
	return last
}

// take reads the records of a fetch response and moves the positions; it returns the last event.
func (c *Consumer) take(response *kmsg.FetchResponse, cause uint64, j *journal.Journal) uint64 {
	last := cause
	for _, topic := range response.Topics {
		for _, result := range topic.Partitions {
			a := c.find(result.Partition)
			if result.ErrorCode != 0 {
				a.stopped = true
				last = j.Append(c.node, cause, journal.FetchFailed{TopicPartition: c.name(a), Position: a.position, Error: errorName(result.ErrorCode)})
				continue
			}
			if len(result.RecordBatches) > 0 {
				last = j.Append(c.node, cause, c.decode(a, result.RecordBatches))
			}
		}
	}
	return last
}

// decode walks the batches of one partition. Records before the position are dropped, because a response
// begins with the whole batch that holds it; a batch that is cut at the end is dropped too.
//
// Source: CompletedFetch.
func (c *Consumer) decode(a *assigned, data []byte) journal.RecordsRead {
	event := journal.RecordsRead{TopicPartition: c.name(a), From: a.position}
	for {
		b, err := record.Parse(data)
		if errors.Is(err, record.ErrEnd) || errors.Is(err, record.ErrTorn) {
			break
		}
		if err == nil {
			err = b.CheckCRC() // check.crcs
		}
		if err != nil {
			panic(fmt.Sprintf("consumer %s: %s: %v", c.node, c.name(a), err))
		}
		data = data[b.Size():]
		scanner := b.Scan()
		for scanner.Next() {
			switch {
			case scanner.Record().Offset < a.position:
				event.Skipped++
			case !b.Attributes.Control():
				event.Records++
			}
		}
		if err := scanner.Err(); err != nil {
			panic(fmt.Sprintf("consumer %s: %s: %v", c.node, c.name(a), err))
		}
		a.position = max(a.position, b.NextOffset())
	}
	a.read += event.Records
	event.To = a.position
	return event
}

func (c *Consumer) find(partition int32) *assigned {
	for i := range c.partitions {
		if c.partitions[i].partition == kafka.Partition(partition) {
			return &c.partitions[i]
		}
	}
	panic(fmt.Sprintf("consumer %s: partition %d was not asked for", c.node, partition))
}

func (c *Consumer) name(a *assigned) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: c.config.Topic, Partition: a.partition}
}

// Clone gives a consumer in the same state.
func (c *Consumer) Clone() *Consumer {
	n := *c
	n.partitions = append([]assigned(nil), c.partitions...)
	return &n
}
