package lesson

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Bounds of the height of a lab in a lesson, in pixels.
const (
	standardHeight = 720
	leastHeight    = 200
	mostHeight     = 1600
)

// placeLab reads a block that places a lab:
//
//	/lab/offsets?v=1&partitions=1&t=9
//	height: 640
//	caption: The lag is ${group('billing').lag}.
//	check: group('billing').lag == 5
//
// The first line is the address. A caption is needed; height and any number of checks may stand there.
func (d *lessonDraft) placeLab(inside string, line int) {
	lines := strings.Split(strings.TrimRight(inside, "\n"), "\n")
	a, err := d.address(lines[0])
	if err != nil {
		d.problem(line+1, "%v", err)
		return
	}
	d.labs = append(d.labs, a)
	p := &Placed{Address: a, Height: standardHeight}
	for i, text := range lines[1:] {
		key, value, _ := strings.Cut(text, ":")
		d.labField(p, line+2+i, key, strings.TrimSpace(value))
	}
	if p.Caption == "" {
		d.problem(line, "a lab has no line \"caption: …\"")
	}
	d.Parts = append(d.Parts, Part{Lab: p})
}

func (d *lessonDraft) labField(p *Placed, line int, key, value string) {
	switch key {
	case "height":
		n, err := strconv.Atoi(value)
		if p.Height = n; err != nil || n < leastHeight || n > mostHeight {
			d.problem(line, "height is %q: a whole number from %d to %d is allowed", value, leastHeight, mostHeight)
		}
	case "caption":
		p.Caption = d.caption(value, line)
	case "check":
		d.check(p.Address, value, line)
	default:
		d.problem(line, "%q is not known: height, caption and check are allowed", key)
	}
}

// ownNumber is a number that an author has written by itself.
var ownNumber = regexp.MustCompile(`(^|[\s(=≥≤<>–×])[0-9]`)

// caption reads the sentences below a lab. Its numbers are the engine's: none may be the author's own, outside of code.
func (d *lessonDraft) caption(words string, line int) string {
	source := []byte(words)
	doc := markdown.Parser().Parse(text.NewReader(source))
	first := doc.FirstChild()
	if first == nil || first.NextSibling() != nil || first.Kind() != ast.KindParagraph {
		d.problem(line, "a caption is one paragraph")
		return ""
	}
	d.checkInside(first, source, line)
	if found := ownNumber.FindString(proseText(first, source)); found != "" {
		d.problem(line, "a caption has a number of its own, %q: ${EXPRESSION} gives the engine's", strings.TrimSpace(found))
	}
	html := strings.TrimSpace(d.render(first, source, line))
	return strings.TrimSuffix(strings.TrimPrefix(html, "<p>"), "</p>")
}

// proseText is the text of a paragraph without its code.
func proseText(paragraph ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(paragraph, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if node.Kind() == ast.KindCodeSpan {
			return ast.WalkSkipChildren, nil
		}
		if t, ok := node.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// tool is the output of a program at the tick of a lab.
type tool struct {
	kind  string // "describe": kafka-consumer-groups; "lag": a lag exporter
	group string
	lab   int // whose tick: index in labs
}

// placeTool reads a block whose one line is the name of a group.
func (d *lessonDraft) placeTool(kind, group string, line int) {
	if len(d.labs) == 0 {
		d.problem(line, "there is no lab above whose group could be asked")
		return
	}
	t := &tool{kind: kind, group: group, lab: len(d.labs) - 1}
	d.Parts = append(d.Parts, Part{Tool: t})
	d.places = append(d.places, place{line: line, file: d.file, address: d.labs[t.lab], tool: t})
}
