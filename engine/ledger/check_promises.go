package ledger

import (
	"bytes"
	"slices"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/replication"
)

// promise is what must survive: a record that was acknowledged with acks=all, or a batch that was committed.
type promise struct {
	Promise                   // of a batch: only Offset, its base offset, and Tick, when its leader had it
	batch   []byte            // nil: it is a record
	epoch   kafka.LeaderEpoch // of the leader that wrote it; kafka.NoLeaderEpoch: nobody had it any more when the answer came
	excused bool              // the run took every copy that counted, or elected a leader without one
}

// checkPromises looks for what was acknowledged and committed: at the leader, or while none runs at the replicas that may
// lead without an unclean election. Something is excused for good if an unclean election began a later epoch than that
// of the leader which wrote it, which may be one that did not know yet; or once no in-sync or eligible replica has it any
// more and each of them has lost data since; eligible ones do not count where the leader committed by a
// min.insync.replicas that the controller had already changed. An answer can reach its producer long after: what was excused as a batch is
// excused as a record. Where the coordinator of a producer has lost what it gave out, another process can get the same
// epoch, and a leader takes its records for those that it has; and so it can where a producer gave up a batch and the next
// took over its sequences. What retention or a cleaning may have taken is not looked for.
func (k *Checker) checkPromises(o *Observation) {
	for _, m := range o.Promises {
		if m.Offset >= 0 {
			p := k.of(m.TopicPartition)
			p.promises = append(p.promises, promise{Promise: m, epoch: p.epochOf(&m), excused: p.disturbed && p.wasExcused(&m) || m.Coordinated.Topic != "" && k.Lost(m.Coordinated)})
		}
	}
	for _, tp := range k.inOrder() {
		p := k.partitions[tp]
		k.noteCommitted(o, p)
		candidates := slices.Concat(p.state.ISR, p.state.ELR)
		if leads(o, p) {
			candidates = []kafka.BrokerID{p.state.Leader}
		}
		if len(candidates) == 0 || slices.ContainsFunc(candidates, func(id kafka.BrokerID) bool { return k.holdsAll(p, id) }) {
			continue
		}
		for i := range p.promises {
			if m := &p.promises[i]; !m.excused && !p.over(m.Offset) && !slices.ContainsFunc(candidates, func(id kafka.BrokerID) bool { return p.replicas[id].keeps(m) }) {
				k.missing(p, m, candidates)
			}
		}
	}
}

// leads says whether the leader that the controller has elected runs and knows that it leads.
func leads(o *Observation, p *partitionSeen) bool {
	at := slices.IndexFunc(o.Brokers, func(b BrokerState) bool { return b.ID == p.state.Leader })
	if at < 0 {
		return false
	}
	return slices.ContainsFunc(o.Brokers[at].Replicas, func(r ReplicaState) bool {
		return r.TopicPartition == p.tp && r.Open && r.Role == replication.Leader && r.State.LeaderEpoch == p.state.LeaderEpoch
	})
}

// missing judges a record that is not where it should be.
func (k *Checker) missing(p *partitionSeen, m *promise, candidates []kafka.BrokerID) {
	m.excused, p.lost = true, true // said once
	if m.batch != nil {
		p.committed = min(p.committed, m.Offset)
	}
	if p.isUnclean && m.epoch < p.unclean || p.hasEmptied && p.emptied >= m.Tick || p.inheritedSequence(m) {
		return
	}
	lost := func(id kafka.BrokerID) bool { return k.brokers[id].hasLost && k.brokers[id].lost >= m.Tick }
	inSync := slices.Concat(p.state.ISR, p.state.ELR)
	if m.Offset >= p.thin.from && m.Offset < p.thin.to {
		inSync = p.state.ISR
	}
	if !slices.ContainsFunc(inSync, func(id kafka.BrokerID) bool { return p.replicas[id].keeps(m) || !lost(id) }) {
		return
	}
	if m.batch != nil {
		k.violated(AcknowledgedSurvive, p.tp, "the batch at offset %d, written in tick %d and leader epoch %d, was committed; of the replicas %d, in sync %d, eligible %d, leader %d, none of %d has it",
			m.Offset, m.Tick, m.epoch, p.state.Replicas, p.state.ISR, p.state.ELR, p.state.Leader, candidates)
		return
	}
	k.violated(AcknowledgedSurvive, p.tp, "record %d (key %q, value %.40q) was acknowledged at offset %d with acks=all; of the replicas %d, in sync %d, eligible %d, leader %d, none of %d has it",
		m.Record, m.Key, m.Value, m.Offset, p.state.Replicas, p.state.ISR, p.state.ELR, p.state.Leader, candidates)
}

