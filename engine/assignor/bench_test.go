package assignor

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// benchGroup has 1,000 members and 100 topics of 100 partitions. All subscribe to all topics or, mixed, each
// to about half of them. If owning, they own what sticky assigned when 1,010 were there.
func benchGroup(mixed, owning bool) Group {
	const leaving = 10
	rnd := prng.New(1)
	var group Group
	var all []string
	for i := range 100 {
		all = append(all, "t"+strconv.Itoa(i))
		group.Topics = append(group.Topics, Topic{Name: all[i], PartitionCount: 100})
	}
	for i := range 1000 + leaving {
		member := Member{ID: kafka.MemberID(fmt.Sprintf("consumer-%d-%08x", i, rnd.Uint64())), Topics: all, Generation: -1}
		if mixed {
			member.Topics = nil
			for _, name := range all {
				if rnd.IntN(2) == 0 {
					member.Topics = append(member.Topics, name)
				}
			}
		}
		group.Members = append(group.Members, member)
	}
	if owning {
		nextRound(&group, planOf(group), 1)
	}
	group.Members = group.Members[leaving:]
	return group
}

func planOf(group Group) Assignment {
	l := newLayout(group)
	return l.assignment(assignSticky(l))
}

// BenchmarkAssign is one assignment of 10,000 partitions to 1,000 members, ours and franz-go's.
func BenchmarkAssign(b *testing.B) {
	balancers := map[string]kgo.GroupBalancer{
		"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(),
		"sticky": kgo.StickyBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer(),
	}
	for _, name := range Names() {
		for _, subscriptions := range []string{"equal", "mixed"} {
			for _, owned := range []string{"nothing", "most"} {
				group := benchGroup(subscriptions == "mixed", owned == "most")
				title := fmt.Sprintf("%s/%s/own=%s", name, subscriptions, owned)
				b.Run(title+"/ours", func(b *testing.B) {
					a := byName(b, name)
					for b.Loop() {
						a.Assign(group)
					}
				})
				if balancers[name] == nil {
					continue // franz-go has none of the broker's
				}
				b.Run(title+"/franz", func(b *testing.B) {
					members := franzMembers(balancers[name], group)
					for b.Loop() {
						franzPlan(b, balancers[name], members, group.Topics)
					}
				})
			}
		}
	}
}
