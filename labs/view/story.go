package view

// Story is what a scenario says beside the picture of a lab.
type Story struct {
	Where  string   // "Stop 3 of 9"
	Parts  []Link   // the named groups of ticks; the one shown is Current
	Said   []string // paragraphs
	Ask    *Ask     // what is to be predicted, or was; nil: nothing now
	Goal   *Goal    // nil: none is shown
	Trying bool     // the run is the reader's own, after the goal: the lab has all of its controls
	Back   Link     // to the stop before
	On     Link     // to the next stop
	Fork   Link     // the same frame as the lab's own address
	Terms  []Link   // what to look up
	Lesson Link     // that it belongs to; the zero Link: none
}

// Ask is a question: first with its choices or a form, then with what was guessed beside what happened.
type Ask struct {
	ID       string
	Name     string // of the question, in addresses
	Text     string
	Choices  []Link // the one guessed is Current; empty: there are none, or it is decided
	Form     *Form  // asks for a number; nil: there is none, or it is decided
	Note     string // how it goes on, or what was typed in
	Guessed  string // once decided: what was guessed; empty: nothing was
	Happened string // once decided: what the engine answers
	Same     bool   // what was guessed happened
	Because  []string
}

// Goal is something to bring about.
type Goal struct {
	Text    string
	State   string // "Reached at this tick, with 2 commands. Fewest known: 1."; empty: nobody tries now
	Reached bool
	Hint    string // for those who ask for it; empty: none
	Link    Link   // to try it, or back to the story
}
