package delivery

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/group"
	"loglab/engine/kafka"
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
	return inspect.Frame{Frame: l.Frame, Topic: orders, Group: billing, Config: logConfig()}
}

// contentsOf gives what is in a partition's log; nil: it is not one of the lab's topics.
func (l *layout) contentsOf(tp kafka.TopicPartition) *contents {
	for _, c := range l.logs() {
		if c.TopicPartition == tp {
			return c
		}
	}
	return nil
}

// inspectRecord shows a record with its batch, its transaction and who saw it.
func (l *layout) inspectRecord(in *view.Inspector, log inspect.Log, at inspect.Location) {
	c := l.contentsOf(log.Partition)
	if c == nil {
		log.Record(in, at, labs.Narrow(string(at.Record.Key), 24), "")
		return
	}
	e := c.at(at.Record.Offset)
	if e == nil {
		return
	}
	what := nameOf(at.Record)
	if e.marker != "" {
		what = e.marker + " marker"
	}
	log.Record(in, at, what, "")
	in.AddFact("Producer", "%s", producerText(e))
	_, words := stageOf(e)
	if e.span != nil {
		words += fmt.Sprintf(": %s %s, %s", labs.Verb(int(e.span.last()-e.span.first())+1, "offset", "offsets"), inspect.Offsets(e.span.first(), e.span.last()), kafka.Count(len(e.span.records), "record"))
		if e.span.marker >= 0 {
			words += fmt.Sprintf(", marker at %d", e.span.marker)
		}
	}
	in.AddFact("Transaction", "%s", words)
	if c == l.read() {
		for _, r := range l.readers {
			_, what, _ := strings.Cut(l.sight(c, r, e).Label, ": ")
			in.AddFact("For "+r.level, "%s", what)
		}
	}
	if c == l.orders && l.app != nil && e.marker == "" {
		l.inspectEffect(in, e)
	}
}

// producerText says whose batch a record is in.
func producerText(e *entry) string {
	if e.producer < 0 {
		return "none: its producer was not idempotent"
	}
	text := fmt.Sprintf("id %d, epoch %d", e.producer, e.epoch)
	if e.sequence >= 0 {
		text += fmt.Sprintf(", sequence %d", e.sequence)
	}
	return text
}

// inspectEffect adds what became of an order.
func (l *layout) inspectEffect(in *view.Inspector, e *entry) {
	at := slices.IndexFunc(l.effects, func(x effect) bool { return x.Offset == e.Offset })
	if at < 0 {
		in.AddFact("For "+billing, "not readable")
		return
	}
	x := &l.effects[at]
	parts := []string{"processed " + timesWord(x.processed)}
	if l.bills != nil {
		parts = append(parts, fmt.Sprintf("bills: %d for read_committed, %d for read_uncommitted", x.kept, x.bills))
	}
	if l.outside() != nothing {
		parts = append(parts, fmt.Sprintf("effects in the %s: %d", outsideNames[l.outside()], x.outside))
	}
	in.AddFact("For "+billing, "%s", strings.Join(parts, "; "))
}

// inspectPartition shows a log with its transactions.
func (l *layout) inspectPartition(in *view.Inspector, tp kafka.TopicPartition) bool {
	c := l.contentsOf(tp)
	log, ok := l.inspectFrame().LogOf(tp)
	if !ok || c == nil {
		return false
	}
	in.Title = "The log of " + tp.String()
	in.AddFact("Log", "from %d, exclusive of its end %d", log.LogStartOffset, log.LogEndOffset)
	in.AddFact("High watermark", "%d: read_uncommitted reads below it", log.HighWatermark)
	in.AddFact("Last stable offset", "%s: read_committed reads below it", offsetText(c.lastStable))
	last := log.Segments[len(log.Segments)-1]
	in.Links = append(in.Links, labs.Open(l.Address, "open-segment", "its segment", log.Target(labs.SegmentTarget, last.BaseOffset)))
	t := view.Table{ID: "transactions", Caption: "Transactions in this log, the last ones", Head: []string{"Whose", "Producer id", "Epoch of the data", "Records", "Marker", "State"}}
	from := max(len(c.spans)-l.rows, 0)
	for _, s := range c.spans[from:] {
		marker := []view.Item{{Text: "none yet"}}
		if s.marker >= 0 {
			marker = []view.Item{{Text: fmt.Sprint(s.marker), At: entryTarget(tp.Topic, s.marker)}}
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			view.Plain(s.who), view.Plain(fmt.Sprint(s.producer)), view.Plain(fmt.Sprint(s.epoch)),
			{{Text: inspect.Offsets(s.first(), s.last()), At: entryTarget(tp.Topic, s.first())}}, marker, view.Plain(s.state(c)),
		}})
	}
	if len(t.Rows) > 0 {
		in.Tables = append(in.Tables, t)
	}
	return true
}

