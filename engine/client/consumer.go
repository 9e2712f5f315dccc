package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// ConsumerConfig holds a consumer's settings under Kafka's names.
type ConsumerConfig struct {
	Topic                 string
	AutoOffsetReset       string       // auto.offset.reset: "earliest", "latest" or "none"
	FetchMinBytes         int32        // fetch.min.bytes
	FetchMaxWait          kafka.Millis // fetch.max.wait.ms
	FetchMaxBytes         int32        // fetch.max.bytes
	MaxPartitionFetchSize int32        // max.partition.fetch.bytes
	RequestTimeout        kafka.Millis // request.timeout.ms
	MaxPollRecords        int          // max.poll.records
	MetadataMaxAge        kafka.Millis // metadata.max.age.ms
	ClientRack            string       // client.rack; empty: none
	// Work is what the application needs for one record: it polls again when it is through with the
	// records of the last poll. 0: no time.
	Work kafka.Millis
}

// resetNone is the auto.offset.reset that makes a missing position an error.
const resetNone = "none"

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

// Consumer is one consuming client with its application.
type Consumer struct {
	node        kafka.NodeID
	config      ConsumerConfig
	dead        bool // its process was killed
	connections connections
	metadata    metadata
	known       int               // partitions of the topic, as metadata has it
	learned     uint64            // Seq of the event that says so
	partitions  []assigned        // sorted by partition
	order       []kafka.Partition // of the same in a fetch: one whose records were all handed over goes last
	asked       []asked           // requests without an answer
	buffered    []fetched         // in the order they came
	nextPoll    kafka.Millis
	last        uint64 // Seq of the last event that moved something: what the next fetch follows from
}

// NewConsumer makes a consumer that reads the given partitions, sorted, and begins at the bootstrap servers.
// Without any partition it asks for metadata and then has nothing to do: it is idle.
//
// Simplified: a group has no coordinator: each consumer is given its partitions by the assignor at once,
// without a join or a heartbeat, before the run and again when the group's first member learns of new
// partitions and no member is paused. A partition's position goes with it, as if it had been committed. In
// Kafka all members of an eager group stop for such a rebalance, and each takes part only when its application
// polls again.
//
// Simplified: a member that stands still keeps its partitions. Kafka removes it from the group after
// session.timeout.ms = 45,000 ms without a heartbeat, and others read on.
func NewConsumer(node kafka.NodeID, bootstrap []kafka.NodeID, config ConsumerConfig, partitions []kafka.Partition) *Consumer {
	c := &Consumer{
		node: node, config: config, connections: connections{node: node, timeout: config.RequestTimeout},
		metadata: newMetadata(config.Topic, bootstrap, config.MetadataMaxAge),
	}
	c.assign(partitions)
	return c
}

// assign makes the consumer read partitions from nowhere yet.
func (c *Consumer) assign(partitions []kafka.Partition) {
	c.partitions = nil
	for _, p := range partitions {
		c.partitions = append(c.partitions, newAssigned(p))
	}
	c.order = slices.Clone(partitions)
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
	return c.metadata.topicID != [16]byte{}
}

// Known gives the number of partitions that the consumer's metadata has and the Seq of the event that says
// how it learned of them; 0: none is there yet.
func (c *Consumer) Known() (partitions int, learned uint64) { return c.known, c.learned }

// Alive says whether the consumer's process runs.
func (c *Consumer) Alive() bool { return !c.dead }

// Kill ends the consumer's process: it forgets its positions and what it has fetched. False: it was dead
// already. The caller ends its connections.
func (c *Consumer) Kill() bool {
	if c.dead {
		return false
	}
	partitions := make([]kafka.Partition, len(c.partitions))
	for i, a := range c.partitions {
		partitions[i] = a.partition
	}
	c.assign(partitions)
	c.dead, c.known, c.learned, c.asked, c.buffered, c.metadata = true, 0, 0, nil, nil, c.metadata.restarted()
	c.connections = connections{node: c.node, timeout: c.config.RequestTimeout, correlation: c.connections.correlation}
	return true
}

// Start begins a new process of the same application after [Consumer.Kill], with the same partitions: it
// learns metadata anew and begins to read where auto.offset.reset says. False: a process runs.
//
// Simplified: nothing was committed, so a new process does not go on where the old one was.
func (c *Consumer) Start(now kafka.Millis) bool {
	if !c.dead {
		return false
	}
	c.dead, c.nextPoll, c.last = false, now, 0
	return true
}

// NextDue is when the consumer's next timer fires; ok is false when none is set.
func (c *Consumer) NextDue() (due kafka.Millis, ok bool) {
	if c.dead {
		return 0, false
	}
	consider := func(at kafka.Millis, any bool) {
		if any && (!ok || at < due) {
			due, ok = at, true
		}
	}
	consider(c.metadata.nextDue(&c.connections))
	consider(c.nextPoll, len(c.buffered) > 0)
	consider(c.connections.nextTimeout())
	consider(c.nextAsk())
	return due, ok
}

