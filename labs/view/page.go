package view

import "fmt"

// Page is one frame of a lab: everything inside the element #lab, and what the page around it needs.
type Page struct {
	Lab     string // name of the lab in addresses: "partitions"
	Title   string // "Partition explorer"
	Goal    string // the goal in one sentence
	Address string // the canonical address of this frame, path and query
	Path    string // the path of Address, for forms
	Tick    int    // the tick shown
	Last    int    // the greatest tick that may be asked for
	Stream  string // address of the stream this frame came from; empty when not playing
	Change  string // what changed in this tick, one sentence, for the polite announcement
	Pace    int    // frames a second while playing
	Rests   bool   // playing rests at this tick, whatever its end
	Theme   string // "", "light" or "dark"; empty follows the reader's system
	Size    string // "" or "projector": large type for the back of a room

	Still    bool  // a picture: nothing of it can be operated or takes the focus
	Minimal  bool  // transport, picture and reading only
	Embedded bool  // stands in another site's page
	Whole    *Link // the same frame on the lab's own page; nil: this is it
	Progress Progress

	Notices   []Notice
	Ready     []Ready // ready-made runs
	Transport Transport
	Setup     string  // names what Ready and Settings hold: the same in all frames of a run
	Settings  []Form  // the set-up: what runs
	Actions   Actions // what can be done now, at the tick shown
	Picture   Picture // what the cluster looks like at the tick shown
	Reading   []Paragraph
	Events    Events
	Inspector *Inspector // nil: nothing is selected
	Twin      *Twin      // a second run; nil: there is one
	Story     *Story     // the scenario that is told; nil: this is the lab itself
	Limits    []Limit
	Looks     []Link // the same frame in the other themes; the one in use is Inactive; empty: none offered
	Sizes     []Link // the same in the other sizes
}

// Playing gives the page as a frame of a stream: the place of Play is taken by a Pause that leads to the
// page's own address, under the same id, so that focus stays.
func Playing(p Page, stream string) Page {
	p.Stream = stream
	p.Transport.Play.Text, p.Transport.Play.Label = "Pause", "Pause at this tick"
	p.Transport.Play.Href, p.Transport.Play.Play = p.Address, ""
	return p
}

// FilePage shows files that a reader has sent.
type FilePage struct {
	Title   string // the name of the .log
	Address string // canonical, path and query
	Kept    string // until when the files are kept, in a sentence or two
	Tabs    []Link // the views; the one shown is Current
	Files   Table
	Zip     Link
	Asks    []Form     // for another place of what is shown
	Shown   *Inspector // what the address asks for
	Again   Form       // for other files
}

// Link is a control that leads to another address.
type Link struct {
	ID       string // stable from frame to frame, so focus survives; empty for links in prose
	Href     string // complete address; set even where the control has nothing more to do
	Text     string // what it says
	Label    string // accessible name when Text is a sign; empty: Text serves
	Go       string // "push": a new history entry; "replace": this entry moves; empty: an ordinary link
	Step     int    // +1 or -1 on the step controls
	Play     string // address of the stream that this control opens
	Key      string // keyboard shortcut as KeyboardEvent.key, "Space" for the space bar
	Primary  bool
	Warn     bool // breaks something
	Current  bool // leads to the page that is shown
	Inactive bool // nothing to do here (at the first or last tick); the link stays so focus is kept
}

// Ready is a ready-made run.
type Ready struct {
	Link Link
	Text string // what it shows, one sentence
}

// Notice is something the reader should know before looking at the picture.
type Notice struct {
	Text string
	Link *Link // what can be done about it; nil: nothing
}

// Transport moves along the run.
type Transport struct {
	Start, Back, Step, Next, Play, End Link

	Clock    string // "tick 5 of 20 · 50 ms"
	Jump     Form   // a GET form whose one visible field is the tick
	Position int    // place of the tick shown on the scrubber, 0 to 100
	Marks    []Mark
	Differs  *Mark // where two runs begin to differ; nil: nowhere so far, or there is one
}

// Mark is a place on the scrubber where something happened or will happen.
type Mark struct {
	Position int    // 0 to 100, from the left
	Tick     int    // the tick it stands at
	Text     string // "crash c1"
	Link     Link
	Ahead    bool // a command still to come
}

