package inspect

import (
	"fmt"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs/view"
)

// lifeShown is how many lines of a record's life are shown at most.
const lifeShown = 24

// Life tells all that happened to a record: written, copied, visible, delivered to whom, processed, committed, again.
func (l Log) Life(offset kafka.Offset) view.Table {
	t := view.Table{ID: "life", Caption: "Its life in this run", Head: []string{"Tick", "Who", "What"}}
	left := 0
	visible := false
	for e := range l.Cluster.Journal().All() {
		what := l.happens(e, offset)
		if _, advance := e.Body.(journal.HighWatermarkAdvanced); advance && what != "" {
			if visible {
				continue
			}
			visible = true
		}
		switch {
		case what == "":
		case len(t.Rows) == lifeShown:
			left++
		default:
			row := Cells(fmt.Sprint(e.Tick), string(e.Node), what)
			row.Selected = e.Tick == kafka.Tick(l.Address.T) && e.Tick > 0
			t.Rows = append(t.Rows, row)
		}
	}
	if left > 0 {
		t.More = kafka.Count(left, "line") + " more."
	}
	return t
}

// happens says what an event means for the record at an offset; empty: nothing.
func (l Log) happens(e journal.Event, o kafka.Offset) string {
	tp := l.Partition
	switch b := e.Body.(type) {
	case journal.BatchAppended:
		if b.TopicPartition == tp && b.BaseOffset <= o && o <= b.LastOffset {
			return "written by the leader"
		}
	case journal.BatchReplicated:
		if b.TopicPartition == tp && b.BaseOffset <= o && o <= b.LastOffset {
			return "copied to a follower"
		}
	case journal.HighWatermarkAdvanced:
		if b.TopicPartition == tp && b.From <= o && o < b.To {
			return "visible: below the high watermark"
		}
	case journal.RecordsRead:
		if b.TopicPartition == tp && b.From <= o && o < b.To {
			return fmt.Sprintf("delivered by poll; the position moves to %d", b.To)
		}
	case journal.RecordProcessed:
		if b.TopicPartition == tp && b.Offset == o {
			if b.Times > 1 {
				return fmt.Sprintf("processed for group %s, time %d. %s", b.Group, b.Times, b.Effect)
			}
			return fmt.Sprintf("processed for group %s. %s", b.Group, b.Effect)
		}
	case journal.ProcessingFailed:
		if b.TopicPartition == tp && b.Offset == o {
			return fmt.Sprintf("attempt %d failed: %s", b.Attempt, b.Then)
		}
	case journal.DeadLetterSent:
		if b.TopicPartition == tp && b.Offset == o {
			return fmt.Sprintf("stands in the dead-letter topic: %s @%d", b.To, b.At)
		}
	case journal.OffsetCommitted:
		return committedText(b, tp, o)
	}
	return ""
}

// committedText says what a commit means for a record: it is covered now, or it is not any more.
func committedText(b journal.OffsetCommitted, tp kafka.TopicPartition, o kafka.Offset) string {
	switch {
	case b.TopicPartition != tp:
	case b.Offset > o && b.Before <= o:
		return fmt.Sprintf("committed for group %s: it goes on at %d", b.Group, b.Offset)
	case b.Offset <= o && b.Before > o:
		return fmt.Sprintf("not committed any more for group %s: it goes back to %d", b.Group, b.Offset)
	}
	return ""
}
