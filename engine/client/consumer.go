package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// ConsumerConfig holds a consumer's settings under Kafka's names.
type ConsumerConfig struct {
	Topics                []string     // that it subscribes to, or whose partitions it is given
	AutoOffsetReset       string       // auto.offset.reset: "earliest", "latest", "none" or "by_duration:PT1H" with a duration in hours, minutes and seconds
	FetchMinBytes         int32        // fetch.min.bytes
	FetchMaxWait          kafka.Millis // fetch.max.wait.ms
	FetchMaxBytes         int32        // fetch.max.bytes
	MaxPartitionFetchSize int32        // max.partition.fetch.bytes
	RequestTimeout        kafka.Millis // request.timeout.ms
	MaxPollRecords        int          // max.poll.records
	MetadataMaxAge        kafka.Millis // metadata.max.age.ms
	ClientRack            string       // client.rack; empty: none
	IsolationLevel        string       // isolation.level: ReadUncommitted or ReadCommitted; empty: the first
	// Work is what the application of a consumer without a group needs for one record: it polls again when it is
	// through with the records of the last poll. 0: no time.
	Work  kafka.Millis
	Group GroupConfig
}

// resetNone is the auto.offset.reset that makes a missing position an error.
const resetNone = "none"

// DefaultConsumerConfig gives the defaults of Kafka 4.2, but for auto.offset.reset, which is "latest"
// there: a lab reads from the beginning unless it says otherwise.
//
// Source: class ConsumerConfig.
func DefaultConsumerConfig(topic string) ConsumerConfig {
	return ConsumerConfig{
		Topics: []string{topic}, AutoOffsetReset: "earliest", FetchMinBytes: 1, FetchMaxWait: 500,
		FetchMaxBytes: 52428800, MaxPartitionFetchSize: 1048576, RequestTimeout: 30000,
		MaxPollRecords: 500, MetadataMaxAge: 300000, IsolationLevel: ReadUncommitted,
	}
}

