package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/replication"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// produced is what became of one partition's batch in a Produce request.
type produced struct {
	tp       kafka.TopicPartition
	index    int32
	err      *kerr.Error
	why      string
	appended storage.Appended
	start    kafka.Offset // log start offset
	waits    bool         // for the high watermark to reach the batch's end
}

// produce appends one batch to each partition that the request names. With acks=1 it answers at once, with
// acks=all when every in-sync replica has the batches, with acks=0 never: on an error it then closes the
// connection. Requests that were waiting for what came are looked at after all partitions of the request
// are done, as Kafka completes its delayed operations.
//
// Source: ReplicaManager.appendRecords, KafkaApis.handleProduceRequest.
func (b *Broker) produce(t *turn, m *simnet.Message, r *kmsg.ProduceRequest, cause uint64) {
	if !b.addForProduce(t, m, r, cause) {
		b.appendAll(t, m, r, nil, cause)
	}
}

// appendAll appends the batches of a request, but those of partitions that could not be added to the transaction.
func (b *Broker) appendAll(t *turn, m *simnet.Message, r *kmsg.ProduceRequest, notAdded additionFailures, cause uint64) {
	var results []produced
	var woken []wake
	waits, failed, last := false, false, cause
	for _, topic := range r.Topics {
		for _, rp := range topic.Partitions {
			p, w := b.appendTo(t, r, topic, rp, notAdded, cause)
			if w.cause != 0 {
				last = w.cause
				woken = append(woken, w)
			}
			results = append(results, p)
			waits, failed = waits || p.waits, failed || p.err != nil
		}
	}
	switch {
	case r.Acks == 0 && failed:
		t.sends = append(t.sends, simnet.Send{To: m.From, Close: simnet.CloseTheir, Cause: last})
	case r.Acks == 0:
	case waits:
		b.parkProduce(t, m, r, results, last)
	default:
		t.answer(m, produceResponse(b, r, results), last)
	}
	b.wakeUp(t, woken)
}

// namesUntil is the last version of Produce that names topics by their names.
const namesUntil = 12

// findFor gives the replica that a Produce request names.
func (b *Broker) findFor(r *kmsg.ProduceRequest, topic kmsg.ProduceRequestTopic, index int32) (*replication.Replica, *kerr.Error) {
	if r.Version <= namesUntil {
		return b.findNamed(topic.Topic, index)
	}
	return b.find(topic.TopicID, index)
}

// appendTo appends to one partition.
func (b *Broker) appendTo(t *turn, request *kmsg.ProduceRequest, topic kmsg.ProduceRequestTopic, rp kmsg.ProduceRequestTopicPartition, notAdded additionFailures, cause uint64) (p produced, w wake) {
	p = produced{index: rp.Partition}
	r, missing := b.findFor(request, topic, rp.Partition)
	switch {
	case missing != nil:
		p.err = missing
		return p, w
	case r.Role() != replication.Leader:
		p.err, p.tp = kerr.NotLeaderForPartition, r.TopicPartition
		t.note(cause, journal.ProduceRefused{TopicPartition: r.TopicPartition, Error: p.err.Message, Why: b.notLeading(r)})
		return p, w
	}
	p.tp, p.start = r.TopicPartition, r.Log.LogStartOffset()
	if p.err, p.why = notAdded.of(p.tp); p.err != nil {
		return p, w
	}
	from := r.HighWatermark()
	appended, moved, err := b.appendBatch(t, r, rp.Records, request.Acks)
	if err != nil {
		refusal := refusalOf(err)
		p.err, p.why = refusal.Err, refusal.Why
		if appended.Roll != nil { // Kafka rolls before it looks at the producer
			cause = t.note(cause, journal.SegmentRolled{TopicPartition: p.tp, Base: appended.Roll.Base, Reason: appended.Roll.Why})
		}
		t.note(cause, journal.ProduceRefused{TopicPartition: p.tp, Error: p.err.Message, Why: p.why})
		return p, w
	}
	p.appended, p.waits = appended, request.Acks == -1
	if appended.Duplicate {
		t.note(cause, journal.DuplicateRecognised{TopicPartition: p.tp, BaseOffset: appended.BaseOffset, LastOffset: appended.LastOffset})
	} else {
		w = wake{r: r, cause: b.noteAppended(t, r, appended, false, cause)}
		if moved {
			w.cause, w.watermark = b.noteWatermark(t, r, from, w.cause), true
		}
	}
	if p.waits {
		if done, failed := r.Acknowledged(appended.LastOffset + 1); done {
			p.waits, p.err = false, failed
		}
	}
	return p, w
}

