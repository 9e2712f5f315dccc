package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// LeadershipTaken says that a broker learned that it leads a partition and began to.
type LeadershipTaken struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
	Start          kafka.Offset         `json:"epoch_start_offset"` // its log end offset
	HighWatermark  kafka.Offset         `json:"high_watermark"`
	ISR            []kafka.BrokerID     `json:"isr"`
}

// Kind gives the kind's name.
func (LeadershipTaken) Kind() string { return "LeadershipTaken" }

// Text gives the epoch with its start.
func (b LeadershipTaken) Text() string {
	return fmt.Sprintf("%s epoch=%d from=%d hw=%d isr=%s", b.TopicPartition, b.LeaderEpoch, b.Start, b.HighWatermark, listed(b.ISR, ","))
}

// Sentence gives the epoch with its start.
func (b LeadershipTaken) Sentence() string {
	return fmt.Sprintf("This broker leads %s in leader epoch %d, which begins at its log end offset %d. The in-sync replicas are %s; consumers may read up to its high watermark, %d.",
		b.TopicPartition, b.LeaderEpoch, b.Start, listed(b.ISR, ", "), b.HighWatermark)
}

// FollowingBegun says that a broker learned whom it follows in a partition and began to fetch there.
type FollowingBegun struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Leader         kafka.BrokerID       `json:"leader"`
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
	From           kafka.Offset         `json:"from_offset"` // its own log end offset
}

// Kind gives the kind's name.
func (FollowingBegun) Kind() string { return "FollowingBegun" }

// Text gives the leader and the offset.
func (b FollowingBegun) Text() string {
	return fmt.Sprintf("%s leader=%d epoch=%d from=%d", b.TopicPartition, b.Leader, b.LeaderEpoch, b.From)
}

// Sentence gives the leader and the offset.
func (b FollowingBegun) Sentence() string {
	return fmt.Sprintf("This broker follows broker %d in %s, leader epoch %d: it fetches from its own log end offset %d on.", b.Leader, b.TopicPartition, b.LeaderEpoch, b.From)
}

// LeaderlessLearned says that a broker learned that a partition has no leader.
type LeaderlessLearned struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
}

// Kind gives the kind's name.
func (LeaderlessLearned) Kind() string { return "LeaderlessLearned" }

// Text gives the epoch.
func (b LeaderlessLearned) Text() string {
	return fmt.Sprintf("%s epoch=%d", b.TopicPartition, b.LeaderEpoch)
}

// Sentence says what that means.
func (b LeaderlessLearned) Sentence() string {
	return fmt.Sprintf("%s has no leader since leader epoch %d: this broker neither serves nor fetches it.", b.TopicPartition, b.LeaderEpoch)
}

// BatchReplicated says that a follower appended a batch that it had fetched, as it stands in the leader's log.
type BatchReplicated BatchAppended

// Kind gives the kind's name.
func (BatchReplicated) Kind() string { return "BatchReplicated" }

// Text gives offsets, size and place.
func (b BatchReplicated) Text() string { return BatchAppended(b).Text() }

// Sentence says where the batch stands.
func (b BatchReplicated) Sentence() string {
	return "The follower copied from the leader: " + BatchAppended(b).Sentence()
}

// HighWatermarkFollowed says that a follower's high watermark went along with its leader's.
type HighWatermarkFollowed struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           kafka.Offset         `json:"from"`
	To             kafka.Offset         `json:"to"`     // exclusive
	Leader         kafka.Offset         `json:"leader"` // the leader's high watermark, as its answer has it
}

// Kind gives the kind's name.
func (HighWatermarkFollowed) Kind() string { return "HighWatermarkFollowed" }

// Text gives the marks.
func (b HighWatermarkFollowed) Text() string {
	return fmt.Sprintf("%s %d→%d leader=%d", b.TopicPartition, b.From, b.To, b.Leader)
}

// Sentence gives the marks and the rule.
func (b HighWatermarkFollowed) Sentence() string {
	return fmt.Sprintf("%s: the follower's high watermark is %d now (was %d): the leader's answer says %d, and it goes no further than the follower's own log.",
		b.TopicPartition, b.To, b.From, b.Leader)
}

