package ui

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"loglab/labs/view"

	"github.com/a-h/templ"
)

// columns is the class of a stretch of a disk’s columns, the last not included.
func columns(from, to int) string {
	from = min(max(from, 0), view.DiskColumns-1)
	return "at-" + strconv.Itoa(from) + " span-" + strconv.Itoa(min(max(to-from, 1), view.DiskColumns-from))
}

func barClass(b view.DiskBar) string {
	c := classes{"disk-bar", b.Kind, columns(b.From, b.To)}
	c.add("active", b.Active)
	c.add("shown", b.Shown)
	return c.String()
}

func segmentClass(s view.Segment) string {
	c := classes{"segment-card", s.Kind}
	c.add("new", s.New)
	c.add("goes", s.Goes)
	c.add("differs", s.Differs)
	return c.String()
}

// stateClass is a segment’s state as a class: a state may begin with a dot.
func stateClass(s view.Segment) string { return strings.TrimPrefix(s.State, ".") }

func batchClass(b view.ByteBatch) string {
	c := classes{"byte-batch", b.Part, columns(b.From, b.To)}
	c.add("new", b.New)
	c.add("selected", b.Selected)
	return c.String()
}

func indexClass(t view.IndexTick) string { return "index-tick " + columns(t.Column, t.Column+1) }

// current marks the control of what is open.
func current(selected bool) templ.OrderedAttributes {
	if !selected {
		return nil
	}
	return templ.OrderedAttributes{{Key: "aria-current", Value: "true"}}
}

// diskFlag is a flag with its row and the side of its stick on which its words stand.
type diskFlag struct {
	view.Flag
	row    int
	before bool
}

// columnsARune is how many columns of a disk a letter of a flag takes, where it is drawn at its narrowest.
const columnsAFlagRune = 1.3

// placeDiskFlags gives each flag a row in which it covers no other: the words stand right of the stick, or left of it
// where there is more room.
func placeDiskFlags(flags []view.Flag) []diskFlag {
	var placed []diskFlag
	rows := make([][]stretch, 0, len(flags))
	for _, f := range flags {
		at, width := float64(f.Column), 2+columnsAFlagRune*float64(utf8.RuneCountInString(f.Text))
		room, before := stretch{at, at + width}, at > view.DiskColumns/2
		if before {
			room = stretch{at - width, at}
		}
		row := 0
		for row < len(rows) && room.meetsAny(rows[row]) {
			row++
		}
		if row == len(rows) {
			rows = append(rows, nil)
		}
		rows[row] = append(rows[row], room)
		placed = append(placed, diskFlag{f, row + 1, before})
	}
	return placed
}

func (f diskFlag) class() string {
	column := f.Column
	c := classes{"flag", string(f.Kind), "flag-row-" + strconv.Itoa(min(f.row, maxDiskFlagRows))}
	if f.before {
		column--
		c.add("before", true)
	}
	c.add("at-"+strconv.Itoa(min(column, view.DiskColumns-1)), true)
	c.add("differs", f.Differs)
	return c.String()
}

// maxDiskFlagRows is how many rows of flags there may be: classes flag-row-1 to flag-row-6.
const maxDiskFlagRows = 6
