package delivery

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// outlook is what would come of a crash of the application now, if it were started again in the next tick. What it has
// sent counts as arrived.
type outlook struct {
	begins  kafka.Offset // where the new process begins to read
	again   int          // orders that were processed, and would be once more
	undone  int          // bills that would be aborted
	twice   int          // orders that would have more than one bill for read_committed
	lost    int          // orders that would have no bill for read_committed
	repeats int          // orders whose effect outside would come again, and count
	missing int          // orders that would have no effect outside
}

// foresee works it out; ok is false where something is wrong besides, or more than one instance makes it hang on time.
func (l *layout) foresee() (o outlook, ok bool) {
	if l.app == nil || !l.healthy() {
		return o, false
	}
	m := &l.app.Members[0]
	o.begins = l.wouldBegin(m)
	if o.begins < 0 {
		o.begins = l.orders.Log.LogStartOffset
	}
	sent, transacts := l.billsSent(m), appTransacts(l.Address.Values)
	ending := transacts && (endsNow(m) || l.commitStands())
	for i := range l.effects {
		e := &l.effects[i]
		again := e.Offset >= o.begins
		if again && e.processed > 0 {
			o.again++
		}
		bills := e.kept
		switch {
		case transacts && ending:
			bills += e.pending
		case transacts:
			o.undone += e.pending
		default:
			bills += sent[e.Offset]
		}
		if again {
			bills++
		}
		if l.bills != nil && bills > 1 {
			o.twice++
		}
		if l.bills != nil && bills == 0 {
			o.lost++
		}
		switch {
		case e.outside > 0 && again && l.repeats():
			o.repeats++
		case e.outside == 0 && !again:
			o.missing++
		}
	}
	return o, true
}

// repeats says whether the outside counts an effect again that it has.
func (l *layout) repeats() bool {
	return l.outside() == toPlain || l.outside() == toEmail
}

// healthy says whether the only instance of the application runs, in its group, and all brokers do and can be reached.
func (l *layout) healthy() bool {
	m := &l.app.Members[0]
	if len(l.app.Members) > 1 || !m.Alive || m.Paused || m.State != "stable" || l.Address.Values.Text("static") == off || len(l.View.Faulty) > 0 {
		return false
	}
	for _, b := range l.View.Brokers {
		if b.State != engine.BrokerRunning || b.Paused {
			return false
		}
	}
	if m.Producer == nil || m.Producer.Transaction == nil {
		return true
	}
	t := m.Producer.Transaction
	return t.Error == "" && string(t.State) != "ABORTING_TRANSACTION"
}

// wouldBegin is where a new process would begin: what is committed, or is on its way to be; -1: nothing is.
func (l *layout) wouldBegin(m *engine.MemberView) kafka.Offset {
	if l.app.Sink.Kind == engine.SinkOffsets {
		if o := l.storedOutside(); o >= 0 {
			return o
		}
	}
	for _, c := range m.Committing {
		if c.Topic == orders {
			return c.Next
		}
	}
	if o := l.pendingOffset(appTransaction(0)); o >= 0 && l.commitStands() {
		return o
	}
	if appTransacts(l.Address.Values) && endsNow(m) {
		for _, a := range m.Assignment {
			if a.Topic == orders {
				return a.Position
			}
		}
	}
	o := l.committedOrders()
	for _, done := range m.Done { // decided, though the marker may not be in __consumer_offsets yet
		if done.Topic == orders {
			o = max(o, done.Committed)
		}
	}
	return o
}

// endsNow says whether an instance has sent the EndTxn request that commits its transaction.
func endsNow(m *engine.MemberView) bool {
	t := m.Producer.Transaction
	return t != nil && string(t.State) == "COMMITTING_TRANSACTION" && t.Asking == "EndTxn"
}

// commitStands says whether the commit of the first instance's transaction is decided, or the coordinator writes it.
func (l *layout) commitStands() bool {
	how := l.ending(appTransaction(0))
	return how == isDecided || how == isEnding
}

// billsSent counts the bills that are on their way to the log, by their order.
func (l *layout) billsSent(m *engine.MemberView) map[kafka.Offset]int {
	list := map[kafka.Offset]int{} // only looked up
	if m.Producer == nil {
		return list
	}
	inLog := map[kafka.Offset]bool{}
	for i := range l.bills.entries {
		if o, ok := inputOf(l.bills.entries[i].Value); ok {
			inLog[o] = true
		}
	}
	handed := l.Cluster.Source().Handed()
	for _, p := range m.Producer.Partitions {
		for _, b := range p.Batches {
			if b.State != "in flight" {
				continue
			}
			for _, number := range b.Records {
				if o := handed.At(number).OfOffset; !inLog[o] {
					list[o]++
				}
			}
		}
	}
	return list
}

// aheadTicks is when a fork shows what came of a crash.
const aheadTicks = 60

// readOutlook says what a crash of the application would do now.
func (l *layout) readOutlook() view.Paragraph {
	o, ok := l.foresee()
	if !ok {
		return nil
	}
	m := &l.app.Members[0]
	var parts []string
	add := func(n int, noun, one, many string) {
		if n > 0 {
			parts = append(parts, kafka.Count(n, noun)+" would "+labs.Verb(n, one, many))
		}
	}
	add(o.again, "order", "be processed again", "be processed again")
	add(o.undone, "bill", "be aborted", "be aborted")
	if l.bills != nil {
		add(o.twice, "order", "have more than one bill for read_committed", "have more than one bill for read_committed")
		add(o.lost, "order", "never have a bill", "never have a bill")
	}
	if l.outside() != nothing {
		add(o.repeats, effectNames[l.outside()], "come again", "come again")
		add(o.missing, "order", "never have its "+effectNames[l.outside()], "never have a "+effectNames[l.outside()])
	}
	if parts == nil {
		parts = []string{"nothing would be processed again, and nothing lost"}
	}
	text := fmt.Sprintf("it would begin at order %d: %s: ", o.begins, strings.Join(parts, "; "))
	return view.Paragraph{{Text: fmt.Sprintf("If %s crashed now and were started again, ", m.ID), Strong: true}, {Text: text}, labs.TryIt("crash "+string(m.ID), l.tryCrash(m)), {Text: "."}}
}

// tryCrash leads to the fork in which the application crashes now and is started in the next tick, when it has gone on.
func (l *layout) tryCrash(m *engine.MemberView) labs.Address {
	n := kafka.NodeID(m.ID)
	a := l.Address.WithCommand(command.Crash{Node: n}, false)
	a = a.WithTick(l.Address.T+1).WithCommand(command.Start{Node: n}, false)
	return a.WithTick(min(l.Address.T+aheadTicks, a.Last()))
}