// LogTruncated says that a follower took records off the end of its log because the leader's log does not have
// them.
type LogTruncated struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           kafka.Offset         `json:"from"` // log end offset before
	To             kafka.Offset         `json:"to"`   // log end offset now
	Records        int                  `json:"records"`
	Leader         kafka.BrokerID       `json:"leader"`
	LeaderEpoch    kafka.LeaderEpoch    `json:"leader_epoch"`
	HighWatermark  kafka.Offset         `json:"high_watermark"`
	Why            string               `json:"why"`
	Gone           []byte               `json:"-"` // the batches that were cut off, whole; never changed
}

// Kind gives the kind's name.
func (LogTruncated) Kind() string { return "LogTruncated" }

// Text gives the ends.
func (b LogTruncated) Text() string {
	return fmt.Sprintf("%s %d→%d records=%d leader=%d epoch=%d: %s", b.TopicPartition, b.From, b.To, b.Records, b.Leader, b.LeaderEpoch, b.Why)
}

// Sentence gives what is gone and the rule.
func (b LogTruncated) Sentence() string {
	return fmt.Sprintf("%s: the follower cut its log from %d to %d to agree with broker %d, the leader of epoch %d (%s). %s gone here.",
		b.TopicPartition, b.From, b.To, b.Leader, b.LeaderEpoch, b.Why, kafka.Count(b.Records, "record")+" "+are(b.Records))
}

// are gives the verb that goes with a count.
func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// LogStartOffsetMoved says that a replica's log begins later, though its segments are still there.
type LogStartOffsetMoved struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           kafka.Offset         `json:"from"`
	To             kafka.Offset         `json:"to"`
	Leader         bool                 `json:"leader"` // an administrator asked the leader; false: a follower learned it from the leader
}

// Kind gives the kind's name.
func (LogStartOffsetMoved) Kind() string { return "LogStartOffsetMoved" }

// Text gives the offsets.
func (b LogStartOffsetMoved) Text() string {
	return fmt.Sprintf("%s %d→%d leader=%t", b.TopicPartition, b.From, b.To, b.Leader)
}

// Sentence gives the offsets and the rule.
func (b LogStartOffsetMoved) Sentence() string {
	s := fmt.Sprintf("%s: the log start offset moved from %s to %s", b.TopicPartition, kafka.Thousands(b.From), kafka.Thousands(b.To))
	if !b.Leader {
		return s + ": the leader's log begins there."
	}
	return s + ", as DeleteRecords asked. No record below it can be read any more; it may move up to the high watermark. The bytes stay until retention removes their segments."
}

// DeletionParked says that a DeleteRecords request waits until no live replica's log begins lower.
type DeletionParked struct {
	From    kafka.NodeID `json:"from"`
	Timeout kafka.Millis `json:"timeout_ms"`
}

// Kind gives the kind's name.
func (DeletionParked) Kind() string { return "DeletionParked" }

// Text gives who waits and how long.
func (b DeletionParked) Text() string { return fmt.Sprintf("from=%s timeout=%d", b.From, b.Timeout) }

// Sentence gives the rule.
func (b DeletionParked) Sentence() string {
	return fmt.Sprintf("The DeleteRecords request of %s is answered when the logs of all live replicas begin where it said, at most after its time-out of %s ms.", b.From, kafka.Thousands(b.Timeout))
}

// ReplicaFetchFailed says that a follower got no records from its leader.
type ReplicaFetchFailed struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"` // empty: all that it follows there
	Leader         kafka.BrokerID       `json:"leader"`
	Error          string               `json:"error"`
	Retry          kafka.Millis         `json:"retry_in_ms"` // 0: not by time
}

// Kind gives the kind's name.
func (ReplicaFetchFailed) Kind() string { return "ReplicaFetchFailed" }

// Text gives the error.
func (b ReplicaFetchFailed) Text() string {
	if b.TopicPartition.Topic == "" {
		return fmt.Sprintf("leader=%d %s retry=%d", b.Leader, b.Error, b.Retry)
	}
	return fmt.Sprintf("%s leader=%d %s retry=%d", b.TopicPartition, b.Leader, b.Error, b.Retry)
}

