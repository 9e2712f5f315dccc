package ledger

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"sort"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/record"
	"loglab/engine/replication"
	"loglab/engine/storage"
)

// replicaSeen is what is remembered of a replica: its log, batch by batch, and what its broker believed.
type replicaSeen struct {
	batches []batchSeen
	agreed  map[kafka.BrokerID]kafka.Offset // with each other replica: up to there, exclusive
	held    int                             // promises that were found in it, from the first on
	spans   []span                          // of transactions, by their first records
	unended map[kafka.ProducerID]int        // the number of a producer's open span

	open, leads   bool
	cleaned       int          // times since the last look
	cut           bool         // since the last look
	cutTo         kafka.Offset // the log end offset after the last truncation
	state         metadata.Partition
	highWatermark kafka.Offset
	reached       kafka.Offset // its highest high watermark since the log was cut last
	lastStable    kafka.Offset
	settled       kafka.Offset // markers below may count for its broker, wherever its high watermark is
}

// batchSeen is one batch of a log.
type batchSeen struct {
	base, last kafka.Offset // inclusive
	segment    kafka.Offset // base offset of its segment
	at         int          // its first byte there
	bytes      []byte       // never changed
	records    int32
	seen       kafka.Tick // first
	producer   kafka.ProducerID
	epoch      kafka.ProducerEpoch
	sequence   kafka.Sequence

	transactional bool
	isMarker      bool
	marker        markerSeen
	span          int // that it is part of, or ends; noSpan: none
}

// checkReplicas looks at what came to the logs, then compares them.
func (k *Checker) checkReplicas(o *Observation) {
	for i := range o.Brokers {
		b := &o.Brokers[i]
		seen := map[kafka.TopicPartition]bool{}
		for r := range b.Replicas {
			now := &b.Replicas[r]
			seen[now.TopicPartition] = true
			p := k.of(now.TopicPartition)
			was := p.replicaOf(b.ID)
			k.follow(p, b.ID, was, now)
			if now.Open {
				k.checkRole(p, b.ID, was, now)
			} else {
				was.open = false
			}
		}
		for tp, p := range k.partitions { // each by itself: the order does not matter
			if was := p.replicas[b.ID]; was != nil && !seen[tp] { // its disk was wiped
				was.forget(0)
				was.open = false
			}
		}
	}
	for _, tp := range k.inOrder() {
		k.compareReplicas(o, k.partitions[tp])
	}
}

// inOrder lists the partitions. None ever goes.
func (k *Checker) inOrder() []kafka.TopicPartition {
	if len(k.order) < len(k.partitions) {
		k.order = slices.SortedFunc(maps.Keys(k.partitions), kafka.TopicPartition.Compare)
	}
	return k.order
}

// forget drops the batches from a number on.
func (r *replicaSeen) forget(from int) {
	if from >= len(r.batches) {
		return
	}
	end := r.batches[from].base
	r.batches = r.batches[:from]
	r.forgetSpans(end)
	for id, agreed := range r.agreed {
		r.agreed[id] = min(agreed, end)
	}
	r.held = 0
}

// end is the offset behind the last batch, 0 for none.
func (r *replicaSeen) end() kafka.Offset {
	if n := len(r.batches); n > 0 {
		return r.batches[n-1].last + 1
	}
	return 0
}

// follow goes through what came to a log since the last time.
func (k *Checker) follow(p *partitionSeen, id kafka.BrokerID, was *replicaSeen, now *ReplicaState) {
	if was.cleaned > 0 {
		if b := k.brokers[id]; !was.cut && !(b.hasLost && b.lost == k.tick) {
			k.checkCleaned(p, id, was, now)
		}
		before := slices.Clone(was.batches)
		was.forget(0)
		defer func() { was.keepSeen(before) }()
	}
	was.cleaned, was.cut = 0, false
	keep := len(was.batches)
	for keep > 0 && !was.batches[keep-1].standsIn(now.Segments) {
		keep--
	}
	if k.observations%sweepEvery == 0 {
		if changed := slices.IndexFunc(was.batches[:keep], func(b batchSeen) bool { return !b.standsIn(now.Segments) }); changed >= 0 {
			keep = changed
		}
		clear(was.agreed)
		was.held = 0
	}
	was.forget(keep)
	from := kafka.Offset(-1)
	at := 0
	if keep > 0 {
		last := &was.batches[keep-1]
		from, at = last.segment, last.at+len(last.bytes)
	}
	for i := range now.Segments {
		s := &now.Segments[i]
		switch {
		case s.BaseOffset < from:
			continue
		case s.BaseOffset > from:
			at = 0
		}
		k.followSegment(p, id, was, s, at)
	}
	// A log that was cut within a batch ends there, without the batch: as a leader's does that begins within it, as
	// DeleteRecords asked, and has nothing yet.
	cutThere := was.end() < now.LogEndOffset && now.LogEndOffset == was.cutTo
	// A follower's segment begins with the batch that came, which a cleaned leader may have behind a hole. If a power loss
	// takes that batch, the log ends where its empty segment begins.
	emptied := false
	if n := len(now.Segments); n > 0 && k.brokers[id].hasLost {
		last := &now.Segments[n-1]
		emptied = len(last.Bytes) == 0 && was.end() < last.BaseOffset && last.BaseOffset == now.LogEndOffset
	}
	if end := was.end(); now.Open && end != now.LogEndOffset && len(was.batches) > 0 && !cutThere && !emptied {
		k.violated(OffsetsRise, p.tp, "broker %d: the last batch ends before offset %d, the log end offset is %d", id, end, now.LogEndOffset)
	}
}

