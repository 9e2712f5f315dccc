package segments

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/files"
	"loglab/labs/view"
)

// The kinds of a segment and of a batch. Each is a class.
const (
	kindKept    = "kept"  // there is no compaction
	kindClean   = "clean" // the cleaner has been there
	kindDirty   = "dirty" // it has not, and may go there
	kindLater   = "later" // it has not, and may not go there now
	kindDeleted = "deleted"
)

// picture draws the nodes and the disk.
func (l *layout) picture() view.Picture {
	p := view.Picture{
		Title: fmt.Sprintf("%s on the disk of %s, cleanup.policy = %s", partition, server, l.Address.Values.Text("policy")),
		Path:  l.Address.Path(), Hidden: labs.HiddenParams(l.Address, "at", "why"),
		Members: l.nodes(), Disk: l.disk(), Tables: append(l.checkTable(), l.keyTable()),
	}
	p.Legend = l.legend(p.Disk)
	return p
}

// nodes draws the producer, the broker and the reader.
func (l *layout) nodes() (list []view.Member) {
	add := func(node kafka.NodeID, state, text string) {
		list = append(list, view.Member{ID: "node-" + string(node), Name: string(node), State: state, Text: text, At: labs.Target{Kind: labs.NodeTarget, Node: node}.String()})
	}
	p := l.View.Producers[0]
	text := "writes"
	switch {
	case !p.Sending && p.Alive:
		text = "writes nothing by itself"
	case l.Address.Values.Int("rate") == 0:
		text = "writes what you produce"
	}
	if p.Skew != 0 {
		text += ", its clock is " + skewText(p.Skew)
	}
	add(p.ID, stateOf(p.Alive, p.Paused), text)
	text = fmt.Sprint(l.broker.State)
	if !l.up() {
		text = "this is what is on its disk"
	}
	add(server, stateOf(l.up(), l.broker.Paused), text)
	if r, ok := l.away(); ok {
		add(reader, stateOf(r.alive && r.failed == "", r.paused), r.short())
	}
	return list
}

// skewText says how far a clock is off.
func skewText(skew kafka.Millis) string {
	if skew < 0 {
		return labs.Span(-skew) + " behind"
	}
	return labs.Span(skew) + " ahead"
}

// stateOf is a node’s state, as a class and a word.
func stateOf(alive, paused bool) string {
	switch {
	case !alive:
		return "down"
	case paused:
		return "paused"
	}
	return "working"
}

// disk draws the files of the partition.
func (l *layout) disk() *view.Disk {
	d := &view.Disk{ID: "disk", Label: "Segments of " + partition.String() + " with their bytes, oldest first"}
	l.drawMap(d)
	d.Cleaned = l.cleaning()
	gone, shown := l.gone, goneShown
	if l.Beside != nil {
		shown = goneBeside
	}
	for _, g := range gone[:min(len(gone), shown)] {
		d.Segments = append(d.Segments, l.goneSegment(g))
	}
	w := l.window
	for i := w.from; i < w.to; {
		segment := w.lines[i].segment
		end := i
		for end < w.to && w.lines[end].segment == segment {
			end++
		}
		d.Segments = append(d.Segments, l.segment(segment, i, end))
		i = end
	}
	d.Scale = fmt.Sprintf("To scale: the width of a line is %s bytes.", kafka.Thousands(w.lineBytes))
	if left := len(gone) - shown; left > 0 {
		d.Scale += fmt.Sprintf(" %s more %s to be removed.", kafka.Count(left, "segment"), labs.Verb(left, "waits", "wait"))
	}
	l.shifts(d)
	return d
}

// segment draws one with the lines from number from up to number to.
func (l *layout) segment(index, from, to int) view.Segment {
	s := l.log.Segments[index]
	batches := 0
	for range l.ofSegment(index) {
		batches++
	}
	v := view.Segment{
		ID: fmt.Sprintf("segment-%d", s.BaseOffset), Name: fmt.Sprintf("Segment %d", s.BaseOffset), At: target(labs.SegmentTarget, s.BaseOffset).String(),
		Kind: l.kindOf(index), State: "closed", Size: fmt.Sprintf("%s of %s bytes, %s", kafka.Thousands(len(s.Bytes)), kafka.Thousands(l.config.SegmentBytes), kafka.Count(batches, "batch")),
		New: slices.Contains(l.rolled, s.BaseOffset),
	}
	v.Part = partWords[v.Kind]
	if index == len(l.log.Segments)-1 {
		v.State = "active"
	}
	v.Next, v.Goes = l.nextOf(s.BaseOffset)
	unsynced := 0
	for _, f := range l.filesOf(s.BaseOffset) {
		v.Files = append(v.Files, fileItem(f))
		if strings.HasSuffix(f.Name, storage.LogSuffix) {
			unsynced = len(f.Bytes) - f.Synced
		}
	}
	for i := from; i < to; i++ {
		v.Lines = append(v.Lines, l.line(l.window.lines[i], len(s.Bytes)-unsynced))
	}
	all := 0
	for _, line := range l.window.lines {
		if line.segment == index {
			all++
		}
	}
	if all > to-from {
		v.More = fmt.Sprintf("%d of its %d lines are in sight.", to-from, all)
	}
	return v
}

