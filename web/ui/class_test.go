package ui

import (
	"fmt"
	"strings"
	"testing"

	"loglab/labs/view"
	"loglab/static"
)

// The policy of the site forbids inline style, so each number that a template can need is a class.
func TestTheStylesheetHasEveryClassThatStandsForANumber(t *testing.T) {
	files, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	sheet, _ := files.Open(strings.TrimPrefix(files.Path("lab.css"), static.Prefix))
	var names []string
	for i := range maxColumns + 1 {
		names = append(names, fmt.Sprintf("at-%d", i))
	}
	for i := 1; i <= maxColumns; i++ {
		names = append(names, fmt.Sprintf("cols-%d", i))
	}
	for i := 1; i <= maxFlagRows; i++ {
		names = append(names, fmt.Sprintf("row-%d", i))
	}
	for i := range keyColors + 1 {
		names = append(names, fmt.Sprintf("k%d", i))
	}
	for i := range 101 {
		names = append(names, fmt.Sprintf("p-%d", i))
	}
	for _, name := range names {
		if !strings.Contains(string(sheet.Body), "\n."+name+" {") {
			t.Errorf("lab.css has no rule for .%s", name)
		}
	}
}

func TestACellSaysItsStateInItsClasses(t *testing.T) {
	for _, test := range []struct {
		cell view.Cell
		want string
	}{
		{view.Cell{Color: 3}, "cell k3"},
		{view.Cell{}, "cell k0"},
		{view.Cell{Color: 9}, "cell k0"},
		{view.Cell{Color: -1}, "cell k0"},
		{view.Cell{Color: 1, Waiting: true, BatchStart: true, SegmentStart: true, Moved: true, New: true, Selected: true}, "cell k1 waiting batch segment moved new selected"},
	} {
		if got := cellClass(test.cell); got != test.want {
			t.Errorf("cellClass(%+v) = %q, want %q", test.cell, got, test.want)
		}
	}
}

func TestTheNameOfALinkHoldsWhatIsToBeSeen(t *testing.T) {
	for _, test := range []struct{ text, label, want string }{
		{"Step", "One tick on", "Step: One tick on"},
		{"why?", "Why orders-0 got a record", "Why orders-0 got a record"},
		{"remove", "Remove the command pause c1", "Remove the command pause c1"},
	} {
		if got := linkName(view.Link{Text: test.text, Label: test.label}); got != test.want {
			t.Errorf("name of %q, labelled %q, is %q, want %q", test.text, test.label, got, test.want)
		}
	}
}
