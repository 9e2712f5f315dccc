package rebalance

import (
	"fmt"
	"slices"

	"loglab/engine/assignor"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// division is an assignment with what it was worked out from.
type division struct {
	rule     assignor.Assignor
	group    assignor.Group
	assigned assignor.Assignment
	holders  map[kafka.MemberID]int
}

// divisionOf works the assignment of a round out once more from what the members told the leader; ok is false if there is
// none, or if it does not come out as it did.
func (l *layout) divisionOf(r *round) (d division, ok bool) {
	if r == nil || r.computed == nil {
		return d, false
	}
	rule, err := assignor.ByName(r.computed.Assignor)
	if err != nil {
		return d, false
	}
	d = division{rule: rule, holders: l.history.holders}
	for _, name := range l.topics() {
		if n := l.countAt(name, r); n > 0 {
			d.group.Topics = append(d.group.Topics, assignor.Topic{Name: name, PartitionCount: int32(n)})
		}
	}
	for _, share := range r.computed.Shares {
		i, known := d.holders[share.Member]
		if !known {
			return d, false
		}
		m := assignor.Member{ID: share.Member, Topics: subscriptionOf(l.Address.Values, i), Generation: -1, InstanceID: instanceFor(l.Address.Values, i)}
		if c, told := r.joins[share.Member]; told {
			m.Owned, m.Generation = byTopic(c.owned), c.generation
			if rule.Name == "sticky" {
				m.Owned, m.Generation, m.SubscriptionGeneration = byTopic(c.kept), c.keptIn, c.generation
			}
		}
		d.group.Members = append(d.group.Members, m)
	}
	if d.group.Check() != nil {
		return d, false
	}
	d.assigned = rule.Assign(d.group)
	return d, sameShares(d.assigned, r.computed)
}

// countAt is how many partitions of a topic the leader knew of: those that it gave out or held back.
func (l *layout) countAt(topic string, r *round) (n int) {
	count := func(list []kafka.TopicPartition) {
		for _, tp := range list {
			if tp.Topic == topic {
				n++
			}
		}
	}
	for _, share := range r.computed.Shares {
		count(share.Partitions)
	}
	count(r.computed.Withheld)
	return n
}

// sameShares says whether an assignment is that of the journal.
func sameShares(a assignor.Assignment, b *journal.AssignmentComputed) bool {
	if len(a.Members) != len(b.Shares) {
		return false
	}
	for _, m := range a.Members {
		at := slices.IndexFunc(b.Shares, func(s journal.MemberShare) bool { return s.Member == m.Member })
		if at < 0 {
			return false
		}
		var list []kafka.TopicPartition
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				list = append(list, kafka.TopicPartition{Topic: t.Topic, Partition: p})
			}
		}
		had := slices.Clone(b.Shares[at].Partitions)
		slices.SortFunc(list, comparePartitions)
		slices.SortFunc(had, comparePartitions)
		if !slices.Equal(list, had) {
			return false
		}
	}
	return true
}

// why gives the rule by which a partition has its owner.
func (l *layout) why(d division, r *round, tp kafka.TopicPartition) string {
	if n := l.countAt(tp.Topic, r); n > 0 && int(tp.Partition) >= n {
		return fmt.Sprintf("the division is of %d partitions of %s: those that were known then", n, tp.Topic)
	}
	return l.named(d.rule.Why(d.group, d.assigned, tp))
}

// lastRound gives the last round of the run in which an assignment was worked out; nil: there is none.
func (h *history) lastRound() *round {
	for i := len(h.changes) - 1; i >= 0; i-- {
		rounds := h.changes[i].rounds
		for j := len(rounds) - 1; j >= 0; j-- {
			if rounds[j].computed != nil {
				return &rounds[j]
			}
		}
	}
	return nil
}
