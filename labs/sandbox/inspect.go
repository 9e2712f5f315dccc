package sandbox

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectAt shows what the address points at; nil when it points at nothing.
func (l *layout) inspectAt() *view.Inspector {
	return l.inspectFrame().Open(inspect.Parts{Node: l.inspectNode, Group: l.inspectGroup, Partition: l.inspectPartition, Record: l.inspectRecord})
}

// inspectFrame is the frame as the parts of the inspector take it that all labs share.
func (l *layout) inspectFrame() inspect.Frame {
	return inspect.Frame{Frame: l.Frame, Topic: topic, Group: billing, Config: logConfig(l.Address.Values)}
}

// inspectRecord shows a record with its life, in its log and in the groups.
func (l *layout) inspectRecord(in *view.Inspector, log inspect.Log, at inspect.Location) {
	key := "no key (null)"
	if at.Record.Key != nil {
		key = record.Printable(at.Record.Key)
	}
	log.Record(in, at, key, "")
	in.AddFact("Leader epoch", "%d, of the leader that appended it", at.Batch.PartitionLeaderEpoch)
	if at.Batch.ProducerID >= 0 {
		in.AddFact("Producer", "id %d, epoch %d", at.Batch.ProducerID, at.Batch.ProducerEpoch)
	}
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		fate := l.fateOf(g, &l.parts[log.Partition.Partition], labs.StoredRecord{Record: at.Record, LeaderEpoch: at.Batch.PartitionLeaderEpoch})
		in.AddFact("For "+g.ID, "delivered %s, processed %s", kafka.Count(int(fate.Delivered), "time"), kafka.Count(int(fate.Processed), "time"))
	}
	in.Tables = append(in.Tables, inspect.Copies(l.parts[log.Partition.Partition].PartitionView, at), log.Life(at.Record.Offset))
}

// inspectPartition shows a partition: its replicas, and how far each group is.
func (l *layout) inspectPartition(in *view.Inspector, tp kafka.TopicPartition) bool {
	if tp.Topic != topic || int(tp.Partition) >= len(l.parts) {
		return false
	}
	p := &l.parts[tp.Partition]
	in.Title = "Partition " + tp.String()
	in.AddFact("Leader", "%s", l.leaderText(p))
	in.AddFact("Eligible leaders", "%s", labs.BrokerNames(p.ELR))
	in.AddFact("min.insync.replicas", "%d in effect", p.MinISR)
	in.AddFact("Log", "from %d, exclusive of its end %d; high watermark %d, last stable offset %d", p.Log.LogStartOffset, p.Log.LogEndOffset, p.Log.HighWatermark, p.stable)
	if log, ok := l.inspectFrame().LogOf(tp); ok {
		last := log.Segments[len(log.Segments)-1]
		in.Links = append(in.Links, labs.Open(l.Address, "open-segment", "its last segment", log.Target(labs.SegmentTarget, last.BaseOffset)))
	}
	t := view.Table{ID: "replicas", Caption: "Replicas", Head: []string{"Broker", "Role, as it believes", "Start", "End", "High watermark", "Segments"}}
	for _, r := range p.Replicas {
		t.Rows = append(t.Rows, inspect.Cells(labs.BrokerName(r.Broker), string(r.Role), fmt.Sprint(r.LogStartOffset), fmt.Sprint(r.LogEndOffset), fmt.Sprint(r.HighWatermark), fmt.Sprint(r.Segments)))
	}
	in.Tables = append(in.Tables, t)
	t = view.Table{ID: "groups", Caption: "Groups", Head: []string{"Group", "Read by", "Committed", "Position", "Lag"}}
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		o := offsetOf(g, tp)
		t.Rows = append(t.Rows, inspect.Cells(g.ID, orNone(string(o.Owner)), offsetText(o.Committed), offsetText(o.Position), l.lagText(g, p)))
	}
	in.Tables = append(in.Tables, t)
	return true
}

