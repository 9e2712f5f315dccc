package view

// DiskColumns is how many columns a map or a line of a disk has: its bytes are drawn to scale over them.
const DiskColumns = 96

// Disk is the files of one partition on a broker's disk: all segments side by side, and below them a window of them,
// line by line, with their batches and records.
type Disk struct {
	ID       string
	Label    string    // for those who hear the page
	MapTitle string    // "All of it: 1,260 bytes"
	Map      []DiskBar // all segments to scale, left to right
	MapFlags []Flag    // Column is one of DiskColumns
	Cleaned  *Cleaning // nil: the newest thing is not a cleaning
	Segments []Segment // oldest first
	Scale    string    // "A line is up to 420 bytes long."
	Before   *Link     // earlier lines exist: a link that moves the window
	After    *Link     // later lines exist
}

// DiskBar is a segment in the map of a disk.
type DiskBar struct {
	From, To int    // columns, the last not included
	Kind     string // "clean", "dirty", "kept" (no compaction) or "deleted": a class
	Text     string // its base offset
	At       string // value of "at" that opens it
	Label    string // the whole of it in words
	Active   bool   // it takes the appends
	Shown    bool   // part of it is in the window
}

// Segment is a segment with its files and the lines of its .log file that are in the window.
type Segment struct {
	ID      string
	Name    string // "Segment 6"
	At      string // value of "at" that opens it
	Kind    string // as in DiskBar
	State   string // what it is in a word or two: "active", "closed", ".deleted"
	Part    string // to the cleaner: "clean", "dirty", …; empty: there is no cleaner
	Size    string // "420 of 420 bytes, 6 batches"
	Next    string // what comes next for it: "goes at the check in tick 12"; empty: nothing that is known
	Goes    bool   // Next is its end
	Files   []Item
	Lines   []ByteLine
	More    string // lines that are not drawn, in words; empty: all are
	New     bool   // it was not there before the tick shown
	Differs bool
}

// ByteLine is a stretch of a .log file, to the scale of all lines.
type ByteLine struct {
	ID       string
	Start    string // of its first byte: "byte 1,120"
	Batches  []ByteBatch
	Index    []IndexTick
	Flags    []Flag // Column is one of DiskColumns
	Unsynced *Run   // the bytes that a power loss would take; nil: none here
}

// ByteBatch is a batch at its place in a line.
type ByteBatch struct {
	ID       string
	From, To int    // columns, the last not included
	At       string // value of "at" that opens it
	Text     string // "0–5", its offsets
	Label    string // the whole of it in words
	Part     string // as the Kind of a bar
	Cells    []Cell // its records
	More     string // records that are not drawn, in words; empty: all are
	New      bool
	Selected bool
}

// IndexTick is an entry of the offset index, under the byte that it leads to.
type IndexTick struct {
	Column int
	Text   string // the offset that it has
	At     string // value of "at" that opens the way from it
	Label  string
}

// Cleaning is what the last cleaning did, while it is the newest thing: the records before, each with what became of it.
type Cleaning struct {
	Title  string
	Before string // "Before: 6 records, 419 bytes in segment 0"
	After  string
	Cells  []Cell // of the records before; those that went are Gone
	More   string // records that are not drawn, in words; empty: all are
	Why    Link   // to its causes
}
