package assignor

import "fmt"

// whyUniform runs the rule again and tells what it does with one partition.
func whyUniform(l layout, at place) string {
	watched := sticking{partition: l.partitionNumber(at)}
	return explanation{stickyPlan: planUniform(l, &watched), p: watched.partition, sticking: watched}.uniformOwner() + "."
}

// uniformOwner tells why the partition has its owner, without the full stop.
func (e explanation) uniformOwner() string {
	g, owner, holder := e.group, e.stickyPlan.owner[e.p], e.held.holder[e.p]
	tp, name := g.tp(e.p), g.members[owner].ID
	switch {
	case holder == owner:
		return fmt.Sprintf("%s stays with %s, whose target had it%s", tp, name, e.uniformKept(holder))
	case holder != nobody && e.equal:
		return fmt.Sprintf("%s moves from %s to %s%s", tp, g.members[holder].ID, name, e.uniformKept(holder))
	case holder != nobody:
		return fmt.Sprintf("%s moves from %s to %s %s", tp, g.members[holder].ID, name, e.balance())
	}
	if had := g.claimants(e.p); len(had) > 0 {
		return fmt.Sprintf("The target of %s had %s, whose topic it no longer subscribes to; %s", g.names(had[:1]), tp, e.uniformDealt())
	}
	return fmt.Sprintf("No target had %s; %s", tp, e.uniformDealt())
}

// uniformKept tells how many partitions of its target a member keeps, if it keeps less than all.
func (e explanation) uniformKept(holder int32) string {
	had, kept := 0, 0
	for p, member := range e.held.holder {
		if member != holder {
			continue
		}
		had++
		if e.stickyPlan.owner[p] == holder {
			kept++
		}
	}
	if !e.equal || had == kept {
		return ""
	}
	return fmt.Sprintf(": %s keeps %d of %d; %s", e.group.members[holder].ID, kept, had, e.division())
}

// uniformDealt tells why a partition that nobody keeps has gone to its owner.
func (e explanation) uniformDealt() string {
	if e.how != dealtLacking {
		return e.dealt()
	}
	owner, size := e.stickyPlan.owner[e.p], 0
	for _, member := range e.stickyPlan.owner {
		if member == owner {
			size++
		}
	}
	name := e.group.members[owner].ID
	text := fmt.Sprintf("it goes to %s, whose turn in the broker’s order it was and which lacked %d of its %d: %s", name, e.had, size, e.division())
	if quota, extra := quotaOf(len(e.group.topicOf), len(e.group.members)); size > int(quota) && extra > 0 {
		return fmt.Sprintf("%s; as one of the last in that order %s gets one more", text, name)
	}
	return text
}
