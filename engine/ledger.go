package engine

import (
	"slices"

	"loglab/engine/broker"
	"loglab/engine/client"
	"loglab/engine/kafka"
	"loglab/engine/ledger"
)

// What a ledger says, in its own terms.
type (
	LedgerReport = ledger.Report
	LedgerEntry  = ledger.Entry
)

// Ledger gives the account of what was handed in and what became of it. It walks over the logs of all leaders, so
// it is not part of View.
func (c *Cluster) Ledger() LedgerReport {
	report := ledger.Account(c.handedIn(), c.leadersLogs())
	report.Processed = c.outside.Destination.View().Records
	return report
}

// handedIn puts what was handed in and what became of it together.
func (c *Cluster) handedIn() []ledger.Record {
	handed, outcomes := c.outside.Source.Handed(), c.outside.Source.Outcomes()
	records := make([]ledger.Record, 0, handed.Len())
	for _, h := range handed.From(0) {
		records = append(records, ledger.Record{
			Producer: h.Producer, Key: h.Key, Value: h.Value, TopicPartition: h.TopicPartition, Timestamp: h.Timestamp, Tick: h.Tick, Offset: kafka.NoOffset,
		})
	}
	for _, o := range outcomes.From(0) {
		r := &records[o.Record]
		r.Fate, r.Offset, r.Settled = fateOf(o.Kind), o.Offset, o.Tick
	}
	return records
}

func fateOf(kind client.OutcomeKind) ledger.Fate {
	switch kind {
	case client.Acknowledged:
		return ledger.Acknowledged
	case client.Failed:
		return ledger.Failed
	case client.Dropped:
		return ledger.Dropped
	}
	return ledger.Unpromised
}

// producedTo says whether a topic is the one of the run, or that of a producer or of an application that writes.
func (c *Cluster) producedTo(topic string) bool {
	for _, g := range c.spec.Groups {
		for _, m := range g.Members {
			if t := m.Config.Group.App.Transform; t != nil && t.Topic == topic {
				return true
			}
		}
	}
	return topic == c.spec.Topic.Name || slices.ContainsFunc(c.spec.Producers, func(p ProducerSpec) bool { return p.Config.Topic == topic })
}

// leadersLogs gives the log of each partition whose leader, as the controller has it, runs and has opened it.
func (c *Cluster) leadersLogs() []ledger.Log {
	var logs []ledger.Log
	image := c.controller.View().Image
	for _, tp := range c.partitions(image) {
		if !c.producedTo(tp.Topic) {
			continue
		}
		p, _ := image.Partition(tp)
		if b := c.broker(broker.NodeID(p.Leader)); b != nil {
			if r := b.Replica(tp); r != nil {
				logs = append(logs, ledger.Log{TopicPartition: tp, LogStartOffset: r.Log.LogStartOffset(), HighWatermark: r.HighWatermark(), Compact: r.Log.Config().Compact, Segments: r.Log.Segments()})
			}
		}
	}
	return logs
}
