//go:build judge

package judge

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"loglab/engine/assignor"
	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// drawSticky draws a group whose members come from an earlier life of it. Some own what they were assigned
// once or several times; then members, topics and subscriptions change, claims of older generations are
// left, and some are made up. Equal tells whether all subscribe to the same topics.
func drawSticky(rnd *prng.Rand, name string, equal bool) assignor.Group {
	group := drawGroup(rnd)
	if rnd.IntN(8) == 0 {
		addMembers(rnd, &group, 20+rnd.IntN(60))
	}
	if rnd.IntN(100) == 0 {
		addMembers(rnd, &group, 300)
	}
	if equal {
		subscribeAll(&group)
	}
	rule, err := assignor.ByName(name)
	if err != nil {
		panic(err)
	}
	generation := kafka.GenerationID(0)
	for range rnd.IntN(4) { // 0: nobody owns anything
		generation++
		adopt(&group, rule.Assign(group), generation, func() bool { return rnd.IntN(6) == 0 })
		change(rnd, &group, equal)
	}
	if rnd.IntN(3) == 0 {
		claimMore(rnd, &group, generation)
	}
	sortClaims(&group)
	slices.SortFunc(group.Members, func(a, b assignor.Member) int { return cmp.Compare(a.ID, b.ID) })
	return group
}

func addMembers(rnd *prng.Rand, group *assignor.Group, n int) {
	for i := range n {
		member := assignor.Member{ID: kafka.MemberID(fmt.Sprintf("more-%d-%x", len(group.Members), rnd.IntN(1<<20))), Generation: -1}
		for _, topic := range group.Topics {
			if i%3 == 0 || rnd.IntN(2) == 0 {
				member.Topics = append(member.Topics, topic.Name)
			}
		}
		group.Members = append(group.Members, member)
	}
}

func subscribeAll(group *assignor.Group) {
	var all []string
	for _, topic := range group.Topics {
		all = append(all, topic.Name)
	}
	for i := range group.Members {
		group.Members[i].Topics = slices.Clone(all)
	}
}

// adopt makes the members own what they were assigned, except those that miss it and stay with what they
// had.
func adopt(group *assignor.Group, assigned assignor.Assignment, generation kafka.GenerationID, misses func() bool) {
	for i := range group.Members {
		member := &group.Members[i]
		if misses() {
			continue
		}
		for _, part := range assigned.Members {
			if part.Member == member.ID {
				member.Owned, member.Generation = slices.Clone(part.Topics), generation
			}
		}
	}
}

// change lets members come and go, topics grow and vanish and, unless all are to be equal, subscriptions
// change.
func change(rnd *prng.Rand, group *assignor.Group, equal bool) {
	for range rnd.IntN(4) {
		switch rnd.IntN(4) {
		case 0:
			if len(group.Members) > 1 {
				i := rnd.IntN(len(group.Members))
				group.Members = slices.Delete(group.Members, i, i+1)
			}
		case 1:
			addMembers(rnd, group, 1+rnd.IntN(2))
			if equal {
				group.Members[len(group.Members)-1].Topics = slices.Clone(group.Members[0].Topics)
				group.Members[len(group.Members)-2].Topics = slices.Clone(group.Members[0].Topics)
			}
		case 2:
			if len(group.Topics) > 0 {
				topic := &group.Topics[rnd.IntN(len(group.Topics))]
				if rnd.IntN(3) == 0 {
					topic.PartitionCount = 0 // gone; a member may still own its partitions
				} else {
					topic.PartitionCount += int32(rnd.IntN(6))
				}
			}
		case 3:
			if !equal {
				member := &group.Members[rnd.IntN(len(group.Members))]
				for _, topic := range group.Topics {
					i := slices.Index(member.Topics, topic.Name)
					switch {
					case rnd.IntN(3) > 0:
					case i < 0:
						member.Topics = append(member.Topics, topic.Name)
					default:
						member.Topics = slices.Delete(slices.Clone(member.Topics), i, i+1)
					}
				}
			}
		}
	}
}

// claimMore lets members claim partitions at random, in any generation, also in one that their
// subscriptions do not tell.
func claimMore(rnd *prng.Rand, group *assignor.Group, generation kafka.GenerationID) {
	for i := range group.Members {
		member := &group.Members[i]
		if rnd.IntN(2) == 0 {
			continue
		}
		member.Generation = max(1, generation-kafka.GenerationID(rnd.IntN(3)))
		if rnd.IntN(3) == 0 {
			member.SubscriptionGeneration = []kafka.GenerationID{-1, 1, generation, generation + 1}[rnd.IntN(4)]
		}
		for _, topic := range group.Topics {
			for p := range topic.PartitionCount {
				if rnd.IntN(4) == 0 {
					member.Owned = append(member.Owned, assignor.TopicPartitions{Topic: topic.Name, Partitions: []kafka.Partition{kafka.Partition(p)}})
				}
			}
		}
	}
}

