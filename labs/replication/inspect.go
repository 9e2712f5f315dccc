package replication

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectAt shows what the address points at; nil when it points at nothing.
func (l *layout) inspectAt() *view.Inspector {
	in, at := inspect.New(l.Address), l.Address.At
	if in == nil {
		return nil
	}
	var ok bool
	switch at.Kind {
	case labs.MessageTarget:
		ok = l.inspectFrame().Message(in, uint64(at.Number))
	case labs.NodeTarget:
		ok = l.inspectNode(in, at.Node)
	default:
		index := int(at.Partition.Partition)
		if at.Partition.Topic == topic && index < len(l.View.Partitions) {
			ok = l.inspectPartition(in, l.View.Partitions[index], at)
		}
	}
	if !ok {
		inspect.NotThere(in, l.Address)
	}
	return in
}

// inspectPartition shows something of a partition.
func (l *layout) inspectPartition(in *view.Inspector, p engine.PartitionView, at labs.Target) bool {
	switch at.Kind {
	case labs.PartitionTarget:
		l.inspectMetadata(in, p)
		return true
	case labs.ReplicaTarget:
		r, ok := replicaOn(p, kafka.BrokerID(at.Number))
		if ok {
			l.inspectReplica(in, p, r)
		}
		return ok
	}
	log, ok := l.logOf(p, at.Node)
	return ok && log.Show(in, at, func(found inspect.Location) { l.inspectRecord(in, log, p, found) })
}

// inspectFrame is the frame as the parts of the inspector take it that all labs share.
func (l *layout) inspectFrame() inspect.Frame {
	return inspect.Frame{Frame: l.Frame, Topic: topic, Group: group, Config: storage.DefaultConfig()}
}

// logOf gives a partition's log on a broker, or where no broker is named on the one that clients are served from.
func (l *layout) logOf(p engine.PartitionView, node kafka.NodeID) (inspect.Log, bool) {
	log := inspect.Log{Frame: l.inspectFrame(), Partition: p.TopicPartition, Broker: node, LogView: p.Log}
	if node == "" {
		return log, len(p.Log.Segments) > 0
	}
	for _, r := range p.Replicas {
		if l.broker(r.Broker).Node == node {
			log.LogView = engine.LogView{LogStartOffset: r.LogStartOffset, HighWatermark: r.HighWatermark, LogEndOffset: r.LogEndOffset, Segments: labs.SegmentsOf(r), Bytes: r.Bytes}
			return log, len(log.Segments) > 0
		}
	}
	return log, false
}

// inspectRecord shows a record in one replica's log, with what was promised of it and who else has it.
func (l *layout) inspectRecord(in *view.Inspector, log inspect.Log, p engine.PartitionView, at inspect.Location) {
	key := "no key (null)"
	if at.Record.Key != nil {
		key = record.Printable(at.Record.Key)
	}
	stored := labs.StoredRecord{Record: at.Record}
	log.Record(in, at, key, "")
	in.AddFact("Leader epoch", "%d, of the leader that appended it", at.Batch.PartitionLeaderEpoch)
	if told, ok := l.acknowledgedAt(p.Partition, stored); ok {
		had, given := l.holders(p.TopicPartition, told.offset, told.event)
		in.AddFact("Acknowledged", "in tick %d, when %s had it; p0 learned of it in tick %d", given, labs.BrokerNames(had), told.tick)
		in.Links = append(in.Links, labs.Replace("why-acknowledged", "why it was acknowledged", l.Address.WithWhy(told.event)))
	} else {
		in.AddFact("Acknowledged", "not at this offset")
	}
	in.Tables = append(in.Tables, inspect.Copies(p, at))
}

// inspectNode shows a broker, the controller, the producer or the consumer, and what it waits for.
func (l *layout) inspectNode(in *view.Inspector, id kafka.NodeID) bool {
	switch b, isBroker := l.brokerOf(id); {
	case isBroker:
		l.inspectBroker(in, l.broker(b))
	case id == l.View.Controller.Node:
		l.inspectController(in)
	case id == producer:
		l.inspectProducer(in, &l.View.Producers[0])
	default:
		if !l.inspectConsumer(in, id) {
			return false
		}
	}
	l.inspectFrame().Waits(in, id, l.IsPaused(id))
	return true
}

