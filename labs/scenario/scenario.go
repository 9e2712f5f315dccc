package scenario

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// Scenario is one that can be shown. It is made once, by [Parse], and only read.
type Scenario struct {
	File
	Name     string       // in addresses
	Story    *labs.Story  // as addresses and pages have it
	revision string       // of its text
	run      labs.Address // the lab's own address of it, at tick 0
	goal     labs.Address // where its goal begins; without a goal the zero Address
	stops    []int        // ticks, ascending
	rests    []int        // those of them at which playing rests
	titles   []string     // of the terms
	lesson   string       // the title of the lesson
	shows    []target     // by index in Say: what the inspector shows

	// outcome runs it once, when a page first needs an answer.
	outcome func() (*Outcome, error)
}

// target is what the inspector shows of either run.
type target struct{ own, twin labs.Target }

// Known is what a scenario can refer to.
type Known struct {
	Labs []*labs.Lab
	Term func(slug string) (title string, ok bool) // of the glossary; nil: terms are not looked at

	Lesson func(slug string) (title string, ok bool) // nil: lessons are not looked at
}

// nameForm is the form of names in addresses.
var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const nameAllowed = "small letters, digits and single hyphens are allowed"

// Name gives the name of the scenario in a file of that base name; ok is false where it is none.
func Name(base string) (name string, ok bool) {
	name, yaml := strings.CutSuffix(base, ".yaml")
	const most = 60
	return name, yaml && len(name) <= most && nameForm.MatchString(name)
}

// Parse reads a scenario out of a file of that name, "content/scenarios/acks-one.yaml". The error is a [Problems] with
// all that is wrong. It looks at everything but at what the engine answers: see [Scenario.Check].
func Parse(file string, source []byte, known Known) (*Scenario, error) {
	d := &decoder{name: file}
	base := file[strings.LastIndexByte(file, '/')+1:]
	name, ok := Name(base)
	if !ok {
		d.refuse(1, "the file is named %s: NAME.yaml is allowed, where in NAME %s", shown(base), nameAllowed)
	}
	sum := sha256.Sum256(source)
	s := &Scenario{File: d.decode(source), Name: name, revision: hex.EncodeToString(sum[:8])}
	if len(d.problems) == 0 {
		c := &checker{decoder: d, Scenario: s}
		c.check(known)
	}
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
		return nil, d.problems
	}
	s.stops, s.rests = stopsOf(&s.File), restsOf(&s.File)
	s.outcome = sync.OnceValues(s.play)
	s.Story = s.story()
	return s, nil
}

// checker looks at what a file says once it is read.
type checker struct {
	*decoder
	*Scenario
	lab *labs.Lab
}

func (c *checker) check(known Known) {
	for _, slug := range c.Terms {
		title, ok := strings.ReplaceAll(slug, "-", " "), true
		if known.Term != nil {
			title, ok = known.Term(slug)
		}
		if !ok {
			c.refuse(c.File.Line, "terms has %s: the glossary has no such term", shown(slug))
		}
		c.titles = append(c.titles, title)
	}
	c.checkLesson(known)
	at := slices.IndexFunc(known.Labs, func(l *labs.Lab) bool { return l.Name == c.Lab })
	if at < 0 {
		var names []string
		for _, l := range known.Labs {
			names = append(names, l.Name)
		}
		c.refuse(c.File.Line, "lab is %s: allowed are %s", shown(c.Lab), strings.Join(names, ", "))
		return
	}
	c.lab = known.Labs[at]
	c.checkOrder()
	c.checkQuestions()
	c.makeRun()
	c.makeGoal()
	if len(c.problems) == 0 {
		c.checkShown()
	}
}

// lessonOf gives the lesson of the scenarios under a heading.
var lessonOf = map[string]string{
	"partitions and keys": "partitions", "groups": "groups", "offsets and crashes": "offsets", "replay": "offsets",
	"replication": "replication", "storage": "retention", "delivery": "delivery",
}

// checkLesson finds the lesson that a file names, or else that of its heading.
func (c *checker) checkLesson(known Known) {
	if known.Lesson == nil {
		return
	}
	named := c.Lesson != ""
	slug := cmp.Or(c.Lesson, lessonOf[c.Group])
	title, ok := known.Lesson(slug)
	if !ok && named {
		c.refuse(c.File.Line, "lesson is %s: there is no such lesson", shown(slug))
	}
	if ok {
		c.Lesson, c.lesson = slug, title
	}
}

// Stops is how many ticks there are at which something is said, asked, decided or done.
func (s *Scenario) Stops() int { return len(s.stops) }

