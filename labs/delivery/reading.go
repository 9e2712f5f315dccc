package delivery

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/record"
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
	add(l.readCoordinators()...)
	add(l.readDuplicates(), l.readTaken(), l.readLatency())
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
		return say("So far: ", "there is no order now that the application can read.")
	}
	text := ""
	if l.bills != nil {
		text += fmt.Sprintf(" Bills for read_committed: %s.", l.tallyOf(func(e *effect) int { return e.kept }).text())
		if behind := l.keptBehind(); behind > 0 {
			text = strings.TrimSuffix(text, ".") + fmt.Sprintf("; of their bills %s behind the last stable offset, where they cannot be read yet.", isAre(behind))
		}
		text += fmt.Sprintf(" For read_uncommitted: %s.", l.tallyOf(func(e *effect) int { return e.bills }).text())
	}
	if l.outside() != nothing {
		text += fmt.Sprintf(" Outside (%s): %s, %s in all.", outsideNames[l.outside()], l.tallyOf(func(e *effect) int { return e.outside }).text(), kafka.Count(l.app.Sink.Effects, "effect"))
	}
	return say(fmt.Sprintf("So far, of %s:", kafka.Count(n, "order")), "%s", text)
}

// keptBehind counts the bills of committed transactions, and of none, that a read_committed reader cannot read yet.
func (l *layout) keptBehind() (n int) {
	for i := range l.bills.entries {
		if e := &l.bills.entries[i]; e.marker == "" && !e.open() && !e.aborted() && l.bills.lastStable >= 0 && e.Offset >= l.bills.lastStable {
			n++
		}
	}
	return n
}

// readProduced says what became of what was handed in.
func (l *layout) readProduced() view.Paragraph {
	r := &l.report
	if r.Sent == 0 {
		return say("So far: ", "nothing was handed in.")
	}
	present, missing := l.inOrders(r)
	text := fmt.Sprintf("%d acknowledged, %s in orders", r.Acknowledged, isAre(present))
	if len(r.Duplicated) > 0 {
		times := "twice"
		if slices.ContainsFunc(r.Duplicated, func(e engine.LedgerEntry) bool { return len(e.Offsets) > 2 }) {
			times = "more than once"
		}
		text += fmt.Sprintf(", %d of them %s", len(r.Duplicated), times)
	}
	if missing > 0 {
		text += fmt.Sprintf(", %s not there%s", isAre(missing), l.yet(r))
	}
	if r.Removed > 0 {
		text += fmt.Sprintf(", %s deleted", isAre(r.Removed))
	}
	if lost := len(r.Lost); lost > 0 {
		text += fmt.Sprintf(", %s lost", isAre(lost))
	}
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d given up by its producer", r.Failed)
	}
	if r.Dropped > 0 {
		text += fmt.Sprintf(", %d forgotten in a crash", r.Dropped)
	}
	text += "."
	if n, first := l.sameContent(); n > 0 {
		h := l.Cluster.Source().Handed()
		text += fmt.Sprintf(" %s the same key and value as an earlier one, as in ticks %d and %d: two calls of send.", hasHave(n, "record"), h.At(first[0]).Tick, h.At(first[1]).Tick)
		if missing == 0 && n == 1 {
			text = strings.TrimSuffix(text, ".") + ", two records."
		}
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
		text += fmt.Sprintf(" %s of the first %s in a transaction that was aborted, and nobody tells that reader.", kafka.Count(n, "record"), labs.Verb(n, "is", "are"))
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
		if r.kept < 0 || lag == 0 || r.position < c.Log.HighWatermark || c.gives(r) {
			continue
		}
		return say(fmt.Sprintf("The lag of %s is %d, and stays: ", r.level, lag), "it has read all there is, to position %d, and has committed %d, the offset of its last record + 1. %s behind it %s a marker or filtered, and nobody is given one.", r.position, r.kept, kafka.Count(int(lag), "offset"), labs.Verb(int(lag), "is", "are"))
	}
	return nil
}

// gives says whether a reader is given any of what lies between what it has committed and the high watermark.
func (c *contents) gives(r *reader) bool {
	return slices.ContainsFunc(c.entries, func(e entry) bool {
		return e.Offset >= r.kept && e.Offset < c.Log.HighWatermark && e.marker == "" && !(r.level == readCommitted && e.aborted())
	})
}

// readDuplicates says what was taken for a batch that is written already.
func (l *layout) readDuplicates() view.Paragraph {
	switch n := len(l.past.again); {
	case n > 0:
		return say(fmt.Sprintf("Taken for second copies, %s: ", kafka.Count(n, "time")), "the leader had a batch with that producer id, epoch and sequences, answered with its offsets, and wrote nothing.")
	case l.past.retried > 0:
		return say(fmt.Sprintf("Batches failed and are tried again, %s: ", kafka.Count(l.past.retried, "time")), "no answer had come, or an error that lets the producer try again.")
	}
	return nil
}

// readTaken says which records were no copies of what they were taken for: they are acknowledged, and in no log.
func (l *layout) readTaken() view.Paragraph {
	tp := l.read().TopicPartition
	var names []string
	for _, lost := range l.report.Lost {
		stands, known := l.past.appended[lost.Offset]
		if known && lost.TopicPartition == tp && slices.ContainsFunc(l.past.again, func(r repeat) bool { return r.of == tp && r.covers(lost.Offset) && stands.seq < r.seq }) {
			h := l.Cluster.Source().Handed().At(lost.Record)
			names = append(names, nameOf(record.Record{Key: h.Key, Value: h.Value}))
		}
	}
	if names == nil {
		return nil
	}
	return say(fmt.Sprintf("%s %s no copy: ", namesText(names), labs.Verb(len(names), "was", "were")),
		"the producer had given up a batch and used its sequences again in the same epoch, but that batch is written. What was acknowledged with its place is in no log.")
}

// readLatency says how long records take to each reader. Only those are compared that both have, with no wait on their way:
// the ticks do not count it. Of a record that is there more than once the first copy counts.
func (l *layout) readLatency() view.Paragraph {
	var sums [2]int
	both, first, waited, most, mostName := 0, 0, 0, -1, ""
	for _, w := range l.waits() {
		switch {
		case w.copy || w.seen[0] == never:
		case w.seen[1] == never:
			first++
		case l.past.waited(w.handed, w.seen[0])+l.past.waited(w.handed, w.seen[1]) > 0:
			waited++
		default:
			both++
			for i, at := range w.seen {
				sums[i] += int(at.tick - w.handed.tick)
			}
			if took := int(w.seen[1].tick - w.handed.tick); took > most {
				most, mostName = took, nameOf(w.Record)
			}
		}
	}
	var parts []string
	switch {
	case both == 1:
		parts = append(parts, fmt.Sprintf("%s took %s to read_uncommitted and %d to read_committed", mostName, kafka.Count(sums[0], "tick"), sums[1]))
	case both > 1:
		mean := func(i int) float64 { return float64(sums[i]) / float64(both) }
		parts = append(parts, fmt.Sprintf("%s took on average %.1f ticks to read_uncommitted and %.1f to read_committed, where %s took longest, %s", kafka.Count(both, "acknowledged record"), mean(0), mean(1), mostName, kafka.Count(most, "tick")))
	}
	if waited > 0 {
		parts = append(parts, hasHave(waited, "record")+" a wait on the way, which ticks do not count")
	}
	if first > 0 {
		parts = append(parts, hasHave(first, "record")+" come to read_uncommitted alone")
	}
	if parts == nil {
		return nil
	}
	return say("From send to a reader: ", "%s.", strings.Join(parts, "; "))
}
