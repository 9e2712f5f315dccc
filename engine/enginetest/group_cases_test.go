package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// owners gives the member that owns each partition of t.
func owners(t *testing.T, c *engine.Cluster) (list []string) {
	t.Helper()
	for _, p := range c.View().Partitions {
		owner := ""
		for _, m := range group(t, c, "c").Members {
			for _, a := range m.Assignment {
				if m.Alive && a.TopicPartition == p.TopicPartition {
					owner += string(m.ID)
				}
			}
		}
		list = append(list, owner)
	}
	return list
}

// third lets c-3 join a group of c-1 and c-2. It gives who owned each partition before and after, the partitions that
// always had the same owner, how many partitions were revoked, how many generations were added, and what the
// assignment of each of them was.
func third(t *testing.T, strategy string) (before, after, always []string, revoked, generations int, rounds []string) {
	spec := grouped(6, 3, strategy)
	spec.Groups[0].Members[2].Off = true
	c := start(t, spec)
	stable(t, c, "c", "with two members", 1)
	before = owners(t, c)
	paused := make([]bool, 6)
	from := c.Journal().Len()
	give(t, c, "start c-3")
	for range 2000 {
		give(t, c, "wait 5ms")
		for i, owner := range owners(t, c) {
			paused[i] = paused[i] || owner != before[i]
		}
	}
	for _, gone := range since[journal.PartitionsRevoked](c, from, "") {
		revoked += len(gone.Partitions)
	}
	for _, made := range since[journal.AssignmentComputed](c, from, "") {
		var shares []string
		for _, share := range made.Shares {
			shares = append(shares, string(share.Member[:3])+"="+partitionNumbers(share.Partitions))
		}
		rounds = append(rounds, strings.Join(shares, " "))
	}
	for i, p := range c.View().Partitions {
		if !paused[i] {
			always = append(always, p.TopicPartition.String())
		}
	}
	return before, owners(t, c), always, revoked, int(group(t, c, "c").Generation) - 1, rounds
}

func partitionNumbers(list []kafka.TopicPartition) string {
	var b strings.Builder
	for _, tp := range list {
		b.WriteByte(byte('0' + tp.Partition))
	}
	return b.String()
}

// GRP-07, eager: c-3 joins, everybody gives up everything, and half of it comes back to where it was.
func TestGRP07Eager(t *testing.T) {
	before, after, always, revoked, generations, rounds := third(t, "range")
	if want := []string{"c-1", "c-1", "c-1", "c-2", "c-2", "c-2"}; !slices.Equal(before, want) {
		t.Errorf("before: owners %v, want %v", before, want)
	}
	if want := []string{"c-1", "c-1", "c-2", "c-2", "c-3", "c-3"}; !slices.Equal(after, want) {
		t.Errorf("after: owners %v, want %v", after, want)
	}
	changed := 0
	for i := range before {
		if before[i] != after[i] {
			changed++
		}
	}
	if revoked != 6 || changed != 3 || generations != 1 || len(always) > 0 {
		t.Errorf("%d revoked, %d changed owner, %d generations, always read %v; want 6, 3, 1, none", revoked, changed, generations, always)
	}
	if want := []string{"c-1=01 c-2=23 c-3=45"}; !slices.Equal(rounds, want) {
		t.Errorf("assignments %v, want %v", rounds, want)
	}
}

// GRP-07, cooperative: only what moves stops, and it takes two rounds. In the first nobody has 4 and 5.
func TestGRP07Cooperative(t *testing.T) {
	before, after, always, revoked, generations, rounds := third(t, "cooperative-sticky")
	if want := []string{"c-1", "c-2", "c-1", "c-2", "c-1", "c-2"}; !slices.Equal(before, want) {
		t.Errorf("before: owners %v, want %v", before, want)
	}
	if want := []string{"c-1", "c-2", "c-1", "c-2", "c-3", "c-3"}; !slices.Equal(after, want) {
		t.Errorf("after: owners %v, want %v", after, want)
	}
	if want := []string{"t-0", "t-1", "t-2", "t-3"}; revoked != 2 || generations != 2 || !slices.Equal(always, want) {
		t.Errorf("%d revoked, %d generations, always read %v; want 2, 2 and %v", revoked, generations, always, want)
	}
	if want := []string{"c-1=02 c-2=13 c-3=", "c-1=02 c-2=13 c-3=45"}; !slices.Equal(rounds, want) {
		t.Errorf("assignments %v, want %v", rounds, want)
	}
}

// bounced makes a group of three members with each of some strategies, of which only the first three run: to restart
// a member with other settings is to let one leave and start another.
func bounced(strategies ...[]string) *engine.Spec {
	spec := grouped(6, 3*len(strategies))
	for i := range spec.Groups[0].Members {
		m := &spec.Groups[0].Members[i]
		m.Config.Group.Assignors, m.Off = strategies[i/3], i >= 3
	}
	return spec
}

// bounce lets a member leave and the one three further start.
func bounce(t *testing.T, c *engine.Cluster, i int) {
	t.Helper()
	give(t, c, fmt.Sprintf("leave c-%d", i), "wait 10s", fmt.Sprintf("start c-%d", i+3), "wait 10s")
}

// GRP-09, variant 1: who lists cooperative-sticky alone is refused where others list range alone. Variant 3 is about
// librdkafka, which refuses a list of both kinds as a setting; a client that does so is not modelled.
func TestGRP09OneRestart(t *testing.T) {
	c := start(t, bounced([]string{"range"}, []string{"cooperative-sticky"}))
	bounce(t, c, 1)
	refused := last[journal.GroupRequestRefused](t, c, "b1")
	if refused.API != "JoinGroup" || refused.From != "c-4" || refused.Error != "INCONSISTENT_GROUP_PROTOCOL" {
		t.Errorf("%+v, want the JoinGroup of c-4 to be refused by INCONSISTENT_GROUP_PROTOCOL", refused)
	}
	if failed := last[journal.ConsumerFailed](t, c, "c-4"); failed.Error != "INCONSISTENT_GROUP_PROTOCOL" {
		t.Errorf("%+v, want poll to throw that", failed)
	}
	expectOwns(t, c, "c", "the others go on", "2=t-0,t-1,t-2 3=t-3,t-4,t-5 4=")
}

// GRP-09, variant 2: two bounces. After the first the assignor is cooperative-sticky, and members are eager still.
func TestGRP09TwoBounces(t *testing.T) {
	c := start(t, bounced([]string{"range"}, []string{"cooperative-sticky", "range"}, []string{"cooperative-sticky"}))
	expectProtocol := func(when, assignor string, cooperative ...string) {
		t.Helper()
		g := group(t, c, "c")
		var list []string
		for _, m := range g.Members {
			if m.Alive && m.Cooperative {
				list = append(list, string(m.ID))
			}
		}
		if g.State != "Stable" || g.Assignor != assignor || !slices.Equal(list, cooperative) {
			t.Errorf("%s: %s, assignor %s, cooperative members %v; want Stable, %s, %v", when, g.State, g.Assignor, list, assignor, cooperative)
		}
	}
	for i := 1; i <= 2; i++ {
		bounce(t, c, i)
		expectProtocol("during bounce 1", "range")
	}
	bounce(t, c, 3)
	expectProtocol("after bounce 1", "cooperative-sticky")
	for i := 4; i <= 6; i++ {
		bounce(t, c, i)
	}
	expectProtocol("after bounce 2", "cooperative-sticky", "c-7", "c-8", "c-9")
	if failed := all[journal.ConsumerFailed](c, ""); len(failed) > 0 {
		t.Errorf("failed: %v, want none", failed)
	}
}
