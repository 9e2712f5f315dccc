package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// threeMembers makes a group of three members that are stable at generation 5, static ones or not, while a record a
// second comes to each of three partitions. Half a second is over since the last.
func threeMembers(t *testing.T, static bool) *engine.Cluster {
	t.Helper()
	spec := grouped(3, 3, "range")
	spec.Producers[0].Config.Keyless = "round-robin"
	spec.Producers[0].Workload = engine.Workload{Rate: 3, Every: 1000}
	for i := range spec.Groups[0].Members {
		config := &spec.Groups[0].Members[i].Config
		config.Group.AutoCommit = true
		if static {
			config.Group.InstanceID = kafka.GroupInstanceID(fmt.Sprintf("i%d", i+1))
		}
	}
	c := start(t, spec)
	for range 4 {
		give(t, c, "rebalance c-1", "wait 5s") // the leader joins again
	}
	give(t, c, "wait 500ms")
	stable(t, c, "c", "at the start", 5)
	expectOwns(t, c, "c", "at the start", "1=t-0 2=t-1 3=t-2")
	return c
}

// expectRebalances compares the generations that a group has come to since an event, and how many rebalances began.
func expectRebalances(t *testing.T, c *engine.Cluster, from int, when string, rebalances int, want ...int) {
	t.Helper()
	if got := generations(c, from); !slices.Equal(got, want) {
		t.Errorf("%s: generations %v, want %v", when, got, want)
	}
	if got := len(since[journal.RebalanceStarted](c, from, "")); got != rebalances {
		t.Errorf("%s: %d rebalances, want %d", when, got, rebalances)
	}
}

// GRP-10 a: a static member is away for less than its session. Nobody notices, and nobody reads its partition.
func TestGRP10a(t *testing.T) {
	c := threeMembers(t, true)
	from := c.Journal().Len()
	give(t, c, "leave c-2", "wait 20s")
	if o := offset(t, c, "c", "t-1"); o.Lag != 20 || o.Owner != "" {
		t.Errorf("after 20 s: lag %d, owner %q; want 20 and none", o.Lag, o.Owner)
	}
	give(t, c, "start c-2", "wait 10s")
	expectRebalances(t, c, from, "it is back", 0)
	stable(t, c, "c", "it is back", 5)
	expectOwns(t, c, "c", "it is back", "1=t-0 2=t-1 3=t-2")
	if left := since[journal.ConsumerClosed](c, from, "c-2"); len(left) != 1 || left[0].Stays == "" {
		t.Errorf("%+v, want it to close without LeaveGroup", left)
	}
}

// GRP-10 b: a static member is away for longer than its session. Its last sign of life is the commit of its close,
// which was a latency of 5 ms under way.
func TestGRP10b(t *testing.T) {
	c := threeMembers(t, true)
	from := c.Journal().Len()
	give(t, c, "leave c-2", "wait 45005ms")
	expectRebalances(t, c, from, "before the session ends", 0)
	give(t, c, "wait 1ms")
	expectRebalances(t, c, from, "when the session ends", 1)
	if o := offset(t, c, "c", "t-1"); o.Lag != 45 {
		t.Errorf("when the session ends the lag is %d, want 45", o.Lag)
	}
	give(t, c, "wait 15s")
	expectRebalances(t, c, from, "after 60 s", 1, 6)
	if o := offset(t, c, "c", "t-1"); o.Lag > 6 {
		t.Errorf("after 60 s the lag is %d, want another to have read on", o.Lag)
	}
	give(t, c, "start c-2", "wait 10s")
	expectRebalances(t, c, from, "it is back", 2, 6, 7)
	stable(t, c, "c", "it is back", 7)
	expectOwns(t, c, "c", "it is back", "1=t-0 2=t-1 3=t-2")
}

// GRP-10 c: a dynamic member leaves and comes back. Others read its partition meanwhile: the lag is what is not
// committed in auto.commit.interval.ms = 5,000 ms, and the record under way.
func TestGRP10c(t *testing.T) {
	c := threeMembers(t, false)
	from := c.Journal().Len()
	give(t, c, "leave c-2", "wait 20s")
	expectRebalances(t, c, from, "after 20 s", 1, 6)
	if o := offset(t, c, "c", "t-1"); o.Lag > 6 || o.Owner == "" {
		t.Errorf("after 20 s: lag %d, owner %q; want at most 6 and another member", o.Lag, o.Owner)
	}
	give(t, c, "start c-2", "wait 10s")
	expectRebalances(t, c, from, "it is back", 2, 6, 7)
	stable(t, c, "c", "it is back", 7)
}

// GRP-10 d: a rolling restart, each member away for 20 s.
func TestGRP10d(t *testing.T) {
	for _, test := range []struct {
		static     bool
		rebalances int
		want       []int
	}{{true, 0, nil}, {false, 6, []int{6, 7, 8, 9, 10, 11}}} {
		c := threeMembers(t, test.static)
		from := c.Journal().Len()
		for i := 1; i <= 3; i++ {
			give(t, c, fmt.Sprintf("leave c-%d", i), "wait 20s", fmt.Sprintf("start c-%d", i), "wait 10s")
		}
		expectRebalances(t, c, from, fmt.Sprintf("static %t", test.static), test.rebalances, test.want...)
		stable(t, c, "c", fmt.Sprintf("static %t", test.static), 5+test.rebalances)
	}
}
