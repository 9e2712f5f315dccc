package engine

import (
	"loglab/engine/client"
	"loglab/engine/group"
	"loglab/engine/kafka"
)

// What can be seen of a group's sink and of the records in a group, in the clients' own terms.
type (
	SinkView   = client.SinkView
	FatesView  = client.FatesView
	RecordFate = client.RecordFate
	PlaceView  = client.PlaceView
	WorkView   = client.WorkView
)

// CoordinatedView is what there is of a group only if it has a coordinator.
type CoordinatedView struct {
	OffsetsPartition kafka.Partition    `json:"offsets_partition"` // of __consumer_offsets
	Coordinator      kafka.NodeID       `json:"coordinator"`       // empty: there is none
	State            group.State        `json:"state"`             // as the coordinator has it; empty: it knows of no such group
	Generation       kafka.GenerationID `json:"generation"`
	Offsets          []OffsetView       `json:"offsets"` // of every partition that the group reads or has committed, sorted
	Sink             SinkView           `json:"sink"`

	Held *group.GroupView `json:"-"` // all that the coordinator has of it; nil: nothing
}

// OffsetView is how far a group is in one partition.
type OffsetView struct {
	kafka.TopicPartition
	Owner          kafka.NodeID `json:"owner"`     // the member that reads it; empty: none
	Committed      kafka.Offset `json:"committed"` // the next to read after a restart; -1: none
	Position       kafka.Offset `json:"position"`  // of the owner: the next that poll returns; -1: none
	LogStartOffset kafka.Offset `json:"log_start_offset"`
	HighWatermark  kafka.Offset `json:"high_watermark"`
	LogEndOffset   kafka.Offset `json:"log_end_offset"`
	Lag            int64        `json:"lag"`         // high watermark minus committed, as kafka-consumer-groups has it; of nothing committed: from the log start
	RecordsLag     int64        `json:"records_lag"` // high watermark, under read_committed last stable offset, minus position, as the client's metric has it; -1: no position
}

// groupView gives a group with a coordinator.
func (c *Cluster) groupView(spec *ConsumerGroupSpec, v *View) GroupView {
	g := GroupView{ID: spec.ID, Members: []MemberView{}, CoordinatedView: &CoordinatedView{OffsetsPartition: OffsetsPartition(spec.ID), Offsets: []OffsetView{}}}
	for i := range c.outside.Sinks {
		if s := &c.outside.Sinks[i]; s.Group() == spec.ID {
			g.Sink = s.View()
		}
	}
	g.Coordinator, g.Held = c.coordinatorOf(v.Controller.Image, kafka.TopicPartition{Topic: group.Topic, Partition: g.OffsetsPartition}, spec.ID)
	if g.Held != nil {
		g.State, g.Generation, g.Assignor = g.Held.State, g.Held.Generation, g.Held.Protocol
	}
	for i := range spec.Members {
		n := c.client(memberNode(spec.ID, i, len(spec.Members))).consumer
		m := c.memberView(n, v.Partitions)
		m.MemberView, m.Producer = n.MemberView(c.now), n.ProducerView()
		g.Members = append(g.Members, m)
	}
	for _, p := range v.Partitions {
		if o, of := g.offsetOf(p); of {
			g.Offsets = append(g.Offsets, o)
			g.Lag += o.Lag
		}
	}
	return g
}

// offsetOf says how far a group is in a partition; ok is false if it neither reads it nor has committed for it.
func (g *GroupView) offsetOf(p PartitionView) (o OffsetView, ok bool) {
	o = OffsetView{
		TopicPartition: p.TopicPartition, Committed: kafka.NoOffset, Position: kafka.NoOffset, RecordsLag: -1,
		LogStartOffset: p.Log.LogStartOffset, HighWatermark: p.Log.HighWatermark, LogEndOffset: p.Log.LogEndOffset,
	}
	if g.Held != nil {
		for _, held := range g.Held.Offsets {
			if held.TopicPartition == p.TopicPartition {
				o.Committed, ok = held.Offset, true
			}
		}
	}
	end := o.HighWatermark
	for _, m := range g.Members {
		for _, a := range m.Assignment {
			if a.TopicPartition == p.TopicPartition && m.Alive {
				o.Owner, o.Position, end, ok = kafka.NodeID(m.ID), a.Position, a.End, true
			}
		}
	}
	o.Lag = int64(o.HighWatermark - o.LogStartOffset)
	if o.Committed >= 0 {
		o.Lag = int64(o.HighWatermark - o.Committed)
	}
	if o.Position >= 0 {
		o.RecordsLag = int64(end - o.Position)
	}
	return o, ok
}
