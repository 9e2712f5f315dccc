package replication

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/view"
)

// picture draws the nodes, the replicas and the ledger.
func (l *layout) picture() view.Picture {
	v := l.Address.Values
	p := view.Picture{
		Title: fmt.Sprintf("Topic %s, %s, replication factor %s; min.insync.replicas %d; %s", topic,
			kafka.Count(len(l.View.Partitions), "partition"), v.Text("rf"), l.minISR(), kafka.Count(len(l.View.Brokers), "broker")),
		Path: l.Address.Path(), Hidden: labs.HiddenParams(l.Address, "at", "why"),
		Cluster: l.cluster(), Ledger: l.ledger(), Tables: l.tables(), Legend: l.legend(),
	}
	for first := 0; len(l.View.Partitions) > l.shown && first < len(l.View.Partitions); first += l.shown {
		last := min(first+l.shown, len(l.View.Partitions)) - 1
		link := l.open(fmt.Sprintf("partitions-%d", first), fmt.Sprintf("%s-%d to %d", topic, first, last), labs.Target{Kind: labs.PartitionTarget, Partition: l.View.Partitions[first].TopicPartition})
		link.Inactive = first == l.first
		p.Pages = append(p.Pages, link)
	}
	return p
}

// minISR is min.insync.replicas as the topic has it now.
func (l *layout) minISR() int {
	text, _ := l.View.Controller.Image.TopicSetting(topic, "min.insync.replicas")
	n := 1
	fmt.Sscan(text, &n)
	return n
}

// open makes a control that opens something in the inspector.
func (l *layout) open(id, text string, at labs.Target) view.Link {
	return labs.Replace(id, text, l.Address.WithTarget(at))
}

// legend explains the signs of the cells.
func (l *layout) legend() []view.Key {
	list := []view.Key{
		{Kind: "acked", Text: "acknowledged"}, {Kind: "waiting", Text: "not visible to consumers"}, {Kind: "new", Text: "written in this tick"},
	}
	if len(l.report.Lost) > 0 {
		list = append(list, view.Key{Kind: "lost", Text: "acknowledged and lost"})
	}
	if len(l.gone) > 0 {
		list = append(list, view.Key{Kind: "gone", Text: "cut off in this tick"})
	}
	if len(l.again) > 0 {
		list = append(list, view.Key{Kind: "again", Text: "stands more than once"})
	}
	epochs := map[kafka.LeaderEpoch]bool{}
	for _, p := range l.drawn() {
		for epoch := max(p.LeaderEpoch-3, 0); epoch <= p.LeaderEpoch; epoch++ {
			epochs[epoch] = true
		}
	}
	for epoch := kafka.LeaderEpoch(0); epoch < 1000 && len(epochs) > 0; epoch++ {
		if epochs[epoch] {
			list = append(list, view.Key{Kind: fmt.Sprintf("epoch k%d", epochColor(epoch)), Text: fmt.Sprintf("leader epoch %d", epoch)})
			delete(epochs, epoch)
		}
	}
	return list
}

// epochColor gives a leader epoch one of eight colours in turn.
func epochColor(epoch kafka.LeaderEpoch) int {
	if epoch < 0 {
		return 0
	}
	return int(epoch)%8 + 1
}

// cluster draws all nodes.
func (l *layout) cluster() *view.Cluster {
	c := &view.Cluster{Columns: columnsOf(len(l.View.Brokers))}
	for i := range l.View.Producers {
		c.Clients = append(c.Clients, l.producerNode(&l.View.Producers[i]))
	}
	for i := range l.View.Groups[0].Members {
		c.Clients = append(c.Clients, l.consumerNode(&l.View.Groups[0].Members[i]))
	}
	for _, b := range l.View.Brokers {
		c.Brokers = append(c.Brokers, l.brokerNode(b))
	}
	c.Controller = l.controllerNode()
	return c
}

// columnsOf says how many of n brokers stand beside each other.
func columnsOf(n int) int {
	switch {
	case n <= 4:
		return n
	case n == 5, n == 6, n == 9:
		return 3
	}
	return 4
}

