package delivery

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// cluster draws producers, the application and the brokers, each with the messages on their way to it.
func (l *layout) cluster() *view.Cluster {
	c := &view.Cluster{}
	defer func() {
		if l.Beside != nil && len(c.Clients) > cardsBeside {
			left := len(c.Clients) - cardsBeside
			c.Clients = c.Clients[:cardsBeside]
			c.Clients[cardsBeside-1].More = kafka.Count(left, "more node") + " not drawn"
		}
	}()
	for i := range l.View.Producers {
		c.Clients = append(c.Clients, l.producerCard(&l.View.Producers[i]))
	}
	if l.app != nil {
		for i := range l.app.Members {
			c.Clients = append(c.Clients, l.memberCard(&l.app.Members[i]))
		}
	}
	for _, b := range l.View.Brokers {
		c.Clients = append(c.Clients, l.brokerCard(b))
	}
	return c
}

// producerCard draws a producer of orders with what it believes.
func (l *layout) producerCard(p *engine.ProducerView) view.Node {
	n := l.Node(p.ID, inboxShown)
	n.Words = "producer of orders"
	switch {
	case !p.Alive:
		n.State, n.Words = "down", l.downWords(p.ID, "producer")
		return n
	case p.Paused:
		n.State, n.Words = "stopped", "producer, stands still"
	}
	n.Lines = append(n.Lines, writerLines(p.Producer)...)
	return n
}

// downWords say how a process ended.
func (l *layout) downWords(id kafka.NodeID, what string) string {
	if c := l.lastCrash(id); c != nil {
		return fmt.Sprintf("%s, ended in tick %d%s", what, c.tick, pointText(c.at))
	}
	for i := len(l.past.failures) - 1; i >= 0; i-- {
		if f := l.past.failures[i]; f.node == id && f.fatal {
			return fmt.Sprintf("%s, closed in tick %d: %s", what, f.tick, f.error)
		}
	}
	return what + ", not started"
}

// writerLines say what a producer believes of itself and its transaction.
func writerLines(p *engine.WriterView) (lines []string) {
	if t := p.Transaction; t != nil {
		lines = append(lines, t.TransactionalID+": "+string(t.State))
		if t.Error != "" {
			lines = append(lines, "error: "+t.Error)
		}
	}
	switch {
	case p.ProducerID >= 0:
		text := fmt.Sprintf("producer id %d, epoch %d", p.ProducerID, p.ProducerEpoch)
		for _, part := range p.Partitions {
			if part.NextSequence >= 0 {
				text += fmt.Sprintf(", next sequence %d", part.NextSequence)
			}
		}
		lines = append(lines, text)
	case !p.Idempotent:
		lines = append(lines, "not idempotent: no producer id")
	}
	for _, part := range p.Partitions {
		for _, b := range part.Batches {
			if b.Attempts > 0 {
				lines = append(lines, fmt.Sprintf("%s sent again after %s", kafka.Count(len(b.Records), "record"), b.Error))
			}
		}
	}
	return lines
}

// memberCard draws an instance of the application.
func (l *layout) memberCard(m *engine.MemberView) view.Node {
	n := l.Node(kafka.NodeID(m.ID), inboxShown)
	n.Words = m.App
	switch {
	case !m.Alive:
		n.State, n.Words = "down", l.downWords(kafka.NodeID(m.ID), "application")
		return n
	case m.Paused:
		n.State, n.Words = "stopped", "stands still, "+m.App
	}
	if m.Producer != nil {
		n.Lines = append(n.Lines, writerLines(m.Producer)...)
	}
	if hand := len(m.Busy) + len(m.Queue); hand > 0 {
		n.Lines = append(n.Lines, kafka.Count(hand, "order")+" in hand")
	}
	for _, c := range m.Committing {
		n.Lines = append(n.Lines, fmt.Sprintf("commit under way: %d", c.Next))
	}
	if m.Armed != "" {
		n.Faults = append(n.Faults, "will crash "+m.Armed)
	}
	return n
}

// brokerCard draws a broker with what it leads and coordinates.
func (l *layout) brokerCard(b engine.BrokerView) view.Node {
	n := l.Node(b.Node, inboxShown)
	words := []string{string(b.State)}
	switch {
	case !b.Up():
		n.State = "down"
		if b.State == engine.BrokerPowerOff {
			words[0] = "no power"
		}
	case b.Paused:
		n.State = "stopped"
		words = append(words, "stands still")
	}
	n.Words = strings.Join(words, ", ")
	var led []string
	for _, c := range l.logs() {
		if leads(c, b) {
			led = append(led, c.TopicPartition.String())
		}
	}
	if led != nil {
		n.Lines = append(n.Lines, "leads "+strings.Join(led, ", "))
	}
	var ids []string
	for _, t := range l.View.Transactions {
		if t.Coordinator == b.Node {
			ids = append(ids, t.TransactionalID)
		}
	}
	if ids != nil {
		n.Lines = append(n.Lines, "transaction coordinator of "+strings.Join(ids, ", "))
	}
	if l.app != nil && l.app.Coordinator == b.Node {
		n.Lines = append(n.Lines, "group coordinator of "+billing)
	}
	return n
}

