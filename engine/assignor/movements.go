package assignor

// movements remember which partitions have moved between which members, so that two of one topic do not
// pass each other on the way.
//
// Source: class AbstractStickyAssignor.PartitionMovements.
type movements struct {
	group   *stickyGroup
	of      map[int32]movement // by partition; from where it was at first
	between map[movement]*hashTable[int32]
}

// movement is a topic and the members between which a partition of it moved.
type movement struct {
	topic, from, to int32
}

func newMovements(g *stickyGroup) movements {
	return movements{group: g, of: map[int32]movement{}, between: map[movement]*hashTable[int32]{}}
}

// inPlaceOf returns the partition that is to move when p should go from one member to another: another of
// the topic that has just come the opposite way, so that it goes back, or else p.
func (m movements) inPlaceOf(p, from, to int32) int32 {
	if before, moved := m.of[p]; moved {
		from = before.from
	}
	opposite := m.between[movement{m.group.topicOf[p], to, from}]
	if opposite == nil {
		return p
	}
	return opposite.first()
}

// note remembers that a partition moves. One that comes back to where it was has not moved.
func (m movements) note(p, from, to int32) {
	if before, moved := m.of[p]; moved {
		m.forget(p, before)
		if before.from == to {
			return
		}
		from = before.from
	}
	now := movement{m.group.topicOf[p], from, to}
	m.of[p] = now
	if m.between[now] == nil {
		m.between[now] = &hashTable[int32]{}
	}
	m.between[now].insert(m.hash(p), p)
}

func (m movements) forget(p int32, before movement) {
	delete(m.of, p)
	table := m.between[before]
	table.remove(m.hash(p), p)
	if table.size == 0 {
		delete(m.between, before)
	}
}

func (m movements) hash(p int32) uint32 {
	return hashOfPartition(m.group.topics[m.group.topicOf[p]].hash, m.group.partition(p))
}
