package assignor

import (
	"cmp"
	"slices"
)

// uniformRounds is how often the rule goes through all topics for balance at most.
//
// Source: class UniformHeterogeneousAssignmentBuilder, constant MAX_ITERATION_COUNT.
const uniformRounds = 16

// uniformGeneralRule is the broker's uniform rule for members whose subscriptions differ. It keeps what may be
// kept, gives the rest to those who have fewest, and then evens out the subscribers of each topic in turn.
//
// Source: class UniformHeterogeneousAssignmentBuilder.
type uniformGeneralRule struct {
	group  *stickyGroup
	owner  []int32 // by partition
	size   []int32 // by member: how many partitions it has
	rank   []int32 // by member: where it stands in the order in which the broker walks them
	topics []int32 // those with most partitions per subscriber first, then fewest subscribers, then by name
	scale  scale

	// highest is by member its highest partition that may move of the topic that is being evened out, or
	// nobody; lower is by partition the next lower one of its owner.
	highest, lower []int32

	watched *sticking // what happens to one partition is noted here
}

// assignUniformGeneral returns the owner of each partition.
func (g *stickyGroup) assignUniformGeneral(held []int32, watched *sticking) []int32 {
	r := uniformGeneralRule{
		group: g, owner: slices.Clone(held), size: make([]int32, len(g.members)), rank: make([]int32, len(g.members)),
		topics: make([]int32, len(g.topics)), highest: make([]int32, len(g.members)), lower: make([]int32, len(held)),
		watched: watched,
	}
	for i, member := range g.order {
		r.rank[member] = int32(i)
	}
	for _, member := range held {
		if member != nobody {
			r.size[member]++
		}
	}
	for i := range r.topics {
		r.topics[i] = int32(i)
	}
	slices.SortStableFunc(r.topics, func(a, b int32) int { return compareLoad(g.topics[a], g.topics[b]) })
	r.scale = scale{size: r.size, order: g.order}
	r.assignRest()
	r.balance()
	return r.owner
}

// compareLoad puts the topic with more partitions per subscriber first, of equal ones that with fewer
// subscribers. The fractions are compared as floating-point numbers, as Kafka does.
func compareLoad(a, b stickyTopic) int {
	perSubscriber := func(topic stickyTopic) float64 { return float64(topic.count) / float64(len(topic.subscribers)) }
	return cmp.Or(cmp.Compare(perSubscriber(b), perSubscriber(a)), cmp.Compare(len(a.subscribers), len(b.subscribers)))
}

// assignRest gives each partition without owner to a subscriber of its topic that has fewest.
func (r *uniformGeneralRule) assignRest() {
	for _, t := range r.topics {
		topic := r.group.topics[t]
		ready := false
		for p := topic.first; p < topic.first+topic.count; p++ {
			if r.owner[p] != nobody {
				continue
			}
			if !ready {
				r.scale.weigh(topic.subscribers, r.rank)
				ready = true
			}
			member := r.scale.lightest()
			r.watched.deal(p, dealtFewest, r.size[member])
			r.owner[p] = member
			r.size[member]++
		}
	}
}

// balance evens out topic after topic until it has gone round without a move, at most uniformRounds times.
func (r *uniformGeneralRule) balance() {
	topics := slices.DeleteFunc(r.topics, func(t int32) bool { return len(r.group.topics[t].subscribers) < 2 })
	last := -1 // index of the topic after which a whole turn is to pass without a move
	for range uniformRounds {
		for i, t := range topics {
			if i == last {
				return
			}
			if r.even(r.group.topics[t]) || last < 0 {
				last = i
			}
		}
	}
}