// inspectNode shows a client or a broker, and what it waits for.
func (l *layout) inspectNode(in *view.Inspector, node kafka.NodeID) bool {
	alive, paused, found := false, false, false
	for _, g := range l.View.Groups {
		for i := range g.Members {
			if m := &g.Members[i]; kafka.NodeID(m.ID) == node {
				l.inspectMember(in, &g, m)
				alive, paused, found = m.Alive, m.Paused, true
			}
		}
	}
	for i := range l.View.Producers {
		if p := &l.View.Producers[i]; p.ID == node {
			in.AddFact("Records", "%d handed in, %d acknowledged, %d to be sent", p.Produced, p.Acknowledged, p.Waiting)
			l.inspectWriter(in, p.Producer)
			alive, paused, found = p.Alive, p.Paused, true
		}
	}
	for _, b := range l.View.Brokers {
		if b.Node == node {
			in.AddFact("State", "%s", b.State)
			in.AddFact("Wait in it", "fetches: %d, writes: %d", b.Parked, b.Waiting)
			l.inspectCoordinated(in, node)
			alive, paused, found = b.Up(), b.Paused, true
		}
	}
	if !found {
		return false
	}
	if alive {
		l.inspectFrame().Waits(in, node, paused)
	} else {
		in.AddFact("Process", "does not run")
	}
	return true
}

// inspectMember shows an instance of the application, or a reader.
func (l *layout) inspectMember(in *view.Inspector, g *engine.GroupView, m *engine.MemberView) {
	in.AddFact("Application", "%s", m.App)
	if g.ID == billing {
		in.AddFact("isolation.level", "%s", l.Address.Values.Text("isolation"))
	}
	for _, a := range m.Assignment {
		in.AddFact("Reads", "%s from position %s on", a.TopicPartition, offsetText(a.Position))
	}
	if m.Producer != nil {
		l.inspectWriter(in, m.Producer)
	}
}

// inspectWriter shows what a producer believes, and what it has of its transaction.
func (l *layout) inspectWriter(in *view.Inspector, p *engine.WriterView) {
	if p.ProducerID >= 0 {
		in.AddFact("Producer id", "%d, epoch %d", p.ProducerID, p.ProducerEpoch)
	}
	t := p.Transaction
	if t == nil {
		return
	}
	in.AddFact("transactional.id", "%s, transaction.version %d, transaction.timeout.ms %s", t.TransactionalID, t.Version, kafka.Thousands(t.Timeout))
	l.inspectFrame().OpenTransactions(in, t.TransactionalID)
	text := string(t.State)
	if t.Error != "" {
		text += ": " + t.Error
	}
	in.AddFact("State", "%s", text)
	in.AddFact("Transactions", "%d begun, %d committed, %d aborted; %s in the last", t.Number, t.Committed, t.Aborted, kafka.Count(t.Records, "record"))
	if t.Asking != "" {
		in.AddFact("Asks", "%s", t.Asking)
	}
	if t.Coordinator != "" {
		in.AddFact("Coordinator", "%s, as it believes", t.Coordinator)
	}
}

// inspectCoordinated shows the transactional ids that a broker coordinates.
func (l *layout) inspectCoordinated(in *view.Inspector, node kafka.NodeID) {
	t := view.Table{ID: "coordinated", Caption: "Transactional ids that it coordinates", Head: []string{"transactional.id", "Kept in", "State", "Producer id", "Epoch", "Partitions", "Open since", "Aborted at the latest"}}
	for _, id := range l.View.Transactions {
		if id.Coordinator != node || id.Held == nil {
			continue
		}
		h := id.Held
		names := labs.PartitionNames(h.Partitions)
		since, ends := "–", "–"
		if h.Start >= 0 && len(names) > 0 {
			since = fmt.Sprintf("%s ms", kafka.Thousands(int64(h.Start-engine.StartTime)))
		}
		if h.TimesOut > 0 && len(names) > 0 {
			ends = fmt.Sprintf("tick %d", l.TickAfter(h.TimesOut))
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			view.Plain(id.TransactionalID), {{Text: id.Partition.String(), At: labs.Target{Kind: labs.PartitionTarget, Partition: id.Partition}.String()}}, view.Plain(string(h.State)), view.Plain(fmt.Sprint(h.ProducerID)), view.Plain(fmt.Sprint(h.ProducerEpoch)),
			view.Plain(strings.Join(names, ", ")), view.Plain(since), view.Plain(ends),
		}})
	}
	if len(t.Rows) > 0 {
		in.Tables = append(in.Tables, t)
	}
}

// inspectGroup shows the application's group.
func (l *layout) inspectGroup(in *view.Inspector, id string) bool {
	for i := range l.View.Groups {
		g := &l.View.Groups[i]
		if g.ID != id {
			continue
		}
		if g.Coordinator == "" {
			in.AddFact("Coordinator", "none that runs")
		} else {
			in.AddFact("Coordinator", "%s; kept in %s-%d", g.Coordinator, group.Topic, g.OffsetsPartition)
		}
		if g.State != "" {
			in.AddFact("State", "%s, generation %d", g.State, g.Generation)
		}
		for _, o := range g.Offsets {
			in.AddFact("Offset of "+o.TopicPartition.String(), "committed %s, lag %d", offsetText(o.Committed), o.Lag)
		}
		if id == billing && l.outside() != nothing {
			in.AddFact("Outside", "%s: %s, %d ignored, %d written again", outsideNames[l.outside()], kafka.Count(g.Sink.Effects, "effect"), g.Sink.Ignored, g.Sink.Doubled)
		}
		return true
	}
	return false
}
