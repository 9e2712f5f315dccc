package delivery

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// Bounds of the reading.
const (
	crashesTold  = 2 // the last ones
	failuresTold = 3
)

// reading says in plain words what the picture shows.
func (l *layout) reading() (list []view.Paragraph) {
	add := func(paragraphs ...view.Paragraph) {
		for _, p := range paragraphs {
			if len(p) > 0 {
				list = append(list, p)
			}
		}
	}
	add(l.readGuarantee(), l.readSoFar())
	for _, c := range l.logs() {
		add(l.readHeld(c))
	}
	add(l.readVisible(), l.readLag(), l.readOutlook())
	add(l.readCrashes()...)
	add(l.readFenced()...)
	add(l.readFailures()...)
	add(l.readCoordinators(), l.readDuplicates(), l.readLatency())
	return list
}

// say makes a statement with its head in bold.
func say(head, format string, args ...any) view.Paragraph {
	return view.Paragraph{{Text: head, Strong: true}, {Text: fmt.Sprintf(format, args...)}}
}

// readSoFar says what happened so far, in numbers.
func (l *layout) readSoFar() view.Paragraph {
	if l.app == nil {
		return l.readProduced()
	}
	n := len(l.effects)
	if n == 0 {
		return say("So far: ", "there is no order yet that the application can read.")
	}
	text := ""
	if l.bills != nil {
		text += fmt.Sprintf(" Bills for read_committed: %s.", l.tallyOf(func(e *effect) int { return e.kept }).text())
		text += fmt.Sprintf(" For read_uncommitted: %s.", l.tallyOf(func(e *effect) int { return e.bills }).text())
	}
	if l.outside() != nothing {
		text += fmt.Sprintf(" Outside (%s): %s, %s in all.", outsideNames[l.outside()], l.tallyOf(func(e *effect) int { return e.outside }).text(), kafka.Count(l.app.Sink.Effects, "effect"))
	}
	return say(fmt.Sprintf("So far, of %s:", kafka.Count(n, "order")), "%s", text)
}

// readProduced says what became of what was handed in.
func (l *layout) readProduced() view.Paragraph {
	r := l.Cluster.Ledger()
	if r.Sent == 0 {
		return say("So far: ", "nothing was handed in.")
	}
	present, missing := l.inOrders(&r)
	text := fmt.Sprintf("%d acknowledged, %s in orders", r.Acknowledged, isAre(present))
	if len(r.Duplicated) > 0 {
		text += fmt.Sprintf(", %d of them twice", len(r.Duplicated))
	}
	if missing > 0 {
		text += fmt.Sprintf(", %s not there and not on %s way", isAre(missing), labs.Verb(missing, "its", "their"))
	}
	if lost := len(r.Lost); lost > 0 {
		text += fmt.Sprintf(", %s lost", isAre(lost))
	}
	if given := r.Failed + r.Dropped; given > 0 {
		text += fmt.Sprintf(", %d given up by its producer", given)
	}
	text += "."
	if n, first := l.sameContent(); n > 0 {
		h := l.Cluster.Source().Handed()
		text += fmt.Sprintf(" %s the same key and value as an earlier one, as in ticks %d and %d: two calls of send, two records.", hasHave(n, "record"), h.At(first[0]).Tick, h.At(first[1]).Tick)
	}
	return say(fmt.Sprintf("So far, of %s handed in: ", kafka.Count(r.Sent, "record")), "%s", text)
}

func isAre(n int) string { return fmt.Sprintf("%d %s", n, labs.Verb(n, "is", "are")) }

func hasHave(n int, noun string) string {
	return kafka.Count(n, noun) + " " + labs.Verb(n, "has", "have")
}

