package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
)

// TestTranscripts runs the scripts in testdata. A script is a story: its commands are
//
//	cluster [partitions=N] [consumers=N] [rate=N] [keys=(a,b)] [segment.bytes=N] [index.interval.bytes=N]
//	tick [N]      lets N ticks pass (1)
//	do            carries out the commands in the body, a line each
//	state         prints the logs and who has read how far
//
// "cluster", "tick" and "do" print the journal lines that came, without the client's start before tick 0.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

// script is one transcript on its way.
type script struct {
	cluster *engine.Cluster
	printed int // events printed or passed over so far
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "cluster":
		s.cluster = start(t, specOf(t, d))
		s.printed = s.cluster.Journal().Len()
		return s.state()
	case "tick":
		n := 1
		if len(d.CmdArgs) > 0 {
			if _, err := fmt.Sscan(d.CmdArgs[0].Key, &n); err != nil {
				d.Fatalf(t, "tick %s: %v", d.CmdArgs[0].Key, err)
			}
		}
		tick(t, s.cluster, n)
	case "do":
		for _, line := range strings.Split(d.Input, "\n") {
			cmd, err := command.Parse(line)
			if err != nil {
				return err.Error()
			}
			if err := s.cluster.Apply(cmd); err != nil {
				return err.Error()
			}
		}
	case "state":
		return s.state()
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
	return s.news()
}

// news gives the journal's lines since the last time.
func (s *script) news() string {
	var b strings.Builder
	for _, line := range lines(s.cluster)[s.printed:] {
		b.WriteString(line + "\n")
		s.printed++
	}
	return b.String()
}

// state gives the logs and the positions.
func (s *script) state() string {
	var b strings.Builder
	v := s.cluster.View()
	for _, p := range v.Partitions {
		fmt.Fprintf(&b, "%s start=%d hw=%d leo=%d", p.TopicPartition, p.Log.LogStartOffset, p.Log.HighWatermark, p.Log.LogEndOffset)
		for _, segment := range p.Log.Segments {
			fmt.Fprintf(&b, " [%d: %dB", segment.BaseOffset, len(segment.Bytes))
			for _, e := range segment.OffsetEntries() {
				fmt.Fprintf(&b, " %d@%d", e.Offset, e.Position)
			}
			b.WriteString("]")
		}
		b.WriteString("\n")
	}
	for _, m := range v.Groups[0].Members {
		fmt.Fprintf(&b, "%s", m.ID)
		for _, a := range m.Assignment {
			fmt.Fprintf(&b, " %s@%d", a.TopicPartition, a.Position)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// specOf reads the arguments of "cluster".
func specOf(t *testing.T, d *datadriven.TestData) *engine.Spec {
	t.Helper()
	partitions, consumers, rate := 1, 1, 0
	var keys string
	d.MaybeScanArgs(t, "partitions", &partitions)
	d.MaybeScanArgs(t, "consumers", &consumers)
	d.MaybeScanArgs(t, "rate", &rate)
	spec := orders(partitions, consumers)
	d.MaybeScanArgs(t, "segment.bytes", &spec.Topic.Config.SegmentBytes)
	d.MaybeScanArgs(t, "index.interval.bytes", &spec.Topic.Config.IndexIntervalBytes)
	d.MaybeScanArgs(t, "keys", &keys)
	spec.Producers[0].Workload = engine.Workload{Rate: rate, Every: kafka.Millis(spec.TickMillis)}
	if keys != "" {
		spec.Producers[0].Workload.Entities = strings.Split(keys, "/")
	}
	return spec
}
