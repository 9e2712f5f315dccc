package assignor

import (
	"cmp"
	"slices"
)

// assignUniform leaves with each member what its target has as far as that is fair.
//
// Source: classes UniformAssignor, UniformHomogeneousAssignmentBuilder and UniformHeterogeneousAssignmentBuilder.
//
// Simplified: uniform walks topics by name. Kafka walks them by the hash of the topic id, or, of topics with as
// many partitions per subscriber and as many subscribers, by the topic id, which is random: so what is dealt or
// taken first may be of another topic.
func assignUniform(l layout) ([][]TopicPartitions, []TopicPartitions) {
	return planUniform(l, nil).parts()
}

// planUniform runs the rule. What it does with the watched partition is noted there; watched may be nil.
func planUniform(l layout, watched *sticking) stickyPlan {
	g := newStickyGroup(l, false)
	g.order = g.brokerOrder()
	plan := stickyPlan{group: g, equal: g.equalSubscriptions()}
	if len(g.topicOf) == 0 {
		return plan
	}
	plan.held.holder = g.targets()
	if plan.equal {
		plan.owner = g.assignUniformEqual(plan.held.holder, watched)
	} else {
		plan.owner = g.assignUniformGeneral(plan.held.holder, watched)
	}
	return plan
}

// targets returns by partition the member whose target has it and that subscribes to its topic, or nobody.
func (g *stickyGroup) targets() []int32 {
	holder := make([]int32, len(g.topicOf))
	for p := range holder {
		holder[p] = nobody
	}
	for member, claims := range g.claims {
		topic, subscribes := int32(-1), false
		for _, p := range claims {
			if g.topicOf[p] != topic {
				topic, subscribes = g.topicOf[p], g.subscribes(int32(member), p)
			}
			if subscribes && holder[p] == nobody {
				holder[p] = int32(member)
			}
		}
	}
	return holder
}

// brokerOrder returns the members in the order in which uniform walks them. For each assignment the coordinator
// puts them into a new hash table, in the order in which its own table of members has them, one that just joins
// last. The new table's order is that of the walk; the own one's decides between members of one bucket.
//
//	own table: hash of the id times 0x9e3779b97f4a7c15, the upper bits = its slot, of 2 or more
//
// The walk matters: with equal subscriptions the last members get one partition more, with different ones the
// first of several with fewest partitions is served first.
//
// Source: classes TargetAssignmentBuilder, method build, and org.apache.kafka.timeline.BaseHashTable.
//
// Simplified: members that uniform finds in one bucket, and that the coordinator's own table has in one slot too,
// are taken as if that table had more slots. In Kafka the one that joined last comes first.
//
// Simplified: the table that uniform walks has room for the members of the group. While a static member replaces
// another, Kafka's may have held both for a moment, and so have twice as many buckets.
func (g *stickyGroup) brokerOrder() []int32 {
	type slot struct {
		joining bool
		product uint64
		hash    uint32
		member  int32
	}
	slots := make([]slot, len(g.members))
	for i, member := range g.members {
		hash := hashOfString(string(member.ID))
		slots[i] = slot{member.Joining, uint64(int32(hash)) * 0x9e3779b97f4a7c15, hash, int32(i)}
	}
	slices.SortFunc(slots, func(a, b slot) int {
		if a.joining != b.joining {
			if b.joining {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.product, b.product), cmp.Compare(a.member, b.member))
	})
	var table hashTable[int32]
	for _, s := range slots {
		table.insert(s.hash, s.member)
	}
	return table.values()
}
