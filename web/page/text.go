package page

import (
	"loglab/labs/lesson"
	"loglab/labs/view"
)

func skipAddress(lab bool) string {
	if lab {
		return "#lab"
	}
	return "#content"
}

// politeness keeps a screen reader from a sentence for every frame while playing.
func politeness(p *view.Page) string {
	if p.Stream != "" {
		return "off"
	}
	return "polite"
}

func termAddress(slug string) string { return "/glossary/" + slug }

// titleOf is the title of a term; a slug that no term has stands for itself.
func titleOf(terms lesson.Glossary, slug string) string {
	if t, ok := terms.Term(slug); ok {
		return t.Title
	}
	return slug
}
