package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// effect is what became of one order. The bills are counted in the log, the effects outside where they are.
type effect struct {
	entry
	bills     int  // that a read_uncommitted reader can see or will
	kept      int  // of them those that a read_committed reader can see or will: in no open and no aborted transaction
	pending   int  // in an open transaction
	outside   int  // times that the outside has its effect
	processed int  // times that the application was done with it
	held      bool // the application has it in hand, or bills for it on their way or in an open transaction
	passed    bool // what is committed is behind it
}

// countEffects counts what became of each order that the application is to read.
func (l *layout) countEffects() (list []effect) {
	if l.app == nil {
		return nil
	}
	bills, kept, pending := map[kafka.Offset]int{}, map[kafka.Offset]int{}, map[kafka.Offset]int{} // only looked up
	if l.bills != nil {
		for i := range l.bills.entries {
			e := &l.bills.entries[i]
			o, ok := inputOf(e.Value)
			switch {
			case !ok || e.marker != "":
				continue
			case e.open():
				pending[o]++
			case !e.aborted():
				kept[o]++
			}
			bills[o]++
		}
	}
	done := l.begins()
	inbox := l.inboxEffects()
	for _, e := range l.orders.entries {
		if e.marker != "" || !l.counts(&e) {
			continue
		}
		fate := l.fate(e.Offset)
		if inbox != nil && fate.Processed > 0 {
			fate.Applied = inbox[eventOf(&e)]
		}
		list = append(list, effect{
			entry: e, bills: bills[e.Offset], kept: kept[e.Offset], pending: pending[e.Offset], outside: int(fate.Applied), processed: int(fate.Processed),
			held: pending[e.Offset] > 0 || l.holds(e.Offset), passed: e.Offset < done,
		})
	}
	return list
}

// inboxEffects counts the effects of each event in a database with an inbox, which knows an event in whatever record; nil
// where there is none.
func (l *layout) inboxEffects() map[string]uint16 {
	if l.app.Sink.Kind != engine.SinkInbox {
		return nil
	}
	list := map[string]uint16{} // only looked up
	for i := range l.orders.entries {
		e := &l.orders.entries[i]
		list[eventOf(e)] += l.fate(e.Offset).Applied
	}
	return list
}

// eventOf is what two records of one event share.
func eventOf(e *entry) string { return string(e.Key) + "\x00" + string(e.Value) }

// counts says whether an order is one that the application is to process: what it can read.
func (l *layout) counts(e *entry) bool {
	if l.readsCommitted() {
		return !e.aborted() && (l.orders.lastStable < 0 || e.Offset < l.orders.lastStable)
	}
	return e.Offset < l.orders.Log.HighWatermark
}

// readsCommitted says whether the application's consumer has isolation.level = read_committed.
func (l *layout) readsCommitted() bool { return l.Address.Values.Text("isolation") == readCommitted }

// committedOrders is what the application's group has committed of orders; -1: nothing. While nobody coordinates the group it
// is what it had committed when somebody did.
func (l *layout) committedOrders() kafka.Offset {
	if l.app.Coordinator == "" {
		return l.past.committed
	}
	o := kafka.NoOffset
	for _, at := range l.app.Offsets {
		if at.Topic == orders {
			o = at.Committed
		}
	}
	return o
}

// begins is where a new process of the application would begin: where its group has committed, or where the outside says
// that keeps offsets; -1: neither.
func (l *layout) begins() kafka.Offset {
	if l.app.Sink.Kind == engine.SinkOffsets {
		if o := l.storedOutside(); o >= 0 {
			return o
		}
	}
	return l.committedOrders()
}

// storedOutside is the offset that the database keeps with its effects; -1: none.
func (l *layout) storedOutside() (o kafka.Offset) {
	o = kafka.NoOffset
	for _, f := range l.app.Sink.Fates {
		for at := kafka.Offset(0); at < f.End() && f.Topic == orders; at++ {
			if f.At(at).Applied > 0 {
				o = at + 1
			}
		}
	}
	return o
}

// fate is what the application has done with an order.
func (l *layout) fate(o kafka.Offset) (fate engine.RecordFate) {
	for _, f := range l.app.Sink.Fates {
		if f.Topic == orders {
			fate = f.At(o)
		}
	}
	return fate
}