// keepSeen lets what a cleaning has left count as seen when it was.
func (r *replicaSeen) keepSeen(before []batchSeen) {
	for i := range r.batches {
		b := &r.batches[i]
		at, found := slices.BinarySearchFunc(before, b.base, func(was batchSeen, base kafka.Offset) int { return cmp.Compare(was.base, base) })
		if found && before[at].leaderEpoch() == b.leaderEpoch() {
			b.seen = before[at].seen
		}
	}
}

// standsIn says whether a batch is still where it was.
func (b *batchSeen) standsIn(segments []storage.Segment) bool {
	for i := len(segments) - 1; i >= 0; i-- {
		if s := &segments[i]; s.BaseOffset == b.segment {
			return len(s.Bytes) >= b.at+len(b.bytes) && bytes.Equal(s.Bytes[b.at:b.at+len(b.bytes)], b.bytes)
		}
	}
	return false
}

// followSegment goes through a segment from a byte on. A torn batch at the end of what a machine without power
// has left is no part of the log.
func (k *Checker) followSegment(p *partitionSeen, id kafka.BrokerID, was *replicaSeen, s *storage.Segment, at int) {
	for {
		next, err := parseBatch(s, at)
		if err != nil {
			return
		}
		next.seen = k.tick
		if n := len(was.batches); n > 0 && next.base <= was.batches[n-1].last || next.last < next.base {
			k.violated(OffsetsRise, p.tp, "broker %d: a batch with offsets %d to %d behind one that ends with %d", id, next.base, next.last, was.end()-1)
		}
		k.checkSequence(p, id, was, &next)
		k.checkCoordinatorEpoch(p, id, was, &next)
		was.noteSpan(&next)
		was.batches = append(was.batches, next)
		at += len(next.bytes)
	}
}

// parseBatch takes the batch at a byte of a segment apart.
func parseBatch(s *storage.Segment, at int) (batchSeen, error) {
	b, err := record.Parse(s.Bytes[at:])
	if err != nil {
		return batchSeen{}, err
	}
	next := batchSeen{
		base: b.BaseOffset, last: b.LastOffset(), segment: s.BaseOffset, at: at, bytes: s.Bytes[at : at+b.Size()], records: b.RecordsCount,
		producer: b.ProducerID, epoch: b.ProducerEpoch, sequence: b.BaseSequence, transactional: b.Attributes.Transactional(),
	}
	if b.Attributes.Control() { // a marker that a cleaning has emptied ends nothing
		next.marker, next.isMarker = markerOf(&b)
		next.transactional = next.isMarker
	}
	return next, nil
}

// checkSequence compares a batch of an idempotent producer with the one before in the same log. Markers have no sequence,
// and a coordinator writes each batch of a transaction's offsets with sequence 0.
func (k *Checker) checkSequence(p *partitionSeen, id kafka.BrokerID, was *replicaSeen, next *batchSeen) {
	if next.producer < 0 || next.sequence < 0 || p.tp.Topic == kafka.OffsetsTopic {
		return
	}
	for i := len(was.batches) - 1; i >= 0; i-- {
		before := &was.batches[i]
		if before.producer != next.producer || before.sequence < 0 {
			continue
		}
		if next.transactional && next.epoch < before.epoch {
			return // a fenced producer, which is another matter
		}
		if next.base < p.cleaned || before.base < p.cleaned || before.last < p.start {
			return // batches between them may be gone, and with them what a leader knew of the producer
		}
		follows := record.IncrementSequence(before.sequence, before.records)
		if next.epoch == before.epoch && next.sequence != follows || next.epoch > before.epoch && next.sequence != 0 || next.epoch < before.epoch {
			k.violated(SequencesInOrder, p.tp, "broker %d: producer %d, epoch %d, sequence %d at offset %d behind epoch %d, sequences %d to %d at offset %d",
				id, next.producer, next.epoch, next.sequence, next.base, before.epoch, before.sequence, follows-1, before.base)
		}
		return
	}
}

