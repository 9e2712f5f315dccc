package assignor

import (
	"cmp"
	"slices"

	"loglab/engine/kafka"
)

// nobody stands for a member where there is none.
const nobody int32 = -1

// stickyGroup is a layout in numbers, which the rules of the sticky assignors and of uniform work on. Members are numbered
// by their ids, static or not; partitions over all topics in order.
type stickyGroup struct {
	members []Member
	topics  []stickyTopic
	topicOf []int32 // by partition: its topic
	// claims are by member the partitions that it says it owns, rising. Those that do not exist, or whose
	// topic nobody subscribes to, are left out.
	claims [][]int32
	// generations are by member those in which it owned them. rivals are what Kafka compares them with: the
	// generation in the subscription of a member that claimed the same partition before.
	generations, rivals []kafka.GenerationID
	order               []int32 // the members in the order in which Kafka meets them
	number              []int32 // by index in the layout: the member
}

type stickyTopic struct {
	name        string
	hash        uint32
	first       int32 // its partition 0
	count       int32
	subscribers []int32 // rising
}

// newStickyGroup numbers members and partitions and reads the claims.
//
// Kafka walks the members in the order of a hash table of their ids. It matters: of the members that own
// more than they may keep, the first ones keep one more.
//
// Simplified: members whose ids fall into one bucket of Kafka's hash table of ids are taken in the order of
// their ids. In Kafka it is the order in which the coordinator named them to the leader.
//
// Simplified: an owned partition that its topic does not have is left out. Kafka's sticky assignors leave it
// with its owner as if it were there, or fail.
func newStickyGroup(l layout, cooperative bool) *stickyGroup {
	m := len(l.members)
	byID := make([]int32, m)
	for i := range byID {
		byID[i] = int32(i)
	}
	slices.SortFunc(byID, func(a, b int32) int { return cmp.Compare(l.members[a].ID, l.members[b].ID) })
	g := &stickyGroup{
		members: make([]Member, m), number: make([]int32, m), claims: make([][]int32, m),
		generations: make([]kafka.GenerationID, m), rivals: make([]kafka.GenerationID, m),
	}
	var table hashTable[int32]
	for number, i := range byID {
		g.members[number], g.number[i] = l.members[i], int32(number)
		table.insert(hashOfString(string(l.members[i].ID)), int32(number))
	}
	g.order = table.values()
	g.readTopics(l)

	topicIndex := make(map[string]int, len(g.topics))
	for i, topic := range g.topics {
		topicIndex[topic.name] = i
	}
	for i, member := range g.members {
		g.generations[i], g.rivals[i] = member.generations(cooperative)
		g.claims[i] = g.readClaims(member, topicIndex)
	}
	return g
}

func (g *stickyGroup) readTopics(l layout) {
	total, subscriptions := 0, 0
	for _, topic := range l.topics {
		total += topic.partitionCount
		subscriptions += len(topic.subscribers)
	}
	g.topics = make([]stickyTopic, len(l.topics))
	g.topicOf = make([]int32, 0, total)
	all := make([]int32, 0, subscriptions)
	for i, topic := range l.topics {
		start := len(all)
		for _, memberIndex := range topic.subscribers {
			all = append(all, g.number[memberIndex])
		}
		subscribers := all[start:len(all):len(all)]
		slices.Sort(subscribers)
		g.topics[i] = stickyTopic{
			name: topic.name, hash: hashOfString(topic.name), first: int32(len(g.topicOf)),
			count: int32(topic.partitionCount), subscribers: subscribers,
		}
		for range topic.partitionCount {
			g.topicOf = append(g.topicOf, int32(i))
		}
	}
}

func (g *stickyGroup) readClaims(member Member, topicIndex map[string]int) []int32 {
	count := 0
	for _, owned := range member.Owned {
		count += len(owned.Partitions)
	}
	claims := make([]int32, 0, count)
	for _, owned := range member.Owned {
		i, exists := topicIndex[owned.Topic]
		if !exists {
			continue
		}
		topic := g.topics[i]
		for _, partition := range owned.Partitions {
			if partition >= 0 && int32(partition) < topic.count {
				claims = append(claims, topic.first+int32(partition))
			}
		}
	}
	slices.Sort(claims)
	return slices.Compact(claims)
}