// newNode begins a node with the messages that are on their way to it.
func (l *layout) newNode(id kafka.NodeID) view.Node {
	n := view.Node{ID: "node-" + string(id), Name: string(id), At: labs.Target{Kind: labs.NodeTarget, Node: id}.String(), State: "up"}
	left, most := 0, inboxShown
	if l.Beside != nil {
		most = inboxBeside
	}
	for _, m := range l.View.UnderWay {
		switch {
		case m.To != id:
		case len(n.Inbox) == most:
			left++
		default:
			n.Inbox = append(n.Inbox, l.envelope(m))
		}
	}
	if left > 0 {
		n.More = fmt.Sprintf("%d more on their way", left)
	}
	return n
}

// envelope draws one message.
func (l *layout) envelope(m engine.MessageView) view.Message {
	kind := "request"
	if m.Answer {
		kind = "response"
	}
	e := view.Message{
		ID: fmt.Sprintf("m-%d", m.ID), From: string(m.From), To: string(m.To), Text: m.API + " " + kind,
		When: fmt.Sprintf("in tick %d", l.tickAfter(m.DueAt)), At: labs.Target{Kind: labs.MessageTarget, Number: int64(m.ID)}.String(), Response: m.Answer,
	}
	if m.Message.IsReset() {
		e.Text = m.API
	}
	if m.Held {
		e.When, e.Held = "waits: link cut", true
		if l.paused(m.To) && !l.cut(m.From, m.To) {
			e.When = "waits: paused"
		}
	}
	return e
}

// cut says whether nothing passes from one node to another.
func (l *layout) cut(from, to kafka.NodeID) bool {
	return slices.ContainsFunc(l.View.Faulty, func(f engine.LinkView) bool { return f.Cut && f.From == from && f.To == to })
}

// tickAfter gives the tick in which a moment from now on falls.
func (l *layout) tickAfter(at kafka.Millis) int {
	return l.Address.T + 1 + max(int((at-l.View.Now)/tickMillis), 0)
}

// paused says whether a node's process stands still.
func (l *layout) paused(id kafka.NodeID) bool {
	for _, b := range l.View.Brokers {
		if b.Node == id {
			return b.Paused
		}
	}
	for _, p := range l.View.Producers {
		if p.ID == id {
			return p.Paused
		}
	}
	for _, m := range l.View.Groups[0].Members {
		if kafka.NodeID(m.ID) == id {
			return m.Paused
		}
	}
	return l.View.Controller.Node == id && l.View.Controller.Paused
}

// faultsAt says in words what is wrong with the links of a node, each link at the node where its messages arrive.
func (l *layout) faultsAt(id kafka.NodeID) (lines []string) {
	for _, f := range l.View.Faulty {
		if f.To != id {
			continue
		}
		var words []string
		if f.Cut {
			words = append(words, "cut")
		}
		if f.Delay > 0 {
			words = append(words, fmt.Sprintf("%s ms later", kafka.Thousands(f.Delay)))
		}
		if f.Drop > 0 {
			words = append(words, "drops "+nextMessages(f.Drop))
		}
		if f.Double > 0 {
			words = append(words, "doubles "+nextMessages(f.Double))
		}
		lines = append(lines, fmt.Sprintf("✂ link from %s: %s", f.From, strings.Join(words, ", ")))
	}
	return lines
}

// producerNode draws the producer with what it believes.
func (l *layout) producerNode(p *engine.ProducerView) view.Node {
	n := l.newNode(p.ID)
	n.Words = "producer"
	switch {
	case !p.Alive:
		n.State, n.Words = "down", "producer, down"
	case p.Paused:
		n.State, n.Words = "stopped", "producer, paused"
	case !p.Sending:
		n.Words = "producer, application stopped"
	}
	n.Lines = append(n.Lines, fmt.Sprintf("handed in %d, acknowledged %d, failed %d", p.Produced, p.Acknowledged, p.Failed))
	state := p.Producer
	if retried, why := retries(p); retried > 0 {
		n.Lines = append(n.Lines, fmt.Sprintf("%s tried again (%s)", kafka.Count(retried, "record"), why))
	} else if p.Waiting > 0 {
		n.Lines = append(n.Lines, kafka.Count(p.Waiting, "record")+" to be sent")
	}
	switch {
	case state.ProducerID >= 0:
		n.Lines = append(n.Lines, fmt.Sprintf("producer id %d, epoch %d", state.ProducerID, state.ProducerEpoch))
	case !state.Idempotent:
		n.Lines = append(n.Lines, "not idempotent")
	}
	n.Lines = append(n.Lines, l.faultsAt(p.ID)...)
	return n
}

