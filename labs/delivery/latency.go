package delivery

import (
	"bytes"
	"fmt"
	"slices"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// wait is how long one record took from the call of send to each reader.
type wait struct {
	entry
	handed moment    // when it was given to its producer
	seen   [2]moment // by reader: when it was given the record; never where it was not
	copy   bool      // an earlier record of the log is the same call of send
}

// never stands for what has not happened.
var never = moment{tick: -1}

// waits lists the records that the readers read for which it is known when they were handed in, by offset. What stands where a
// record was acknowledged may be another one: the leader took it for its copy, or that place was lost.
func (l *layout) waits() (list []wait) {
	c := l.read()
	source := l.Cluster.Source()
	handed := map[kafka.Offset]int{} // the number of the record that was; only looked up
	for _, o := range source.Outcomes().From(0) {
		if h := source.Handed().At(o.Record); o.Kind == engine.Acknowledged && h.TopicPartition == c.TopicPartition && o.Offset >= 0 {
			handed[o.Offset] = o.Record
		}
	}
	copies := map[kafka.Offset]bool{} // only looked up
	for _, d := range l.report.Duplicated {
		for i, o := range d.Offsets {
			if d.TopicPartition == c.TopicPartition {
				handed[o], copies[o] = d.Record, i > 0
			}
		}
	}
	for i := range c.entries {
		e := &c.entries[i]
		number, known := handed[e.Offset]
		if e.marker != "" || !known {
			continue
		}
		h := source.Handed().At(number)
		if !bytes.Equal(h.Key, e.Key) || !bytes.Equal(h.Value, e.Value) {
			continue
		}
		w := wait{entry: *e, handed: moment{h.Tick, h.Event}, seen: [2]moment{never, never}, copy: copies[e.Offset]}
		for j, r := range l.readers {
			if at, read := l.past.seen[j][e.Offset]; read && r.saw(e.Offset) > 0 {
				w.seen[j] = at
			}
		}
		list = append(list, w)
	}
	return list
}

// latencyTable shows the last records with the ticks that they took.
func (l *layout) latencyTable() view.Table {
	list := l.waits()
	t := view.Table{
		ID: "latency", Caption: "From send to each reader, in ticks; each message takes one", Head: []string{"Record", "Sent in tick", "Written", "read_uncommitted", "read_committed", "Waited for"},
	}
	from := max(len(list)-l.rows, 0)
	if from > 0 {
		t.More = fmt.Sprintf("The last %d of %d records.", l.rows, len(list))
	}
	for _, w := range list[from:] {
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			{{Text: fmt.Sprintf("%s @%d", nameOf(w.Record), w.Offset), At: entryTarget(l.read().Topic, w.Offset)}},
			view.Plain(fmt.Sprint(w.handed.tick)), view.Plain(l.past.after(w.handed, l.past.appended[w.Offset])), view.Plain(l.past.after(w.handed, w.seen[0])), view.Plain(l.committedText(&w)), view.Plain(l.waitedFor(&w)),
		}})
	}
	return t
}

// after writes how many ticks lie between two moments, and how long the waits among them are.
func (p *past) after(from, to moment) string {
	if to == never {
		return "not yet"
	}
	text := fmt.Sprintf("+%d", to.tick-from.tick)
	if span := p.waited(from, to); span > 0 {
		text += ", with " + labs.Span(span) + " waited"
	}
	return text
}

// committedText says when the reader of committed records was given a record.
func (l *layout) committedText(w *wait) string {
	if w.aborted() {
		return "never: aborted"
	}
	return l.past.after(w.handed, w.seen[1])
}

// waitedFor names the transactions for whose end a record waits, or waited, before it could be read as committed: its own,
// and those before it in the log that ended behind it.
func (l *layout) waitedFor(w *wait) string {
	c := l.read()
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, s := range c.spans {
		if s.first() > w.Offset || !s.open() && s.marker < w.Offset {
			continue
		}
		if s == w.span {
			add("its own")
		} else {
			add(s.who)
		}
	}
	switch {
	case w.aborted():
		return "–"
	case len(names) == 0:
		return "nobody"
	}
	text := names[0]
	for _, name := range names[1:] {
		text += ", " + name
	}
	return text
}
