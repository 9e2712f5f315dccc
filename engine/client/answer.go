package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// takeAnswer takes the answer to a Produce request: each of its batches is acknowledged, sent again or given
// up. An answer that names another leader is believed if its epoch is newer.
//
// Source: Sender.handleProduceResponse.
func (p *Producer) takeAnswer(now kafka.Millis, m *simnet.Message, response *kmsg.ProduceResponse, cause uint64, out *Outside, j *journal.Journal) {
	for _, topic := range response.Topics {
		for _, result := range topic.Partitions {
			if result.ErrorCode != 0 {
				l := result.CurrentLeader
				p.metadata.moved(p.name(int(result.Partition)), l.LeaderID, l.LeaderEpoch, endpointOf(response.Brokers, l.LeaderID), m.API(), p.node, cause, j)
			}
			if b, ok := p.queues[result.Partition].land(m.Correlation); ok {
				p.complete(now, int(result.Partition), b, result, cause, out, j)
			}
		}
	}
}

// endpointOf gives the name of a broker among the node endpoints of a Produce response; empty: it is not there.
func endpointOf(brokers []kmsg.ProduceResponseBroker, id int32) kafka.NodeID {
	for _, b := range brokers {
		if b.NodeID == id {
			return kafka.NodeID(b.Host)
		}
	}
	return ""
}

// land takes the batch of a request off those in flight; ok is false when it was given up before.
func (q *queue) land(correlation int32) (b batch, ok bool) {
	at := slices.IndexFunc(q.sent, func(b batch) bool { return b.correlation == correlation })
	if at < 0 {
		return batch{}, false
	}
	b = q.sent[at]
	q.sent = slices.Delete(q.sent, at, at+1)
	return b, true
}

// lose handles the end of a connection: what was in flight on it has failed with the error of that code. The
// batches of the oldest request are put back first, each to the front of its queue, so that without
// sequences several of one partition change their order.
//
// Source: NetworkClient.cancelInFlightRequests, Sender.handleProduceResponse.
func (p *Producer) lose(now kafka.Millis, server kafka.NodeID, code int16, cause uint64, out *Outside, j *journal.Journal) {
	failed, seq := p.connections.lost(now, server, cause, j)
	p.metadata.request()
	for _, r := range failed {
		if r.correlation == p.txn.correlation { // never 0
			p.txnLost(seq, j)
			continue
		}
		switch kmsg.Key(r.key) {
		case kmsg.Metadata:
			p.metadata.failed(now)
		case kmsg.InitProducerID:
			p.identityFailed(now)
		case kmsg.Produce:
			for i := range p.queues {
				if b, ok := p.queues[i].land(r.correlation); ok {
					result := kmsg.NewProduceResponseTopicPartition()
					result.ErrorCode, result.BaseOffset = code, -1
					p.complete(now, i, b, result, seq, out, j)
				}
			}
		}
	}
}

// complete settles one batch that is in flight no longer.
//
// Source: Sender.completeBatch.
func (p *Producer) complete(now kafka.Millis, partition int, b batch, result kmsg.ProduceResponseTopicPartition, cause uint64, out *Outside, j *journal.Journal) {
	q, code := &p.queues[partition], result.ErrorCode
	switch {
	case code == 0 || code == kerr.DuplicateSequenceNumber.Code:
		p.acknowledge(partition, b, result, cause, out, j)
	case code == kerr.MessageTooLarge.Code && len(b.records) > 1:
		p.split(partition, b, cause, j)
	case p.mayRetry(now, q, &b, result, cause):
		p.retry(now, partition, b, code, cause, j)
	default:
		seq := j.Append(p.node, cause, journal.ProduceFailed{TopicPartition: p.name(partition), Records: len(b.records), Error: errorName(code)})
		p.giveUp(b, errorName(code), seq, out, j)
		p.failedSequence(q, &b, code, b.attempts < p.config.Retries, seq, j)
	}
	if wantsMetadata(code) {
		p.metadata.request()
	}
}

// mayRetry says whether a batch that failed is sent again.
//
// Source: Sender.canRetry.
func (p *Producer) mayRetry(now kafka.Millis, q *queue, b *batch, result kmsg.ProduceResponseTopicPartition, cause uint64) bool {
	if now-b.created >= p.config.DeliveryTimeout || b.attempts >= p.config.Retries {
		return false
	}
	if !p.config.idempotent() {
		return kerr.IsRetriable(kerr.ErrorForCode(result.ErrorCode))
	}
	return p.passes(q, b, result.ErrorCode, kafka.Offset(result.LogStartOffset), cause)
}

// acknowledge takes the good news of a batch.
func (p *Producer) acknowledge(partition int, b batch, result kmsg.ProduceResponseTopicPartition, cause uint64, out *Outside, j *journal.Journal) {
	p.acknowledged += len(b.records)
	base := kafka.Offset(result.BaseOffset)
	seq := j.Append(p.node, cause, journal.ProduceAcknowledged{
		TopicPartition: p.name(partition), BaseOffset: base, Records: len(b.records), Acks: acksText(p.config.Acks),
	})
	out.Source.settle(b.records, Acknowledged, base, "", j.Tick, seq)
	p.relayHears(b.records, true, seq, out, j)
	if b.sequenced {
		s := &p.queues[partition].sequence
		s.acked = max(s.acked, b.lastSequence())
	}
}

