package partitions

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/labs"
	"loglab/labs/view"
)

// readSpread tells how unevenly records and keys lie.
func (l *layout) readSpread() view.Paragraph {
	total := l.records()
	if total == 0 {
		if l.written() {
			return view.Paragraph{{Text: "No record is in the log any more."}}
		}
		return view.Paragraph{{Text: "No record is in the log yet."}}
	}
	most := l.View.Partitions[0]
	for _, p := range l.View.Partitions {
		if records(p) > records(most) {
			most = p
		}
	}
	n := int64(l.partitions())
	how := fmt.Sprintf("%s has the most records, %s: %s times the mean of %s. ", most.TopicPartition, kafka.Thousands(records(most)), tenths(records(most)*n, total), tenths(total, n))
	if records(most)*n == total {
		how = fmt.Sprintf("Every partition has %s. ", kafka.Count(int(records(most)), "record"))
	}
	p := view.Paragraph{{Text: how, Strong: true}}
	if len(l.placed) == 0 {
		return append(append(p, view.Span{Text: l.keylessSpread()}), l.otherRules()...)
	}
	return append(p, view.Span{Text: l.keySpread()})
}

// tenths writes a quotient with one decimal.
func tenths(a, b int64) string {
	t := (20*a + b) / (2 * b)
	return fmt.Sprintf("%s.%d", kafka.Thousands(t/10), t%10)
}

// keySpread tells how many keys each partition has, and how they come.
func (l *layout) keySpread() string {
	most, least := 0, 0
	counts := l.keyCounts()
	for i, n := range counts {
		if n > counts[most] {
			most = i
		}
		if n < counts[least] {
			least = i
		}
	}
	how := " " + drawSentence(l.Address.Values)
	if counts[most] == counts[least] {
		return fmt.Sprintf("Every partition has %s.", kafka.Count(counts[most], "key")) + how
	}
	return fmt.Sprintf("%s-%d has the most keys, %d, and %s-%d the fewest, %d: a hash spreads keys evenly only when there are many of them.",
		topic, most, counts[most], topic, least, counts[least]) + how
}

// keylessSpread tells where the records without a key went, and why.
func (l *layout) keylessSpread() string {
	var parts []string
	for _, p := range l.View.Partitions {
		if n := records(p); n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %s", kafka.Thousands(n), p.TopicPartition))
		}
	}
	const most = 12
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("the rest in %d more", more))
	}
	rule := map[string]string{
		"sticky":      "The sticky rule stays with one partition until batch.size = 16,384 bytes have gone there, then draws another; a partition with fewer batches waiting is drawn more often.",
		"sticky-480":  "The older sticky rule stays with one partition until a new batch must be begun there, then draws another: with every batch, however small.",
		"round-robin": "Round robin gives each record the next partition.",
	}[l.setting("keyless")]
	return fmt.Sprintf("Records without a key: %s. %s", strings.Join(parts, ", "), rule)
}

// otherRules offers the same run under the other rules for records without a key.
func (l *layout) otherRules() (links []view.Span) {
	for _, rule := range partitioner.KeylessNames() {
		if rule != l.setting("keyless") {
			links = append(links, view.Span{Text: " The same with " + rule + ": "}, labs.TryIt(rule, l.Address.WithValue("keyless", rule)), view.Span{Text: "."})
		}
	}
	return links
}

// readHottest tells what the hottest key caps; nil while there are few records, or where no key comes half as
// often again as the mean.
func (l *layout) readHottest() view.Paragraph {
	const few = 10 // records of one key
	s := l.View.Source
	if s.HottestRecords < few || s.HottestRecords*len(l.placed)*2 < 3*s.Records {
		return nil
	}
	all := "all of them for %s-%d"
	if len(l.senders) > 1 || l.partitions() > l.Address.Values.Int("partitions") { // a key can have gone to several partitions
		all = "for %s-%d alone"
	}
	return view.Paragraph{
		{Text: fmt.Sprintf("The hottest key is %s: %s of %s records, %s, "+all+". ", keyName(s.HottestKey), kafka.Thousands(s.HottestRecords), kafka.Thousands(s.Records),
			percent(int64(s.HottestRecords), int64(s.Records)), topic, s.HottestPartition), Strong: true},
		{Text: fmt.Sprintf("One consumer reads all of these: with any number of partitions and consumers the group gets through at most %s times what one consumer does.", tenths(int64(s.Records), int64(s.HottestRecords)))},
	}
}

// readClients tells what two clients with different partitioners do to one topic; nil where there is one.
func (l *layout) readClients() view.Paragraph {
	if len(l.senders) < 2 {
		return nil
	}
	p := view.Paragraph{{Text: l.splitSentence() + " ", Strong: true}}
	sends := [2]string{"sends", ""}
	if !l.senders[0].Alive {
		sends = [2]string{"would send", ""}
	}
	if !l.senders[1].Alive {
		sends[1] = "would send it "
	}
	for _, k := range l.placed {
		if k.split && k.keyed {
			return append(p, view.Span{Text: fmt.Sprintf("p0 (%s) %s %s to %s-%d, p1 (%s) %sto %s: its events are in no common order, and a reader that joins by key finds some of them elsewhere.",
				l.senders[0].rule.Name, sends[0], keyName(k.key), topic, k.now, l.senders[1].rule.Name, sends[1], l.secondPlace(k))})
		}
	}
	return append(p, view.Span{Text: fmt.Sprintf("To %s and %s every key has the same partition.", l.senders[0].rule.Name, l.senders[1].rule.Name)})
}

// readContract tells what the choice of a key does; nil where the key is the entity.
func (l *layout) readContract() view.Paragraph {
	entities, _ := entitiesOf(l.setting("keys"))
	if len(entities) == 0 {
		return nil
	}
	switch engine.KeyBy(l.setting("key-by")) {
	case "entity-and-state":
		return l.readChangingKey(entities)
	case "region":
		return view.Paragraph{{Text: "A key is a contract. ", Strong: true}, {Text: fmt.Sprintf("Here it is too coarse: %s share %s, so only %d of %d partitions get records.",
			kafka.Count(len(entities), "order"), kafka.Count(len(l.placed), "key"), l.placesOfKeys(), l.partitions())}}
	}
	return nil
}

// placesOfKeys counts the partitions that some producer puts some key into.
func (l *layout) placesOfKeys() int {
	places := map[kafka.Partition]bool{}
	for _, k := range l.placed {
		for _, s := range l.senders {
			if p, keyed := s.place(k.key); keyed {
				places[p] = true
			}
		}
	}
	return len(places)
}

// readChangingKey tells how many entities are scattered by a key that changes, with one of them.
func (l *layout) readChangingKey(entities []string) view.Paragraph {
	scattered := 0
	example := ""
	for _, entity := range entities {
		var in []string
		different := map[kafka.Partition]bool{}
		for _, k := range l.placed {
			if state, ok := strings.CutPrefix(k.key, entity+"/"); ok && k.keyed {
				in = append(in, fmt.Sprintf("%s in %s-%d", state, topic, k.now))
				different[k.now] = true
			}
		}
		if len(different) > 1 {
			if scattered++; scattered == 1 {
				example = fmt.Sprintf(" %s: %s.", keyName(entity), strings.Join(in, ", "))
			}
		}
	}
	return view.Paragraph{{Text: "A key is a contract. ", Strong: true}, {Text: fmt.Sprintf("Here it changes in an order’s life, and the events of %d of %s are scattered over partitions.%s",
		scattered, kafka.Count(len(entities), "order"), example)}}
}