// filesOf lists the files of a segment of the log.
func (l *layout) filesOf(base kafka.Offset) (list []engine.DiskFile) {
	for _, f := range l.files {
		if of, ok := files.BaseOffset(f.Name); ok && of == base && !strings.HasSuffix(f.Name, storage.DeletedSuffix) {
			list = append(list, f)
		}
	}
	byKind(list)
	return list
}

// partWords says what the cleaner makes of a segment.
var partWords = map[string]string{
	kindClean: "clean", kindDirty: "dirty: the cleaner may take from it", kindLater: "dirty, and not to be cleaned now",
}

// kindOf says what the cleaner makes of a segment. One that holds the place up to which it has come counts as dirty.
func (l *layout) kindOf(index int) string {
	s := l.log.Segments[index]
	end := l.log.LogEndOffset
	if index+1 < len(l.log.Segments) {
		end = l.log.Segments[index+1].BaseOffset
	}
	switch {
	case !l.config.Compact || !l.open:
		return kindKept
	case end <= l.upkeep.Cleanable.FirstDirtyOffset && index < len(l.log.Segments)-1:
		return kindClean
	case s.BaseOffset >= l.upkeep.Cleanable.FirstUncleanableOffset:
		return kindLater
	}
	return kindDirty
}

// line draws a stretch of a .log file of which so many bytes are synced.
func (l *layout) line(s span, synced int) view.ByteLine {
	segment := l.log.Segments[s.segment]
	v := view.ByteLine{ID: fmt.Sprintf("line-%d-%d", segment.BaseOffset, s.start), Start: fmt.Sprintf("byte %s", kafka.Thousands(s.start))}
	columns := l.columns(s)
	entries := map[int]kafka.Offset{}
	for _, e := range segment.OffsetEntries() {
		entries[e.Position] = e.Offset
	}
	for i, b := range l.batches[s.from:s.to] {
		v.Batches = append(v.Batches, l.batch(s.from+i, columns[i], l.kindOf(s.segment)))
		if offset, ok := entries[b.position]; ok {
			v.Index = append(v.Index, view.IndexTick{
				Column: columns[i].from, Text: fmt.Sprint(offset), At: target(labs.FindTarget, offset).String(),
				Label: fmt.Sprintf("index entry: offset %d is in the batch at byte %s", offset, kafka.Thousands(b.position)),
			})
		}
		if v.Unsynced == nil && b.position+b.Size() > synced {
			v.Unsynced = &view.Run{From: columns[i].from, To: columns[len(columns)-1].to, Kind: "unsynced"}
			if s.to == len(l.batches) {
				v.Unsynced.Text = "not synced"
			}
		}
	}
	for _, m := range l.marks() {
		if column, ok := l.place(s, m.offset); ok {
			v.Flags = append(v.Flags, view.Flag{Column: column, Kind: m.kind, Text: m.text()})
		}
	}
	return v
}

// batch draws one of the list.
func (l *layout) batch(at int, c columnsOf, part string) view.ByteBatch {
	b := l.batches[at]
	offsets := fmt.Sprint(b.BaseOffset)
	if b.LastOffset() > b.BaseOffset {
		offsets = fmt.Sprintf("%d–%d", b.BaseOffset, b.LastOffset())
	}
	shown := l.Address.At
	v := view.ByteBatch{
		ID: fmt.Sprintf("batch-%d", b.BaseOffset), From: c.from, To: c.to, At: target(labs.BatchTarget, b.BaseOffset).String(), Text: offsets, Part: part,
		Label: fmt.Sprintf("batch of %s, %s, %s at byte %s", labs.Verb(int(b.LastOffset()-b.BaseOffset)+1, "offset ", "offsets ")+offsets, kafka.Count(int(b.RecordsCount), "record"), kafka.Count(b.Size(), "byte"), kafka.Thousands(b.position)),
		New:   b.BaseOffset >= l.grew && l.tick() > 0, Selected: shown.Kind == labs.BatchTarget && shown.Partition == partition && b.BaseOffset <= kafka.Offset(shown.Number) && kafka.Offset(shown.Number) <= b.LastOffset(),
	}
	next := l.log.Segments[0].BaseOffset
	if at > 0 {
		next = l.batches[at-1].LastOffset() + 1
	}
	for _, r := range records(b.Batch, cellsABatch) {
		v.Cells = append(v.Cells, l.cell(r, next, v.New))
		next = r.Offset + 1
	}
	if left := int(b.RecordsCount) - len(v.Cells); left > 0 {
		v.More = fmt.Sprintf("+%d", left)
	}
	if b.RecordsCount == 0 {
		v.More = "empty"
		v.Label += ": only its header is left"
	}
	return v
}