// Consumer is one consuming client with its application.
type Consumer struct {
	node        kafka.NodeID
	config      ConsumerConfig
	dead        bool // its process was killed
	connections connections
	metadata    metadata
	known       []int                  // partitions of each topic of metadata; shared by clones, never written
	learned     uint64                 // Seq of the event that says so
	partitions  []assigned             // sorted
	order       []kafka.TopicPartition // of the same in a fetch: one whose records were all handed over goes last
	asked       []asked                // requests without an answer
	buffered    []fetched              // in the order they came
	nextPoll    kafka.Millis
	last        uint64          // Seq of the last event that moved something: what the next fetch follows from
	member      *member         // its part in a group; nil: it is in none
	start       kafka.Timestamp // wall clock at virtual time 0
	rnd         prng.Rand       // of the ids of its processes
	ended       uint64          // Seq of the event by which the process ended by itself; 0: it did not
	producer    *Producer       // of an application that writes, in the same process; nil: none
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
func NewConsumer(node kafka.NodeID, bootstrap []kafka.NodeID, config ConsumerConfig, partitions []kafka.TopicPartition) *Consumer {
	c := &Consumer{
		node: node, config: config, connections: connections{node: node, timeout: config.RequestTimeout},
		metadata: newMetadata(config.Topics, bootstrap, config.MetadataMaxAge),
	}
	c.assign(partitions)
	return c
}

// assign makes the consumer read partitions from nowhere yet.
func (c *Consumer) assign(partitions []kafka.TopicPartition) {
	c.partitions = nil
	for _, tp := range partitions {
		c.partitions = append(c.partitions, newAssigned(tp))
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
	return c.metadata.complete()
}

// Known gives the number of partitions that the consumer's metadata has of its first topic and the Seq of the
// event that says how it learned of them; 0: none is there yet.
func (c *Consumer) Known() (partitions int, learned uint64) {
	return c.metadata.firstCount(), c.learned
}

// Alive says whether the consumer's process runs.
func (c *Consumer) Alive() bool { return !c.dead }

// Kill ends the consumer's process: it forgets its positions and what it has fetched, and an application that writes the
// records that its producer holds. Cause is the Seq of the event that says why. False: it was dead already. The caller
// ends its connections.
func (c *Consumer) Kill(cause uint64, out *Outside, j *journal.Journal) bool {
	if c.dead {
		return false
	}
	var partitions []kafka.TopicPartition
	if c.member == nil {
		for _, a := range c.partitions {
			partitions = append(partitions, a.tp)
		}
	}
	c.assign(partitions)
	c.dead, c.known, c.learned, c.asked, c.buffered, c.metadata = true, nil, 0, nil, nil, c.metadata.restarted(c.config.Topics...)
	c.connections = connections{node: c.node, timeout: c.config.RequestTimeout, correlation: c.connections.correlation}
	if c.producer != nil {
		c.producer.Kill(cause, out, j)
	}
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
	if c.member != nil {
		c.join()
		c.member.commitAt = now + c.config.Group.AutoCommitInterval
	}
	if c.producer != nil {
		c.producer.Start(now)
	}
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
	consider(c.nextPoll, len(c.buffered) > 0 && c.member == nil)
	consider(c.connections.nextTimeout())
	if c.member == nil {
		consider(c.nextAsk())
	} else {
		c.memberDue(consider)
	}
	if c.producer != nil {
		consider(c.producer.NextDue())
	}
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
		c.lose(now, server, seq, out, j)
		if c.dead {
			return sends
		}
		if c.producerUses(server) {
			c.producer.lose(now, server, kerr.NetworkException.Code, seq, out, j)
		}
	}
	sends = append(sends, c.tickProducer(now, out, j)...)
	if c.dead {
		return sends
	}
	sends = append(sends, c.metadata.ask(now, &c.connections)...)
	return append(sends, c.goOn(newStep(now, out, j))...)
}

// goOn lets the consumer do what it can now.
func (c *Consumer) goOn(s *step) []simnet.Send {
	if c.member != nil {
		return c.advance(s)
	}
	return append(s.sends, c.poll(s.now, s.tick, s.out, s.j)...)
}

// Receive handles one response. Cause is the Seq of the event that says it was delivered.
func (c *Consumer) Receive(now kafka.Millis, tick kafka.Tick, m *simnet.Message, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
	if c.dead {
		return nil
	}
	s := newStep(now, out, j)
	if c.isProducers(m) {
		s.sends = c.producer.Receive(now, m, cause, out, j)
		return c.goOn(s)
	}
	if !c.connections.answered(m, cause, j) {
		return nil
	}
	c.last = cause
	switch response := m.Response.(type) {
	case *kmsg.MetadataResponse:
		if c.learn(now, response, cause, j); c.member != nil && c.member.roster != nil {
			c.divide(s, cause)
		}
	case *kmsg.ListOffsetsResponse:
		c.takeOffsets(now, c.takeAsked(m), response, cause, j)
	case *kmsg.OffsetForLeaderEpochResponse:
		c.takeEpochs(now, c.takeAsked(m), response, cause, j)
	case *kmsg.FetchResponse:
		c.takeFetched(now, m, c.takeAsked(m), response, cause, j)
	default:
		c.takeMemberAnswer(s, m, cause)
	}
	if c.dead {
		return s.sends
	}
	return c.goOn(s)
}

// takeMemberAnswer takes the response to a request of a member of a group.
func (c *Consumer) takeMemberAnswer(s *step, m *simnet.Message, cause uint64) {
	switch response := m.Response.(type) {
	case *kmsg.FindCoordinatorResponse:
		c.takeCoordinator(s, response, cause)
	case *kmsg.JoinGroupResponse:
		c.takeJoined(s, response, m.Correlation, cause)
	case *kmsg.SyncGroupResponse:
		c.takeSynced(s, response, m.Correlation, cause)
	case *kmsg.ConsumerGroupHeartbeatResponse:
		c.takeGroupHeartbeat(s, response, m.Correlation, cause)
	case *kmsg.HeartbeatResponse:
		c.takeHeartbeat(s, response, m.Correlation, cause)
	case *kmsg.OffsetFetchResponse:
		c.takeLookedUp(s, response, m.Correlation, cause)
	case *kmsg.OffsetCommitResponse:
		c.takeCommitted(s, response, m.Correlation, cause)
	case *kmsg.LeaveGroupResponse:
		if m.Correlation == c.member.leaving {
			c.end(s, cause, true)
		}
	case *kmsg.ProduceResponse:
		c.takeProduced(s, response, m.Correlation, cause)
	default:
		panic(fmt.Sprintf("consumer %s: no handler for %s", c.node, m.API()))
	}
}

// Disconnected handles the news that the connection to a server is gone: requests that were in flight on it
// have failed. Cause is the Seq of the event that says so.
func (c *Consumer) Disconnected(now kafka.Millis, server kafka.NodeID, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
	if c.dead {
		return nil
	}
	c.lose(now, server, cause, out, j)
	if c.dead {
		return nil
	}
	s := newStep(now, out, j)
	if c.producerUses(server) {
		s.sends = c.producer.Disconnected(now, server, cause, out, j)
	}
	return c.goOn(s)
}

// lose handles the end of a connection.
//
// Source: NetworkClient.cancelInFlightRequests, AbstractFetch.handleFetchFailure.
func (c *Consumer) lose(now kafka.Millis, server kafka.NodeID, cause uint64, out *Outside, j *journal.Journal) {
	failed, seq := c.connections.lost(now, server, cause, j)
	c.last = seq
	c.metadata.request()
	for _, r := range failed {
		if kmsg.Key(r.key) == kmsg.Metadata {
			c.metadata.failed(now)
			continue
		}
		for _, p := range c.takeAsked(&simnet.Message{From: server, Correlation: r.correlation}) {
			a := c.find(p.tp)
			if a == nil {
				continue
			}
			a.preferred = ""
			if kmsg.Key(r.key) != kmsg.Fetch {
				a.asking, a.retryAt = false, now+retryBackoff
			}
		}
	}
	if c.member != nil {
		c.lostConnection(newStep(now, out, j), server, failed, seq)
	}
}

// learn takes a Metadata response.
func (c *Consumer) learn(now kafka.Millis, response *kmsg.MetadataResponse, cause uint64, j *journal.Journal) {
	c.metadata.take(now, response, c.node, cause, j)
	if c.member != nil && c.member.fresh == isAsked {
		c.member.fresh = isFresh
	}
	known := make([]int, len(c.metadata.topics))
	for i := range c.metadata.topics {
		t, before := &c.metadata.topics[i], 0
		if known[i] = len(t.leaders); i < len(c.known) {
			before = c.known[i]
		}
		if known[i] != before {
			c.last = j.Append(c.node, cause, journal.MetadataLearned{Topic: t.name, Partitions: known[i], Before: before})
			c.learned = c.last
		}
	}
	c.known = known
	for i := range c.partitions {
		c.partitions[i].waits = false
		c.leaderChanged(&c.partitions[i])
	}
}

// Assign gives the consumer other partitions to read, sorted; positions says where to go on in those that
// a member of the group had read before. Cause is the Seq of the event that says so.
func (c *Consumer) Assign(now kafka.Millis, tick kafka.Tick, partitions []kafka.TopicPartition, positions map[kafka.TopicPartition]kafka.Offset, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
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
	c.buffered = slices.DeleteFunc(slices.Clone(c.buffered), func(f fetched) bool { return c.find(f.tp) == nil })
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
			var late []journal.EventSeenLate
			event, drained := c.handOver(f, left, func(a *assigned, r record.Record, _ kafka.LeaderEpoch) {
				if l, isLate := c.process(a, r, tick, out); isLate {
					late = append(late, l)
				}
			})
			cause := f.cause
			if drained {
				c.order = append(slices.DeleteFunc(c.order, func(tp kafka.TopicPartition) bool { return tp == f.tp }), f.tp)
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
func (c *Consumer) find(tp kafka.TopicPartition) *assigned {
	for i := range c.partitions {
		if c.partitions[i].tp == tp {
			return &c.partitions[i]
		}
	}
	return nil
}

// failed journals an error that a partition was answered with, and keeps what is to be asked for again.
func (c *Consumer) failed(now kafka.Millis, a *assigned, code int16, cause uint64, j *journal.Journal) {
	c.last = j.Append(c.node, cause, journal.FetchFailed{TopicPartition: a.tp, Position: a.position, Error: errorName(code)})
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
	n.member = c.member.clone()
	if c.producer != nil {
		n.producer = c.producer.Clone()
	}
	return &n
}
