package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loglab/engine/command"
	"loglab/labs"
)

// Outcome is what the engine answers along a scenario.
type Outcome struct {
	Answers  []string // of each question, as what a choice is or a number
	Because  []string // of each question, why
	Said     []string // of each text
	Problems []Late   // what does not hold
}

// Late is something wrong that shows only when the scenario runs.
type Late struct {
	Line int
	Text string
}

// playBytes is the memory of the cache of one run; a run that needs more replays a little more.
const playBytes = 16 << 20

// Outcome gives what the engine answers. The scenario runs once.
func (s *Scenario) Outcome() (*Outcome, error) { return s.outcome() }

// Check runs the scenario and the solution of its goal. The error is a [Problems], or that of a run that met a bound.
func (s *Scenario) Check(file string) error {
	o, err := s.Outcome()
	if err != nil {
		return Problems{{file, s.Line, fmt.Sprintf("it cannot run: %v", err)}}
	}
	late := slices.Clone(o.Problems)
	if s.Goal != nil {
		late = append(late, s.checkGoal()...)
	}
	var list Problems
	for _, l := range late {
		list = append(list, Problem{file, l.Line, l.Text})
	}
	if len(list) > 0 {
		return list
	}
	return nil
}

// player asks a run at ascending ticks.
type player struct {
	runs    *labs.Runs
	address labs.Address
	state   *State // at the tick asked last; nil: none was
}

// at gives the state at a tick.
func (p *player) at(tick int) (*State, error) {
	if p.state != nil && p.state.Tick == tick {
		return p.state, nil
	}
	var err error
	p.state, err = StateAt(context.Background(), p.runs, p.address.WithTick(tick))
	return p.state, err
}

// play runs the scenario and asks everything.
func (s *Scenario) play() (*Outcome, error) {
	o := &Outcome{Answers: make([]string, len(s.Questions)), Because: make([]string, len(s.Questions)), Said: make([]string, len(s.Say))}
	p := &player{runs: labs.NewRuns(playBytes), address: s.run}
	late := func(line int, err error) { o.Problems = append(o.Problems, Late{line, err.Error()}) }
	for _, tick := range s.asked() {
		state, err := p.at(tick)
		if err != nil {
			return nil, err
		}
		for i, said := range s.Say {
			if said.At == tick {
				if o.Said[i], err = said.Text.filled(state); err != nil {
					late(said.Line, err)
				}
			}
		}
		for i, q := range s.Questions {
			if q.Decided == tick {
				if err := s.answer(o, i, state); err != nil {
					late(q.Answer.Line, err)
				}
			}
		}
		for _, e := range s.Expect {
			if e.At != tick {
				continue
			}
			switch holds, err := e.That.Holds(state); {
			case err != nil:
				late(e.That.Line, err)
			case !holds:
				late(e.That.Line, fmt.Errorf("at tick %d this does not hold: %s", tick, e.That.Text))
			}
		}
	}
	return o, nil
}

// asked gives the ticks at which something is asked, ascending. The last tick is among them, so that a run that meets
// a bound is found out.
func (s *Scenario) asked() []int {
	ticks := []int{s.End}
	for _, said := range s.Say {
		ticks = append(ticks, said.At)
	}
	for _, q := range s.Questions {
		ticks = append(ticks, q.Decided)
	}
	for _, e := range s.Expect {
		ticks = append(ticks, e.At)
	}
	slices.Sort(ticks)
	return slices.Compact(ticks)
}

// answer asks a question at its deciding tick.
func (s *Scenario) answer(o *Outcome, i int, state *State) error {
	q := s.Questions[i]
	text, err := q.Answer.Plain(state)
	if err != nil {
		return err
	}
	o.Answers[i] = text
	switch {
	case q.Number != nil:
		if _, allowed, ok := q.Number.read(text); !ok {
			return fmt.Errorf("the answer is %s at tick %d: %s", shown(text), state.Tick, allowed)
		}
	case !slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Is.Text == text }):
		var is []string
		for _, c := range q.Choices {
			is = append(is, c.Is.Text)
		}
		return fmt.Errorf("the answer is %s at tick %d, and no choice is that: they are %s", shown(text), state.Tick, strings.Join(is, ", "))
	}
	o.Because[i], err = q.Because.filled(state)
	return err
}

// filled gives a text with what the engine answers in its places.
func (t Text) filled(s *State) (string, error) {
	var b strings.Builder
	for _, part := range t.Parts {
		b.WriteString(part.Words)
		if part.Ask == nil {
			continue
		}
		text, err := part.Ask.Plain(s)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// checkGoal runs the solution of the goal: it is reached at its tick and not before the first command.
func (s *Scenario) checkGoal() (late []Late) {
	g := s.Goal
	a := s.goal
	for _, one := range g.Solution {
		do, err := command.Parse(one.Do)
		if err != nil {
			return []Late{{one.Line, err.Error()}} // Parse has taken it
		}
		a = a.WithTick(one.At).WithCommand(do, true)
	}
	p := &player{runs: labs.NewRuns(playBytes), address: s.goal}
	for _, run := range []struct {
		address labs.Address
		want    bool
		text    string
	}{
		{s.goal, false, "the goal is reached at tick %d without any command"},
		{a, true, "the solution has not reached the goal at tick %d"},
	} {
		p.address, p.state = run.address, nil
		state, err := p.at(g.Within)
		if err != nil {
			return append(late, Late{g.Line, err.Error()})
		}
		reached, err := g.Reached.Holds(state)
		if err != nil {
			return append(late, Late{g.Reached.Line, err.Error()})
		}
		if reached != run.want {
			late = append(late, Late{g.Reached.Line, fmt.Sprintf(run.text, g.Within)})
		}
	}
	return late
}
