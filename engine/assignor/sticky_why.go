package assignor

import (
	"fmt"
	"slices"
	"strings"
)

// sticking notes what a sticky rule does with one partition. A nil one notes nothing.
type sticking struct {
	partition int32
	how       dealing
	had       int32 // how many partitions the member had to which it was dealt; how many it lacked, see dealtLacking

	moved            bool // for balance; the rest tells of the last time
	from, to         int32
	fromSize, toSize int32 // how many partitions the two members had before
	inPlaceOf        int32 // the partition that should have moved
}

// dealing is how a partition without owner finds one.
type dealing int

const (
	notDealt dealing = iota
	dealtBelow
	dealtExtra
	dealtFewest
	dealtLacking // by uniform: in the place of how many the member had is then how many it lacked
)

func (s *sticking) deal(p int32, how dealing, had int32) {
	if s != nil && s.partition == p {
		s.how, s.had = how, had
	}
}

func (s *sticking) move(p, inPlaceOf, from, to int32, size []int32) {
	if s != nil && s.partition == p {
		s.moved, s.from, s.to, s.inPlaceOf = true, from, to, inPlaceOf
		s.fromSize, s.toSize = size[from], size[to]
	}
}

func (s *sticking) revert() {
	if s != nil {
		s.moved = false
	}
}

func whySticky(l layout, p place) string {
	return whyStuck(l, p, false)
}

func whyCooperativeSticky(l layout, p place) string {
	return whyStuck(l, p, true)
}

// whyStuck runs the rule again and tells what it does with one partition.
func whyStuck(l layout, at place, cooperative bool) string {
	p := l.partitionNumber(at)
	watched := sticking{partition: p}
	plan := planSticky(l, cooperative, &watched)
	e := explanation{stickyPlan: plan, p: p, sticking: watched}
	text := e.owner() + "."
	if !plan.isWithheld(p) {
		return text
	}
	verb := "has"
	holders := plan.group.claimants(p)
	if len(holders) > 1 {
		verb = "have"
	}
	return fmt.Sprintf("%s It is withheld in this round: %s %s to give it up first.", text, plan.group.names(holders), verb)
}

// explanation is a decision about one partition.
type explanation struct {
	stickyPlan
	sticking
	p int32
}

// owner tells why the partition has its owner, without the full stop.
func (e explanation) owner() string {
	g, owner, holder := e.group, e.stickyPlan.owner[e.p], e.held.holder[e.p]
	claimants := g.claimants(e.p)
	tp, name := g.tp(e.p), g.members[owner].ID
	doubled := e.held.doubled[e.p] && (e.equal || holder == nobody)
	switch {
	case !doubled && holder == owner:
		return fmt.Sprintf("%s stays with %s, which owned it%s%s", tp, name, e.beats(claimants), e.kept(holder))
	case !doubled && holder != nobody && g.subscribes(holder, e.p) && e.equal:
		return fmt.Sprintf("%s moves from %s to %s%s", tp, g.members[holder].ID, name, e.kept(holder))
	case !doubled && holder != nobody && g.subscribes(holder, e.p):
		return fmt.Sprintf("%s moves from %s to %s %s", tp, g.members[holder].ID, name, e.balance())
	case doubled:
		which := ""
		if len(claimants) > 2 {
			which = ", two of them"
		}
		return fmt.Sprintf("%s claim %s%s in one generation, so it counts as nobody’s; %s", g.names(claimants), tp, which, e.dealt())
	case holder != nobody:
		return fmt.Sprintf("%s owned %s and no longer subscribes to the topic; %s", g.members[holder].ID, tp, e.dealt())
	default:
		return fmt.Sprintf("Nobody owned %s; %s", tp, e.dealt())
	}
}

// beats tells why the owner's claim counts and not that of another member.
func (e explanation) beats(claimants []int32) string {
	g, owner := e.group, e.stickyPlan.owner[e.p]
	others := slices.DeleteFunc(slices.Clone(claimants), func(member int32) bool { return member == owner })
	if len(others) == 0 {
		return ""
	}
	if slices.ContainsFunc(others, func(member int32) bool { return g.generations[member] >= g.generations[owner] }) {
		return fmt.Sprintf(" as %s did: the generations in their subscriptions decide", g.names(others))
	}
	return fmt.Sprintf(" in generation %d, later than %s", g.generations[owner], g.names(others))
}

// kept tells how many of its partitions a member keeps, if it keeps less than all.
func (e explanation) kept(holder int32) string {
	owned, kept := 0, 0
	for p, member := range e.held.holder {
		if member != holder || e.held.doubled[p] {
			continue
		}
		owned++
		if e.stickyPlan.owner[p] == holder {
			kept++
		}
	}
	if !e.equal || owned == kept {
		return ""
	}
	return fmt.Sprintf(": %s keeps %d of the %d that it owned; %s", e.group.members[holder].ID, kept, owned, e.division())
}

// division tells how many partitions each member gets.
func (e explanation) division() string {
	n, m := len(e.group.topicOf), len(e.group.members)
	quota, extra := quotaOf(n, m)
	text := fmt.Sprintf("%d / %d = %d", n, m, quota)
	switch extra {
	case 0:
		return fmt.Sprintf("%s, so each gets %d", text, quota)
	case 1:
		return fmt.Sprintf("%s remainder 1, so one gets %d and each other %d", text, quota+1, quota)
	default:
		return fmt.Sprintf("%s remainder %d, so %d get %d and each other %d", text, extra, extra, quota+1, quota)
	}
}

// dealt tells why a partition that nobody keeps has gone to its owner.
func (e explanation) dealt() string {
	g, owner := e.group, e.stickyPlan.owner[e.p]
	name := g.members[owner].ID
	quota, _ := quotaOf(len(g.topicOf), len(g.members))
	subscribers := len(g.topics[g.topicOf[e.p]].subscribers)
	switch {
	case e.how == dealtBelow:
		return fmt.Sprintf("it goes to %s, whose turn it is of those with less than %d: %s", name, quota, e.division())
	case e.how == dealtExtra:
		return fmt.Sprintf("it goes to %s, whose turn it is of those that may have %d: %s", name, quota+1, e.division())
	case subscribers == 1:
		return fmt.Sprintf("it goes to %s, the only subscriber", name)
	case e.moved:
		return fmt.Sprintf("it goes to %s %s", name, e.balance())
	default:
		return fmt.Sprintf("it goes to %s, which had the fewest of %d subscribers then, %d", name, subscribers, e.had)
	}
}

// balance tells why the partition moved, the last time that it did.
func (e explanation) balance() string {
	if e.inPlaceOf != e.p {
		return fmt.Sprintf("for balance, in place of %s, since it had come from there", e.group.tp(e.inPlaceOf))
	}
	g := e.group
	return fmt.Sprintf("for balance: %s had %d, %s had %d", g.members[e.from].ID, e.fromSize, g.members[e.to].ID, e.toSize)
}

// names lists members: "m0, m1 and m2".
func (g *stickyGroup) names(members []int32) string {
	ids := make([]string, len(members))
	for i, member := range members {
		ids[i] = string(g.members[member].ID)
	}
	if n := len(ids); n > 1 {
		return strings.Join(ids[:n-1], ", ") + " and " + ids[n-1]
	}
	return strings.Join(ids, "")
}
