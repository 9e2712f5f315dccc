package group

import (
	"cmp"
	"slices"
	"strings"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
)

// committed is a committed offset, or one that its transaction's end commits.
type committed struct {
	tp        kafka.TopicPartition
	offset    kafka.Offset
	epoch     kafka.LeaderEpoch
	metadata  string
	at        kafka.Timestamp
	expires   kafka.Timestamp // of an old record that says so; else -1
	topicID   [16]byte
	number    uint64 // of its record among those of offsets: one with a greater number is behind it in the log
	forgotten bool   // there is none: a tombstone, in a change only
}

// pendingOffset is an offset that was committed in a transaction which has not ended.
type pendingOffset struct {
	committed
	producer kafka.ProducerID
}

// offsetState is what is known of a group's offsets. The slices are replaced, never written.
//
// Source: OffsetMetadataManager, its offsets, pendingTransactionalOffsets and openTransactions.
type offsetState struct {
	committed []committed     // by partition
	pending   []pendingOffset // by partition, then by producer id: one of each producer
}

// offsets are the offsets of one group.
type offsets struct {
	group   string
	latest  offsetState // with what is being written
	visible offsetState // what is written
}

// ending is what the end of a transaction does to one of its offsets.
type ending struct {
	entry     committed
	before    kafka.Offset // that is committed until then; -1: none
	committed bool         // it is the group's committed offset now
}

// with gives the state with what a record says; in is the producer in whose transaction it is, nil: it is in none. A
// tombstone takes what is pending for its partition, too.
//
// Source: OffsetMetadataManager.replay.
func (o offsetState) with(entry committed, in *coordinator.Producer) offsetState {
	switch {
	case entry.forgotten:
		o.committed = with(o.committed, entry)
		if o.isPending(entry.tp) {
			o.pending = without(o.pending, func(p pendingOffset) bool { return p.tp == entry.tp })
		}
	case in != nil:
		o.pending = withPending(o.pending, pendingOffset{entry, in.ID})
	default:
		o.committed = with(o.committed, entry)
	}
	return o
}

// ended gives the state after the end of a producer's transaction, and what became of its offsets. Of two commits the
// one whose record is later in the log counts: an offset that another commit came after does not replace that one.
//
// Source: OffsetMetadataManager.replayEndTransactionMarker.
func (o offsetState) ended(producer kafka.ProducerID, commits bool) (after offsetState, endings []ending) {
	for _, p := range o.pending {
		if p.producer != producer {
			continue
		}
		e := ending{entry: p.committed, before: o.offset(p.tp)}
		existing, found := find(o.committed, p.tp)
		if e.committed = commits && (!found || existing.number < p.number); e.committed {
			o.committed = with(o.committed, p.committed)
		}
		endings = append(endings, e)
	}
	if len(endings) > 0 {
		o.pending = without(o.pending, func(p pendingOffset) bool { return p.producer == producer })
	}
	return o, endings
}

// offset gives the committed offset of a partition, -1 if there is none.
func (o offsetState) offset(tp kafka.TopicPartition) kafka.Offset {
	if entry, found := find(o.committed, tp); found {
		return entry.offset
	}
	return kafka.NoOffset
}

// isPending says whether a transaction that has not ended commits an offset of the partition.
func (o offsetState) isPending(tp kafka.TopicPartition) bool {
	_, found := slices.BinarySearchFunc(o.pending, tp, func(p pendingOffset, tp kafka.TopicPartition) int { return compareCommitted(p.committed, tp) })
	return found
}

// pendingPartitions lists the partitions for which something is pending.
func (o offsetState) pendingPartitions() (list []kafka.TopicPartition) {
	for i, p := range o.pending {
		if i == 0 || p.tp != o.pending[i-1].tp {
			list = append(list, p.tp)
		}
	}
	return list
}

func (o offsetState) isEmpty() bool { return len(o.committed) == 0 && len(o.pending) == 0 }

// with gives the list with one change made.
func with(list []committed, change committed) []committed {
	i, found := slices.BinarySearchFunc(list, change.tp, compareCommitted)
	switch {
	case change.forgotten && !found:
		return list
	case change.forgotten && len(list) == 1:
		return nil
	}
	n := make([]committed, 0, len(list)+1)
	n = append(n, list[:i]...)
	if !change.forgotten {
		n = append(n, change)
	}
	if found {
		i++
	}
	return append(n, list[i:]...)
}

// withPending gives the list with an offset in the place of the one that its transaction had for the partition.
func withPending(list []pendingOffset, p pendingOffset) []pendingOffset {
	i, found := slices.BinarySearchFunc(list, p, func(a, b pendingOffset) int {
		return cmp.Or(compareCommitted(a.committed, b.tp), cmp.Compare(a.producer, b.producer))
	})
	n := slices.Clone(list)
	if found {
		n[i] = p
		return n
	}
	return slices.Insert(n, i, p)
}

// without gives the list without some offsets, nil if none is left.
func without(list []pendingOffset, gone func(pendingOffset) bool) (left []pendingOffset) {
	for _, p := range list {
		if !gone(p) {
			left = append(left, p)
		}
	}
	return left
}

func compareCommitted(c committed, tp kafka.TopicPartition) int {
	if order := strings.Compare(c.tp.Topic, tp.Topic); order != 0 {
		return order
	}
	return int(c.tp.Partition) - int(tp.Partition)
}

func find(list []committed, tp kafka.TopicPartition) (committed, bool) {
	i, found := slices.BinarySearchFunc(list, tp, compareCommitted)
	if !found {
		return committed{}, false
	}
	return list[i], true
}

func (c *Coordinator) offsetsIndex(group string) (int, bool) {
	return slices.BinarySearchFunc(c.offsets, group, func(o offsets, group string) int { return strings.Compare(o.group, group) })
}

// offsetsOf gives the offsets of a group; the zero value: none.
func (c *Coordinator) offsetsOf(group string) offsets {
	if i, found := c.offsetsIndex(group); found {
		return c.offsets[i]
	}
	return offsets{group: group}
}

func (c *Coordinator) setOffsets(o offsets) {
	i, found := c.offsetsIndex(o.group)
	gone := o.latest.isEmpty() && o.visible.isEmpty()
	switch {
	case found && gone:
		c.offsets = slices.Delete(c.offsets, i, i+1)
	case found:
		c.offsets[i] = o
	case !gone:
		c.offsets = slices.Insert(c.offsets, i, o)
	}
}

// numbered gives an offset the number of a record that is read or written now.
func (c *Coordinator) numbered(entry committed) committed {
	c.records++
	entry.number = c.records
	return entry
}
