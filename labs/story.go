package labs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/labs/view"
)

// Story is a scenario as addresses and pages have it: a run of a lab under a name of its own. Its address says what
// every lab's address says of a frame, and what has been guessed; the run stands in the scenario. Whoever acts leaves
// it: an address with another run is the lab's own, with everything written out.
type Story struct {
	Name      string // in addresses: /scenario/NAME
	Title     string
	Revision  string  // of the file that it was read from
	Run       Address // the lab's address at tick 0
	Goal      Address // where one begins to bring about its goal; the zero Address: it has none
	Questions []Prediction
	Rests     []int // the ticks at which playing rests, ascending: something is said there, asked or decided
	// Come gives an address at another tick, with what the inspector shows when one comes there.
	Come func(a Address, tick int) Address
	// Tell adds the story to a page of the lab, and takes away what does not belong into it.
	Tell func(Frame, *view.Page)
}

// HasGoal says whether there is something to bring about.
func (s *Story) HasGoal() bool { return s.Goal.Lab != nil }

// Prediction is a question whose guess an address can have.
type Prediction struct {
	Name string
	Read func(raw string) (canonical, allowed string, ok bool)
}

// Guess is what was predicted.
type Guess struct{ Question, Answer string }

// The sites of scenarios.
const (
	storyPages  = "/scenario/"
	storyEmbeds = "/embed/scenario/"
)

// goalParam says that a run of one's own is to reach the goal of a scenario.
const goalParam = "goal"

// StartStory gives the address at which a scenario begins.
func StartStory(s *Story, site Site) Address {
	a := s.Run
	a.Site, a.Story = site, s
	a.spell()
	return a
}

// StartGoal gives the address at which one begins to bring about the goal of a scenario.
func StartGoal(s *Story, site Site) Address {
	a := s.Goal
	a.Site, a.Story, a.Trying = site, s, true
	a.spell()
	return a
}

// anyGoal is what an address that is after a goal is read from: it writes all of its run.
func anyGoal(s *Story, site Site) Address {
	a := Start(s.Run.Lab, site)
	a.Story, a.Trying = s, true
	a.spell()
	return a
}

// told says whether the address is that of a story as it is told: it says nothing of the run.
func (a *Address) told() bool { return a.Story != nil && !a.Trying }

// Path gives the path of the lab, or of the scenario that is told.
func (a Address) Path() string {
	switch {
	case a.Story == nil:
		return string(a.Site) + a.Lab.Name
	case a.Site == Embeds:
		return storyEmbeds + a.Story.Name
	}
	return storyPages + a.Story.Name
}

// start gives the address from which parameters are read: those that ask for the goal are of another run.
func (a Address) start(params []view.Param) Address {
	asks := slices.ContainsFunc(params, func(p view.Param) bool { return p.Name == goalParam })
	if asks && a.Story != nil && a.Story.HasGoal() {
		return anyGoal(a.Story, a.Site)
	}
	return a
}

// storyNames lists the parameters of a story as it is told, in canonical order.
func storyNames() []string {
	return []string{"v", "t", nextParam, "range", "horizon", "at", "why", "guess", goalParam, "pace", "theme", "size", "still", "chrome"}
}

// checkName refuses what a story as it is told has no parameter for.
func (a *Address) checkName(name string) error {
	if !a.told() || slices.Contains(storyNames(), name) {
		return nil
	}
	return refuse("a parameter", name, "allowed in a scenario are "+strings.Join(storyNames(), ", ")+"; another run is an address of the lab")
}

// tells says whether the address still has the run of its story.
func (a *Address) tells() bool {
	run := &a.Story.Run
	return a.Seed == run.Seed && a.Vs.Setting == run.Vs.Setting && a.Vs.Value == run.Vs.Value &&
		slices.Equal(a.Values.text, run.Values.text) && slices.Equal(texts(a.Do), texts(run.Do))
}

// PlayEnd is the tick at which playing from here ends: the next one at which its story rests, or the horizon.
func (a Address) PlayEnd() int {
	end := max(a.Horizon, a.T)
	if a.told() {
		for _, tick := range a.Story.Rests {
			if a.T < tick && tick < end {
				return tick
			}
		}
	}
	return end
}

