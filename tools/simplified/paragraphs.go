package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

const (
	simplifiedMark = "Simplified:"
	sourceMark     = "Source:"
)

// paragraph is a run of comment lines, joined to one. An empty line ends it, and so does a line that
// begins with one of the marks.
type paragraph struct {
	text   string
	number int // of its first line in the file, from 1
}

func paragraphsOf(set *token.FileSet, group *ast.CommentGroup) []paragraph {
	var paragraphs []paragraph
	open := false
	for _, comment := range group.List {
		first := set.Position(comment.Pos()).Line
		for i, text := range strings.Split(commentText(comment.Text), "\n") {
			text = strings.TrimSpace(text)
			switch {
			case text == "":
				open = false
			case open && !strings.HasPrefix(text, simplifiedMark) && !strings.HasPrefix(text, sourceMark):
				paragraphs[len(paragraphs)-1].text += " " + withoutLinks(text)
			default:
				paragraphs = append(paragraphs, paragraph{text: withoutLinks(text), number: first + i})
				open = true
			}
		}
	}
	return paragraphs
}

// commentText takes the comment signs off one // or /* */ comment.
func commentText(comment string) string {
	if text, ok := strings.CutPrefix(comment, "//"); ok {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(comment, "/*"), "*/")
}

// docLink is a link of Go documentation: [Name], [pkg.Name], [*Name.Method].
var docLink = regexp.MustCompile(`\[\*?((?:[a-z]\w*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?)\]`)

// withoutLinks takes the brackets off: they mean something to Go's tools only.
func withoutLinks(text string) string {
	return docLink.ReplaceAllString(text, "$1")
}

// sourceOf joins the Source paragraphs of one comment.
func sourceOf(paragraphs []paragraph) string {
	var sources []string
	for _, p := range paragraphs {
		if text, ok := strings.CutPrefix(p.text, sourceMark); ok {
			sources = append(sources, strings.TrimSpace(text))
		}
	}
	return strings.Join(sources, "; ")
}
