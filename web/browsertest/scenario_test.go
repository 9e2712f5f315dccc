package browsertest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"loglab/content"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/scenario"
)

// told is the scenario with a question of each kind, told and at two ticks.
const told = "/scenario/acks-1-leader-dies?v=1"

// shippedScenarios are those in the binary.
func shippedScenarios(t *testing.T) []*scenario.Scenario {
	t.Helper()
	list, err := scenario.Load(content.FS, "scenarios", scenario.Known{Labs: all.Labs()})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// wrong gives a guess that is another than an answer.
func wrong(q scenario.Question, answer string) string {
	for _, c := range q.Choices {
		if c.Is.Text != answer {
			return c.Is.Text
		}
	}
	if n, _ := strconv.Atoi(answer); n > q.Number.Min {
		return strconv.Itoa(n - 1)
	}
	return strconv.Itoa(q.Number.Max)
}

// guess answers the question that is asked, with the keyboard or the mouse.
func guess(b *tab, q scenario.Question, is string, keys bool) {
	b.t.Helper()
	if q.Number != nil {
		b.paste("#ask-"+q.Name+"-number", is)
		if keys {
			b.press(kb.Enter)
		} else {
			b.click("#ask-" + q.Name + "-form button")
		}
		n, _ := strconv.ParseInt(is, 10, 64)
		b.waitText("#ask-"+q.Name, "You guess: "+kafka.Thousands(n))
		if keys {
			b.focus("#stop-on") // keys in a field are the field's
		}
		return
	}
	for i, c := range q.Choices {
		if c.Is.Text != is {
			continue
		}
		if keys {
			b.press(strconv.Itoa(i + 1))
		} else {
			b.click(fmt.Sprintf("#ask-%s-%d", q.Name, i+1))
		}
		b.waitText("#ask-"+q.Name+" .chosen", c.Text)
	}
}

// walk goes from stop to stop to the end and guesses on the way; it looks at every answer.
func walk(b *tab, s *scenario.Scenario, o *scenario.Outcome, right, keys bool) {
	b.t.Helper()
	b.open(labs.StartStory(s.Story, labs.Pages).String())
	for stops := 1; ; stops++ {
		tick := b.tick()
		for i, q := range s.Questions {
			is := o.Answers[i]
			if !right {
				is = wrong(q, is)
			}
			switch tick {
			case q.At:
				guess(b, q, is, keys)
				if got := b.text("#ask-" + q.Name); strings.Contains(got, "What happened") {
					b.t.Errorf("%s tells at tick %d: %s", q.Name, tick, got)
				}
			case q.Decided:
				b.waitText("#ask-"+q.Name, "What happened")
				got := b.text("#ask-" + q.Name)
				if same := strings.Contains(got, "as you guessed"); same != right || !strings.Contains(got, "Your guess") {
					b.t.Errorf("%s, guessed %s, says: %s", q.Name, is, got)
				}
			}
		}
		if eval[bool](b, "document.querySelector('#stop-on').ariaDisabled === 'true'") {
			if tick != s.End || stops != s.Stops() {
				b.t.Errorf("it ends at tick %d after %d stops, want %d after %d", tick, stops, s.End, s.Stops())
			}
			return
		}
		if keys {
			b.press("n")
		} else {
			b.click("#stop-on")
		}
		b.waitFor(fmt.Sprintf("new URL(document.querySelector('#lab').dataset.address, location).searchParams.get('t') > %d", tick))
	}
}

// Every scenario is stepped from stop to stop to its end: with the keyboard, every prediction right, and with the
// mouse, every one wrong.
func TestScenariosToTheEnd(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, s := range shippedScenarios(t) {
		t.Run(s.Name, func(t *testing.T) {
			o, err := s.Outcome()
			if err != nil {
				t.Fatal(err)
			}
			walk(b, s, o, true, true)
			walk(b, s, o, false, false)
		})
	}
}

// Whoever is impatient steps on, tick by tick, and back; a guess stays in the address and with the reader.
func TestScenarioByTicks(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(told + "&t=24")
	b.press(kb.ArrowRight)
	b.waitText("#ask-lost", "How many of the ten")
	guess(b, shippedQuestion(t, "lost"), "5", true)
	b.waitAddress(told + "&t=25&guess=lost:5")
	for range 3 {
		b.press(kb.ArrowRight)
	}
	b.waitAddress(told + "&t=28&guess=lost:5")
	b.waitText("#ask-lost", "You guess: 5 records.")
	b.press("p")
	b.waitAddress(told + "&t=25&guess=lost:5")
	b.press("p")
	b.waitTick(22)
	if b.count("#ask-lost") != 0 {
		t.Error("before it is asked the question is there")
	}
	b.press("n", 0)
	b.waitTick(25)
	b.press(kb.End)
	b.waitTick(74)
	if got, want := b.text("#where"), "Stop 12 of 12"; got != want {
		t.Errorf("the end is %q, want %q", got, want)
	}
}

func shippedQuestion(t *testing.T, name string) scenario.Question {
	t.Helper()
	for _, s := range shippedScenarios(t) {
		for _, q := range s.Questions {
			if q.Name == name && s.Name == "acks-1-leader-dies" {
				return q
			}
		}
	}
	t.Fatalf("there is no question %s", name)
	return scenario.Question{}
}

// From a story to the lab and back with the browser's own button; from its end to the goal, which is reached by the
// commands of its solution.
func TestForkAndGoal(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(told + "&t=25")
	fork := eval[string](b, "document.querySelector('#fork').getAttribute('href')")
	if !strings.HasPrefix(fork, "/lab/replication?v=1&acks=1&rate=6&every=100&") || !strings.HasSuffix(fork, "&t=25&horizon=74") {
		t.Errorf("the fork is %s", fork)
	}
	b.click("#fork")
	b.waitAddress(fork)
	b.waitText("h1", "Replication lab")
	b.waitText("#actions", "Now, at tick 25")
	b.back()
	b.waitText("#ask-lost", "How many of the ten")

	b.press(kb.End)
	b.waitText("#goal", "Lose an acknowledged record")
	b.click("#try")
	b.waitText("#goal-state", "Not reached at tick 0")
	b.stepTo(25)
	b.paste("#command-do", "25:kill b1")
	b.press(kb.Enter)
	b.waitText(".given", "kill b1")
	b.paste("#command-do", "28:wait 9s")
	b.press(kb.Enter)
	b.waitText(".given", "wait 9s")
	b.waitText("#goal-state", "with 1 command so far")
	b.waitFor("location.search.includes('do=28:wait+9s')")
	b.open(strings.Replace(b.address(), "&t=25", "&t=60", 1))
	b.waitText("#goal-state", "Reached at tick 60, with 2 commands. The fewest known: 2.")
	b.click("#to-story")
	b.waitAddress(told)
}

// Without JavaScript stops, choices and numbers are links and forms.
func TestScenarioWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.withoutScripts()
	b.openPlain("/")
	b.click("a[href='" + told + "']")
	b.waitTick(0)
	for _, tick := range []int{2, 19, 20, 21, 22, 25} {
		b.click("#stop-on")
		b.waitTick(tick)
	}
	b.paste("#ask-lost-number", "2")
	b.click("#ask-lost-form button")
	b.waitAddress(told + "&t=25&guess=lost:2")
	b.waitText("#ask-lost", "You guess: 2 records.")
	for _, tick := range []int{28, 59} {
		b.click("#stop-on")
		b.waitTick(tick)
	}
	b.waitText("#ask-lost", "as you guessed")
	b.click("#stop-on")
	b.waitTick(60)
	b.click("#ask-old-leader-1")
	b.waitAddress(told + "&t=60&guess=lost:2&guess=old-leader:sends")
	b.click("#stop-on")
	b.waitTick(68)
	b.waitText("#ask-old-leader", "b1 cuts them off")
	b.click("#fork")
	b.waitText("h1", "Replication lab")
}

