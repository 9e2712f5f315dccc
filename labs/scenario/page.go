package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// story gives the scenario as addresses and pages have it.
func (s *Scenario) story() *labs.Story {
	story := &labs.Story{Name: s.Name, Title: s.Title, Revision: s.revision, Run: s.run, Goal: s.goal, Rests: s.rests, Come: s.to, Tell: s.tell}
	for _, q := range s.Questions {
		story.Questions = append(story.Questions, labs.Prediction{Name: q.Name, Read: q.read})
	}
	return story
}

// read takes a guess.
func (q Question) read(raw string) (text, allowed string, ok bool) {
	if q.Number != nil {
		return q.Number.read(raw)
	}
	var is []string
	for _, c := range q.Choices {
		if c.Is.Text == raw {
			return raw, "", true
		}
		is = append(is, c.Is.Text)
	}
	return "", "allowed are " + strings.Join(is, ", "), false
}

// read takes a number.
func (n Number) read(raw string) (text, allowed string, ok bool) {
	number, err := strconv.Atoi(raw)
	if err != nil || number < n.Min || number > n.Max {
		return "", fmt.Sprintf("a whole number from %d to %d is allowed", n.Min, n.Max), false
	}
	return strconv.Itoa(number), "", true
}

// text says what a canonical guess or answer means.
func (q Question) text(is string) string {
	if q.Number != nil {
		n, err := strconv.Atoi(is)
		if err != nil {
			return is
		}
		if q.Number.Unit == "" {
			return kafka.Thousands(n)
		}
		return kafka.Count(n, q.Number.Unit)
	}
	for _, c := range q.Choices {
		if c.Is.Text == is {
			return c.Text
		}
	}
	return is
}

// tell adds the story to a page of the lab. What stands in the way of the story is taken away: controls of the lab
// are one link away, where the same frame is a run of one's own.
func (s *Scenario) tell(f labs.Frame, p *view.Page) {
	a := f.Address
	o, err := s.Outcome()
	if err != nil {
		panic(fmt.Sprintf("scenario %s cannot run: %v", s.Name, err)) // the run has come to this tick already
	}
	p.Title, p.Ready = s.Title, nil
	t := &view.Story{Trying: a.Trying, Goal: s.goalOf(f)}
	p.Story = t
	t.Fork = view.Link{ID: "fork", Text: "Open in the lab from here", Label: "Open in the lab from here: the same tick, with every control", Href: a.Fork().String(), Go: "push"}
	if a.Trying {
		p.Progress.Goal = s.goalProgress(a, t.Goal)
		return
	}
	p.Goal, p.Rests = s.Summary, slices.Contains(s.rests, a.T)
	p.Settings, p.Actions, p.Transport.Next = nil, view.Actions{}, view.Link{}
	p.Transport.Step.Primary = false // the next stop is
	p.Transport.Marks = s.marks(a, p.Transport.Marks)
	t.Said = paragraphs(o.Said[s.saidAt(a.T)])
	t.Parts = s.partLinks(a)
	t.Ask = s.ask(a, o)
	t.Where, t.Back, t.On = s.stopLinks(a)
	p.Progress.Stop, p.Progress.Stops = s.stopsPassed(a)
	p.Progress.Question = s.questionProgress(a, o)
	if s.lesson != "" {
		t.Lesson = view.Link{Text: s.lesson, Href: "/lesson/" + s.Lesson}
	}
	for i, slug := range s.Terms {
		t.Terms = append(t.Terms, view.Link{Text: s.titles[i], Href: "/glossary/" + slug})
	}
}

// saidAt gives the index of what is said at a tick: the last that was.
func (s *Scenario) saidAt(tick int) int {
	at := 0
	for i, said := range s.Say {
		if said.At <= tick {
			at = i
		}
	}
	return at
}

// paragraphs splits a text at empty lines.
func paragraphs(text string) (list []string) {
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			list = append(list, p)
		}
	}
	return list
}

// partLinks leads to the first tick of each part.
func (s *Scenario) partLinks(a labs.Address) (list []view.Link) {
	for i, part := range s.Parts {
		l := labs.Replace(fmt.Sprintf("part-%d", i), part.Name, s.to(a, part.From))
		l.Label = fmt.Sprintf("%s: ticks %d to %d", part.Name, part.From, part.To)
		l.Current = part.From <= a.T && a.T <= part.To
		list = append(list, l)
	}
	return list
}

// stopLinks leads to the stops before and after the tick shown.
func (s *Scenario) stopLinks(a labs.Address) (where string, back, on view.Link) {
	stops := s.stopsShown(a)
	before, after := a.T, a.T
	for _, stop := range stops {
		switch {
		case stop < a.T:
			before = stop
		case stop > a.T && after == a.T:
			after = stop
		}
	}
	passed, all := s.stopsPassed(a)
	where = fmt.Sprintf("Stop %d of %d", passed, all)
	if !slices.Contains(stops, a.T) {
		where = "After stop" + strings.TrimPrefix(where, "Stop")
	}
	back, on = labs.Replace("stop-back", "Previous stop", s.to(a, before)), labs.Replace("stop-on", "Next stop", s.to(a, after))
	back.Label, back.Key, back.Inactive = fmt.Sprintf("Previous stop, tick %d", before), "p", before == a.T
	on.Label, on.Key, on.Inactive, on.Primary = fmt.Sprintf("Next stop, tick %d", after), "n", after == a.T, true
	if back.Inactive {
		back.Label = "Previous stop: this is the first"
	}
	if on.Inactive {
		on.Label = "Next stop: this is the last"
	}
	return where, back, on
}

