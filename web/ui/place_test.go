package ui

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/labs/view"
)

// place says where a flag came to stand: its row, and "<" when its words stand left of the stick.
func place(f placedFlag) string {
	side := ">"
	if f.Before {
		side = "<"
	}
	return side + string(rune('0'+f.Row))
}

func TestFlagsFindARowWhereTheyCoverNoOther(t *testing.T) {
	start := view.Flag{Column: 0, Kind: view.LogStart, Text: "start 0"}
	position := func(column int) view.Flag {
		return view.Flag{Column: column, Kind: view.Position, Text: "c0 at 3"}
	}
	end := func(column int) view.Flag { return view.Flag{Column: column, Kind: view.LogEnd, Text: "end 5"} }
	for _, test := range []struct {
		name  string
		flags []view.Flag
		want  []string
	}{
		{"far apart, all in the first row", []view.Flag{start, position(8), end(10)}, []string{">1", "<1", ">1"}},
		{"a reader at the end shares its stick", []view.Flag{start, position(8), end(8)}, []string{">1", "<1", ">1"}},
		{"a position beside the start goes below", []view.Flag{start, position(2), end(3)}, []string{">1", "<2", ">1"}},
		{"an empty log has a row for each", []view.Flag{start, position(0), end(0)}, []string{">1", ">3", ">2"}},
		{"a position at the first place has its words right", []view.Flag{position(0), end(9)}, []string{">1", ">1"}},
		{"an end at the last place has its words left", []view.Flag{end(16)}, []string{"<1"}},
		{"a column outside the window is brought in", []view.Flag{end(-4), end(99)}, []string{">1", "<1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range placeFlags(view.Strip{Columns: 16, Flags: test.flags}) {
				got = append(got, place(f))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAFlagLeftOfItsStickEndsWhereTheStickIs(t *testing.T) {
	f := placedFlag{view.Flag{Column: 7, Kind: view.Position}, 2, true}
	if got, want := f.class(), "flag position row-2 before at-6"; got != want {
		t.Errorf("class is %q, want %q", got, want)
	}
}

func TestAMarkShowsItsWordsWhereTheNextMarkLeavesRoom(t *testing.T) {
	marks := []view.Mark{{Position: 10, Text: "crash c1"}, {Position: 60, Text: "pause c1"}, {Position: 65, Text: "pause c2"}, {Position: 65, Text: "resume"}, {Position: 98, Text: "wait 1s"}}
	var got []bool
	for _, m := range placeMarks(marks) {
		got = append(got, m.Words)
	}
	if diff := cmp.Diff([]bool{true, false, false, true, false}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSegmentLabelsStandOverTheFirstRecordOfASegment(t *testing.T) {
	s := view.Strip{Cells: []view.Cell{{Offset: "12", SegmentStart: true}, {Offset: "13"}, {Offset: "14", SegmentStart: true}}}
	want := []segmentLabel{{0, "segment 12"}, {2, "segment 14"}}
	if diff := cmp.Diff(want, segmentLabels(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
