package group

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// commitInTransaction handles a TxnOffsetCommit: a commit that counts when the transaction of its producer is
// committed. Until then the offsets are pending.
//
// Source: GroupCoordinatorService.commitTransactionalOffsets, OffsetMetadataManager.commitTransactionalOffset.
func (s *step) commitInTransaction(m *simnet.Message, request *kmsg.TxnOffsetCommitRequest) {
	if request.Group == "" {
		s.refuse(m, errorResponse(request, kerr.InvalidGroupID), refusal{member: request.MemberID, err: kerr.InvalidGroupID, why: "the group's id is empty"})
		return
	}
	s.commitOffsets(m, offsetCommit{
		OffsetCommitRequest: asOffsetCommit(request),
		transaction:         &coordinator.Producer{ID: kafka.ProducerID(request.ProducerID), Epoch: kafka.ProducerEpoch(request.ProducerEpoch)},
	})
}

// asOffsetCommit gives what a TxnOffsetCommit has in common with an OffsetCommit. As in Kafka 4.2, no topic's id is kept.
func asOffsetCommit(request *kmsg.TxnOffsetCommitRequest) *kmsg.OffsetCommitRequest {
	common := kmsg.NewPtrOffsetCommitRequest()
	common.Version = groupNotFoundFrom
	common.Group, common.MemberID, common.InstanceID, common.Generation = request.Group, request.MemberID, request.InstanceID, request.Generation
	for _, t := range request.Topics {
		topic := kmsg.NewOffsetCommitRequestTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			part := kmsg.NewOffsetCommitRequestTopicPartition()
			part.Partition, part.Offset, part.LeaderEpoch, part.Metadata = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata
			topic.Partitions = append(topic.Partitions, part)
		}
		common.Topics = append(common.Topics, topic)
	}
	return common
}

// asTxnOffsetCommit gives the answer to an OffsetCommit as one to the TxnOffsetCommit with the same topics.
func asTxnOffsetCommit(common *kmsg.OffsetCommitResponse) *kmsg.TxnOffsetCommitResponse {
	response := kmsg.NewPtrTxnOffsetCommitResponse()
	for _, t := range common.Topics {
		topic := kmsg.NewTxnOffsetCommitResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			part := kmsg.NewTxnOffsetCommitResponseTopicPartition()
			part.Partition, part.ErrorCode = p.Partition, p.ErrorCode
			topic.Partitions = append(topic.Partitions, part)
		}
		response.Topics = append(response.Topics, topic)
	}
	return response
}

// EndTransaction wants the marker of a transaction appended to the partition, as its leader was asked by a transaction
// coordinator: the one write of the effects. When Written tells that it is on every in-sync replica, what the producer
// has pending here is committed or dropped; so whoever asked can be told then, by the write's id. If Written tells that
// it was not appended, everything stays as it was. A coordinator that has resigned wants no write.
//
// Source: GroupCoordinatorService.completeTransaction, CoordinatorRuntime.completeTransaction.
func (c *Coordinator) EndTransaction(now kafka.Millis, marker storage.TransactionMarker, cause uint64, j *journal.Journal) coordinator.Effects {
	s := c.begin(now, cause, j)
	if c.resigned {
		return s.effects
	}
	s.write(nil, pendingWrite{marker: &marker})
	return s.end()
}

// hold applies what a write says of offsets to what is latest.
func (c *Coordinator) hold(w pendingWrite) {
	for _, ch := range w.changes {
		o := c.offsetsOf(ch.group)
		o.latest = o.latest.with(ch.entry, w.transaction)
		c.setOffsets(o)
	}
	if w.marker == nil {
		return
	}
	for _, o := range slices.Clone(c.offsets) {
		o.latest, _ = o.latest.ended(w.marker.ProducerID, w.marker.Type == record.Commit)
		c.setOffsets(o)
	}
}

// holdAnew makes what is latest of what is written and of the writes of which nothing is known yet.
func (c *Coordinator) holdAnew() {
	for _, o := range slices.Clone(c.offsets) {
		o.latest = o.visible
		c.setOffsets(o)
	}
	for _, w := range c.writes {
		c.hold(w)
	}
}

// showOffsets makes visible what a write says of offsets. It gives the event that says so, or the cause of all.
func (s *step) showOffsets(w pendingWrite) (cause uint64) {
	cause = s.cause
	for _, ch := range w.changes {
		o := s.c.offsetsOf(ch.group)
		before := o.visible
		o.visible = before.with(ch.entry, w.transaction)
		s.c.setOffsets(o)
		switch {
		case ch.entry.forgotten:
		case w.transaction != nil:
			cause = s.journal(journal.TransactionalOffsetPending{
				Group: ch.group, TopicPartition: ch.entry.tp, Offset: ch.entry.offset, ProducerID: w.transaction.ID, ProducerEpoch: w.transaction.Epoch,
				Member: kafka.MemberID(ch.member), Generation: ch.generation,
			})
		default:
			cause = s.journal(journal.OffsetCommitted{
				Group: ch.group, TopicPartition: ch.entry.tp, Offset: ch.entry.offset, Before: before.offset(ch.entry.tp), Member: kafka.MemberID(ch.member),
				Generation: ch.generation, Producer: -1,
			})
		}
	}
	if w.marker != nil {
		s.showEnd(*w.marker)
	}
	return cause
}

// showEnd makes visible what the end of a transaction does to the offsets that were committed in it.
func (s *step) showEnd(marker storage.TransactionMarker) {
	commits := marker.Type == record.Commit
	began := s.cause
	for _, o := range slices.Clone(s.c.offsets) {
		var endings []ending
		if o.visible, endings = o.visible.ended(marker.ProducerID, commits); len(endings) == 0 {
			continue
		}
		s.c.setOffsets(o)
		event := journal.TransactionalOffsetsEnded{Group: o.group, ProducerID: marker.ProducerID, ProducerEpoch: marker.ProducerEpoch, Committed: commits}
		for _, e := range endings {
			offset := journal.CommitOffset{TopicPartition: e.entry.tp, Offset: e.entry.offset}
			if e.committed {
				event.Visible = append(event.Visible, offset)
			} else {
				event.Dropped = append(event.Dropped, offset)
			}
		}
		s.then(event)
		for _, e := range endings {
			if e.committed {
				s.journal(journal.OffsetCommitted{
					Group: o.group, TopicPartition: e.entry.tp, Offset: e.entry.offset, Before: e.before, Generation: -1, Producer: marker.ProducerID,
				})
			}
		}
		s.cause = began
	}
}

// tellUnstable says of which partitions no stable offset can be given.
func (s *step) tellUnstable(m *simnet.Message, asked kmsg.OffsetFetchRequestGroup, list []kafka.TopicPartition) {
	names := make([]string, len(list))
	for i, tp := range list {
		names[i] = tp.String()
	}
	s.journal(journal.GroupRequestRefused{
		API: m.API(), Group: asked.Group, Member: kafka.MemberID(orEmpty(asked.MemberID)), From: m.From, Error: kerr.UnstableOffsetCommit.Message,
		Why: "stable offsets are asked for, and a transaction that has not ended has an offset pending for " + strings.Join(names, ", "),
	})
}
