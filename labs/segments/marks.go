package segments

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// mark is a place in the log that has a name.
type mark struct {
	name   string // in addresses: "log-start"
	title  string // "log start"
	kind   view.FlagKind
	offset kafka.Offset
}

func (m mark) text() string { return fmt.Sprintf("%s %d", m.title, m.offset) }

// marks lists the places of the log that have names.
func (l *layout) marks() []mark {
	list := []mark{
		{"log-start", "log start", view.LogStart, l.log.LogStartOffset},
		{"high-watermark", "high watermark", view.HighWatermark, l.log.HighWatermark},
		{"log-end", "log end", view.LogEnd, l.log.LogEndOffset},
	}
	if list[1].offset == list[2].offset {
		list = append(list[:1], mark{"log-end", "high watermark = log end", view.LogEnd, l.log.LogEndOffset})
	}
	if l.open && l.config.Compact {
		c := l.upkeep.Cleanable
		list = append(list, mark{"checkpoint", "cleaned up to", view.Cleaned, c.FirstDirtyOffset}, mark{"uncleanable", "not cleaned from", view.Uncleanable, c.FirstUncleanableOffset})
	}
	if r, ok := l.away(); ok && r.committed >= 0 {
		list = append(list, mark{"committed", "reader’s commit", view.Committed, r.committed})
	}
	return list
}

// markOf finds one by its name in addresses.
func (l *layout) markOf(name string) (m mark, ok bool) {
	for _, m := range l.marks() {
		if m.name == name || name == "high-watermark" && m.name == "log-end" && strings.HasPrefix(m.title, "high") {
			return m, true
		}
	}
	return mark{}, false
}

// drawMap draws all segments side by side, those that wait to be removed first, with the marks under them.
func (l *layout) drawMap(d *view.Disk) {
	gone := l.gone
	first := max(len(l.log.Segments)-barsShown, 0)
	if at, ok := l.selectedLine(l.window.lines); ok {
		first = min(first, l.window.lines[at].segment)
	}
	list := l.log.Segments[first:min(first+barsShown, len(l.log.Segments))]
	sizes := make([]int, 0, len(gone)+len(list))
	for _, g := range gone[:min(len(gone), goneShown)] {
		sizes = append(sizes, len(g.bytes))
	}
	before := len(sizes)
	for _, s := range list {
		sizes = append(sizes, len(s.Bytes))
	}
	edges := scaled(sizes, view.DiskColumns)
	for i, g := range gone[:before] {
		d.Map = append(d.Map, view.DiskBar{
			From: edges[i], To: edges[i+1], Kind: kindDeleted, Text: fmt.Sprint(g.base), At: named(labs.FileTarget, g.files[0].Name).String(),
			Label: fmt.Sprintf("segment %d, %s bytes, waits to be removed", g.base, kafka.Thousands(len(g.bytes))),
		})
	}
	w := l.window
	for i, s := range list {
		index := first + i
		bar := view.DiskBar{
			From: edges[before+i], To: edges[before+i+1], Kind: l.kindOf(index), Text: fmt.Sprint(s.BaseOffset), At: target(labs.SegmentTarget, s.BaseOffset).String(),
			Active: index == len(l.log.Segments)-1, Shown: w.lines[w.from].segment <= index && index <= w.lines[w.to-1].segment,
		}
		words := []string{fmt.Sprintf("segment %d", s.BaseOffset), kafka.Count(len(s.Bytes), "byte")}
		if part := partWords[bar.Kind]; part != "" {
			words = append(words, part)
		}
		if bar.Active {
			words = append(words, "active")
		}
		bar.Label = strings.Join(words, ", ")
		d.Map = append(d.Map, bar)
	}
	for _, m := range l.marks() {
		if column, ok := l.mapPlace(m.offset, first, edges[before:]); ok {
			d.MapFlags = append(d.MapFlags, view.Flag{Column: column, Kind: m.kind, Text: m.text()})
		}
	}
	d.MapTitle = fmt.Sprintf("All of it: %s in %s, to scale", kafka.Count(l.log.Bytes, "byte"), kafka.Count(len(l.log.Segments), "segment"))
	if left := len(l.log.Segments) - len(list); left > 0 {
		d.MapTitle += fmt.Sprintf("; %s not drawn", kafka.Count(left, "segment"))
	}
}

// mapPlace gives the column of an offset in the map, whose segments begin with number first and at these edges.
func (l *layout) mapPlace(offset kafka.Offset, first int, edges []int) (column int, ok bool) {
	for i := range len(edges) - 1 {
		index := first + i
		s := l.log.Segments[index]
		last := index == len(l.log.Segments)-1
		if offset < s.BaseOffset || !last && offset >= l.log.Segments[index+1].BaseOffset {
			continue
		}
		position := len(s.Bytes)
		for _, b := range l.ofSegment(index) {
			if b.LastOffset() >= offset {
				position = b.position
				break
			}
		}
		return edges[i] + (edges[i+1]-edges[i])*position/max(len(s.Bytes), 1), true
	}
	return 0, false
}

// scaled divides columns in proportion to sizes, at least one for each, and gives the edges.
func scaled(sizes []int, columns int) []int {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	free := columns - len(sizes)
	edges := []int{0}
	seen := 0
	for i, n := range sizes {
		seen += n
		edges = append(edges, i+1+free*seen/max(sum, 1))
	}
	if sum == 0 {
		return edges
	}
	edges[len(edges)-1] = columns
	return edges
}
