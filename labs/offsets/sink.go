package offsets

import (
	"fmt"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// effects counts the records of a partition by how often the sink has applied their effect. Records that the group
// has never begun to read do not count; those that the log does not have any more count where the sink has their effect.
type effects struct{ once, more, never, lost int }

func (g *groupState) effectsOf(at *part) (n effects) {
	first := at.standing.first
	if first < 0 {
		return n
	}
	for o := first; o < max(at.HighWatermark, at.fates.End()); o++ {
		inLog := o >= at.LogStartOffset && o < at.HighWatermark
		switch at.fates.At(o).Applied {
		case 0:
			if !inLog {
				continue
			}
			n.never++
			if at.standing.gone(o) {
				n.lost++
			}
		case 1:
			n.once++
		default:
			n.more++
		}
	}
	return n
}

// sinkText says it in a few words.
func (l *layout) sinkText(g *groupState, at *part) string {
	n := g.effectsOf(at)
	parts := []string{fmt.Sprintf("%d once", n.once)}
	if n.more > 0 {
		parts = append(parts, fmt.Sprintf("%d repeated", n.more))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d never", n.never)), ", ")
}

// sinkCounts draws what the sink has.
func (l *layout) sinkCounts(g *groupState) []view.Count {
	var all effects
	gaveUp := 0
	for i := range g.parts {
		n := g.effectsOf(&g.parts[i])
		all.once, all.more, all.never, all.lost = all.once+n.once, all.more+n.more, all.never+n.never, all.lost+n.lost
		for o := kafka.Offset(0); o < g.parts[i].fates.End(); o++ {
			if g.parts[i].fates.At(o).GivenUp > 0 {
				gaveUp++
			}
		}
	}
	more := "their effect counts more than once"
	if g.Sink.Kind == engine.SinkUpsert {
		more = "written over what was there: it counts once"
	}
	list := []view.Count{
		{Name: "Applied once", Number: kafka.Thousands(all.once), Text: "records"},
		{Name: "More than once", Number: kafka.Thousands(all.more), Text: more, Warn: all.more > 0 && g.Sink.Kind != engine.SinkUpsert},
		{Name: "Never", Number: kafka.Thousands(all.never), Text: "not yet processed, lost or given up"},
		{Name: "Lost", Number: kafka.Thousands(all.lost), Text: g.lostText(), Warn: all.lost > 0},
	}
	if g.blind && g.Sink.Kind != engine.SinkOffsets {
		list[len(list)-1] = view.Count{Name: "Lost", Number: "–", Text: "not known: nobody can say what is committed"}
	}
	had := "effects that the sink had already"
	if g.Sink.Kind == engine.SinkOffsets {
		had = "effects below the offset that the sink had stored"
	}
	if g.Sink.Kind == engine.SinkIdempotent || g.Sink.Kind == engine.SinkOffsets {
		list = append(list, view.Count{Name: "Ignored", Number: kafka.Thousands(g.Sink.Ignored), Text: had})
	}
	if gaveUp > 0 {
		list = append(list, view.Count{Name: "Given up", Number: kafka.Thousands(gaveUp), Text: "skipped, or in the dead-letter topic", Warn: true})
	}
	if g.Sink.OutOfOrder > 0 {
		list = append(list, view.Count{Name: "Out of order", Number: kafka.Thousands(g.Sink.OutOfOrder), Text: "processed after a newer event of their key"})
	}
	if g.Sink.Capacity > 0 {
		list = append(list, view.Count{Name: "Capacity", Number: kafka.Thousands(g.Sink.Capacity), Text: "effects a tick, from all consumers together"})
	}
	return list
}

// lostText says what makes a record count as lost.
func (g *groupState) lostText() string {
	switch {
	case g.Sink.Kind == engine.SinkOffsets:
		return "the group goes on behind them, without their effects"
	case len(g.history.replays) > 0:
		return "committed and not processed; the offsets are about to be set"
	}
	return "committed, and nobody will process them"
}

// lagTable shows how far a group is behind, three ways.
func (l *layout) lagTable(g *groupState) view.Table {
	t := view.Table{
		ID: "lag-" + g.ID, Caption: fmt.Sprintf("How far %s is behind: %s in all%s", g.ID, kafka.Count(int(g.lag().sum), "record"), g.lag().aside()),
		Head: []string{"Partition", "Committed", "Position", "Watermark", "End", "Lag", "records-lag", "Oldest", "Growth"},
		More: fmt.Sprintf("Lag: watermark − committed; none where nothing is committed. records-lag: watermark − position, as the client’s metric has it. Oldest: age of the oldest record that is not committed. Growth: of the lag in %s.", l.growthText()),
	}
	if g.blind {
		t.Caption = fmt.Sprintf("How far %s is behind: not known, as nobody coordinates it", g.ID)
	}
	from, to := l.drawn()
	for i := from; i < to; i++ {
		at := &g.parts[i]
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{
			{{Text: at.TopicPartition.String(), At: labs.Target{Kind: labs.PartitionTarget, Partition: at.TopicPartition}.String()}},
			view.Plain(committedText(at)), view.Plain(offsetText(at.Position)), view.Plain(fmt.Sprint(at.HighWatermark)), view.Plain(fmt.Sprint(at.LogEndOffset)),
			view.Plain(groupLagText(at)), view.Plain(lagText(at)), view.Plain(l.oldestText(at)), view.Plain(growthText(at, g.history.growth[i])),
		}})
	}
	if to-from < l.partitions() {
		t.More += fmt.Sprintf(" Partitions %d to %d of %d.", from, to-1, l.partitions())
	}
	return t
}

