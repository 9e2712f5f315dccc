package sandbox

import (
	"slices"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
)

// replaced is what became, in each group, of a record that stands where another stood that was cut off. Groups count by
// offset, and so the records of both together.
type replaced struct {
	fates   []engine.RecordFate // by group; of this record alone
	readers []kafka.NodeID      // whose poll has returned it
}

// fateOf is what became of a record in a group.
func (l *layout) fateOf(g *engine.GroupView, p *part, rec labs.StoredRecord) engine.RecordFate {
	if i := p.indexOf(rec.Offset) - p.second; i >= 0 && i < len(p.replaced) {
		return p.replaced[i].fates[l.groupIndex(g.ID)]
	}
	return fatesOf(g, p.TopicPartition).At(rec.Offset)
}

// groupIndex gives the place of a group; -1: there is none of that name.
func (l *layout) groupIndex(id string) int {
	return slices.IndexFunc(l.View.Groups, func(g engine.GroupView) bool { return g.ID == id })
}

// groupOf gives the place of the group of a member; -1: the node is no member.
func (l *layout) groupOf(node kafka.NodeID) int {
	return slices.IndexFunc(l.View.Groups, func(g engine.GroupView) bool {
		return slices.ContainsFunc(g.Members, func(m engine.MemberView) bool { return kafka.NodeID(m.ID) == node })
	})
}

// findReplaced follows the records through the journal whose offsets were written more than once.
func (l *layout) findReplaced() {
	ends := make([]kafka.Offset, len(l.parts))
	for e := range l.Cluster.Journal().All() {
		b, ok := e.Body.(journal.BatchAppended)
		if !ok {
			continue
		}
		if p := l.partOf(b.TopicPartition); p != nil {
			end := &ends[p.Partition]
			if b.BaseOffset < *end {
				p.second = min(p.second, p.indexOf(b.BaseOffset))
			}
			*end = max(*end, b.LastOffset+1)
		}
	}
	found := false
	for i := range l.parts {
		p := &l.parts[i]
		for range p.all[p.second:] {
			p.replaced = append(p.replaced, replaced{fates: make([]engine.RecordFate, len(l.View.Groups))})
			found = true
		}
	}
	if !found {
		return
	}
	epochs := labs.Epochs{}
	for e := range l.Cluster.Journal().All() {
		epochs.Take(e)
		switch b := e.Body.(type) {
		case journal.BatchAppended:
			if p := l.partOf(b.TopicPartition); p != nil {
				p.born(b, epochs.Of(e.Node, b.TopicPartition))
			}
		case journal.RecordsRead:
			if p, g := l.partOf(b.TopicPartition), l.groupOf(e.Node); p != nil && g >= 0 {
				p.delivered(b, e.Node, g)
			}
		case journal.RecordProcessed:
			if p, g := l.partOf(b.TopicPartition), l.groupIndex(b.Group); p != nil && g >= 0 {
				p.processed(b.Offset, e.Node, g)
			}
		}
	}
}

// born notes that a leader has written a batch: what was counted at its offsets before was of other records.
func (p *part) born(b journal.BatchAppended, epoch kafka.LeaderEpoch) {
	for i := range p.replaced {
		if rec := p.all[p.second+i]; rec.LeaderEpoch == epoch && b.BaseOffset <= rec.Offset && rec.Offset <= b.LastOffset {
			p.replaced[i].readers = nil
			clear(p.replaced[i].fates)
		}
	}
}

// delivered notes that poll has returned records to a member.
func (p *part) delivered(b journal.RecordsRead, node kafka.NodeID, group int) {
	for i := range p.replaced {
		if o := p.all[p.second+i].Offset; b.Records > 0 && b.From <= o && o < b.To {
			p.replaced[i].readers = append(p.replaced[i].readers, node)
			p.replaced[i].fates[group].Delivered++
		}
	}
}

// processed notes that a member has processed a record, if that is the one it was given.
func (p *part) processed(o kafka.Offset, node kafka.NodeID, group int) {
	i, found := p.indexOf(o)-p.second, p.indexOf(o) < len(p.all) && p.all[p.indexOf(o)].Offset == o
	if found && i >= 0 && slices.Contains(p.replaced[i].readers, node) {
		p.replaced[i].fates[group].Processed++
	}
}