// offsetText writes an offset, or that there is none.
func offsetText(o kafka.Offset) string {
	if o < 0 {
		return "none"
	}
	return fmt.Sprint(o)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// inspectNode shows a broker, the controller, a producer or a member, and what it waits for.
func (l *layout) inspectNode(in *view.Inspector, id kafka.NodeID) bool {
	alive, found := l.View.Controller.Node == id, l.View.Controller.Node == id
	if found {
		in.AddFact("State", "%s", l.controllerCard().Words)
		in.AddFact("Metadata log", "ends at %d", l.View.Controller.LogEndOffset)
	}
	for _, b := range l.View.Brokers {
		if b.Node == id {
			in.AddFact("State", "%s", brokerWords(b))
			in.AddFact("Metadata", "read up to offset %d; the controller’s log ends at %d", b.MetadataOffset, l.View.Controller.LogEndOffset)
			in.AddFact("Wait in it", "fetches: %d, writes: %d", b.Parked, b.Waiting)
			alive, found = b.Up(), true
		}
	}
	for i := range l.View.Producers {
		if p := &l.View.Producers[i]; p.ID == id {
			l.inspectProducer(in, p)
			alive, found = p.Alive, true
		}
	}
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		for j := range g.Members {
			if m := &g.Members[j]; kafka.NodeID(m.ID) == id {
				l.inspectMember(in, g, m)
				alive, found = m.Alive, true
			}
		}
	}
	if !found {
		return false
	}
	if alive {
		l.inspectFrame().Waits(in, id, l.IsPaused(id))
	} else {
		in.AddFact("Process", "does not run")
	}
	return true
}

// inspectProducer shows what a producer believes.
func (l *layout) inspectProducer(in *view.Inspector, p *engine.ProducerView) {
	in.AddFact("Records", "%d handed in, %d acknowledged, %d failed, %d to be sent", p.Produced, p.Acknowledged, p.Failed, p.Waiting)
	switch {
	case p.Producer.ProducerID >= 0:
		in.AddFact("Producer id", "%d, epoch %d", p.Producer.ProducerID, p.Producer.ProducerEpoch)
	case !p.Producer.Idempotent:
		in.AddFact("Producer id", "none: enable.idempotence is false in effect")
	}
	if t := p.Producer.Transaction; t != nil {
		in.AddFact("transactional.id", "%s, %s", t.TransactionalID, t.State)
		l.inspectFrame().OpenTransactions(in, t.TransactionalID)
		in.AddFact("Transactions", "%d begun, %d committed, %d aborted; %s in the last", t.Number, t.Committed, t.Aborted, kafka.Count(t.Records, "record"))
	}
}

// inspectMember shows a member with what it reads.
func (l *layout) inspectMember(in *view.Inspector, g *engine.GroupView, m *engine.MemberView) {
	in.Links = append(in.Links, labs.Open(l.Address, "open-group", "group "+g.ID, labs.Target{Kind: labs.GroupTarget, Node: kafka.NodeID(g.ID)}))
	in.AddFact("Application", "%s", m.App)
	in.AddFact("Believes", "%s, coordinator %s", m.State, orNone(string(m.Coordinator)))
	t := view.Table{ID: "assignment", Caption: "What it reads", Head: []string{"Partition", "Position", "To read"}}
	for _, a := range m.Assignment {
		t.Rows = append(t.Rows, inspect.Cells(a.TopicPartition.String(), offsetText(a.Position), fmt.Sprint(a.Lag)))
	}
	if len(t.Rows) == 0 {
		t.More = "Nothing."
	}
	in.Tables = append(in.Tables, t)
}

// inspectGroup shows a group as its coordinator has it.
func (l *layout) inspectGroup(in *view.Inspector, id string) bool {
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		if g.ID != id {
			continue
		}
		in.AddFact("Lives on", "%s-%d", group.Topic, g.OffsetsPartition)
		in.AddFact("Coordinator", "%s, the leader of that partition", orNone(string(g.Coordinator)))
		in.AddFact("State", "%s", standing(g))
		if g.Held != nil {
			t := view.Table{ID: "members", Caption: "Its members, as the coordinator has them", Head: []string{"Member", "Member id", "Owns"}}
			for _, m := range g.Held.Members {
				t.Rows = append(t.Rows, inspect.Cells(string(m.Host), string(m.ID), orNone(strings.Join(labs.PartitionNames(m.Assignment), ", "))))
			}
			in.Tables = append(in.Tables, t)
		}
		if log, ok := l.inspectFrame().LogOf(kafka.TopicPartition{Topic: group.Topic, Partition: g.OffsetsPartition}); ok {
			in.Tables = append(in.Tables, log.GroupRecords())
		}
		return true
	}
	return false
}
