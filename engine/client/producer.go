package client

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// ProducerConfig holds a producer's settings under Kafka's names.
type ProducerConfig struct {
	Topic          string
	Partitioner    string       // of keyed records; a name of partitioner.Names
	Keyless        string       // of records without a key; a name of partitioner.KeylessNames
	Linger         kafka.Millis // linger.ms
	BatchSize      int          // batch.size, bytes
	MaxRequestSize int          // max.request.size, bytes
	MaxInFlight    int          // max.in.flight.requests.per.connection
	Acks           int16        // -1 is all
	RequestTimeout kafka.Millis // request.timeout.ms
	Compression    record.Codec // compression.type
	MetadataMaxAge kafka.Millis // metadata.max.age.ms
}

// DefaultProducerConfig gives the defaults of Kafka 4.2.
//
// Source: class ProducerConfig.
func DefaultProducerConfig(topic string) ProducerConfig {
	return ProducerConfig{
		Topic: topic, Partitioner: "murmur2", Keyless: "sticky", Linger: 5, BatchSize: 16384,
		MaxRequestSize: 1 << 20, MaxInFlight: 5, Acks: -1, RequestTimeout: 30000, MetadataMaxAge: 300000,
	}
}

// Producer is one producing client with its application.
type Producer struct {
	node     kafka.NodeID
	broker   kafka.NodeID
	start    kafka.Timestamp // the wall clock at virtual time 0
	config   ProducerConfig
	keyed    partitioner.Partitioner
	rnd      prng.Rand
	sticky   partitioner.Sticky
	older    partitioner.Sticky480
	turn     partitioner.RoundRobin
	workload deal
	sending  bool         // the workload runs
	nextSend kafka.Millis // when the workload hands in its next records

	metadata    metadata
	topicID     [16]byte
	leaders     []kafka.Partition // partitions with a leader, sorted; shared by clones, never written
	queues      []queue           // by partition; empty until metadata is there
	drainIndex  int
	correlation int32
	inFlight    []inFlight

	produced     int
	acknowledged int
	failed       int
}

// inFlight is a Produce request without an answer yet.
type inFlight struct {
	correlation int32
	records     []int // by partition; never written once made
}

// NewProducer makes a producer that talks to one broker. It asks for metadata at its first tick and
// sends its workload from [Producer.Start] on. Draws is what the workload draws from: all producers of one
// workload are given the same.
func NewProducer(node, broker kafka.NodeID, start kafka.Timestamp, config ProducerConfig, workload Workload, rnd, draws prng.Rand) (*Producer, error) {
	keyed, err := partitioner.ByName(config.Partitioner)
	if err != nil {
		return nil, err
	}
	return &Producer{
		node: node, broker: broker, start: start, config: config, keyed: keyed, rnd: rnd,
		sticky: partitioner.NewSticky(int32(config.BatchSize)), workload: newDeal(workload, draws),
		metadata: newMetadata(config.MetadataMaxAge),
	}, nil
}

// Node gives the producer's name on the network.
func (p *Producer) Node() kafka.NodeID { return p.node }

// Start lets the application hand in its workload, from now on; false: it does so already.
func (p *Producer) Start(now kafka.Millis) bool {
	if p.sending {
		return false
	}
	p.sending, p.nextSend = true, now
	return true
}

// Stop makes the application hand in nothing more of its workload; false: it has stopped already.
func (p *Producer) Stop() bool {
	was := p.sending
	p.sending = false
	return was
}

// Ready says whether the producer knows its topic.
func (p *Producer) Ready() bool { return len(p.queues) > 0 }

// NextDue is when the producer's next timer fires.
func (p *Producer) NextDue() (due kafka.Millis, ok bool) {
	due, ok = p.metadata.nextDue()
	if p.sending && p.workload.Rate > 0 && p.Ready() && (!ok || p.nextSend < due) {
		due, ok = p.nextSend, true
	}
	if len(p.inFlight) >= p.config.MaxInFlight {
		return due, ok
	}
	for _, q := range p.queues {
		if ready, any := q.readyAt(p.config); any && (!ok || ready < due) {
			due, ok = ready, true
		}
	}
	return due, ok
}