// retries counts the records that a producer sends again or is about to, and says why.
func retries(p *engine.ProducerView) (records int, why string) {
	for _, part := range p.Producer.Partitions {
		for _, b := range part.Batches {
			if b.Attempts > 0 {
				records += len(b.Records)
				why = b.Error
			}
		}
	}
	return records, why
}

// consumerNode draws a consumer.
func (l *layout) consumerNode(m *engine.MemberView) view.Node {
	n := l.newNode(kafka.NodeID(m.ID))
	n.Words = "consumer"
	switch {
	case !m.Alive:
		n.State, n.Words = "down", "consumer, down"
	case m.Paused:
		n.State, n.Words = "stopped", "consumer, paused"
	}
	read, lag := 0, int64(0)
	for _, a := range m.Assignment {
		read, lag = read+a.Read, lag+a.Lag
	}
	n.Lines = append(n.Lines, fmt.Sprintf("read %d, %d to read", read, max(lag, 0)))
	n.Lines = append(n.Lines, l.faultsAt(kafka.NodeID(m.ID))...)
	return n
}

// controllerNode draws the controller with what it holds of the brokers.
func (l *layout) controllerNode() *view.Node {
	c := l.View.Controller
	n := l.newNode(c.Node)
	n.Words = "counts as alive: " + nodes(l.alive())
	if c.Paused {
		n.State, n.Words = "stopped", "paused"
	}
	n.Lines = append(n.Lines, fmt.Sprintf("metadata log ends at %d", c.LogEndOffset))
	n.Lines = append(n.Lines, l.faultsAt(c.Node)...)
	return &n
}

