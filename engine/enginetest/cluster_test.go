package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/replication"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// replicated makes a spec of one partition with a replica on each of brokers 1, 2, …, broker 1 the preferred
// leader. Its producer sends a record as soon as it has it.
func replicated(brokers, minISR int) *engine.Spec {
	spec := orders(1, 1)
	spec.Cluster = engine.DefaultCluster(brokers)
	spec.Topic.ReplicationFactor, spec.Topic.MinInsyncReplicas = brokers, minISR
	spec.Topic.Replicas = [][]kafka.BrokerID{nil}
	for id := range brokers {
		spec.Topic.Replicas[0] = append(spec.Topic.Replicas[0], kafka.BrokerID(id+1))
	}
	spec.Producers[0].Config.Linger = 0
	return spec
}

// withProducer adds a producer that is like the first but for its acks.
func withProducer(spec *engine.Spec, acks int16) {
	config := spec.Producers[0].Config
	config.Acks = acks
	spec.Producers = append(spec.Producers, engine.ProducerSpec{Config: config})
}

// send hands p0 the records from-to, inclusive, with the values r0, r1, …, and gives each time to be acknowledged.
func send(t *testing.T, c *engine.Cluster, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		give(t, c, fmt.Sprintf("produce p0 - r%d", i), "wait 100ms")
	}
}

// values gives "0:r0", "1:r1", …, the records from-to as [contents] has them where each stands at its own offset.
func values(from, to int) (list []string) {
	for i := from; i <= to; i++ {
		list = append(list, fmt.Sprintf("%d:r%d", i, i))
	}
	return list
}

// state gives a partition in one line: "leader=1 epoch=0 isr=[1 2] elr=[] b1=5/5 b2=3/5"; of each replica in the
// order of assignment stand high watermark and log end offset, or "down".
func state(c *engine.Cluster) string {
	p := c.View().Partitions[0]
	var b strings.Builder
	fmt.Fprintf(&b, "leader=%d epoch=%d isr=%v elr=%v", p.Leader, p.LeaderEpoch, p.ISR, p.ELR)
	if len(p.LastKnownELR) > 0 {
		fmt.Fprintf(&b, " last-known-elr=%v", p.LastKnownELR)
	}
	for _, r := range p.Replicas {
		if r.Online {
			fmt.Fprintf(&b, " b%d=%d/%d", r.Broker, r.HighWatermark, r.LogEndOffset)
		} else {
			fmt.Fprintf(&b, " b%d=down", r.Broker)
		}
	}
	return b.String()
}

// expect compares the partition with its state in one line.
func expect(t *testing.T, c *engine.Cluster, when, want string) {
	t.Helper()
	if got := state(c); got != want {
		t.Errorf("%s:\n got %s\nwant %s", when, got, want)
	}
}

// replica gives the replica of the first partition on a broker, which must run.
func replica(t *testing.T, c *engine.Cluster, id kafka.BrokerID) engine.ReplicaView {
	t.Helper()
	for _, r := range c.View().Partitions[0].Replicas {
		if r.Broker == id && r.Online {
			return r
		}
	}
	t.Fatalf("broker %d has no replica that runs", id)
	return engine.ReplicaView{}
}

// expectLog compares the records of a broker's replica, "offset:value" each.
func expectLog(t *testing.T, c *engine.Cluster, id kafka.BrokerID, when string, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, recordsIn(t, replica(t, c, id).Replica.Segments)); diff != "" {
		t.Errorf("%s: the log of broker %d (-want +got):\n%s", when, id, diff)
	}
}

// expectEpochs compares where the leader epochs begin in a broker's replica.
func expectEpochs(t *testing.T, c *engine.Cluster, id kafka.BrokerID, when string, want ...storage.EpochEntry) {
	t.Helper()
	if diff := cmp.Diff(want, replica(t, c, id).Replica.Epochs); diff != "" {
		t.Errorf("%s: the leader epochs of broker %d (-want +got):\n%s", when, id, diff)
	}
}

// all gives the bodies of one kind among the events so far, in order; of a node, or of any with "".
func all[B journal.Body](c *engine.Cluster, node kafka.NodeID) (list []B) {
	for _, e := range events(c) {
		if body, ok := e.Body.(B); ok && (node == "" || e.Node == node) {
			list = append(list, body)
		}
	}
	return list
}

// last gives the last event of one kind of a node.
func last[B journal.Body](t *testing.T, c *engine.Cluster, node kafka.NodeID) B {
	t.Helper()
	list := all[B](c, node)
	if len(list) == 0 {
		var none B
		t.Fatalf("%s has no event %s", node, none.Kind())
	}
	return list[len(list)-1]
}

// acknowledged gives the offsets that a producer was told, in the order it was told of them.
func acknowledged(c *engine.Cluster, producer kafka.NodeID) (offsets []int) {
	for _, a := range all[journal.ProduceAcknowledged](c, producer) {
		for i := range a.Records {
			offsets = append(offsets, int(a.BaseOffset)+i)
		}
	}
	return offsets
}

// span gives from, from+1, …, to.
func span(from, to int) (list []int) {
	for i := from; i <= to; i++ {
		list = append(list, i)
	}
	return list
}

// expectAcknowledged compares the offsets that p0 was told.
func expectAcknowledged(t *testing.T, c *engine.Cluster, when string, want []int) {
	t.Helper()
	if got := acknowledged(c, "p0"); !slices.Equal(got, want) {
		t.Errorf("%s: acknowledged %v, want %v", when, got, want)
	}
}

// expectLost compares which of the records of p0, r0, r1, …, that had been acknowledged at their own offset the
// leader's log does not have any more.
func expectLost(t *testing.T, c *engine.Cluster, acknowledged, want []int) {
	t.Helper()
	have := contents(t, c, 0)
	var lost []int
	for _, n := range acknowledged {
		if !slices.Contains(have, fmt.Sprintf("%d:r%d", n, n)) {
			lost = append(lost, n)
		}
	}
	if !slices.Equal(lost, want) {
		t.Errorf("lost %v of the acknowledged records, want %v; the log is %v", lost, want, have)
	}
}

// errorsOf gives the errors that a producer met so far, each once, in the order it met them.
func errorsOf(c *engine.Cluster, producer kafka.NodeID) (list []string) {
	add := func(name string) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, e := range events(c) {
		switch b := e.Body.(type) {
		case journal.BatchRetried:
			if e.Node == producer {
				add(b.Error)
			}
		case journal.ProduceFailed:
			if e.Node == producer {
				add(b.Error)
			}
		}
	}
	return list
}

// read gives the position of the group's first member in the first partition.
func read(c *engine.Cluster) int { return int(c.View().Groups[0].Members[0].Assignment[0].Position) }

// watch lets n ticks pass and gives every message that was under way at the end of one of them, each once. No
// message is missed while a link takes at least a tick.
func watch(t *testing.T, c *engine.Cluster, n int) (list []*simnet.Message) {
	t.Helper()
	seen := map[uint64]bool{}
	for range n {
		for _, m := range c.View().UnderWay {
			if !seen[m.ID] {
				seen[m.ID] = true
				list = append(list, m.Message)
			}
		}
		tick(t, c, 1)
	}
	return list
}

// roles gives the role of each replica of the first partition, in the order of assignment.
func roles(c *engine.Cluster) (list []replication.Role) {
	for _, r := range c.View().Partitions[0].Replicas {
		list = append(list, r.Role)
	}
	return list
}
