package client

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// Producer is one producing client with its application.
type Producer struct {
	node     kafka.NodeID
	start    kafka.Timestamp // its wall clock at virtual time 0
	skew     kafka.Millis    // by which that is ahead, below 0 behind
	config   ProducerConfig  // resolved
	keyed    partitioner.Partitioner
	rnd      prng.Rand
	sticky   partitioner.Sticky
	older    partitioner.Sticky480
	turn     partitioner.RoundRobin
	workload deal
	sending  bool         // the workload runs
	nextSend kafka.Millis // when the workload hands in its next records
	dead     bool         // its process was killed, or has ended
	endedBy  uint64       // Seq of the event by which it ended by itself; 0: it did not

	connections connections
	metadata    metadata
	identity    identity
	queues      []queue      // by partition; empty until metadata is there
	lengths     []int        // scratch of queueLengths
	checked     kafka.Millis // when the queues were last looked at
	txn         transactions // of a transactional producer
	app         producerApp  // around it
	embedded    bool         // its application is a consumer's
	flushing    bool         // the application waits until nothing is unacknowledged
	relay       relay        // of an application with an outbox table

	produced     int
	acknowledged int
	failed       int
}

// NewProducer makes a producer that begins at the bootstrap servers. It asks for metadata, and for a producer
// id if it is idempotent, at its first tick and sends its workload from [Producer.StartSending] on. Draws is
// what the workload draws from: all producers of one workload are given the same. The error says which setting
// does not go with which.
func NewProducer(node kafka.NodeID, bootstrap []kafka.NodeID, start kafka.Timestamp, config ProducerConfig, workload Workload, rnd, draws prng.Rand) (*Producer, error) {
	keyed, err := partitioner.ByName(config.Partitioner)
	if err != nil {
		return nil, err
	}
	if config, err = config.Resolve(); err != nil {
		return nil, fmt.Errorf("%s: %w", node, err)
	}
	if workload.Outbox && config.transactional() {
		return nil, fmt.Errorf("%s: a relay of an outbox table has no transactional.id here", node)
	}
	return &Producer{
		node: node, start: start, config: config, keyed: keyed, rnd: rnd,
		sticky: partitioner.NewSticky(int32(config.BatchSize)), workload: newDeal(workload, draws),
		connections: connections{node: node, timeout: config.RequestTimeout},
		metadata:    newMetadata([]string{config.Topic}, bootstrap, config.MetadataMaxAge), identity: newIdentity(), checked: atOnce,
		txn: new(transactions).restarted(&config), relay: newRelay(),
	}, nil
}

// Node gives the producer's name on the network.
func (p *Producer) Node() kafka.NodeID { return p.node }

// Config gives the settings that hold.
func (p *Producer) Config() ProducerConfig { return p.config }

// SetSkew sets by how much the clock of the producer's machine is ahead of the others, below 0: behind.
func (p *Producer) SetSkew(skew kafka.Millis) { p.skew = skew }

// Skew is by how much the clock of the producer's machine is ahead of the others, below 0: behind.
func (p *Producer) Skew() kafka.Millis { return p.skew }

// StartSending lets the application hand in its workload, from now on; false: it does so already.
func (p *Producer) StartSending(now kafka.Millis) bool {
	if p.sending {
		return false
	}
	p.sending, p.nextSend = true, now
	return true
}

// StopSending makes the application hand in nothing more of its workload; false: it has stopped already. A transaction
// that is open stays open.
func (p *Producer) StopSending() bool {
	was := p.sending
	p.sending, p.app.owed = false, 0
	return was
}

// Ready says whether the producer knows its topic and, if it is idempotent, has its producer id. One that is transactional
// may never find a coordinator to give it one.
func (p *Producer) Ready() bool {
	return len(p.queues) > 0 && (!p.config.idempotent() || p.identity.id >= 0 || p.config.transactional())
}

// Alive says whether the producer's process runs.
func (p *Producer) Alive() bool { return !p.dead }