// generations returns the generation that a member's claims are of, and the one that later claims are
// compared with: the one in its subscription. The eager assignor reads the first from the member's user
// data, the cooperative one from there only if the subscription has none.
//
// Source: classes StickyAssignor and CooperativeStickyAssignor, methods memberData; AbstractStickyAssignor,
// method allSubscriptionsEqual.
func (m Member) generations(cooperative bool) (claimed, rival kafka.GenerationID) {
	claimed, rival = max(m.Generation, -1), m.SubscriptionGeneration
	if rival == 0 {
		rival = claimed
	}
	rival = max(rival, -1)
	if cooperative && rival >= 0 {
		claimed = rival
	}
	return claimed, rival
}

// partition returns the number of a partition inside its topic.
func (g *stickyGroup) partition(p int32) int32 {
	return p - g.topics[g.topicOf[p]].first
}

// tp names a partition.
func (g *stickyGroup) tp(p int32) kafka.TopicPartition {
	topic := g.topics[g.topicOf[p]]
	return kafka.TopicPartition{Topic: topic.name, Partition: kafka.Partition(p - topic.first)}
}

// subscribes tells whether a member subscribes to a partition's topic.
func (g *stickyGroup) subscribes(member, p int32) bool {
	_, found := slices.BinarySearch(g.topics[g.topicOf[p]].subscribers, member)
	return found
}

// claimedBy tells whether a member says that it owns a partition.
func (g *stickyGroup) claimedBy(p, member int32) bool {
	_, found := slices.BinarySearch(g.claims[member], p)
	return found
}

// claimants returns the members that say they own a partition.
func (g *stickyGroup) claimants(p int32) []int32 {
	var all []int32
	for i := range g.members {
		if g.claimedBy(p, int32(i)) {
			all = append(all, int32(i))
		}
	}
	return all
}

// equalSubscriptions tells whether all members subscribe to the same topics, existing or not.
//
// Simplified: a member that subscribes to nothing makes subscriptions unequal and gets nothing. Kafka's
// sticky assignors overlook that if they meet it before any other, and give it partitions, whereupon its
// client refuses the assignment and joins again.
func (g *stickyGroup) equalSubscriptions() bool {
	if len(g.members) == 0 {
		return true
	}
	first := g.members[0].Topics
	var seen map[string]int // topic of the first member: the last member that names it, from 1
	for i, member := range g.members {
		if i == 0 || slices.Equal(member.Topics, first) {
			continue
		}
		if seen == nil {
			seen = make(map[string]int, len(first))
			for _, name := range first {
				seen[name] = 1
			}
		}
		distinct := 0
		for _, name := range member.Topics {
			last, known := seen[name]
			if !known {
				return false
			}
			if last != i+1 {
				seen[name] = i + 1
				distinct++
			}
		}
		if distinct != len(seen) {
			return false
		}
	}
	return true
}

// holdings say who keeps a claim when several members may have one on the same partition.
type holdings struct {
	holder []int32 // by partition: the member whose claim counts, or nobody
	// doubled tells by partition whether two members claimed it in the same generation. Where all
	// subscriptions are equal, nobody keeps such a one, not even a third of a higher generation that Kafka
	// met after both.
	doubled []bool
}

// settleClaims lets the claim of the higher generation win; of one generation, none.
//
// Source: class AbstractStickyAssignor, method allSubscriptionsEqual.
func (g *stickyGroup) settleClaims() holdings {
	h := holdings{holder: make([]int32, len(g.topicOf)), doubled: make([]bool, len(g.topicOf))}
	last := make([]int32, len(g.topicOf)) // who claimed it so far, also if in vain
	for p := range h.holder {
		h.holder[p], last[p] = nobody, nobody
	}
	for _, member := range g.order {
		for _, p := range g.claims[member] {
			other := last[p]
			switch {
			case other == nobody || g.generations[member] > g.rivals[other]:
				h.holder[p], last[p] = member, member
			case g.generations[member] == g.rivals[other]:
				h.holder[p], last[p] = nobody, member
				h.doubled[p] = true
			}
		}
	}
	return h
}
