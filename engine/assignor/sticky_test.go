package assignor

import (
	"slices"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// The rows S1 to S9 of §6.3, as Kafka 4.2.0 assigns them.
func TestStickyWorkedExamples(t *testing.T) {
	for _, test := range []struct {
		row, topics, members string
		eager, cooperative   string
	}{
		{"S1", "t0:3 t1:3", "m0 m1 m2",
			"m0=t0:0 t1:0; m1=t0:1 t1:1; m2=t0:2 t1:2",
			"m0=t0:0 t1:0; m1=t0:1 t1:1; m2=t0:2 t1:2"},
		{"S2", "t0:6", "m0=t0:0,1,2 m1=t0:3,4,5 m2",
			"m0=t0:0,1; m1=t0:3,4; m2=t0:2,5",
			"m0=t0:0,1; m1=t0:3,4; m2=; withheld t0:2,5"},
		{"S2, second round", "t0:6", "m0=t0:0,1@2 m1=t0:3,4@2 m2",
			"m0=t0:0,1; m1=t0:3,4; m2=t0:2,5",
			"m0=t0:0,1; m1=t0:3,4; m2=t0:2,5"},
		{"S3", "t0:7", "m0=t0:0,3,6 m2=t0:2,5",
			"m0=t0:0,3,4,6; m2=t0:1,2,5",
			"m0=t0:0,3,4,6; m2=t0:1,2,5"},
		{"S4", "t0:1 t1:2 t2:3", "m0{t0} m1{t0,t1} m2",
			"m0=t0:0; m1=t1:0,1; m2=t2:0,1,2",
			"m0=t0:0; m1=t1:0,1; m2=t2:0,1,2"},
		{"S5", "t0:4", "m0=t0:0,1@7 m1=t0:1,2@6 m2",
			"m0=t0:0,1; m1=t0:2; m2=t0:3",
			"m0=t0:0,1; m1=t0:2; m2=t0:3"},
		{"S8", "t0:4 t1:4", "m0=t0:0,1,2,3;t1:0,1,2,3 m1",
			"m0=t0:0,1 t1:0,1; m1=t0:2,3 t1:2,3",
			"m0=t0:0,1 t1:0,1; m1=; withheld t0:2,3 t1:2,3"},
		{"S9", "t0:5", "m0=t0:0,1 m1=t0:1,2",
			"m0=t0:0,1,4; m1=t0:2,3",
			"m0=t0:0,4; m1=t0:2,3; withheld t0:1"},
		{"GRP-06", "t0:1 t1:2 t2:3", "C0{t0} C1{t0,t1} C2",
			"C0=t0:0; C1=t1:0,1; C2=t2:0,1,2",
			"C0=t0:0; C1=t1:0,1; C2=t2:0,1,2"},
		{"GRP-07, c3 joins", "t:6", "c1=t:0,1,2 c2=t:3,4,5 c3",
			"c1=t:0,1; c2=t:3,4; c3=t:2,5",
			"c1=t:0,1; c2=t:3,4; c3=; withheld t:2,5"},
		{"static members are not first", "t0:5", "m0/z m1/a m2",
			"m0=t0:0,3; m1=t0:1,4; m2=t0:2",
			"m0=t0:0,3; m1=t0:1,4; m2=t0:2"},
		{"of three claims two of one generation spoil it for the third, which Kafka meets last", "t0:3", "m0=t0:0@1 m1=t0:0@1 m2=t0:0@2",
			"m0=t0:0; m1=t0:1; m2=t0:2",
			"m0=; m1=t0:1; m2=t0:2; withheld t0:0"},
		{"unless it meets it first", "t0:3", "m0=t0:0@2 m1=t0:0@1 m2=t0:0@1",
			"m0=t0:0; m1=t0:1; m2=t0:2",
			"m0=t0:0; m1=t0:1; m2=t0:2"},
		{"the one that Kafka meets first keeps one more: m7, not m10", "t0:9", "m10=t0:0,1,2 m7=t0:3,4,5 m9=t0:6,7,8 new",
			"m10=t0:0,1; m7=t0:3,4,5; m9=t0:6,7; new=t0:2,8",
			"m10=t0:0,1; m7=t0:3,4,5; m9=t0:6,7; new=; withheld t0:2,8"},
		{"a topic that is gone, and one no longer subscribed to", "t0:2 t1:2", "m0{t0}=t0:0;t1:0,1;gone:0 m1{t1}",
			"m0=t0:0,1; m1=t1:0,1",
			"m0=t0:0,1; m1=; withheld t1:0,1"},
	} {
		group := parseGroup(t, test.topics, test.members)
		if got := format(byName(t, "sticky").Assign(group)); got != test.eager {
			t.Errorf("%s sticky:\n got %s\nwant %s", test.row, got, test.eager)
		}
		if got := format(byName(t, "cooperative-sticky").Assign(group)); got != test.cooperative {
			t.Errorf("%s cooperative-sticky:\n got %s\nwant %s", test.row, got, test.cooperative)
		}
	}
}

// The generation in the subscription decides between two claims, even for sticky, which reads its own
// claims from the user data: m0 was thrown out after generation 7 and joins again, so that m1's older
// claim beats it. If m1 is met first it is the other way round.
func TestGenerationOfTheSubscription(t *testing.T) {
	group := parseGroup(t, "t0:4", "m0=t0:0,1@7 m1=t0:1,2@6")
	group.Members[0].SubscriptionGeneration = -1
	for _, name := range []string{"sticky", "cooperative-sticky"} {
		if got, want := format(byName(t, name).Assign(group)), "m0=t0:0,3; m1=t0:1,2"; got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	sticky := byName(t, "sticky")
	got := sticky.Why(group, sticky.Assign(group), kafka.TopicPartition{Topic: "t0", Partition: 1})
	if want := "t0-1 stays with m1, which owned it as m0 did: the generations in their subscriptions decide."; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	group.Members[0].ID, group.Members[1].ID = "m1", "m0"
	if got, want := format(byName(t, "sticky").Assign(group)), "m0=t0:2,3; m1=t0:0,1"; got != want {
		t.Errorf("m1 met first:\n got %s\nwant %s", got, want)
	}
}

// spread returns by how much the members with most and with fewest partitions differ.
func spread(assigned Assignment) int {
	n := counts(assigned)
	if len(n) == 0 {
		return 0
	}
	return slices.Max(n) - slices.Min(n)
}

// equalised returns the group with all members subscribing to all topics.
func equalised(group Group) Group {
	var all []string
	for _, topic := range group.Topics {
		all = append(all, topic.Name)
	}
	for i := range group.Members {
		group.Members[i].Topics = all
	}
	return group
}

// movable returns a partition that could go to a member from one that has at least two more.
func movable(group Group, assigned Assignment) (kafka.TopicPartition, bool) {
	size := map[kafka.MemberID]int{}
	for i, n := range counts(assigned) {
		size[assigned.Members[i].Member] = n
	}
	for _, part := range assigned.Members {
		for _, list := range part.Topics {
			for _, member := range group.Members {
				if size[part.Member] >= size[member.ID]+2 && slices.Contains(member.Topics, list.Topic) {
					return kafka.TopicPartition{Topic: list.Topic, Partition: list.Partitions[0]}, true
				}
			}
		}
	}
	return kafka.TopicPartition{}, false
}

// With equal subscriptions members differ by at most one; with others no partition could go to a member
// from one that has two more.
func TestStickyIsBalanced(t *testing.T) {
	checkBalanced(t, byName(t, "sticky"))
}

func checkBalanced(t *testing.T, rule Assignor) {
	t.Helper()
	for seed := uint64(1); seed <= 3000; seed++ {
		rnd := prng.New(seed)
		group := randomGroup(rnd, true)
		if seed%2 == 0 {
			group = equalised(group)
		}
		randomClaims(rnd, &group, rule.Assign)
		assigned := rule.Assign(group)
		if n := spread(assigned); seed%2 == 0 && n > 1 {
			t.Fatalf("seed %d: members differ by %d: %s", seed, n, format(assigned))
		}
		if tp, could := movable(group, assigned); could {
			t.Fatalf("seed %d: %s could move to somebody with two less: %s", seed, tp, format(assigned))
		}
	}
}

// What is assigned stays when nothing changes. When a member comes or goes and subscriptions are equal,
// every other keeps as much as it may have.
func TestStickyKeeps(t *testing.T) {
	checkKeeps(t, byName(t, "sticky"))
}

func checkKeeps(t *testing.T, rule Assignor) {
	t.Helper()
	for seed := uint64(1); seed <= 2000; seed++ {
		rnd := prng.New(seed)
		group := randomGroup(rnd, true)
		if seed%2 == 0 {
			group = equalised(group)
		}
		before := rule.Assign(group)
		nextRound(&group, before, 1)
		if got := format(rule.Assign(group)); got != format(before) {
			t.Fatalf("seed %d: nothing has changed\n got %s\nwant %s", seed, got, format(before))
		}
		if seed%2 == 1 || len(group.Members) < 2 {
			continue
		}
		if seed%4 == 0 {
			group.Members = group.Members[1:]
		} else {
			group.Members = append(group.Members, Member{ID: "new", Topics: group.Members[0].Topics, Generation: -1})
		}
		after := rule.Assign(group)
		fewest := slices.Min(counts(after))
		for _, member := range group.Members {
			owned, kept := 0, 0
			for _, list := range member.Owned {
				for _, p := range list.Partitions {
					owned++
					if owner, _ := after.Owner(kafka.TopicPartition{Topic: list.Topic, Partition: p}); owner == member.ID {
						kept++
					}
				}
			}
			if kept < min(owned, fewest) {
				t.Fatalf("seed %d: %s keeps %d of %d, everybody has %d", seed, member.ID, kept, owned, fewest)
			}
		}
	}
}

// Every member takes what it is assigned, gives up the rest and joins again. With equal subscriptions the
// second round hands out all. With others Kafka's rule may deal what was withheld to somebody else than it
// was meant for, move partitions once more for balance, and so need a third.
func TestCooperativeRoundsEnd(t *testing.T) {
	cooperative := byName(t, "cooperative-sticky")
	rounds := map[int]int{}
	for seed := uint64(1); seed <= 3000; seed++ {
		rnd := prng.New(seed)
		group := randomGroup(rnd, true)
		most := 3
		if seed%2 == 0 {
			group, most = equalised(group), 2
		}
		randomClaims(rnd, &group, byName(t, "sticky").Assign)
		n := 1
		assigned := cooperative.Assign(group)
		for ; len(assigned.Withheld) > 0; n++ {
			if n == most {
				t.Fatalf("seed %d: %s is withheld in round %d", seed, formatTopics(assigned.Withheld), n)
			}
			nextRound(&group, assigned, kafka.GenerationID(3+n))
			assigned = cooperative.Assign(group)
		}
		rounds[n]++
		if tp, could := movable(group, assigned); could {
			t.Fatalf("seed %d: %s could move to somebody with two less: %s", seed, tp, format(assigned))
		}
	}
	t.Logf("groups by rounds: %v", rounds)
}
