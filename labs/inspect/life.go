package inspect

import (
	"fmt"
	"slices"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// lifeShown is how many lines of a record's life are shown at most.
const lifeShown = 24

// Life tells all that happened to the record that stands at an offset: written, copied, visible, delivered to whom,
// processed, committed, again. What happened at the offset before belongs to another record, that was cut off.
func (l Log) Life(offset kafka.Offset) view.Table {
	t := view.Table{ID: "life", Caption: "Its life in this run", Head: []string{"Tick", "Who", "What"}}
	at, ok := l.Locate(offset)
	if !ok {
		return t
	}
	left := 0
	r := life{Log: l, offset: offset, epoch: at.Batch.PartitionLeaderEpoch}
	born := r.born()
	for e := range l.Cluster.Journal().All() {
		if e.Seq < born {
			continue
		}
		switch what := r.happens(e); {
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

// life follows one record through the journal, from where it was written.
type life struct {
	Log
	offset    kafka.Offset
	epoch     kafka.LeaderEpoch // of the leader that wrote it
	written   bool              // this is told
	visible   bool
	readers   []kafka.NodeID // whose poll has returned it
	processed []string       // the group, for each time
}

// born gives the event with which a leader of the record's epoch wrote it last; 0: it was there before the run.
func (l *life) born() (seq uint64) {
	epochs := labs.Epochs{}
	for e := range l.Cluster.Journal().All() {
		epochs.Take(e)
		b, ok := e.Body.(journal.BatchAppended)
		if ok && b.TopicPartition == l.Partition && b.BaseOffset <= l.offset && l.offset <= b.LastOffset && epochs.Of(e.Node, l.Partition) == l.epoch {
			seq = e.Seq
		}
	}
	return seq
}

// happens says what an event means for the record; empty: nothing.
func (l *life) happens(e journal.Event) string {
	tp, o := l.Partition, l.offset
	switch b := e.Body.(type) {
	case journal.BatchAppended:
		if b.TopicPartition == tp && b.BaseOffset <= o && o <= b.LastOffset && !l.written {
			l.written = true
			return "written by the leader"
		}
	case journal.BatchReplicated:
		if b.TopicPartition == tp && b.BaseOffset <= o && o <= b.LastOffset {
			return "copied to a follower"
		}
	case journal.HighWatermarkAdvanced:
		if b.TopicPartition == tp && b.From <= o && o < b.To && b.LeaderEpoch >= l.epoch && !l.visible {
			l.visible = true
			return "visible: below the high watermark"
		}
	case journal.RecordsRead:
		if b.TopicPartition == tp && b.From <= o && o < b.To {
			l.readers = append(l.readers, e.Node)
			return fmt.Sprintf("delivered by poll; the position moves to %d", b.To)
		}
	case journal.RecordProcessed:
		if b.TopicPartition == tp && b.Offset == o && slices.Contains(l.readers, e.Node) {
			return l.processedText(b)
		}
	case journal.ProcessingFailed:
		if b.TopicPartition == tp && b.Offset == o && slices.Contains(l.readers, e.Node) {
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

// processedText says how often a group has processed the record so far.
func (l *life) processedText(b journal.RecordProcessed) string {
	l.processed = append(l.processed, b.Group)
	times := 0
	for _, group := range l.processed {
		if group == b.Group {
			times++
		}
	}
	if times > 1 {
		return fmt.Sprintf("processed for group %s, time %d. %s", b.Group, times, b.Effect)
	}
	return fmt.Sprintf("processed for group %s. %s", b.Group, b.Effect)
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
