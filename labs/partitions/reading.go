package partitions

import (
	"fmt"
	"slices"
	"strings"

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
	var working, idle, paused, gone, apart, over []engine.MemberView
	b := l.View.Brokers[0]
	serves := l.serves()
	for _, m := range l.View.Groups[0].Members {
		switch {
		case !m.Alive && len(m.Assignment) == 0:
			over = append(over, m)
		case !m.Alive:
			gone = append(gone, m)
		case len(m.Assignment) == 0:
			idle = append(idle, m)
		case m.Paused:
			paused = append(paused, m)
		case serves && !l.reaches(kafka.NodeID(m.ID)):
			apart = append(apart, m)
		default:
			working = append(working, m)
		}
	}
	total := len(l.View.Groups[0].Members)
	if total == 0 {
		return view.Paragraph{{Text: "No consumer reads. ", Strong: true}, {Text: "Records are written all the same and stay in the log: reading is not what removes them."}}
	}
	does := labs.Verb(len(working), "works", "work")
	if !serves {
		does = labs.Verb(len(working), "waits", "wait") + " for " + string(b.Node)
	}
	p := view.Paragraph{{Text: fmt.Sprintf("%d of %s %s. ", len(working), kafka.Count(total, "consumer"), does), Strong: true}}
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
	if len(over) > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" %s %s not run.", memberNames(over), labs.Verb(len(over), "does", "do")), Strong: true})
	}
	if len(apart) > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" Nothing passes between %s and %s: nobody else reads what %s assigned.", memberNames(apart), b.Node, labs.Verb(len(apart), "it is", "they are")), Strong: true})
	}
	switch {
	case b.Paused:
		p = append(p, view.Span{Text: fmt.Sprintf(" %s stands still: nothing is written or read until it goes on.", b.Node), Strong: true})
	case !b.Up():
		p = append(p, view.Span{Text: fmt.Sprintf(" %s does not run: nothing can be written or read.", b.Node), Strong: true})
	case !serves:
		p = append(p, view.Span{Text: fmt.Sprintf(" %s runs and does not lead the partitions: nothing can be written or read.", b.Node), Strong: true})
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
	case !first.Alive:
		why = fmt.Sprintf("%s, which would learn of the others, does not run", first.ID)
	case g.Waiting && l.pausedMembers():
		why = "to divide the others too it waits for the member that stands still"
	case first.Paused:
		why = fmt.Sprintf("%s, which would learn of the others, stands still", first.ID)
	case g.Waiting:
		why = "it divides the others next"
	case !l.reaches(kafka.NodeID(first.ID)):
		why = fmt.Sprintf("%s, which would learn of the others, cannot ask %s", first.ID, l.View.Brokers[0].Node)
	case l.asks(kafka.NodeID(first.ID)):
		why = fmt.Sprintf("%s learns of the others by the Metadata request that it has sent", first.ID)
	}
	return view.Paragraph{{Text: fmt.Sprintf(" The group still shares %s of %d: %s.", kafka.Count(g.Divided, "partition"), l.partitions(), why), Strong: true}}
}

// pausedMembers says whether some member stands still.
func (l *layout) pausedMembers() bool {
	return slices.ContainsFunc(l.View.Groups[0].Members, func(m engine.MemberView) bool { return m.Paused })
}

// asks says whether a Metadata request of a client, or its answer, is on its way.
func (l *layout) asks(client kafka.NodeID) bool {
	return slices.ContainsFunc(l.View.UnderWay, func(m engine.MessageView) bool {
		return m.API == "Metadata" && (m.From == client || m.To == client)
	})
}

// untilRefresh says in how long a client asks for metadata again, and which setting makes it do so.
func (l *layout) untilRefresh(due kafka.Millis) string {
	return fmt.Sprintf("in %s ms (metadata.max.age.ms = %s)", kafka.Thousands(max(due-l.View.Now, 0)), kafka.Thousands(l.Address.Values.Int("metadata")))
}

// staleSenders tells which producers do not know of all partitions yet; empty where all do.
func (l *layout) staleSenders() (text string) {
	for _, s := range l.senders {
		if s.Known < l.partitions() {
			next := "it asks for metadata again " + l.untilRefresh(s.Refresh)
			switch {
			case s.Paused:
				next = "it stands still"
			case l.asks(s.ID):
				next = "it has sent a Metadata request"
			case !l.reaches(s.ID):
				next = fmt.Sprintf("%s does not answer it", l.View.Brokers[0].Node)
			}
			text += fmt.Sprintf("%s knows %s of %d and divides its keys among those; %s. ", s.ID, kafka.Count(s.Known, "partition"), l.partitions(), next)
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
	that := " that they are."
	if acknowledged > int(written) { // some of these are lost
		knows, that = strings.TrimSuffix(who, " "+labs.Verb(len(l.View.Producers), "has", "have"))+" "+labs.Verb(len(l.View.Producers), "was told", "were told"), " that they were."
	}
	p := view.Paragraph{
		text(fmt.Sprintf("At tick %d %s been given ", l.Address.T, who)), number(int64(produced), "record", newest.handed), text("; "),
		number(written, "", newest.written), text(" " + labs.Verb(int(written), "is", "are") + " in the log, and " + knows + " of "),
		number(int64(acknowledged), "", newest.acknowledged), text(that),
	}
	switch {
	case written > int64(produced):
		p = append(p, text(" Some stand there more than once."))
	case written > 0 && l.rewritten:
		p = append(p, text(" Some can stand there more than once."))
	}
	if len(l.View.Groups[0].Members) > 0 {
		p = append(p, text(" The group has read "), number(l.read(), "", newest.read), text(" of them."))
	}
	return p
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
		if len(m.Assignment) > 0 && m.Alive && !m.Paused && l.reaches(kafka.NodeID(m.ID)) && owned > most {
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
	others := fmt.Sprintf("Kafka would give %s to others after session.timeout.ms = 45,000 ms; here its place in the group is fixed", labs.Verb(len(busiest.Assignment), "it", "them"))
	if len(l.View.Groups[0].Members) == 1 {
		others = "No other consumer is there to take " + labs.Verb(len(busiest.Assignment), "it", "them")
	}
	return view.Paragraph{
		{Text: fmt.Sprintf("If %s stood still now, its %s would wait. %s: ", busiest.ID, what, others)},
		labs.TryIt("pause "+string(busiest.ID), pause), {Text: "."},
	}
}
