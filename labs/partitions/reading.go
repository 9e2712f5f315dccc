package partitions

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// reading says in plain words what the picture shows, all of it computed from the frame.
func (l *layout) reading() []view.Paragraph {
	list := []view.Paragraph{l.readParallelism()}
	next, offer := l.readGrowth(), view.Paragraph(nil)
	if l.sending() { // only an offer: it comes after what the run shows
		next, offer = nil, next
	}
	for _, p := range []view.Paragraph{next, l.readLate(), l.readMoves(), l.readClients(), l.readContract(), l.readOrder(), l.readSpread(), l.readHottest(), l.readProgress(), offer, l.readPause()} {
		if p != nil {
			list = append(list, p)
		}
	}
	return list
}

// readParallelism tells who works, who is idle and why.
func (l *layout) readParallelism() view.Paragraph {
	var working, idle, paused, gone []engine.MemberView
	for _, m := range l.View.Groups[0].Members {
		switch {
		case !m.Alive:
			gone = append(gone, m)
		case len(m.Assignment) == 0:
			idle = append(idle, m)
		case m.Paused:
			paused = append(paused, m)
		default:
			working = append(working, m)
		}
	}
	total := len(working) + len(idle) + len(paused) + len(gone)
	if total == 0 {
		return view.Paragraph{{Text: "No consumer reads. ", Strong: true}, {Text: "Records are written all the same and stay in the log: reading is not what removes them."}}
	}
	p := view.Paragraph{{Text: fmt.Sprintf("%d of %s %s. ", len(working), kafka.Count(total, "consumer"), labs.Verb(len(working), "works", "work")), Strong: true}}
	if len(idle) > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf("%s %s idle: %s. ", kafka.Count(len(idle), "consumer"), labs.Verb(len(idle), "is", "are"), memberNames(idle)), Strong: true})
		if l.View.Groups[0].Divided == l.partitions() {
			p = append(p, view.Span{Text: fmt.Sprintf("Within a group each partition is read by one consumer, and there %s only %s.", labs.Verb(l.partitions(), "is", "are"), kafka.Count(l.partitions(), "partition"))})
		}
	} else {
		most := 0
		for _, m := range l.View.Groups[0].Members {
			most = max(most, len(m.Assignment))
		}
		p = append(p, view.Span{Text: fmt.Sprintf("Each reads at most %s. More than %s could not share this work: within a group each partition is read by one consumer.",
			kafka.Count(most, "partition"), kafka.Count(l.partitions(), "consumer"))})
	}
	p = append(p, l.undivided()...)
	if len(paused) > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" %s %s: nobody else reads what %s assigned.", memberNames(paused), labs.Verb(len(paused), "is paused", "are paused"), labs.Verb(len(paused), "it is", "they are")), Strong: true})
	}
	if len(gone) > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" %s %s not run: nobody else reads what %s assigned.", memberNames(gone), labs.Verb(len(gone), "does", "do"), labs.Verb(len(gone), "it is", "they are")), Strong: true})
	}
	if b := l.View.Brokers[0]; !b.Up() {
		p = append(p, view.Span{Text: fmt.Sprintf(" %s does not run: nothing can be written or read.", b.Node), Strong: true})
	}
	return p
}

// undivided tells why nobody reads the newest partitions; nothing where all are divided.
func (l *layout) undivided() view.Paragraph {
	g := l.View.Groups[0]
	if g.Divided == l.partitions() || len(g.Members) == 0 {
		return nil
	}
	first := g.Members[0]
	why := fmt.Sprintf("%s learns of the others at its next Metadata request, %s", first.ID, l.untilRefresh(first.Refresh))
	switch {
	case g.Waiting:
		why = "to divide the others too it waits for the member that stands still"
	case first.Paused:
		why = fmt.Sprintf("%s, which would learn of the others, stands still", first.ID)
	}
	return view.Paragraph{{Text: fmt.Sprintf(" The group still shares %s of %d: %s.", kafka.Count(g.Divided, "partition"), l.partitions(), why), Strong: true}}
}

// untilRefresh says in how long a client asks for metadata again, and which setting makes it do so.
func (l *layout) untilRefresh(due kafka.Millis) string {
	return fmt.Sprintf("in %s ms (metadata.max.age.ms = %s)", kafka.Thousands(max(due-l.View.Now, 0)), kafka.Thousands(l.Address.Values.Int("metadata")))
}

// staleSenders tells which producers do not know of all partitions yet; empty where all do.
func (l *layout) staleSenders() (text string) {
	for _, s := range l.senders {
		if s.Known < l.partitions() {
			text += fmt.Sprintf("%s knows %s of %d and divides its keys among those; it asks for metadata again %s. ",
				s.ID, kafka.Count(s.Known, "partition"), l.partitions(), l.untilRefresh(s.Refresh))
		}
	}
	return text
}