// stopsShown gives the stops that an address lets be shown.
func (s *Scenario) stopsShown(a labs.Address) []int {
	return slices.DeleteFunc(slices.Clone(s.stops), func(t int) bool { return t < a.First() || t > a.Last() })
}

// stopsPassed counts the stops up to the tick shown, and all.
func (s *Scenario) stopsPassed(a labs.Address) (passed, all int) {
	stops := s.stopsShown(a)
	for _, stop := range stops {
		if stop <= a.T {
			passed++
		}
	}
	return passed, len(stops)
}

// to gives an address at another tick, with what the inspector is to show there. What the reader has opened stays open,
// what the story has opened does not.
func (s *Scenario) to(a labs.Address, tick int) labs.Address {
	to := a.WithTick(tick)
	for i, said := range s.Say {
		if said.Show == "" {
			continue
		}
		shown := s.shows[i]
		switch {
		case said.At == to.T:
			to = to.WithTarget(shown.own)
			to.Vs.At = shown.twin
			return to
		case to.At == shown.own && to.Vs.At == shown.twin:
			to = to.WithTarget(labs.Target{})
		}
	}
	return to
}

// marks are those of the lab; they lead to stops.
func (s *Scenario) marks(a labs.Address, marks []view.Mark) []view.Mark {
	for i := range marks {
		marks[i].Link.Href = s.to(a, marks[i].Tick).String()
	}
	return marks
}

// askedLast gives the index of the question that was asked last at a tick, -1 for none.
func (s *Scenario) askedLast(tick int) int {
	at := -1
	for i, q := range s.Questions {
		if q.At <= tick {
			at = i
		}
	}
	return at
}

// questionProgress says what has come of the question that was asked last; nil: none was.
func (s *Scenario) questionProgress(a labs.Address, o *Outcome) *view.QuestionProgress {
	at := s.askedLast(a.T)
	if at < 0 {
		return nil
	}
	q := s.Questions[at]
	guess, guessed := a.Guess(q.Name)
	decided := a.T >= q.Decided
	return &view.QuestionProgress{Name: q.Name, Guess: guess, Decided: decided, Right: decided && guessed && guess == o.Answers[at]}
}

// goalProgress says how near a run of one's own is to the goal that is shown with it.
func (s *Scenario) goalProgress(a labs.Address, g *view.Goal) *view.GoalProgress {
	return &view.GoalProgress{Reached: g.Reached, Commands: given(a), Fewest: s.Goal.Fewest}
}

// given counts the commands of an address up to the tick shown.
func given(a labs.Address) (n int) {
	for _, do := range a.Do {
		if do.Tick <= a.T {
			n++
		}
	}
	return n
}

// ask gives the question that was asked last.
func (s *Scenario) ask(a labs.Address, o *Outcome) *view.Ask {
	at := s.askedLast(a.T)
	if at < 0 {
		return nil
	}
	q := s.Questions[at]
	guess, guessed := a.Guess(q.Name)
	ask := &view.Ask{ID: "ask-" + q.Name, Name: q.Name, Text: q.Ask}
	if a.T >= q.Decided {
		if guessed {
			ask.Guessed = q.text(guess)
		}
		ask.Happened, ask.Same, ask.Because = q.text(o.Answers[at]), guessed && guess == o.Answers[at], paragraphs(o.Because[at])
		return ask
	}
	ask.Note = fmt.Sprintf("It is decided at tick %d. Guess, or just go on.", q.Decided)
	if guessed {
		ask.Note = fmt.Sprintf("You guess: %s. It is decided at tick %d.", q.text(guess), q.Decided)
	}
	for i, c := range q.Choices {
		l := labs.Replace(fmt.Sprintf("%s-%d", ask.ID, i+1), c.Text, a.WithGuess(q.Name, c.Is.Text))
		l.Key, l.Current = strconv.Itoa(i+1), guessed && guess == c.Is.Text
		ask.Choices = append(ask.Choices, l)
	}
	if q.Number != nil {
		label := "Which number?"
		if q.Number.Unit != "" {
			label = "How many " + kafka.Plural(q.Number.Unit) + "?"
		}
		field := view.Field{ID: ask.ID + "-number", Label: label, Kind: view.Number, Value: guess, Min: q.Number.Min, Max: q.Number.Max}
		form := labs.GuessForm(a, ask.ID+"-form", q.Name, field, "Guess")
		ask.Form = &form
	}
	return ask
}

// goalOf shows the goal once the story is at its end, and while one is after it.
func (s *Scenario) goalOf(f labs.Frame) *view.Goal {
	a := f.Address
	switch {
	case s.Goal == nil, !a.Trying && a.T < s.stops[len(s.stops)-1]:
		return nil
	case !a.Trying:
		to := labs.StartGoal(s.Story, a.Site).WithTheme(a.Theme).WithSize(a.Size)
		return &view.Goal{Text: s.Goal.Text, Link: view.Link{ID: "try", Text: "Bring it about yourself", Href: to.String(), Go: "push"}}
	}
	back := labs.StartStory(s.Story, a.Site).WithTheme(a.Theme).WithSize(a.Size)
	g := &view.Goal{Text: s.Goal.Text, Hint: s.Goal.Hint, Link: view.Link{ID: "to-story", Text: "Back to the story", Href: back.String(), Go: "push"}}
	if state, err := stateOf(a, f.Cluster); err == nil {
		g.Reached, _ = s.Goal.Reached.Holds(state) // an error names what this run does not have: it is not reached
	}
	commands := kafka.Count(given(a), "command")
	g.State = fmt.Sprintf("Not reached at tick %d, with %s so far.", a.T, commands)
	if g.Reached {
		g.State = fmt.Sprintf("Reached at tick %d, with %s. The fewest known: %d.", a.T, commands, s.Goal.Fewest)
	}
	return g
}
