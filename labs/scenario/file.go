package scenario

import (
	"reflect"
	"strings"
)

// File is a scenario as its author writes it. The tags are what the reader (decode.go) and the JSON Schema
// (schema.go) go by: the name of a field, whether it has to be there, its bounds, and what it is for.
type File struct {
	Line      int               `yaml:"-"`
	Title     string            `yaml:"title" need:"yes" max:"80" doc:"The name of the scenario, in a few words."`
	Summary   string            `yaml:"summary" need:"yes" max:"240" doc:"What it shows, in one sentence, for the list of scenarios."`
	Group     string            `yaml:"group" need:"yes" oneof:"partitions and keys|groups|offsets and crashes|replay|replication|storage|delivery" doc:"Under which heading it is listed."`
	Case      string            `yaml:"case" max:"16" doc:"The id of the public case that it shows."`
	Lesson    string            `yaml:"lesson" max:"60" doc:"The lesson that it belongs to, by its address: replication; left out, that of its group."`
	Terms     []string          `yaml:"terms" max:"8" doc:"Terms of the glossary, by their addresses: high-watermark."`
	Lab       string            `yaml:"lab" need:"yes" doc:"The lab that runs it."`
	Settings  map[string]Scalar `yaml:"settings" doc:"Settings of the lab, by the names and values of its address; those left out have their defaults."`
	Seed      int               `yaml:"seed" min:"0" max:"1000000000" doc:"The seed of the run and of the goal; 1 if left out."`
	Commands  []Command         `yaml:"commands" max:"200" doc:"What is done, in ascending ticks."`
	Vs        map[string]Scalar `yaml:"vs" max:"1" doc:"One setting with another value: a second run beside the first."`
	End       int               `yaml:"end" need:"yes" min:"1" max:"1000" doc:"The last tick of the story; playing ends here."`
	Parts     []Part            `yaml:"parts" max:"8" doc:"Named groups of ticks, in ascending order."`
	Say       []Say             `yaml:"say" need:"yes" max:"25" doc:"What is said when, in ascending ticks."`
	Questions []Question        `yaml:"questions" max:"8" doc:"What to predict, in ascending ticks."`
	Goal      *Goal             `yaml:"goal" doc:"Something to bring about by oneself."`
	Expect    []Expect          `yaml:"expect" max:"60" doc:"What has to hold when; the tests look."`
}

// Command is a command at a tick.
type Command struct {
	Line int    `yaml:"-"`
	At   int    `yaml:"at" need:"yes" min:"0" max:"1000" doc:"The tick at whose end it is given."`
	Do   string `yaml:"do" need:"yes" max:"4000" doc:"The command as an address has it: kill b1."`
}

// Part is a named group of ticks.
type Part struct {
	Line int    `yaml:"-"`
	Name string `yaml:"name" need:"yes" max:"40" doc:"What happens in it, in a word or two: catch up."`
	From int    `yaml:"from" need:"yes" min:"0" max:"1000" doc:"Its first tick."`
	To   int    `yaml:"to" need:"yes" min:"0" max:"1000" doc:"Its last tick."`
}

// Say is what is said from a tick on, until something else is.
type Say struct {
	Line int    `yaml:"-"`
	At   int    `yaml:"at" need:"yes" min:"0" max:"1000" doc:"The tick."`
	Text Text   `yaml:"text" need:"yes" max:"700" doc:"A few plain sentences. ${EXPRESSION} stands for what the engine answers at this tick; an empty line begins a new paragraph."`
	Show string `yaml:"show" max:"100" doc:"What the inspector shows when one comes to this stop, as an address has it: record:orders-0:5."`
}

// Question is asked before the tick that decides it. It has choices or a number.
type Question struct {
	Line    int         `yaml:"-"`
	Name    string      `yaml:"name" need:"yes" max:"24" doc:"Its name in addresses: small letters, digits and hyphens."`
	At      int         `yaml:"at" need:"yes" min:"0" max:"1000" doc:"The tick at which it is asked."`
	Decided int         `yaml:"decided" need:"yes" min:"1" max:"1000" doc:"The tick at which the engine has the answer, after the one at which it is asked."`
	Ask     string      `yaml:"ask" need:"yes" max:"300" doc:"The question."`
	Answer  *Expression `yaml:"answer" need:"yes" gives:"plain" doc:"An expression over the state at the deciding tick. With choices, what one of them is; else a number."`
	Choices []Choice    `yaml:"choices" max:"6" doc:"What can be chosen, two to six."`
	Number  *Number     `yaml:"number" doc:"In place of choices: a number is asked for."`
	Because Text        `yaml:"because" need:"yes" max:"500" doc:"Why it is so, once it is decided. ${EXPRESSION} stands for what the engine answers at the deciding tick."`
}

// Choice is one possible answer.
type Choice struct {
	Line int    `yaml:"-"`
	Is   Scalar `yaml:"is" need:"yes" max:"24" doc:"What the answer gives in this case: small letters, digits, points and hyphens."`
	Text string `yaml:"text" need:"yes" max:"120" doc:"What it says."`
}

// Number is what a number is asked for.
type Number struct {
	Line int    `yaml:"-"`
	Unit string `yaml:"unit" max:"24" doc:"What is counted, one of it: record. Left out: nothing is, the number is an offset or the like."`
	Min  int    `yaml:"min" min:"-1" max:"1000000000" doc:"The smallest that can be guessed; 0 if left out."`
	Max  int    `yaml:"max" need:"yes" min:"0" max:"1000000000" doc:"The greatest that can be guessed."`
}

// Goal is something that a reader brings about.
type Goal struct {
	Line     int               `yaml:"-"`
	Text     string            `yaml:"text" need:"yes" max:"240" doc:"What to bring about, in one sentence."`
	Hint     string            `yaml:"hint" max:"240" doc:"Where to look, for those who ask for it."`
	Settings map[string]Scalar `yaml:"settings" doc:"Where one starts from; left out, the settings of the scenario."`
	Reached  *Expression       `yaml:"reached" need:"yes" gives:"bool" doc:"Holds when it is reached."`
	Fewest   int               `yaml:"fewest" need:"yes" min:"1" max:"200" doc:"The fewest commands known to reach it."`
	Solution []Command         `yaml:"solution" need:"yes" max:"200" doc:"Commands that reach it, as many as fewest says. They are run by the tests and never shown."`
	Within   int               `yaml:"within" need:"yes" min:"1" max:"1000" doc:"The tick at which the solution has reached it."`
}

// Expect is what has to hold after a tick.
type Expect struct {
	Line int         `yaml:"-"`
	At   int         `yaml:"at" need:"yes" min:"0" max:"1000" doc:"The tick."`
	That *Expression `yaml:"that" need:"yes" gives:"bool" doc:"The expression."`
}

// Scalar is a text, a number or true or false, as the author has written it.
type Scalar struct {
	Text string
	Line int
}

// Text is sentences with places that the engine fills in.
type Text struct {
	Line  int
	Parts []TextPart
}

// TextPart is a piece of a text: words, or an expression where Ask is not nil.
type TextPart struct {
	Words string
	Ask   *Expression
}

// Groups lists the headings of scenarios in their order.
func Groups() []string {
	f, _ := reflect.TypeFor[File]().FieldByName("Group")
	return strings.Split(f.Tag.Get("oneof"), "|")
}