// readHeld says what holds the last stable offset of a log back.
func (l *layout) readHeld(c *contents) view.Paragraph {
	s := c.holder()
	if s == nil {
		return nil
	}
	offsets, others := c.heldUp()
	head := fmt.Sprintf("%s holds %s up: ", s.who, c.TopicPartition)
	text := fmt.Sprintf("its transaction is open from offset %d on, so the last stable offset is %d while the high watermark is %d. read_committed readers wait for %s", s.first(), c.lastStable, c.Log.HighWatermark, kafka.Count(offsets, "offset"))
	if !s.open() {
		text = fmt.Sprintf("its %s marker stands at offset %d, which is not below the high watermark %d yet, so the last stable offset is still %d. read_committed readers wait for %s", map[bool]string{true: "COMMIT", false: "ABORT"}[s.commit], s.marker, c.Log.HighWatermark, c.lastStable, kafka.Count(offsets, "offset"))
	}
	if others > 0 {
		text += fmt.Sprintf(", %d of them records that are in no transaction or in one that is committed", others)
	}
	return say(head, "%s.%s", text, l.untilText(s))
}

// untilText says when an open transaction ends at the latest.
func (l *layout) untilText(s *span) string {
	for _, t := range l.View.Transactions {
		if t.TransactionalID == s.who && t.Held != nil && t.Held.TimesOut > 0 && s.open() {
			return fmt.Sprintf(" If nobody ends it, its coordinator aborts it in tick %d: transaction.timeout.ms = %s, looked at every 10 s.", l.TickAfter(t.Held.TimesOut), kafka.Thousands(t.Held.Timeout))
		}
	}
	return ""
}

// readVisible says what each reader has seen, where they differ.
func (l *layout) readVisible() view.Paragraph {
	c := l.read()
	var seen [2][]string
	for i, r := range l.readers {
		for j := range c.entries {
			if e := &c.entries[j]; e.marker == "" && r.saw(e.Offset) > 0 {
				seen[i] = append(seen[i], nameOf(e.Record))
			}
		}
	}
	if len(c.entries) == 0 || strings.Join(seen[0], " ") == strings.Join(seen[1], " ") {
		return nil
	}
	text := fmt.Sprintf("read_uncommitted has seen %s, read_committed %s.", namesText(seen[0]), namesText(seen[1]))
	if n := l.abortedSeen(l.readers[0]); n > 0 {
		text += fmt.Sprintf(" %s of the first %s aborted since, and nobody tells that reader.", kafka.Count(n, "record"), labs.Verb(n, "was", "were"))
	}
	return say("The two readers have seen different things: ", "%s", text)
}

// namesText lists names, at most some of them.
func namesText(names []string) string {
	const most = 10
	if len(names) == 0 {
		return "nothing"
	}
	if left := len(names) - most; left > 0 {
		return fmt.Sprintf("%s and %d before", strings.Join(names[left:], ", "), left)
	}
	return strings.Join(names, ", ")
}

// readLag says what a marker does to the lag of a reader that commits.
func (l *layout) readLag() view.Paragraph {
	c := l.read()
	for _, r := range l.readers {
		lag := c.Log.HighWatermark - r.kept
		if r.kept < 0 || lag == 0 || r.position < c.Log.HighWatermark {
			continue
		}
		return say(fmt.Sprintf("The lag of %s is %d, and stays: ", r.level, lag), "it has read all there is, to position %d, and has committed %d, the offset of its last record + 1. %s behind it %s a marker or filtered, and nobody is given one.", r.position, r.kept, kafka.Count(int(lag), "offset"), labs.Verb(int(lag), "is", "are"))
	}
	return nil
}

// readCrashes tells of the last processes that ended.
func (l *layout) readCrashes() (list []view.Paragraph) {
	for i := len(l.past.crashes) - 1; i >= 0 && len(list) < crashesTold; i-- {
		c := l.past.crashes[i]
		head := fmt.Sprintf("%s crashed in tick %d%s. ", c.node, c.tick, pointText(c.at))
		if l.app != nil {
			for j := range l.app.Members {
				if m := &l.app.Members[j]; kafka.NodeID(m.ID) == c.node {
					list = append(list, say(head, "%s", l.afterCrash(m.Alive)))
				}
			}
		}
	}
	return list
}