// Kill ends the producer's process: what it holds in memory is lost, and every record without an
// acknowledgement is dropped. Cause is the Seq of the event that says why; false: it was dead already. The
// caller ends its connections.
func (p *Producer) Kill(cause uint64, out *Outside, j *journal.Journal) bool {
	if p.dead {
		return false
	}
	event := journal.ProducerMemoryLost{}
	var lost []int
	for i := range p.queues {
		for _, b := range p.queues[i].sent {
			lost = append(lost, b.records...)
			event.InFlight += len(b.records)
		}
		for _, b := range p.queues[i].batches {
			lost = append(lost, b.records...)
			if b.attempts > 0 {
				event.InFlight += len(b.records)
			}
		}
	}
	if event.Records = len(lost); p.embedded && len(lost) == 0 {
		p.forget()
		return true
	}
	seq := j.Append(p.node, cause, event)
	out.Source.settle(lost, Dropped, kafka.NoOffset, "", j.Tick, seq)
	p.forget()
	return true
}

// forget ends the process: what it held in memory is gone.
func (p *Producer) forget() {
	p.dead, p.queues, p.identity, p.metadata = true, nil, newIdentity(), p.metadata.restarted(p.config.Topic)
	p.connections = connections{node: p.node, timeout: p.config.RequestTimeout, correlation: p.connections.correlation}
	p.sticky, p.older, p.turn = partitioner.NewSticky(int32(p.config.BatchSize)), partitioner.Sticky480{}, partitioner.RoundRobin{}
	p.txn, p.app, p.flushing = p.txn.restarted(&p.config), producerApp{begun: p.app.begun}, false
	p.relay = newRelay()
}

// Off makes a producer that has done nothing yet one whose process does not run; [Producer.Start] begins it.
func (p *Producer) Off() { p.forget() }

// Start begins a new process of the same application after [Producer.Kill]: it learns metadata anew and, if it
// is idempotent, gets another producer id. The workload goes on where it was, from now on. False: a process
// runs.
//
// Simplified: the application knows what it has handed in before and sends none of it again, although it
// cannot know what of it was written.
func (p *Producer) Start(now kafka.Millis) bool {
	if !p.dead {
		return false
	}
	p.dead, p.nextSend, p.txn = false, now, p.txn.restarted(&p.config)
	return true
}

// NextDue is when the producer's next timer fires.
func (p *Producer) NextDue() (due kafka.Millis, ok bool) {
	if p.dead {
		return 0, false
	}
	consider := func(at kafka.Millis, any bool) {
		if any && (!ok || at < due) {
			due, ok = at, true
		}
	}
	consider(p.metadata.nextDue(&p.connections))
	consider(p.identityDue())
	consider(p.nextSend, p.handsIn() && !p.appWaits())
	consider(p.connections.nextTimeout())
	consider(p.relayDue())
	consider(p.txn.due())
	if p.txn.waits() {
		return due, ok
	}
	consider(p.nextExpiry())
	for _, node := range p.metadata.nodes() {
		consider(p.drainDue(node))
	}
	return due, ok
}

// handsIn says whether the application has a timer to hand in records.
func (p *Producer) handsIn() bool {
	return p.sending && p.workload.Rate > 0 && (len(p.queues) > 0 || p.workload.Outbox)
}

// Tick lets the timers that are due fire: requests time out, metadata and a producer id are asked for, the
// application hands in records, batches go out or expire.
func (p *Producer) Tick(now kafka.Millis, out *Outside, j *journal.Journal) []simnet.Send {
	if p.dead {
		return nil
	}
	var sends []simnet.Send
	for {
		server, seq, any := p.connections.timedOut(now, j)
		if !any {
			break
		}
		sends = append(sends, simnet.Send{To: server, Close: simnet.CloseOwn, Cause: seq})
		p.lose(now, server, kerr.RequestTimedOut.Code, seq, out, j)
	}
	sends = append(sends, p.metadata.ask(now, &p.connections)...)
	if p.config.transactional() {
		return append(sends, p.goOn(now, out, j)...)
	}
	if p.handsIn() && p.nextSend <= now {
		p.nextSend += p.workload.Every
		for range p.workload.Rate {
			p.handNext(now, out, j)
		}
	}
	return append(sends, p.goOn(now, out, j)...)
}

