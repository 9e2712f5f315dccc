package lesson

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown is what a lesson is written in: plain Markdown and tables.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// parse reads a whole file.
func (d *lessonDraft) parse(file string) *Lesson {
	d.Slug = slugOf(d.file)
	if !slugForm.MatchString(d.Slug) || !strings.HasSuffix(d.file, ".md") {
		d.problem(1, "the file's name must be lower-case words joined by hyphens, and .md")
	}
	source := []byte(d.takePlaces(d.front(file)))
	doc := markdown.Parser().Parse(text.NewReader(source))
	for block := doc.FirstChild(); block != nil; block = block.NextSibling() {
		d.checkBlock(block, source, d.lineOf(block, source))
	}
	for _, slug := range d.longestFirst() {
		d.linkTerm(doc, source, slug)
	}
	for block := doc.FirstChild(); block != nil; block = block.NextSibling() {
		d.block(block, source)
	}
	lesson := d.Lesson
	lesson.answered = sync.OnceValues(lesson.ask)
	return &lesson
}

// lineOf gives the line of the file at which a block begins.
func (d *lessonDraft) lineOf(block ast.Node, source []byte) int {
	at := -1
	ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch {
		case !entering || at >= 0:
			return ast.WalkStop, nil
		case n.Kind() == ast.KindFencedCodeBlock && n.(*ast.FencedCodeBlock).Info != nil:
			at = n.(*ast.FencedCodeBlock).Info.Segment.Start
		case n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0:
			at = n.Lines().At(0).Start
		}
		return ast.WalkContinue, nil
	})
	return d.first + bytes.Count(source[:max(at, 0)], []byte("\n"))
}

// block adds one block to the parts.
func (d *lessonDraft) block(block ast.Node, source []byte) {
	line := d.lineOf(block, source)
	if code, ok := block.(*ast.FencedCodeBlock); ok {
		inside := string(block.Lines().Value(source))
		switch language := string(code.Language(source)); language {
		case "lab":
			d.placeLab(inside, line)
			return
		case "describe", "lag":
			d.placeTool(language, strings.TrimSpace(inside), line)
			return
		}
	}
	html := d.render(block, source, line)
	if n := len(d.Parts); n > 0 && d.Parts[n-1].Text != "" {
		d.Parts[n-1].Text += html
		return
	}
	d.Parts = append(d.Parts, Part{Text: html})
}

// render gives the HTML of a node; its places are of the lab placed last.
func (d *lessonDraft) render(node ast.Node, source []byte, line int) string {
	var html bytes.Buffer
	if err := markdown.Renderer().Render(&html, source, node); err != nil {
		d.problem(line, "%v", err)
	}
	d.bind(html.String(), line)
	return html.String()
}

// allowedBlocks are the blocks that may stand in a lesson.
var allowedBlocks = []ast.NodeKind{ast.KindParagraph, ast.KindHeading, ast.KindList, ast.KindFencedCodeBlock, ast.KindBlockquote}

// checkBlock refuses what no lesson may have, and notes its links. Terms are not linked yet.
func (d *lessonDraft) checkBlock(block ast.Node, source []byte, line int) {
	table := block.Kind().String() == "Table"
	if !table && !slices.Contains(allowedBlocks, block.Kind()) {
		d.problem(line, "%s is not allowed: paragraphs, headings, lists, tables, quotes and fenced blocks are", block.Kind())
		return
	}
	if h, ok := block.(*ast.Heading); ok && (h.Level < 2 || h.Level > 3) {
		d.problem(line, "a heading of level %d: ## and ### are allowed", h.Level)
	}
	d.checkInside(block, source, line)
}

// ownTick is a number of a tick that an author has written.
var ownTick = regexp.MustCompile(`(?i)\bticks? (\d+)`)

// checkInside looks at what stands inside a block.
func (d *lessonDraft) checkInside(block ast.Node, source []byte, line int) {
	ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.RawHTML, *ast.HTMLBlock:
			d.problem(line, "raw HTML is not allowed")
		case *ast.Image:
			d.problem(line, "pictures are not allowed: a block lab is one")
		case *ast.AutoLink:
			d.problem(line, "a bare address is not allowed: write [what it is](address)")
		case *ast.Link:
			d.link(n, plainText(n, source), line)
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if found := ownTick.Find(n.Segment.Value(source)); found != nil {
				d.problem(line, "%q is a number of your own: ${tick} gives that of the lab above, and a link to a lab may name its tick", found)
			}
		}
		return ast.WalkContinue, nil
	})
}

// longestFirst gives the terms so that "active segment" is a link before "segment" is looked for.
func (d *lessonDraft) longestFirst() []string {
	length := func(slug string) int {
		term, _ := d.known.Terms.Term(slug)
		return len(term.Title)
	}
	list := slices.Clone(d.Terms)
	slices.SortStableFunc(list, func(a, b string) int { return length(b) - length(a) })
	return list
}

// linkTerm makes the first use of a term a link, where the author has not made one.
func (d *lessonDraft) linkTerm(doc ast.Node, source []byte, slug string) {
	term, ok := d.known.Terms.Term(slug)
	if !ok {
		d.problem(1, "there is no term %q", slug)
		return
	}
	address := "/glossary/" + slug
	title := strings.ReplaceAll(regexp.QuoteMeta(term.Title), " ", "[ -]")
	form := regexp.MustCompile(`(?i)\b` + title + `s?\b`)
	var found *ast.Text
	linked := false
	ast.Walk(doc, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Link:
			linked = linked || string(n.Destination) == address
			return ast.WalkSkipChildren, nil
		case *ast.Heading, *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if found == nil && form.Match(n.Segment.Value(source)) {
				found = n
			}
		}
		return ast.WalkContinue, nil
	})
	switch {
	case linked:
	case found == nil:
		d.problem(1, "the term %s is not used: its title %q stands nowhere in the text, and no link leads to %s", slug, term.Title, address)
	default:
		splitLink(found, form.FindIndex(found.Segment.Value(source)), address)
	}
}

// splitLink makes a part of a text a link.
func splitLink(n *ast.Text, at []int, address string) {
	parent, begin := n.Parent(), n.Segment.Start
	from, to := begin+at[0], begin+at[1]
	link := ast.NewLink()
	link.Destination = []byte(address)
	link.AppendChild(link, ast.NewTextSegment(text.NewSegment(from, to)))
	parent.InsertBefore(parent, n, ast.NewTextSegment(text.NewSegment(begin, from)))
	parent.InsertBefore(parent, n, link)
	n.Segment = text.NewSegment(to, n.Segment.Stop)
}
