package ui

import (
	"strconv"
	"unicode/utf8"

	"loglab/labs/view"
)

func timelineClass(t view.Timeline) string {
	return classes{"timeline", "cols-" + strconv.Itoa(min(max(t.Columns, 1), maxColumns))}.String()
}

// between is the class of a stretch of columns, the last not included.
func between(from, to int) string {
	from = min(max(from, 0), maxColumns-1)
	return "at-" + strconv.Itoa(from) + " span-" + strconv.Itoa(min(max(to-from, 1), maxColumns-from))
}

func tickClass(m view.TickMark) string { return "time-tick " + between(m.Column, m.Column+1) }

func shadeClass(r view.Run) string { return "shade " + r.Kind + " " + between(r.From, r.To) }

func nowClass(t view.Timeline) string { return "shade now " + between(t.Now, t.Now+1) }

func timeRowClass(r view.TimeRow) string {
	c := classes{"time-row"}
	c.add("thin", r.Height > 0)
	c.add("bars-"+strconv.Itoa(min(r.Height, maxBars)), r.Height > 0)
	c.add(keyClass(r.Color)+" swatch", r.Color > 0)
	c.add("alt", r.Alt)
	return c.String()
}

// maxBars is the number of bars that a row or a run is drawn with at most: classes bars-1 to bars-64.
const maxBars = 64

func runClass(r view.Run) string {
	c := classes{"bar", "bar-" + r.Kind, between(r.From, r.To)}
	c.add(keyClass(r.Color), r.Color > 0)
	c.add("alt", r.Alt)
	c.add("barred bars-"+strconv.Itoa(min(r.Bars, maxBars)), r.Bars > 1)
	c.add("tight", float64(r.To-r.From) < columnsNarrow*float64(utf8.RuneCountInString(r.Text)))
	return c.String()
}

// Room for the words of a run: the columns that a letter needs, and the least height in bars.
const (
	columnsARune  = 0.72
	columnsNarrow = 1 // on a narrow window, where the style sheet hides words without room
	barsOfWords   = 3
)

// runText is what stands in a run: nothing where it has no room.
func runText(r view.Run, row view.TimeRow) string {
	room := float64(r.To - r.From)
	if row.Height > 0 && row.Height < barsOfWords || room < columnsARune*float64(utf8.RuneCountInString(r.Text)) {
		return ""
	}
	return r.Text
}

func noteClass(r view.TimeRow) string { return numberClass("time-note", r.Differs) }

// networkClass tells a network of two stops, whose one lane may take all the room.
func networkClass(n view.Network) string {
	c := classes{"network"}
	c.add("one-way", len(n.Stops) == 2)
	return c.String()
}
