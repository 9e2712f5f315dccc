package client

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// batch is one record batch that is still being filled or waits to be sent.
type batch struct {
	builder *record.Builder
	limit   int          // bytes it may take: batch.size, or room for its first record if that needs more
	closed  bool         // a record had no room in it
	created kafka.Millis // when its first record was handed in
	cause   uint64       // Seq of the event of its first record
}

// full says whether the batch takes no more records.
//
// Source: MemoryRecordsBuilder.isFull.
func (b *batch) full() bool { return b.closed || b.builder.Size() >= b.limit }

// queue holds one partition's batches, the oldest first; only the last takes records.
type queue struct {
	batches []batch
	begun   bool // has had a record: Kafka makes the queue of a partition at its first
}

// append adds one record and returns by how many bytes the queue's last batch grew. A record that does
// not fit into batch.size with the others begins a new batch, in which it may be alone and larger.
//
// Source: RecordAccumulator.append, MemoryRecordsBuilder.hasRoomFor.
func (q *queue) append(now kafka.Millis, ts kafka.Timestamp, key, value []byte, cause uint64, config ProducerConfig) (grown int) {
	if q.takes(ts, key, value) {
		last := q.batches[len(q.batches)-1].builder
		before := last.Size()
		last.Append(ts, key, value)
		return last.Size() - before
	}
	fresh := record.NewBuilder(record.Options{Codec: config.Compression})
	fresh.Append(ts, key, value)
	limit := max(config.BatchSize, record.HeaderSize+record.RecordSizeUpperBound(key, value))
	q.batches, q.begun = append(q.batches, batch{builder: fresh, limit: limit, created: now, cause: cause}), true
	return fresh.Size()
}

// takes says whether the queue's last batch has room for a record. A batch that has none is closed: it
// counts as full from then on, also when the record then goes to another partition.
//
// Source: RecordAccumulator.tryAppend.
func (q *queue) takes(ts kafka.Timestamp, key, value []byte) bool {
	if !q.incomplete() {
		return false
	}
	last := &q.batches[len(q.batches)-1]
	last.closed = last.builder.SizeWith(ts, key, value) > last.limit
	return !last.closed
}

// incomplete says whether the queue's last batch can take more records.
func (q *queue) incomplete() bool {
	n := len(q.batches)
	return n > 0 && !q.batches[n-1].full()
}

// readyAt is when the queue makes its broker ready: at once when the first batch can take no more, else
// when it has waited linger.ms. Any is false when the queue is empty.
func (q *queue) readyAt(config ProducerConfig) (at kafka.Millis, any bool) {
	switch {
	case len(q.batches) == 0:
		return 0, false
	case len(q.batches) > 1 || q.batches[0].full():
		return q.batches[0].created, true
	}
	return q.batches[0].created + config.Linger, true
}

// clone copies the queue with the batches that are being filled.
func (q queue) clone() queue {
	c := queue{begun: q.begun}
	for _, b := range q.batches {
		b.builder = b.builder.Clone()
		c.batches = append(c.batches, b)
	}
	return c
}

// drainReady sends requests as long as some batch is ready and another request may be in flight. Then the
// sticky partitioner is told what is left: no draw comes between the checks.
//
// Source: Sender.sendProducerData, RecordAccumulator.partitionReady.
//
// Simplified: the producer's sender looks at the queues once all records of an instant are handed in. Kafka's
// is a thread of its own and may look, and send, between two of them.
func (p *Producer) drainReady(now kafka.Millis, j *journal.Journal) []simnet.Send {
	var sends []simnet.Send
	for len(p.inFlight) < p.config.MaxInFlight {
		reason, cause, ready := p.ready(now)
		if !ready {
			break
		}
		sends = append(sends, p.drain(reason, cause, j))
	}
	p.sticky.UpdateLoad(p.queueLengths(), p.candidates())
	return sends
}

// queueLengths gives how many batches wait, by partition; nil until every partition has had a record.
func (p *Producer) queueLengths() []int {
	lengths := make([]int, len(p.queues))
	for i, q := range p.queues {
		if !q.begun {
			return nil
		}
		lengths[i] = len(q.batches)
	}
	return lengths
}

// ready says whether the broker is to get a request now, by which rule, and which event led to it.
func (p *Producer) ready(now kafka.Millis) (reason string, cause uint64, ok bool) {
	for i, q := range p.queues {
		if len(q.batches) == 0 {
			continue
		}
		tp := kafka.TopicPartition{Topic: p.config.Topic, Partition: kafka.Partition(i)}
		first := q.batches[0]
		switch waited := now - first.created; {
		case len(q.batches) > 1 || first.full():
			return fmt.Sprintf("the batch of %s is full (batch.size = %d bytes)", tp, p.config.BatchSize), first.cause, true
		case waited >= p.config.Linger:
			return fmt.Sprintf("the batch of %s had waited %d ms (linger.ms = %d)", tp, waited, p.config.Linger), first.cause, true
		}
	}
	return "", 0, false
}

// drain makes one Produce request of the first batch of every partition, full or not, as far as
// max.request.size goes, beginning where the last request ended.
//
// Source: RecordAccumulator.drainBatchesForOneNode.
func (p *Producer) drain(reason string, cause uint64, j *journal.Journal) simnet.Send {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = produceVersion, p.config.Acks, int32(p.config.RequestTimeout)
	topic := kmsg.NewProduceRequestTopic()
	topic.TopicID = p.topicID
	sent := inFlight{correlation: p.correlate(), records: make([]int, len(p.queues))}
	event := journal.BatchesSent{Reason: reason}
	start := p.drainIndex
	for i := range p.queues {
		index := (start + i) % len(p.queues)
		p.drainIndex = index
		q := &p.queues[index]
		if len(q.batches) == 0 {
			continue
		}
		first := q.batches[0]
		if event.Batches > 0 && event.Bytes+first.builder.Size() > p.config.MaxRequestSize {
			break
		}
		q.batches = q.batches[1:]
		bytes, err := first.builder.Finish()
		if err != nil {
			panic(fmt.Sprintf("producer %s: %v", p.node, err))
		}
		part := kmsg.NewProduceRequestTopicPartition()
		part.Partition, part.Records = int32(index), bytes
		topic.Partitions = append(topic.Partitions, part)
		sent.records[index] = first.builder.Count()
		event.Batches, event.Records, event.Bytes = event.Batches+1, event.Records+first.builder.Count(), event.Bytes+len(bytes)
	}
	request.Topics = []kmsg.ProduceRequestTopic{topic}
	if p.config.Acks != 0 {
		p.inFlight = append(p.inFlight, sent)
	}
	seq := j.Append(p.node, cause, event)
	return simnet.Send{To: p.broker, Request: request, Correlation: sent.correlation, Cause: seq}
}