// tables show what the leaders remember, what became of each order, and how long things took; nothing where the inspector
// is open or two runs stand beside each other.
func (l *layout) tables() (list []view.Table) {
	if l.brief {
		return nil
	}
	for _, c := range l.logs() {
		if t := l.memoryTable(c); len(t.Rows) > 0 {
			list = append(list, t)
		}
	}
	if l.app != nil && len(l.effects) > 0 {
		list = append(list, l.effectTable())
	}
	if t := l.latencyTable(); len(t.Rows) > 0 {
		list = append(list, t)
	}
	return append(list, l.readerTable())
}

// memoryTable shows what the leader of a log remembers of each producer id.
func (l *layout) memoryTable(c *contents) view.Table {
	t := view.Table{
		ID: "memory-" + c.Topic, Caption: fmt.Sprintf("What the leader of %s remembers of each producer id", c.TopicPartition),
		Head: []string{"Producer id", "Whose", "Epoch", "Its last batches, five at most: sequences @ offset", "Open from", "Next sequence"},
		More: "A batch with the sequences of one of the five is a duplicate: it is acknowledged, and not written again. One with a smaller epoch is refused.",
	}
	for i, p := range c.producers {
		if i == l.rows {
			t.More += fmt.Sprintf(" %d more producer ids.", len(c.producers)-l.rows)
			break
		}
		batches := []view.Item{}
		for _, b := range p.Batches {
			text := fmt.Sprintf("%d–%d @%d", b.BaseSequence, b.LastSequence, b.BaseOffset)
			if b.BaseSequence == b.LastSequence {
				text = fmt.Sprintf("%d @%d", b.BaseSequence, b.BaseOffset)
			}
			batches = append(batches, view.Item{Text: text, At: labs.Target{Kind: labs.BatchTarget, Partition: c.TopicPartition, Number: int64(b.BaseOffset)}.String()})
		}
		if len(batches) == 0 {
			batches = view.Plain("none of this epoch")
		}
		open := "none"
		if p.TransactionFirstOffset >= 0 {
			open = fmt.Sprint(p.TransactionFirstOffset)
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			view.Plain(fmt.Sprint(p.ProducerID)), view.Plain(l.whoIs(p.ProducerID)), view.Plain(fmt.Sprint(p.ProducerEpoch)), batches, view.Plain(open), view.Plain(fmt.Sprint(p.LastSequence() + 1)),
		}})
	}
	return t
}

// effectTable shows each order with its effects.
func (l *layout) effectTable() view.Table {
	t := view.Table{ID: "effects", Caption: "Each order and its effects", Head: []string{"Order", "Processed"}}
	if l.bills != nil {
		t.Head = append(t.Head, "Bills for read_committed", "for read_uncommitted")
	}
	if l.outside() != nothing {
		t.Head = append(t.Head, "Effects: "+outsideNames[l.outside()])
	}
	t.Head = append(t.Head, "Offset committed")
	from := max(len(l.effects)-l.rows, 0)
	if from > 0 {
		t.More = fmt.Sprintf("The last %d of %d orders.", l.rows, len(l.effects))
	}
	for _, e := range l.effects[from:] {
		row := view.Row{Items: [][]view.Item{
			{{Text: fmt.Sprintf("%s @%d", nameOf(e.Record), e.Offset), At: entryTarget(orders, e.Offset)}}, view.Plain(timesWord(e.processed)),
		}}
		if l.bills != nil {
			kept := fmt.Sprint(e.kept)
			if e.pending > 0 {
				kept += fmt.Sprintf(", %d open", e.pending)
			}
			row.Items = append(row.Items, view.Plain(kept), view.Plain(fmt.Sprint(e.bills)))
		}
		if l.outside() != nothing {
			row.Items = append(row.Items, view.Plain(fmt.Sprint(e.outside)))
		}
		row.Items = append(row.Items, view.Plain(map[bool]string{true: "yes", false: "no"}[e.passed]))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// timesWord writes how often: "never", "once", "2 times".
func timesWord(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// readerTable shows how far the two readers are.
func (l *layout) readerTable() view.Table {
	c := l.read()
	t := view.Table{
		ID: "readers", Caption: "How far the two readers of " + c.TopicPartition.String() + " are", Head: []string{"isolation.level", "May read below", "Position", "Committed", "Watermark", "Lag"},
		More: "Lag: watermark − committed, as tools show it. A marker takes an offset and is given to nobody: whoever commits the last record’s offset + 1 stays one behind.",
	}
	for _, r := range l.readers {
		limit := c.Log.HighWatermark
		if r.level == readCommitted {
			limit = c.lastStable
		}
		lag := "nothing committed"
		if r.kept >= 0 {
			lag = fmt.Sprint(c.Log.HighWatermark - r.kept)
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			{{Text: r.level, At: labs.Target{Kind: labs.NodeTarget, Node: kafka.NodeID(r.member.ID)}.String()}},
			view.Plain(offsetText(limit)), view.Plain(offsetText(r.position)), view.Plain(offsetText(r.kept)), view.Plain(fmt.Sprint(c.Log.HighWatermark)), view.Plain(lag),
		}})
	}
	return t
}

func offsetText(o kafka.Offset) string {
	if o < 0 {
		return "none"
	}
	return fmt.Sprint(o)
}
