package scenario_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"loglab/labs"
	"loglab/labs/scenario"
	"loglab/labs/view"
)

// told is the scenario of good.
func told(t testing.TB) *labs.Story {
	t.Helper()
	s, err := scenario.Parse("good.yaml", []byte(good), known(t))
	if err != nil {
		t.Fatal(err)
	}
	return s.Story
}

// address reads a query of the scenario.
func address(t testing.TB, story *labs.Story, query string) labs.Address {
	t.Helper()
	a, err := labs.Heads(nil).ParseFrom(labs.StartStory(story, labs.Pages), query)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func page(t testing.TB, a labs.Address) *view.Page {
	t.Helper()
	p, err := labs.NewRuns(64<<20).Page(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An address of a scenario has one spelling, says nothing of the run, and is read back as itself.
func TestAddresses(t *testing.T) {
	story := told(t)
	for query, want := range map[string]string{
		"":                              "/scenario/good?v=1",
		"t=5&v=1":                       "/scenario/good?v=1&t=5",
		"t=5&guess=count:2&guess=who:1": "/scenario/good?v=1&t=5&guess=who:1&guess=count:2",
		"guess=count:&guess=02":         "/scenario/good?v=1&guess=count:2",
		"at=node:b1&theme=dark":         "/scenario/good?v=1&at=node:b1&theme=dark",
		"at=vs:node:b1":                 "/scenario/good?v=1&at=vs:node:b1",
	} {
		if got := address(t, story, query).String(); got != want {
			t.Errorf("%q is %s, want %s", query, got, want)
		}
		_, again, _ := strings.Cut(want, "?")
		if got := address(t, story, again).String(); got != want {
			t.Errorf("%q is read back as %s", again, got)
		}
	}
	if got := labs.StartStory(story, labs.Embeds).String(); got != "/embed/scenario/good?v=1" {
		t.Errorf("it begins at %s in a frame", got)
	}
	goal := labs.StartGoal(story, labs.Pages)
	if got, want := goal.String(), "/scenario/good?v=1&acks=1&rate=0&horizon=20&goal=1"; got != want {
		t.Errorf("its goal begins at %s, want %s", got, want)
	}
	if got := address(t, story, goal.Query()).String(); got != goal.String() {
		t.Errorf("that is read back as %s", got)
	}
}

// What a scenario's address cannot have is named, with what is allowed.
func TestBadAddresses(t *testing.T) {
	story := told(t)
	for query, says := range map[string]string{
		"acks=1": "another run is an address of the lab", "do=4:kill+b1": "another run", "vs=acks:1": "another run", "from=x": "another run", "colour=red": "colour",
		"guess=who:3": "allowed are 1, 2", "guess=what:1": "one of who, count", "guess=count:4": "0 to 3", "guess=count:x": "0 to 3", "guess=who:1&guess=who:2": "twice",
		"goal=2": "goal", "goal=1&guess=who:1": "not allowed together", "t=9999": "0 to 5000",
	} {
		_, err := labs.Heads(nil).ParseFrom(labs.StartStory(story, labs.Pages), query)
		var wrong *labs.AddressError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q gives %v, which does not say %q", query, err, says)
		}
	}
	if _, err := labs.Parse(story.Run.Lab, labs.Pages, "guess=who:1"); err == nil || !strings.Contains(err.Error(), "only a scenario") {
		t.Errorf("a lab with a guess: %v", err)
	}
}

// Whoever acts leaves the story for the lab, with everything written out; the frame is the same.
func TestFork(t *testing.T) {
	a := address(t, told(t), "t=5&guess=who:1")
	fork := a.Fork()
	const want = "/lab/replication?v=1&acks=1&rate=0&do=2:produce+p0&do=5:kill+b1&t=5&horizon=20&vs=acks:all"
	if got := fork.String(); got != want {
		t.Errorf("the fork is %s, want %s", got, want)
	}
	for name, to := range map[string]labs.Address{"a setting": a.WithValue("rate", "1"), "one run": a.Alone(), "another seed": a.WithSeed(7), "a command less": a.WithoutCommand(0)} {
		if !strings.HasPrefix(to.String(), "/lab/replication?v=1&") {
			t.Errorf("with %s it is %s", name, to)
		}
	}
	p, q := page(t, a), page(t, fork)
	if p.Change != q.Change || len(p.Events.Lines) != len(q.Events.Lines) {
		t.Errorf("the story shows %q, the lab %q", p.Change, q.Change)
	}
	if p.Story == nil || q.Story != nil || len(p.Settings) > 0 || len(q.Settings) == 0 {
		t.Error("the controls of the lab are not in the lab alone")
	}
}

// A question is asked at its tick and no sooner, stays open until it is decided, and then stands beside what happened.
func TestQuestion(t *testing.T) {
	story := told(t)
	ask := func(query string) view.Ask {
		if a := page(t, address(t, story, query)).Story.Ask; a != nil {
			return *a
		}
		return view.Ask{}
	}
	if got := ask("t=4").Text; got != "" {
		t.Errorf("at tick 4 it asks %q", got)
	}
	open := ask("t=5")
	if len(open.Choices) != 2 || open.Choices[1].Href != "/scenario/good?v=1&t=5&guess=who:2" || open.Happened != "" {
		t.Errorf("at tick 5 it asks %+v", open)
	}
	if guessed := ask("t=8&guess=who:2"); !guessed.Choices[1].Current || guessed.Choices[0].Current || !strings.Contains(guessed.Note, "You guess: b2") || guessed.Happened != "" {
		t.Errorf("once guessed it is %+v", guessed)
	}
	for query, want := range map[string][2]string{"t=20": {"", "2 brokers"}, "t=11&guess=count:2": {"2 brokers", "2 brokers"}, "t=9&guess=who:2": {"b2", "still b1"}, "t=11&guess=count:0": {"0 brokers", "2 brokers"}} {
		got := ask(query)
		if got.Guessed != want[0] || got.Happened != want[1] || got.Same != (want[0] == want[1]) || len(got.Choices) > 0 || got.Form != nil {
			t.Errorf("%s answers %+v", query, got)
		}
	}
	if form := ask("t=10&guess=who:1").Form; form == nil || len(form.Hidden) != 4 || form.Hidden[2].Value != "who:1" || form.Hidden[3].Value != "count:" {
		t.Errorf("a number is asked for by %+v", form)
	}
}

// Stops lead to each other, and open what the story shows there; what a reader has opened stays open.
func TestStops(t *testing.T) {
	story := told(t)
	stops := []string{"", "&t=2", "&t=5&at=node:b1", "&t=9", "&t=10", "&t=11", "&t=20"}
	a := address(t, story, "")
	for i, want := range stops {
		p := page(t, a)
		if p.Address != "/scenario/good?v=1"+want {
			t.Fatalf("stop %d is %s, want %s", i+1, p.Address, want)
		}
		if last := i == len(stops)-1; p.Story.On.Inactive != last || p.Story.Back.Inactive != (i == 0) {
			t.Errorf("stop %d: on %+v, back %+v", i+1, p.Story.On, p.Story.Back)
		}
		_, query, _ := strings.Cut(p.Story.On.Href, "?")
		a = address(t, story, query)
	}
	if p := page(t, address(t, story, "t=9&at=node:b3")); !strings.Contains(p.Story.On.Href, "at=node:b3") || p.Story.Where != "Stop 4 of 7" {
		t.Errorf("%s: on leads to %s", p.Story.Where, p.Story.On.Href)
	}
	if p := page(t, address(t, story, "t=7")); p.Story.Where != "After stop 3 of 7" || p.Story.Back.Href != "/scenario/good?v=1&t=5&at=node:b1" {
		t.Errorf("%s: back leads to %s", p.Story.Where, p.Story.Back.Href)
	}
	if p := page(t, address(t, story, "t=9&range=5..9")); p.Story.Where != "Stop 2 of 2" || !p.Story.On.Inactive {
		t.Errorf("in a range: %s, on %+v", p.Story.Where, p.Story.On)
	}
}

// The goal is offered at the end, and says when a run of one's own has reached it.
func TestGoal(t *testing.T) {
	story := told(t)
	if page(t, address(t, story, "t=19")).Story.Goal != nil {
		t.Error("the goal is offered before the end")
	}
	try := page(t, address(t, story, "t=20")).Story.Goal
	if try == nil || try.Link.Href != labs.StartGoal(story, labs.Pages).String() {
		t.Fatalf("the goal is %+v", try)
	}
	for query, want := range map[string]string{
		"goal=1&t=9":                                "Not reached at tick 9, with 0 commands so far.",
		"goal=1&do=1:kill+b2&t=9":                   "Reached at tick 9, with 1 command. The fewest known: 1.",
		"goal=1&do=1:kill+b3&do=2:kill+b2&t=1":      "Not reached at tick 1, with 1 command so far.",
		"goal=1&brokers=1&rf=1&do=1:produce+p0&t=9": "Not reached at tick 9, with 1 command so far.", // there is no b2
	} {
		p := page(t, address(t, story, query))
		if got := p.Story.Goal.State; got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		if len(p.Settings) == 0 || !strings.HasPrefix(p.Settings[0].Action, "/scenario/good") {
			t.Error("it lacks the controls of the lab")
		}
		for _, l := range p.Actions.Links {
			if !strings.HasPrefix(l.Href, "/scenario/good?v=1&") || !strings.Contains(l.Href, "goal=1") {
				t.Errorf("%s leads away from the goal: %s", l.Text, l.Href)
			}
		}
	}
}

// A scenario leads to the lesson that it names, or else to that of its heading, where there is one.
func TestLesson(t *testing.T) {
	own := view.Link{Text: "The log", Href: "/lesson/log"}
	for _, test := range []struct {
		group, lesson string
		want          view.Link
	}{
		{"replication", "", view.Link{Text: "Replication", Href: "/lesson/replication"}},
		{"replication", "lesson: log\n", own},
		{"storage", "lesson: log\n", own},
		{"storage", "", view.Link{}}, // its lesson is not known here
	} {
		source := strings.Replace(good, "group: replication\n", "group: "+test.group+"\n"+test.lesson, 1)
		s, err := scenario.Parse("good.yaml", []byte(source), known(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := page(t, address(t, s.Story, "")).Story.Lesson; got != test.want {
			t.Errorf("%s, %q: the lesson is %+v", test.group, test.lesson, got)
		}
	}
}
