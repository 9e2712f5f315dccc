package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/lesson"
	"loglab/labs/scenario"
	"loglab/web/page"
)

// knownToLessons is what a lesson can refer to: of the scenarios the shipped ones, since a teacher's come and go.
func knownToLessons(terms lesson.Glossary, shipped []*scenario.Scenario) lesson.Known {
	return lesson.Known{Labs: all.Labs(), Terms: terms, Scenario: func(name string) *labs.Story {
		for _, told := range shipped {
			if told.Name == name {
				return told.Story
			}
		}
		return nil
	}}
}

// lesson answers with the page of a lesson.
func (s *Site) lesson(w http.ResponseWriter, r *http.Request) error {
	slug := chi.URLParam(r, "lesson")
	l := s.lessons.BySlug(slug)
	if l == nil {
		return problem{page.Problem{
			Status: http.StatusNotFound, Title: "There is no such lesson", Text: "The first page lists those there are.",
			Facts: []page.Fact{{Name: "Found", Value: shown(slug)}},
			Links: []page.Way{{Href: "/#lessons", Text: "All lessons"}},
		}}
	}
	parts, err := s.lessonParts(r, l)
	if err != nil {
		return err
	}
	p := page.LessonPage{Lesson: l, Parts: parts, Terms: s.glossary, Scenarios: s.lessonScenarios(l)}
	p.Where, p.Back, p.On = s.lessonPath(l)
	frameOwnPages(w) // the live labs
	return writeHTML(w, r, http.StatusOK, page.Lesson(s.assets, p))
}

// lessonParts gives the parts of a lesson with the frames of its labs.
func (s *Site) lessonParts(r *http.Request, l *lesson.Lesson) (parts []page.LessonPart, err error) {
	filled, err := l.Filled()
	if err != nil {
		return nil, err
	}
	for _, f := range filled {
		part := page.LessonPart{HTML: f.HTML, Tool: f.Tool}
		if f.Lab != nil {
			still, live := f.Lab.Address, f.Lab.Address
			still.Site, still.Still = labs.Embeds, true
			live.Site, live.Chrome = labs.Embeds, "minimal"
			if part.Still, err = s.page(r.Context(), still); err != nil {
				return nil, err
			}
			part.Href, part.Embed, part.Height = f.Lab.Address.String(), live.String(), f.Lab.Height
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// lessonScenarios gives the scenarios that a lesson's text leads to, then those that name it.
func (s *Site) lessonScenarios(l *lesson.Lesson) (ways []page.Way) {
	list, _ := s.scenarios.All()
	add := func(wanted func(*scenario.Scenario) bool) {
		for _, told := range list {
			way := page.Way{Href: labs.StartStory(told.Story, labs.Pages).String(), Text: told.Title}
			if wanted(told) && !slices.Contains(ways, way) {
				ways = append(ways, way)
			}
		}
	}
	for _, name := range l.Scenarios {
		add(func(told *scenario.Scenario) bool { return told.Name == name })
	}
	add(func(told *scenario.Scenario) bool { return told.Lesson == l.Slug })
	return ways
}

// lessonPath gives the place of a lesson in the path, and those before and behind it; zero: there is none.
func (s *Site) lessonPath(l *lesson.Lesson) (where string, back, on page.Way) {
	if l.Order == 0 {
		return "", back, on
	}
	at, all := 0, 0
	for i, one := range s.lessons {
		if one.Order > 0 {
			all++
		}
		if one == l {
			at = i
		}
	}
	if at > 0 {
		back = lessonWay(s.lessons[at-1])
	}
	if at+1 < all {
		on = lessonWay(s.lessons[at+1])
	}
	return fmt.Sprintf("Lesson %d of %d", at+1, all), back, on
}

func lessonWay(l *lesson.Lesson) page.Way {
	return page.Way{Href: page.LessonAddress(l.Slug), Text: l.Title}
}

// lessonLines lists the lessons for the first page.
func (s *Site) lessonLines() (lines []page.LessonLine) {
	for _, l := range s.lessons {
		lines = append(lines, page.LessonLine{Href: page.LessonAddress(l.Slug), Title: l.Title, Summary: l.Summary, Beside: l.Order == 0})
	}
	return lines
}
