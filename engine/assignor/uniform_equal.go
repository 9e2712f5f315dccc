package assignor

// uniformEqualRule is the broker's uniform rule for members that all subscribe to the same topics. With n
// partitions and m members each gets n / m, and n modulo m of them one more: first those that have more already,
// in the order in which the broker walks the members, and as many of the last as are missing then.
//
// Source: class UniformHomogeneousAssignmentBuilder.
type uniformEqualRule struct {
	group *stickyGroup
	held  []int32 // by partition: the member whose target has it, or nobody
	owner []int32 // by partition

	quota      int32     // n / m
	extra      int32     // so many members must still get one more
	unassigned []int32   // partitions in the order in which they are dealt: what nobody had, then what is taken
	lacking    []lacking // members below what they get, in the order of the walk

	watched *sticking // what happens to one partition is noted here
}

// lacking is a member that gets so many partitions more.
type lacking struct {
	member, count int32
}

// assignUniformEqual returns the owner of each partition.
func (g *stickyGroup) assignUniformEqual(held []int32, watched *sticking) []int32 {
	r := uniformEqualRule{group: g, held: held, owner: make([]int32, len(held)), watched: watched}
	r.quota, r.extra = quotaOf(len(held), len(g.members))
	for p, member := range held {
		if member == nobody {
			r.unassigned = append(r.unassigned, int32(p))
		}
	}
	for i, member := range g.order {
		r.keep(member, int32(len(g.order)-i))
	}
	r.deal()
	return r.owner
}

// keep leaves a member what its target has, topic by topic, up to the quota, or one above it as long as members
// may have that. It is one of so many members, counted from the end of the walk.
func (r *uniformEqualRule) keep(member, fromEnd int32) {
	room, mayHaveExtra := r.quota, r.extra > 0
	if mayHaveExtra {
		room++
	}
	for rest := r.target(member); len(rest) > 0; {
		n := r.group.sameTopic(rest)
		topic := rest[:n]
		rest = rest[n:]
		if n > int(room) {
			topic = r.group.hashSetOrder(topic)
		}
		for _, p := range topic {
			if room == 0 {
				r.unassigned = append(r.unassigned, p)
				continue
			}
			r.owner[p] = member
			room--
		}
	}
	if room > 0 && mayHaveExtra && fromEnd > r.extra {
		room, mayHaveExtra = room-1, false // it leaves the one more to others
	}
	if room > 0 {
		r.lacking = append(r.lacking, lacking{member, room})
	}
	if mayHaveExtra {
		r.extra--
	}
}

// target returns the partitions that a member's target has, rising.
func (r *uniformEqualRule) target(member int32) []int32 {
	claims := r.group.claims[member]
	owned := make([]int32, 0, len(claims))
	for _, p := range claims {
		if r.held[p] == member {
			owned = append(owned, p)
		}
	}
	return owned
}

// deal fills one member after the other. There are as many partitions left as these lack together.
func (r *uniformEqualRule) deal() {
	next := 0
	for _, l := range r.lacking {
		for range l.count {
			p := r.unassigned[next]
			r.watched.deal(p, dealtLacking, l.count)
			r.owner[p] = l.member
			next++
		}
	}
}

// sameTopic returns how many partitions at the start of a rising list are of one topic.
func (g *stickyGroup) sameTopic(partitions []int32) int {
	topic := g.topics[g.topicOf[partitions[0]]]
	n := 1
	for n < len(partitions) && partitions[n] < topic.first+topic.count {
		n++
	}
	return n
}

// hashSetOrder returns rising partitions of one topic in the order in which Kafka walks that topic of a target,
// a hash set of their numbers: with 16 buckets 17 comes before 2.
//
// Source: class org.apache.kafka.coordinator.group.modern.Assignment, method fromRecord.
//
// Simplified: partitions of a topic whose numbers fall into one bucket of a target's hash set are taken in the
// order of their numbers. In Kafka it depends on how the member came by them over earlier assignments.
func (g *stickyGroup) hashSetOrder(partitions []int32) []int32 {
	last := g.partition(partitions[len(partitions)-1])
	if last < 1<<16 && int(last) < bucketsFor(len(partitions)) {
		return partitions // each in a bucket of its own
	}
	set := newHashTable[int32](len(partitions))
	for _, p := range partitions {
		set.insert(uint32(g.partition(p)), p)
	}
	return set.values()
}
