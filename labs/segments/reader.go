package segments

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/view"
)

// keys is what readers see of one key.
type keys struct {
	key    []byte
	last   record.Record // that with the greatest offset, of those that can be read
	older  []kafka.Offset
	hidden int // records below the log start offset
}

// readKeys reads what a reader that starts now from earliest would get, per key. Records without a key are no key's.
func (l *layout) readKeys() {
	l.state = map[string]keys{}
	for _, b := range l.batches {
		for s := b.Scan(); s.Next(); {
			r := s.Record()
			if r.Offset >= l.readable() {
				continue
			}
			if r.Offset >= l.log.LogStartOffset {
				l.seen++
			}
			if r.Key == nil {
				continue
			}
			k := l.state[string(r.Key)]
			switch {
			case r.Offset < l.log.LogStartOffset:
				k.hidden++
			case k.key != nil:
				k.older = append(k.older, k.last.Offset)
				fallthrough
			default:
				k.key, k.last = r.Key, r
			}
			l.state[string(r.Key)] = k
		}
	}
	l.names = slices.SortedFunc(maps.Keys(l.state), func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b) // A to Z before A1
		}
		if a < b {
			return -1
		}
		return 1
	})
}

// isLast says whether a record is the last of its key, and can be read.
func (l *layout) isLast(r record.Record) bool {
	k, ok := l.state[string(r.Key)]
	return ok && r.Key != nil && k.key != nil && k.last.Offset == r.Offset
}

// How many keys are listed at most, and of each run where two stand beside each other.
const (
	keysShown  = 10
	keysBeside = 4
)

// keyTable shows what a reader that starts now from earliest would see of each key.
func (l *layout) keyTable() view.Table {
	t := view.Table{ID: "keys", Caption: strings.TrimSuffix(l.startsText(), ",") + ", key by key", Head: []string{"Key", "Ends with", "At offset", "Older ones that it gets before"}}
	most := keysShown
	if l.Beside != nil {
		most = keysBeside
	}
	for i, name := range l.names {
		if i == most {
			t.More = fmt.Sprintf("And %s more.", kafka.Count(len(l.names)-i, "key"))
			break
		}
		k := l.state[name]
		item := view.Item{Text: keyText([]byte(name)), Color: keyColor([]byte(name))}
		if k.key == nil {
			t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{item}, view.Plain("nothing: all of it is below the log start"), view.Plain("–"), view.Plain("–")}})
			continue
		}
		at := view.Item{Text: fmt.Sprint(k.last.Offset), At: target(labs.RecordTarget, k.last.Offset).String()}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{item}, view.Plain(valueText(k.last.Value)), {at}, view.Plain(olderText(k.older))}})
	}
	if len(l.names) == 0 {
		t.More = "No record with a key can be read."
	}
	return t
}

// olderText lists the offsets of older records, the newest if there are many.
func olderText(list []kafka.Offset) string {
	const most = 6
	if len(list) == 0 {
		return "none"
	}
	text := ""
	for i, o := range list[max(len(list)-most, 0):] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(o)
	}
	if left := len(list) - most; left > 0 {
		text = fmt.Sprintf("%d of them, the last at %s", len(list), text)
	}
	return text
}

// readerState is the group that may be away.
type readerState struct {
	alive, paused bool
	takesOrders   bool         // its application does
	known         bool         // what its group has committed: only a coordinator can be asked for that
	committed     kafka.Offset // -1: nothing, or not known
	position      kafka.Offset // -1: none
	lag           int64
	failed        string // the error that ended its application last; empty: none did since it was started
}

// away gives the state of the reader; ok is false where there is none.
func (l *layout) away() (r readerState, ok bool) {
	if len(l.View.Groups) == 0 {
		return r, false
	}
	g := l.View.Groups[0]
	m := g.Members[0]
	r = readerState{
		alive: m.Alive, paused: m.Paused, takesOrders: !m.Paused && m.Refuses == "", known: g.Coordinator != "", committed: kafka.NoOffset, position: kafka.NoOffset,
	}
	for _, o := range g.Offsets {
		if o.TopicPartition == partition {
			r.committed, r.lag = o.Committed, o.Lag
		}
	}
	for _, a := range m.Assignment {
		if a.TopicPartition == partition {
			r.position = a.Position
		}
	}
	r.failed = l.failure()
	return r, true
}

