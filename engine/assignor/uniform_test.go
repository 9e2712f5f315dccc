package assignor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loglab/engine/prng"
)

// The examples of §6.4, as the classes of Kafka 4.2.0's broker assign them, and what its walks decide.
func TestServerWorkedExamples(t *testing.T) {
	for _, test := range []struct {
		row, topics, members string
		uniform, serverRange string
	}{
		{"fresh", "t0:3", "m0 m1", "m0=t0:0; m1=t0:1,2", "m0=t0:0,1; m1=t0:2"},
		{"m2 joins", "t0:6", "m0=t0:0,1,2 m1=t0:3,4,5 m2", "m0=t0:0,1; m1=t0:3,4; m2=t0:2,5", "m0=t0:0,1; m1=t0:2,3; m2=t0:4,5"},
		{"two topics", "t0:3 t1:3", "m0 m1", "m0=t0:0,1,2; m1=t1:0,1,2", "m0=t0:0,1 t1:0,1; m1=t0:2 t1:2"},
		{"more members than partitions", "t0:2", "m0 m1 m2", "m0=; m1=t0:0; m2=t0:1", "m0=t0:0; m1=t0:1; m2="},
		{"B joins A", "t0:3", "A=t0:0,1,2 B", "A=t0:0,1; B=t0:2", "A=t0:0,1; B=t0:2"},
		{"static members first, by instance id", "t0:5", "m0/z m1/a m2", "m0=t0:0; m1=t0:1,2; m2=t0:3,4", "m0=t0:2,3; m1=t0:0,1; m2=t0:4"},
		{"one more stays with whom has it", "t0:5", "m0=t0:0,1 m1=t0:2 m2=t0:3,4", "m0=t0:0,1; m1=t0:2; m2=t0:3,4", "m0=t0:0,1; m1=t0:2,3; m2=t0:4"},
		{"m1 has left", "t0:7", "m0=t0:0,3,6 m2=t0:2,5", "m0=t0:0,3,6; m2=t0:1,2,4,5", "m0=t0:0,1,2,3; m2=t0:4,5,6"},
		{"the last of the walk is m10, not m7", "t0:1", "m10 m7", "m10=t0:0; m7=", "m10=t0:0; m7="},
		{"in 16 buckets 17 comes before 2, and 10 last", "t0:20", "m0=t0:1,2,3,4,5,6,7,8,9,10,17 m1",
			"m0=t0:1,2,3,4,5,6,7,8,9,17; m1=t0:0,10,11,12,13,14,15,16,18,19",
			"m0=t0:0,1,2,3,4,5,6,7,8,9; m1=t0:10,11,12,13,14,15,16,17,18,19"},
		{"a target of two members counts for the first", "t0:2", "m0=t0:0 m1=t0:0", "m0=t0:0; m1=t0:1", "m0=t0:0; m1=t0:1"},
		{"different subscriptions", "t0:1 t1:2 t2:3", "m0{t0} m1{t0,t1} m2", "m0=t0:0; m1=t1:0,1; m2=t2:0,1,2", "m0=t0:0; m1=t1:0; m2=t1:1 t2:0,1,2"},
		{"a topic that is gone, and one no longer subscribed to", "t0:2 t1:2", "m0{t0}=t0:0;t1:0,1;gone:0 m1{t1}",
			"m0=t0:0,1; m1=t1:0,1", "m0=t0:0,1; m1=t1:0,1"},
		{"the highest move, until the two differ by one", "t0:6 t1:1", "m0{t0}=t0:0,1,2,3,4,5 m1", "m0=t0:0,1,2,3; m1=t0:4,5 t1:0", "m0=t0:0,1,2; m1=t0:3,4,5 t1:0"},
	} {
		group := parseGroup(t, test.topics, test.members)
		if got := format(byName(t, "uniform").Assign(group)); got != test.uniform {
			t.Errorf("%s, uniform:\n got %s\nwant %s", test.row, got, test.uniform)
		}
		if got := format(byName(t, "server-range").Assign(group)); got != test.serverRange {
			t.Errorf("%s, server-range:\n got %s\nwant %s", test.row, got, test.serverRange)
		}
	}
}

// The last of the walk gets the partition. c2 and cR share a bucket of it: there the coordinator's own table has
// c2 after cR, and whoever joins comes last.
func TestUniformWalksWhoJoinsLast(t *testing.T) {
	for joining, want := range map[string]string{"": "c2=t0:0; cR=", "c2": "c2=t0:0; cR=", "cR": "c2=; cR=t0:0"} {
		group := parseGroup(t, "t0:1", "c2 cR")
		for i := range group.Members {
			group.Members[i].Joining = string(group.Members[i].ID) == joining
		}
		if got := format(byName(t, "uniform").Assign(group)); got != want {
			t.Errorf("%q joins:\n got %s\nwant %s", joining, got, want)
		}
	}
}

// GRP-01: three active and two idle, GRP-02: 2, 2, 3 and 3, whatever the member ids are; they decide who.
func TestUniformCasesWithAnyIDs(t *testing.T) {
	for seed := uint64(1); seed <= 200; seed++ {
		rnd := prng.New(seed)
		members := func(n int) string {
			ids := make([]string, n)
			for i := range ids {
				ids[i] = fmt.Sprintf("%016x%016x", rnd.Uint64(), rnd.Uint64())
			}
			return strings.Join(ids, " ")
		}
		uniform := byName(t, "uniform")
		got := counts(uniform.Assign(parseGroup(t, "t:3", members(5))))
		slices.Sort(got)
		if want := []int{0, 0, 1, 1, 1}; !slices.Equal(got, want) {
			t.Fatalf("GRP-01, seed %d: %v partitions, want %v", seed, got, want)
		}
		got = counts(uniform.Assign(parseGroup(t, "t0:1 t1:1 t2:1 t3:1 t4:1 t5:1 t6:1 t7:1 t8:1 t9:1", members(4))))
		slices.Sort(got)
		if want := []int{2, 2, 3, 3}; !slices.Equal(got, want) {
			t.Fatalf("GRP-02, seed %d: %v partitions, want %v", seed, got, want)
		}
	}
}

// With equal subscriptions members differ by at most one; with others no partition could go to a member from
// one that has two more.
func TestUniformIsBalanced(t *testing.T) {
	checkBalanced(t, byName(t, "uniform"))
}

// What is assigned stays when nothing changes. When a member comes or goes and subscriptions are equal, every
// other keeps as much as it may have.
func TestUniformKeeps(t *testing.T) {
	checkKeeps(t, byName(t, "uniform"))
}
