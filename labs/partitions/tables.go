package partitions

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// tableRowsShown is how many rows the tables of split keys and late events have at most.
const tableRowsShown = 8

// records gives how many records a partition holds.
func records(p engine.PartitionView) int64 {
	return int64(p.Log.LogEndOffset - p.Log.LogStartOffset)
}

// records gives how many records the topic holds.
func (l *layout) records() (total int64) {
	for _, p := range l.View.Partitions {
		total += records(p)
	}
	return total
}

// percent writes a part of a whole.
func percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", (200*part+whole)/(2*whole))
}

// secondPlace says where the second client puts a key.
func (l *layout) secondPlace(k placedKey) string { return l.senders[1].placeText(k.key) }

// placeText says where a client puts a key.
func (s sender) placeText(key string) string {
	partition, keyed := s.place(key)
	if !keyed {
		return "any partition: to it this is no key"
	}
	return fmt.Sprintf("%s-%d", topic, partition)
}

// splitTable lists the keys that the two clients put into different partitions.
func (l *layout) splitTable() (t view.Table, any bool) {
	if len(l.senders) < 2 {
		return t, false
	}
	t = view.Table{ID: "split", Caption: l.splitSentence(), Head: []string{"Key", "p0, " + l.senders[0].rule.Name, "p1, " + l.senders[1].rule.Name}}
	left := 0
	for _, k := range l.placed {
		switch {
		case !k.split:
		case len(t.Rows) == tableRowsShown:
			left++
		default:
			t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{{Text: keyName(k.key), Color: k.color}}, view.Plain(l.senders[0].placeText(k.key)), view.Plain(l.secondPlace(k))}})
		}
	}
	if left > 0 {
		t.More = fmt.Sprintf("%d more keys differ.", left)
	}
	return t, true
}

// splitSentence counts them.
func (l *layout) splitSentence() string {
	n := 0
	for _, k := range l.placed {
		if k.split {
			n++
		}
	}
	return fmt.Sprintf("Two clients, one topic: %d of %s in different partitions.", n, kafka.Count(len(l.placed), "key")+labs.Verb(n, " is", " are"))
}

// lateTable lists, for each entity, the first event that was seen after a newer one.
func (l *layout) lateTable() (t view.Table, any bool) {
	d := l.View.Destination
	if d.Late == 0 {
		return t, false
	}
	t = view.Table{ID: "late", Caption: l.lateSentence(), Head: []string{"Events of", "Seen first", "Seen later, though older"}}
	for _, late := range d.FirstLate {
		if len(t.Rows) == tableRowsShown {
			t.More = fmt.Sprintf("%s more.", entities(len(d.FirstLate)-tableRowsShown))
			break
		}
		name := view.Item{Text: "records without a key"}
		if late.Entity != "" {
			name.Text = keyName(late.Entity)
			if at, ok := l.places[late.Entity]; ok {
				name.Color = l.placed[at].color
			}
		}
		t.Rows = append(t.Rows, view.Row{Items: [][]view.Item{{name}, {sightItem(late.Newer)}, {sightItem(late.Event)}}})
	}
	return t, true
}

// sightItem opens the record of an event that was seen.
func sightItem(s engine.Sight) view.Item {
	return view.Item{
		Text: fmt.Sprintf("event %d, tick %d, %s@%d", s.Version, s.Tick, s.At, s.Offset), Label: "read by " + string(s.Member),
		At: logTarget(labs.RecordTarget, s.At, s.Offset).String(),
	}
}

// lateSentence counts the events that were seen late.
func (l *layout) lateSentence() string {
	d := l.View.Destination
	text := fmt.Sprintf("%s of %s came to the destination after a newer one, of %s.", kafka.Thousands(d.Late), kafka.Count(d.Processed, "event"), entities(len(d.FirstLate)))
	if d.CheckVersions {
		text += fmt.Sprintf(" It refused %s.", labs.Verb(d.Late, "it", "all of them"))
	}
	return text
}

// entities counts them.
func entities(n int) string {
	if n == 1 {
		return "1 entity"
	}
	return kafka.Thousands(n) + " entities"
}
