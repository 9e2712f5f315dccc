package view

import "encoding/json"

// Progress is how far the reader of an embedded frame has come, as the frame tells it to the page around it. Its names are
// kept as they are: courses read them.
type Progress struct {
	Tick     int               `json:"tick"`               // shown
	End      int               `json:"end"`                // where playing ends
	Stop     int               `json:"stop,omitempty"`     // of a scenario: how many of its stops are reached at this tick
	Stops    int               `json:"stops,omitempty"`    // how many it has
	Question *QuestionProgress `json:"question,omitempty"` // the one that was asked last at this tick
	Goal     *GoalProgress     `json:"goal,omitempty"`     // of a run of the reader's own that is to reach it
}

// QuestionProgress is a prediction.
type QuestionProgress struct {
	Name    string `json:"name"`
	Guess   string `json:"guess,omitempty"` // as the address has it; left out: none was made
	Decided bool   `json:"decided"`         // the engine has answered
	Right   bool   `json:"right"`           // it was decided, and it happened as was guessed
}

// GoalProgress is something to bring about.
type GoalProgress struct {
	Reached  bool `json:"reached"`  // at this tick
	Commands int  `json:"commands"` // given so far
	Fewest   int  `json:"fewest"`   // known to reach it
}

// String gives the JSON that a frame carries.
func (p Progress) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // it has nothing that JSON has not
	}
	return string(text)
}
