package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/record"
)

// trouble makes a cluster of three brokers, three replicas a partition, two of which must be in sync, with one
// producer and two consumers, 100 ms a tick.
func trouble(idempotence engine.Idempotence) *engine.Spec {
	spec := orders(3, 2)
	spec.TickMillis, spec.Latency = 100, 5
	spec.Cluster = engine.DefaultCluster(3)
	spec.Topic.ReplicationFactor, spec.Topic.MinInsyncReplicas = 3, 2
	spec.Producers[0].Config.EnableIdempotence = idempotence
	spec.Producers[0].Workload = engine.Workload{Entities: users(), Rate: 3, Every: 100}
	return spec
}

// faults draws commands that do harm to one broker or one link, and those that mend it.
func faults(rnd *rand.Rand) (harm, mend string) {
	broker, client := fmt.Sprintf("b%d", 1+rnd.IntN(3)), []string{"p0", "c0", "c1"}[rnd.IntN(3)]
	switch rnd.IntN(8) {
	case 0, 1:
		return "kill " + broker, "start " + broker
	case 2:
		return "power-loss " + broker, "start " + broker
	case 3:
		return "pause " + broker, "resume " + broker
	case 4:
		return "cut " + client + " " + broker, "heal " + client + " " + broker
	case 5:
		return "drop-next " + broker + " p0", ""
	case 6:
		return "double-next p0 " + broker, ""
	}
	return "drop-next p0 " + broker, ""
}

// One broker or link at a time is harmed and mended. Every record has its end; with sequences each stands in the
// log once and in the order of its key, and without none that was acknowledged is missing; the group reads all.
func TestClientsInTrouble(t *testing.T) {
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		idempotence := []engine.Idempotence{engine.IdempotenceOn, engine.IdempotenceOff}[seed%2]
		c, err := engine.New(trouble(idempotence), seed)
		if err != nil {
			t.Fatal(err)
		}
		var given []string
		for range 5 {
			harm, mend := faults(rnd)
			given = append(given, harm)
			give(t, c, harm)
			tick(t, c, 10+rnd.IntN(200))
			if mend != "" {
				give(t, c, mend)
			}
			tick(t, c, 250) // the broker is in sync again before the next
		}
		give(t, c, "stop-sending p0", "wait 3m")
		story := strings.Join(given, ", ")
		p := c.View().Producers[0]
		if p.Waiting != 0 || p.Acknowledged+p.Failed != p.Produced || p.Produced < 3*1000 {
			t.Errorf("seed %d (%s): of %d records %d wait, %d are acknowledged, %d have failed", seed, story, p.Produced, p.Waiting, p.Acknowledged, p.Failed)
		}
		if lag := c.View().Groups[0].Lag; lag != 0 {
			t.Errorf("seed %d (%s): %d records are not read", seed, story, lag)
		}
		inLogs(t, c, seed, story, idempotence == engine.IdempotenceOn && p.Failed == 0 && !raised(c), p.Acknowledged)
	}
}

func raised(c *engine.Cluster) bool {
	for e := range c.Journal().All() {
		if _, ok := e.Body.(journal.ProducerEpochBumped); ok {
			return true
		}
	}
	return false
}

// inLogs counts what stands in the logs: once says that each event must stand there once, in its key's order.
func inLogs(t *testing.T, c *engine.Cluster, seed uint64, story string, once bool, acknowledged int) {
	t.Helper()
	seen, all := map[string]int{}, 0
	for i, p := range c.View().Partitions {
		newest := map[string]int{}
		for _, segment := range p.Log.Segments {
			for data := segment.Bytes; len(data) > 0; {
				b, err := record.Parse(data)
				if err != nil {
					t.Fatal(err)
				}
				records, err := b.Records()
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range records {
					all++
					event, version := fmt.Sprintf("%s %s", r.Key, r.Value), 0
					fmt.Sscanf(string(r.Value), "event %d", &version)
					seen[event]++
					if once && (seen[event] > 1 || version <= newest[string(r.Key)]) {
						t.Fatalf("seed %d (%s): partition %d holds %q after event %d, %d times", seed, story, i, event, newest[string(r.Key)], seen[event])
					}
					newest[string(r.Key)] = version
				}
				data = data[b.Size():]
			}
		}
	}
	if len(seen) < acknowledged || once && all != acknowledged {
		t.Errorf("seed %d (%s): %d records are acknowledged; %d stand in the logs, %d different", seed, story, acknowledged, all, len(seen))
	}
	t.Logf("seed %d (%s): %d acknowledged, %d in the logs, once %v", seed, story, acknowledged, all, once)
}

// A run with faults is the same from zero and from clones taken on the way, while their originals go on.
func TestTroubleFromClones(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		d := drawn{spec: trouble([]engine.Idempotence{engine.IdempotenceOn, engine.IdempotenceOff}[seed%2]), seed: seed, ticks: 300, commands: map[int][]string{}}
		for range 12 {
			harm, mend := faults(rnd)
			if rnd.IntN(3) == 0 {
				node := []string{"p0", "c0"}[rnd.IntN(2)]
				harm, mend = "kill "+node, "start "+node
			}
			at := rnd.IntN(d.ticks)
			d.commands[at] = append(d.commands[at], harm)
			if mend != "" {
				later := at + rnd.IntN(100)
				d.commands[later] = append(d.commands[later], mend)
			}
		}
		first := start2(t, d)
		var clones []*engine.Cluster
		for at := 0; at <= d.ticks; at++ {
			d.advance(t, first, max(at-1, 0), at, at == 0)
			if at%75 == int(seed) {
				clones = append(clones, first.Clone())
			}
		}
		for i, clone := range clones {
			again := clone.Clone()
			d.advance(t, again, i*75+int(seed), d.ticks, false)
			same(t, seed, fmt.Sprintf("from clone %d", i), first, again)
		}
		second := start2(t, d)
		d.advance(t, second, 0, d.ticks, true)
		same(t, seed, "from zero", first, second)
	}
}
