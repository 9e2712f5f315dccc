package view

import "unicode/utf8"

// Picture is the state of the cluster as it is drawn. Each Differs in its parts says that the picture beside
// it, of the other run, has something else there, or nothing.
type Picture struct {
	Run         string // which of two runs it is of, "acks = all"; empty: there is one
	Prefix      string // begins the ids of its fixed parts: "" or, where it is the second on a page, "vs-"
	Title       string // "Topic orders · 4 partitions · consumer group billing"
	Legend      []Key
	Members     []Member
	MoreMembers string // members not drawn, in words; empty: all are
	Strips      []Strip
	Disk        *Disk     // nil: no files
	Machine     *Machine  // nil: no states of anything
	Timeline    *Timeline // nil: nothing over time
	Cluster     *Cluster  // nil: no brokers beside each other
	LedgerTitle string    // empty: that of an observer outside the cluster
	Ledger      []Count   // empty: none
	Pages       []Link    // where not all strips are shown: links to each part, the one shown inactive; empty: all are
	Network     Network
	Tables      []Table
	Hidden      []Param // the address without "at": a cell is a button "at" in one GET form
	Path        string  // that form's action
}

// Key explains one sign of the picture.
type Key struct {
	Kind string // "waiting", "read", "new", "segment", "batch", "moved", "late", "differs"
	Text string
}

// Member is one member of a consumer group.
type Member struct {
	ID    string // element id
	Name  string // "c0"
	State string // "working", "idle", "paused"
	Text  string // "orders-0, orders-1" or why it is idle
	At    string // value of "at" that opens it

	Differs bool
}

// Strip is one partition's log, growing to the right. It shows a window of Columns places from offset
// First.
type Strip struct {
	ID       string
	Name     string // "orders-0"
	Owner    string // who reads it, in words: "read by c0"
	At       string // value of "at" that opens the partition's segments
	First    int64  // offset of the first place
	Columns  int    // places in the window, cells and empty ones
	Width    int    // of a place, in percent of the usual; 0: 100. Flags need more places where they are narrow
	Cells    []Cell // left to right
	Gaps     []Gap  // brackets right under the cells
	GapRows  int    // rows that are kept for them; 0: none
	Batches  []BatchLabel
	Flags    []Flag   // left to right
	FlagRows int      // rows that are kept for them, 1 to 3; 0: 3
	Before   *Link    // earlier records exist: a link that moves the window
	After    *Link    // later records exist
	Count    string   // "15 records · 1,420 B · 2 segments"
	Lag      string   // "3 to read"
	Grew     *Link    // why Count changed in this tick; nil: it did not
	Moved    *Link    // why Lag changed in this tick; nil: it did not
	Empty    string   // what to say when there is no record
	Above    *Machine // over the strip: who writes to it; nil: nothing

	Differs      bool // Owner does, or the other picture has no such strip
	CountDiffers bool
	LagDiffers   bool
}

// Gap is a bracket under some places of a strip: what lies between two marks.
type Gap struct {
	From, To int // places, the last not included
	Row      int // 1, or 2 for those of a second group
	Kind     GapKind
	Text     string // "2 to repeat"

	Differs bool
}

// BatchLabel stands over the records of a batch.
type BatchLabel struct {
	From, To int // places, the last not included
	Text     string
}

// Places that the words of a bracket need, at their usual width.
const (
	gapARune  = 0.16
	gapAround = 0.6
)

// BesidePlaces is how many places the words of a bracket take beside it, where they have no room inside; 0: they have.
func BesidePlaces(g Gap) float64 {
	if words := gapAround + gapARune*float64(utf8.RuneCountInString(g.Text)); float64(g.To-g.From) < words {
		return words
	}
	return 0
}

// WordsLeft says whether the words of a bracket in a strip of so many places stand on its left: beside it, where on its
// right there is no room.
func WordsLeft(g Gap, columns int) bool {
	words := BesidePlaces(g)
	return words > 0 && float64(g.To)+words > float64(columns) && float64(g.From) >= words
}

// GapKind says what a gap stands for.
type GapKind string