// goOn lets the application of a transactional producer and the sender do what they can.
func (p *Producer) goOn(now kafka.Millis, out *Outside, j *journal.Journal) []simnet.Send {
	if !p.config.transactional() {
		p.publish(now, out, j)
		return p.drainReady(now, out, j)
	}
	var sends []simnet.Send
	for again := true; again; {
		for !p.embedded && p.runApp(now, out, j) {
		}
		before := p.txn.state
		if !p.dead {
			sends = append(sends, p.drainReady(now, out, j)...)
		}
		again = !p.dead && p.txn.state != before
	}
	return sends
}

// handNext draws the workload's next record and hands it in, if it is this producer's.
func (p *Producer) handNext(now kafka.Millis, out *Outside, j *journal.Journal) {
	if index, mine := p.workload.draw(); mine {
		p.handDrawn(now, index, out, j)
	}
}

// handDrawn hands in an event of the entity with that index, -1 for none.
func (p *Producer) handDrawn(now kafka.Millis, index int, out *Outside, j *journal.Journal) {
	entity, key := "", []byte(nil)
	if index >= 0 {
		entity = p.workload.Entities[index]
	}
	version := out.Source.number(entity)
	if index >= 0 {
		key = p.workload.key(index, version)
	}
	r := submitted{key: key, value: p.workload.value(entity, version)}
	if p.workload.deletes(version) {
		r.value = nil
	}
	if p.workload.Outbox {
		p.keep(r, 0, out, j)
		return
	}
	p.hand(now, r, p.txn.last, out, j)
}

// submitted is one record as the application hands it to the producer.
type submitted struct {
	key, value []byte // a nil key is no key
	named      bool   // it names its partition, to
	to         kafka.Partition

	of       kafka.TopicPartition // the record that it was made of; zero: of none
	ofOffset kafka.Offset
	again    bool // the event was handed over before
}

// Produce hands in one record as a command says. Cause is the Seq of the event that asked for it. It
// returns why it cannot, in words.
//
// Simplified: a record that names a partition which the producer does not know is refused at once. Kafka's
// asks for metadata and waits up to max.block.ms = 60,000 ms for it.
func (p *Producer) Produce(now kafka.Millis, cmd command.Produce, cause uint64, out *Outside, j *journal.Journal) (sends []simnet.Send, err error) {
	if p.dead {
		return nil, fmt.Errorf("the process of %s does not run", p.node)
	}
	if len(p.queues) == 0 {
		return nil, fmt.Errorf("%s has no metadata of %s yet", p.node, p.config.Topic)
	}
	if cmd.Named && int(cmd.To) >= len(p.queues) {
		return nil, fmt.Errorf("%s knows %s of %s; partition %d is not one of them", p.node, kafka.Count(len(p.queues), "partition"), p.config.Topic, cmd.To)
	}
	r := submitted{value: []byte(cmd.Value), named: cmd.Named, to: cmd.To}
	if !cmd.Keyless {
		r.key = []byte(cmd.Key)
	}
	switch {
	case cmd.Tombstone:
		r.value = nil
	case cmd.Default:
		r.value = Workload{}.value("", out.Source.number(cmd.Key))
	}
	if p.config.transactional() && p.txn.state != InTransaction {
		return nil, p.throws("send")
	}
	if size := record.RecordSizeUpperBound(r.key, r.value) + record.HeaderSize; size > p.config.MaxRequestSize {
		return nil, fmt.Errorf("the record takes %d bytes; max.request.size = %d", size, p.config.MaxRequestSize)
	}
	r.again = !cmd.Default && out.Source.repeats(r.key, r.value)
	if p.workload.Outbox {
		r.again = false
		p.keep(r, cause, out, j)
	} else {
		p.hand(now, r, cause, out, j)
	}
	return p.goOn(now, out, j), nil
}

