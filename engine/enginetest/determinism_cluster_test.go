package enginetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
)

// The same holds for clusters of several brokers with faults: the runs that the simulator draws give the same journal
// and the same bytes on every broker from zero and from clones taken on the way, before and after the commands of a tick,
// whether the clone or the original runs on first.
func TestSameRunOfClustersWithFaults(t *testing.T) {
	for seed := uint64(1); seed <= 12; seed++ {
		s := drawSimulation(seed)
		s.ticks = min(s.ticks, 400)
		first := s.from(t)
		var clones []*engine.Cluster
		for at := 0; at <= s.ticks; at++ {
			if at > 0 {
				tick(t, first, 1)
			}
			if at%37 == int(seed%37) {
				clones = append(clones, first.Clone())
			}
			give(t, first, s.commands[at]...)
		}
		second := s.from(t)
		s.advance(t, second, 0)
		sameEverywhere(t, seed, "from zero", first, second)
		for i, clone := range clones {
			at := i*37 + int(seed%37)
			again := clone.Clone() // a checkpoint stays as it is; its clones run
			s.advance(t, again, at)
			sameEverywhere(t, seed, fmt.Sprintf("from a clone at tick %d", at), first, again)
		}
	}
}

// from makes the cluster of a simulation.
func (s *simulation) from(t *testing.T) *engine.Cluster {
	t.Helper()
	c, err := engine.New(s.spec, s.seed)
	if err != nil {
		t.Fatalf("seed %d: %v", s.seed, err)
	}
	return c
}

// advance runs a cluster from a tick, its commands not yet given, to the end.
func (s *simulation) advance(t *testing.T, c *engine.Cluster, from int) {
	t.Helper()
	for at := from; at <= s.ticks; at++ {
		if at > from {
			tick(t, c, 1)
		}
		give(t, c, s.commands[at]...)
	}
}

// sameEverywhere compares two runs to the byte, at every broker.
func sameEverywhere(t *testing.T, seed uint64, what string, a, b *engine.Cluster) {
	t.Helper()
	if diff := cmp.Diff(lines(a), lines(b)); diff != "" {
		t.Fatalf("seed %d, %s: the journals differ (-first +second):\n%s", seed, what, diff)
	}
	x, y := a.View(), b.View()
	for i := range x.Partitions {
		for k := range x.Partitions[i].Replicas {
			m, n := x.Partitions[i].Replicas[k].Replica, y.Partitions[i].Replicas[k].Replica
			if (m == nil) != (n == nil) {
				t.Fatalf("seed %d, %s: replica %d of partition %d is open in one run", seed, what, k, i)
			}
			if m == nil {
				continue
			}
			for at := range m.Segments {
				u, v := m.Segments[at], n.Segments[at]
				if !bytes.Equal(u.Bytes, v.Bytes) || !bytes.Equal(u.OffsetIndex, v.OffsetIndex) || !bytes.Equal(u.TimeIndex, v.TimeIndex) {
					t.Fatalf("seed %d, %s: segment %d of replica %d of partition %d differs", seed, what, u.BaseOffset, k, i)
				}
			}
		}
	}
	if diff := cmp.Diff(a.Ledger(), b.Ledger()); diff != "" {
		t.Fatalf("seed %d, %s: the ledgers differ (-first +second):\n%s", seed, what, diff)
	}
}