// sortClaims puts each topic once into a member's list, and drops partitions that their topic does not
// have: Kafka's assignors go wrong over those, ours leave them out.
func sortClaims(group *assignor.Group) {
	counts := map[string]int32{}
	for _, topic := range group.Topics {
		counts[topic.Name] = topic.PartitionCount
	}
	for i := range group.Members {
		byTopic := map[string][]kafka.Partition{}
		for _, owned := range group.Members[i].Owned {
			for _, p := range owned.Partitions {
				if count := counts[owned.Topic]; count == 0 || int32(p) < count {
					byTopic[owned.Topic] = append(byTopic[owned.Topic], p)
				}
			}
		}
		group.Members[i].Owned = nil
		for _, topic := range group.Topics {
			if partitions := byTopic[topic.Name]; len(partitions) > 0 {
				slices.Sort(partitions)
				group.Members[i].Owned = append(group.Members[i].Owned, assignor.TopicPartitions{Topic: topic.Name, Partitions: slices.Compact(partitions)})
			}
		}
	}
}

// strange tells whether the group has what makes Kafka's general rule go astray: a member of an older
// generation that claims a partition of a topic to which it no longer subscribes.
func strange(group assignor.Group, name string) bool {
	newest := kafka.GenerationID(-1)
	generationOf := func(m assignor.Member) kafka.GenerationID {
		if name == "cooperative-sticky" && m.SubscriptionGeneration > 0 {
			return m.SubscriptionGeneration
		}
		return m.Generation
	}
	for _, m := range group.Members {
		newest = max(newest, generationOf(m))
	}
	return slices.ContainsFunc(group.Members, func(m assignor.Member) bool {
		return generationOf(m) < newest && slices.ContainsFunc(m.Owned, func(owned assignor.TopicPartitions) bool {
			return !slices.Contains(m.Topics, owned.Topic)
		})
	})
}

// Kafka's StickyAssignor and CooperativeStickyAssignor give every group the same assignment, but for what
// the Simplified lines of engine/assignor name: a member without topics that Kafka meets first, and claims
// of an older generation on topics that the member no longer subscribes to.
func TestStickyAssignors(t *testing.T) {
	for _, name := range []string{"sticky", "cooperative-sticky"} {
		for _, equal := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/equal=%t", name, equal), func(t *testing.T) {
				compareSticky(t, name, equal)
			})
		}
	}
}

func compareSticky(t *testing.T, name string, equal bool) {
	ours, err := assignor.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	rnd := draws(t)
	var groups []assignor.Group
	var questions []string
	for range groupsAnAssignor {
		group := drawSticky(&rnd, name, equal)
		groups, questions = append(groups, group), append(questions, question(name, group))
	}
	var owning, withheld, failed, unsubscribed, other int
	for i, line := range answers(t, kafkaProgram(t, "Assignors"), questions) {
		theirs, assigned := readAnswer(t, line), ours.Assign(groups[i])
		if slices.ContainsFunc(groups[i].Members, func(m assignor.Member) bool { return len(m.Owned) > 0 }) {
			owning++
		}
		if len(assigned.Withheld) > 0 {
			withheld++
		}
		diff := gocmp.Diff(theirs.Assignment, assignedBy(ours, groups[i]))
		switch {
		case diff == "" && theirs.Error == "":
		case !theirs.EmptyFirst && !strange(groups[i], name):
			t.Fatalf("seed %d, group %d: %s\n%s\n(-Kafka +ours):\n%s", *seed, i, questions[i], theirs.Error, diff)
		case theirs.Error != "":
			failed++
		case !subscribed(theirs.Assignment, groups[i]):
			unsubscribed++
		default:
			other++
		}
		if diff := gocmp.Diff(theirs.Protocols, ours.SupportedProtocols()); diff != "" {
			t.Fatalf("protocols (-Kafka +ours):\n%s", diff)
		}
	}
	different := failed + unsubscribed + other
	t.Logf("%d groups, %d with claims, %d with something withheld; %d equal; of those that Simplified lines name, %d make Kafka fail, %d assign to a member that does not subscribe, %d differ otherwise",
		len(groups), owning, withheld, len(groups)-different, failed, unsubscribed, other)
}

// subscribed tells whether every member subscribes to what it is assigned.
func subscribed(assigned partitionsOf, group assignor.Group) bool {
	for _, m := range group.Members {
		for topic := range assigned[m.ID] {
			if !slices.Contains(m.Topics, topic) {
				return false
			}
		}
	}
	return true
}
