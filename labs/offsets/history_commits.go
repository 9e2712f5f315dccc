package offsets

import (
	"slices"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// refusal is a commit that was not taken.
type refusal struct {
	node  kafka.NodeID
	tick  kafka.Tick
	event uint64
	error string
	then  string // what the application does

	offsets []journal.CommitOffset
	sent    uint64 // the last commit that the consumer had sent; 0: none
	taken   bool   // the coordinator has it all the same
}

// commit is an offset that a coordinator has taken.
type commit struct {
	offset kafka.Offset
	event  uint64
}

// lagThen is what the lag of a partition was worked out from.
type lagThen struct {
	committed, watermark, start kafka.Offset
	loaded                      bool // what was committed is what the group had before it was loaded
}

// lag is high watermark minus committed, of nothing committed minus the log start; 0 where that is beyond the watermark.
func (t lagThen) lag() int64 {
	if t.committed < 0 {
		t.committed = t.start
	}
	return int64(max(t.watermark-t.committed, 0))
}

// load notes that a coordinator has read the group from its log: what had not reached that is gone. What it has found is
// seen when somebody asks for it, or by what the next commit replaces.
func (h *historian) load() {
	for p := range h.loaded {
		h.loaded[p] = true
	}
	h.loadedAt = len(h.crashes)
}

// found notes what a coordinator had found committed of a partition, and corrects what was noted since.
func (h *historian) found(p kafka.Partition, committed kafka.Offset) {
	if !h.loaded[p] {
		return
	}
	h.loaded[p], h.committed[p] = false, committed
	for i := h.loadedAt; i < len(h.crashes); i++ {
		for j := range h.crashes[i].parts {
			if at := &h.crashes[i].parts[j]; at.Partition == p {
				at.committed = committed
			}
		}
	}
	if h.lagThen != nil && h.lagThen[p].loaded {
		h.lagThen[p].committed = committed
	}
}

// settle takes what the coordinator has now of partitions whose committed offset it has read from its log, and of which
// nobody has asked since.
func (h *historian) settle(v engine.GroupView) {
	for p := range h.loaded {
		now := kafka.NoOffset
		for _, o := range v.Offsets {
			if o.TopicPartition == (kafka.TopicPartition{Topic: topic, Partition: kafka.Partition(p)}) {
				now = o.Committed
			}
		}
		h.found(kafka.Partition(p), now)
	}
}

// coordinate takes in one event of a coordinator.
func (h *historian) coordinate(e journal.Event) {
	switch b := e.Body.(type) {
	case journal.MemberJoined:
		h.joined = h.joined || b.Group == h.group
	case journal.OffsetCommitted:
		if b.Group != h.group || b.TopicPartition.Topic != topic {
			return
		}
		p := b.TopicPartition.Partition
		h.found(p, b.Before)
		h.committed[p], h.commits[p] = b.Offset, commit{b.Offset, e.Seq}
		for i := range h.refused {
			h.arrive(&h.refused[i])
		}
	case journal.OffsetsRemoved:
		if b.Group != h.group {
			return
		}
		for _, tp := range b.Partitions {
			if tp.Topic == topic {
				h.found(tp.Partition, h.committed[tp.Partition])
				h.committed[tp.Partition] = kafka.NoOffset
			}
		}
	case journal.LeadershipTaken:
		if b.TopicPartition == h.log {
			h.loads = append(h.loads, e.Node)
		}
	case journal.GroupsLoaded:
		if at := slices.Index(h.loads, e.Node); at >= 0 {
			h.loads = slices.Delete(h.loads, at, at+1)
			h.load()
		}
	}
}

// arrive notes of a commit that failed whether the coordinator has taken it all the same.
func (h *historian) arrive(r *refusal) {
	r.taken = r.taken || r.sent > 0 && !slices.ContainsFunc(r.offsets, func(o journal.CommitOffset) bool {
		if o.TopicPartition.Topic != topic {
			return false
		}
		c := h.commits[o.TopicPartition.Partition]
		return c.offset != o.Offset || c.event < r.sent
	})
}

// told notes what a consumer was told to be committed of a partition.
func (h *historian) told(r *reader, p kafka.Partition, committed kafka.Offset) {
	h.found(p, committed)
	h.asked[p] = ""
	if committed < 0 {
		h.asked[p] = r.node
	}
}

// refuse notes that a commit has failed. What was not sent cannot have arrived.
func (h *historian) refuse(r *reader, e journal.Event, b journal.CommitFailed) {
	failed := refusal{node: e.Node, tick: e.Tick, event: e.Seq, error: b.Error, then: b.Then, offsets: b.Offsets, sent: r.sent}
	if b.Then == notSent {
		failed.sent = 0
	}
	h.arrive(&failed)
	h.refused = append(h.refused, failed)
}

// notSent is what becomes of a commit that its client does not send.
const notSent = "it is not sent"