// Tick lets the timers that are due fire: requests time out, metadata is asked for anew, the application
// polls.
func (c *Consumer) Tick(now kafka.Millis, tick kafka.Tick, out *Outside, j *journal.Journal) []simnet.Send {
	if c.dead {
		return nil
	}
	var sends []simnet.Send
	for {
		server, seq, any := c.connections.timedOut(now, j)
		if !any {
			break
		}
		sends = append(sends, simnet.Send{To: server, Close: simnet.CloseOwn, Cause: seq})
		c.lose(now, server, seq, j)
	}
	sends = append(sends, c.metadata.ask(now, &c.connections)...)
	return append(sends, c.poll(now, tick, out, j)...)
}

// Receive handles one response. Cause is the Seq of the event that says it was delivered.
func (c *Consumer) Receive(now kafka.Millis, tick kafka.Tick, m *simnet.Message, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
	if c.dead || !c.connections.answered(m, cause, j) {
		return nil
	}
	c.last = cause
	switch response := m.Response.(type) {
	case *kmsg.MetadataResponse:
		c.learn(now, response, cause, j)
	case *kmsg.ListOffsetsResponse:
		c.takeOffsets(now, c.takeAsked(m), response, cause, j)
	case *kmsg.OffsetForLeaderEpochResponse:
		c.takeEpochs(now, c.takeAsked(m), response, cause, j)
	case *kmsg.FetchResponse:
		c.takeFetched(now, m, c.takeAsked(m), response, cause, j)
	default:
		panic(fmt.Sprintf("consumer %s: no handler for %s", c.node, m.API()))
	}
	return c.poll(now, tick, out, j)
}

// Disconnected handles the news that the connection to a server is gone: requests that were in flight on it
// have failed. Cause is the Seq of the event that says so.
func (c *Consumer) Disconnected(now kafka.Millis, server kafka.NodeID, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
	if c.dead {
		return nil
	}
	c.lose(now, server, cause, j)
	return c.poll(now, j.Tick, out, j)
}

// lose handles the end of a connection.
//
// Source: NetworkClient.cancelInFlightRequests, AbstractFetch.handleFetchFailure.
func (c *Consumer) lose(now kafka.Millis, server kafka.NodeID, cause uint64, j *journal.Journal) {
	failed, seq := c.connections.lost(now, server, cause, j)
	c.last = seq
	c.metadata.request()
	for _, r := range failed {
		if kmsg.Key(r.key) == kmsg.Metadata {
			c.metadata.failed(now)
			continue
		}
		for _, p := range c.takeAsked(&simnet.Message{From: server, Correlation: r.correlation}) {
			a := c.find(p.partition)
			if a == nil {
				continue
			}
			a.preferred = ""
			if kmsg.Key(r.key) != kmsg.Fetch {
				a.asking, a.retryAt = false, now+retryBackoff
			}
		}
	}
}

// learn takes a Metadata response.
func (c *Consumer) learn(now kafka.Millis, response *kmsg.MetadataResponse, cause uint64, j *journal.Journal) {
	c.metadata.take(now, response, c.node, cause, j)
	if n := len(c.metadata.leaders); n != c.known {
		c.last = j.Append(c.node, cause, journal.MetadataLearned{Topic: c.config.Topic, Partitions: n, Before: c.known})
		c.known, c.learned = n, c.last
	}
	for i := range c.partitions {
		c.partitions[i].waits = false
		c.leaderChanged(&c.partitions[i])
	}
}

// Assign gives the consumer other partitions to read, sorted; positions says where to go on in those that
// a member of the group had read before. Cause is the Seq of the event that says so.
func (c *Consumer) Assign(now kafka.Millis, tick kafka.Tick, partitions []kafka.Partition, positions map[kafka.Partition]kafka.Offset, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
	var list []assigned
	for _, p := range partitions {
		a := newAssigned(p)
		if had := c.find(p); had != nil {
			a = *had
		} else if position, ok := positions[p]; ok {
			a.position = position
			a.leader = c.metadata.leaderOf(p)
		}
		list = append(list, a)
	}
	c.partitions, c.order, c.last = list, slices.Clone(partitions), cause
	c.buffered = slices.DeleteFunc(slices.Clone(c.buffered), func(f fetched) bool { return c.find(f.partition) == nil })
	if c.dead {
		c.assign(partitions)
		return nil
	}
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
	return c.ask(now)
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

func (c *Consumer) name(a *assigned) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: c.config.Topic, Partition: a.partition}
}

// failed journals an error that a partition was answered with, and keeps what is to be asked for again.
func (c *Consumer) failed(now kafka.Millis, a *assigned, code int16, cause uint64, j *journal.Journal) {
	c.last = j.Append(c.node, cause, journal.FetchFailed{TopicPartition: c.name(a), Position: a.position, Error: errorName(code)})
	a.preferred = ""
	switch {
	case wantsMetadata(code):
		c.metadata.request()
		a.waits, a.retryAt = true, now+retryBackoff
	case kerr.IsRetriable(kerr.ErrorForCode(code)):
		a.retryAt = now + retryBackoff
	default:
		a.stopped = true
	}
}

// Clone gives a consumer in the same state.
func (c *Consumer) Clone() *Consumer {
	n := *c
	n.connections = c.connections.clone()
	n.partitions, n.order = slices.Clone(c.partitions), slices.Clone(c.order)
	n.buffered, n.asked = slices.Clone(c.buffered), slices.Clone(c.asked)
	return &n
}
