package enginetest

import (
	"runtime"
	"strconv"
	"testing"

	"loglab/engine"
	"loglab/engine/command"
)

// busy makes the world of the benchmarks: three brokers, six partitions with three replicas each, ten records a
// tick with acks=all from an idempotent producer, two consumers.
func busy() *engine.Spec {
	spec := orders(6, 2)
	spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(3), 3
	spec.Producers[0].Config.EnableIdempotence = engine.IdempotenceUnset
	var keys []string
	for i := range 24 {
		keys = append(keys, "order-"+strconv.Itoa(i+1))
	}
	spec.Topic.Config.SegmentBytes = 64 << 10
	spec.Producers[0].Workload = engine.Workload{Entities: keys, Rate: 10, Every: 10, ValueBytes: 100}
	return spec
}

func run(b *testing.B, c *engine.Cluster, ticks int) {
	b.Helper()
	for range ticks {
		if err := c.Tick(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTick is one tick of the busy world after warm-up, and again after 10,000 ticks: a long run must not
// slow down.
func BenchmarkTick(b *testing.B) {
	for _, after := range []int{200, 10_000} {
		b.Run("after="+strconv.Itoa(after), func(b *testing.B) {
			c, err := engine.New(busy(), 1)
			if err != nil {
				b.Fatal(err)
			}
			run(b, c, after)
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; n += 1000 { // from the same place each time: the log stays bounded
				b.StopTimer()
				clone := c.Clone()
				run(b, clone, 1)
				b.StartTimer()
				run(b, clone, min(1000, b.N-n))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ticks/s")
		})
	}
}

// BenchmarkReplay is a replay of 10,000 ticks from nothing.
func BenchmarkReplay(b *testing.B) {
	for b.Loop() {
		c, err := engine.New(busy(), 1)
		if err != nil {
			b.Fatal(err)
		}
		run(b, c, 10_000)
	}
}

// BenchmarkMemory is what a run of 2,000 ticks holds with a clone every 50 ticks.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c, err := engine.New(busy(), 1)
		if err != nil {
			b.Fatal(err)
		}
		clones := []*engine.Cluster{c.Clone()}
		for range 40 {
			run(b, c, 50)
			clones = append(clones, c.Clone())
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		runtime.KeepAlive(clones)
	}
}

func BenchmarkClone(b *testing.B) {
	c, err := engine.New(busy(), 1)
	if err != nil {
		b.Fatal(err)
	}
	run(b, c, 2000)
	b.ReportAllocs()
	for b.Loop() {
		c.Clone()
	}
}

// BenchmarkMembers is one tick of a second of 16 members that read 64 partitions, ten records a tick, under each
// protocol: at rest, and with a member that restarts every ten ticks.
func BenchmarkMembers(b *testing.B) {
	for _, protocol := range []string{"range", "cooperative-sticky", "consumer"} {
		for _, restarts := range []bool{false, true} {
			b.Run(protocol+map[bool]string{false: "/at rest", true: "/restarts"}[restarts], func(b *testing.B) {
				spec := grouped(64, 16, protocol)
				if protocol == "consumer" {
					everyMember(spec, asConsumer)
				}
				spec.Producers[0].Workload = engine.Workload{Entities: []string{"a", "b", "c", "d"}, Rate: 10, Every: 1000, ValueBytes: 100}
				start, err := engine.New(spec, 1)
				if err != nil {
					b.Fatal(err)
				}
				run(b, start, 30)
				c, ticks := start.Clone(), 0
				for b.Loop() {
					if ticks++; ticks%1000 == 0 {
						c = start.Clone()
					}
					if restarts && ticks%10 == 0 {
						cmd, err := command.Parse([]string{"leave c-07", "start c-07"}[ticks/10%2])
						if err != nil {
							b.Fatal(err)
						}
						if err := c.Apply(cmd); err != nil {
							b.Fatal(err)
						}
					}
					run(b, c, 1)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ticks/s")
			})
		}
	}
}
