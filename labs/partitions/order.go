package partitions

import (
	"fmt"
	"math/big"
	"slices"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// readOrder tells what order holds, with records of this run that show it.
func (l *layout) readOrder() view.Paragraph {
	p := view.Paragraph{{Text: "Order holds within one partition, so per key, not across the topic. ", Strong: true}}
	if same, ok := l.sameKeyPair(); ok {
		p = append(p, view.Span{Text: same})
	}
	if across, ok := l.overtaken(); ok {
		p = append(p, view.Span{Text: " " + across})
	}
	if orders, ok := l.legalOrders(); ok {
		p = append(p, view.Span{Text: " " + orders})
	}
	return p
}

// legalOrders counts the orders in which the records can be met, while they are few.
func (l *layout) legalOrders() (text string, ok bool) {
	const most = 20 // records
	total := l.records()
	if total < 2 || total > most || l.partitions() < 2 {
		return "", false
	}
	orders := new(big.Int).MulRange(1, total)
	for _, p := range l.View.Partitions {
		orders.Div(orders, new(big.Int).MulRange(1, max(records(p), 1)))
	}
	return fmt.Sprintf("With the order of each partition kept, these %d records can be met in %s.", total, orderCount(orders)), true
}

// orderCount writes a number of orders.
func orderCount(n *big.Int) string {
	if n.IsInt64() && n.Int64() == 1 {
		return "only one order"
	}
	if n.IsInt64() {
		return kafka.Thousands(n.Int64()) + " orders"
	}
	return n.String() + " orders"
}

// sameKeyPair finds a key with two records in one partition's log.
func (l *layout) sameKeyPair() (text string, ok bool) {
	for i, p := range l.View.Partitions {
		first := map[string]labs.StoredRecord{}
		for _, rec := range labs.RecordsFrom(p.Log.Segments, p.Log.LogStartOffset, 200) {
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
	seen := make([]bool, l.partitions()) // a reader that begins again reads its first record a second time
	j := l.Cluster.Journal()
	const most = 2000 // events; later ones would not make a better example
	for e := range j.All() {
		if e.Seq > most {
			break
		}
		r, is := e.Body.(journal.RecordsRead)
		if !is || r.From != 0 || r.Records == 0 || seen[r.TopicPartition.Partition] || l.past[r.TopicPartition.Partition].begun > 1 {
			continue
		}
		seen[r.TopicPartition.Partition] = true
		p := l.View.Partitions[r.TopicPartition.Partition]
		first := labs.RecordsFrom(p.Log.Segments, 0, 1)
		if len(first) == 0 {
			continue // it is lost
		}
		now := sight{p, e.Tick, first[0].Timestamp}
		if before.tick > 0 && now.tick > before.tick && now.written < before.written {
			return fmt.Sprintf("Here the first record of %s is older than that of %s, but it was read later, in tick %d, not %d.",
				now.partition.TopicPartition, before.partition.TopicPartition, now.tick, before.tick), true
		}
		before = now
	}
	return "", false
}

// readLate tells which events came after newer ones, what made it possible and what can be done; nil where
// none did.
func (l *layout) readLate() view.Paragraph {
	d := l.View.Destination
	if d.Late == 0 {
		return nil
	}
	p := view.Paragraph{{Text: l.lateSentence() + " ", Strong: true}}
	text := "In each pair the two lie in different partitions, and each partition is read at its own pace; no event was overtaken within a partition. "
	if d.InPlace > 0 {
		text = fmt.Sprintf("%s of them %s overtaken within one partition: %s. ", kafka.Thousands(d.InPlace), labs.Verb(d.InPlace, "was", "were"), l.whyInPlace())
	}
	p = append(p, view.Span{Text: text + l.stayedSentence()})
	if !d.CheckVersions {
		p = append(p, view.Span{Text: "A destination that checks versions would have refused them: "},
			labs.TryIt("a destination that checks versions", l.Address.WithValue("destination", "versions")), view.Span{Text: ". "})
	}
	return p
}

// whyInPlace says how events can have been overtaken within their partition: they were written so, or a reader began again
// at records that the group had read.
func (l *layout) whyInPlace() string {
	d := l.View.Destination
	written := "so " + labs.Verb(d.InPlace, "the two", "they") + " were written"
	if !l.readAgain() {
		return written
	}
	again := "a reader began again at records that had been read"
	for _, late := range d.FirstLate {
		if late.Newer.At == late.Event.At && late.Newer.Offset < late.Event.Offset {
			return written + ", or " + again
		}
	}
	if l.rewritten || len(l.senders) > 1 {
		return again + ", or " + written
	}
	return again
}

// growing says whether a CreatePartitions request or its answer is on its way.
func (l *layout) growing() bool {
	return slices.ContainsFunc(l.View.UnderWay, func(m engine.MessageView) bool { return m.API == "CreatePartitions" })
}

// stayedSentence says how many of the keys that did not move are among those with late events.
func (l *layout) stayedSentence() string {
	if l.known() == l.baseline || l.setting("key-by") != engine.KeyBys()[0] {
		return ""
	}
	stayed, among := 0, 0
	for _, k := range l.placed {
		if k.keyed && !k.moved() {
			stayed++
			if l.lateKeys[k.key] {
				among++
			}
		}
	}
	switch {
	case stayed == 0:
		return ""
	case among == 0:
		return fmt.Sprintf("None of the %s that stayed is among them. ", kafka.Count(stayed, "key"))
	}
	return fmt.Sprintf("%d of the %s that stayed %s among them. ", among, kafka.Count(stayed, "key"), labs.Verb(among, "is", "are"))
}

// sending says whether some producer's application sends.
func (l *layout) sending() bool {
	return slices.ContainsFunc(l.senders, func(s sender) bool { return s.Sending })
}

// readGrowth leads through adding partitions with the producer stopped, one step after the other; nil when
// there is nothing to do.
func (l *layout) readGrowth() view.Paragraph {
	if len(l.senders) != 1 || len(l.placed) == 0 || l.setting("key-by") != engine.KeyBys()[0] {
		return nil // there is no order that could be kept
	}
	p := l.senders[0]
	if !p.Alive || p.Paused || !l.reaches(p.ID) {
		return nil // a step would not do what is said
	}
	grown := l.partitions() > l.Address.Values.Int("partitions")
	try := func(text, what string, cmd command.Command) view.Paragraph {
		return view.Paragraph{{Text: text + ": "}, labs.TryIt(what, l.Address.WithCommand(cmd, false)), {Text: "."}}
	}
	unread, unsettled := l.View.Groups[0].Lag, l.unsettled(p)
	switch {
	case p.Sending && grown:
		return nil
	case p.Sending:
		return try("Partitions can be added without losing order: first stop the application that sends", "stop sending", command.StopSending{Producer: p.ID})
	case unsettled > 0:
		return view.Paragraph{{Text: fmt.Sprintf("No new event comes, and of %s %s does not know yet that %s written: step on until it does, then until all are read.",
			kafka.Count(unsettled, "record"), p.ID, labs.Verb(unsettled, "it is", "they are"))}}
	case unread > 0:
		still := fmt.Sprintf("Nothing is sent, and %s still to be read", kafka.Count(int(unread), "record")+labs.Verb(int(unread), " is", " are"))
		if stuck := l.stuck(); len(stuck) > 0 {
			return view.Paragraph{{Text: fmt.Sprintf("%s; %s cannot read now.", still, memberNames(stuck))}}
		}
		return view.Paragraph{{Text: still + ": step on until none is, then add partitions."}}
	case l.growing():
		return view.Paragraph{{Text: "The request for more partitions is on its way."}}
	case !grown:
		return try("The readers are at the end: now partitions can be added", "add partitions", command.AddPartitions{Topic: topic, Count: min(l.partitions()+2, engine.MaxPartitions)})
	case p.Known < l.partitions():
		return view.Paragraph{{Text: fmt.Sprintf("%s still knows %s; it asks for metadata again %s. Started before, it would send to the old partitions first.",
			p.ID, kafka.Count(p.Known, "partition"), l.untilRefresh(p.Refresh))}}
	}
	return try(fmt.Sprintf("Every producer knows of all %d partitions: the application can send again", l.partitions()), "start sending", command.StartSending{Producer: p.ID})
}

// unsettled counts the records of a producer that are to be sent or answered yet.
func (l *layout) unsettled(p sender) int { return p.Produced - p.Acknowledged - p.Failed - l.dropped }

// stuck lists the consumers that have something to read and do not run, stand still or cannot reach the broker.
func (l *layout) stuck() (list []engine.MemberView) {
	for _, m := range l.View.Groups[0].Members {
		behind := slices.ContainsFunc(m.Assignment, func(a engine.PositionView) bool { return a.Lag > 0 })
		if behind && (!m.Alive || m.Paused || !l.reaches(kafka.NodeID(m.ID))) {
			list = append(list, m)
		}
	}
	return list
}
