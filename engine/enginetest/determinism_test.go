package enginetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
	"loglab/engine/assignor"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/record"
)

// drawn is a run drawn from a seed: a spec and commands at ticks.
type drawn struct {
	spec     *engine.Spec
	seed     uint64
	ticks    int
	commands map[int][]string
}

// draw makes a run. It prints nothing; a test that fails says the seed.
func draw(seed uint64) drawn {
	rnd := rand.New(rand.NewPCG(seed, 0))
	pick := func(names []string) string { return names[rnd.IntN(len(names))] }
	spec := orders(1+rnd.IntN(12), rnd.IntN(14))
	spec.Latency = kafka.Millis(1 + rnd.IntN(40))
	spec.Topic.Config.SegmentBytes, spec.Topic.Config.IndexIntervalBytes = 600+rnd.IntN(3000), rnd.IntN(500)
	spec.Group.Assignor = pick(assignor.ClientNames())
	spec.Producers = nil
	for range 1 + rnd.IntN(3) {
		p := engine.ProducerSpec{Config: producer(), Workload: engine.Workload{Rate: rnd.IntN(8), Every: kafka.Millis(10 + rnd.IntN(30))}}
		p.Config.Partitioner, p.Config.Keyless = pick(partitioner.Names()), pick(partitioner.KeylessNames())
		p.Config.BatchSize, p.Config.Linger = 100+rnd.IntN(1500), kafka.Millis(rnd.IntN(30))
		p.Config.Compression = []record.Codec{record.None, record.Gzip, record.Snappy, record.LZ4, record.Zstd}[rnd.IntN(5)]
		for i := range rnd.IntN(30) {
			p.Workload.Entities = append(p.Workload.Entities, fmt.Sprintf("key-%d", i))
		}
		if n := len(p.Workload.Entities); n > 0 && rnd.IntN(2) == 0 {
			for range n {
				p.Workload.Weights = append(p.Workload.Weights, 1+rnd.IntN(9))
			}
		}
		p.Workload.KeyBy = engine.KeyBy(pick(engine.KeyBys()))
		p.Workload.Turn, p.Workload.Turns = rnd.IntN(2), rnd.IntN(3)
		p.Config.MetadataMaxAge = kafka.Millis(30 + rnd.IntN(300))
		spec.Producers = append(spec.Producers, p)
	}
	spec.Group.Config.MetadataMaxAge = kafka.Millis(30 + rnd.IntN(300))
	spec.Group.Config.MaxPollRecords, spec.Group.Config.Work = 1+rnd.IntN(20), kafka.Millis(rnd.IntN(15))
	spec.Group.CheckVersions = rnd.IntN(2) == 0
	d := drawn{spec: spec, seed: seed, ticks: 40, commands: map[int][]string{}}
	for range rnd.IntN(12) {
		at := rnd.IntN(d.ticks)
		node := []string{"b1", "c0", "c1", "p0", "p1", "x9"}[rnd.IntN(6)]
		text := []string{"pause " + node, "resume " + node, "produce p0 by-hand", "produce p1", `produce p0 "" ""`, "wait 700ms",
			"stop-sending " + node, "start-sending " + node, fmt.Sprintf("add-partitions orders to %d", 1+rnd.IntN(20)), "produce-to p0 3 k"}[rnd.IntN(10)]
		d.commands[at] = append(d.commands[at], text)
	}
	return d
}

// advance runs a cluster from one tick to another, giving each tick's commands before it; those of the
// first tick are given only if fresh.
func (d drawn) advance(t *testing.T, c *engine.Cluster, from, to int, fresh bool) {
	t.Helper()
	for at := from; at <= to; at++ {
		if at > from {
			tick(t, c, 1)
		}
		if at > from || fresh {
			give(t, c, d.commands[at]...)
		}
	}
}