// Sentence gives the error and what the follower does next.
func (b ReplicaFetchFailed) Sentence() string {
	what := "all that it follows there"
	if b.TopicPartition.Topic != "" {
		what = b.TopicPartition.String()
	}
	next := fmt.Sprintf("it fetches again after replica.fetch.backoff.ms = %s", kafka.Thousands(b.Retry))
	switch b.Error {
	case "OFFSET_OUT_OF_RANGE":
		next = "it asks the leader where its log ends"
	case "FENCED_LEADER_EPOCH":
		next = "it waits for newer metadata"
	case "RECORD_LIST_TOO_LARGE":
		next = "the batch is larger than segment.bytes, and the partition is fetched no more until its next leader or leader epoch"
	case "UnexpectedAppendOffsetException":
		next = "the batch begins below the follower's log end offset, and the partition is fetched no more until its next leader or leader epoch"
	}
	return fmt.Sprintf("The fetch from broker %d failed with %s for %s: %s.", b.Leader, b.Error, what, next)
}

// ISRProposed says that a leader wants other in-sync replicas and asks the controller.
type ISRProposed struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	From           []kafka.BrokerID     `json:"from"`
	To             []kafka.BrokerID     `json:"to"`
	Why            string               `json:"why"`
}

// Kind gives the kind's name.
func (ISRProposed) Kind() string { return "ISRProposed" }

// Text gives both sets.
func (b ISRProposed) Text() string {
	return fmt.Sprintf("%s isr=%s→%s: %s", b.TopicPartition, listed(b.From, ","), listed(b.To, ","), b.Why)
}

// Sentence gives both sets and the rule.
func (b ISRProposed) Sentence() string {
	return fmt.Sprintf("The leader of %s asks the controller to change the in-sync replicas from %s to %s: %s. Until it is answered, the larger set decides about the high watermark.",
		b.TopicPartition, listed(b.From, ", "), listed(b.To, ", "), b.Why)
}

// ISRCommitted says that a leader learned that its proposal holds.
type ISRCommitted struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	ISR            []kafka.BrokerID     `json:"isr"`
	PartitionEpoch int32                `json:"partition_epoch"`
}

// Kind gives the kind's name.
func (ISRCommitted) Kind() string { return "ISRCommitted" }

// Text gives the set.
func (b ISRCommitted) Text() string {
	return fmt.Sprintf("%s isr=%s partition-epoch=%d", b.TopicPartition, listed(b.ISR, ","), b.PartitionEpoch)
}

// Sentence gives the set.
func (b ISRCommitted) Sentence() string {
	return fmt.Sprintf("The controller has agreed: the in-sync replicas of %s are %s (partition epoch %d).", b.TopicPartition, listed(b.ISR, ", "), b.PartitionEpoch)
}

// ISRProposalFailed says that the controller did not agree.
type ISRProposalFailed struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"` // empty: the whole request
	Error          string               `json:"error"`
}

// Kind gives the kind's name.
func (ISRProposalFailed) Kind() string { return "ISRProposalFailed" }

// Text gives the error.
func (b ISRProposalFailed) Text() string {
	if b.TopicPartition.Topic == "" {
		return b.Error
	}
	return fmt.Sprintf("%s %s", b.TopicPartition, b.Error)
}

// Sentence gives the error and what holds.
func (b ISRProposalFailed) Sentence() string {
	what := "The AlterPartition request"
	if b.TopicPartition.Topic != "" {
		what = "The change of the in-sync replicas of " + b.TopicPartition.String()
	}
	return fmt.Sprintf("%s was answered with %s: what held before holds.", what, b.Error)
}

// WaitsFor is a partition whose high watermark a write waits for.
type WaitsFor struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	HighWatermark  kafka.Offset         `json:"high_watermark"` // that it must reach
}

// waitsText lists what a write waits for.
func waitsText(waits []WaitsFor) string {
	s := ""
	for i, w := range waits {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%s at %d", w.TopicPartition, w.HighWatermark)
	}
	return s
}

