package lesson

import (
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"loglab/labs"
	"loglab/labs/scenario"
)

// place is something that the engine fills in: an expression, or the output of a tool.
type place struct {
	file    string
	line    int
	address labs.Address // whose state is asked
	ask     *scenario.Expression
	tool    *tool
	bound   bool // it has an address
}

// check is something that has to hold at an address.
type check struct {
	file    string
	line    int
	address labs.Address
	ask     *scenario.Expression
}

// A place stands in a text as its index between two letters that no author writes.
const (
	placeOpen  = "\uE000"
	placeClose = "\uE001"
)

var (
	placeSource = regexp.MustCompile(`\$\{((?:[^{}\n]|\{[^{}\n]*\})*)\}`) // with one pair of braces inside, of a predicate
	placeMark   = regexp.MustCompile(placeOpen + `(\d+)` + placeClose)
)

// takePlaces puts marks where ${EXPRESSION} stands.
func (d *lessonDraft) takePlaces(body string) string {
	if strings.ContainsAny(body, placeOpen+placeClose) {
		d.problem(d.first, "the text has a letter of the private use area")
	}
	var out strings.Builder
	end := 0
	for _, m := range placeSource.FindAllStringSubmatchIndex(body, -1) {
		line := d.first + strings.Count(body[:m[0]], "\n")
		ask, err := scenario.Compile(body[m[2]:m[3]])
		if err != nil {
			d.problem(line, "%v", err)
		}
		out.WriteString(body[end:m[0]] + placeOpen + strconv.Itoa(len(d.places)) + placeClose)
		d.places = append(d.places, place{file: d.file, line: line, ask: ask})
		end = m[1]
	}
	return out.String() + body[end:]
}

// bind gives the places of a text the lab placed last.
func (d *lessonDraft) bind(text string, line int) {
	for _, m := range placeMark.FindAllStringSubmatch(text, -1) {
		i, _ := strconv.Atoi(m[1])
		if len(d.labs) == 0 {
			d.problem(line, "${%s} stands before any lab", d.places[i].ask.Text)
			return
		}
		d.places[i].address, d.places[i].bound = d.labs[len(d.labs)-1], true
	}
}

// runBytes is the memory of the cache of the runs of one lesson while it is asked.
const runBytes = 16 << 20

// asker asks runs for their states, each once.
type asker struct {
	runs   *labs.Runs
	states map[string]*scenario.State
}

func newAsker() *asker { return &asker{labs.NewRuns(runBytes), map[string]*scenario.State{}} }

func (k *asker) at(a labs.Address) (*scenario.State, error) {
	name := a.String()
	if state := k.states[name]; state != nil {
		return state, nil
	}
	state, err := scenario.StateAt(context.Background(), k.runs, a)
	if err == nil {
		k.states[name] = state
	}
	return state, err
}

// ask gives the answer of the engine to each place, as text.
func (l *Lesson) ask() ([]string, error) {
	k := newAsker()
	answers := make([]string, len(l.places))
	for i, p := range l.places {
		if p.tool == nil && !p.bound {
			continue // it stands in something that is not shown
		}
		state, err := k.at(p.address)
		if err == nil && p.tool != nil {
			answers[i], err = p.tool.print(state)
		} else if err == nil {
			answers[i], err = p.ask.Plain(state)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", p.file, p.line, err)
		}
	}
	return answers, nil
}

// Check runs every lab of the lesson and asks everything. The error lists what cannot be answered and what does not hold.
func (l *Lesson) Check() error {
	_, err := l.answered()
	problems := []error{err}
	k := newAsker()
	for _, c := range l.checks {
		state, err := k.at(c.address)
		holds := false
		if err == nil {
			holds, err = c.ask.Holds(state)
		}
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("%s:%d: %w", c.file, c.line, err))
		case !holds:
			problems = append(problems, fmt.Errorf("%s:%d: this does not hold at %s: %s", c.file, c.line, c.address, c.ask.Text))
		}
	}
	return errors.Join(problems...)
}

// Filled is a part with the answers of the engine in it.
type Filled struct {
	HTML string  // of a text, of a caption, or of what a tool prints
	Lab  *Placed // nil: it is no lab
	Tool string  // what a tool prints; empty: it is none
}

// Filled gives the parts as they are shown. The runs of a lesson are asked once.
func (l *Lesson) Filled() ([]Filled, error) {
	answers, err := l.answered()
	if err != nil {
		return nil, err
	}
	fill := func(text string) string {
		return placeMark.ReplaceAllStringFunc(text, func(mark string) string {
			i, _ := strconv.Atoi(placeMark.FindStringSubmatch(mark)[1])
			return html.EscapeString(answers[i])
		})
	}
	var parts []Filled
	for _, p := range l.Parts {
		switch {
		case p.Lab != nil:
			parts = append(parts, Filled{HTML: fill(p.Lab.Caption), Lab: p.Lab})
		case p.Tool != nil:
			parts = append(parts, Filled{Tool: answers[l.toolPlace(p.Tool)]})
		default:
			parts = append(parts, Filled{HTML: fill(p.Text)})
		}
	}
	return parts, nil
}

func (l *Lesson) toolPlace(t *tool) int {
	for i, p := range l.places {
		if p.tool == t {
			return i
		}
	}
	panic("lesson: a tool without its place")
}
