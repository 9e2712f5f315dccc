package lesson

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"loglab/labs"
	"loglab/labs/scenario"
)

// otherPages are pages of the site without a name of their own behind them.
var otherPages = []string{"/glossary", "/capacity", "/file", "/"}

// link looks at where a link leads. The title of one that leads to a lab may be "check: EXPRESSION", which has to hold
// there; it is not shown.
func (d *lessonDraft) link(n *ast.Link, words string, line int) {
	to, title := string(n.Destination), string(n.Title)
	n.Title = nil
	kind, rest, _ := strings.Cut(strings.TrimPrefix(to, "/"), "/")
	switch {
	case strings.HasPrefix(to, "https://"), slices.Contains(otherPages, to):
	case kind == "glossary":
		if _, ok := d.known.Terms.Term(rest); !ok {
			d.problem(line, "there is no term %q", rest)
		}
	case kind == "lesson":
		slug, _, _ := strings.Cut(rest, "#")
		if _, ok := d.titles[slug]; !ok {
			d.problem(line, "there is no lesson %q", slug)
		}
	case kind == "lab", kind == "scenario":
		d.labLink(to, title, words, line)
		return
	default:
		d.problem(line, "a link leads to %q: /lab/…, /scenario/…, /lesson/…, /glossary/… and https://… are allowed", to)
	}
	if title != "" {
		d.problem(line, "a link to %s has the title %q: only one to a lab may have one", to, title)
	}
}

// labLink looks at a link to a lab or a scenario.
func (d *lessonDraft) labLink(to, title, words string, line int) {
	a, err := d.address(to)
	if err != nil {
		d.problem(line, "%v", err)
		return
	}
	if a.Story != nil && !slices.Contains(d.Scenarios, a.Story.Name) {
		d.Scenarios = append(d.Scenarios, a.Story.Name)
	}
	if found := ownTick.FindStringSubmatch(words); found != nil && found[1] != strconv.Itoa(a.T) {
		d.problem(line, "a link is called %q and leads to tick %d", words, a.T)
	}
	if title == "" {
		return
	}
	text, isCheck := strings.CutPrefix(title, "check: ")
	if !isCheck {
		d.problem(line, "a link to a lab has the title %q: \"check: EXPRESSION\" is allowed", title)
		return
	}
	d.check(a, text, line)
}

// check notes what has to hold at an address.
func (d *lessonDraft) check(a labs.Address, text string, line int) {
	ask, err := scenario.CompileCheck(text)
	if err != nil {
		d.problem(line, "%v", err)
		return
	}
	d.checks = append(d.checks, check{file: d.file, line: line, address: a, ask: ask})
}

// address reads the address of a lab or a scenario, which has to be canonical. Without a question mark it is where that
// begins.
func (d *lessonDraft) address(to string) (a labs.Address, err error) {
	path, query, asked := strings.Cut(to, "?")
	kind, name, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	start, ok := d.start(kind, name)
	if !ok {
		return a, fmt.Errorf("there is no %s %q", kind, name)
	}
	if !asked {
		return start, nil
	}
	if a, err = labs.Heads(nil).ParseFrom(start, query); err != nil {
		return a, fmt.Errorf("%s: %w", to, err)
	}
	if canonical := a.String(); canonical != to {
		return a, fmt.Errorf("the address %s is not canonical: write %s", to, canonical)
	}
	if a.T > a.Horizon {
		return a, fmt.Errorf("%s: t is %d, at most %d is allowed, where playing ends", to, a.T, a.Horizon)
	}
	return a, nil
}

// start gives where a lab or a scenario begins.
func (d *lessonDraft) start(kind, name string) (a labs.Address, ok bool) {
	if kind == "scenario" {
		if d.known.Scenario == nil {
			return a, false
		}
		story := d.known.Scenario(name)
		if story == nil {
			return a, false
		}
		return labs.StartStory(story, labs.Pages), true
	}
	i := slices.IndexFunc(d.known.Labs, func(l *labs.Lab) bool { return l.Name == name })
	if i < 0 {
		return a, false
	}
	return labs.Start(d.known.Labs[i], labs.Pages), true
}
