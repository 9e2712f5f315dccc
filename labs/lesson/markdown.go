package lesson

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// maxSentences keeps an explanation short enough to read beside a picture.
const maxSentences = 4

// explain renders the explanation in lines, the first of which has the given number in the file.
func (d *draft) explain(lines []string, first int) {
	source := []byte(strings.Join(lines, "\n"))
	doc := goldmark.DefaultParser().Parse(text.NewReader(source))
	lineAt := func(offset int) int { return first + bytes.Count(source[:offset], []byte("\n")) }

	var sentences []string
	for block := doc.FirstChild(); block != nil; block = block.NextSibling() {
		line := first
		if block.Lines().Len() > 0 {
			line = lineAt(block.Lines().At(0).Start)
		}
		if block.Kind() != ast.KindParagraph {
			d.problem(line, "only paragraphs are allowed, found %s", block.Kind())
			continue
		}
		d.checkInlines(block, line)
		sentences = append(sentences, sentencesOf(plainText(block, source))...)
	}
	if len(sentences) == 0 {
		d.problem(first, "there is no explanation")
		return
	}
	if len(sentences) > maxSentences {
		d.problem(first, "the explanation has %d sentences, allowed are %d", len(sentences), maxSentences)
	}
	d.term.Short = sentences[0]

	var html bytes.Buffer
	if err := goldmark.DefaultRenderer().Render(&html, source, doc); err != nil {
		d.problem(first, "%v", err)
	}
	d.term.HTML = html.String()
}

// checkInlines refuses raw HTML in a paragraph that begins at line, and notes its links to terms.
func (d *draft) checkInlines(paragraph ast.Node, line int) {
	ast.Walk(paragraph, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.RawHTML:
			d.problem(line, "raw HTML is not allowed")
		case *ast.Link:
			if slug, ok := strings.CutPrefix(string(n.Destination), "/glossary/"); ok {
				d.links = append(d.links, link{slug: slug, line: line})
			}
		}
		return ast.WalkContinue, nil
	})
}

// plainText is the text of node without marks, on one line.
func plainText(node ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := node.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// sentencesOf splits text after each full stop, question mark or exclamation mark that a space or the end
// follows.
func sentencesOf(text string) []string {
	var sentences []string
	var sentence []string
	for _, word := range strings.Fields(text) {
		sentence = append(sentence, word)
		if strings.ContainsAny(word[len(word)-1:], ".?!") {
			sentences = append(sentences, strings.Join(sentence, " "))
			sentence = nil
		}
	}
	if sentence != nil {
		sentences = append(sentences, strings.Join(sentence, " "))
	}
	return sentences
}