// appendBatch appends a producer's batch: one of a transaction only if its coordinator knows that.
func (b *Broker) appendBatch(t *turn, r *replication.Replica, bytes []byte, acks int16) (appended storage.Appended, moved bool, err error) {
	if batch, err := record.Parse(bytes); err == nil && batch.Attributes.Transactional() && batch.ProducerID >= 0 && !r.Log.IsDuplicate(&batch) {
		producer := coordinator.Producer{ID: batch.ProducerID, Epoch: batch.ProducerEpoch}
		if refusal := b.unverified(r, producer, batch.BaseSequence); refusal != nil {
			return appended, false, refusal
		}
		defer b.forgetVerification(r.TopicPartition, batch.ProducerID)
	}
	return r.AppendAsLeader(t.now, b.clock(t.now), bytes, acks, &b.image)
}

// notLeading says in words why a broker does not take a write.
func (b *Broker) notLeading(r *replication.Replica) string {
	if leader := r.State().Leader; leader >= 0 {
		return fmt.Sprintf("this broker follows; the leader is broker %d in epoch %d", leader, r.State().LeaderEpoch)
	}
	return "the partition has no leader that this broker knows of"
}

// noteAppended journals what an append did; the append itself comes last.
func (b *Broker) noteAppended(t *turn, r *replication.Replica, a storage.Appended, follower bool, cause uint64) uint64 {
	tp := r.TopicPartition
	if a.Roll != nil {
		cause = t.note(cause, journal.SegmentRolled{TopicPartition: tp, Base: a.Roll.Base, Reason: a.Roll.Why})
	}
	if a.IndexEntry != nil {
		cause = t.note(cause, journal.IndexEntryAdded{
			TopicPartition: tp, Offset: a.IndexEntry.Offset, Position: a.IndexEntry.Position, Interval: r.Log.Config().IndexIntervalBytes,
		})
	}
	appended := journal.BatchAppended{
		TopicPartition: tp, BaseOffset: a.BaseOffset, LastOffset: a.LastOffset, Bytes: a.Bytes, Segment: a.SegmentBase, Position: a.Position,
	}
	if follower {
		return t.note(cause, journal.BatchReplicated(appended))
	}
	return t.note(cause, appended)
}

// noteWatermark journals that a leader's high watermark moved.
func (b *Broker) noteWatermark(t *turn, r *replication.Replica, from kafka.Offset, cause uint64) uint64 {
	return t.note(cause, journal.HighWatermarkAdvanced{
		TopicPartition: r.TopicPartition, From: from, To: r.HighWatermark(), LogEndOffset: r.Log.LogEndOffset(), LeaderEpoch: r.State().LeaderEpoch,
	})
}

// produceResponse makes the answer to a Produce request. Where this broker is not the leader it names the one
// that it knows of.
//
// Source: KafkaApis.handleProduceRequest; KIP-951.
func produceResponse(b *Broker, r *kmsg.ProduceRequest, results []produced) kmsg.Response {
	response := r.ResponseKind().(*kmsg.ProduceResponse)
	at := 0
	for _, topic := range r.Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.TopicID, rt.Topic = topic.TopicID, topic.Topic
		for range topic.Partitions {
			p := results[at]
			at++
			result := kmsg.NewProduceResponseTopicPartition()
			result.Partition, result.ErrorCode, result.BaseOffset, result.LogAppendTime = p.index, code(p.err), -1, -1
			if p.why != "" {
				result.ErrorMessage = &p.why
			}
			if p.err == nil {
				result.BaseOffset, result.LogStartOffset = int64(p.appended.BaseOffset), int64(p.start)
				result.LogAppendTime = int64(p.appended.LogAppendTime)
			}
			if p.err == kerr.NotLeaderForPartition {
				if leader, known := b.leaderOf(p.tp); known {
					result.CurrentLeader.LeaderID, result.CurrentLeader.LeaderEpoch = leader.id, leader.epoch
					response.Brokers = leader.addTo(response.Brokers)
				}
			}
			rt.Partitions = append(rt.Partitions, result)
		}
		response.Topics = append(response.Topics, rt)
	}
	return response
}

// knownLeader is a partition's leader as a broker's metadata has it.
type knownLeader struct {
	id    int32
	epoch int32
	node  kafka.NodeID
}

func (b *Broker) leaderOf(tp kafka.TopicPartition) (leader knownLeader, ok bool) {
	p, ok := b.image.Partition(tp)
	if !ok {
		return leader, false
	}
	node, ok := b.image.Broker(p.Leader)
	return knownLeader{int32(p.Leader), int32(p.LeaderEpoch), node.Node}, ok
}

// addTo adds the leader to the brokers that a Produce response names, once.
func (l knownLeader) addTo(list []kmsg.ProduceResponseBroker) []kmsg.ProduceResponseBroker {
	for _, known := range list {
		if known.NodeID == l.id {
			return list
		}
	}
	named := kmsg.NewProduceResponseBroker()
	named.NodeID, named.Host, named.Port = l.id, string(l.node), port
	return append(list, named)
}

// port is where every broker listens.
const port = 9092
