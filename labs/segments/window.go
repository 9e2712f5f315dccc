package segments

import (
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// Bounds of what a page draws, so that it stays small whatever is in the log.
const (
	linesShown  = 8   // of .log files at once
	linesBeside = 4   // of each run where two stand beside each other
	piecesShown = 400 // batches, records and index entries in them; half as many of each of two runs
	cellsALine  = 16  // records, and so batches, in a line
	cellsABatch = 16  // records of one batch that are drawn
	barsShown   = 32  // segments in the map
	goneShown   = 4   // segments that wait to be removed
	goneBeside  = 2   // of each run where two stand beside each other
)

// span is a line: batches of one segment that stand beside each other.
type span struct {
	segment  int
	from, to int // places in the list of batches; equal: an empty segment
	start    int // its first byte in the .log file
	bytes    int
}

// window is the lines that are drawn.
type window struct {
	lines     []span // all of the log
	from, to  int    // those drawn
	lineBytes int    // what the width of a line stands for
}

// findWindow cuts the log into lines and chooses those that are drawn: the last ones, or those around what is open.
func (l *layout) findWindow() window {
	w := window{lineBytes: l.lineBytes()}
	for i := range l.log.Segments {
		w.lines = append(w.lines, span{segment: i})
		first := len(w.lines) - 1
		for at, b := range l.ofSegment(i) {
			line := &w.lines[len(w.lines)-1]
			cells := min(max(int(b.RecordsCount), 1), cellsABatch)
			if len(w.lines)-1 == first && line.to == line.from {
				line.from, line.to = at, at
			}
			if line.to > line.from && (line.bytes+b.Size() > w.lineBytes || l.cells(line)+cells > cellsALine) {
				w.lines = append(w.lines, span{segment: i, from: at, to: at, start: b.position})
				line = &w.lines[len(w.lines)-1]
			}
			line.to, line.bytes = at+1, line.bytes+b.Size()
		}
	}
	most, pieces := linesShown, piecesShown
	if l.Beside != nil {
		most, pieces = linesBeside, piecesShown/2
	}
	w.to = len(w.lines)
	w.from = l.back(w.lines, w.to, most, pieces)
	if at, ok := l.selectedLine(w.lines); ok && at < w.from {
		w.to = min(at+1+most/2, len(w.lines))
		for w.from = l.back(w.lines, w.to, most, pieces); w.from > at; w.from = l.back(w.lines, w.to, most, pieces) {
			w.to--
		}
	}
	return w
}

// back gives the first of the lines up to one that have room together, at most most and one at least.
func (l *layout) back(lines []span, to, most, pieces int) int {
	from := to
	for from > max(to-most, 0) {
		s := &lines[from-1]
		pieces -= l.cells(s) + 3*(s.to-s.from)
		if pieces < 0 && from < to {
			break
		}
		from--
	}
	return from
}

// cells counts the records that a line draws.
func (l *layout) cells(s *span) (n int) {
	for _, b := range l.batches[s.from:s.to] {
		n += min(max(int(b.RecordsCount), 1), cellsABatch)
	}
	return n
}

// ofSegment ranges over the batches of a segment with their places in the list.
func (l *layout) ofSegment(segment int) func(yield func(int, placed) bool) {
	return func(yield func(int, placed) bool) {
		for at := l.firstOf(segment); at < len(l.batches) && l.batches[at].segment == segment; at++ {
			if !yield(at, l.batches[at]) {
				return
			}
		}
	}
}

// firstOf gives the place of the first batch of a segment, or of a later one if it is empty.
func (l *layout) firstOf(segment int) int {
	low, high := 0, len(l.batches)
	for low < high {
		middle := (low + high) / 2
		if l.batches[middle].segment < segment {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// lineBytes is how many bytes the width of a line stands for: segment.bytes, or less where that many hold more records
// than have room, and never less than the largest batch.
func (l *layout) lineBytes() int {
	bytes, records, largest := 0, 0, 0
	for _, b := range l.batches {
		bytes, records, largest = bytes+b.Size(), records+max(int(b.RecordsCount), 1), max(largest, b.Size())
	}
	most := l.config.SegmentBytes
	if records > 0 {
		const step = 10 // so that the scale stays while a log grows
		each := (bytes/records + step - 1) / step * step
		most = min(most, each*cellsALine)
	}
	return max(most, largest, 1)
}

// selectedLine gives the line of what is open, if that is in the log.
func (l *layout) selectedLine(lines []span) (at int, ok bool) {
	shown := l.Address.Shown()
	if shown.Partition != partition {
		return 0, false
	}
	switch shown.Kind {
	case labs.RecordTarget, labs.BatchTarget, labs.FindTarget, labs.SegmentTarget:
	default:
		return 0, false
	}
	offset := kafka.Offset(shown.Number)
	for i, s := range lines {
		if s.to > s.from && l.batches[s.to-1].LastOffset() >= offset {
			return i, true
		}
	}
	return 0, false
}

// shifts adds to the disk the controls that move its window: they open a batch, and a window always shows what is open.
func (l *layout) shifts(d *view.Disk) {
	w := l.window
	open := func(id, text string, line int) *view.Link {
		for ; line > 0 && w.lines[line].from == w.lines[line].to; line-- { // an empty segment has no batch
		}
		s := w.lines[line]
		if s.from == s.to {
			return nil
		}
		link := labs.Open(l.Address, id, text, target(labs.BatchTarget, l.batches[s.from].BaseOffset))
		return &link
	}
	size := w.to - w.from
	if w.from > 0 {
		d.Before = open("earlier", kafka.Count(w.from, "earlier line"), max(w.from-size/2, 0))
	}
	if w.to < len(w.lines) {
		d.After = open("later", kafka.Count(len(w.lines)-w.to, "later line"), min(w.to+size/2, len(w.lines)-1))
	}
}

// place gives the column at which the batch that holds an offset stands in a line, and within it the record; ok is false
// if the offset is in another line. The log end is behind the last batch.
func (l *layout) place(s span, offset kafka.Offset) (column int, ok bool) {
	last := s.to == len(l.batches)
	if s.from == s.to {
		base := l.log.Segments[s.segment].BaseOffset
		return 0, offset == base || last && s.segment == len(l.log.Segments)-1 && offset >= base
	}
	first := l.log.Segments[s.segment].BaseOffset
	if s.from > 0 && l.batches[s.from-1].segment == s.segment {
		first = l.batches[s.from-1].LastOffset() + 1
	}
	list := l.columns(s)
	for i, b := range l.batches[s.from:s.to] {
		if offset < first || offset > b.LastOffset() {
			first = b.LastOffset() + 1
			continue
		}
		if offset <= b.BaseOffset || b.RecordsCount == 0 {
			return list[i].from, true
		}
		kept := records(b.Batch, cellsABatch)
		before := 0
		for _, r := range kept {
			if r.Offset < offset {
				before++
			}
		}
		return list[i].from + (list[i].to-list[i].from)*before/max(len(kept), 1), true
	}
	end := first // behind the last batch, up to where the next segment begins
	switch {
	case last && s.segment == len(l.log.Segments)-1:
		end = offset
	case s.segment < len(l.log.Segments)-1 && (last || l.batches[s.to].segment != s.segment):
		end = l.log.Segments[s.segment+1].BaseOffset - 1
	}
	return list[len(list)-1].to, offset >= first && offset <= end && (last || offset < l.log.LogEndOffset)
}

// columnsOf is a stretch of columns, the last not included.
type columnsOf struct{ from, to int }

// columns gives the columns of the batches of a line, to scale; each has one at least.
func (l *layout) columns(s span) []columnsOf {
	scale := func(bytes int) int { return (bytes*view.DiskColumns + l.window.lineBytes/2) / l.window.lineBytes }
	var list []columnsOf
	for i, b := range l.batches[s.from:s.to] {
		left := s.to - s.from - i - 1 // batches behind it
		from := scale(b.position - s.start)
		if i > 0 {
			from = max(from, list[i-1].to)
		}
		to := min(max(scale(b.position-s.start+b.Size()), from+1), view.DiskColumns-left)
		list = append(list, columnsOf{min(from, to-1), to})
	}
	return list
}
