package enginetest

import (
	"testing"

	"loglab/engine"
	"loglab/engine/kafka"
)

// A tick of five brokers with three partitions of three replicas under load, alone and with a look at the invariants.
func BenchmarkCheck(b *testing.B) {
	for _, checks := range []bool{false, true} {
		b.Run(map[bool]string{false: "tick", true: "tick and check"}[checks], func(b *testing.B) {
			spec := orders(3, 2)
			spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(5), 3
			spec.Producers[0].Workload = engine.Workload{Rate: 2, Every: kafka.Millis(spec.TickMillis), Entities: []string{"a", "b", "c"}}
			c, err := engine.New(spec, 1)
			if err != nil {
				b.Fatal(err)
			}
			var k engine.Checker
			for b.Loop() {
				if err := c.Tick(); err != nil {
					b.Fatal(err)
				}
				if checks {
					if found := c.Check(&k); found != nil {
						b.Fatal(found[0])
					}
				}
			}
		})
	}
}
