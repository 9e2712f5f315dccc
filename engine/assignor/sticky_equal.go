package assignor

import (
	"cmp"
	"slices"
)

// equalRule is the sticky rule for members that all subscribe to the same topics. With n partitions and m
// members each gets n / m, and n modulo m of them one more.
//
// Source: class AbstractStickyAssignor.ConstrainedAssignmentBuilder.
type equalRule struct {
	group *stickyGroup
	held  holdings
	owner []int32 // by partition
	size  []int32 // by member: how many partitions it has so far

	quota   int32   // n / m
	extra   int32   // so many members may have one more
	over    int32   // so many have one more already
	under   []int32 // members below the quota, rising
	atQuota []int32 // members at the quota that may get one more, in the order of their turn

	watched *sticking // what happens to one partition is noted here
}

// assignEqual returns the owner of each partition.
func (g *stickyGroup) assignEqual(held holdings, watched *sticking) []int32 {
	r := equalRule{group: g, held: held, owner: make([]int32, len(g.topicOf)), size: make([]int32, len(g.members)), watched: watched}
	for p := range r.owner {
		r.owner[p] = nobody
	}
	r.quota, r.extra = quotaOf(len(g.topicOf), len(g.members))
	for _, member := range g.order {
		r.keep(member)
	}
	slices.Sort(r.under)
	slices.Sort(r.atQuota)
	r.deal()
	return r.owner
}

// quotaOf divides n partitions by m members, with the remainder.
func quotaOf(n, m int) (quota, extra int32) {
	return int32(n / m), int32(n % m)
}

// keep leaves a member the partitions that it owned: all if it may have more, else the lowest numbered.
func (r *equalRule) keep(member int32) {
	owned := make([]int32, 0, len(r.group.claims[member]))
	for _, p := range r.group.claims[member] {
		if r.held.holder[p] == member && !r.held.doubled[p] {
			owned = append(owned, p)
		}
	}
	n := int32(len(owned))
	switch {
	case n < r.quota:
		r.under = append(r.under, member)
	case n > r.quota && r.over < r.extra:
		n = r.quota + 1
		r.over++
		if r.over == r.extra {
			r.atQuota = r.atQuota[:0]
		}
	default:
		n = r.quota
		if r.over < r.extra {
			r.atQuota = append(r.atQuota, member)
		}
	}
	if n < int32(len(owned)) {
		// By partition first, then by topic; the claims are by topic first.
		slices.SortStableFunc(owned, func(a, b int32) int { return cmp.Compare(r.group.partition(a), r.group.partition(b)) })
	}
	for _, p := range owned[:n] {
		r.owner[p] = member
	}
	r.size[member] = n
}

// deal gives the partitions that are left, in order: one each to the members below the quota, round after
// round, then one more each to those that may have it. There are as many left as these miss together.
func (r *equalRule) deal() {
	next := int32(0)
	left := func() bool { // moves next to a partition without owner
		for next < int32(len(r.owner)) && r.owner[next] != nobody {
			next++
		}
		return next < int32(len(r.owner))
	}
	for len(r.under) > 0 {
		still := r.under[:0]
		for _, member := range r.under {
			left()
			r.give(next, member, dealtBelow)
			if r.size[member] < r.quota {
				still = append(still, member)
			} else {
				r.atQuota = append(r.atQuota, member)
			}
		}
		r.under = still
	}
	for ; left(); r.atQuota = r.atQuota[1:] {
		r.give(next, r.atQuota[0], dealtExtra)
	}
}

func (r *equalRule) give(p, member int32, how dealing) {
	r.watched.deal(p, how, r.size[member])
	r.owner[p] = member
	r.size[member]++
}
