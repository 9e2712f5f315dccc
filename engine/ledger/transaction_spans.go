package ledger

import (
	"cmp"
	"slices"
	"sort"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// span is what a log has of one transaction: from its first record to the marker that ends it.
type span struct {
	producer    kafka.ProducerID
	first, last kafka.Offset // of its records, inclusive
	marker      kafka.Offset // kafka.NoOffset: it is open
	commit      bool
}

// openAt says whether a reader of committed records has to wait for a transaction at a high watermark.
func (s *span) openAt(highWatermark kafka.Offset) bool {
	return s.marker == kafka.NoOffset || s.marker >= highWatermark
}

// noSpan stands for the span of a batch that is in no transaction.
const noSpan = -1

// markerSeen is what the marker of a transaction says.
type markerSeen struct {
	commit           bool
	coordinatorEpoch int32
}

// markerOf gives what a control batch says as a marker; false: it is none.
func markerOf(b *record.Batch) (markerSeen, bool) {
	scan := b.Scan()
	if !scan.Next() {
		return markerSeen{}, false
	}
	control, err := record.DecodeControl(scan.Record())
	if err != nil || control.Type != record.Commit && control.Type != record.Abort {
		return markerSeen{}, false
	}
	return markerSeen{control.Type == record.Commit, control.CoordinatorEpoch}, true
}

// noteSpan finds the transaction that a batch belongs to, and is asked before the batch is noted.
func (r *replicaSeen) noteSpan(next *batchSeen) {
	next.span = noSpan
	at, open := r.unended[next.producer]
	switch {
	case next.isMarker && open:
		r.spans[at].marker, r.spans[at].commit = next.base, next.marker.commit
		next.span = at
		delete(r.unended, next.producer)
	case next.isMarker || !next.transactional:
	case open:
		r.spans[at].last, next.span = next.last, at
	default:
		if r.unended == nil {
			r.unended = map[kafka.ProducerID]int{}
		}
		next.span = len(r.spans)
		r.unended[next.producer] = next.span
		r.spans = append(r.spans, span{producer: next.producer, first: next.base, last: next.last, marker: kafka.NoOffset})
	}
}

// forgetSpans drops what the log has of transactions from an offset on, whose batches are dropped already.
func (r *replicaSeen) forgetSpans(from kafka.Offset) {
	r.spans = r.spans[:sort.Search(len(r.spans), func(i int) bool { return r.spans[i].first >= from })]
	clear(r.unended)
	for i := range r.spans {
		s := &r.spans[i]
		if s.last >= from {
			s.last = s.first
		}
		if s.marker >= from {
			s.marker = kafka.NoOffset
		}
		if s.marker == kafka.NoOffset {
			r.unended[s.producer] = i
		}
	}
	for i := range r.batches {
		if b := &r.batches[i]; b.span != noSpan && !b.isMarker {
			s := &r.spans[b.span]
			s.last = max(s.last, b.last)
		}
	}
}

// firstOpen gives the first record of the transactions that are open at a high watermark and have records at start or above;
// false: there is none.
func (r *replicaSeen) firstOpen(highWatermark, start kafka.Offset) (first kafka.Offset, open bool) {
	at := slices.IndexFunc(r.spans, func(s span) bool { return s.last >= start && s.openAt(highWatermark) })
	if at < 0 {
		return 0, false
	}
	return r.spans[at].first, true
}

// firstLeft gives where the transactions that firstOpen means begin in a log that starts at an offset: with the first of their
// records that is left, or if none is with the log.
func (r *replicaSeen) firstLeft(highWatermark, start, logStart kafka.Offset) kafka.Offset {
	for i := r.find(logStart); i < len(r.batches); i++ {
		if b := &r.batches[i]; b.span != noSpan && !b.isMarker && r.spans[b.span].last >= start && r.spans[b.span].openAt(highWatermark) {
			return max(b.base, logStart)
		}
	}
	return logStart
}

// isGiven says whether an application that reads committed records is given the records of a batch; noData: no application
// is given them.
func (r *replicaSeen) isGiven(b *batchSeen, highWatermark kafka.Offset) (given, noData bool) {
	switch {
	case b.isMarker:
		return false, true
	case b.span == noSpan:
		return true, false
	}
	s := &r.spans[b.span]
	return !s.openAt(highWatermark) && s.commit, false
}

// isCommitted says whether the records of a batch are in no transaction, or in one whose COMMIT marker the log has.
func (r *replicaSeen) isCommitted(b *batchSeen) bool {
	return b.span == noSpan || r.spans[b.span].marker != kafka.NoOffset && r.spans[b.span].commit
}

// at gives the batch that holds an offset, of the replica with the latest leader epoch there, and of those of the one whose
// log is the most recent, the leader's before others'; false: none has it.
func (p *partitionSeen) at(offset kafka.Offset) (r *replicaSeen, number int, found bool) {
	var best kafka.BrokerID
	for id, other := range p.replicas { // the order does not matter: no two are as good
		i := other.find(offset)
		if i == len(other.batches) || other.batches[i].base > offset {
			continue
		}
		if r == nil || p.isBetter(id, best, other.batches[i].leaderEpoch(), r.batches[number].leaderEpoch()) {
			r, number, best = other, i, id
		}
	}
	return r, number, r != nil
}

// isBetter says which of two replicas tells better what readers get at an offset. A leader that does not know yet that it
// is none may have the longer log, and a replica that was away for long may never have seen a marker that cleaning took.
func (p *partitionSeen) isBetter(id, than kafka.BrokerID, epoch, thanEpoch kafka.LeaderEpoch) bool {
	a, b := p.replicas[id], p.replicas[than]
	return cmp.Or(cmp.Compare(epoch, thanEpoch), cmp.Compare(a.lastEpoch(), b.lastEpoch()), cmp.Compare(a.end(), b.end()), p.leading(id)-p.leading(than), cmp.Compare(than, id)) > 0
}

// leading is 1 for the leader.
func (p *partitionSeen) leading(id kafka.BrokerID) int {
	if id == p.state.Leader {
		return 1
	}
	return 0
}

// lastEpoch is the leader epoch of a log's last batch. The log has one.
func (r *replicaSeen) lastEpoch() kafka.LeaderEpoch { return r.batches[len(r.batches)-1].leaderEpoch() }

// sure is the offset below which a marker has ended a transaction for some reader.
func (p *partitionSeen) sure() kafka.Offset {
	sure := p.highest
	for _, r := range p.replicas { // the order does not matter: the highest
		sure = max(sure, r.settled)
	}
	return sure
}

// settle notes where the high watermark of a replica was.
func (p *partitionSeen) settle(id kafka.BrokerID, highWatermark kafka.Offset) {
	r := p.replicaOf(id)
	r.settled, r.reached = max(r.settled, highWatermark), max(r.reached, highWatermark)
}