// Played gives the address as playing shows it at a tick.
func (a Address) Played(tick int) Address {
	if a.told() {
		return a.Story.Come(a, tick)
	}
	return a.WithTick(tick)
}

// leave makes the address one of the lab.
func (a *Address) leave() { a.Story, a.Trying, a.Guesses = nil, false, nil }

// Fork gives the same frame as an address of the lab, with everything written out.
func (a Address) Fork() Address {
	a = a.own()
	a.leave()
	a.spell()
	return a
}

// Guess gives what was guessed, and whether anything was.
func (a Address) Guess(question string) (answer string, ok bool) {
	for _, g := range a.Guesses {
		if g.Question == question {
			return g.Answer, true
		}
	}
	return "", false
}

// WithGuess gives the same frame with a guess, which is canonical.
func (a Address) WithGuess(question, answer string) Address {
	a = a.WithoutGuess(question)
	a.Guesses = append(slices.Clip(a.Guesses), Guess{question, answer})
	a.sortGuesses()
	return a
}

// WithoutGuess gives the same frame without the guess at a question.
func (a Address) WithoutGuess(question string) Address {
	a.Guesses = slices.DeleteFunc(slices.Clone(a.Guesses), func(g Guess) bool { return g.Question == question })
	return a
}

// sortGuesses puts guesses in the order of the questions.
func (a *Address) sortGuesses() {
	place := func(g Guess) int {
		return slices.IndexFunc(a.Story.Questions, func(q Prediction) bool { return q.Name == g.Question })
	}
	slices.SortStableFunc(a.Guesses, func(g, h Guess) int { return place(g) - place(h) })
}

// setGuess takes "guess".
func (a *Address) setGuess(value string) error {
	question, answer, _ := strings.Cut(value, ":")
	var names []string
	for _, q := range a.Story.Questions {
		names = append(names, q.Name)
		if q.Name != question {
			continue
		}
		text, allowed, ok := q.Read(answer)
		if !ok {
			return refuse("guess", value, "of "+question+" "+allowed)
		}
		if _, twice := a.Guess(question); twice {
			return refuse("guess", value, "question "+question+" is guessed twice; once is allowed")
		}
		*a = a.WithGuess(question, text)
		return nil
	}
	if len(names) == 0 {
		return refuse("guess", value, "this scenario asks nothing")
	}
	return refuse("guess", value, "QUESTION:GUESS is allowed, where QUESTION is one of "+strings.Join(names, ", "))
}

// GuessForm asks for a guess that is typed in.
func GuessForm(a Address, id, question string, field view.Field, submit string) view.Form {
	field.Name = "guess"
	return view.Form{
		ID: id, Action: a.Path(), Submit: submit, Go: "replace", Fields: []view.Field{field},
		Hidden: append(a.WithoutGuess(question).Params(), view.Param{Name: "guess", Value: question + ":"}),
	}
}

// setStory takes a parameter that only a scenario has.
func (a *Address) setStory(name, value string) error {
	switch {
	case a.Story == nil:
		return &AddressError{"parameter " + strconv.Quote(name), "not known here", "allowed are " + strings.Join(a.names(), ", ") + "; only a scenario has a " + name}
	case name == "guess" && a.Trying:
		return refuse(name, value, "it is not allowed together with goal")
	case name == "guess":
		return a.setGuess(value)
	}
	return a.setGoal(value)
}

// setGoal takes "goal"; start has seen it already.
func (a *Address) setGoal(value string) error {
	if !a.Trying {
		return refuse(goalParam, value, "this scenario has no goal")
	}
	return setNumber(new(int), goalParam, value, 1, 1)
}

// storyParams gives what an address says of a story besides the frame.
func (a Address) storyParams() (params []view.Param) {
	for _, g := range a.Guesses {
		params = append(params, view.Param{Name: "guess", Value: fmt.Sprintf("%s:%s", g.Question, g.Answer)})
	}
	if a.Trying {
		params = append(params, view.Param{Name: goalParam, Value: "1"})
	}
	return params
}

// standardHorizon is where playing ends unless the address says otherwise.
func (a Address) standardHorizon() int {
	if a.told() {
		return a.Story.Run.Horizon
	}
	return a.Lab.Horizon
}