// readMoves tells what the change of the count moves, and what another count would.
func (l *layout) readMoves() view.Paragraph {
	p := view.Paragraph{{Text: l.movedSentence() + " ", Strong: true}, {Text: l.staleSenders()}}
	if len(l.placed) == 0 {
		return append(p, view.Span{Text: fmt.Sprintf("The producer chooses by the %s rule.", l.setting("keyless"))})
	}
	p = append(p, view.Span{Text: fmt.Sprintf("A key’s partition is its %s hash modulo the number of partitions; records that are written already stay where they are. ", l.rule().Name)})
	n := l.known()
	for i, to := range []int{n + 1, 2 * n} {
		if to > engine.MaxPartitions || i > 0 && n == 1 {
			continue
		}
		next := l.Address.WithValue("partitions", fmt.Sprint(to)).WithValue("baseline", fmt.Sprint(n))
		moved := "none"
		if k := moves(l.placed, l.rule(), n, to); k > 0 {
			moved = fmt.Sprint(k)
		}
		p = append(p, view.Span{Text: fmt.Sprintf("From %d to %d partitions %s of them would move: ", n, to, moved)},
			labs.TryIt(fmt.Sprintf("%d instead of %d partitions", to, n), next), view.Span{Text: ". "})
	}
	return p
}

// readProgress tells how far the run is; a number that changed in this tick leads to why.
func (l *layout) readProgress() view.Paragraph {
	produced, acknowledged := 0, 0
	for _, p := range l.View.Producers {
		produced, acknowledged = produced+p.Produced, acknowledged+p.Acknowledged
	}
	written := l.records()
	newest := l.newest()
	number := func(n int64, noun string, seq uint64) view.Span {
		span := view.Span{Text: kafka.Thousands(n)}
		if noun != "" {
			span.Text = kafka.Count(int(n), noun)
		}
		if seq != 0 {
			span.Href, span.Go = l.Address.WithWhy(seq).String(), "replace"
		}
		return span
	}
	text := func(s string) view.Span { return view.Span{Text: s} }
	who := "the producer has"
	knows := "it knows"
	if len(l.View.Producers) > 1 {
		who, knows = "the producers have", "they know"
	}
	p := view.Paragraph{
		text(fmt.Sprintf("At tick %d %s been given ", l.Address.T, who)), number(int64(produced), "record", newest.handed), text("; "),
		number(written, "", newest.written), text(" " + labs.Verb(int(written), "is", "are") + " in the log, and " + knows + " of "),
		number(int64(acknowledged), "", newest.acknowledged), text(" that they are."),
	}
	if len(l.View.Groups[0].Members) > 0 {
		p = append(p, text(" The group has read "), number(written-l.unread(), "", newest.read), text(" of them."))
	}
	return p
}

// unread counts the records that no reader has yet.
func (l *layout) unread() (n int64) {
	for i, p := range l.View.Partitions {
		if r := l.readers[i]; r != nil {
			n += int64(p.Log.LogEndOffset - max(r.position, p.Log.LogStartOffset))
		} else {
			n += records(p)
		}
	}
	return n
}

// newest holds the Seq of the last event of each kind in the tick shown; 0: none.
type newest struct{ handed, written, acknowledged, read uint64 }

func (l *layout) newest() (n newest) {
	j := l.Cluster.Journal()
	for e := range j.Backward() {
		if int(e.Tick) != l.Address.T {
			break
		}
		var seq *uint64
		switch e.Body.(type) {
		case journal.RecordPartitioned:
			seq = &n.handed
		case journal.BatchAppended:
			seq = &n.written
		case journal.ProduceAcknowledged:
			seq = &n.acknowledged
		case journal.RecordsRead:
			seq = &n.read
		}
		if seq != nil && *seq == 0 {
			*seq = e.Seq
		}
	}
	return n
}

// readPause tells what would happen if the busiest consumer stood still now; nil where none works.
func (l *layout) readPause() view.Paragraph {
	keys := l.keyCounts()
	var busiest engine.MemberView
	most := -1
	for _, m := range l.View.Groups[0].Members {
		owned := 0
		for _, a := range m.Assignment {
			owned += keys[a.Partition]
		}
		if len(m.Assignment) > 0 && !m.Paused && owned > most {
			busiest, most = m, owned
		}
	}
	if most < 0 {
		return nil
	}
	pause := l.Address.WithCommand(command.Pause{Node: kafka.NodeID(busiest.ID)}, false)
	what := kafka.Count(len(busiest.Assignment), "partition")
	if len(l.placed) > 0 {
		what += " with " + kafka.Count(most, "key")
	}
	return view.Paragraph{
		{Text: fmt.Sprintf("If %s stood still now, its %s would wait. Kafka would give %s to others after session.timeout.ms = 45,000 ms; here its place in the group is fixed: ", busiest.ID, what, labs.Verb(len(busiest.Assignment), "it", "them"))},
		labs.TryIt("pause "+string(busiest.ID), pause), {Text: "."},
	}
}
