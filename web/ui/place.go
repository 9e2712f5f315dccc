package ui

import (
	"strconv"
	"unicode/utf8"

	"loglab/labs/view"
)

// Measures of a strip, in places. They follow the stylesheet in static/lab: a place is 2.125rem wide and a flag is
// set in a monospaced face at 0.6875rem.
const (
	maxColumns   = 48 // classes cols-1 to cols-48, at-0 to at-48
	maxFlagRows  = 3  // classes row-1 to row-3
	placesARune  = 0.2
	placesAround = 0.3 // the stick and the space around the words
)

// placedFlag is a flag with its row under the strip, 1 the nearest, and the side of its stick on which
// its words stand.
type placedFlag struct {
	view.Flag
	Row    int
	Before bool // the words stand left of the stick
}

// placeFlags gives every flag a row in which it covers no other. A position is read up to from the
// left, so its words stand left of the stick where there is room; every other flag's stand right.
// The result is in the order of the strip's flags.
func placeFlags(s view.Strip) []placedFlag {
	placed := make([]placedFlag, len(s.Flags))
	var taken [maxFlagRows + 1][]stretch
	for _, first := range []bool{false, true} { // positions give way to the others
		for i, f := range s.Flags {
			if (f.Kind == view.Position) == first {
				placed[i] = placeFlag(f, s, &taken)
			}
		}
	}
	return placed
}

func placeFlag(f view.Flag, s view.Strip, taken *[maxFlagRows + 1][]stretch) placedFlag {
	columns := s.Columns
	f.Column = min(max(f.Column, 0), columns, maxColumns)
	width := placesAround + placesARune*float64(utf8.RuneCountInString(f.Text))
	if s.Width > 0 {
		width *= 100 / float64(s.Width)
	}
	at := float64(f.Column)
	right, left := stretch{at, at + width}, stretch{at - width, at}
	last := maxFlagRows
	if s.FlagRows > 0 {
		last = min(s.FlagRows, maxFlagRows)
	}
	narrow := s.Width > 0 && s.Width < 100
	if narrow { // and low
		last = 2
	}
	for row := 1; row <= last; row++ {
		sides := []placedFlag{{f, row, false}, {f, row, true}}
		if f.Kind == view.Position {
			sides[0], sides[1] = sides[1], sides[0]
		}
		for _, side := range sides {
			room := right
			if side.Before {
				room = left
			}
			inside := room.from >= 0 && (room.to <= float64(columns) || !side.Before && at == 0)
			if inside && !room.meetsAny(taken[row]) {
				taken[row] = append(taken[row], room)
				return side
			}
		}
	}
	return placedFlag{f, last, narrow && at > float64(columns)-at}
}

func (f placedFlag) class() string {
	column := f.Column
	c := classes{"flag", string(f.Kind), "row-" + strconv.Itoa(f.Row)}
	if f.Before {
		column--
		c.add("before", true)
	}
	c.add("at-"+strconv.Itoa(column), true)
	c.add("differs", f.Differs)
	return c.String()
}

// stretch is a stretch of a line, its end not included.
type stretch struct{ from, to float64 }

func (s stretch) meetsAny(others []stretch) bool {
	for _, o := range others {
		if s.from < o.to && o.from < s.to {
			return true
		}
	}
	return false
}

// segmentLabel stands above the first record of a segment.
type segmentLabel struct {
	Column int
	Text   string
}

func segmentLabels(s view.Strip) []segmentLabel {
	var labels []segmentLabel
	for i, c := range s.Cells {
		if c.SegmentStart && i < maxColumns {
			labels = append(labels, segmentLabel{i, "segment " + c.Offset})
		}
	}
	return labels
}

func (l segmentLabel) class() string {
	return classes{"segment-label", "at-" + strconv.Itoa(l.Column)}.String()
}

// placedMark is a mark on the scrubber, and whether its words have room beside the next mark.
type placedMark struct {
	view.Mark
	Words bool
}

// percentARune is the part of the scrubber that a letter of a mark needs.
const percentARune = 1.4

// placeMarks says which marks show their words, and so can be pressed. A mark without room is only a
// tick on the scrubber, one for all marks at its place; the list of commands leads there as well.
func placeMarks(marks []view.Mark) []placedMark {
	var placed []placedMark
	free := 0.0
	for i, m := range marks {
		width := percentARune * float64(utf8.RuneCountInString(m.Text)+1)
		from := float64(m.Position)
		room := 100.0
		if i+1 < len(marks) {
			room = float64(marks[i+1].Position)
		}
		words := from >= free && from+width <= room
		switch {
		case words:
			free = from + width
		case i > 0 && marks[i-1].Position == m.Position:
			continue
		}
		placed = append(placed, placedMark{m, words})
	}
	return placed
}

func (m placedMark) class() string {
	c := classes{"mark", "p-" + strconv.Itoa(min(max(m.Position, 0), 100))}
	c.add("ahead", m.Ahead)
	return c.String()
}

// batchLabelClass is the class of a batch’s label and where it begins and ends.
func batchLabelClass(b view.BatchLabel, s view.Strip) string {
	from, to := min(max(b.From, 0), s.Columns), min(max(b.To, 0), s.Columns)
	return classes{"batch-label", "at-" + strconv.Itoa(min(from, maxColumns)), "span-" + strconv.Itoa(max(to-from, 1))}.String()
}

// gapClass is the class of a bracket and where it begins and ends.
func gapClass(g view.Gap, s view.Strip) string {
	from, to := min(max(g.From, 0), s.Columns), min(max(g.To, 0), s.Columns)
	c := classes{"gap", string(g.Kind), "gap-row-" + strconv.Itoa(g.Row), "at-" + strconv.Itoa(min(from, maxColumns)), "span-" + strconv.Itoa(max(to-from, 1))}
	g.From, g.To = from, to
	beside := view.BesidePlaces(g) > 0
	c.add("beside", beside)
	c.add("left", beside && g.Kind == view.ToLose && from > 1 || view.WordsLeft(g, s.Columns))
	c.add("differs", g.Differs)
	return c.String()
}