// Tick lets the timers that are due fire: metadata is asked for anew, the application hands in records,
// lingering batches go out.
func (p *Producer) Tick(now kafka.Millis, out *Outside, j *journal.Journal) []simnet.Send {
	var sends []simnet.Send
	if p.metadata.due(now) {
		p.metadata.asked()
		sends = append(sends, simnet.Send{To: p.broker, Request: metadataRequest(p.config.Topic), Correlation: p.correlate()})
	}
	if p.sending && p.workload.Rate > 0 && p.Ready() && p.nextSend <= now {
		p.nextSend += p.workload.Every
		for range p.workload.Rate {
			p.handNext(now, out, j)
		}
	}
	return append(sends, p.drainReady(now, j)...)
}

// handNext draws the workload's next record and hands it in, if it is this producer's.
func (p *Producer) handNext(now kafka.Millis, out *Outside, j *journal.Journal) {
	index, mine := p.workload.draw()
	if !mine {
		return
	}
	entity, key := "", []byte(nil)
	if index >= 0 {
		entity = p.workload.Entities[index]
	}
	version := out.Source.number(entity)
	if index >= 0 {
		key = p.workload.key(index, version)
	}
	p.hand(now, handed{key: key, value: p.workload.value(entity, version)}, 0, out, j)
}

// handed is one record as the application hands it to the producer.
type handed struct {
	key, value []byte // a nil key is no key
	named      bool   // it names its partition, to
	to         kafka.Partition
}

// Produce hands in one record as a command says. Cause is the Seq of the event that asked for it. It
// returns why it cannot, in words.
//
// Simplified: a record that names a partition which the producer does not know is refused at once. Kafka's
// asks for metadata and waits up to max.block.ms = 60,000 ms for it.
func (p *Producer) Produce(now kafka.Millis, cmd command.Produce, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, err error) {
	if !p.Ready() {
		return nil, fmt.Errorf("%s has no metadata of %s yet", p.node, p.config.Topic)
	}
	if cmd.Named && int(cmd.To) >= len(p.queues) {
		return nil, fmt.Errorf("%s knows %s of %s; partition %d is not one of them", p.node, kafka.Count(len(p.queues), "partition"), p.config.Topic, cmd.To)
	}
	r := handed{value: []byte(cmd.Value), named: cmd.Named, to: cmd.To}
	if !cmd.Keyless {
		r.key = []byte(cmd.Key)
	}
	if cmd.Default {
		r.value = Workload{}.value("", out.Source.number(cmd.Key))
	}
	if size := record.RecordSizeUpperBound(r.key, r.value) + record.HeaderSize; size > p.config.MaxRequestSize {
		return nil, fmt.Errorf("the record takes %d bytes; max.request.size = %d", size, p.config.MaxRequestSize)
	}
	p.hand(now, r, cause, out, j)
	return p.drainReady(now, j), nil
}

// hand partitions one record and appends it to its partition's queue.
func (p *Producer) hand(now kafka.Millis, r handed, cause uint64, out *Outside, j *journal.Journal) {
	n := int32(len(p.queues))
	ts := p.start + kafka.Timestamp(now)
	event := journal.RecordPartitioned{Key: string(r.key), Partitioner: p.config.Partitioner, Partitions: int(n)}
	chosen, keyed := p.keyed.Partition(r.key, n)
	switch {
	case r.named:
		chosen, event.Named = r.to, true
		p.makeRoom(chosen, ts, r.key, r.value, cause, j)
	case keyed:
		event.Hash = p.keyed.Hash(r.key).Mapped()
		p.makeRoom(chosen, ts, r.key, r.value, cause, j)
	default:
		chosen = p.chooseKeyless(ts, r.key, r.value, cause, j)
		event.Keyless, event.Partitioner = true, p.config.Keyless
	}
	event.TopicPartition = kafka.TopicPartition{Topic: p.config.Topic, Partition: chosen}
	seq := j.Append(p.node, cause, event)
	p.produced++
	out.Source.count(r.key, !event.Keyless && !event.Named, chosen)
	q := &p.queues[chosen]
	grown := q.append(now, ts, r.key, r.value, seq, p.config)
	if !event.Keyless || p.config.Keyless != "sticky" {
		return
	}
	if change, ok := p.sticky.Appended(grown, q.incomplete(), &p.rnd, p.candidates()); ok {
		p.switched(change, seq, j)
	}
}

// chooseKeyless picks the partition of a record without a key.
//
// Source: RecordAccumulator.append and partitionChanged.
func (p *Producer) chooseKeyless(ts kafka.Timestamp, key, value []byte, cause uint64, j *journal.Journal) kafka.Partition {
	switch p.config.Keyless {
	case "round-robin":
		return p.turn.Partition(p.candidates())
	case "sticky-480":
		p.makeRoom(p.older.Partition(&p.rnd, p.candidates()), ts, key, value, cause, j)
		return p.older.Partition(&p.rnd, p.candidates())
	}
	for {
		chosen := p.sticky.Partition(&p.rnd, p.candidates())
		if p.queues[chosen].takes(ts, key, value) {
			return chosen
		}
		change, ok := p.sticky.Appended(0, false, &p.rnd, p.candidates())
		if !ok {
			return chosen
		}
		p.switched(change, cause, j)
	}
}

