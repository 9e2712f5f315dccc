package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// The values of isolation.level. A consumer with the first sees every record as soon as it is below the high watermark;
// with the second only below the last stable offset, and nothing of aborted transactions.
const (
	ReadUncommitted = "read_uncommitted"
	ReadCommitted   = "read_committed"
)

// CheckIsolation says why isolation.level cannot be that; nil: it can. Empty is the default.
func CheckIsolation(level string) error {
	if level == "" || level == ReadUncommitted || level == ReadCommitted {
		return nil
	}
	return fmt.Errorf("isolation.level = %.40q; allowed are %s and %s", level, ReadUncommitted, ReadCommitted)
}

// ReadsCommitted says whether isolation.level is read_committed.
func (c *Consumer) ReadsCommitted() bool { return c.config.IsolationLevel == ReadCommitted }

// isolation gives isolation.level as requests carry it.
func (c *ConsumerConfig) isolation() int8 {
	if c.IsolationLevel == ReadCommitted {
		return 1
	}
	return 0
}

// abortedTransaction is a transaction that a Fetch response lists as aborted.
type abortedTransaction struct {
	id    kafka.ProducerID
	first kafka.Offset
}

// abortedOf gives what a response says of aborted transactions, by their first offsets.
//
// Source: CompletedFetch.abortedTransactions.
func abortedOf(result kmsg.FetchResponseTopicPartition) (list []abortedTransaction) {
	for _, t := range result.AbortedTransactions {
		list = append(list, abortedTransaction{kafka.ProducerID(t.ProducerID), kafka.Offset(t.FirstOffset)})
	}
	slices.SortStableFunc(list, func(a, b abortedTransaction) int { return int(a.first - b.first) })
	return list
}

// isAborted comes to a batch and says whether it is one of an aborted transaction. Producers whose aborted transaction has
// begun by its last offset count as aborting until their ABORT marker.
//
// Source: CompletedFetch.nextFetchedRecord, consumeAbortedTransactionsUpTo, containsAbortMarker, isBatchAborted.
func (f *fetched) isAborted(b *record.Batch) bool {
	if b.ProducerID < 0 {
		return false
	}
	last := b.NextOffset() - 1
	for len(f.aborted) > 0 && f.aborted[0].first <= last {
		f.aborting = append(slices.Clip(f.aborting), f.aborted[0].id)
		f.aborted = f.aborted[1:]
	}
	if isAbortMarker(b) {
		f.aborting = slices.DeleteFunc(slices.Clone(f.aborting), func(id kafka.ProducerID) bool { return id == b.ProducerID })
		return false
	}
	return b.Attributes.Transactional() && slices.Contains(f.aborting, b.ProducerID)
}

// isAbortMarker says whether a batch is the marker of an aborted transaction.
func isAbortMarker(b *record.Batch) bool {
	if !b.Attributes.Control() {
		return false
	}
	scanner := b.Scan()
	if !scanner.Next() {
		return false
	}
	control, err := record.DecodeControl(scanner.Record())
	return err == nil && control.Type == record.Abort
}

// SkippedView is a run of offsets that a consumer moved over without its application's seeing them.
type SkippedView struct {
	From kafka.Offset `json:"from"`
	To   kafka.Offset `json:"to"`  // inclusive
	Why  string       `json:"why"` // "aborted" or "marker"
}

// skip notes offsets that the application is not given.
func (a *assigned) skip(from, to kafka.Offset, why string) {
	a.skipped = append(slices.Clip(a.skipped), SkippedView{from, to, why})
}

// unstable lists the partitions of an OffsetFetch response whose offsets a transaction is about to change, sorted.
func unstable(group *kmsg.OffsetFetchResponseGroup, code int16) (list []kafka.TopicPartition) {
	for _, topic := range group.Topics {
		for _, p := range topic.Partitions {
			if p.ErrorCode == code {
				list = append(list, kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(p.Partition)})
			}
		}
	}
	slices.SortFunc(list, compareTP)
	return list
}
