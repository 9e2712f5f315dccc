package assignor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// randomGroup draws up to 8 topics, up to 12 members and any subscriptions. static says whether some
// members have an instance id.
func randomGroup(rnd *prng.Rand, static bool) Group {
	var group Group
	for i := range rnd.IntN(9) {
		group.Topics = append(group.Topics, Topic{Name: fmt.Sprintf("t%d", i), PartitionCount: int32(rnd.IntN(14))})
	}
	for i := range rnd.IntN(13) {
		member := Member{ID: kafka.MemberID(fmt.Sprintf("m%d", i)), Generation: -1}
		if static && rnd.IntN(2) == 0 {
			member.InstanceID = kafka.GroupInstanceID(fmt.Sprintf("i%d", (i*7)%13))
		}
		everything := rnd.IntN(2) == 0
		for _, topic := range group.Topics {
			if everything || rnd.IntN(2) == 0 {
				member.Topics = append(member.Topics, topic.Name)
			}
		}
		group.Members = append(group.Members, member)
	}
	shuffle(rnd, group.Topics)
	shuffle(rnd, group.Members)
	return group
}

// randomClaims lets members claim partitions of three generations: in half of the groups what they were
// assigned before some left, in the others anything, also several the same one.
func randomClaims(rnd *prng.Rand, group *Group, assign func(Group) Assignment) {
	if rnd.IntN(2) == 0 {
		nextRound(group, assign(*group), 1)
		for i := range group.Members {
			if rnd.IntN(4) == 0 {
				group.Members[i].Owned, group.Members[i].Generation = nil, -1
			}
		}
		return
	}
	for i := range group.Members {
		member := &group.Members[i]
		member.Generation = kafka.GenerationID(1 + rnd.IntN(3))
		for _, topic := range group.Topics {
			owned := TopicPartitions{Topic: topic.Name}
			for p := range topic.PartitionCount {
				if rnd.IntN(4) == 0 {
					owned.Partitions = append(owned.Partitions, kafka.Partition(p))
				}
			}
			if len(owned.Partitions) > 0 {
				member.Owned = append(member.Owned, owned)
			}
		}
	}
}

// nextRound makes every member own what it was assigned.
func nextRound(group *Group, assigned Assignment, generation kafka.GenerationID) {
	for i := range group.Members {
		for _, part := range assigned.Members {
			if part.Member == group.Members[i].ID {
				group.Members[i].Owned, group.Members[i].Generation = part.Topics, generation
			}
		}
	}
}

func shuffle[T any](rnd *prng.Rand, items []T) {
	for i := len(items) - 1; i > 0; i-- {
		j := rnd.IntN(i + 1)
		items[i], items[j] = items[j], items[i]
	}
}

