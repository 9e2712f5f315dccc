package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/replication"
	"loglab/engine/simnet"
)

// parkedFetch is a fetch that waits for data.
//
// Source: DelayedFetch.
type parkedFetch struct {
	message  *simnet.Message
	deadline kafka.Millis
	parked   uint64 // Seq of the event that says it was parked
}

// asks says whether the fetch names a partition.
func (p *parkedFetch) asks(r *replication.Replica) bool {
	for _, topic := range p.message.Request.(*kmsg.FetchRequest).Topics {
		if topic.TopicID != r.TopicID {
			continue
		}
		for _, rp := range topic.Partitions {
			if rp.Partition == int32(r.TopicPartition.Partition) {
				return true
			}
		}
	}
	return false
}

// reading is an answer to a fetch as the logs stand now.
type reading struct {
	response *kmsg.FetchResponse
	minBytes int
	bytes    int
	atOnce   bool // an error, logs that diverge, or another replica to read from: it does not wait
}

// complete says whether the answer need not wait for more.
func (r *reading) complete() bool { return r.atOnce || r.bytes >= r.minBytes }

// fetch answers at once when at least fetch.min.bytes are there, when there is something to say of a partition,
// or when the request does not want to wait; otherwise it parks the request. A follower's fetch also tells how
// far the follower has come, after the answer has been read: the high watermark in it is the one from before.
//
// Simplified: fetch sessions are left out; each request names all its partitions and each response
// carries all of them.
//
// Source: ReplicaManager.fetchMessages, Partition.fetchRecords.
func (b *Broker) fetch(t *turn, m *simnet.Message, r *kmsg.FetchRequest, cause uint64) {
	read, woken := b.readAndNote(t, r, cause)
	b.wakeUp(t, woken)
	b.completeDeletes(t, cause)
	if read.complete() || r.MaxWaitMillis <= 0 {
		t.answer(m, read.response, cause)
		return
	}
	parked := t.note(cause, journal.FetchParked{From: m.From, MinBytes: r.MinBytes, MaxWait: kafka.Millis(r.MaxWaitMillis)})
	b.parkedFetches = append(b.parkedFetches, parkedFetch{message: m, deadline: t.now + kafka.Millis(r.MaxWaitMillis), parked: parked})
}

// read makes the answer to a fetch without any effect.
func (b *Broker) read(r *kmsg.FetchRequest) *reading {
	read, _ := b.readEach(r, nil)
	return read
}

// readAndNote makes the answer and notes at each partition how far a follower has come.
func (b *Broker) readAndNote(t *turn, r *kmsg.FetchRequest, cause uint64) (*reading, []wake) {
	if kafka.BrokerID(r.ReplicaState.ID) == replication.Consumer {
		return b.read(r), nil
	}
	return b.readEach(r, func(replica *replication.Replica, f replication.Fetch, leaderEnd kafka.Offset) wake {
		return b.noteFetched(t, replica, f, leaderEnd, cause)
	})
}

// readEach reads partition by partition: within the request's limits, the first batch whole even if it is
// larger. Noted is called for each that a follower has read, nil for nothing.
func (b *Broker) readEach(r *kmsg.FetchRequest, noted func(*replication.Replica, replication.Fetch, kafka.Offset) wake) (*reading, []wake) {
	read := &reading{response: r.ResponseKind().(*kmsg.FetchResponse), minBytes: int(r.MinBytes)}
	var woken []wake
	for _, topic := range r.Topics {
		rt := kmsg.NewFetchResponseTopic()
		rt.TopicID = topic.TopicID
		rt.Partitions = make([]kmsg.FetchResponseTopicPartition, 0, len(topic.Partitions))
		for _, rp := range topic.Partitions {
			result := kmsg.NewFetchResponseTopicPartition()
			result.Partition, result.HighWatermark, result.LastStableOffset, result.LogStartOffset = rp.Partition, -1, -1, -1
			result.RecordBatches = []byte{} // no bytes, not null
			replica, missing := b.find(topic.TopicID, rp.Partition)
			if missing != nil {
				result.ErrorCode, read.atOnce = missing.Code, true
				rt.Partitions = append(rt.Partitions, result)
				continue
			}
			f := fetchOf(r, rp, max(min(int(rp.PartitionMaxBytes), int(r.MaxBytes)-read.bytes), 0), read.bytes == 0)
			if w := b.readPartition(read, replica, f, r.Rack, &result, noted); w.cause != 0 {
				woken = append(woken, w)
			}
			rt.Partitions = append(rt.Partitions, result)
		}
		read.response.Topics = append(read.response.Topics, rt)
	}
	return read, woken
}

// readCommitted is the isolation level of a request that reads committed records only.
//
// Source: org.apache.kafka.common.IsolationLevel.
const readCommitted = 1

// fetchOf takes what a request asks of one partition.
func fetchOf(r *kmsg.FetchRequest, rp kmsg.FetchRequestTopicPartition, maxBytes int, minOneMessage bool) replication.Fetch {
	return replication.Fetch{
		Replica: kafka.BrokerID(r.ReplicaState.ID), ReplicaEpoch: r.ReplicaState.Epoch, Offset: kafka.Offset(rp.FetchOffset),
		LogStartOffset: kafka.Offset(rp.LogStartOffset), CurrentLeaderEpoch: kafka.LeaderEpoch(rp.CurrentLeaderEpoch),
		LastFetchedEpoch: kafka.LeaderEpoch(rp.LastFetchedEpoch), MaxBytes: maxBytes, MinOneMessage: minOneMessage,
		Committed: r.IsolationLevel == readCommitted && kafka.BrokerID(r.ReplicaState.ID) == replication.Consumer,
	}
}

