package web

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"loglab/content"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/lesson"
	"loglab/labs/scenario"
	"loglab/web/page"
)

// KnownToScenarios is what a scenario can refer to: all labs, the terms of the glossary, the lessons.
func KnownToScenarios(terms lesson.Glossary) scenario.Known {
	titles, err := lesson.Titles(content.FS)
	if err != nil {
		panic(err) // it is embedded
	}
	return scenario.Known{
		Labs:   all.Labs(),
		Term:   func(slug string) (string, bool) { t, ok := terms.Term(slug); return t.Title, ok },
		Lesson: func(slug string) (string, bool) { title, ok := titles[slug]; return title, ok },
	}
}

// shippedScenarios reads the scenarios of fsys. What is wrong with one is told to the log by its line, and the rest is
// served.
func shippedScenarios(fsys fs.FS, known scenario.Known, log *slog.Logger) []*scenario.Scenario {
	list, err := scenario.Load(fsys, "scenarios", known)
	if err != nil {
		log.Error("shipped scenarios refused", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return list
}

// AddScenarios serves those of a directory too, and looks at it again while it serves. It fails if there is no such
// directory. It is called before Serve.
func (s *Site) AddScenarios(dir string) error {
	shipped, _ := s.scenarios.All()
	library, err := scenario.NewLibrary(shipped, dir, s.known, s.log)
	if err != nil {
		return err
	}
	s.scenarios = library
	return nil
}

// storyGroups lists the scenarios under their headings; wrong says how many files of a teacher cannot be shown.
func (s *Site) storyGroups() (groups []page.StoryGroup, wrong string) {
	list, refused := s.scenarios.All()
	for _, heading := range scenario.Groups() {
		g := page.StoryGroup{Title: heading}
		for _, told := range list {
			if told.Group != heading {
				continue
			}
			line := page.StoryLine{Href: labs.StartStory(told.Story, labs.Pages).String(), Title: told.Title, Summary: told.Summary}
			if told.Goal != nil {
				line.Goal, line.GoalText = labs.StartGoal(told.Story, labs.Pages).String(), told.Goal.Text
			}
			g.Stories = append(g.Stories, line)
		}
		slices.SortStableFunc(g.Stories, func(a, b page.StoryLine) int { return cmp.Compare(a.Title, b.Title) })
		if len(g.Stories) > 0 {
			groups = append(groups, g)
		}
	}
	if refused > 0 {
		wrong = fmt.Sprintf("%s of this server’s own directory cannot be shown: its log says why.", kafka.Count(refused, "scenario file"))
	}
	return groups, wrong
}

// wrongScenario says what is wrong with a file of a teacher.
func wrongScenario(err error) error {
	p := page.Problem{Status: http.StatusUnprocessableEntity, Title: "This scenario cannot be shown", Text: "Its file has to be put right first. The other scenarios are there."}
	var problems scenario.Problems
	if !errors.As(err, &problems) {
		p.Facts = []page.Fact{{Name: "What", Value: err.Error()}}
	}
	for _, one := range problems {
		p.Facts = append(p.Facts, page.Fact{Name: fmt.Sprintf("%s:%d", one.File, one.Line), Value: one.Text})
	}
	return problem{p}
}

// saveScenario answers with the run of a lab's address as a scenario file.
func (s *Site) saveScenario(w http.ResponseWriter, r *http.Request) error {
	address, release, err := s.addressOf(r, r.URL.RawQuery)
	if err != nil {
		return err
	}
	defer release()
	leave, err := s.runCopies.enter(r.Context()) // each replays its run
	if err != nil {
		return err
	}
	defer leave()
	text, err := scenario.Save(address, s.known)
	var problems scenario.Problems
	switch {
	case errors.As(err, &problems):
		p := page.Problem{Status: http.StatusUnprocessableEntity, Title: "This run is too long for a scenario", Text: "The run itself is right; its link keeps it."}
		for _, one := range problems {
			p.Facts = append(p.Facts, page.Fact{Name: "What", Value: one.Text})
		}
		return inFrame(address, problem{p})
	case err != nil:
		return inFrame(address, err)
	}
	return attach(w, scenario.SavedName(address), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func noSuchScenario(name string) error {
	return problem{page.Problem{
		Status: http.StatusNotFound, Title: "There is no such scenario", Text: "The first page lists those there are.",
		Facts: []page.Fact{{Name: "Found", Value: shown(name)}},
		Links: []page.Way{{Href: "/#scenarios", Text: "All scenarios"}},
	}}
}