// holds says whether an instance has an order in hand, or may still write what it has made of it.
func (l *layout) holds(o kafka.Offset) bool {
	if l.bills != nil && l.writesUnderWay(bills) {
		return true
	}
	for i := range l.app.Members {
		m := &l.app.Members[i]
		if !m.Alive {
			continue
		}
		if slices.ContainsFunc(m.Busy, func(w engine.WorkView) bool { return w.Topic == orders && w.Offset == o }) ||
			slices.ContainsFunc(m.Queue, func(p engine.PlaceView) bool { return p.Topic == orders && p.Offset == o }) {
			return true
		}
		if m.Producer != nil && (m.Producer.Waiting > 0 || m.Producer.InFlight > 0) {
			return true
		}
	}
	return false
}

// writesUnderWay says whether a request that writes to a topic is on its way, from whatever process. Requests name the topic
// by its id.
func (l *layout) writesUnderWay(topic string) bool {
	written, _ := l.View.Controller.Image.Topic(topic)
	for request := range labs.Requests[*kmsg.ProduceRequest](l.Frame) {
		if slices.ContainsFunc(request.Topics, func(t kmsg.ProduceRequestTopic) bool { return t.TopicID == written.ID }) {
			return true
		}
	}
	return false
}

// lost says whether nobody will ever process an order.
func (e *effect) lost() bool {
	return e.passed && !e.held && e.processed == 0
}

// tally adds up what became of the orders, in the eyes of one kind of observer.
type tally struct{ once, more, none, lost int }

// tallyOf counts orders by how many effects each has.
func (l *layout) tallyOf(count func(*effect) int) (t tally) {
	for i := range l.effects {
		e := &l.effects[i]
		switch n := count(e); {
		case n == 1:
			t.once++
		case n > 1:
			t.more++
		case e.lost() || e.passed && !e.held:
			t.lost++
		default:
			t.none++
		}
	}
	return t
}

func (t tally) text() string {
	parts := []string{fmt.Sprintf("%d once", t.once)}
	if t.more > 0 {
		parts = append(parts, fmt.Sprintf("%d more than once", t.more))
	}
	if t.lost > 0 {
		parts = append(parts, fmt.Sprintf("%d lost", t.lost))
	}
	if t.none > 0 {
		parts = append(parts, fmt.Sprintf("%d not yet", t.none))
	}
	return strings.Join(parts, ", ")
}

// abortedSeen counts the records of aborted transactions that a reader was given.
func (l *layout) abortedSeen(r *reader) (n int) {
	c := l.read()
	for i := range c.entries {
		if e := &c.entries[i]; e.aborted() && r.saw(e.Offset) > 0 {
			n++
		}
	}
	return n
}

// ledger draws the account: orders against effects, or where no application runs, what was handed in against what readers see.
func (l *layout) ledger() (title string, list []view.Count) {
	if l.app == nil {
		return "Ledger: what was handed in, and what is in orders", l.producedCounts()
	}
	n := len(l.effects)
	title = fmt.Sprintf("Ledger: %s that the application is to process, against their effects", kafka.Count(n, "order"))
	if l.bills != nil {
		list = append(list, l.tallyCount(readCommitted, "billed once", func(e *effect) int { return e.kept }),
			l.tallyCount(readUncommitted, "billed once", func(e *effect) int { return e.bills }))
	}
	if l.outside() != nothing {
		name := "Rows outside"
		if l.outside() == toEmail {
			name = "E-mails"
		}
		list = append(list, l.tallyCount(name, "once", func(e *effect) int { return e.outside }))
	}
	return title, append(list, l.abortedCount())
}

// outside is what the application writes to outside the cluster.
func (l *layout) outside() string { return l.Address.Values.Text("outside") }

// outsideNames name it.
var outsideNames = map[string]string{
	toPlain: "plain database", toOnce: "idempotent database", toOffsets: "database with offsets", toInbox: "database with an inbox", toEmail: "e-mail",
}

// effectNames name one effect there.
var effectNames = map[string]string{
	toPlain: "row in the plain database", toOnce: "row in the idempotent database", toOffsets: "row in the database with offsets", toInbox: "row in the database with an inbox", toEmail: "e-mail",
}

func (l *layout) tallyCount(name, once string, count func(*effect) int) view.Count {
	t := l.tallyOf(count)
	c := view.Count{Name: name, Number: kafka.Thousands(t.once), Text: once, Warn: t.more+t.lost > 0}
	var rest []string
	for _, part := range []struct {
		n    int
		text string
	}{{t.more, "more than once"}, {t.lost, "lost"}, {t.none, "not yet"}} {
		if part.n > 0 {
			rest = append(rest, fmt.Sprintf("%s %s", kafka.Thousands(part.n), part.text))
		}
	}
	if rest != nil {
		c.Text += ", " + strings.Join(rest, ", ")
	}
	return c
}

