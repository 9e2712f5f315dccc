package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"loglab/engine"
)

// GRP-01: a partition has one reader in a group; of five members with three partitions two are idle.
func TestGRP01(t *testing.T) {
	c := start(t, grouped(3, 5, "range"))
	expectOwns(t, c, "c", "range", "1=t-0 2=t-1 3=t-2 4= 5=")
	c = start(t, grouped(3, 5, "roundrobin"))
	if got, want := ownedCounts(t, c, "c"), []int{1, 1, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("roundrobin: %v, want %v", got, want)
	}
	for _, test := range []struct{ partitions, members, active, idle int }{{5, 8, 5, 3}, {4, 6, 4, 2}} {
		active, idle := 0, 0
		for _, n := range ownedCounts(t, start(t, grouped(test.partitions, test.members, "range")), "c") {
			if n > 0 {
				active++
			} else {
				idle++
			}
		}
		if active != test.active || idle != test.idle {
			t.Errorf("%d partitions, %d members: %d active and %d idle, want %d and %d", test.partitions, test.members, active, idle, test.active, test.idle)
		}
	}
}

// processedBy counts the records that a member's application has processed.
func processedBy(c *engine.Cluster, node string) (n int) {
	for _, e := range events(c) {
		if string(e.Node) == node && e.Body.Kind() == "RecordProcessed" {
			n++
		}
	}
	return n
}

// GRP-01: with one partition one of two members reads all of it; two groups of one member each read all of it.
func TestGRP01WhoReads(t *testing.T) {
	spec := grouped(1, 2)
	filled(spec, 0, 10)
	c := start(t, spec)
	tick(t, c, 5)
	if a, b := processedBy(c, "c-1"), processedBy(c, "c-2"); a != 10 || b != 0 {
		t.Errorf("one partition and two members: they read %d and %d records, want 10 and 0", a, b)
	}
	spec = grouped(1, 1)
	addGroup(spec, "d", 1)
	filled(spec, 0, 10)
	c = start(t, spec)
	tick(t, c, 5)
	if a, b := processedBy(c, "c-1"), processedBy(c, "d-1"); a != 10 || b != 10 {
		t.Errorf("two groups of one: they read %d and %d records, want 10 and 10", a, b)
	}
}

// topics makes topics t0, t1, … of one size that a group of members reads.
func topics(number, partitions, members int, strategy string) *engine.Spec {
	spec := grouped(partitions, members, strategy)
	spec.Topic.Name, spec.Producers[0].Config = "t0", engine.DefaultProducerConfig("t0")
	everyMember(spec, func(c *engine.ConsumerConfig) { c.Topics = []string{"t0"} })
	for i := 1; i < number; i++ {
		addTopic(spec, fmt.Sprintf("t%d", i), partitions)
	}
	return spec
}

// expectCounts compares how many partitions each member owns.
func expectCounts(t *testing.T, what string, spec *engine.Spec, want ...int) {
	t.Helper()
	if got := ownedCounts(t, start(t, spec), "c"); !slices.Equal(got, want) {
		t.Errorf("%s: the members own %v partitions, want %v", what, got, want)
	}
}

// GRP-02: range divides topic by topic and begins with the first member every time.
func TestGRP02(t *testing.T) {
	expectCounts(t, "range", topics(10, 1, 4, "range"), 10, 0, 0, 0)
	for _, strategy := range []string{"roundrobin", "cooperative-sticky"} {
		expectOwns(t, start(t, topics(10, 1, 4, strategy)), "c", strategy, "1=t0-0,t4-0,t8-0 2=t1-0,t5-0,t9-0 3=t2-0,t6-0 4=t3-0,t7-0")
	}
	for strategy, want := range map[string]string{"range": "1=A-0,B-0 2=", "roundrobin": "1=A-0 2=B-0"} {
		spec := grouped(1, 2, strategy)
		spec.Topic.Name, spec.Producers = "A", nil
		everyMember(spec, func(c *engine.ConsumerConfig) { c.Topics = []string{"A"} })
		addTopic(spec, "B", 1)
		expectOwns(t, start(t, spec), "c", "two topics of one partition, "+strategy, want)
	}
}

// GRP-04: range's leftovers hit the first member in every topic.
func TestGRP04(t *testing.T) {
	expectCounts(t, "ten topics of three, range", topics(10, 3, 2, "range"), 20, 10)
	expectCounts(t, "ten topics of three, roundrobin", topics(10, 3, 2, "roundrobin"), 15, 15)
	expectCounts(t, "two topics of six, range", topics(2, 6, 4, "range"), 4, 4, 2, 2)
	expectCounts(t, "two topics of six, cooperative-sticky", topics(2, 6, 4, "cooperative-sticky"), 3, 3, 3, 3)
	expectOwns(t, start(t, topics(2, 3, 2, "range")), "c", "two topics of three, range", "1=t0-0,t0-1,t1-0,t1-1 2=t0-2,t1-2")
}

// GRP-06: with unequal subscriptions round robin goes through the partitions in order, sticky keeps the spread small.
// The case's C0, C1 and C2 are c-1, c-2 and c-3.
func TestGRP06(t *testing.T) {
	for strategy, want := range map[string]string{
		"roundrobin":         "1=t0-0 2=t1-0 3=t1-1,t2-0,t2-1,t2-2",
		"sticky":             "1=t0-0 2=t1-0,t1-1 3=t2-0,t2-1,t2-2",
		"cooperative-sticky": "1=t0-0 2=t1-0,t1-1 3=t2-0,t2-1,t2-2",
	} {
		spec := topics(1, 1, 3, strategy)
		addTopic(spec, "t1", 2)
		addTopic(spec, "t2", 3)
		for i := range spec.Groups[0].Members {
			config := &spec.Groups[0].Members[i].Config
			config.Topics = config.Topics[:i+1]
		}
		expectOwns(t, start(t, spec), "c", strategy, want)
	}
}