// cell draws a record; next is the offset that would come after the record before it.
func (l *layout) cell(r record.Record, next kafka.Offset, fresh bool) view.Cell {
	shown := l.Address.At
	c := view.Cell{
		ID: fmt.Sprintf("r-%d", r.Offset), Text: cellText(r), Offset: fmt.Sprint(r.Offset), Color: keyColor(r.Key), At: target(labs.RecordTarget, r.Offset).String(),
		New: fresh, Tombstone: r.Value == nil, Below: r.Offset < l.log.LogStartOffset, Hole: labs.HoleText(next, r.Offset),
		Selected: shown.Kind == labs.RecordTarget && shown.Partition == partition && kafka.Offset(shown.Number) == r.Offset,
	}
	words := []string{c.Text, fmt.Sprintf("offset %d", r.Offset), keyText(r.Key), valueText(r.Value)}
	if c.Below {
		words = append(words, "below the log start offset")
	}
	if fresh {
		words = append(words, "written in this tick")
	}
	if c.Hole != "" {
		words = append(words, holeWords(next, r.Offset))
	}
	c.Label = strings.Join(words, ", ")
	return c
}

// cellText is key and value in a cell.
func cellText(r record.Record) string {
	if r.Key == nil {
		return shortValue(r)
	}
	return labs.Narrow(plain(r.Key), 3) + "=" + shortValue(r)
}

// holeWords says the same in words.
func holeWords(next, offset kafka.Offset) string {
	if offset == next+1 {
		return fmt.Sprintf("offset %d before it has no record any more", next)
	}
	return fmt.Sprintf("offsets %d to %d before it have no record any more", next, offset-1)
}

// goneSegment draws one that waits to be removed as one line with its batches in one block.
func (l *layout) goneSegment(g gone) view.Segment {
	v := view.Segment{
		ID: fmt.Sprintf("gone-%d", g.base), Name: fmt.Sprintf("Segment %d", g.base), Kind: kindDeleted, State: ".deleted",
		Size: fmt.Sprintf("%s bytes, no part of the log any more", kafka.Thousands(len(g.bytes))), Goes: true, Next: "its files go " + l.goes(g.files...),
		At: named(labs.FileTarget, g.files[0].Name).String(),
	}
	for _, f := range g.files {
		v.Files = append(v.Files, fileItem(f))
	}
	return v
}

// legend explains the signs in sight.
func (l *layout) legend(d *view.Disk) []view.Key {
	list := []view.Key{{Kind: "record-sign", Text: "a record: key=value, and its offset"}}
	add := func(when bool, kind, text string) {
		if when {
			list = append(list, view.Key{Kind: kind, Text: text})
		}
	}
	var tombstone, below, hole, index, unsynced bool
	for _, s := range d.Segments {
		for _, line := range s.Lines {
			index, unsynced = index || len(line.Index) > 0, unsynced || line.Unsynced != nil
			for _, b := range line.Batches {
				for _, c := range b.Cells {
					tombstone, below, hole = tombstone || c.Tombstone, below || c.Below, hole || c.Hole != ""
				}
			}
		}
	}
	add(tombstone, "tombstone", "∅: a tombstone, it deletes its key")
	add(hole, "hole", "offsets that no record has any more")
	add(below, "below", "below the log start: on the disk, and nobody can read it")
	add(index, "index-sign", "an entry of the .index: this offset is in the batch at this byte")
	add(unsynced, "unsynced", "in the page cache: a power loss takes it")
	add(d.Cleaned != nil, "gone", "taken by the cleaning")
	if l.config.Compact {
		add(true, kindClean, "clean: the cleaner has been here")
		add(true, kindDirty, "dirty")
		add(true, kindLater, "dirty, and not to be cleaned now")
	}
	add(len(l.gone) > 0, kindDeleted, "waits to be removed")
	return list
}

// onDisk names the broker’s state where its log is not open.
func (l *layout) onDisk() string {
	switch {
	case l.broker.State == engine.BrokerPowerOff:
		return "has no power"
	case l.up():
		return "is starting and has not opened its log yet"
	}
	return "does not run"
}
