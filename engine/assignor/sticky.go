package assignor

import "slices"

// stickyPlan is what a sticky rule, or the broker's uniform one, decides for a group.
type stickyPlan struct {
	group *stickyGroup
	held  holdings
	equal bool    // whether all subscriptions are equal, and so which of the two rules decided
	owner []int32 // by partition, the withheld ones too
	// withheld tells by partition whether the owner does not get it in this round. Nil for the eager
	// assignor, which withholds nothing.
	withheld []bool
}

// assignSticky leaves with each member what it owned as far as that is fair.
//
// Source: class StickyAssignor.
//
// Simplified: sticky does not look at racks. Kafka's leaves with a member, and gives it first, partitions
// with a replica in its own rack, if client.rack is set and the racks of the replicas differ (KIP-881).
func assignSticky(l layout) ([][]TopicPartitions, []TopicPartitions) {
	return planSticky(l, false, nil).parts()
}

// assignCooperativeSticky does the same, but nobody gets a partition that another member still owns.
//
// Source: class CooperativeStickyAssignor.
func assignCooperativeSticky(l layout) ([][]TopicPartitions, []TopicPartitions) {
	return planSticky(l, true, nil).parts()
}

// planSticky runs the rule. What it does with the watched partition is noted there; watched may be nil.
//
// Simplified: every call begins anew. Kafka's assignor remembers, as long as its client leads the group,
// the newest generation that it has ever been told.
func planSticky(l layout, cooperative bool, watched *sticking) stickyPlan {
	g := newStickyGroup(l, cooperative)
	plan := stickyPlan{group: g, equal: g.equalSubscriptions()}
	if len(g.topicOf) == 0 {
		return plan
	}
	plan.held = g.settleClaims()
	if plan.equal {
		plan.owner = g.assignEqual(plan.held, watched)
	} else {
		plan.owner = g.assignGeneral(plan.held, watched)
	}
	if cooperative {
		plan.withhold()
	}
	return plan
}

// withhold finds the partitions that another member than their new owner must give up first. The two rules
// differ in what they take for that: where subscriptions are equal, a claim that counted and every double
// one; else any claim of a member that does not get the partition, unless its owner claims it too.
//
// Source: class AbstractStickyAssignor.ConstrainedAssignmentBuilder, method assignNewPartition; class
// CooperativeStickyAssignor, method computePartitionsTransferringOwnership.
func (plan *stickyPlan) withhold() {
	plan.withheld = make([]bool, len(plan.owner))
	if plan.equal {
		for p, owner := range plan.owner {
			holder := plan.held.holder[p]
			plan.withheld[p] = plan.held.doubled[p] || holder != nobody && holder != owner
		}
		return
	}
	for member, claims := range plan.group.claims {
		for _, p := range claims {
			owner := plan.owner[p]
			plan.withheld[p] = plan.withheld[p] || owner != int32(member) && !plan.group.claimedBy(p, owner)
		}
	}
}

// parts sorts the partitions by member, in the order of the layout, and lists the withheld ones.
func (plan stickyPlan) parts() ([][]TopicPartitions, []TopicPartitions) {
	g := plan.group
	counts := make([]int32, len(g.members))
	for p, owner := range plan.owner {
		if !plan.isWithheld(int32(p)) {
			counts[owner]++
		}
	}
	byNumber := make([]partList, len(g.members))
	for member, n := range counts {
		byNumber[member].numbers = slices.Grow(byNumber[member].numbers, int(n))
	}
	var withheld partList
	for i := range plan.owner {
		p := int32(i)
		list := &withheld
		if !plan.isWithheld(p) {
			list = &byNumber[plan.owner[p]]
		}
		list.add(g.tp(p))
	}
	parts := make([][]TopicPartitions, len(g.members))
	for i, number := range g.number {
		parts[i] = byNumber[number].topics
	}
	return parts, withheld.topics
}

func (plan stickyPlan) isWithheld(p int32) bool {
	return plan.withheld != nil && plan.withheld[p]
}
