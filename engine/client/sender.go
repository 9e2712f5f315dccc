package client

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// drainReady sends requests as long as a broker has some batch ready for it and may get another request. Then
// batches whose time is over are given up. Last, the sticky partitioner is told what is left: no draw comes
// between the checks.
//
// Source: Sender.sendProducerData, RecordAccumulator.partitionReady.
//
// Simplified: the producer's sender looks at the queues once all records of an instant are handed in. Kafka's
// is a thread of its own and may look, and send, between two of them.
func (p *Producer) drainReady(now kafka.Millis, out *Outside, j *journal.Journal) []simnet.Send {
	var sends []simnet.Send
	p.checked = now
	for again := true; again; {
		sends = append(sends, p.settleSequences(now, j)...)
		if p.config.transactional() {
			asked, goesOn := p.transact(now, out, j)
			if sends = append(sends, asked...); !goesOn {
				return sends
			}
		}
		p.noticeLeaders()
		for _, node := range p.metadata.nodes() {
			for p.maySend(now, node) {
				reason, cause, ready := p.ready(now, node)
				if !ready || !p.yields(now, node) {
					break
				}
				sends = append(sends, p.drain(now, node, reason, cause, out, j))
			}
		}
		again = p.expire(now, out, j)
	}
	if p.config.AdaptiveKeyless {
		p.sticky.UpdateLoad(p.queueLengths(), p.candidates())
	}
	return sends
}

// maySend says whether a broker may get a request.
//
// Source: NetworkClient.ready, canSendRequest.
func (p *Producer) maySend(now kafka.Millis, node kafka.NodeID) bool {
	return p.connections.openAt(node) <= now && !p.busy(node)
}

// busy says whether max.in.flight.requests.per.connection forbids another request to a broker.
//
// Simplified: only Produce requests count. In Kafka Metadata and InitProducerId requests do too, and wait as
// they do.
func (p *Producer) busy(node kafka.NodeID) bool {
	return p.connections.count(node, kmsg.Produce) >= p.config.MaxInFlight
}

// noticeLeaders tells the first batch of each partition the leader epoch, and asks for metadata where records
// wait for a leader.
func (p *Producer) noticeLeaders() {
	for i := range p.queues {
		if q := &p.queues[i]; len(q.batches) > 0 {
			l := p.metadata.leaderOf(p.name(i))
			q.batches[0].notice(l.epoch)
			if l.node == "" {
				p.metadata.request()
			}
		}
	}
}

// queueLengths gives how many batches wait, by partition; nil until every partition has had a record.
func (p *Producer) queueLengths() []int {
	p.lengths = p.lengths[:0]
	for i := range p.queues {
		if !p.queues[i].begun {
			return nil
		}
		p.lengths = append(p.lengths, len(p.queues[i].batches))
	}
	return p.lengths
}

// muted says whether a partition is left out because a batch of it is in flight: with one request in flight
// at a time nothing may overtake it.
//
// Source: Sender.guaranteeMessageOrder, RecordAccumulator.mutePartition.
func (p *Producer) muted(q *queue) bool { return p.config.MaxInFlight == 1 && len(q.sent) > 0 }

// ready says whether a broker is to get a request now, by which rule, and which event led to it.
func (p *Producer) ready(now kafka.Millis, node kafka.NodeID) (reason string, cause uint64, ok bool) {
	for i := range p.queues {
		q := &p.queues[i]
		if len(q.batches) == 0 || p.metadata.first().leaders[i].node != node || p.muted(q) || q.backsOff(now, &p.config) {
			continue
		}
		first := &q.batches[0]
		switch waited := now - first.created; {
		case first.attempts > 0:
			return fmt.Sprintf("the batch of %s is tried again after %s", p.name(i), first.failure), first.cause, true
		case first.divided:
			return fmt.Sprintf("the batch of %s is part of one that was too large", p.name(i)), first.cause, true
		case len(q.batches) > 1 || first.full():
			return fmt.Sprintf("the batch of %s is full (batch.size = %d bytes)", p.name(i), p.config.BatchSize), first.cause, true
		case p.flushing:
			return fmt.Sprintf("flush: the batch of %s waits no longer", p.name(i)), first.cause, true
		case p.txn.completing():
			return fmt.Sprintf("the transaction is ended, and the batch of %s waits no longer", p.name(i)), first.cause, true
		case waited >= p.config.Linger:
			return fmt.Sprintf("the batch of %s had waited %d ms (linger.ms = %d)", p.name(i), waited, p.config.Linger), first.cause, true
		}
	}
	return "", 0, false
}