// StopTicks gives those ticks, ascending.
func (s *Scenario) StopTicks() []int { return slices.Clone(s.stops) }

// stopsOf gives the ticks at which there is a command or something is said, asked or decided.
func stopsOf(f *File) []int {
	list := append(restsOf(f), 0, f.End)
	for _, c := range f.Commands {
		list = append(list, c.At)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// restsOf gives the ticks at which something is said, asked or decided: there playing rests, so that it can be read.
func restsOf(f *File) (list []int) {
	for _, s := range f.Say {
		list = append(list, s.At)
	}
	for _, q := range f.Questions {
		list = append(list, q.At, q.Decided)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// checkOrder holds all ticks to ascend and to lie within the story.
func (c *checker) checkOrder() {
	ascending := func(what string, line, tick int, last *int) {
		switch {
		case tick > c.End:
			c.refuse(line, "%s is at tick %d: at most %d is allowed, the end of the story", what, tick, c.End)
		case tick < *last:
			c.refuse(line, "%s at tick %d stands after one at tick %d: ticks ascend", what, tick, *last)
		}
		*last = max(*last, tick)
	}
	last := 0
	for _, command := range c.Commands {
		ascending("a command", command.Line, command.At, &last)
	}
	last = 0
	for i, s := range c.Say {
		ascending("something said", s.Line, s.At, &last)
		if i == 0 && s.At != 0 {
			c.refuse(s.Line, "the first thing is said at tick %d: 0 is allowed, since a story begins there", s.At)
		}
		if i > 0 && c.Say[i-1].At == s.At {
			c.refuse(s.Line, "something else is said at tick %d already: one text a tick is allowed", s.At)
		}
	}
	last = 0
	for _, p := range c.Parts {
		ascending("a part", p.Line, p.From, &last)
		ascending("the end of a part", p.Line, p.To, &last)
	}
	last = 0
	decided := -1
	for _, q := range c.Questions {
		ascending("a question", q.Line, q.At, &last)
		if q.At == decided {
			c.refuse(q.Line, "question %s is asked at tick %d, at which the one before is decided: a later tick is allowed, so that its answer can be read", q.Name, q.At)
		}
		decided = q.Decided
		if q.Decided <= q.At {
			c.refuse(q.Line, "question %s is decided at tick %d: a tick after %d is allowed, at which it is asked", q.Name, q.Decided, q.At)
		}
		last = q.Decided
		if q.Decided > c.End {
			c.refuse(q.Line, "question %s is decided at tick %d: at most %d is allowed, the end of the story", q.Name, q.Decided, c.End)
		}
	}
	last = 0
	for _, e := range c.Expect {
		ascending("an expectation", e.Line, e.At, &last)
	}
}

// checkQuestions looks at names, choices and numbers.
func (c *checker) checkQuestions() {
	isForm := regexp.MustCompile(`^[a-z0-9.-]+$`)
	for i, q := range c.Questions {
		if !nameForm.MatchString(q.Name) {
			c.refuse(q.Line, "the name of a question is %s: %s", shown(q.Name), nameAllowed)
		}
		if slices.ContainsFunc(c.Questions[:i], func(p Question) bool { return p.Name == q.Name }) {
			c.refuse(q.Line, "two questions are named %s: each has a name of its own", q.Name)
		}
		switch {
		case q.Number != nil && len(q.Choices) > 0, q.Number == nil && len(q.Choices) < 2:
			c.refuse(q.Line, "question %s has %d choices and a number or none: either two to six choices or a number is allowed", q.Name, len(q.Choices))
		case q.Number != nil && q.Number.Max <= q.Number.Min:
			c.refuse(q.Number.Line, "max is %d: a number above min = %d is allowed", q.Number.Max, q.Number.Min)
		}
		for j, choice := range q.Choices {
			if !isForm.MatchString(choice.Is.Text) {
				c.refuse(choice.Line, "is has %s: small letters, digits, points and hyphens are allowed", shown(choice.Is.Text))
			}
			if slices.ContainsFunc(q.Choices[:j], func(other Choice) bool { return other.Is.Text == choice.Is.Text }) {
				c.refuse(choice.Line, "two choices are %s: each is something else", shown(choice.Is.Text))
			}
		}
	}
}

// checkShown looks at what the inspector is to show.
func (c *checker) checkShown() {
	c.shows = make([]target, len(c.Say))
	for i, s := range c.Say {
		if s.Show == "" {
			continue
		}
		a, err := labs.Heads(nil).ParseFrom(c.run, "at="+url.QueryEscape(s.Show))
		if err != nil {
			c.refuse(s.Line, "show is %s: %s", shown(s.Show), allowedBy(err))
		}
		c.shows[i] = target{a.At, a.Vs.At}
	}
}

// allowedBy gives what an error of an address says is allowed.
func allowedBy(err error) string {
	var address *labs.AddressError
	if errors.As(err, &address) {
		return address.Allowed
	}
	return err.Error()
}

// makeRun makes the lab's address of the scenario.
func (c *checker) makeRun() {
	params := c.settings(c.Settings)
	params = append(params, c.commands(c.Commands)...)
	if c.Seed > 0 {
		params = append(params, view.Param{Name: "seed", Value: strconv.Itoa(c.Seed)})
	}
	params = append(params, view.Param{Name: "horizon", Value: strconv.Itoa(c.End)})
	for name, value := range c.Vs {
		vs := view.Param{Name: "vs", Value: name + ":" + value.Text}
		if c.knows(name, value.Line) && c.read(value.Line, vs) {
			params = append(params, vs)
		}
	}
	if len(c.problems) > 0 {
		return
	}
	c.run = c.address(c.File.Line, params)
	if len(c.Vs) > 0 && !c.run.HasTwin() && len(c.problems) == 0 {
		c.refuse(c.File.Line, "vs has the value that the run has itself: another one is allowed")
	}
}

// makeGoal makes the address at which a goal begins.
func (c *checker) makeGoal() {
	g := c.Goal
	if g == nil {
		return
	}
	settings := g.Settings
	if settings == nil {
		settings = c.Settings
	}
	params := append(c.settings(settings), view.Param{Name: "horizon", Value: strconv.Itoa(c.End)})
	if c.Seed > 0 {
		params = append(params, view.Param{Name: "seed", Value: strconv.Itoa(c.Seed)})
	}
	c.commands(g.Solution)
	if len(g.Solution) != g.Fewest {
		c.refuse(g.Line, "fewest is %d, and the solution has %s: as many are allowed as the solution has", g.Fewest, kafka.Count(len(g.Solution), "command"))
	}
	for i, command := range g.Solution {
		if command.At > g.Within || i > 0 && command.At < g.Solution[i-1].At {
			c.refuse(command.Line, "a command of the solution is at tick %d: ticks ascend up to within = %d", command.At, g.Within)
		}
	}
	if len(c.problems) == 0 {
		c.goal = c.address(g.Line, params)
	}
}

// settings gives settings in the order of the lab, each looked at.
func (c *checker) settings(values map[string]Scalar) (params []view.Param) {
	for name, value := range values {
		c.knows(name, value.Line)
	}
	for _, s := range c.lab.Settings {
		value, has := values[s.Name]
		if p := (view.Param{Name: s.Name, Value: value.Text}); has && c.read(value.Line, p) {
			params = append(params, p)
		}
	}
	return params
}

// knows says whether the lab has a setting of that name.
func (c *checker) knows(name string, line int) bool {
	if slices.Contains(labs.NamesOf(c.lab.Settings), name) {
		return true
	}
	c.refuse(line, "the lab %s has no setting %s: allowed are %s", c.lab.Name, shown(name), strings.Join(labs.NamesOf(c.lab.Settings), ", "))
	return false
}

// commands gives commands as an address has them, each looked at.
func (c *checker) commands(list []Command) (params []view.Param) {
	for _, command := range list {
		p := view.Param{Name: "do", Value: fmt.Sprintf("%d:%s", command.At, command.Do)}
		if c.read(command.Line, p) {
			params = append(params, p)
		}
	}
	return params
}

// read looks at one parameter by itself.
func (c *checker) read(line int, p view.Param) bool {
	_, err := labs.Heads(nil).Read(c.lab, labs.Pages, []view.Param{p})
	if err == nil {
		return true
	}
	what := p.Name + " is " + shown(p.Value) + ": "
	if p.Name == "do" {
		what = "" // the error names the command
	}
	c.refuse(line, "%s%s", what, allowedBy(err))
	return false
}

// address makes an address of parameters that are right by themselves, and sees whether the lab takes them together.
func (c *checker) address(line int, params []view.Param) labs.Address {
	a, err := labs.Heads(nil).Read(c.lab, labs.Pages, params)
	if err == nil && a.TooLong() {
		err = errors.New("settings and commands are too long for an address")
	}
	if err == nil {
		_, err = c.lab.Spec(a.Values)
	}
	if err != nil {
		c.refuse(line, "the lab does not take these settings: %v", err)
	}
	return a
}
