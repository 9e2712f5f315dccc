package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// TestTranscripts runs the scripts in testdata. A script is a story: its commands are
//
//	cluster [partitions=N] [consumers=N] [rate=N] [keys=(a,b)] [segment.bytes=N] [index.interval.bytes=N]
//	        [brokers=N] [rf=N] [replicas=1:2:3/2:3:1] [min.isr=N] [acks=all|1|0] [idempotence] [elr=on|off] [unclean]
//	        [lag=MS] [hide=controller|messages]
//	tick [N]      lets N ticks pass (1)
//	do            carries out the commands in the body, a line each
//	state         prints the logs and who has read how far
//
// "cluster", "tick" and "do" print the journal lines that came, without the client's start before tick 0. With
// hide=controller what brokers say to the controller and hear from it is left out, with hide=messages every message,
// what is tried again, the requests that wait, and what nodes learn of the metadata.
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
	hide    string
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "cluster":
		s.cluster, s.hide = start(t, specOf(t, d)), ""
		d.MaybeScanArgs(t, "hide", &s.hide)
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
	for _, e := range events(s.cluster)[s.printed:] {
		if !s.hides(e) {
			b.WriteString(e.Line() + "\n")
		}
		s.printed++
	}
	return b.String()
}

// hides says whether an event is left out.
func (s *script) hides(e journal.Event) bool {
	peer := kafka.NodeID("")
	switch body := e.Body.(type) {
	case journal.MetadataFetchParked, journal.MetadataFollowed:
		return s.hide != ""
	case journal.FetchParked, journal.MessageLost, journal.MessageHeld, journal.ProduceParked, journal.MetadataLearned, journal.ConnectionReset, journal.ConnectionLost,
		journal.RequestTimedOut, journal.RequestFailed, journal.ReplicaFetchFailed, journal.BatchRetried, journal.BatchesSent:
		return s.hide == "messages"
	case journal.BatchAppended:
		return s.hide == "messages" && e.Node == "controller"
	case journal.MessageSent:
		peer = body.To
	case journal.MessageDelivered:
		peer = body.From
	default:
		return false
	}
	return s.hide == "messages" || s.hide == "controller" && (e.Node == "controller" || peer == "controller")
}

// state gives the logs and the positions.
func (s *script) state() string {
	var b strings.Builder
	v := s.cluster.View()
	for _, p := range v.Partitions {
		if len(p.Replicas) > 1 {
			replicas(&b, p)
			continue
		}
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

// replicas writes a partition that has several.
func replicas(b *strings.Builder, p engine.PartitionView) {
	fmt.Fprintf(b, "%s leader=%d epoch=%d isr=%d elr=%d", p.TopicPartition, p.Leader, p.LeaderEpoch, p.ISR, p.ELR)
	for _, r := range p.Replicas {
		if !r.Online {
			fmt.Fprintf(b, " | b%d down", r.Broker)
			continue
		}
		fmt.Fprintf(b, " | b%d %s hw=%d leo=%d", r.Broker, r.Role, r.HighWatermark, r.LogEndOffset)
	}
	b.WriteString("\n")
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
	clusterOf(t, d, spec)
	return spec
}

// clusterOf reads those that are about several brokers.
func clusterOf(t *testing.T, d *datadriven.TestData, spec *engine.Spec) {
	t.Helper()
	var placed, acks, elr string
	lag := int(spec.Cluster.ReplicaLagTimeMax)
	d.MaybeScanArgs(t, "brokers", &spec.Cluster.Brokers)
	d.MaybeScanArgs(t, "rf", &spec.Topic.ReplicationFactor)
	d.MaybeScanArgs(t, "min.isr", &spec.Topic.MinInsyncReplicas)
	d.MaybeScanArgs(t, "lag", &lag)
	d.MaybeScanArgs(t, "replicas", &placed)
	d.MaybeScanArgs(t, "acks", &acks)
	d.MaybeScanArgs(t, "elr", &elr)
	spec.Cluster.ReplicaLagTimeMax = kafka.Millis(lag)
	spec.Cluster.UncleanElection = d.HasArg("unclean")
	spec.Cluster.ELR = elr != "off"
	if d.HasArg("idempotence") {
		spec.Producers[0].Config.EnableIdempotence = engine.IdempotenceOn
	}
	switch acks {
	case "1":
		spec.Producers[0].Config.Acks = 1
	case "0":
		spec.Producers[0].Config.Acks = 0
	}
	for _, list := range strings.Split(placed, "/") {
		var ids []kafka.BrokerID
		for _, id := range strings.Split(list, ":") {
			var n int
			if _, err := fmt.Sscan(id, &n); err == nil {
				ids = append(ids, kafka.BrokerID(n))
			}
		}
		if ids != nil {
			spec.Topic.Replicas = append(spec.Topic.Replicas, ids)
			spec.Topic.ReplicationFactor = len(ids)
		}
	}
}