// checkCoordinatorEpoch compares a marker with the one before of the same producer in the same log.
func (k *Checker) checkCoordinatorEpoch(p *partitionSeen, id kafka.BrokerID, was *replicaSeen, next *batchSeen) {
	if !next.isMarker {
		return
	}
	for i := len(was.batches) - 1; i >= 0; i-- {
		if before := &was.batches[i]; before.producer == next.producer && before.isMarker {
			if next.marker.coordinatorEpoch < before.marker.coordinatorEpoch {
				k.violated(CoordinatorEpochsRise, p.tp, "broker %d: the marker of producer %d at offset %d has coordinator epoch %d, after %d at offset %d",
					id, next.producer, next.base, next.marker.coordinatorEpoch, before.marker.coordinatorEpoch, before.base)
			}
			return
		}
	}
}

// compareReplicas compares the open replicas of a partition below the smaller high watermark of two, and above what was
// cleaned: each broker cleans by itself. Once an election was unclean or a disk lost data, a log that has not met the
// leader's in the present epoch is left out: it will be cut.
func (k *Checker) compareReplicas(o *Observation, p *partitionSeen) {
	type side struct {
		id  kafka.BrokerID
		now *ReplicaState
	}
	var sides []side
	for i := range o.Brokers {
		b := &o.Brokers[i]
		for r := range b.Replicas {
			if now := &b.Replicas[r]; now.TopicPartition == p.tp && now.Open && (!p.disturbed || attached(o, p, b, now)) {
				sides = append(sides, side{b.ID, now})
			}
		}
	}
	for i, a := range sides {
		for _, b := range sides[i+1:] {
			k.compare(p, a.id, b.id, max(a.now.LogStartOffset, b.now.LogStartOffset, p.cleaned), min(a.now.HighWatermark, b.now.HighWatermark))
		}
	}
}

// attached says whether a replica leads, as the controller has it, or has been fetching from that leader.
func attached(o *Observation, p *partitionSeen, b *BrokerState, now *ReplicaState) bool {
	if now.State.LeaderEpoch != p.state.LeaderEpoch {
		return false
	}
	if b.ID == p.state.Leader {
		return now.Role == replication.Leader
	}
	for i := range o.Brokers {
		leader := &o.Brokers[i]
		for r := range leader.Replicas {
			if held := &leader.Replicas[r]; leader.ID == p.state.Leader && held.TopicPartition == p.tp && held.Role == replication.Leader && held.State.LeaderEpoch == p.state.LeaderEpoch {
				return slices.Contains(held.Attached, Attached{b.ID, b.Epoch})
			}
		}
	}
	return false
}

// compare compares two logs from where they were last found equal.
func (k *Checker) compare(p *partitionSeen, a, b kafka.BrokerID, start, end kafka.Offset) {
	x, y := p.replicas[a], p.replicas[b]
	from := max(start, min(x.agreed[b], y.agreed[a]))
	i, j := x.find(from), y.find(from)
	for ; i < len(x.batches) && j < len(y.batches) && x.batches[i].last < end && y.batches[j].last < end; i, j = i+1, j+1 {
		m, n := &x.batches[i], &y.batches[j]
		if !bytes.Equal(m.bytes, n.bytes) {
			k.violated(ReplicasAgree, p.tp, "below the high watermark %d broker %d has a batch with offsets %d to %d of leader epoch %d, and broker %d another with %d to %d of leader epoch %d",
				end, a, m.base, m.last, m.leaderEpoch(), b, n.base, n.last, n.leaderEpoch())
			break
		}
		from = m.last + 1
	}
	x.agreed[b], y.agreed[a] = from, from
}

func (b *batchSeen) leaderEpoch() kafka.LeaderEpoch {
	batch, err := record.Parse(b.bytes)
	if err != nil {
		return kafka.NoLeaderEpoch
	}
	return batch.PartitionLeaderEpoch
}

// find gives the number of the first batch that ends at an offset or behind it.
func (r *replicaSeen) find(offset kafka.Offset) int {
	return sort.Search(len(r.batches), func(i int) bool { return r.batches[i].last >= offset })
}