// afterCrash says what a crash of the application leads to, or has led to.
func (l *layout) afterCrash(alive bool) string {
	open := false
	for _, c := range l.logs() {
		for _, s := range c.spans {
			open = open || s.open() && strings.HasPrefix(s.who, "tx-"+billing)
		}
	}
	done := l.committedOrders()
	from := fmt.Sprintf("its group has committed %d", done)
	if done < 0 {
		from = "its group has committed nothing"
	}
	switch {
	case !alive && open:
		return fmt.Sprintf("Its transaction is still open, and %s. A new process aborts it with initTransactions, and reads from there on.", from)
	case !alive:
		return fmt.Sprintf("When a process is started, it reads on from there: %s.", from)
	}
	return fmt.Sprintf("It runs again; by now %s.", from)
}

// readFenced tells of the transactions that the coordinator ended for their producers.
func (l *layout) readFenced() (list []view.Paragraph) {
	for i := len(l.past.fenced) - 1; i >= 0 && len(list) < crashesTold; i-- {
		f := l.past.fenced[i]
		list = append(list, say(fmt.Sprintf("The coordinator aborted the transaction of %s in tick %d: ", f.who, f.tick), "%s. The epoch went from %d to %d, so whoever still has the old one is fenced.", f.why, f.from, f.to))
	}
	return list
}

// readFailures tells of the errors that producers got.
func (l *layout) readFailures() (list []view.Paragraph) {
	for i := len(l.past.failures) - 1; i >= 0 && len(list) < failuresTold; i-- {
		f := l.past.failures[i]
		text := "It can only abort this transaction."
		switch {
		case f.fatal:
			text = "That is fatal: all that is left is to close the producer."
		case f.api == "Produce":
			text = "Nothing of that batch is written by this request."
		}
		list = append(list, say(fmt.Sprintf("%s got %s in tick %d", f.node, f.error, f.tick), ", %s. %s", answerTo(f.api), text))
	}
	return list
}

func answerTo(api string) string {
	if api == "" {
		return "when its time was over"
	}
	return "the answer to its " + api + " request"
}

// readCoordinators says which transactional ids nobody coordinates now.
func (l *layout) readCoordinators() view.Paragraph {
	var ids []string
	for _, t := range l.View.Transactions {
		if t.Coordinator == "" {
			ids = append(ids, t.TransactionalID)
		}
	}
	if ids == nil {
		return nil
	}
	return say("Nobody coordinates "+strings.Join(ids, ", ")+" now: ", "the leader of its partition of __transaction_state is down. What is decided stands in that log, and whoever leads it next goes on from there.")
}

// readDuplicates says what was sent twice and written once.
func (l *layout) readDuplicates() view.Paragraph {
	switch {
	case l.past.again > 0:
		return say(fmt.Sprintf("%s sent again and recognised: ", kafka.Count(l.past.again, "batch")+" "+labs.Verb(l.past.again, "was", "were")), "the leader had its producer id, epoch and sequences, answered with the offsets of the first copy, and wrote nothing.")
	case l.past.retried > 0:
		return say(fmt.Sprintf("%s sent again: ", kafka.Count(l.past.retried, "batch")+" "+labs.Verb(l.past.retried, "was", "were")), "no answer had come, or an error that lets the producer try again.")
	}
	return nil
}

// readLatency says how long records take to each reader.
func (l *layout) readLatency() view.Paragraph {
	var sums [2]int
	var counts [2]int
	most, mostName := -1, ""
	for _, w := range l.waits() {
		for i, at := range w.seen {
			if at >= 0 {
				sums[i], counts[i] = sums[i]+int(at-w.handed), counts[i]+1
				if i == 1 && int(at-w.handed) > most {
					most, mostName = int(at-w.handed), nameOf(w.Record)
				}
			}
		}
	}
	if counts[0] == 0 {
		return nil
	}
	mean := func(i int) string {
		if counts[i] == 0 {
			return "none has come"
		}
		return fmt.Sprintf("%.1f ticks", float64(sums[i])/float64(counts[i]))
	}
	text := fmt.Sprintf("to read_uncommitted %s, to read_committed %s", mean(0), mean(1))
	if most >= 0 {
		text += fmt.Sprintf("; the longest there %s, of %s", kafka.Count(most, "tick"), mostName)
	}
	return say("From send to a reader: ", "%s.", text)
}