// makeRoom tells the sticky partitioner of KIP-480 when a record, with a key or without, needs a new batch in
// the partition chosen for it.
//
// Source: KafkaProducer.doSend (3.2).
func (p *Producer) makeRoom(chosen kafka.Partition, ts kafka.Timestamp, key, value []byte, cause uint64, j *journal.Journal) {
	if p.config.Keyless != "sticky-480" || p.queues[chosen].takes(ts, key, value) {
		return
	}
	if change, ok := p.older.NewBatch(chosen, &p.rnd, p.candidates()); ok {
		p.switched(change, cause, j)
	}
}

func (p *Producer) switched(change partitioner.Switch, cause uint64, j *journal.Journal) {
	event := journal.StickyPartitionSwitched{
		From: change.From, To: change.To, Rule: p.config.Keyless,
		Bytes: int(change.ProducedBytes), BatchSize: int(change.BatchSize), Forced: change.Forced,
	}
	if load := change.Load; load != nil {
		event.Partitions, event.Queues, event.Weights = load.Partitions, load.Queues, load.Weights
	}
	j.Append(p.node, cause, event)
}

func (p *Producer) candidates() partitioner.Candidates {
	return partitioner.Candidates{WithLeader: p.leaders, PartitionCount: int32(len(p.queues))}
}

func (p *Producer) correlate() int32 {
	p.correlation++
	return p.correlation
}

// Receive handles one response. Cause is the Seq of the event that says it was delivered.
func (p *Producer) Receive(now kafka.Millis, m *simnet.Message, cause uint64, j *journal.Journal) []simnet.Send {
	switch response := m.Response.(type) {
	case *kmsg.MetadataResponse:
		p.learn(now, response.Topics[0], cause, j)
	case *kmsg.ProduceResponse:
		p.acknowledge(m.Correlation, response, cause, j)
	default:
		panic(fmt.Sprintf("producer %s: no handler for %s", p.node, m.API()))
	}
	return p.drainReady(now, j)
}

// learn takes what a Metadata response says of the topic; partitions that are new get a queue.
func (p *Producer) learn(now kafka.Millis, topic kmsg.MetadataResponseTopic, cause uint64, j *journal.Journal) {
	p.metadata.take(now)
	p.topicID, p.leaders = topic.TopicID, partitionsOf(topic)
	if before := len(p.queues); before < len(topic.Partitions) {
		p.queues = append(p.queues, make([]queue, len(topic.Partitions)-before)...)
		j.Append(p.node, cause, journal.MetadataLearned{Topic: p.config.Topic, Partitions: len(p.queues), Before: before})
	}
}

// acknowledge takes the answer to a Produce request.
func (p *Producer) acknowledge(correlation int32, response *kmsg.ProduceResponse, cause uint64, j *journal.Journal) {
	for i, request := range p.inFlight {
		if request.correlation != correlation {
			continue
		}
		p.inFlight = append(p.inFlight[:i:i], p.inFlight[i+1:]...)
		for _, result := range response.Topics[0].Partitions {
			tp := kafka.TopicPartition{Topic: p.config.Topic, Partition: kafka.Partition(result.Partition)}
			records := request.records[result.Partition]
			if result.ErrorCode != 0 {
				p.failed += records
				j.Append(p.node, cause, journal.ProduceFailed{TopicPartition: tp, Records: records, Error: errorName(result.ErrorCode)})
				continue
			}
			p.acknowledged += records
			j.Append(p.node, cause, journal.ProduceAcknowledged{
				TopicPartition: tp, BaseOffset: kafka.Offset(result.BaseOffset), Records: records, Acks: acksText(p.config.Acks),
			})
		}
		return
	}
	panic(fmt.Sprintf("producer %s: no request with correlation id %d is in flight", p.node, correlation))
}

// Clone gives a producer in the same state.
func (p *Producer) Clone() *Producer {
	c := *p
	c.inFlight = append([]inFlight(nil), p.inFlight...)
	c.queues = make([]queue, len(p.queues))
	for i, q := range p.queues {
		c.queues[i] = q.clone()
	}
	return &c
}