// ProduceParked says that a write with acks=all is in the leader's log and waits for the in-sync replicas.
type ProduceParked struct {
	From    kafka.NodeID `json:"from"`
	Waits   []WaitsFor   `json:"waits_for"`
	Timeout kafka.Millis `json:"request_timeout_ms"`
}

// Kind gives the kind's name.
func (ProduceParked) Kind() string { return "ProduceParked" }

// Text gives what is waited for.
func (b ProduceParked) Text() string {
	return fmt.Sprintf("from=%s waits=%s timeout=%d", b.From, waitsText(b.Waits), b.Timeout)
}

// Sentence gives what is waited for and how long.
func (b ProduceParked) Sentence() string {
	return fmt.Sprintf("The write of %s waits (acks=all) for the high watermark: %s. It waits at most request.timeout.ms = %s ms.", b.From, waitsText(b.Waits), kafka.Thousands(b.Timeout))
}

// ProduceTimedOut says that a write with acks=all waited too long for the in-sync replicas.
type ProduceTimedOut struct {
	From    kafka.NodeID `json:"from"`
	Waits   []WaitsFor   `json:"waits_for"` // that it did not get
	Timeout kafka.Millis `json:"request_timeout_ms"`
}

// Kind gives the kind's name.
func (ProduceTimedOut) Kind() string { return "ProduceTimedOut" }

// Text gives what was not reached.
func (b ProduceTimedOut) Text() string {
	return fmt.Sprintf("from=%s waits=%s timeout=%d", b.From, waitsText(b.Waits), b.Timeout)
}

// Sentence gives what was not reached.
func (b ProduceTimedOut) Sentence() string {
	return fmt.Sprintf("The write of %s is answered with REQUEST_TIMED_OUT: within %s ms the high watermark did not come to %s. The records are in the leader's log and may still be committed.",
		b.From, kafka.Thousands(b.Timeout), waitsText(b.Waits))
}

// DuplicateRecognised says that a leader takes a batch for one that it has, and does not append it.
type DuplicateRecognised struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	BaseOffset     kafka.Offset         `json:"base_offset"`
	LastOffset     kafka.Offset         `json:"last_offset"` // inclusive
}

// Kind gives the kind's name.
func (DuplicateRecognised) Kind() string { return "DuplicateRecognised" }

// Text gives the offsets.
func (b DuplicateRecognised) Text() string {
	return fmt.Sprintf("%s %d..%d", b.TopicPartition, b.BaseOffset, b.LastOffset)
}

// Sentence gives the offsets and the rule.
func (b DuplicateRecognised) Sentence() string {
	return fmt.Sprintf("%s takes this batch for the one that it has at offsets %d to %d: producer id, epoch and sequence numbers are those of one of the producer's last five batches. Nothing is written; the answer is yes, with the old offset.",
		b.TopicPartition, b.BaseOffset, b.LastOffset)
}

// ProducerStateExpired says that a log forgot what it knew of a producer: which sequence it wrote last.
type ProducerStateExpired struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	ProducerID     kafka.ProducerID     `json:"producer_id"`
	LastSequence   kafka.Sequence       `json:"last_sequence"` // -1: none was known
	Idle           kafka.Millis         `json:"idle_ms"`       // since its last batch
	Expiration     kafka.Millis         `json:"producer_id_expiration_ms"`
}

// Kind gives the kind's name.
func (ProducerStateExpired) Kind() string { return "ProducerStateExpired" }

// Text gives the producer and the time.
func (b ProducerStateExpired) Text() string {
	return fmt.Sprintf("%s id=%d last-sequence=%d idle=%dms", b.TopicPartition, b.ProducerID, b.LastSequence, b.Idle)
}

// Sentence gives the rule and what it means.
func (b ProducerStateExpired) Sentence() string {
	return fmt.Sprintf("%s forgot producer id %d, whose last sequence was %d: it has written nothing for %s ms, at least producer.id.expiration.ms = %s. Its next batch is taken with any sequence.",
		b.TopicPartition, b.ProducerID, b.LastSequence, kafka.Thousands(b.Idle), kafka.Thousands(b.Expiration))
}