// abortedCount is who was given records of aborted transactions.
func (l *layout) abortedCount() view.Count {
	n, m := l.abortedSeen(l.readers[0]), l.abortedSeen(l.readers[1])
	c := view.Count{Name: "Saw aborted records", Number: kafka.Thousands(n), Text: fmt.Sprintf("read_uncommitted; read_committed: %d", m), Warn: n+m > 0}
	if !l.readsCommitted() {
		taken := 0
		for i := range l.orders.entries {
			if e := &l.orders.entries[i]; e.aborted() && l.fate(e.Offset).Processed > 0 {
				taken++
			}
		}
		c.Text += fmt.Sprintf("; %s, of orders: %d", billing, taken)
		c.Warn = c.Warn || taken > 0
	}
	return c
}

// producedCounts are the numbers of a run without an application.
func (l *layout) producedCounts() []view.Count {
	r := &l.report
	present, missing := l.inOrders(r)
	list := []view.Count{
		{Name: "Handed in", Number: kafka.Thousands(r.Sent), Text: fmt.Sprintf("calls of send; %d acknowledged, %d on their way", r.Acknowledged, r.Waiting)},
		{Name: "In the log", Number: kafka.Thousands(present), Text: fmt.Sprintf("of them; %d not there%s", missing, l.yet(r)), Warn: missing > 0 && l.yet(r) == ""},
		{Name: "Twice in the log", Number: kafka.Thousands(len(r.Duplicated)), Text: "one call of send, more than one record", Warn: len(r.Duplicated) > 0},
		{Name: "Lost", Number: kafka.Thousands(len(r.Lost)), Text: "acknowledged, and not there", Warn: len(r.Lost) > 0},
	}
	if r.Unavailable > 0 {
		list = append(list, view.Count{Name: "Out of reach", Number: kafka.Thousands(r.Unavailable), Text: "acknowledged, and no leader runs", Warn: true})
	}
	if failed := r.Failed + r.Dropped; failed > 0 {
		list = append(list, view.Count{Name: "Given up", Number: kafka.Thousands(failed), Text: "by the producer, or forgotten in a crash", Warn: true})
	}
	if boxes := l.View.Source.Outboxes; len(boxes) > 0 {
		list = append(list, view.Count{Name: "Outbox rows", Number: kafka.Thousands(boxes[0].Rows), Text: fmt.Sprintf("%d marked as published; published again: %d", boxes[0].Marked, boxes[0].Again)})
	}
	if r.Unpromised > 0 {
		list = append(list, view.Count{Name: "Without promise", Number: kafka.Thousands(r.Unpromised), Text: "acks = 0: nobody answers"})
	}
	for _, reader := range l.readers {
		seen := 0
		for j := range l.orders.entries {
			if e := &l.orders.entries[j]; e.marker == "" && reader.saw(e.Offset) > 0 {
				seen++
			}
		}
		list = append(list, view.Count{Name: reader.level, Number: kafka.Thousands(seen), Text: fmt.Sprintf("seen, %d of them aborted", l.abortedSeen(reader)), Warn: l.abortedSeen(reader) > 0})
	}
	return list
}

// inOrders counts the calls of send whose record stands in the log of orders, and those whose record does not.
func (l *layout) inOrders(r *engine.LedgerReport) (present, missing int) {
	for i := range l.orders.entries {
		if e := &l.orders.entries[i]; e.marker == "" && e.Offset >= l.orders.Log.LogStartOffset {
			present++
		}
	}
	for _, e := range r.Duplicated {
		present -= len(e.Offsets) - 1
	}
	return present, max(r.Sent-present-r.Removed, 0)
}

// yet is the word for what is not in orders and may still come there.
func (l *layout) yet(r *engine.LedgerReport) string {
	if r.Waiting > 0 || l.writesUnderWay(orders) {
		return " yet"
	}
	return ""
}

// sameContent counts the records that have the same key and value as one that was handed in before: two calls of send.
func (l *layout) sameContent() (n int, first [2]int) {
	seen := map[string]int{} // only looked up
	source := l.Cluster.Source()
	for i, h := range source.Handed().From(0) {
		if h.TopicPartition.Topic != orders || h.Relayed {
			continue
		}
		text := string(h.Key) + "\x00" + string(h.Value)
		before, known := seen[text]
		if !known {
			seen[text] = i
			continue
		}
		if n == 0 {
			first = [2]int{before, i}
		}
		n++
	}
	return n, first
}

// entryTarget opens a record.
func entryTarget(topic string, o kafka.Offset) string {
	return labs.Target{Kind: labs.RecordTarget, Partition: partition(topic), Number: int64(o)}.String()
}
