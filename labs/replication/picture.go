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
		Cluster: l.cluster(), Ledger: l.counts(), Tables: l.tables(), Legend: l.legend(),
	}
	for first := 0; len(l.View.Partitions) > l.shown && first < len(l.View.Partitions); first += l.shown {
		last := min(first+l.shown, len(l.View.Partitions)) - 1
		link := l.open(fmt.Sprintf("partitions-%d", first), fmt.Sprintf("%s-%d to %d", topic, first, last), labs.Target{Kind: labs.PartitionTarget, Partition: l.View.Partitions[first].TopicPartition})
		link.Inactive = first == l.first
		p.Pages = append(p.Pages, link)
	}
	return p
}

// counts draws the account. Where a leader does not serve, or a broker that is none does, words that take the controller's
// leaders for those who serve say so.
func (l *layout) counts() []view.Count {
	list := l.account().Counts()
	var idle, deposed []string
	unaware := false
	for _, p := range l.View.Partitions {
		unaware = unaware || l.unaware(p)
		if p.Leader != engine.NoLeader && l.broker(p.Leader).Up() && !l.serves(p, p.Leader) {
			idle = append(idle, p.TopicPartition.String())
		}
		if len(l.deposed(p)) > 0 {
			deposed = append(deposed, p.TopicPartition.String())
		}
	}
	for i, c := range list {
		switch {
		case c.Name == "Visible" && len(deposed) > 0:
			list[i].Text = "below the high watermarks of the controller’s leaders; a broker that has not heard that it is none serves " + strings.Join(deposed, ", ")
		case c.Name == "Visible" && len(idle) > 0:
			list[i].Text = "below the leaders’ high watermarks; the leader of " + strings.Join(idle, ", ") + " does not serve now"
		case c.Name == "Lost" && unaware && len(l.report.Lost) > 0:
			list[i].Text = "acknowledged, and their leader does not have them; one that has not heard of its election may still fetch some"
		case c.Name == "Out of reach" && len(deposed) > 0:
			list[i].Text = "acknowledged, and the controller has no leader that runs; a broker that has not heard that it is none serves " + strings.Join(deposed, ", ")
		}
	}
	return list
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
	for _, rec := range labs.RecordsFrom(labs.SegmentsOf(r), first, l.columns) {
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
		labs.Shift(l.Address, s, p.TopicPartition, 0, first+kafka.Offset(l.columns), longest(p))
	}
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
		At:         labs.Target{Kind: labs.RecordTarget, Partition: tp, Number: int64(rec.Offset), Node: kafka.NodeID(labs.BrokerName(id))}.String(),
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
	c.Selected = shown.Kind == labs.RecordTarget && shown.Partition == tp && shown.Number == int64(rec.Offset) && (shown.Node == "" && p.Leader == id || shown.Node == kafka.NodeID(labs.BrokerName(id)))
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
			leader = labs.BrokerName(p.Leader)
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			{{Text: p.TopicPartition.String(), At: labs.Target{Kind: labs.PartitionTarget, Partition: p.TopicPartition}.String()}},
			view.Plain(leader), view.Plain(fmt.Sprint(p.LeaderEpoch)), view.Plain(labs.BrokerNames(p.ISR)), view.Plain(labs.BrokerNames(p.ELR)), view.Plain(labs.BrokerNames(assigned(p))), view.Plain(l.visibleBelow(p)),
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

// visibleBelow is the high watermark below which consumers can read a partition, in words: that of its leader, or of a broker
// that has not heard that it is none.
func (l *layout) visibleBelow(p engine.PartitionView) string {
	if r, ok := replicaOn(p, p.Leader); ok && l.serves(p, p.Leader) {
		return fmt.Sprint(r.HighWatermark)
	}
	for _, id := range l.deposed(p) {
		r, _ := replicaOn(p, id)
		return fmt.Sprintf("%d, on %s", r.HighWatermark, labs.BrokerName(id))
	}
	return "cannot be read"
}
