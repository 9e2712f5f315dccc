package partitions

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs/view"
)

// reading says in plain words what the picture shows, all of it computed from the frame.
func (l *layout) reading() []view.Paragraph {
	list := []view.Paragraph{l.readParallelism(), l.readMoves()}
	list = append(list, l.readOrder())
	list = append(list, l.readSpread(), l.readProgress())
	if pause := l.readPause(); pause != nil {
		list = append(list, pause)
	}
	return list
}

// readParallelism tells who works, who is idle and why.
func (l *layout) readParallelism() view.Paragraph {
	var working, idle, paused []engine.MemberView
	for _, m := range l.View.Groups[0].Members {
		switch {
		case len(m.Assignment) == 0:
			idle = append(idle, m)
		case m.Paused:
			paused = append(paused, m)
		default:
			working = append(working, m)
		}
	}
	total := len(working) + len(idle) + len(paused)
	if total == 0 {
		return view.Paragraph{{Text: "No consumer reads. ", Strong: true}, {Text: "Records are written all the same and stay in the log: reading is not what removes them."}}
	}
	p := view.Paragraph{{Text: fmt.Sprintf("%d of %s %s. ", len(working), kafka.Count(total, "consumer"), verb(len(working), "works", "work")), Strong: true}}
	if len(idle) > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf("%s %s idle: %s. ", kafka.Count(len(idle), "consumer"), verb(len(idle), "is", "are"), memberNames(idle)), Strong: true},
			view.Span{Text: fmt.Sprintf("Within a group each partition is read by one consumer, and there %s only %s.", verb(l.partitions(), "is", "are"), kafka.Count(l.partitions(), "partition"))})
	} else {
		most := 0
		for _, m := range l.View.Groups[0].Members {
			most = max(most, len(m.Assignment))
		}
		p = append(p, view.Span{Text: fmt.Sprintf("Each reads at most %s. More than %s could not share this work: within a group each partition is read by one consumer.",
			kafka.Count(most, "partition"), kafka.Count(l.partitions(), "consumer"))})
	}
	if len(paused) > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf(" %s %s: nobody else reads what %s assigned.", memberNames(paused), verb(len(paused), "is paused", "are paused"), verb(len(paused), "it is", "they are")), Strong: true})
	}
	return p
}

// readMoves tells what the change of the count moves, and what another count would.
func (l *layout) readMoves() view.Paragraph {
	p := view.Paragraph{{Text: l.movedSentence() + " ", Strong: true}}
	if len(l.placed) == 0 {
		return append(p, view.Span{Text: fmt.Sprintf("The producer chooses by the %s rule.", l.Address.Values.Text("keyless"))})
	}
	p = append(p, view.Span{Text: fmt.Sprintf("A key’s partition is its %s hash modulo the number of partitions; records that are written already stay where they are. ", l.rule.Name)})
	n := l.partitions()
	for i, to := range []int{n + 1, 2 * n} {
		if to > engine.MaxPartitions || i > 0 && n == 1 {
			continue
		}
		next := l.Address.WithValue("partitions", fmt.Sprint(to)).WithValue("baseline", fmt.Sprint(n))
		p = append(p, view.Span{Text: fmt.Sprintf("From %d to %d partitions %d of them would move: ", n, to, moves(l.placed, l.rule, n, to))},
			view.Span{Text: "try it", Href: next.String()}, view.Span{Text: ". "})
	}
	return p
}

// readOrder tells what order holds, with a pair of records of this run that shows it.
func (l *layout) readOrder() view.Paragraph {
	p := view.Paragraph{{Text: "Order holds within one partition, so per key, not across the topic. ", Strong: true}}
	if same, ok := l.sameKeyPair(); ok {
		p = append(p, view.Span{Text: same})
	}
	if across, ok := l.overtaken(); ok {
		p = append(p, view.Span{Text: " " + across})
	}
	return p
}

// sameKeyPair finds a key with two records in the log.
func (l *layout) sameKeyPair() (text string, ok bool) {
	for i, p := range l.View.Partitions {
		first := map[string]stored{}
		for _, rec := range window(p, p.Log.LogStartOffset, 200) {
			if rec.Key == nil {
				continue
			}
			before, twice := first[string(rec.Key)]
			if !twice {
				first[string(rec.Key)] = rec
				continue
			}
			text = fmt.Sprintf("%s has “%s” at offset %d of %s-%d and “%s” at offset %d of the same: whoever reads it meets them in that order.",
				keyName(string(rec.Key)), before.Value, before.Offset, topic, i, rec.Value, rec.Offset)
			return text, true
		}
	}
	return "", false
}

