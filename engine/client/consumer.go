package client

import (
	"errors"
	"fmt"
	"slices"

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
	MaxPollRecords        int          // max.poll.records
	MetadataMaxAge        kafka.Millis // metadata.max.age.ms
	// Work is what the application needs for one record: it polls again when it is through with the
	// records of the last poll. 0: no time.
	Work kafka.Millis
}

// DefaultConsumerConfig gives the defaults of Kafka 4.2, but for auto.offset.reset, which is "latest"
// there: a lab reads from the beginning unless it says otherwise.
//
// Source: class ConsumerConfig.
func DefaultConsumerConfig(topic string) ConsumerConfig {
	return ConsumerConfig{
		Topic: topic, AutoOffsetReset: "earliest", FetchMinBytes: 1, FetchMaxWait: 500,
		FetchMaxBytes: 52428800, MaxPartitionFetchSize: 1048576, RequestTimeout: 30000,
		MaxPollRecords: 500, MetadataMaxAge: 300000,
	}
}

// assigned is one partition that a consumer reads.
type assigned struct {
	partition kafka.Partition
	position  kafka.Offset // next to hand to the application; -1 until the leader has said where to begin
	read      int          // records handed over so far
	stopped   bool         // an error ended the reading
}

// fetched is what one response brought of one partition and poll has not handed over yet.
type fetched struct {
	partition kafka.Partition
	data      []byte       // batches; the first may be handed over in part; shared with the message, never written
	from      kafka.Offset // the position that was asked for
	cause     uint64       // Seq of the event that says the response was delivered
}

// Consumer is one consuming client with its application.
type Consumer struct {
	node        kafka.NodeID
	broker      kafka.NodeID
	config      ConsumerConfig
	metadata    metadata
	topicID     [16]byte
	known       int               // partitions of the topic, as metadata has it
	learned     uint64            // Seq of the event that says so
	partitions  []assigned        // sorted by partition
	order       []kafka.Partition // of the same in a fetch: one whose records were all handed over goes last
	epochs      []int32           // leader epochs by partition, as metadata has them; shared by clones, never written
	listing     bool              // a ListOffsets request is under way
	fetching    bool              // a Fetch request is under way
	buffered    []fetched         // in the order they came
	nextPoll    kafka.Millis
	last        uint64 // Seq of the last event that moved something: what the next fetch follows from
	correlation int32
}