// lagSum is the lag of a group over all partitions.
type lagSum struct {
	sum    int64 // where nothing is committed from the log start
	none   int   // partitions where nothing is committed
	beyond int   // partitions in which what is committed is beyond the watermark: they do not count
	unread int   // partitions whose log cannot be read: they do not count
}

func (g *groupState) lag() (n lagSum) {
	for i := range g.parts {
		switch at := &g.parts[i]; {
		case at.unread:
			n.unread++
		case at.Lag < 0:
			n.beyond++
		default:
			n.sum += at.Lag
			if at.Committed < 0 {
				n.none++
			}
		}
	}
	return n
}

// aside says what the sum does not say; empty where it says all.
func (n lagSum) aside() (text string) {
	if n.none > 0 {
		text += fmt.Sprintf(", counted from the log start in %s where nothing is committed", kafka.Count(n.none, "partition"))
	}
	if n.beyond > 0 {
		text += fmt.Sprintf(", without %s committed beyond the watermark", kafka.Count(n.beyond, "partition"))
	}
	if n.unread > 0 {
		text += fmt.Sprintf(", without %s whose log cannot be read now", kafka.Count(n.unread, "partition"))
	}
	return text
}

// sentence says the same at the end of a paragraph.
func (n lagSum) sentence() (text string) {
	if n.none > 0 {
		text += fmt.Sprintf(" In %s nothing is committed: counted from the log start.", kafka.Count(n.none, "partition"))
	}
	if n.beyond > 0 {
		text += fmt.Sprintf(" Of %s something beyond the watermark is committed: not counted.", kafka.Count(n.beyond, "partition"))
	}
	return text
}

// groupLagText writes the lag of a group in a partition.
func groupLagText(at *part) string {
	switch {
	case at.unread || at.blind:
		return "not known"
	case at.Committed < 0:
		return "none"
	}
	return kafka.Thousands(at.Lag)
}

// committedText writes what is committed of a partition.
func committedText(at *part) string {
	if at.blind {
		return "not known"
	}
	return offsetText(at.Committed)
}

func offsetText(o kafka.Offset) string {
	if o < 0 {
		return "none"
	}
	return fmt.Sprint(o)
}

func lagText(at *part) string {
	if at.unread {
		return "not known"
	}
	if at.Position < 0 {
		return "no position"
	}
	return kafka.Thousands(at.RecordsLag)
}

func growthText(at *part, n int64) string {
	if at.unread || at.blind {
		return "not known"
	}
	if n > 0 {
		return "+" + kafka.Thousands(n)
	}
	return kafka.Thousands(n)
}

// oldestText says how old the oldest record is that is not committed.
func (l *layout) oldestText(at *part) string {
	age, ok := l.oldest(at)
	if at.unread || at.blind {
		return "not known"
	}
	if !ok {
		return "none"
	}
	return kafka.Thousands(age) + " ms"
}

// oldest gives the age of the oldest record that is not committed; ok is false where all are.
func (l *layout) oldest(at *part) (age kafka.Millis, ok bool) {
	next := max(at.Committed, at.LogStartOffset)
	if at.unread || next >= at.HighWatermark {
		return 0, false
	}
	found := labs.RecordsFrom(l.orders()[at.Partition].Log.Segments, next, 1)
	if len(found) == 0 {
		return 0, false
	}
	return l.View.Now - kafka.Millis(found[0].Timestamp-engine.StartTime), true
}