// noteCommitted takes what came below the high watermark of the leader.
func (k *Checker) noteCommitted(o *Observation, p *partitionSeen) {
	if !leads(o, p) {
		return
	}
	r := p.replicas[p.state.Leader]
	for at := r.find(p.committed); at < len(r.batches) && r.batches[at].last < r.highWatermark; at++ {
		b := &r.batches[at]
		p.promises = append(p.promises, promise{Promise: Promise{Offset: b.base, Tick: b.seen}, batch: b.bytes, epoch: b.leaderEpoch()})
		p.committed = b.last + 1
	}
}

// wasExcused says whether a batch with a record was excused.
func (p *partitionSeen) wasExcused(m *Promise) bool {
	for i := range p.promises {
		if b := &p.promises[i]; b.excused && b.batch != nil && hasRecord(b.batch, m) {
			return true
		}
	}
	return false
}

// gaveUp notes that a producer gave up a batch.
func (p *partitionSeen) gaveUp(producer kafka.NodeID) {
	if p.givenUp == nil {
		p.givenUp = map[kafka.NodeID]bool{}
	}
	p.givenUp[producer] = true
}

// recognised notes what a leader answered to a batch that it took for one that it has.
func (p *partitionSeen) recognised(body journal.DuplicateRecognised) {
	if len(p.givenUp) > 0 {
		p.repeated = append(p.repeated, offsets{body.BaseOffset, body.LastOffset + 1})
	}
}

// inheritedSequence says whether a leader may have taken a record of a transactional producer for another: the producer gave
// up a batch, and the next one took over its sequences (TransactionManager.handleFailedBatch), although the first may be
// written, or is by a leader that stood still and goes on. A leader that has it answers the second with the place of the
// first, and what was acknowledged so is in no log. With transaction version 2 the transaction can only be aborted, and the
// next has another epoch. With version 1 a batch that fails while its transaction is being ended leaves the epoch as it is
// (maybeTransitionToErrorState), and the record that is lost can be one of the next transaction, which commits.
func (p *partitionSeen) inheritedSequence(m *promise) bool {
	return m.batch == nil && m.Coordinated.Topic != "" && p.givenUp[m.Producer] &&
		slices.ContainsFunc(p.repeated, func(o offsets) bool { return o.overlap(m.Offset, m.Offset+1) })
}

// epochOf gives the epoch of the leader that wrote a record.
func (p *partitionSeen) epochOf(m *Promise) kafka.LeaderEpoch {
	epoch := kafka.NoLeaderEpoch
	for _, r := range p.replicas { // the order does not matter: the highest
		if b := r.holding(m); b != nil {
			epoch = max(epoch, b.leaderEpoch())
		}
	}
	return epoch
}

// holdsAll says whether a replica has every record that was promised.
func (k *Checker) holdsAll(p *partitionSeen, id kafka.BrokerID) bool {
	r := p.replicas[id]
	if r == nil {
		return !slices.ContainsFunc(p.promises, func(m promise) bool { return !p.over(m.Offset) })
	}
	for r.held < len(p.promises) && (p.promises[r.held].excused || p.over(p.promises[r.held].Offset) || r.keeps(&p.promises[r.held])) {
		r.held++
	}
	return r.held == len(p.promises)
}

// keeps says whether a replica has what was promised, where it was.
func (r *replicaSeen) keeps(m *promise) bool {
	if r == nil || m.batch == nil {
		return r.holding(&m.Promise) != nil
	}
	at := r.find(m.Offset)
	return at < len(r.batches) && bytes.Equal(r.batches[at].bytes, m.batch)
}

// holding gives the batch of a replica in which a record stands where it was acknowledged, nil for none.
func (r *replicaSeen) holding(m *Promise) *batchSeen {
	if r == nil {
		return nil
	}
	if at := r.find(m.Offset); at < len(r.batches) && hasRecord(r.batches[at].bytes, m) {
		return &r.batches[at]
	}
	return nil
}

// hasRecord says whether a batch has a record at its offset.
func hasRecord(batch []byte, m *Promise) bool {
	b, err := record.Parse(batch)
	if err != nil || m.Offset < b.BaseOffset || m.Offset > b.LastOffset() {
		return false
	}
	for scan := b.Scan(); scan.Next(); {
		if found := scan.Record(); found.Offset == m.Offset {
			return equal(found.Key, m.Key) && equal(found.Value, m.Value)
		}
	}
	return false
}
