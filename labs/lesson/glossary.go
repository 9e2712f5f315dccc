package lesson

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Term is one entry of the glossary.
type Term struct {
	Slug   string   // its address is /glossary/ and this, "high-watermark"
	Title  string   // plain text, "High watermark"
	HTML   string   // the explanation, as paragraphs
	Short  string   // its first sentence, plain text
	See    []string // slugs of related terms, in the author's order
	Source string   // where the facts come from, plain text
}

// Glossary holds all terms, sorted by slug.
type Glossary []Term

// Term returns the entry with this slug.
func (g Glossary) Term(slug string) (Term, bool) {
	i, ok := slices.BinarySearchFunc(g, slug, func(t Term, slug string) int { return strings.Compare(t.Slug, slug) })
	if !ok {
		return Term{}, false
	}
	return g[i], true
}

const glossaryDir = "glossary"

// LoadGlossary reads the terms in the directory glossary of fsys. An error lists everything that is wrong,
// one line each, and then there is no glossary.
func LoadGlossary(fsys fs.FS) (Glossary, error) {
	entries, err := fs.ReadDir(fsys, glossaryDir)
	if err != nil {
		return nil, err
	}
	var drafts []draft
	var problems []error
	for _, entry := range entries {
		file := path.Join(glossaryDir, entry.Name())
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		d := parseTerm(file, string(text))
		drafts = append(drafts, d)
		problems = append(problems, d.problems...)
	}
	slices.SortFunc(drafts, func(a, b draft) int { return strings.Compare(a.term.Slug, b.term.Slug) })
	var glossary Glossary
	for _, d := range drafts {
		glossary = append(glossary, d.term)
	}
	for _, d := range drafts {
		for _, l := range d.links {
			if _, ok := glossary.Term(l.slug); !ok {
				problems = append(problems, fmt.Errorf("%s:%d: there is no term %q", d.file, l.line, l.slug))
			}
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return glossary, nil
}

// draft is a term whose links are not yet checked.
type draft struct {
	file     string
	term     Term
	links    []link
	problems []error
}

// link is a mention of another term.
type link struct {
	slug string
	line int
}

func (d *draft) problem(line int, format string, args ...any) {
	d.problems = append(d.problems, fmt.Errorf("%s:%d: %s", d.file, line, fmt.Sprintf(format, args...)))
}

var slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// parseTerm reads one file: title, explanation, and the lines See and Source.
func parseTerm(file, text string) draft {
	d := draft{file: file}
	slug, isMarkdown := strings.CutSuffix(path.Base(file), ".md")
	if d.term.Slug = slug; !isMarkdown || !slugForm.MatchString(slug) {
		d.problem(1, "the file's name must be lower-case words joined by hyphens, and .md")
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	title, ok := strings.CutPrefix(lines[0], "# ")
	if d.term.Title = strings.TrimSpace(title); !ok || d.term.Title == "" {
		d.problem(1, "the first line must be \"# \" and the term")
	}
	end := slices.IndexFunc(lines, isTrailer)
	if end < 0 {
		end = len(lines)
	}
	d.explain(lines[1:end], 2)
	for i, line := range lines[end:] {
		d.trailer(line, end+i+1)
	}
	if d.term.Source == "" {
		d.problem(len(lines), "there is no line \"Source: …\"")
	}
	return d
}

func isTrailer(line string) bool {
	return strings.HasPrefix(line, "See:") || strings.HasPrefix(line, "Source:")
}

// trailer reads one line after the explanation.
func (d *draft) trailer(line string, number int) {
	key, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch {
	case strings.TrimSpace(line) == "":
	case !isTrailer(line):
		d.problem(number, "after See or Source only these may stand, found %q", line)
	case value == "":
		d.problem(number, "%s is empty", key)
	case key == "Source" && d.term.Source != "", key == "See" && d.term.See != nil:
		d.problem(number, "%s stands twice", key)
	case key == "Source":
		d.term.Source = value
	default:
		for slug := range strings.SplitSeq(value, ",") {
			slug = strings.TrimSpace(slug)
			if slug == d.term.Slug || slices.Contains(d.term.See, slug) {
				d.problem(number, "See names %q, the term itself or one named before", slug)
			}
			d.term.See = append(d.term.See, slug)
			d.links = append(d.links, link{slug: slug, line: number})
		}
	}
}