// What is pressed keeps the focus, and where a choice is decided away the story keeps it.
func TestScenarioFocus(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open(told + "&t=59")
	b.focus("#stop-on")
	b.press(kb.Enter)
	b.waitTick(60)
	if got := b.focused(); got != "stop-on" {
		t.Errorf("after the next stop the focus is on %q", got)
	}
	b.focus("#ask-old-leader-2")
	b.press(kb.Enter)
	b.waitText("#ask-old-leader .chosen", "b1 cuts them off")
	if got := b.focused(); got != "ask-old-leader-2" {
		t.Errorf("after a guess the focus is on %q", got)
	}
	b.press("n")
	b.waitText("#ask-old-leader", "What happened")
	if !eval[bool](b, "!!document.activeElement.closest('#story')") {
		t.Errorf("once it is decided the focus is on %q, out of the story", b.focused())
	}
}

// An embedded scenario replaces, and stays in its frame.
func TestScenarioEmbed(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.open("/embed" + told + "&t=60")
	entries := b.entries()
	b.press("1")
	b.waitAddress("/embed" + told + "&t=60&guess=old-leader:sends")
	b.press("n")
	b.waitText("#ask-old-leader", "What happened")
	b.click("#fork")
	b.waitFor("location.pathname === '/embed/lab/replication'")
	if got := b.entries(); got != entries {
		t.Errorf("the history has %d entries, want %d", got, entries)
	}
}

