package enginetest

import (
	"errors"
	"testing"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// A broker whose idle metadata fetches are held for an hour asks once an hour and is told of a new partition at once.
func TestMetadataFetchWait(t *testing.T) {
	spec := orders(1, 0)
	spec.TickMillis, spec.Group = 3_600_000, engine.GroupSpec{}
	spec.Cluster.MetadataFetchWait = 3_600_000
	c := start(t, spec)
	from := c.Journal().Len()
	tick(t, c, 4)
	if parked := len(since[journal.MetadataFetchParked](c, from, "")); parked > 5 {
		t.Errorf("%d metadata fetches were held in four hours, want one an hour", parked)
	}
	give(t, c, "add-partitions orders to 2", "wait 1s")
	if known := c.View().Brokers[0].Image.Offset; known != kafka.Offset(c.View().Controller.LogEndOffset) {
		t.Errorf("a second later the broker knows the records below %d of %d", known, c.View().Controller.LogEndOffset)
	}
	if got := len(since[journal.RequestTimedOut](c, 0, "")); got > 0 {
		t.Errorf("%d requests timed out", got)
	}
}

// A run ends with a clear error when its segments are so many that a disk has more files than a run may have.
func TestMaxFiles(t *testing.T) {
	spec := kept(2)
	spec.MaxFiles = 1000
	spec.Producers[0].Config.BatchSize = 0
	spec.Producers[0].Workload = engine.Workload{Entities: []string{"k"}, Rate: 100, Every: 1000}
	c := start(t, spec)
	var limit *engine.LimitError
	for range 20 {
		if err := c.Tick(); err != nil {
			if !errors.As(err, &limit) || limit.What != "files on a disk" || limit.Allowed != 1000 || limit.Found > 1000+400 {
				t.Errorf("the run ended with %v, want too many files on a disk", err)
			}
			return
		}
	}
	t.Error("20 ticks of fifty segments each did not end the run")
}

// Commands of a prologue that wait have time to: the second one of these is carried out, and the run begins at 0.
func TestPrologueSpan(t *testing.T) {
	spec := orders(1, 0)
	spec.Group, spec.PrologueSpan = engine.GroupSpec{}, 2000
	spec.Producers[0].Workload = engine.Workload{}
	spec.Prologue = []command.Command{command.Wait{Span: 1500}, command.Produce{Producer: "p0", Keyless: true, Default: true}}
	c := start(t, spec)
	if v := c.View(); v.Now != 0 || v.Partitions[0].Log.LogEndOffset != 1 {
		t.Errorf("the run begins at %d ms with a log end of %d, want 0 and 1", v.Now, v.Partitions[0].Log.LogEndOffset)
	}
}