// Every partition of a subscribed topic has exactly one owner, who subscribes to it, or is withheld;
// nothing else is assigned; everything is sorted.
func TestEveryPartitionHasOneSubscribedOwner(t *testing.T) {
	for seed := uint64(1); seed <= 2000; seed++ {
		rnd := prng.New(seed)
		group := randomGroup(rnd, true)
		randomClaims(rnd, &group, byName(t, "sticky").Assign)
		want := map[kafka.TopicPartition]bool{}
		subscribes := map[string]bool{} // "member topic"
		for _, member := range group.Members {
			for _, name := range member.Topics {
				subscribes[string(member.ID)+" "+name] = true
				for _, topic := range group.Topics {
					if topic.Name != name {
						continue
					}
					for p := range topic.PartitionCount {
						want[kafka.TopicPartition{Topic: name, Partition: kafka.Partition(p)}] = true
					}
				}
			}
		}
		for _, name := range Names() {
			assigned := byName(t, name).Assign(group)
			got := map[kafka.TopicPartition]bool{}
			var ids []kafka.MemberID
			for _, member := range assigned.Members {
				ids = append(ids, member.Member)
				if !slices.IsSortedFunc(member.Topics, func(a, b TopicPartitions) int { return strings.Compare(a.Topic, b.Topic) }) {
					t.Fatalf("seed %d, %s: topics of %s are not sorted", seed, name, member.Member)
				}
				for _, owned := range member.Topics {
					if len(owned.Partitions) == 0 || !slices.IsSorted(owned.Partitions) {
						t.Fatalf("seed %d, %s: partitions of %s are empty or not sorted: %v", seed, name, member.Member, owned)
					}
					if !subscribes[string(member.Member)+" "+owned.Topic] {
						t.Fatalf("seed %d, %s: %s does not subscribe to %s", seed, name, member.Member, owned.Topic)
					}
					for _, p := range owned.Partitions {
						tp := kafka.TopicPartition{Topic: owned.Topic, Partition: p}
						if got[tp] {
							t.Fatalf("seed %d, %s: %s has two owners", seed, name, tp)
						}
						got[tp] = true
						if owner, ok := assigned.Owner(tp); !ok || owner != member.Member {
							t.Fatalf("seed %d, %s: Owner(%s) is %s, %t, want %s", seed, name, tp, owner, ok, member.Member)
						}
					}
				}
			}
			for _, list := range assigned.Withheld {
				for _, p := range list.Partitions {
					tp := kafka.TopicPartition{Topic: list.Topic, Partition: p}
					if got[tp] || name != "cooperative-sticky" || !assigned.Withholds(tp) {
						t.Fatalf("seed %d, %s: %s is withheld and has an owner", seed, name, tp)
					}
					got[tp] = true
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %s: assigned partitions (-want +got):\n%s", seed, name, diff)
			}
			if len(ids) != len(group.Members) || !slices.IsSorted(ids) {
				t.Fatalf("seed %d, %s: members %v of %d, want all, sorted", seed, name, ids, len(group.Members))
			}
		}
	}
}

func TestOrderOfTheInputDoesNotMatter(t *testing.T) {
	for seed := uint64(1); seed <= 1000; seed++ {
		rnd := prng.New(seed)
		group := randomGroup(rnd, true)
		randomClaims(rnd, &group, byName(t, "sticky").Assign)
		for _, name := range Names() {
			a := byName(t, name)
			want := format(a.Assign(group))
			other := Group{Topics: slices.Clone(group.Topics), Members: slices.Clone(group.Members)}
			shuffle(rnd, other.Topics)
			shuffle(rnd, other.Members)
			for i := range other.Members {
				other.Members[i].Topics = slices.Clone(other.Members[i].Topics)
				shuffle(rnd, other.Members[i].Topics)
				other.Members[i].Owned = slices.Clone(other.Members[i].Owned)
				shuffle(rnd, other.Members[i].Owned)
			}
			if got := format(a.Assign(other)); got != want {
				t.Fatalf("seed %d, %s: another order gives another assignment\n got %s\nwant %s", seed, name, got, want)
			}
		}
	}
}

// Every assigned partition has a reason that names its owner.
func TestWhyNeverFails(t *testing.T) {
	for seed := uint64(1); seed <= 200; seed++ {
		rnd := prng.New(seed)
		group := randomGroup(rnd, true)
		randomClaims(rnd, &group, byName(t, "sticky").Assign)
		for _, name := range Names() {
			a := byName(t, name)
			assigned := a.Assign(group)
			for _, topic := range group.Topics {
				for p := range topic.PartitionCount + 1 {
					tp := kafka.TopicPartition{Topic: topic.Name, Partition: kafka.Partition(p)}
					if a.Why(group, assigned, tp) == "" {
						t.Fatalf("seed %d, %s: no reason for %s", seed, name, tp)
					}
				}
			}
		}
	}
}

// largeGroup is a group at the bounds: 10,000 members, 1,000,000 partitions in 100 topics.
func largeGroup() Group {
	var group Group
	var all []string
	for i := range 100 {
		name := "t" + strconv.Itoa(i)
		all = append(all, name)
		group.Topics = append(group.Topics, Topic{Name: name, PartitionCount: 10_000})
	}
	for i := range MaxMembers {
		group.Members = append(group.Members, Member{ID: kafka.MemberID("m" + strconv.Itoa(i)), Topics: all})
	}
	return group
}

// One member of 10,000 subscribes to the million partitions: walking the members one by one for each
// partition would take 10,000,000,000 steps.
func TestRoundRobinWithOneSubscriberOfMany(t *testing.T) {
	group := Group{Topics: []Topic{{Name: "big", PartitionCount: MaxPartitions}}}
	for i := range MaxMembers {
		group.Members = append(group.Members, Member{ID: kafka.MemberID("m" + strconv.Itoa(i))})
	}
	group.Members[5000].Topics = []string{"big"}
	assigned := byName(t, "roundrobin").Assign(group)
	owner, ok := assigned.Owner(kafka.TopicPartition{Topic: "big", Partition: MaxPartitions - 1})
	if !ok || owner != "m5000" {
		t.Errorf("got %s, %t, want m5000", owner, ok)
	}
}

func BenchmarkAssignAtTheBounds(b *testing.B) {
	group := largeGroup()
	for _, name := range Names() {
		a := byName(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				a.Assign(group)
			}
		})
	}
}
