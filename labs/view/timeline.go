package view

// Timeline is rows beside a common axis of ticks: a row for each thing that is followed, and in it what it was in which
// ticks. It shows a window of Columns ticks from tick First.
type Timeline struct {
	ID      string
	Label   string // for those who hear the page
	First   int    // the tick of the first column
	Columns int
	Now     int        // the column of the tick shown
	Ticks   []TickMark // on the axis, left to right
	Shades  []Run      // behind all rows
	Parts   []TimePart
	Before  *Link // earlier ticks exist: a link that moves the window
	After   *Link
}

// TickMark is a number on the axis of ticks.
type TickMark struct {
	Column int
	Text   string
	At     string // value of "at" that opens it
}

// TimePart is rows that belong together.
type TimePart struct {
	Title string
	Note  string // heads the rows' notes
	Rows  []TimeRow
	More  string // rows not drawn, in words; empty: all are
}

// TimeRow is one thing over the ticks of the window.
type TimeRow struct {
	ID     string
	Name   string // empty: its neighbour above has the name of both
	At     string // value of "at" that opens it
	Label  string // the whole row in words
	Note   string // the number or word at its end
	Height int    // in bars, of rows that stand for several things; 0: a row of full height
	Color  int    // of the swatch beside the name, 1 to 8; 0: none
	Alt    bool   // the swatch is that of the second eight
	Runs   []Run  // left to right

	Differs bool // the other picture has other runs or another note, or no such row
}

// Run is a stretch of ticks in which a row stands the same.
type Run struct {
	From, To int    // columns, the last not included
	Kind     string // "read", "gap", …: a class
	Text     string // shown where it has room
	Color    int    // 1 to 8, by owner; 0: none
	Alt      bool   // the second eight share the colours and have a pattern
	Bars     int    // how many things it stands for, drawn as so many bars; 0: one
}

// Machine is the states of something, with the one that it is in.
type Machine struct {
	Title  string
	States []MachineState
	// Ends are the ways on from the last of States, one under the other.
	Ends  [][]MachineState
	Facts []Fact // beside it: generation, epochs

	Differs bool // the other picture has another state or fact
}

// MachineState is one state.
type MachineState struct {
	Name string
	Text string // what it waits for, in a few words
	Now  bool
	In   []string // who is in it, where the states are those of several
	Warn bool     // something ended here
}
