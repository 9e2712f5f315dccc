package enginetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/client"
)

// Each topic has the settings of its own logs.
func TestTopicsHaveTheirOwnLogs(t *testing.T) {
	spec := processing("app-1")
	spec.Topics[0].Config.SegmentBytes = 160 // a batch of three outputs and a marker
	c := start(t, spec)
	for range 3 {
		give(t, c, "produce p0 - o0", "produce p0 - o1", "produce p0 - o2", "wait 3s")
	}
	for _, p := range c.View().Partitions {
		if several := len(p.Log.Segments) > 1; several != (p.Topic == "out") {
			t.Errorf("%s has %d segments; in has 1 MiB for one, out 160 bytes", p.TopicPartition, len(p.Log.Segments))
		}
	}
}

// An application of the consumer protocol keeps its partitions while its transaction is open: a partition that goes to
// another member goes when the batch is committed, and no input has two committed outputs.
func TestPartitionsStayWhileATransactionIsOpen(t *testing.T) {
	spec := processing("app-1")
	spec.Topic.Partitions = 2
	spec.Producers[0].Workload = engine.Workload{Entities: users(), Rate: 2, Every: 50}
	base := spec.Groups[2].Members[0].Config
	spec.Groups[2].Members = nil
	for i := range 2 {
		config, app := base, base.Group.App
		app.Work = 250
		app.Transform = &engine.Transform{Topic: "out", Producer: engine.DefaultProducerConfig("out")}
		app.Transform.Producer.TransactionalID = fmt.Sprintf("app-%d", i+1)
		config.Group = engine.DefaultConsumerGroupConfig("app")
		config.Group.AutoCommit, config.Group.App = false, app
		config.MaxPollRecords = 60
		spec.Groups[2].Members = append(spec.Groups[2].Members, engine.MemberSpec{Config: config, Off: i == 1})
	}
	c := start(t, spec)
	for range 4 {
		give(t, c, "start app-2", "wait 25s", "leave app-2", "wait 25s")
	}
	give(t, c, "stop-sending p0", "start app-2", "wait 30s")
	if m := memberOf(t, c, "app-2"); len(m.Assignment) != 1 {
		t.Fatalf("app-2 has %d partitions, want one of two", len(m.Assignment))
	}
	times := map[string]int{}
	for _, p := range c.View().Partitions {
		for _, r := range recordsOf(p) {
			if tp, offset, found := client.InputOf(r.value); p.Topic == "out" && found && r.committed {
				times[fmt.Sprintf("%s@%d", tp, offset)]++
			}
		}
	}
	var twice []string
	for _, input := range slices.Sorted(maps.Keys(times)) {
		if times[input] > 1 {
			twice = append(twice, input)
		}
	}
	if len(times) == 0 || len(twice) > 0 {
		t.Errorf("of %d inputs these have more than one committed output: %s", len(times), strings.Join(twice, ", "))
	}
}