// hand partitions one record and appends it to its partition's queue. It gives the record's number in the source.
func (p *Producer) hand(now kafka.Millis, r submitted, cause uint64, out *Outside, j *journal.Journal) (number int) {
	n := int32(len(p.queues))
	ts := p.start + kafka.Timestamp(p.skew+now)
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
	h := Handed{Producer: p.node, Key: r.key, Value: r.value, TopicPartition: event.TopicPartition, Timestamp: ts, Tick: j.Tick, Event: seq, Of: r.of, OfOffset: r.ofOffset, Repeats: r.again, Relayed: p.workload.Outbox}
	if p.config.transactional() {
		h.Transaction = p.txn.number
		p.addPartition(h.TopicPartition)
	}
	number = out.Source.take(h, !event.Keyless && !event.Named)
	q := &p.queues[chosen]
	grown := q.append(now, ts, r, seq, number, &p.config)
	if !event.Keyless || p.config.Keyless != "sticky" {
		return number
	}
	if change, ok := p.sticky.Appended(grown, q.incomplete(), &p.rnd, p.candidates()); ok {
		p.switched(change, seq, j)
	}
	return number
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
	return partitioner.Candidates{WithLeader: p.metadata.first().led, PartitionCount: int32(len(p.queues))}
}

// name gives the name of a partition by its index.
func (p *Producer) name(partition int) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: p.config.Topic, Partition: kafka.Partition(partition)}
}

// Receive handles one response. Cause is the Seq of the event that says it was delivered.
func (p *Producer) Receive(now kafka.Millis, m *simnet.Message, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
	if p.dead || !p.connections.answered(m, cause, j) {
		return nil
	}
	switch response := m.Response.(type) {
	case *kmsg.FindCoordinatorResponse, *kmsg.AddPartitionsToTxnResponse, *kmsg.AddOffsetsToTxnResponse, *kmsg.TxnOffsetCommitResponse, *kmsg.EndTxnResponse:
		if p.txn.isAnswer(m) {
			p.takeTxnAnswer(m, cause, out, j)
		}
	case *kmsg.MetadataResponse:
		p.metadata.take(now, response, p.node, cause, j)
		p.growQueues(cause, j)
	case *kmsg.InitProducerIDResponse:
		if p.txn.isAnswer(m) {
			p.takeTxnAnswer(m, cause, out, j)
			break
		}
		p.takeProducerID(now, response, cause, j)
	case *kmsg.ProduceResponse:
		p.takeAnswer(now, m, response, cause, out, j)
	default:
		panic(fmt.Sprintf("producer %s: no handler for %s", p.node, m.API()))
	}
	return p.goOn(now, out, j)
}

// Disconnected handles the news that the connection to a server is gone: requests that were in flight on it
// have failed. Cause is the Seq of the event that says so.
func (p *Producer) Disconnected(now kafka.Millis, server kafka.NodeID, cause uint64, out *Outside, j *journal.Journal) []simnet.Send {
	if p.dead {
		return nil
	}
	p.lose(now, server, kerr.NetworkException.Code, cause, out, j)
	return p.goOn(now, out, j)
}

// growQueues gives the partitions that are new a queue.
func (p *Producer) growQueues(cause uint64, j *journal.Journal) {
	if before := len(p.queues); before < len(p.metadata.first().leaders) {
		p.queues = append(p.queues, make([]queue, len(p.metadata.first().leaders)-before)...)
		j.Append(p.node, cause, journal.MetadataLearned{Topic: p.config.Topic, Partitions: len(p.queues), Before: before})
	}
}

// Clone gives a producer in the same state.
func (p *Producer) Clone() *Producer {
	c := *p
	c.lengths = nil
	c.connections = p.connections.clone()
	c.queues = make([]queue, len(p.queues))
	for i := range p.queues {
		c.queues[i] = p.queues[i].clone()
	}
	return &c
}