// readPartition makes one partition's part of a fetch response.
func (b *Broker) readPartition(read *reading, replica *replication.Replica, f replication.Fetch, rack string, result *kmsg.FetchResponseTopicPartition, noted func(*replication.Replica, replication.Fetch, kafka.Offset) wake) (w wake) {
	if preferred, ok := b.preferredReplica(replica, f, rack); ok {
		result.PreferredReadReplica, read.atOnce = int32(preferred), true
		result.HighWatermark, result.LastStableOffset = int64(replica.HighWatermark()), int64(replica.LastStableOffset())
		result.LogStartOffset = int64(replica.Log.LogStartOffset())
		return w
	}
	got, err := replica.ReadFor(f)
	if err != nil {
		result.ErrorCode, read.atOnce = refusalOf(err).Err.Code, true
		if leader, known := b.leaderOf(replica.TopicPartition); known && replica.Role() != replication.Leader {
			result.CurrentLeader.LeaderID, result.CurrentLeader.LeaderEpoch = leader.id, leader.epoch
			read.response.Brokers = leader.addToFetch(read.response.Brokers)
		}
		return w
	}
	result.HighWatermark, result.LastStableOffset = int64(got.HighWatermark), int64(got.LastStableOffset)
	result.LogStartOffset = int64(got.LogStartOffset)
	for _, aborted := range got.Aborted {
		named := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
		named.ProducerID, named.FirstOffset = int64(aborted.ProducerID), int64(aborted.FirstOffset)
		result.AbortedTransactions = append(result.AbortedTransactions, named)
	}
	if got.Diverging != nil {
		result.DivergingEpoch.Epoch, result.DivergingEpoch.EndOffset = int32(got.Diverging.Epoch), int64(got.Diverging.StartOffset)
		read.atOnce = true
		return w
	}
	if len(got.Read.Bytes) > 0 && !got.Read.FirstEntryIncomplete {
		result.RecordBatches = got.Read.Bytes
		read.bytes += len(got.Read.Bytes)
	}
	if noted != nil {
		w = noted(replica, f, got.LogEndOffset)
	}
	return w
}

// addToFetch adds the leader to the brokers that a Fetch response names, once.
func (l knownLeader) addToFetch(list []kmsg.FetchResponseBroker) []kmsg.FetchResponseBroker {
	for _, known := range list {
		if known.NodeID == l.id {
			return list
		}
	}
	named := kmsg.NewFetchResponseBroker()
	named.NodeID, named.Host, named.Port = l.id, string(l.node), port
	return append(list, named)
}

// noteFetched notes at the leader how far a follower has come.
func (b *Broker) noteFetched(t *turn, r *replication.Replica, f replication.Fetch, leaderEnd kafka.Offset, cause uint64) (w wake) {
	from := r.HighWatermark()
	effect := r.Fetched(t.now, f, leaderEnd, &b.image)
	if effect.Proposed {
		b.noteProposal(t, r, cause)
	}
	if effect.Moved {
		return wake{r: r, cause: b.noteWatermark(t, r, from, cause), watermark: true}
	}
	return w
}

// preferredReplica picks the replica that a consumer should read from instead of the leader: one in the
// consumer's rack. ok is false where it stays with the leader.
//
// Source: RackAwareReplicaSelector, ReplicaManager.findPreferredReadReplica; KIP-392.
func (b *Broker) preferredReplica(r *replication.Replica, f replication.Fetch, rack string) (id kafka.BrokerID, ok bool) {
	if !b.config.RackAware || rack == "" || f.Replica != replication.Consumer || r.Role() != replication.Leader || rack == b.config.Rack {
		return 0, false
	}
	best := -1
	followers := r.Candidates(f.Offset)
	for i, c := range followers {
		if known, there := b.image.Broker(c.ID); !there || known.Rack != rack || known.Fenced {
			continue
		}
		if best < 0 || better(c, followers[best]) {
			best = i
		}
	}
	if best < 0 {
		return 0, false
	}
	return followers[best].ID, true
}

// better orders the replicas of a rack: the longer log, then the one caught up more lately, then the greater id.
//
// Source: ReplicaView.comparator.
func better(a, b replication.Candidate) bool {
	switch {
	case a.LogEndOffset != b.LogEndOffset:
		return a.LogEndOffset > b.LogEndOffset
	case a.LastCaughtUp != b.LastCaughtUp:
		return a.LastCaughtUp > b.LastCaughtUp
	}
	return a.ID > b.ID
}

// does says what happens when the wait is over, in words.
func (p *parkedFetch) does() string {
	wait := "fetch.max.wait.ms"
	if p.message.Request.(*kmsg.FetchRequest).ReplicaState.ID >= 0 {
		wait = "replica.fetch.wait.max.ms"
	}
	return fmt.Sprintf("answers the fetch of %s, which has then waited %s", p.message.From, wait)
}