// led gives the partitions that a broker leads, sorted, and where draining goes on among them.
func (p *Producer) led(node kafka.NodeID) (list []int, start int) {
	for i := range p.queues {
		if p.metadata.first().leaders[i].node == node {
			list = append(list, i)
		}
	}
	if s := p.connections.find(node); s != nil && len(list) > 0 {
		start = s.drainIndex % len(list)
	}
	return list, start
}

// yields says whether a request to a broker for which some batch is ready would hold any. None does where the
// first batch in turn must wait for the order of sequences.
func (p *Producer) yields(now kafka.Millis, node kafka.NodeID) bool {
	if !p.config.idempotent() {
		return true
	}
	list, start := p.led(node)
	for i := range list {
		index := list[(start+i)%len(list)]
		q := &p.queues[index]
		if len(q.batches) > 0 && !p.muted(q) && !q.backsOff(now, &p.config) {
			return !p.blocked(index)
		}
	}
	return false
}

// drainDue is when a broker is to get the next request, as far as that is a question of time: whatever could
// go at the last look is gone.
func (p *Producer) drainDue(node kafka.NodeID) (due kafka.Millis, ok bool) {
	if p.busy(node) {
		return 0, false
	}
	open := p.connections.openAt(node)
	for i := range p.queues {
		q := &p.queues[i]
		if len(q.batches) == 0 || p.metadata.first().leaders[i].node != node || p.muted(q) {
			continue
		}
		at, any := p.readyAt(q)
		if at = max(at, open, p.checked); any && (!ok || at < due) && p.yields(at, node) {
			due, ok = at, true
		}
	}
	return due, ok
}

// readyAt is when a queue makes its broker ready; flush and the end of a transaction wait for no linger.ms.
//
// Source: RecordAccumulator.batchReady.
func (p *Producer) readyAt(q *queue) (at kafka.Millis, any bool) {
	if at, any = q.readyAt(&p.config); any && (p.flushing || p.txn.completing()) && q.batches[0].attempts == 0 {
		at = q.batches[0].created
	}
	return at, any
}

// drain makes one Produce request of the first batch of every partition that a broker leads, full or not, as
// far as max.request.size goes, beginning where the last request ended. A partition whose first batch must
// wait for the order of sequences ends it.
//
// Source: RecordAccumulator.drainBatchesForOneNode.
func (p *Producer) drain(now kafka.Millis, node kafka.NodeID, reason string, cause uint64, out *Outside, j *journal.Journal) simnet.Send {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = produceVersion, p.config.Acks, int32(p.config.RequestTimeout)
	topic := kmsg.NewProduceRequestTopic()
	topic.TopicID = p.metadata.first().id
	if p.config.transactional() {
		id := p.config.TransactionalID
		if request.TransactionID = &id; !p.config.implicit() {
			request.Version, topic.Topic = produceVersion1, p.config.Topic
		}
	}
	event := journal.BatchesSent{Reason: reason}
	list, start := p.led(node)
	server := p.connections.open(node)
	var drained []int
	for i := range list {
		server.drainIndex = (start + i) % len(list)
		index := list[server.drainIndex]
		q := &p.queues[index]
		if len(q.batches) == 0 || p.muted(q) || q.backsOff(now, &p.config) {
			continue
		}
		if event.Batches > 0 && event.Bytes+q.batches[0].size() > p.config.MaxRequestSize || p.blocked(index) {
			break
		}
		b := q.batches[0]
		q.batches = q.batches[1:]
		p.number(q, &b)
		bytes, err := b.encode(&p.config)
		if err != nil {
			panic(fmt.Sprintf("producer %s: %v", p.node, err))
		}
		b.to, b.correlation = node, p.connections.correlation+1
		q.sent = append(q.sent, b)
		drained = append(drained, index)
		part := kmsg.NewProduceRequestTopicPartition()
		part.Partition, part.Records = int32(index), bytes
		topic.Partitions = append(topic.Partitions, part)
		event.Batches, event.Records, event.Bytes = event.Batches+1, event.Records+len(b.records), event.Bytes+len(bytes)
	}
	request.Topics = []kmsg.ProduceRequestTopic{topic}
	seq := j.Append(p.node, cause, event)
	if p.config.Acks != 0 {
		return p.connections.send(now, node, request, seq)
	}
	for _, index := range drained {
		q := &p.queues[index]
		last := len(q.sent) - 1
		out.Source.settle(q.sent[last].records, SentWithoutPromise, kafka.NoOffset, "", j.Tick, seq)
		p.relayHears(q.sent[last].records, true, seq, out, j) // it knows no better
		q.sent = q.sent[:last]
	}
	return p.connections.sendOnly(node, request, seq)
}