// retry puts a batch back to be sent again after its back-off.
//
// Source: Sender.reenqueueBatch, ProducerBatch.reenqueued.
func (p *Producer) retry(now kafka.Millis, partition int, b batch, code int16, cause uint64, j *journal.Journal) {
	b.attempts++
	b.last, b.failure = now, errorName(code)
	event := journal.BatchRetried{
		TopicPartition: p.name(partition), Records: len(b.records), Error: b.failure, Attempt: b.attempts,
		Backoff: backoff(p.config.RetryBackoff, p.config.RetryBackoffMax, b.attempts-1), BaseSequence: record.NoSequence,
	}
	if b.sequenced {
		event.BaseSequence = b.producer.BaseSequence
	}
	b.cause = j.Append(p.node, cause, event)
	p.queues[partition].putBack(b)
}

// giveUp notes that the records of a batch have failed.
func (p *Producer) giveUp(b batch, failure string, seq uint64, out *Outside, j *journal.Journal) {
	p.failed += len(b.records)
	out.Source.settle(b.records, Failed, kafka.NoOffset, failure, j.Tick, seq)
	p.relayHears(b.records, false, seq, out, j)
}

// split divides a batch that was too large: into batches of batch.size, and one that comes of a division into
// halves. They count as never tried.
//
// Source: RecordAccumulator.splitAndReenqueue, ProducerBatch.split.
func (p *Producer) split(partition int, b batch, cause uint64, j *journal.Journal) {
	old, err := record.Parse(b.bytes)
	if err != nil {
		panic(fmt.Sprintf("producer %s: %v", p.node, err))
	}
	records, err := old.Records()
	if err != nil {
		panic(fmt.Sprintf("producer %s: %v", p.node, err))
	}
	target, largest := p.config.BatchSize, 0
	for _, r := range records {
		largest = max(largest, record.HeaderSize+record.RecordSizeUpperBound(r.Key, r.Value))
	}
	if b.divided {
		target = max(largest, len(b.bytes)/2)
	}
	var parts []batch
	sequence := b.producer.BaseSequence
	for i, r := range records {
		n := len(parts)
		if n == 0 || parts[n-1].builder.SizeWith(r.Timestamp, r.Key, r.Value, r.Headers...) > target {
			part := batch{builder: record.NewBuilder(p.config.batchOptions()), closed: true, created: b.created, stamp: b.stamp}
			part.divided, part.epoch = true, b.epoch
			part.producer.BaseSequence = record.IncrementSequence(max(sequence, 0), int32(i))
			parts = append(parts, part)
			n++
		}
		parts[n-1].builder.Append(r.Timestamp, r.Key, r.Value, r.Headers...)
		parts[n-1].records = append(parts[n-1].records, b.records[i])
	}
	seq := j.Append(p.node, cause, journal.BatchSplit{TopicPartition: p.name(partition), Records: len(records), Bytes: len(b.bytes), Into: len(parts), Target: target})
	for _, part := range slices.Backward(parts) {
		part.cause = seq
		p.queues[partition].putBack(part)
	}
}

// nextExpiry is when the next batch has waited delivery.timeout.ms.
func (p *Producer) nextExpiry() (due kafka.Millis, ok bool) {
	consider := func(list []batch) {
		if len(list) > 0 && (!ok || list[0].created+p.config.DeliveryTimeout < due) {
			due, ok = list[0].created+p.config.DeliveryTimeout, true
		}
	}
	for i := range p.queues {
		consider(p.queues[i].sent)
		consider(p.queues[i].batches)
	}
	return due, ok
}

// expire gives up the batches whose delivery.timeout.ms is over, those in flight first; it says whether there
// were any. In each list it stops at the first that has time left. After a batch that was tried before, it is
// not known which sequence the leader waits for.
//
// Source: Sender.getExpiredInflightBatches, RecordAccumulator.expiredBatches, TransactionManager.markSequenceUnresolved.
func (p *Producer) expire(now kafka.Millis, out *Outside, j *journal.Journal) (any bool) {
	for _, inFlight := range []bool{true, false} {
		for i := range p.queues {
			q := &p.queues[i]
			list := &q.batches
			if inFlight {
				list = &q.sent
			}
			for len(*list) > 0 && now-(*list)[0].created >= p.config.DeliveryTimeout {
				b := (*list)[0]
				*list = slices.Delete(*list, 0, 1)
				any = true
				seq := j.Append(p.node, b.cause, journal.BatchExpired{
					TopicPartition: p.name(i), Records: len(b.records), Timeout: p.config.DeliveryTimeout, Attempts: b.attempts, InFlight: inFlight,
				})
				p.giveUp(b, errorName(kerr.RequestTimedOut.Code), seq, out, j)
				if p.config.transactional() {
					p.batchFailed(kerr.RequestTimedOut.Code, seq, j)
				}
				if s := &q.sequence; b.sequenced && b.attempts > 0 {
					next := record.IncrementSequence(b.lastSequence(), 1)
					if !s.open || next > s.unresolved {
						s.unresolved = next
					}
					s.open = true
				}
			}
		}
	}
	return any
}
