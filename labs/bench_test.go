package labs_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"loglab/engine"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// busy is a lab without a picture that runs three brokers, six partitions with three replicas each, ten records a
// tick with acks=all, and two consumers.
func busy() *labs.Lab {
	return &labs.Lab{
		Name: "busy", Horizon: 2000,
		Spec: func(labs.Values) (*engine.Spec, error) {
			config := storage.DefaultConfig()
			config.SegmentBytes = 64 << 10
			var keys []string
			for i := range 24 {
				keys = append(keys, "order-"+strconv.Itoa(i+1))
			}
			return &engine.Spec{
				TickMillis: 10, Latency: 10, Cluster: engine.DefaultCluster(3),
				Topic: engine.TopicSpec{Name: "orders", Partitions: 6, ReplicationFactor: 3, Config: config},
				Producers: []engine.ProducerSpec{{
					Config: engine.DefaultProducerConfig("orders"), Workload: engine.Workload{Entities: keys, Rate: 10, Every: 10, ValueBytes: 100},
				}},
				Group: engine.GroupSpec{Name: "billing", Consumers: 2, Assignor: "range", Config: engine.DefaultConsumerConfig("orders")},
			}, nil
		},
		Build: func(labs.Frame, *view.Page) {},
	}
}

// BenchmarkReaders is thirty readers of one run of 2,000 ticks at once: each moves up to two ticks from its own
// place, forward or back, every 0 to 400 ms. One run of it takes some four seconds.
func BenchmarkReaders(b *testing.B) {
	lab := busy()
	start, err := labs.Parse(lab, labs.Pages, "t=2000")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		runs := labs.NewRuns(256 << 20)
		if _, err := runs.Page(context.Background(), start); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		var mu sync.Mutex
		var took []time.Duration
		var readers sync.WaitGroup
		for reader := range 30 {
			readers.Go(func() {
				rnd := rand.New(rand.NewPCG(1, uint64(reader)))
				tick := rnd.IntN(2000)
				for range 20 {
					tick = min(max(tick+rnd.IntN(5)-2, 0), 2000)
					begin := time.Now()
					if _, err := runs.Page(context.Background(), start.WithTick(tick)); err != nil {
						b.Error(err)
					}
					mu.Lock()
					took = append(took, time.Since(begin))
					mu.Unlock()
					time.Sleep(time.Duration(rnd.IntN(400)) * time.Millisecond)
				}
			})
		}
		readers.Wait()
		slices.Sort(took)
		at := func(share float64) float64 { return took[int(share*float64(len(took)-1))].Seconds() * 1000 }
		b.ReportMetric(at(.5), "p50-ms")
		b.ReportMetric(at(.95), "p95-ms")
		b.ReportMetric(at(1), "max-ms")
	}
}