// Form is a GET form whose submission is the next address, or one that is posted.
type Form struct {
	ID     string
	Title  string
	Action string  // path
	Hidden []Param // the rest of the address, in canonical order
	Fields []Field
	Submit string  // text of the button
	Second *Button // a second one, which sends a parameter of its own; nil: none
	Go     string  // as in Link
	Note   string  // one plain sentence under the fields; empty: none
	Links  []Link  // ready-made choices beside the form
	Post   bool    // posted with its files; the answer leads to the next address
}

// Button is one of a form's that sends a parameter of its own.
type Button struct {
	Text  string
	Label string // accessible name when Text says too little
	Param Param
}

// Param is one name and value of an address.
type Param struct{ Name, Value string }

// Field is one input of a form.
type Field struct {
	ID      string
	Name    string
	Label   string
	Kind    FieldKind
	Value   string
	Min     int // of a Number
	Max     int
	Options []Option // of a Choice
	Help    string   // what is allowed or what it does; empty: none
	Wrong   string   // why its value cannot be taken; empty: it can
}

// FieldKind says how a field is filled in.
type FieldKind string

// The kinds of field.
const (
	Number FieldKind = "number"
	Choice FieldKind = "choice"
	Lines  FieldKind = "lines" // several lines of text
	Line   FieldKind = "line"  // one line of text
	File   FieldKind = "file"  // a file, in a form that is posted
)

// Option is one choice of a field.
type Option struct {
	Value, Text string
	Chosen      bool
}

// Actions are the commands that can be given at the tick shown.
type Actions struct {
	Title     string // "Now, at tick 5"
	Links     []Link
	Groups    []ActionGroup // more commands, by what they are for; empty: none
	KeepTitle string        // what Keep is for
	Keep      []Link        // the same commands as Links, keeping those stamped later; empty: none are
	Forms     []Form
	Given     []Given // the commands of the address, in order
	More      string  // commands not listed, in words; empty: all are
	Save      *Link   // the run as a scenario for its author; nil: none
}

// ActionGroup is the commands for one node, or for one thing.
type ActionGroup struct {
	Name  string // "b1"
	Links []Link
}

// Given is one command of the address, with the ways to go to it and to take it away.
type Given struct {
	Tick   int
	Text   string // "produce order-7"
	Ahead  bool   // stamped after the tick shown
	GoTo   Link
	Remove Link
}

// Paragraph is one statement of the reading.
type Paragraph []Span

// Span is a run of text in a paragraph.
type Span struct {
	Text   string
	Strong bool
	Href   string // empty: plain text
	Label  string // accessible name of a link that says too little by itself; empty: Text serves
	Go     string // as in Link
}

// Events is the log of what happened, newest first.
type Events struct {
	Run    string // as in Picture
	Prefix string // as in Picture
	Lines  []EventLine
	More   string // what is not listed, in words; empty: all is
}

// EventLine is one event of the journal.
type EventLine struct {
	Seq   uint64
	Tick  int
	Node  string // "b1"; "you" for a command of the address
	Text  string // one sentence
	Fresh bool   // happened in the tick shown
	Warn  bool   // something was refused or lost
	Why   Link
	Term  string // what to look up: the name of a term in the glossary
}

// Inspector shows whatever was selected.
type Inspector struct {
	Title     string
	Facts     []Fact
	Links     []Link      // what else can be opened from here
	Forms     []Form      // what can be asked of it
	Chain     []EventLine // the causes, from the event asked about back to a command or a timer
	Tables    []Table
	Anatomies []Anatomy
	Close     Link
}

// AddFact adds a fact whose value is formatted.
func (in *Inspector) AddFact(name, format string, args ...any) {
	in.Facts = append(in.Facts, Fact{Name: name, Value: fmt.Sprintf(format, args...)})
}

// Fact is one named value.
type Fact struct{ Name, Value string }

// Limit is one thing that the lab leaves out or simplifies.
type Limit struct {
	Text   string
	Source string // where Kafka does the whole thing; may be empty
	At     string // the code it is true of
}
