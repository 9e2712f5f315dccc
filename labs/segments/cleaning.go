package segments

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// cellsBefore is how many records before a cleaning are drawn at most.
const cellsBefore = 48

// cleaning draws what the last cleaning did, while it is the newest thing; else nil.
func (l *layout) cleaning() *view.Cleaning {
	e, b, ok := l.cleaned()
	if !ok {
		return nil
	}
	c := &view.Cleaning{
		Title:  fmt.Sprintf("The cleaning in tick %d, which noted the last offset of %s from %s", e.Tick, kafka.Count(b.Keys, "key"), offsetsText(b.FirstDirtyOffset, b.Checkpoint-1)),
		Before: fmt.Sprintf("Before: %s, %s in %s", kafka.Count(b.RecordsRead, "record"), kafka.Count(b.BytesBefore, "byte"), segmentList(b.SegmentsBefore)),
		After:  fmt.Sprintf("After: %s, %s in %s", kafka.Count(b.RecordsRead-len(b.Removed), "record"), kafka.Count(b.BytesAfter, "byte"), segmentList(b.SegmentsAfter)),
		Why:    labs.Replace("why-cleaning", "why?", l.Address.WithWhy(e.Seq)),
	}
	c.Why.Label = "Why was the log cleaned?"
	kept := l.keptCells(b)
	for _, r := range b.Removed {
		kept = append(kept, l.removedCell(r))
	}
	slices.SortFunc(kept, func(x, y placedCell) int { return int(x.offset - y.offset) })
	for _, k := range kept[:min(len(kept), cellsBefore)] {
		c.Cells = append(c.Cells, k.Cell)
	}
	if left := b.RecordsRead - len(c.Cells); left > 0 {
		c.More = fmt.Sprintf("and %s more", kafka.Count(left, "record"))
	}
	return c
}

func segmentList(bases []kafka.Offset) string {
	var names []string
	for i, b := range bases {
		if i == 4 {
			names = append(names, fmt.Sprintf("%d more", len(bases)-i))
			break
		}
		names = append(names, fmt.Sprint(b))
	}
	return labs.Verb(len(bases), "segment ", "segments ") + strings.Join(names, ", ")
}

// placedCell is a cell with its offset as a number.
type placedCell struct {
	view.Cell
	offset kafka.Offset
}

// keptCells are the records that the cleaning read and left, those of them that are there.
func (l *layout) keptCells(b journal.LogCleaned) (list []placedCell) {
	for _, batch := range l.batches {
		if batch.BaseOffset >= b.Checkpoint || len(list) >= cellsBefore {
			break
		}
		for _, r := range records(batch.Batch, cellsBefore) {
			c := l.cell(r, r.Offset, false)
			c.ID, c.Selected = fmt.Sprintf("before-%d", r.Offset), false
			list = append(list, placedCell{c, r.Offset})
		}
	}
	return list
}

// removedCell is a record that went, with the reason. Its key is that of the record that has replaced it.
func (l *layout) removedCell(r journal.RemovedRecord) placedCell {
	c := view.Cell{ID: fmt.Sprintf("before-%d", r.Offset), Text: "✕", Offset: fmt.Sprint(r.Offset), Gone: true, At: named(labs.MarkTarget, removedMark(r.Offset)).String()}
	c.Label = fmt.Sprintf("offset %d went: %s", r.Offset, r.Reason)
	if r.By != kafka.NoOffset {
		c.Offset += fmt.Sprintf("→%d", r.By)
		c.Label = fmt.Sprintf("offset %d went: offset %d has the same key", r.Offset, r.By)
		if by, ok := l.recordAt(r.By); ok {
			c.Text, c.Color = keyText(by), keyColor(by)
		}
	} else if r.Reason == "expired tombstone" {
		c.Text = "∅"
	}
	c.Label = c.Text + ", " + c.Label
	return placedCell{c, r.Offset}
}

// removedMark names a record that a cleaning took, in addresses.
func removedMark(o kafka.Offset) string { return fmt.Sprintf("removed-%d", o) }

// recordAt gives the key of the record at an offset.
func (l *layout) recordAt(o kafka.Offset) (key []byte, ok bool) {
	at, found := slices.BinarySearchFunc(l.batches, o, func(b placed, o kafka.Offset) int {
		switch {
		case b.LastOffset() < o:
			return -1
		case b.BaseOffset > o:
			return 1
		}
		return 0
	})
	if !found {
		return nil, false
	}
	for _, r := range records(l.batches[at].Batch, int(l.batches[at].RecordsCount)) {
		if r.Offset == o {
			return r.Key, true
		}
	}
	return nil, false
}
