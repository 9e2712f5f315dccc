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

// threeGroups makes three brokers with a topic of three replicas that the groups my-group, orders and group-1 read.
// Ten records stand in each of its six partitions.
func threeGroups(offsetsReplicas int) *engine.Spec {
	spec := grouped(6, 0)
	spec.Cluster = engine.DefaultCluster(3)
	spec.Cluster.Groups.OffsetsReplicationFactor = offsetsReplicas
	spec.Topic.ReplicationFactor = 3
	spec.Groups = nil
	for _, id := range []string{"my-group", "orders", "group-1"} {
		addGroup(spec, id, 1)
	}
	for i := range spec.Groups {
		spec.Groups[i].Members[0].Config.Group.App.Commit = engine.CommitBatch
	}
	for p := range 6 {
		filled(spec, p, 10)
	}
	return spec
}

// loseCoordinator kills the broker that leads partition 12 of __consumer_offsets and waits until the controller knows.
// It gives whether that broker leads partition 31 too.
func loseCoordinator(t *testing.T, c *engine.Cluster) (gone kafka.NodeID, both bool) {
	t.Helper()
	gone = group(t, c, "my-group").Coordinator
	both = group(t, c, "orders").Coordinator == gone
	give(t, c, "kill "+string(gone), "wait 30s")
	return gone, both
}

// readOn writes a record to each partition and says how many of them a group processes in ten seconds.
func readOn(t *testing.T, c *engine.Cluster, id string) (n int) {
	t.Helper()
	from := c.Journal().Len()
	for _, p := range []string{"0", "1", "2", "3", "4", "5"} {
		give(t, c, "produce-to p0 "+p)
	}
	give(t, c, "wait 10s")
	return len(since[journal.RecordProcessed](c, from, kafka.NodeID(id+"-1")))
}

// GRP-19: a group lives on one partition of __consumer_offsets. With one replica it has no other place to go.
func TestGRP19(t *testing.T) {
	for id, want := range map[string]kafka.Partition{"my-group": 12, "orders": 31, "group-1": 49, "checkout": 18, "billing": 9} {
		if got := engine.OffsetsPartition(id); got != want {
			t.Errorf("group %s lives on partition %d, want %d", id, got, want)
		}
	}
	c := start(t, threeGroups(1))
	give(t, c, "wait 10s")
	gone, both := loseCoordinator(t, c)
	if both {
		t.Fatal("both groups have one coordinator under this seed")
	}
	from := c.Journal().Len()
	give(t, c, "wait 5m")
	lost := since[journal.CoordinatorLost](c, from, "my-group-1")
	for _, b := range lost {
		if b.Why != "FindCoordinator was answered with COORDINATOR_NOT_AVAILABLE" {
			t.Errorf("my-group: %s", b.Why)
		}
	}
	if len(lost) < 100 || group(t, c, "my-group").Coordinator != "" {
		t.Errorf("my-group: asked %d times in five minutes, coordinator %q; want again and again, and none", len(lost), group(t, c, "my-group").Coordinator)
	}
	if n := readOn(t, c, "orders"); n != 6 {
		t.Errorf("orders: %d of 6 records are processed", n)
	}
	if lag := group(t, c, "orders").Lag; lag != 0 {
		t.Errorf("orders: lag %d, want everything committed", lag)
	}
	give(t, c, "start "+string(gone), "wait 30s")
	if g := group(t, c, "my-group"); g.Coordinator != gone || g.State != "Stable" {
		t.Errorf("my-group: coordinator %s, %s; want %s again", g.Coordinator, g.State, gone)
	}
}

// GRP-19 with three replicas: another broker coordinates, and has the offsets.
func TestGRP19ThreeReplicas(t *testing.T) {
	c := start(t, threeGroups(3))
	give(t, c, "wait 10s")
	before := committed(t, c, "my-group")
	gone, _ := loseCoordinator(t, c)
	g := group(t, c, "my-group")
	if g.Coordinator == "" || g.Coordinator == gone || g.State != "Stable" {
		t.Errorf("my-group: coordinator %q, %s; want another than %s, Stable", g.Coordinator, g.State, gone)
	}
	if after := committed(t, c, "my-group"); after != before || !strings.Contains(before, "t-5=10") {
		t.Errorf("my-group: committed %s, before it was %s", after, before)
	}
	if n := readOn(t, c, "my-group"); n != 6 {
		t.Errorf("my-group: %d of 6 records are processed", n)
	}
}

// committed gives what a group's coordinator has as committed.
func committed(t *testing.T, c *engine.Cluster, id string) string {
	t.Helper()
	var list []string
	for _, o := range group(t, c, id).Held.Offsets {
		list = append(list, o.TopicPartition.String()+fmt.Sprint("=", o.Offset))
	}
	return strings.Join(list, " ")
}

// GRP-20: the tool resets offsets of a group without members only.
func TestGRP20(t *testing.T) {
	spec := grouped(3, 1)
	addGroup(spec, "d", 1)
	spec.Groups[1].Members[0].Off = true
	for p := range 3 {
		filled(spec, p, 10)
	}
	spec.Groups[0].Members[0].Config.Group.App.Commit = engine.CommitBatch
	c := start(t, spec)
	give(t, c, "wait 1s", "reset c to earliest", "wait 1s")
	if refused := last[journal.ResetRefused](t, c, "admin"); refused.State != "Stable" || refused.Members != 1 {
		t.Errorf("%+v, want it refused in the state Stable", refused)
	}
	if got, want := committed(t, c, "c"), "t-0=10 t-1=10 t-2=10"; got != want {
		t.Errorf("after the refusal: committed %s, want %s", got, want)
	}

	give(t, c, "reset d to earliest", "wait 1s") // no such group
	if got, want := committed(t, c, "d"), "t-0=0 t-1=0 t-2=0"; got != want {
		t.Errorf("a group that there was not: committed %s, want %s", got, want)
	}

	give(t, c, "leave c-1", "wait 20ms", "reset c to earliest", "wait 1s") // the way of LeaveGroup, no wait
	if got, want := committed(t, c, "c"), "t-0=0 t-1=0 t-2=0"; got != want {
		t.Errorf("after close: committed %s, want %s", got, want)
	}
}

// GRP-20, kill -9: the group is empty when the session of 45 s is over, and not before.
func TestGRP20AfterKill(t *testing.T) {
	spec := grouped(3, 1)
	filled(spec, 0, 10)
	spec.Groups[0].Members[0].Config.Group.App.Commit = engine.CommitBatch
	c := start(t, spec)
	give(t, c, "wait 1s")
	heard := func() kafka.Millis { return group(t, c, "c").Held.Members[0].SessionEnds }
	for before := heard(); heard() == before; { // until the next heartbeat
		give(t, c, "wait 1ms")
	}
	give(t, c, "kill c-1", "wait 44900ms", "reset c to earliest", "wait 50ms")
	if refused := all[journal.ResetRefused](c, "admin"); len(refused) != 1 {
		t.Errorf("before 45 s: %+v, want it refused", refused)
	}
	give(t, c, "wait 50ms", "reset c to earliest", "wait 1s")
	if reset := all[journal.OffsetsReset](c, "admin"); len(reset) != 1 || !slices.Contains(reset[0].Offsets, journal.OffsetChange{TopicPartition: kafka.TopicPartition{Topic: "t"}, From: 10}) {
		t.Errorf("after 45 s: %+v, want t-0 set from 10 to 0", reset)
	}
}