// Playing rests at the next tick at which something is said or asked, on the page and in an embed, and goes on when Play is
// pressed again.
func TestPlayingAScenarioRests(t *testing.T) {
	t.Parallel()
	site := serve(t)
	for _, before := range []string{"", "/embed"} {
		b := newTab(t, site.url)
		b.open(before + told + "&t=20&pace=10")
		for _, tick := range []string{"25", "28"} {
			b.press(" ")
			b.waitAddress(before + told + "&t=" + tick + "&pace=10")
			b.waitFor("document.querySelector('#play').textContent === 'Play' && document.querySelector('#lab').dataset.stream === undefined")
		}
	}
}

// scenarioStates are pages of scenarios that are worth looking at.
var scenarioStates = []state{
	{name: "lab-scenario", address: told},
	{name: "lab-scenario-number", address: told + "&t=25"},
	{name: "lab-scenario-answer", address: told + "&t=59&guess=lost:2"},
	{name: "lab-scenario-choices", address: told + "&t=60&guess=old-leader:cuts"},
	{name: "lab-scenario-end", address: told + "&t=74"},
	{name: "lab-scenario-goal", address: "/scenario/acks-1-leader-dies?v=1&acks=1&every=1&do=25:kill+b1&do=28:wait+9s&t=60&horizon=74&goal=1"},
	{name: "lab-scenario-two", address: "/scenario/min-isr-two-down?v=1&t=87&guess=visible:yes"},
	{name: "lab-scenario-group", address: "/scenario/more-members-than-partitions?v=1&t=22"},
	{name: "lab-scenario-keys", address: "/scenario/adding-partitions-moves-keys?v=1&t=28"},
	{name: "lab-scenario-crash", address: "/scenario/crash-before-commit?v=1&t=17"},
	{name: "lab-scenario-embed", address: "/embed" + told + "&t=60"},
	{name: "lab-scenario-minimal", address: "/embed" + told + "&t=59&chrome=minimal"},
	{name: "lab-scenario-still", address: "/embed" + told + "&t=59&still=1"},
	{name: "no-scenario", address: "/scenario/nothing", complaint: "404 (Not Found)"},
}

func TestScenarioAccessibility(t *testing.T) {
	t.Parallel()
	checkAccessible(t, scenarioStates)
}

func TestScenarioWidth(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for _, s := range scenarioStates {
		if s.complaint == "" {
			checkWidth(b, s.name, s.address)
			checkWidth(b, s.name+", projected", s.address+"&size=projector")
		}
	}
}
