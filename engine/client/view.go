package client

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// ProducerView is what can be seen of a producer from outside: an immutable value.
type ProducerView struct {
	Node          kafka.NodeID
	Alive         bool // its process runs
	Produced      int  // records handed in
	Acknowledged  int
	Failed        int
	Waiting       int          // records in batches that are not in flight
	InFlight      int          // Produce requests without an answer
	Known         int          // partitions of the topic, as its metadata has it
	Sending       bool         // the application hands in its workload
	Refresh       kafka.Millis // when it asks for metadata again
	Idempotent    bool
	ProducerID    kafka.ProducerID    // -1: none
	ProducerEpoch kafka.ProducerEpoch // -1: none
	Partitions    []ProducerPartitionView
	Transaction   *TransactionView // nil: it is not transactional
}

// ProducerPartitionView is what a producer has for one partition.
type ProducerPartitionView struct {
	Partition    kafka.Partition
	Leader       kafka.NodeID // as its metadata has it; empty: none
	LeaderEpoch  kafka.LeaderEpoch
	Batches      []BatchView    // in flight in the order of sending, then those to be sent in order
	NextSequence kafka.Sequence // of the next record; -1: the producer is not idempotent
}

// BatchState says where a batch is.
type BatchState string

// The states of a batch.
const (
	BatchWaiting    BatchState = "waiting"
	BatchInFlight   BatchState = "in flight"
	BatchBackingOff BatchState = "backing off"
)

// BatchView is one batch of a producer.
type BatchView struct {
	State        BatchState
	Records      []int          // their numbers in the source, in order
	BaseSequence kafka.Sequence // -1: none yet
	Attempts     int            // that failed
	Error        string         // of the last of them
	To           kafka.NodeID   // of one in flight: the broker
	Due          kafka.Millis   // of one that waits or backs off: when it is ready, as far as time goes
	ExpiresAt    kafka.Millis   // when delivery.timeout.ms is over
}

// View gives the producer's state.
func (p *Producer) View() ProducerView {
	v := ProducerView{
		Node: p.node, Alive: !p.dead, Produced: p.produced, Acknowledged: p.acknowledged, Failed: p.failed,
		Known: len(p.queues), Sending: p.sending, Refresh: p.metadata.next(),
		Idempotent: p.config.idempotent(), ProducerID: p.identity.id, ProducerEpoch: p.identity.epoch,
		Transaction: p.transactionView(),
	}
	for _, s := range p.connections.servers {
		v.InFlight += p.connections.count(s.node, kmsg.Produce)
	}
	for i := range p.queues {
		part := p.partitionView(i)
		for _, b := range part.Batches {
			if b.State != BatchInFlight {
				v.Waiting += len(b.Records)
			}
		}
		v.Partitions = append(v.Partitions, part)
	}
	return v
}

func (p *Producer) partitionView(i int) ProducerPartitionView {
	q, l := &p.queues[i], p.metadata.first().leaders[i]
	v := ProducerPartitionView{Partition: kafka.Partition(i), Leader: l.node, LeaderEpoch: l.epoch, NextSequence: record.NoSequence}
	if p.config.idempotent() {
		v.NextSequence = q.sequence.next
		if q.sequence.stale(&p.identity) {
			v.NextSequence = 0
		}
	}
	for _, b := range q.sent {
		v.Batches = append(v.Batches, p.batchView(&b, BatchInFlight))
	}
	for n, b := range q.batches {
		view := p.batchView(&b, BatchWaiting)
		view.Due = b.created + p.config.Linger
		if until, waits := b.backsOffUntil(&p.config); waits {
			view.State, view.Due = BatchBackingOff, until
		} else if n < len(q.batches)-1 || b.full() {
			view.Due = b.created
		}
		v.Batches = append(v.Batches, view)
	}
	return v
}

func (p *Producer) batchView(b *batch, state BatchState) BatchView {
	v := BatchView{
		State: state, Records: slices.Clip(b.records), BaseSequence: record.NoSequence, Attempts: b.attempts, Error: b.failure,
		ExpiresAt: b.created + p.config.DeliveryTimeout,
	}
	if state == BatchInFlight {
		v.To = b.to
	}
	if b.sequenced {
		v.BaseSequence = b.producer.BaseSequence
	}
	return v
}

// ConsumerView is what can be seen of a consumer from outside: an immutable value.
type ConsumerView struct {
	Node       kafka.NodeID
	Alive      bool           // its process runs
	Partitions []AssignedView // sorted
	Known      int            // partitions of its first topic, as its metadata has it
	Refresh    kafka.Millis   // when it asks for metadata again
}

// AssignedView is one partition that a consumer reads.
type AssignedView struct {
	TopicPartition kafka.TopicPartition
	Position       kafka.Offset      // next to read; -1: not known yet
	Epoch          kafka.LeaderEpoch // of the record before; -1: not known
	Read           int               // records handed to the application so far
	Leader         kafka.NodeID      // as its metadata has it; empty: none
	ReadsFrom      kafka.NodeID      // where it fetches: the leader or the preferred replica
	Validating     bool              // the position is being compared with a new leader's log
	Stopped        bool              // an error ended the reading
	Skipped        []SkippedView     // of the last response that brought something: what the application was not given, in order
}

// View gives the consumer's state.
func (c *Consumer) View() ConsumerView {
	v := ConsumerView{Node: c.node, Alive: !c.dead, Known: c.metadata.firstCount(), Refresh: c.metadata.next()}
	for i := range c.partitions {
		a := &c.partitions[i]
		v.Partitions = append(v.Partitions, AssignedView{
			TopicPartition: a.tp, Position: a.position, Epoch: a.epoch, Read: a.read, Leader: c.metadata.leaderOf(a.tp).node,
			ReadsFrom: c.readsFrom(a), Validating: a.validating, Stopped: a.stopped, Skipped: a.skipped,
		})
	}
	return v
}
