package labs

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs/view"
)

// RecordsListed is how many records one number of the ledger names.
const RecordsListed = 4

// Ledger is the account of the observer outside the cluster, as it is drawn.
type Ledger struct {
	Frame
	Report engine.LedgerReport
	Acks   int16 // of the producers; -1 is all
}

// Counts draws the account.
func (l Ledger) Counts() []view.Count {
	r := &l.Report
	list := []view.Count{
		{Name: "Handed in", Number: kafka.Thousands(r.Sent), Text: "by the " + Verb(len(l.View.Producers), "producer’s application", "producers’ applications")},
		{Name: "Acknowledged", Number: kafka.Thousands(r.Acknowledged), Text: l.acknowledgedText()},
		{Name: "Visible", Number: kafka.Thousands(r.Visible), Text: l.visibleText()},
		{Name: "On their way", Number: kafka.Thousands(r.Waiting), Text: "the producer does not know yet"},
	}
	list = append(list,
		l.recordCount("Lost", "acknowledged, and their leader does not have them", r.Lost, l.lossOf),
		l.recordCount("Duplicated", "stand in the log more than once", r.Duplicated, l.secondAppendOf),
		l.recordCount("Reordered", "stand behind a record that was handed in later", r.Reordered, l.firstAppendOf))
	if r.Failed+r.Dropped > 0 {
		list = append(list, view.Count{Name: "Failed", Number: kafka.Thousands(r.Failed + r.Dropped), Text: "given up by the producer; may be written all the same", Warn: true})
	}
	if r.Unpromised > 0 {
		list = append(list, view.Count{Name: "Without promise", Number: kafka.Thousands(r.Unpromised), Text: "acks = 0: nobody answers"})
	}
	if r.Unavailable > 0 {
		list = append(list, view.Count{Name: "Out of reach", Number: kafka.Thousands(r.Unavailable), Text: "acknowledged, and their partition has no leader that runs", Warn: true})
	}
	return list
}

func (l Ledger) acknowledgedText() string {
	if l.Acks == 0 {
		return "acks = 0: none is"
	}
	return "the producer was told that they are written"
}

// visibleText says who can read what is below the high watermark. Where there are transactions, it need not be everybody.
func (l Ledger) visibleText() string {
	if len(l.View.Transactions) > 0 {
		return "below the high watermark: read_uncommitted can read them now"
	}
	return "consumers can read them now"
}

// recordCount is a number of records that should be 0, with the records; event gives the Seq of what says so, 0 for
// none.
func (l Ledger) recordCount(name, text string, list []engine.LedgerEntry, event func(engine.LedgerEntry) uint64) view.Count {
	c := view.Count{Name: name, Number: kafka.Thousands(len(list)), Text: text, Warn: len(list) > 0}
	for i, e := range list {
		if i == RecordsListed {
			c.More = fmt.Sprintf("and %s more", kafka.Thousands(len(list)-i))
			break
		}
		link := view.Link{Text: l.EntryName(e)}
		if seq := event(e); seq != 0 {
			link = Replace(fmt.Sprintf("entry-%s-%d", name, e.Record), link.Text, l.Address.WithWhy(seq))
			link.Label = link.Text + ": why?"
		}
		c.Records = append(c.Records, link)
	}
	return c
}

// EntryName names a record of the ledger: "event 12 (orders-0 at 11)".
func (l Ledger) EntryName(e engine.LedgerEntry) string {
	name := "record " + fmt.Sprint(e.Record)
	if e.Value != nil && *e.Value != "" {
		name = Narrow(*e.Value, 24)
	}
	switch {
	case len(e.Offsets) > 0:
		return fmt.Sprintf("%s (%s at %s)", name, e.TopicPartition, listed(e.Offsets))
	case e.Offset >= 0:
		return fmt.Sprintf("%s (%s at %d)", name, e.TopicPartition, e.Offset)
	}
	return fmt.Sprintf("%s (%s)", name, e.TopicPartition)
}

// listed writes offsets: "3 and 4".
func listed(offsets []kafka.Offset) string {
	text := ""
	for i, offset := range offsets {
		switch {
		case i == 0:
		case i == len(offsets)-1:
			text += " and "
		default:
			text += ", "
		}
		text += fmt.Sprint(offset)
	}
	return text
}

// lossOf gives the event by which a record was lost: the first election after its acknowledgement of a leader whose log
// ends at or below its offset.
func (l Ledger) lossOf(e engine.LedgerEntry) uint64 {
	j := l.Cluster.Journal()
	var elected, acknowledged uint64
	for _, o := range l.Cluster.Source().Outcomes().From(0) {
		if o.Record == e.Record {
			acknowledged = o.Event
		}
	}
	for event := range j.All() {
		b, ok := event.Body.(journal.LeadershipTaken)
		if ok && b.TopicPartition == e.TopicPartition && b.Start <= e.Offset && event.Seq > l.appendOf(e, acknowledged) {
			elected = event.Seq
			break
		}
	}
	if elected == 0 {
		return acknowledged
	}
	return elected
}

// appendOf gives the event before an acknowledgement with which a leader appended the record.
func (l Ledger) appendOf(e engine.LedgerEntry, acknowledged uint64) (seq uint64) {
	for event := range l.Cluster.Journal().All() {
		if event.Seq >= acknowledged {
			return seq
		}
		if b, ok := event.Body.(journal.BatchAppended); ok && b.TopicPartition == e.TopicPartition && e.Offset >= b.BaseOffset && e.Offset <= b.LastOffset {
			seq = event.Seq
		}
	}
	return seq
}

// secondAppendOf gives the event with which a duplicated record was written again.
func (l Ledger) secondAppendOf(e engine.LedgerEntry) uint64 {
	return l.lastAppendAt(e.TopicPartition, e.Offsets[min(1, len(e.Offsets)-1)])
}

// firstAppendOf gives the event with which a record was written.
func (l Ledger) firstAppendOf(e engine.LedgerEntry) uint64 {
	if len(e.Offsets) == 0 {
		return 0
	}
	return l.lastAppendAt(e.TopicPartition, e.Offsets[0])
}

// lastAppendAt gives the event with which a leader wrote an offset last.
func (l Ledger) lastAppendAt(tp kafka.TopicPartition, offset kafka.Offset) uint64 {
	for e := range l.Cluster.Journal().Backward() {
		if b, ok := e.Body.(journal.BatchAppended); ok && b.TopicPartition == tp && offset >= b.BaseOffset && offset <= b.LastOffset {
			return e.Seq
		}
	}
	return 0
}