// failure gives the error that ended the reader’s application last; empty if it was started since.
func (l *layout) failure() string {
	for e := range l.Cluster.Journal().Backward() {
		switch b := e.Body.(type) {
		case journal.ConsumerFailed:
			if e.Node == reader {
				return b.Error
			}
		case journal.CommandGiven:
			if b.Command == "start "+string(reader) {
				return ""
			}
		}
	}
	return ""
}

// short says what the reader does, for its chip.
func (r readerState) short() string {
	switch {
	case r.failed != "":
		return "ended with " + r.failed
	case !r.alive && !r.known:
		return "away, its commit cannot be asked now"
	case !r.alive:
		return fmt.Sprintf("away, committed %s", offsetText(r.committed))
	case r.position == kafka.NoOffset:
		return "looks for its position"
	}
	return fmt.Sprintf("reads, position %d", r.position)
}

func offsetText(o kafka.Offset) string {
	if o == kafka.NoOffset {
		return "nothing"
	}
	return fmt.Sprint(o)
}

// inRange says whether a fetch from an offset is answered with records.
func (l *layout) inRange(o kafka.Offset) bool {
	return o >= l.log.LogStartOffset && o <= l.log.LogEndOffset
}

// begins gives where the reader would begin if it started now, if what its group has committed is known; ok is false if
// it would fail.
func (l *layout) begins(r readerState) (at kafka.Offset, ok bool) {
	switch {
	case r.committed != kafka.NoOffset && l.inRange(r.committed):
		return r.committed, true
	case l.Address.Values.Text("reset") == earliest:
		return l.log.LogStartOffset, true
	case l.Address.Values.Text("reset") == latest:
		return l.readable(), true
	}
	return kafka.NoOffset, false
}

// readReader says where the reader stands, and where it would begin.
func (l *layout) readReader() view.Paragraph {
	r, ok := l.away()
	if !ok {
		return nil
	}
	reset := l.Address.Values.Text("reset")
	switch {
	case r.alive && r.failed == "" && r.known:
		return say("The reader ", "has committed %s and %s.", offsetText(r.committed), l.positionText(r.position))
	case r.alive && r.failed == "":
		return say("The reader ", "%s. What it has committed cannot be asked now: %s.", l.positionText(r.position), l.unasked())
	}
	p := say("The reader is away. ", "")
	if r.failed != "" {
		p = say(fmt.Sprintf("The reader has ended with %s. ", r.failed), "")
	}
	if !r.known {
		return append(p, view.Span{Text: fmt.Sprintf("What it has committed, and so its lag and where it would begin, cannot be asked now: %s.", l.unasked())})
	}
	text := fmt.Sprintf("It has committed %s; the group’s lag is %d. ", offsetText(r.committed), r.lag)
	at, begins := l.begins(r)
	switch {
	case r.committed == kafka.NoOffset:
		text = fmt.Sprintf("It has committed nothing, and so the group has no lag. If it started now, auto.offset.reset = %s would decide", reset)
	case l.inRange(r.committed):
		text += fmt.Sprintf("Offset %d is between log start %d and log end %d: if it started now, it would go on there", r.committed, l.log.LogStartOffset, l.log.LogEndOffset)
	default:
		text += fmt.Sprintf("Offset %d is no more in the log, which begins at %d. If it started now, its fetch would be answered with OFFSET_OUT_OF_RANGE, and auto.offset.reset = %s would decide", r.committed, l.log.LogStartOffset, reset)
	}
	switch {
	case !begins && r.committed == kafka.NoOffset:
		text += ": it would end with a NoOffsetForPartitionException"
	case !begins:
		text += ": it would end with an OffsetOutOfRangeException"
	case at > r.committed && r.committed != kafka.NoOffset:
		text += fmt.Sprintf(": it would go on at %d, and never see offsets %s", at, offsetsText(r.committed, at-1))
	}
	switch {
	case l.broker.Paused:
		return append(p, view.Span{Text: text + ", once b1 is resumed."})
	case l.stops():
		return append(p, view.Span{Text: text + ", once b1 runs again."})
	case r.alive:
		return append(p, view.Span{Text: text + ". Its process still runs: it has to leave before it can start."})
	}
	return append(p, view.Span{Text: text + ": "}, labs.TryIt("start "+string(reader), l.Address.WithCommand(startReader, false)), view.Span{Text: "."})
}

