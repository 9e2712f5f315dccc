package lesson

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"loglab/labs"
)

// Lesson is one lesson. It is made once, by [LoadLessons], and only read.
type Lesson struct {
	Front
	Slug      string   // its address is /lesson/ and this
	Parts     []Part   // what it says, in order
	Scenarios []string // names of those its text links to, each once

	places   []place // what the engine fills in
	checks   []check // what has to hold
	answered func() ([]string, error)
}

// Front is what stands at the top of a file.
type Front struct {
	Title   string
	Summary string
	Order   int      // its place in the path through the lessons, from 1; 0: it stands beside the path
	Terms   []string // of the glossary; the first use of each is a link
}

// Part is a piece of a lesson: text, a lab at a tick, or what a tool would print there.
type Part struct {
	Text string  // HTML, with places
	Lab  *Placed // nil: it is no lab
	Tool *tool   // nil: it is no output of a tool
}

// Placed is a lab at a tick: a picture, and the lab itself for whoever asks.
type Placed struct {
	Address labs.Address // of its page
	Height  int          // of the lab itself in pixels
	Caption string       // HTML, with places
}

// Lessons are all lessons: those of the path in its order, then those beside it by title.
type Lessons []*Lesson

// BySlug gives a lesson; nil: there is none.
func (l Lessons) BySlug(slug string) *Lesson {
	if i := slices.IndexFunc(l, func(one *Lesson) bool { return one.Slug == slug }); i >= 0 {
		return l[i]
	}
	return nil
}

// Known is what a lesson can refer to.
type Known struct {
	Labs     []*labs.Lab
	Terms    Glossary
	Scenario func(name string) *labs.Story // nil: there is none of that name
}

const lessonDir = "lessons"

// Titles gives the title of each lesson by its slug, without looking at what the lessons say.
func Titles(fsys fs.FS) (map[string]string, error) {
	titles := map[string]string{}
	err := eachLesson(fsys, func(file, text string) {
		d := &lessonDraft{file: file}
		d.front(text)
		titles[slugOf(file)] = d.Title
	})
	return titles, err
}

// LoadLessons reads the lessons in the directory lessons of fsys. An error lists everything that is wrong, one line
// each, and then there are no lessons. It looks at everything but at what the engine answers: see [Lesson.Check].
func LoadLessons(fsys fs.FS, known Known) (Lessons, error) {
	titles, err := Titles(fsys)
	if err != nil {
		return nil, err
	}
	var list Lessons
	var problems []error
	err = eachLesson(fsys, func(file, text string) {
		d := &lessonDraft{file: file, known: known, titles: titles}
		list = append(list, d.parse(text))
		problems = append(problems, d.problems...)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b *Lesson) int {
		return cmp.Or(cmp.Compare(a.place(), b.place()), strings.Compare(a.Title, b.Title))
	})
	for i, l := range list {
		if i > 0 && l.Order > 0 && l.Order == list[i-1].Order {
			problems = append(problems, fmt.Errorf("%s/%s.md:1: order is %d, as that of %s", lessonDir, l.Slug, l.Order, list[i-1].Slug))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return list, nil
}

// place orders lessons: those beside the path come last.
func (l *Lesson) place() int {
	if l.Order == 0 {
		return 1 << 20
	}
	return l.Order
}

func eachLesson(fsys fs.FS, visit func(file, text string)) error {
	names, err := fs.Glob(fsys, lessonDir+"/*")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		visit(name, string(text))
	}
	return nil
}

func slugOf(file string) string { return strings.TrimSuffix(path.Base(file), ".md") }

// lessonDraft is a lesson that is being read.
type lessonDraft struct {
	Lesson
	file     string
	known    Known
	titles   map[string]string // of all lessons, by slug
	labs     []labs.Address    // of the labs placed so far
	first    int               // the line of the file at which the text begins
	problems []error
}

func (d *lessonDraft) problem(line int, format string, args ...any) {
	d.problems = append(d.problems, fmt.Errorf("%s:%d: %s", d.file, line, fmt.Sprintf(format, args...)))
}

// frontMark stands before and behind what is at the top of a file.
const frontMark = "---"

// front reads the top of a file and gives the text below it.
func (d *lessonDraft) front(text string) (body string) {
	lines := strings.Split(text, "\n")
	end := -1
	if lines[0] == frontMark {
		end = slices.Index(lines[1:], frontMark)
	}
	if end < 0 {
		d.problem(1, "the file must begin with title, summary, order and terms between two lines %q", frontMark)
		return text
	}
	seen := map[string]bool{}
	for i, line := range lines[1 : end+1] {
		key, value, _ := strings.Cut(line, ":")
		if seen[key] {
			d.problem(i+2, "%s stands twice", key)
		}
		seen[key] = true
		d.field(i+2, key, strings.TrimSpace(value))
	}
	for _, key := range []string{"title", "summary", "order", "terms"} {
		if !seen[key] {
			d.problem(1, "there is no line \"%s: …\"", key)
		}
	}
	d.first = end + 3
	return strings.Join(lines[end+2:], "\n")
}

func (d *lessonDraft) field(line int, key, value string) {
	if value == "" {
		d.problem(line, "%s is empty", key)
		return
	}
	switch key {
	case "title":
		d.Title = value
	case "summary":
		d.Summary = value
	case "order":
		n, err := strconv.Atoi(value)
		if d.Order = n; err != nil || n < 0 || n > 99 {
			d.problem(line, "order is %q: a whole number from 0 to 99 is allowed", value)
		}
	case "terms":
		for slug := range strings.SplitSeq(value, ",") {
			d.Terms = append(d.Terms, strings.TrimSpace(slug))
		}
	default:
		d.problem(line, "%q is not known: title, summary, order and terms are allowed", key)
	}
}