// overtaken finds two partitions of which the one with the older first record was read later.
func (l *layout) overtaken() (text string, ok bool) {
	type sight struct {
		partition engine.PartitionView
		tick      kafka.Tick
		written   kafka.Timestamp // of its first record
	}
	var before sight
	j := l.Cluster.Journal()
	const most = 2000 // events; later ones would not make a better example
	for e := range j.All() {
		if e.Seq > most {
			break
		}
		r, is := e.Body.(journal.RecordsRead)
		if !is || r.From != 0 {
			continue
		}
		p := l.View.Partitions[r.TopicPartition.Partition]
		now := sight{p, e.Tick, window(p, 0, 1)[0].Timestamp}
		if before.tick > 0 && now.tick > before.tick && now.written < before.written {
			return fmt.Sprintf("Here the first record of %s is older than that of %s, but it was read later, in tick %d, not %d.",
				now.partition.TopicPartition, before.partition.TopicPartition, now.tick, before.tick), true
		}
		before = now
	}
	return "", false
}

// readSpread tells how unevenly the keys lie.
func (l *layout) readSpread() view.Paragraph {
	most, least := 0, 0
	counts := make([]int, l.partitions())
	for _, k := range l.placed {
		if k.keyed {
			counts[k.now]++
		}
	}
	for i, n := range counts {
		if n > counts[most] {
			most = i
		}
		if n < counts[least] {
			least = i
		}
	}
	if len(l.placed) == 0 || counts[most] == 0 {
		return view.Paragraph{{Text: l.keylessSpread()}}
	}
	if counts[most] == counts[least] {
		return view.Paragraph{{Text: fmt.Sprintf("Every partition has %s.", kafka.Count(counts[most], "key"))}}
	}
	return view.Paragraph{{Text: fmt.Sprintf("%s-%d has the most keys, %d, and %s-%d the fewest, %d: a hash spreads keys evenly only when there are many of them.",
		topic, most, counts[most], topic, least, counts[least])}}
}

// keylessSpread tells where the records without a key went.
func (l *layout) keylessSpread() string {
	var parts []string
	for _, p := range l.View.Partitions {
		if n := p.Log.LogEndOffset - p.Log.LogStartOffset; n > 0 {
			parts = append(parts, fmt.Sprintf("%d in %s", n, p.TopicPartition))
		}
	}
	if len(parts) == 0 {
		return "No record is in the log yet."
	}
	switch l.Address.Values.Text("keyless") {
	case "sticky":
		return fmt.Sprintf("Records without a key: %s. The sticky rule stays with one partition until batch.size = 16,384 bytes have gone there, then draws another.", strings.Join(parts, ", "))
	case "sticky-480":
		return fmt.Sprintf("Records without a key: %s. The sticky rule of Kafka 2.4 to 3.2 stays with one partition until a record needs a new batch there, then draws another.", strings.Join(parts, ", "))
	}
	return fmt.Sprintf("Records without a key: %s. Round robin gives each record the next partition.", strings.Join(parts, ", "))
}

// readProgress tells how far the run is.
func (l *layout) readProgress() view.Paragraph {
	p, written := l.View.Producers[0], 0
	for _, part := range l.View.Partitions {
		written += int(part.Log.LogEndOffset)
	}
	text := fmt.Sprintf("At tick %d the producer has been given %s; %s %s in the log, and it knows of %s that they are.",
		l.Address.T, kafka.Count(p.Produced, "record"), kafka.Thousands(written), verb(written, "is", "are"), kafka.Thousands(p.Acknowledged))
	if len(l.View.Groups[0].Members) > 0 {
		text += fmt.Sprintf(" The group has read %s of them.", kafka.Thousands(int64(written)-l.View.Groups[0].Lag))
	}
	return view.Paragraph{{Text: text}}
}

// readPause tells what would happen if the busiest consumer stood still now; nil where none works.
func (l *layout) readPause() view.Paragraph {
	keys := make([]int, l.partitions())
	for _, k := range l.placed {
		if k.keyed {
			keys[k.now]++
		}
	}
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
	return view.Paragraph{
		{Text: fmt.Sprintf("If %s stood still now, its %s with %s would wait, and no other consumer would take over while its place in the group is fixed: ", busiest.ID, what, kafka.Count(most, "key"))},
		{Text: "try it", Href: pause.String()}, {Text: "."},
	}
}

// verb picks the form that goes with a number.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
