package broker

import (
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/replication"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// fetcher fetches from one leader what this broker follows there: one request at a time for all partitions.
//
// Source: ReplicaFetcherThread; num.replica.fetchers = 1.
type fetcher struct {
	leader     kafka.BrokerID
	node       kafka.NodeID
	partitions []fetching // sorted
	call       call       // Fetch, or ListOffsets after OFFSET_OUT_OF_RANGE
}

// fetching is one partition that a fetcher fetches.
type fetching struct {
	tp      kafka.TopicPartition
	epoch   kafka.LeaderEpoch // that the last request named
	offset  kafka.Offset      // that the last request named; -1: it was not in it
	delayed kafka.Millis      // not fetched before then
	failed  bool              // fetched no more until the next leader or epoch: the leader knows a later one, or its answer cannot be appended
	lost    outOfRange
}

// outOfRange says how far a follower is whose leader does not have its offset.
type outOfRange uint8

const (
	inRange     outOfRange = iota
	askLatest              // where does the leader's log end?
	askEarliest            // where does it begin?
)

// follow lets a replica be fetched from its leader from now on, and from no other.
//
// Source: ReplicaManager.applyLocalFollowersDelta, AbstractFetcherManager.addFetcherForPartitions.
func (b *Broker) follow(r *replication.Replica) {
	b.unfollow(r.TopicPartition)
	leader := r.State().Leader
	known, ok := b.image.Broker(leader)
	if !ok {
		return
	}
	at, found := slices.BinarySearchFunc(b.fetchers, leader, func(f fetcher, id kafka.BrokerID) int { return int(f.leader) - int(id) })
	if !found {
		b.fetchers = slices.Insert(b.fetchers, at, fetcher{leader: leader, node: known.Node})
	}
	f := &b.fetchers[at]
	place, _ := slices.BinarySearchFunc(f.partitions, r.TopicPartition, compareFetching)
	f.partitions = slices.Insert(f.partitions, place, fetching{tp: r.TopicPartition, offset: -1, delayed: -never})
}

func compareFetching(p fetching, tp kafka.TopicPartition) int {
	switch {
	case p.tp == tp:
		return 0
	case p.tp.Less(tp):
		return -1
	}
	return 1
}

// unfollow stops fetching a partition.
func (b *Broker) unfollow(tp kafka.TopicPartition) {
	for i := range b.fetchers {
		f := &b.fetchers[i]
		f.partitions = slices.DeleteFunc(f.partitions, func(p fetching) bool { return p.tp == tp })
	}
}

// find gives what the fetcher knows of a partition, nil if it does not fetch it.
func (f *fetcher) find(tp kafka.TopicPartition) *fetching {
	at, ok := slices.BinarySearchFunc(f.partitions, tp, compareFetching)
	if !ok {
		return nil
	}
	return &f.partitions[at]
}

// backOff fetches nothing before a time.
func (f *fetcher) backOff(until kafka.Millis) {
	for i := range f.partitions {
		f.partitions[i].delayed = until
	}
}

// fetcherOf gives the fetcher of a leader's node, nil if there is none.
func (b *Broker) fetcherOf(node kafka.NodeID) *fetcher {
	for i := range b.fetchers {
		if b.fetchers[i].node == node {
			return &b.fetchers[i]
		}
	}
	return nil
}

// fetchersDue is when the first fetcher has something to do: an answer is overdue or a back-off is over.
func (b *Broker) fetchersDue() kafka.Millis {
	due := never
	for i := range b.fetchers {
		f := &b.fetchers[i]
		if f.call.open() {
			due = min(due, f.call.deadline)
			continue
		}
		for k := range f.partitions {
			if p := &f.partitions[k]; !p.failed {
				due = min(due, p.delayed)
			}
		}
	}
	return due
}

// fetchFrom sends a fetcher's next request: for the end of a leader's log where a follower is lost, else for
// what comes next in every partition that is ready.
//
// Simplified: where segment.bytes is less than replica.fetch.max.bytes, it asks for that many bytes, for a log refuses
// more. Kafka 4 has 1 MiB for both, one as the least and the other as the default, so that a fetch fits there too.
//
// Source: AbstractFetcherThread.doWork, RemoteLeaderEndPoint.buildFetch.
func (b *Broker) fetchFrom(t *turn, f *fetcher) {
	if f.call.open() || len(f.partitions) == 0 {
		return
	}
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.SessionEpoch = fetchVersion, noSession
	request.ReplicaState.ID, request.ReplicaState.Epoch = int32(b.config.ID), b.epoch
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = int32(b.config.ReplicaFetchWaitMax), b.config.ReplicaFetchMinBytes, b.config.ReplicaFetchResponseMax
	for i := range f.partitions {
		p := &f.partitions[i]
		p.offset = -1
		if p.failed || p.delayed > t.now {
			continue
		}
		r := b.replica(p.tp)
		if p.lost != inRange {
			f.call = b.askLeaderEnd(t, f, p, r)
			return
		}
		p.offset, p.epoch = r.Log.LogEndOffset(), r.State().LeaderEpoch
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.CurrentLeaderEpoch, rp.FetchOffset = int32(p.tp.Partition), int32(p.epoch), int64(p.offset)
		rp.LogStartOffset, rp.PartitionMaxBytes, rp.LastFetchedEpoch = int64(r.Log.LogStartOffset()), min(b.config.ReplicaFetchMaxBytes, int32(r.Log.Config().SegmentBytes)), -1
		if last, ok := r.Log.LatestEpoch(); ok {
			rp.LastFetchedEpoch = int32(last)
		}
		addToFetch(request, r.TopicID, rp)
	}
	if len(request.Topics) > 0 {
		f.call = b.request(t, f.node, request, b.socketTimeout(), 0)
	}
}

// addToFetch adds a partition to a request, under its topic.
func addToFetch(request *kmsg.FetchRequest, id [16]byte, rp kmsg.FetchRequestTopicPartition) {
	if n := len(request.Topics); n == 0 || request.Topics[n-1].TopicID != id {
		rt := kmsg.NewFetchRequestTopic()
		rt.TopicID = id
		request.Topics = append(request.Topics, rt)
	}
	last := &request.Topics[len(request.Topics)-1]
	last.Partitions = append(last.Partitions, rp)
}

// fetched takes a leader's answer. What it says of a partition that is not followed there any more, or not from
// that offset and epoch, is left out.
//
// Source: AbstractFetcherThread.processFetchRequest.
func (b *Broker) fetched(t *turn, from kafka.NodeID, response *kmsg.FetchResponse, cause uint64) {
	f := b.fetcherOf(from)
	var woken []wake
	for _, topic := range response.Topics {
		known, ok := b.image.TopicByID(topic.TopicID)
		if !ok {
			continue
		}
		for i := range topic.Partitions {
			result := &topic.Partitions[i]
			tp := kafka.TopicPartition{Topic: known.Name, Partition: kafka.Partition(result.Partition)}
			p, r := f.find(tp), b.replica(tp)
			if p == nil || r == nil || p.offset != r.Log.LogEndOffset() || p.epoch != r.State().LeaderEpoch {
				continue
			}
			if w := b.takeFetched(t, f, p, r, result, cause); w.cause != 0 {
				woken = append(woken, w)
			}
		}
	}
	b.wakeUp(t, woken)
}

// takeFetched takes one partition's part of a leader's answer. Where the log refuses the batches, the partition has failed.
//
// Source: AbstractFetcherThread.processFetchRequest, markPartitionFailed.
func (b *Broker) takeFetched(t *turn, f *fetcher, p *fetching, r *replication.Replica, result *kmsg.FetchResponseTopicPartition, cause uint64) (w wake) {
	failed := kerr.TypedErrorForCode(result.ErrorCode)
	switch {
	case failed == kerr.OffsetOutOfRange:
		p.lost = askLatest
		t.note(cause, journal.ReplicaFetchFailed{TopicPartition: r.TopicPartition, Leader: f.leader, Error: failed.Message})
	case failed == kerr.FencedLeaderEpoch:
		p.failed = true
		t.note(cause, journal.ReplicaFetchFailed{TopicPartition: r.TopicPartition, Leader: f.leader, Error: failed.Message})
	case failed != nil:
		p.delayed = t.now + b.config.ReplicaFetchBackoff
		t.note(cause, journal.ReplicaFetchFailed{TopicPartition: r.TopicPartition, Leader: f.leader, Error: failed.Message, Retry: b.config.ReplicaFetchBackoff})
	case result.DivergingEpoch.EndOffset >= 0:
		truncated, err := r.TruncateToAgree(kafka.LeaderEpoch(result.DivergingEpoch.Epoch), kafka.Offset(result.DivergingEpoch.EndOffset))
		if err != nil {
			panic(err) // our own disk holds something that is not a batch
		}
		b.noteTruncated(t, r, truncated, cause)
	default:
		start := r.Log.LogStartOffset()
		appended, from, err := r.AppendAsFollower(b.clock(t.now), result.RecordBatches, kafka.Offset(result.HighWatermark), kafka.Offset(result.LogStartOffset))
		if err != nil {
			p.failed = true
			t.note(cause, journal.ReplicaFetchFailed{TopicPartition: r.TopicPartition, Leader: f.leader, Error: refused(err)})
			return w
		}
		for _, a := range appended {
			cause = b.noteAppended(t, r, a, true, cause)
		}
		if now := r.Log.LogStartOffset(); now != start {
			t.note(cause, journal.LogStartOffsetMoved{TopicPartition: r.TopicPartition, From: start, To: now})
		}
		if r.HighWatermark() != from {
			cause = t.note(cause, journal.HighWatermarkFollowed{TopicPartition: r.TopicPartition, From: from, To: r.HighWatermark(), Leader: kafka.Offset(result.HighWatermark)})
			return wake{r: r, cause: cause, watermark: true}
		}
	}
	return w
}

// refused names the error with which a log refuses a leader's batches. There are two: a batch that is larger than a
// segment, as a cleaned one with a delete horizon takes some bytes more than what the leader once took; and one that begins
// below the log end offset, as a leader's log can begin within a batch, where DeleteRecords asked for that, and be all that
// it knows of an epoch of which the follower has more. Else a leader's batches are sound.
func refused(err error) string {
	var refusal *storage.Refusal
	switch {
	case errors.Is(err, kerr.RecordListTooLarge):
		return kerr.RecordListTooLarge.Message
	case errors.As(err, &refusal) && refusal.Exception == storage.UnexpectedAppendOffset:
		return refusal.Exception
	}
	panic(err)
}

func (b *Broker) noteTruncated(t *turn, r *replication.Replica, cut replication.Truncation, cause uint64) {
	t.note(cause, journal.LogTruncated{
		TopicPartition: r.TopicPartition, From: cut.From, To: cut.To, Records: cut.Records, Leader: r.State().Leader, LeaderEpoch: r.State().LeaderEpoch,
		HighWatermark: r.HighWatermark(), Why: cut.Why, Gone: cut.Bytes,
	})
	b.cutCleaned(r)
}

// askLeaderEnd asks a leader where its log ends, or begins.
//
// Source: AbstractFetcherThread.fetchOffsetAndTruncate.
func (b *Broker) askLeaderEnd(t *turn, f *fetcher, p *fetching, r *replication.Replica) call {
	request := kmsg.NewPtrListOffsetsRequest()
	request.Version, request.ReplicaID = listOffsetsVersion, int32(b.config.ID)
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = p.tp.Topic
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.Partition, rp.CurrentLeaderEpoch, rp.Timestamp = int32(p.tp.Partition), int32(r.State().LeaderEpoch), LatestTimestamp
	if p.lost == askEarliest {
		rp.Timestamp = EarliestTimestamp
	}
	rt.Partitions = append(rt.Partitions, rp)
	request.Topics = append(request.Topics, rt)
	p.epoch = r.State().LeaderEpoch
	return b.request(t, f.node, request, b.socketTimeout(), 0)
}

// leaderEndLearned takes the answer: a log that is longer than the leader's is cut to it, one that ends before
// the leader's begins starts anew there.
func (b *Broker) leaderEndLearned(t *turn, from kafka.NodeID, response *kmsg.ListOffsetsResponse, cause uint64) {
	f := b.fetcherOf(from)
	result := response.Topics[0].Partitions[0]
	p := f.find(kafka.TopicPartition{Topic: response.Topics[0].Topic, Partition: kafka.Partition(result.Partition)})
	if p == nil || p.lost == inRange {
		return
	}
	r := b.replica(p.tp)
	if result.ErrorCode != 0 || p.epoch != r.State().LeaderEpoch {
		p.delayed = t.now + b.config.ReplicaFetchBackoff
		return
	}
	switch offset := kafka.Offset(result.Offset); {
	case p.lost == askLatest && offset < r.Log.LogEndOffset():
		truncated, err := r.TruncateTo(offset)
		if err != nil {
			panic(err) // our own disk holds something that is not a batch
		}
		b.noteTruncated(t, r, truncated, cause)
		p.lost = inRange
	case p.lost == askLatest:
		p.lost = askEarliest
	default:
		if offset > r.Log.LogEndOffset() {
			b.noteTruncated(t, r, r.StartAnew(offset), cause)
		}
		p.lost = inRange
	}
}

// The versions of the broker's own requests, and the session epoch of a fetch that wants no fetch session.
const (
	fetchVersion       = 18
	listOffsetsVersion = 11
	noSession          = -1
)

// pendingWrite is a message whose handling writes to a slow disk, or a coordinator's write.
type pendingWrite struct {
	message *simnet.Message      // nil: it is a coordinator's
	tp      kafka.TopicPartition // of the coordinator
	records coordinator.Write    // of the coordinator
	due     kafka.Millis
	cause   uint64
}

// writes says whether a message makes a broker write: a batch of a producer, or what a fetch has brought.
func writes(m *simnet.Message) bool {
	switch m.Request.(type) {
	case *kmsg.ProduceRequest, *kmsg.WriteTxnMarkersRequest:
		return true
	}
	response, ok := m.Response.(*kmsg.FetchResponse)
	if !ok {
		return false
	}
	for _, topic := range response.Topics {
		for i := range topic.Partitions {
			if len(topic.Partitions[i].RecordBatches) > 0 {
				return true
			}
		}
	}
	return false
}

// delayWrite lets a write wait until the disk has done what came before and then its own.
//
// Simplified: a slow disk takes the same time for each message that writes and each write of a coordinator, one after another; reads come from
// memory and take none.
func (b *Broker) delayWrite(t *turn, w pendingWrite) {
	w.due = t.now
	if n := len(b.writes); n > 0 {
		w.due = b.writes[n-1].due
	}
	w.due += b.delay
	b.writes = append(b.writes, &w)
}

func (b *Broker) writesDue() kafka.Millis {
	if len(b.writes) == 0 {
		return never
	}
	return b.writes[0].due
}

// finishWrites does the writes that the disk has come to.
func (b *Broker) finishWrites(t *turn) {
	for len(b.writes) > 0 && b.writes[0].due <= t.now {
		w := b.writes[0]
		b.writes = b.writes[1:]
		if w.message == nil {
			b.finishCoordinatorWrite(t, w.tp, w.records)
			continue
		}
		b.receive(t, w.message, w.cause)
	}
}