// The same spec, seed and commands give the same journal and the same bytes: from zero twice, and from
// clones taken on the way, whether the clone or the original runs on first.
func TestSameRunFromZeroAndFromClones(t *testing.T) {
	for seed := range uint64(30) {
		d := draw(seed)
		first, err := engine.New(d.spec, d.seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var clones []*engine.Cluster
		for at := 0; at <= d.ticks; at++ {
			d.advance(t, first, max(at-1, 0), at, at == 0)
			clones = append(clones, first.Clone())
		}
		second := start2(t, d)
		d.advance(t, second, 0, d.ticks, true)
		same(t, seed, "from zero", first, second)
		for at, clone := range clones {
			if at%7 == int(seed%7) {
				again := clone.Clone() // a checkpoint stays as it is; its clones run
				d.advance(t, again, at, d.ticks, false)
				same(t, seed, fmt.Sprintf("from a clone at tick %d", at), first, again)
			}
		}
	}
}

func start2(t *testing.T, d drawn) *engine.Cluster {
	t.Helper()
	c, err := engine.New(d.spec, d.seed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// same compares two runs to the byte.
func same(t *testing.T, seed uint64, what string, a, b *engine.Cluster) {
	t.Helper()
	if diff := cmp.Diff(lines(a), lines(b)); diff != "" {
		t.Fatalf("seed %d, %s: the journals differ (-first +second):\n%s", seed, what, diff)
	}
	x, y := a.View(), b.View()
	for i := range x.Partitions {
		for s := range x.Partitions[i].Log.Segments {
			m, n := x.Partitions[i].Log.Segments[s], y.Partitions[i].Log.Segments[s]
			if !bytes.Equal(m.Bytes, n.Bytes) || !bytes.Equal(m.OffsetIndex, n.OffsetIndex) || !bytes.Equal(m.TimeIndex, n.TimeIndex) {
				t.Fatalf("seed %d, %s: segment %d of partition %d differs", seed, what, m.BaseOffset, i)
			}
		}
	}
}

// In every run: causes point backwards, offsets have no gaps, every acknowledged record stands in a log,
// nobody reads past the high watermark, and a partition has one reader.
func TestEveryRunKeepsItsWord(t *testing.T) {
	for seed := range uint64(30) {
		d := draw(1000 + seed)
		c := start2(t, d)
		d.advance(t, c, 0, d.ticks, true)
		give(t, c, "wait 1s") // let what is under way arrive; paused nodes stay paused
		v := c.View()
		inLogs := 0
		for i, p := range v.Partitions {
			records := contents(t, c, i)
			for offset, content := range records {
				if want := fmt.Sprintf("%d:", offset); content[:len(want)] != want {
					t.Fatalf("seed %d: %s has %q in place %d", 1000+seed, p.TopicPartition, content, offset)
				}
			}
			if len(records) != int(p.Log.LogEndOffset) || p.Log.HighWatermark > p.Log.LogEndOffset {
				t.Fatalf("seed %d: %s holds %d records, log end offset %d, high watermark %d", 1000+seed, p.TopicPartition, len(records), p.Log.LogEndOffset, p.Log.HighWatermark)
			}
			inLogs += len(records)
		}
		acknowledged := 0
		for _, p := range v.Producers {
			acknowledged += p.Acknowledged
		}
		if acknowledged > inLogs {
			t.Fatalf("seed %d: %d records are acknowledged, %d stand in the logs", 1000+seed, acknowledged, inLogs)
		}
		owners := map[string]bool{}
		for _, m := range v.Groups[0].Members {
			for _, a := range m.Assignment {
				if a.Position > v.Partitions[a.Partition].Log.HighWatermark {
					t.Fatalf("seed %d: %s is at %d of %s", 1000+seed, m.ID, a.Position, a.TopicPartition)
				}
				if owners[a.TopicPartition.String()] {
					t.Fatalf("seed %d: %s has two readers", 1000+seed, a.TopicPartition)
				}
				owners[a.TopicPartition.String()] = true
			}
		}
		for i, e := range events(c) {
			if e.Seq != uint64(i)+1 || e.Cause >= e.Seq {
				t.Fatalf("seed %d: event %d in place %d has the cause %d", 1000+seed, e.Seq, i+1, e.Cause)
			}
		}
	}
}

// What a paused process is sent waits and is taken in order; nothing is lost.
func TestPauseHoldsAndResumeTakesAll(t *testing.T) {
	spec := orders(1, 1)
	spec.Producers[0].Workload = engine.Workload{Rate: 1, Every: 10, Entities: []string{"k"}}
	for _, node := range []string{"b1", "c0", "p0"} {
		c := start(t, spec)
		tick(t, c, 5)
		give(t, c, "pause "+node)
		tick(t, c, 20)
		for _, e := range events(c) {
			if e.Tick > 5 && string(e.Node) == node {
				t.Errorf("paused %s: %s", node, e.Line())
			}
		}
		give(t, c, "resume "+node, "pause p0")
		if node == "p0" {
			give(t, c, "resume p0")
			tick(t, c, 2)
			give(t, c, "pause p0")
		}
		tick(t, c, 20)
		v := c.View()
		if p := v.Partitions[0].Log; v.Groups[0].Members[0].Assignment[0].Position != p.HighWatermark || p.HighWatermark == 0 {
			t.Errorf("after %s was paused and resumed: position %d, high watermark %d", node, v.Groups[0].Members[0].Assignment[0].Position, p.HighWatermark)
		}
	}
}

// A command that cannot apply is an event, and changes nothing else.
func TestCommandsThatCannotApply(t *testing.T) {
	c := start(t, orders(2, 2))
	give(t, c, "pause c1")
	before := len(events(c))
	for text, why := range map[string]string{
		"pause c1":      "c1 is paused already",
		"pause x":       "there is no node x",
		"resume c0":     "c0 is not paused",
		"resume x":      "there is no node x",
		"produce p7 k":  "there is no producer p7",
		"produce c0 k":  "there is no producer c0",
		"produce b1 kk": "there is no producer b1",
	} {
		give(t, c, text)
		list := events(c)
		last := list[len(list)-1]
		if rejected, ok := last.Body.(journal.CommandRejected); !ok || rejected.Why != why || rejected.Command != text || last.Node != journal.You {
			t.Errorf("%s: %s, want a rejection that says %q", text, last.Line(), why)
		}
		if len(list) != before+2 {
			t.Errorf("%s: %d events, want the command and its rejection", text, len(list)-before)
		}
		before = len(list)
	}
}

// Past a bound there is a clear error, and the run stands still from then on.
func TestBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*engine.Spec)
		says   string
	}{
		"partitions": {func(s *engine.Spec) { s.Topic.Partitions = 65 }, "partitions: 65; a run may have at most 64"},
		"members":    {func(s *engine.Spec) { s.Group.Consumers = 65 }, "members: 65; a run may have at most 64"},
		"rate":       {func(s *engine.Spec) { s.Producers[0].Workload = engine.Workload{Rate: 101, Every: 10} }, "records a tick: 101; a run may have at most 100"},
		"fast rate":  {func(s *engine.Spec) { s.Producers[0].Workload = engine.Workload{Rate: 11, Every: 1} }, "records a tick: 110; a run may have at most 100"},
		"value":      {func(s *engine.Spec) { s.Producers[0].Workload.ValueBytes = 65537 }, "bytes of a value: 65537; a run may have at most 65536"},
	} {
		spec := orders(1, 1)
		tc.change(spec)
		var limit *engine.LimitError
		if _, err := engine.New(spec, 1); !errors.As(err, &limit) || err.Error() != tc.says {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
	}
	spec := orders(1, 1)
	spec.MaxEvents = 500
	spec.Producers[0].Workload = engine.Workload{Rate: 10, Every: 10}
	c := start(t, spec)
	var limit *engine.LimitError
	for range 1000 {
		if err := c.Tick(); errors.As(err, &limit) {
			break
		}
	}
	if limit == nil || limit.What != "events in the journal" || limit.Found > 700 {
		t.Fatalf("1,000 ticks within %d events: %v", spec.MaxEvents, limit)
	}
	had := c.Journal().Len()
	if err := c.Tick(); !errors.As(err, &limit) || c.Journal().Len() != had {
		t.Errorf("a tick after the end: %v, %d events more", err, c.Journal().Len()-had)
	}
	if err := c.Apply(command.Wait{Span: 1000}); !errors.As(err, &limit) || c.Journal().Len() != had {
		t.Errorf("a command after the end: %v, %d events more", err, c.Journal().Len()-had)
	}
	long := start(t, spec)
	if err := long.Apply(command.Wait{Span: command.MaxWait}); !errors.As(err, &limit) {
		t.Errorf("a wait of seven days: %v, want the bound of events", err)
	}
}

// Clones of one checkpoint may be made and run by many at once.
func TestConcurrentClonesOfACheckpoint(t *testing.T) {
	d := draw(7)
	c := start2(t, d)
	d.advance(t, c, 0, 20, true)
	checkpoint := c.Clone()
	results := make(chan []string)
	for range 8 {
		go func() {
			own := checkpoint.Clone()
			for range 20 {
				if err := own.Tick(); err != nil {
					break
				}
			}
			results <- lines(own)
		}()
	}
	first := <-results
	for range 7 {
		if !slices.Equal(first, <-results) {
			t.Error("clones of one checkpoint ran differently")
		}
	}
}