// unasked says why nobody can be asked what a group has committed: b1 coordinates it, and all others.
func (l *layout) unasked() string {
	switch {
	case !l.open:
		return "b1, which coordinates its group, " + l.onDisk()
	case l.stops():
		return "b1, which coordinates its group, is shutting down"
	}
	return "b1 does not coordinate its group now"
}

// positionText says where the reader is, beside the end of what it can read.
func (l *layout) positionText(position kafka.Offset) string {
	switch behind := l.readable() - position; {
	case position == kafka.NoOffset:
		return "has no position yet"
	case position > l.log.LogEndOffset:
		return fmt.Sprintf("is at position %d, beyond the log end %d", position, l.log.LogEndOffset)
	case !l.open:
		return fmt.Sprintf("is at position %d", position)
	case behind <= 0:
		return fmt.Sprintf("is at position %d, the high watermark", position)
	default:
		return fmt.Sprintf("is at position %d, %s behind the high watermark %d", position, kafka.Count(int(behind), "offset"), l.log.HighWatermark)
	}
}

// startsText begins a sentence about a reader that starts, now or when there is somebody to answer.
func (l *layout) startsText() string {
	text := ""
	switch {
	case l.broker.Paused:
		text = "reader that starts once b1 is resumed, from earliest,"
	case l.stops():
		text = "reader that starts once b1 runs again, from earliest,"
	case !l.open:
		text = "reader that starts once b1 runs, from earliest,"
	default:
		return "A reader that starts now from earliest"
	}
	if l.coming() {
		return "If nothing is written before, a " + text
	}
	return "A " + text
}

// offsetsText writes a range of offsets.
func offsetsText(from, to kafka.Offset) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d to %d", from, to)
}

// readKeysText sums up what a reader that starts now from earliest gets.
func (l *layout) readKeysText() view.Paragraph {
	if l.log.LogStartOffset == l.readable() {
		return say(l.startsText()+" ", "gets nothing: the log begins and ends at %d.", l.log.LogStartOffset)
	}
	older, deleted, with := 0, 0, 0
	for _, name := range l.names {
		k := l.state[name]
		if k.key == nil {
			continue
		}
		with++
		older += len(k.older)
		if k.last.Value == nil {
			deleted++
		}
	}
	p := say(l.startsText()+" ", "begins at offset %d and gets %s", l.log.LogStartOffset, kafka.Count(l.seen, "record"))
	without := l.seen - with - older
	switch {
	case with == 0:
		return append(p, view.Span{Text: ", none with a key."})
	case without > 0 && older == 0:
		p = append(p, view.Span{Text: fmt.Sprintf(": one of each of %s, and %s without a key", kafka.Count(with, "key"), kafka.Thousands(without))})
	case without > 0:
		p = append(p, view.Span{Text: fmt.Sprintf(": %s without a key, and %s of %s, %s of which %s an older value of a key that has a newer one",
			kafka.Thousands(without), kafka.Thousands(with+older), kafka.Count(with, "key"), kafka.Thousands(older), labs.Verb(older, "is", "are"))})
	case older == 0:
		p = append(p, view.Span{Text: fmt.Sprintf(": one of each of %s", kafka.Count(with, "key"))})
	default:
		p = append(p, view.Span{Text: fmt.Sprintf(" of %s: %s of them %s an older value of a key that has a newer one", kafka.Count(with, "key"), kafka.Thousands(older), labs.Verb(older, "is", "are"))})
	}
	if deleted > 0 {
		p = append(p, view.Span{Text: fmt.Sprintf("; of %s it learns that it is deleted", kafka.Count(deleted, "key"))})
	}
	return append(p, view.Span{Text: "."})
}

// say makes a paragraph of a strong beginning and the rest.
func say(strong, format string, args ...any) view.Paragraph {
	p := view.Paragraph{{Text: strong, Strong: true}}
	if text := fmt.Sprintf(format, args...); text != "" {
		p = append(p, view.Span{Text: text})
	}
	return p
}
