package assignor

import (
	"cmp"
	"math"
	"slices"
)

// generalRule is the sticky rule for members whose subscriptions differ.
//
// Source: class AbstractStickyAssignor.GeneralAssignmentBuilder.
type generalRule struct {
	group *stickyGroup
	owner []int32 // by partition
	size  []int32 // by member: how many partitions it has
	// previous is by partition the member of an older generation that claimed it last, or nobody.
	previous []int32
	topics   []int32 // those with fewest subscribers first, then by name
	fewest   fewestFirst
	moved    movements
	// outOfTopic says that a member owned a partition of a topic that it no longer subscribes to.
	outOfTopic bool

	watched *sticking // what happens to one partition is noted here
}

// assignGeneral returns the owner of each partition. It keeps what may be kept, gives the rest to those who
// have fewest, and then moves partitions as long as a pair of members becomes more even by it. What Kafka
// checks before each move, whether all is balanced, is left out: then nothing would move anyway.
func (g *stickyGroup) assignGeneral(held holdings, watched *sticking) []int32 {
	r := generalRule{
		group: g, owner: make([]int32, len(g.topicOf)), size: make([]int32, len(g.members)), watched: watched,
		previous: g.previousOwners(), topics: make([]int32, len(g.topics)), moved: newMovements(g),
	}
	for i := range r.topics {
		r.topics[i] = int32(i)
	}
	slices.SortStableFunc(r.topics, func(a, b int32) int {
		return cmp.Compare(len(g.topics[a].subscribers), len(g.topics[b].subscribers))
	})
	r.fewest = newFewestFirst(r.size)
	r.keep(held)
	initial := slices.Max(r.size) == 0
	unassigned := r.assignRest()

	movable := r.movableMembers()
	ownerBefore, scoreBefore := slices.Clone(r.owner), balanceScore(r.size, movable)
	if !r.outOfTopic {
		r.move(unassigned)
	}
	if r.move(nil) && !initial && balanceScore(r.size, movable) >= scoreBefore {
		r.owner = ownerBefore
		r.watched.revert()
	}
	return r.owner
}

// previousOwners returns by partition the member with an older generation than the newest that claimed it
// in the latest generation of those, and of several the first that Kafka meets.
//
// Simplified: a member that owned a partition in an older generation and no longer subscribes to its topic
// never gets it back. Kafka may move it there, whereupon the member's client refuses the assignment and
// joins again, or fail.
func (g *stickyGroup) previousOwners() []int32 {
	previous := make([]int32, len(g.topicOf))
	for p := range previous {
		previous[p] = nobody
	}
	newest := slices.Max(g.generations)
	for _, member := range g.order {
		if g.generations[member] >= newest {
			continue
		}
		for _, p := range g.claims[member] {
			before := previous[p]
			if g.subscribes(member, p) && (before == nobody || g.generations[member] > g.generations[before]) {
				previous[p] = member
			}
		}
	}
	return previous
}

// keep leaves each partition with the member whose claim counts, if that still subscribes to its topic.
func (r *generalRule) keep(held holdings) {
	for p, holder := range held.holder {
		r.owner[p] = nobody
		switch {
		case holder == nobody:
		case r.group.subscribes(holder, int32(p)):
			r.owner[p] = holder
			r.size[holder]++
		default:
			r.outOfTopic = true
		}
	}
}

// assignRest gives each partition without owner to the subscriber of its topic that has fewest, of several
// to the one with the lowest id. It returns which partitions those were.
func (r *generalRule) assignRest() []bool {
	unassigned := make([]bool, len(r.owner))
	for _, t := range r.topics {
		topic := r.group.topics[t]
		ready := false
		for p := topic.first; p < topic.first+topic.count; p++ {
			if r.owner[p] != nobody {
				continue
			}
			if !ready {
				r.fewest.reset(topic.subscribers)
				ready = true
			}
			member := r.fewest.first()
			r.watched.deal(p, dealtFewest, r.size[member])
			unassigned[p], r.owner[p] = true, member
			r.size[member]++
			r.fewest.changed(member)
		}
	}
	return unassigned
}

// movableMembers tells for each member whether it could gain or lose a partition: it lacks one of a topic
// that it subscribes to, or has one of a topic that others subscribe to as well.
func (r *generalRule) movableMembers() []bool {
	most := make([]int32, len(r.size))
	movable := make([]bool, len(r.size))
	for _, topic := range r.group.topics {
		for _, member := range topic.subscribers {
			most[member] += topic.count
		}
	}
	for p, member := range r.owner {
		if len(r.group.topics[r.group.topicOf[p]].subscribers) >= 2 {
			movable[member] = true
		}
	}
	for member, size := range r.size {
		movable[member] = movable[member] || size < most[member]
	}
	return movable
}

// move goes through the partitions, or only through some, again and again until none moves. It tells
// whether one did. A partition moves to its previous owner, or else to the subscriber with fewest, if that
// has at least two less than its owner.
func (r *generalRule) move(only []bool) bool {
	moved := false
	// Every pass but the last moves something. It has not been proved that Kafka's rule always ends, so
	// the passes are limited; of some 40,000 random groups none took more than five.
	for range len(r.owner) + 2 {
		again := false
		for _, t := range r.topics {
			if len(r.group.topics[t].subscribers) >= 2 && r.moveTopic(t, only) {
				again = true
			}
		}
		if !again {
			break
		}
		moved = true
	}
	return moved
}

// moveTopic is one pass through the partitions of one topic. Every member whose size it changes subscribes
// to the topic.
func (r *generalRule) moveTopic(t int32, only []bool) bool {
	topic := r.group.topics[t]
	least := int32(math.MaxInt32)
	for _, member := range topic.subscribers {
		least = min(least, r.size[member])
	}
	ready := false // whether fewest holds the subscribers
	for p := topic.first; p < topic.first+topic.count; p++ {
		if only != nil && !only[p] {
			continue
		}
		from, to := r.owner[p], r.previous[p]
		back := to != nobody && r.size[from] > r.size[to]+1
		if !back && r.size[from] <= least+1 {
			continue
		}
		if !ready {
			r.fewest.reset(topic.subscribers)
			ready = true
		}
		if !back {
			to = r.fewest.first()
		}
		actual := r.moved.inPlaceOf(p, from, to)
		from = r.owner[actual]
		r.watched.move(actual, p, from, to, r.size)
		r.moved.note(actual, from, to)
		r.owner[actual] = to
		r.size[from]--
		r.size[to]++
		r.fewest.changed(from)
		r.fewest.changed(to)
		least = r.size[r.fewest.first()]
	}
	return ready
}

// balanceScore adds up by how much each pair of members differs; 0 is perfect. Members that cannot take
// part are left out. It wraps round at 32 bits, as Kafka's does.
func balanceScore(size []int32, movable []bool) int32 {
	sizes := make([]int32, 0, len(size))
	for member, n := range size {
		if movable[member] {
			sizes = append(sizes, n)
		}
	}
	slices.Sort(sizes)
	score, sum := int64(0), int64(0)
	for i, n := range sizes {
		score += int64(n)*int64(i) - sum
		sum += int64(n)
	}
	return int32(score)
}