// NewConsumer makes a consumer that reads the given partitions, sorted, from one broker. Without any it
// asks for metadata and then has nothing to do: it is idle.
//
// Simplified: a group has no coordinator: each consumer is given its partitions by the assignor at once,
// without a join or a heartbeat, before the run and again when the group's first member learns of new
// partitions and no member is paused. A partition's position goes with it, as if it had been committed. In
// Kafka all members of an eager group stop for such a rebalance, and each takes part only when its application
// polls again.
//
// Simplified: a member that stands still keeps its partitions. Kafka removes it from the group after
// session.timeout.ms = 45,000 ms without a heartbeat, and others read on.
func NewConsumer(node, broker kafka.NodeID, config ConsumerConfig, partitions []kafka.Partition) *Consumer {
	c := &Consumer{node: node, broker: broker, config: config, metadata: newMetadata(config.MetadataMaxAge)}
	for _, p := range partitions {
		c.partitions = append(c.partitions, assigned{partition: p, position: kafka.NoOffset})
	}
	c.order = slices.Clone(partitions)
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

// Known gives the number of partitions that the consumer's metadata has and the Seq of the event that says
// how it learned of them; 0: none is there yet.
func (c *Consumer) Known() (partitions int, learned uint64) { return c.known, c.learned }

// NextDue is when the consumer's next timer fires; ok is false when none is set.
func (c *Consumer) NextDue() (due kafka.Millis, ok bool) {
	due, ok = c.metadata.nextDue()
	if len(c.buffered) > 0 && (!ok || c.nextPoll < due) {
		due, ok = c.nextPoll, true
	}
	return due, ok
}

// Tick lets the timers that are due fire: metadata is asked for anew, the application polls.
func (c *Consumer) Tick(now kafka.Millis, tick kafka.Tick, out *Outside, j *journal.Journal) []simnet.Send {
	var sends []simnet.Send
	if c.metadata.due(now) {
		c.metadata.asked()
		sends = append(sends, c.send(metadataRequest(c.config.Topic), 0))
	}
	return append(sends, c.poll(now, tick, out, j)...)
}

func (c *Consumer) send(request kmsg.Request, cause uint64) simnet.Send {
	c.correlation++
	return simnet.Send{To: c.broker, Request: request, Correlation: c.correlation, Cause: cause}
}

// Receive handles one response. Cause is the Seq of the event that says it was delivered.
func (c *Consumer) Receive(now kafka.Millis, tick kafka.Tick, m *simnet.Message, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
	c.last = cause
	switch response := m.Response.(type) {
	case *kmsg.MetadataResponse:
		topic := response.Topics[0]
		c.metadata.take(now)
		c.topicID, c.epochs = topic.TopicID, epochsOf(topic)
		if n := len(topic.Partitions); n != c.known {
			c.last = j.Append(c.node, cause, journal.MetadataLearned{Topic: c.config.Topic, Partitions: n, Before: c.known})
			c.known, c.learned = n, c.last
		}
	case *kmsg.ListOffsetsResponse:
		c.listing = false
		c.reset(response, cause, j)
	case *kmsg.FetchResponse:
		c.fetching = false
		c.take(response, cause, j)
	default:
		panic(fmt.Sprintf("consumer %s: no handler for %s", c.node, m.API()))
	}
	return c.poll(now, tick, out, j)
}

// Assign gives the consumer other partitions to read, sorted; positions says where to go on in those that
// a member of the group had read before. Cause is the Seq of the event that says so.
func (c *Consumer) Assign(now kafka.Millis, tick kafka.Tick, partitions []kafka.Partition, positions map[kafka.Partition]kafka.Offset, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
	var list []assigned
	for _, p := range partitions {
		a := assigned{partition: p, position: kafka.NoOffset}
		if had := c.find(p); had != nil {
			a = *had
		} else if position, ok := positions[p]; ok {
			a.position = position
		}
		list = append(list, a)
	}
	c.partitions, c.order, c.last = list, slices.Clone(partitions), cause
	c.buffered = slices.DeleteFunc(slices.Clone(c.buffered), func(f fetched) bool { return c.find(f.partition) == nil })
	return c.poll(now, tick, out, j)
}

// poll hands over what has come, up to max.poll.records, unless the application is still at work on the last;
// then it works on these. What is missing is asked for before that.
//
// Source: KafkaConsumer.poll, FetchCollector.
func (c *Consumer) poll(now kafka.Millis, tick kafka.Tick, out *Outside, j *journal.Journal) []simnet.Send {
	for c.nextPoll <= now && len(c.buffered) > 0 {
		left := c.config.MaxPollRecords
		for left > 0 && len(c.buffered) > 0 {
			f := &c.buffered[0]
			event, drained, late := c.handOver(f, left, tick, out)
			cause := f.cause
			if drained {
				c.order = append(slices.DeleteFunc(c.order, func(p kafka.Partition) bool { return p == f.partition }), f.partition)
				c.buffered = c.buffered[1:]
			}
			left -= event.Records
			if event.Records == 0 && event.From == event.To {
				continue
			}
			c.last = j.Append(c.node, cause, event)
			for _, l := range late {
				j.Append(c.node, c.last, l)
			}
		}
		c.nextPoll = now + kafka.Millis(c.config.MaxPollRecords-left)*c.config.Work
	}
	return c.ask()
}

// ask sends the requests that are wanted: positions where there are none, and records. One fetch is under
// way at a time, and none while something is buffered from the broker it would go to; a partition that is
// new waits for both.
//
// Source: AbstractFetch.prepareFetchRequests.
func (c *Consumer) ask() []simnet.Send {
	if c.known == 0 || len(c.partitions) == 0 {
		return nil
	}
	if last := c.partitions[len(c.partitions)-1]; int(last.partition) >= c.known {
		c.metadata.request() // it does not know the leader yet
	}
	var sends []simnet.Send
	if !c.listing {
		if request := c.listOffsetsRequest(); request != nil {
			c.listing = true
			sends = append(sends, c.send(request, c.last))
		}
	}
	if !c.fetching && len(c.buffered) == 0 {
		if request := c.fetchRequest(); request != nil {
			c.fetching = true
			sends = append(sends, c.send(request, c.last))
		}
	}
	return sends
}

// reset sets the positions from the leader's answer.
func (c *Consumer) reset(response *kmsg.ListOffsetsResponse, cause uint64, j *journal.Journal) {
	for _, result := range response.Topics[0].Partitions {
		a := c.find(kafka.Partition(result.Partition))
		switch {
		case a == nil || a.position != kafka.NoOffset: // not its own any more
		case result.ErrorCode != 0:
			a.position, a.stopped = 0, true
			c.last = j.Append(c.node, cause, journal.FetchFailed{TopicPartition: c.name(a), Error: errorName(result.ErrorCode)})
		default:
			a.position = kafka.Offset(result.Offset)
			c.last = j.Append(c.node, cause, journal.PositionReset{TopicPartition: c.name(a), To: a.position, Policy: c.config.AutoOffsetReset})
		}
	}
}

// take buffers the records of a fetch response. What came of a partition that is not its own any more is
// dropped.
func (c *Consumer) take(response *kmsg.FetchResponse, cause uint64, j *journal.Journal) {
	for _, topic := range response.Topics {
		for _, result := range topic.Partitions {
			a := c.find(kafka.Partition(result.Partition))
			switch {
			case a == nil:
			case result.ErrorCode != 0:
				a.stopped = true
				c.last = j.Append(c.node, cause, journal.FetchFailed{TopicPartition: c.name(a), Position: a.position, Error: errorName(result.ErrorCode)})
			case len(result.RecordBatches) > 0:
				c.buffered = append(c.buffered, fetched{partition: a.partition, data: result.RecordBatches, from: a.position, cause: cause})
			}
		}
	}
}

// handOver gives the application up to most records of what was fetched, and the destination the events in
// them. It is drained once a record was looked for and none was left: what ends exactly at most is found to be
// empty by the next poll. Records before the position are dropped, because a response begins with the
// whole batch that holds it; a batch that is cut at the end is dropped too.
//
// Source: CompletedFetch.fetchRecords.
func (c *Consumer) handOver(f *fetched, most int, tick kafka.Tick, out *Outside) (event journal.RecordsRead, drained bool, late []journal.EventSeenLate) {
	a := c.find(f.partition)
	event = journal.RecordsRead{TopicPartition: c.name(a), From: a.position, To: a.position}
	for event.Records < most {
		b, err := record.Parse(f.data)
		if errors.Is(err, record.ErrEnd) || errors.Is(err, record.ErrTorn) {
			return event, true, late
		}
		if err == nil && a.position <= max(b.BaseOffset, f.from) { // the first time
			err = b.CheckCRC() // check.crcs
		}
		if err != nil {
			panic(fmt.Sprintf("consumer %s: %s: %v", c.node, c.name(a), err))
		}
		scanner := b.Scan()
		for scanner.Next() {
			r := scanner.Record()
			switch {
			case r.Offset < a.position:
				if a.position == f.from {
					event.Skipped++
				}
			case b.Attributes.Control():
			case event.Records == most:
				return event, false, late
			default:
				event.Records++
				a.read++
				if l, isLate := c.process(a, r, tick, out); isLate {
					late = append(late, l)
				}
				a.position, event.To = r.Offset+1, r.Offset+1
			}
		}
		if err := scanner.Err(); err != nil {
			panic(fmt.Sprintf("consumer %s: %s: %v", c.node, c.name(a), err))
		}
		a.position = max(a.position, b.NextOffset())
		event.To = a.position
		f.data = f.data[b.Size():]
	}
	return event, false, late
}

// process is the application's work on one record: the destination takes the event.
func (c *Consumer) process(a *assigned, r record.Record, tick kafka.Tick, out *Outside) (late journal.EventSeenLate, isLate bool) {
	entity, version, ok := eventOf(r.Key, r.Value)
	if !ok {
		return late, false
	}
	return out.Destination.take(entity, Sight{Version: version, At: c.name(a), Offset: r.Offset, Tick: tick, Member: c.node})
}

// find gives the state of a partition, nil if it is not assigned.
func (c *Consumer) find(partition kafka.Partition) *assigned {
	for i := range c.partitions {
		if c.partitions[i].partition == partition {
			return &c.partitions[i]
		}
	}
	return nil
}

// canRead says whether the leader of a partition is known and no error ended the reading.
func (c *Consumer) canRead(a *assigned) bool { return int(a.partition) < c.known && !a.stopped }

func (c *Consumer) name(a *assigned) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: c.config.Topic, Partition: a.partition}
}

// Clone gives a consumer in the same state.
func (c *Consumer) Clone() *Consumer {
	n := *c
	n.partitions, n.order = slices.Clone(c.partitions), slices.Clone(c.order)
	n.buffered = slices.Clone(c.buffered)
	return &n
}