// alive lists the brokers that the controller counts as alive.
func (l *layout) alive() (ids []kafka.BrokerID) {
	for _, b := range l.View.Brokers {
		if !b.Fenced {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// brokerNode draws a broker with its replicas of the partitions shown.
func (l *layout) brokerNode(b engine.BrokerView) view.Node {
	n := l.newNode(b.Node)
	words := []string{string(b.State)}
	if b.State == engine.BrokerPowerOff {
		words[0] = "no power"
	}
	switch {
	case !up(b):
		n.State = "down"
		if !b.Fenced {
			words = append(words, "the controller still counts it as alive")
		}
	case b.Paused:
		n.State = "stopped"
		words = append(words, "paused")
	}
	if up(b) && b.Fenced {
		words = append(words, "fenced")
	}
	if b.DiskDelay > 0 {
		words = append(words, fmt.Sprintf("slow disk: %s ms a write", kafka.Thousands(b.DiskDelay)))
	}
	if b.Rack != "" {
		words = append(words, b.Rack)
	}
	n.Words = strings.Join(words, ", ")
	n.Lines = l.faultsAt(b.Node)
	for _, p := range l.drawn() {
		if r, ok := replicaOn(p, b.ID); ok {
			n.Replicas = append(n.Replicas, l.replica(p, r))
		}
	}
	return n
}

// replica draws one replica.
func (l *layout) replica(p engine.PartitionView, r engine.ReplicaView) view.Replica {
	name := p.TopicPartition.String()
	d := view.Replica{Role: "follower", RoleText: "Follower"}
	if r.Online {
		d.Epoch = fmt.Sprintf("epoch %d", r.Replica.State.LeaderEpoch)
	}
	switch {
	case p.Leader == r.Broker:
		d.Role, d.RoleText = "leader", "Leader"
		if r.Online && r.Role != "leader" {
			d.Note = "does not know yet that it leads"
		}
	case r.Online && r.Role == "leader":
		d.Note = fmt.Sprintf("believes that it leads, epoch %d", r.Replica.State.LeaderEpoch)
	case !r.Online:
		d.Role, d.RoleText = "offline", "Offline"
	case p.Leader == engine.NoLeader:
		d.RoleText = "No leader"
	}
	if !r.Online {
		d.Epoch = "on its disk"
		if r.OnDisk == nil {
			d.Epoch = "nothing on its disk"
		}
	}
	switch {
	case slices.Contains(p.ISR, r.Broker):
		d.Sync, d.SyncText = "in", "in sync"
	case slices.Contains(p.ELR, r.Broker):
		d.Sync, d.SyncText = "eligible", "eligible leader"
	default:
		d.Sync, d.SyncText = "out", "not in sync"
	}
	first := l.windows[p.Partition]
	d.Strip = view.Strip{
		ID: fmt.Sprintf("replica-%s-%d", name, r.Broker), Name: name, At: labs.Target{Kind: labs.ReplicaTarget, Partition: p.TopicPartition, Number: int64(r.Broker)}.String(),
		First: int64(first), Columns: l.columns, Width: l.placeWidth(), Empty: "no records",
	}
	l.fill(&d.Strip, p, r, first)
	return d
}

// placeWidth is how wide a place of a strip is at least, in percent of the usual.
func (l *layout) placeWidth() int {
	if l.Beside != nil {
		return 52
	}
	return 75
}

// fill draws the cells and flags of a replica's log from an offset on.
func (l *layout) fill(s *view.Strip, p engine.PartitionView, r engine.ReplicaView, first kafka.Offset) {
	for _, rec := range labs.RecordsFrom(segmentsOf(r), first, l.columns) {
		s.Cells = append(s.Cells, l.cell(p, r.Broker, rec))
	}
	for _, rec := range goneRecords(l.gone[at{r.Broker, p.Partition}], max(first, r.LogEndOffset), first+kafka.Offset(l.columns)) {
		c := l.cell(p, r.Broker, rec)
		c.Gone, c.New = true, false
		c.ID += "-gone"
		c.Label += ", cut off in this tick"
		s.Cells = append(s.Cells, c)
	}
	flag := func(offset kafka.Offset, kind view.FlagKind, text string) {
		if column := int(offset - first); column >= 0 && column <= l.columns {
			s.Flags = append(s.Flags, view.Flag{Column: column, Kind: kind, Text: fmt.Sprintf("%s %d", text, offset)})
		}
	}
	if r.Online || r.OnDisk != nil {
		flag(r.HighWatermark, view.HighWatermark, "watermark")
		flag(r.LogEndOffset, view.LogEnd, "end")
	}
	if len(s.Cells) == 0 && first > 0 {
		s.Empty = fmt.Sprintf("ends at %d", r.LogEndOffset)
	}
	if p.Leader == r.Broker || p.Leader == engine.NoLeader && p.Replicas[0].Broker == r.Broker {
		name := p.TopicPartition
		if first > 0 {
			s.Before = l.windowLink("before-"+name.String(), fmt.Sprintf("%d earlier", first), name, max(0, first-kafka.Offset(l.columns/2)))
		}
		if end := longest(p); first+kafka.Offset(l.columns) < end {
			s.After = l.windowLink("after-"+name.String(), fmt.Sprintf("%d later", end-first-kafka.Offset(l.columns)), name, min(end-1, first+kafka.Offset(l.columns+l.columns/2)))
		}
	}
}

// windowLink moves the strips of a partition by opening a record in them.
func (l *layout) windowLink(id, text string, tp kafka.TopicPartition, to kafka.Offset) *view.Link {
	link := l.open(id, text, labs.Target{Kind: labs.RecordTarget, Partition: tp, Number: int64(to)})
	link.Label = fmt.Sprintf("%s records of %s", text, tp)
	return &link
}

// segmentsOf gives a replica's segments, from its disk where its broker is down.
func segmentsOf(r engine.ReplicaView) []storage.Segment {
	switch {
	case r.Online:
		return r.Replica.Segments
	case r.OnDisk != nil:
		return r.OnDisk.Segments
	}
	return nil
}

// goneRecords reads the records from an offset on and below another out of batches that were cut off.
func goneRecords(data []byte, from, below kafka.Offset) []labs.StoredRecord {
	if len(data) == 0 || from >= below {
		return nil
	}
	return labs.RecordsFrom([]storage.Segment{{Bytes: data, LastOffset: below}}, from, int(below-from))
}

// cell draws one record of one replica.
func (l *layout) cell(p engine.PartitionView, id kafka.BrokerID, rec labs.StoredRecord) view.Cell {
	tp := p.TopicPartition
	c := view.Cell{
		ID: fmt.Sprintf("r-%d-%d-%d", tp.Partition, id, rec.Offset), Text: shortName(rec.Record), Offset: fmt.Sprint(rec.Offset), Color: epochColor(rec.LeaderEpoch),
		At:         labs.Target{Kind: labs.RecordTarget, Partition: tp, Number: int64(rec.Offset), Node: kafka.NodeID(node(id))}.String(),
		BatchStart: rec.BatchStart && l.columns > columnsLeast, New: l.news[place{at{id, tp.Partition}, rec.Offset}],
		Waiting: !l.visible(p, rec), Again: l.again[slot{tp.Partition, rec.Offset}],
	}
	words := []string{fmt.Sprintf("offset %d", rec.Offset), labs.Narrow(string(rec.Value), 40), fmt.Sprintf("leader epoch %d", rec.LeaderEpoch)}
	if told, ok := l.acknowledgedAt(tp.Partition, rec); ok {
		c.Acknowledged = true
		words = append(words, fmt.Sprintf("acknowledged in tick %d", told.tick))
		if l.lost[told.number] {
			c.Lost = true
			words = append(words, "lost: its leader does not have it")
		}
	}
	if c.Waiting {
		words = append(words, "not visible to consumers")
	}
	if c.Again {
		words = append(words, "stands more than once")
	}
	if c.New {
		words = append(words, "written in this tick")
	}
	shown := l.Address.At
	c.Selected = shown.Kind == labs.RecordTarget && shown.Partition == tp && shown.Number == int64(rec.Offset) && (shown.Node == "" && p.Leader == id || shown.Node == kafka.NodeID(node(id)))
	c.Label = strings.Join(words, ", ")
	return c
}

// visible says whether consumers can read a record: the partition's leader has it, below its high watermark.
func (l *layout) visible(p engine.PartitionView, rec labs.StoredRecord) bool {
	if p.Leader == engine.NoLeader || rec.Offset >= p.Log.HighWatermark {
		return false
	}
	led := l.led[p.Partition]
	at := int(rec.Offset - l.windows[p.Partition])
	return at < len(led) && led[at].LeaderEpoch == rec.LeaderEpoch && string(led[at].Value) == string(rec.Value)
}

// tables shows the partitions as the controller has them.
func (l *layout) tables() []view.Table {
	t := view.Table{ID: "partitions", Caption: "The partitions as the controller has them", Head: []string{"Partition", "Leader", "Epoch", "In sync", "Eligible leaders", "Replicas", "Visible below"}}
	for _, p := range l.View.Partitions {
		leader := "none"
		if p.Leader != engine.NoLeader {
			leader = node(p.Leader)
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			{{Text: p.TopicPartition.String(), At: labs.Target{Kind: labs.PartitionTarget, Partition: p.TopicPartition}.String()}},
			view.Plain(leader), view.Plain(fmt.Sprint(p.LeaderEpoch)), view.Plain(nodes(p.ISR)), view.Plain(nodes(p.ELR)), view.Plain(nodes(assigned(p))), view.Plain(visibleBelow(p)),
		}})
	}
	return []view.Table{t}
}

// assigned lists the brokers of a partition, the preferred leader first.
func assigned(p engine.PartitionView) (ids []kafka.BrokerID) {
	for _, r := range p.Replicas {
		ids = append(ids, r.Broker)
	}
	return ids
}

// visibleBelow is the high watermark of a partition's leader in words.
func visibleBelow(p engine.PartitionView) string {
	if r, ok := replicaOn(p, p.Leader); ok && r.Online {
		return fmt.Sprint(r.HighWatermark)
	}
	return "cannot be read"
}

// nextMessages names the next messages of a link, by number.
func nextMessages(n int) string {
	if n == 1 {
		return "the next message"
	}
	return fmt.Sprintf("the next %d messages", n)
}