func (l *layout) inspectBroker(in *view.Inspector, b engine.BrokerView) {
	in.AddFact("State", "%s", l.brokerNode(b).Words)
	in.AddFact("Broker epoch", "%s", epochOr(b.Epoch))
	in.AddFact("Metadata", "read up to offset %d; the controller's log ends at %d", b.MetadataOffset, l.View.Controller.LogEndOffset)
	if b.Session {
		in.AddFact("Last heartbeat", "%s, as the controller has it; without another it is fenced after %s ms",
			moment(b.LastHeartbeat), kafka.Thousands(l.Address.Values.Int("session-timeout")))
	}
	in.AddFact("Wait in it", "fetches: %d, writes: %d", b.Parked, b.Waiting)
	t := view.Table{ID: "replicas", Caption: "Its replicas", Head: []string{"Partition", "Role", "End", "High watermark", "Segments"}}
	for _, p := range l.View.Partitions {
		if r, ok := replicaOn(p, b.ID); ok {
			item := view.Item{Text: p.TopicPartition.String(), At: labs.Target{Kind: labs.ReplicaTarget, Partition: p.TopicPartition, Number: int64(b.ID)}.String()}
			role := string(r.Role)
			if !r.Online {
				role = "on its disk"
			}
			t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{item}, view.Plain(role), view.Plain(fmt.Sprint(r.LogEndOffset)), view.Plain(fmt.Sprint(r.HighWatermark)), view.Plain(fmt.Sprint(r.Segments))}})
		}
	}
	in.Tables = append(in.Tables, t)
}

func epochOr(epoch int64) string {
	if epoch < 0 {
		return "none yet"
	}
	return fmt.Sprint(epoch)
}

func (l *layout) inspectController(in *view.Inspector) {
	c := l.View.Controller
	in.AddFact("Metadata log", "ends at offset %d", c.LogEndOffset)
	t := view.Table{ID: "brokers", Caption: "The brokers as the controller has them", Head: []string{"Broker", "State", "Epoch", "Last heartbeat, ms", "Rack", "Metadata read to"}}
	for _, b := range l.View.Brokers {
		known, _ := c.Image.Broker(b.ID)
		state := "active"
		switch {
		case known.Fenced:
			state = "fenced"
		case known.InControlledShutdown:
			state = "shutting down"
		}
		heartbeat := "none"
		if b.Session {
			heartbeat = kafka.Thousands(b.LastHeartbeat)
		}
		rack := known.Rack
		if rack == "" {
			rack = "none"
		}
		t.Rows = append(t.Rows, inspect.Cells(labs.BrokerName(b.ID), state, fmt.Sprint(known.Epoch), heartbeat, rack, fmt.Sprint(b.MetadataOffset)))
	}
	in.Tables = append(in.Tables, t)
}

func (l *layout) inspectProducer(in *view.Inspector, p *engine.ProducerView) {
	in.AddFact("Records", "%d handed in, %d acknowledged, %d failed, %d to be sent", p.Produced, p.Acknowledged, p.Failed, p.Waiting)
	if p.Producer.Idempotent {
		in.AddFact("Producer id", "%d, epoch %d", p.Producer.ProducerID, p.Producer.ProducerEpoch)
	} else {
		in.AddFact("Producer id", "none: enable.idempotence is false in effect")
	}
	in.AddFact("acks", "%s", l.Address.Values.Text("acks"))
	t := view.Table{ID: "batches", Caption: "Batches that have no answer", Head: []string{"Partition", "Leader, as p0 knows", "State", "Records", "First sequence", "Failed attempts", "Given up in tick"}}
	for _, part := range p.Producer.Partitions {
		name := fmt.Sprintf("%s-%d", topic, part.Partition)
		leader := string(part.Leader)
		if leader == "" {
			leader = "none"
		}
		for i, b := range part.Batches {
			if i == inspect.RowsShown {
				t.More = fmt.Sprintf("And %d more of %s.", len(part.Batches)-i, name)
				break
			}
			attempts := fmt.Sprint(b.Attempts)
			if b.Error != "" {
				attempts += ", " + b.Error
			}
			sequence := "none"
			if b.BaseSequence >= 0 {
				sequence = fmt.Sprint(b.BaseSequence)
			}
			t.Rows = append(t.Rows, inspect.Cells(name, leader, string(b.State), fmt.Sprint(len(b.Records)), sequence, attempts, fmt.Sprint(l.TickAfter(b.ExpiresAt))))
		}
	}
	if len(t.Rows) == 0 {
		t.More = "None."
	}
	in.Tables = append(in.Tables, t)
}

func (l *layout) inspectConsumer(in *view.Inspector, id kafka.NodeID) bool {
	for _, m := range l.View.Groups[0].Members {
		if kafka.NodeID(m.ID) != id {
			continue
		}
		t := view.Table{ID: "assignment", Caption: "What it reads", Head: []string{"Partition", "Position", "Read", "To read"}}
		for _, a := range m.Assignment {
			t.Rows = append(t.Rows, inspect.Cells(a.TopicPartition.String(), fmt.Sprint(a.Position), fmt.Sprint(a.Read), fmt.Sprint(a.Lag)))
		}
		in.AddFact("Member of", "group %s", group)
		in.Tables = append(in.Tables, t)
		return true
	}
	return false
}
