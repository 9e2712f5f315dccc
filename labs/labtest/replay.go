package labtest

import (
	"strings"
	"testing"

	"loglab/labs"
	"loglab/labs/view"
)

// Replay gives a run of a lab at its tick.
func Replay(t testing.TB, lab *labs.Lab, query string) labs.Frame {
	t.Helper()
	a, err := labs.Parse(lab, labs.Pages, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	c, err := labs.Replay(a)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return labs.Frame{Address: a, Cluster: c, View: c.View()}
}

// Text gives a paragraph's words.
func Text(p view.Paragraph) string {
	var b strings.Builder
	for _, span := range p {
		b.WriteString(span.Text)
	}
	return b.String()
}

// CheckText fails where a run's text lacks any of some words, or has any of others.
func CheckText(t testing.TB, query, text string, says, lacks []string) {
	t.Helper()
	for _, words := range says {
		if !strings.Contains(text, words) {
			t.Errorf("%s: the page lacks %q:\n%s", query, words, text)
		}
	}
	for _, words := range lacks {
		if strings.Contains(text, words) {
			t.Errorf("%s: the page says %q:\n%s", query, words, text)
		}
	}
}

// Reading gives the reading of a page as one text, a line for a paragraph.
func Reading(p *view.Page) string {
	var b strings.Builder
	for _, paragraph := range p.Reading {
		b.WriteString(Text(paragraph) + "\n")
	}
	return b.String()
}
