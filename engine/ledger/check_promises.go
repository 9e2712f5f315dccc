package ledger

import (
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/replication"
)

// promise is a record that must survive.
type promise struct {
	Promise
	epoch   kafka.LeaderEpoch // of the leader that wrote it; kafka.NoLeaderEpoch: nobody had it any more when the answer came
	excused bool              // the run took every copy that counted, or elected a leader without one
}

// checkPromises looks for the acknowledged records: at the leader, or while none runs at the replicas that may lead
// without an unclean election. A record is excused for good if an unclean election began a later epoch than that
// of the leader which wrote it, which may be one that did not know yet; or once no in-sync or eligible replica has it any
// more and each of them has lost data since.
func (k *Checker) checkPromises(o *Observation) {
	for _, m := range o.Promises {
		if m.Offset >= 0 {
			p := k.of(m.TopicPartition)
			p.promises = append(p.promises, promise{Promise: m, epoch: p.epochOf(&m)})
		}
	}
	for _, tp := range k.inOrder() {
		p := k.partitions[tp]
		candidates := slices.Concat(p.state.ISR, p.state.ELR)
		if leads(o, p) {
			candidates = []kafka.BrokerID{p.state.Leader}
		}
		if len(candidates) == 0 || slices.ContainsFunc(candidates, func(id kafka.BrokerID) bool { return k.holdsAll(p, id) }) {
			continue
		}
		for i := range p.promises {
			if m := &p.promises[i]; !m.excused && !slices.ContainsFunc(candidates, func(id kafka.BrokerID) bool { return p.replicas[id].holding(&m.Promise) != nil }) {
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
	m.excused = true // said once
	if p.isUnclean && m.epoch < p.unclean {
		return
	}
	lost := func(id kafka.BrokerID) bool { return k.brokers[id].hasLost && k.brokers[id].lost >= m.Tick }
	inSync := slices.Concat(p.state.ISR, p.state.ELR)
	if !slices.ContainsFunc(inSync, func(id kafka.BrokerID) bool { return p.replicas[id].holding(&m.Promise) != nil || !lost(id) }) {
		return
	}
	k.violated(AcknowledgedSurvive, p.tp, "record %d (key %q, value %.40q) was acknowledged at offset %d with acks=all; of the replicas %d, in sync %d, eligible %d, leader %d, none of %d has it",
		m.Record, m.Key, m.Value, m.Offset, p.state.Replicas, p.state.ISR, p.state.ELR, p.state.Leader, candidates)
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
		return len(p.promises) == 0
	}
	for r.held < len(p.promises) && (p.promises[r.held].excused || r.holding(&p.promises[r.held].Promise) != nil) {
		r.held++
	}
	return r.held == len(p.promises)
}

// holding gives the batch of a replica in which a record stands where it was acknowledged, nil for none.
func (r *replicaSeen) holding(m *Promise) *batchSeen {
	if r == nil {
		return nil
	}
	at := r.find(m.Offset)
	if at == len(r.batches) || r.batches[at].base > m.Offset {
		return nil
	}
	b, err := record.Parse(r.batches[at].bytes)
	if err != nil {
		return nil
	}
	for scan := b.Scan(); scan.Next(); {
		if found := scan.Record(); found.Offset == m.Offset {
			if equal(found.Key, m.Key) && equal(found.Value, m.Value) {
				return &r.batches[at]
			}
			return nil
		}
	}
	return nil
}