// The kinds of gap.
const (
	ToRepeat GapKind = "repeat" // would be done again
	ToLose   GapKind = "lose"   // would never be done
	InHand   GapKind = "hand"   // begun with, nothing to repeat
	IsOpen   GapKind = "open"   // of a transaction that is open
	IsGone   GapKind = "undone" // of a transaction that was aborted
	IsDone   GapKind = "done"   // of a transaction that was committed
)

// Cell is one record.
type Cell struct {
	Stage        string // how far its reader is with it, a class; empty: not told
	Word         string // the same in a word, which stands under Text instead of the offset
	ID           string
	Text         string // short name of the key
	Offset       string
	Color        int    // 1 to 8, by key; 0: no key
	At           string // value of "at" that opens it
	Label        string // the whole of it in words
	New          bool   // appended in the tick shown
	Waiting      bool   // not yet read
	Moved        bool   // its key had another partition under the baseline count
	Late         bool   // it was seen after, or before, an event that it should follow, or precede
	BatchStart   bool   // first record of a batch
	SegmentStart bool   // first record of a segment
	Acknowledged bool   // its producer was told that it is written
	Lost         bool   // it was acknowledged, and its leader does not have it
	Again        bool   // it stands in the log more than once
	Gone         bool   // cut off in the tick shown, or taken by the cleaning shown
	Tombstone    bool   // it has no value: in a compacted log that deletes its key
	Below        bool   // it is on the disk below the log start offset: nobody can read it
	Hole         string // offsets between it and the one before that no record has any more, in short; empty: none
	Selected     bool
	Differs      bool
}

// Flag marks a place under a strip.
type Flag struct {
	Column int // 0 is the first place of the window
	Kind   FlagKind
	Text   string

	Differs bool
}

// FlagKind says what a flag stands for.
type FlagKind string

// The kinds of flag.
const (
	LogStart      FlagKind = "start"
	Committed     FlagKind = "committed"
	Position      FlagKind = "position"
	HighWatermark FlagKind = "watermark"
	LastStable    FlagKind = "stable"      // the last stable offset
	Cleaned       FlagKind = "cleaned"     // up to here the cleaner has come
	Uncleanable   FlagKind = "uncleanable" // from here on the cleaner may not go now
	LogEnd        FlagKind = "end"
)

// Network is the way between the nodes, with the envelopes that are on it. Lanes[i] lies between Stops[i]
// and Stops[i+1].
type Network struct {
	Title string
	Stops []Stop
	Lanes []Lane
}

// Stop is where messages come from and go to.
type Stop struct {
	Name  string // "Producers"
	Nodes []Member
	More  string // nodes that are not drawn one by one, in words; empty: all are
}

// Lane is the way between two stops.
type Lane struct {
	Name  string // "between producers and broker"
	Items []Message
	Empty string // what to say when nothing is on its way
	More  string // messages not drawn, in words; empty: all are
}

// Message is one envelope.
type Message struct {
	ID       string
	From, To string
	Text     string // "Produce request"
	When     string // "arrives at tick 6"
	At       string
	Right    bool // it goes from the left stop to the right one
	Response bool
	Held     bool // it waits: its link is cut, or its node stands still
	Differs  bool
}

// Table is rows of text under a head.
type Table struct {
	ID      string
	Caption string
	Head    []string
	Rows    []Row
	Mono    bool   // bytes and offsets: monospaced
	More    string // rows left out, in words

	Differs bool // Caption does, or the other picture has no such table
}

// Row is one row of a table. Its first item heads it.
type Row struct {
	Items    [][]Item
	Selected bool
	Differs  []bool // by place in Items; nil: nothing does
}

// Item is a piece of text in a table's cell: a key in a list of keys, a number, a sentence.
type Item struct {
	Text  string
	Mark  string // "moved", "split", "late" or several: drawn with a sign each; empty: plain
	Label string // what the mark means, in words
	Color int    // as Cell.Color; 0: none
	At    string // value of "at" that opens it; empty: not a control
	Link  *Link  // where it leads, its Text that of the item; nil: nowhere
}

// Plain makes the items of one cell from one text.
func Plain(text string) []Item { return []Item{{Text: text}} }