// even moves partitions of one topic from the subscribers with most to those with fewest, from each its
// highest first, until they differ by one at most or nobody with more has one left of this topic. It tells
// whether one moved.
func (r *uniformGeneralRule) even(topic stickyTopic) bool {
	fewest, most := r.size[topic.subscribers[0]], r.size[topic.subscribers[0]]
	for _, member := range topic.subscribers {
		fewest, most = min(fewest, r.size[member]), max(most, r.size[member])
		r.highest[member] = nobody
	}
	if most-fewest <= 1 {
		return false
	}
	for p := topic.first; p < topic.first+topic.count; p++ {
		r.lower[p] = r.highest[r.owner[p]]
		r.highest[r.owner[p]] = p
	}
	r.scale.weigh(topic.subscribers, r.rank)
	for moved := false; ; moved = true {
		from := r.scale.heaviest()
		for from != nobody && r.highest[from] == nobody {
			r.scale.exclude()
			from = r.scale.heaviest()
		}
		if from == nobody {
			return moved
		}
		to := r.scale.lightest()
		if r.scale.isEven() {
			return moved
		}
		p := r.highest[from]
		r.highest[from] = r.lower[p]
		r.watched.move(p, p, from, to, r.size)
		r.owner[p] = to
		r.size[from]--
		r.size[to]++
	}
}

// scale holds the subscribers of a topic in the order of how many partitions they have, and says whose turn it
// is to get one and to lose one. The turn goes round a range of members at either end, which have equally many;
// after each round the range also takes in those that the members in it have come level with.
//
//	partitions          #
//	          [  ]    [##]
//	          [  ]####[##]
//	          [##]####[##]   # excluded members, which have most and cannot lose any, stand last
//	           low    high
//
// Source: class UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer.
type scale struct {
	size  []int32 // by member; the owner of the scale changes it
	order []int32 // members by rank

	members []int32 // those on the scale: fewest partitions first, of equal ones the lowest rank
	keys    []int64 // room for sorting: size, then rank

	// Members [0, lowEnd) are those that get. They had lowSize before this round, in which members[lowNext] is next.
	lowEnd, lowNext int
	lowSize         int32
	// Members [highStart, highEnd) are those that lose. They had highSize before this round, in which
	// members[highNext] is next, and then those before it.
	highStart, highEnd, highNext int
	highSize                     int32
}

// weigh puts members on the scale, at least one.
func (s *scale) weigh(members, rank []int32) {
	s.keys, s.members = s.keys[:0], s.members[:0]
	for _, member := range members {
		s.keys = append(s.keys, int64(s.size[member])<<32|int64(rank[member]))
	}
	slices.Sort(s.keys)
	for _, key := range s.keys {
		s.members = append(s.members, s.order[int32(key)])
	}
	n := len(s.members)
	s.lowEnd, s.lowNext, s.lowSize = 0, 0, s.size[s.members[0]]-1
	s.highStart, s.highEnd, s.highNext, s.highSize = n, n, n-1, s.size[s.members[n-1]]+1
}

// lightest returns the member whose turn it is to get a partition, and passes the turn on.
func (s *scale) lightest() int32 {
	if s.lowNext >= s.lowEnd {
		s.lowSize++
		for s.lowEnd < len(s.members) && s.size[s.members[s.lowEnd]] == s.lowSize {
			s.lowEnd++
		}
		s.lowNext = 0
	}
	member := s.members[s.lowNext]
	s.lowNext++
	return member
}

// heaviest returns the member whose turn it is to lose a partition, and passes the turn on; nobody if all are
// excluded.
func (s *scale) heaviest() int32 {
	if s.highNext < s.highStart {
		if s.highEnd <= s.highStart && s.highStart > 0 { // all in the range have been excluded
			s.highSize = s.size[s.members[s.highStart-1]]
		} else {
			s.highSize--
		}
		for s.highStart > 0 && s.size[s.members[s.highStart-1]] == s.highSize {
			s.highStart--
		}
		s.highNext = s.highEnd - 1
	}
	if s.highNext < 0 {
		return nobody
	}
	member := s.members[s.highNext]
	s.highNext--
	return member
}

// exclude takes the member that heaviest has just returned out of the range: it has nothing to lose.
func (s *scale) exclude() {
	s.highEnd--
	i := s.highNext + 1
	s.members[i], s.members[s.highEnd] = s.members[s.highEnd], s.members[i]
}

// isEven tells whether the two ranges differ by one partition at most.
func (s *scale) isEven() bool {
	return s.highSize-s.lowSize <= 1
}
