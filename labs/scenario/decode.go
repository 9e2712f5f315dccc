package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"loglab/engine/kafka"
)

// Bounds of a file, so that reading one takes a few milliseconds whatever is in it.
const (
	maxFile   = 64 << 10 // bytes
	maxIndent = 32       // brackets and braces within each other
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	File string
	Line int // from 1
	Text string
}

// Error gives "file:line: what was found, what is allowed".
func (p Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// Problems are all that is wrong with a file, by line.
type Problems []Problem

// Error gives one a line.
func (p Problems) Error() string {
	var lines []string
	for _, one := range p {
		lines = append(lines, one.Error())
	}
	return strings.Join(lines, "\n")
}

// decoder reads the values of a file.
type decoder struct {
	name     string
	problems Problems
}

// maxProblems is how many things are told of one file.
const maxProblems = 20

func (d *decoder) refuse(line int, format string, args ...any) {
	if len(d.problems) == maxProblems {
		return
	}
	d.problems = append(d.problems, Problem{d.name, max(line, 1), fmt.Sprintf(format, args...)})
}

// decode reads a file into its form. What it gives is whole only if there are no problems.
func (d *decoder) decode(source []byte) (f File) {
	if len(source) > maxFile {
		d.refuse(1, "the file has %s bytes, at most %s are allowed", kafka.Thousands(int64(len(source))), kafka.Thousands(maxFile))
		return f
	}
	if !utf8.Valid(source) {
		d.refuse(1+strings.Count(string(source[:firstInvalid(source)]), "\n"), "what stands here is not UTF-8, which a file has to be in")
		return f
	}
	source = []byte(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(source)))
	if line, deep := tooDeep(source); deep {
		d.refuse(line, "more than %d brackets stand within each other", maxIndent)
		return f
	}
	root := d.parse(source)
	if root == nil {
		return f
	}
	if line := firstAlias(root); line > 0 {
		d.refuse(line, "anchors (&), aliases (*), merges (<<) and tags (!) are not allowed: write the value where it is meant")
		return f
	}
	d.value(root, reflect.ValueOf(&f).Elem(), "the file", "")
	return f
}

// firstInvalid gives the place of the first byte that is not UTF-8.
func firstInvalid(source []byte) int {
	for at := 0; at < len(source); {
		r, size := utf8.DecodeRune(source[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return len(source)
}

// tooDeep counts brackets, those in texts too, which no scenario has so many of.
func tooDeep(source []byte) (line int, deep bool) {
	line, open, starts := 1, 0, 0
	for at, c := range source {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		case '\n':
			line++
			starts = 0
		case '-', '?', ':': // "- - - -" nests too; a hyphen in a word does not
			if at+1 < len(source) && (source[at+1] == ' ' || source[at+1] == '\t') {
				starts++
			}
		}
		if open > maxIndent || starts > 8*maxIndent {
			return line, true
		}
	}
	return 0, false
}

// parse gives the one document of a file; nil: there is none, and d says so.
func (d *decoder) parse(source []byte) (root ast.Node) {
	defer func() {
		if what := recover(); what != nil {
			d.refuse(1, "the file cannot be read as YAML")
			root = nil
		}
	}()
	file, err := parser.ParseBytes(source, 0)
	var syntax *yaml.SyntaxError
	switch {
	case errors.As(err, &syntax):
		line := 1
		if t := syntax.GetToken(); t != nil {
			line = t.Position.Line
		}
		d.refuse(line, "this is not YAML: %s", strings.ReplaceAll(syntax.GetMessage(), "\n", " "))
		return nil
	case err != nil:
		d.refuse(1, "this is not YAML: %s", strings.ReplaceAll(err.Error(), "\n", " "))
		return nil
	}
	docs := slices.DeleteFunc(slices.Clone(file.Docs), func(doc *ast.DocumentNode) bool { return doc.Body == nil || isNothing(doc.Body) })
	if len(docs) != 1 {
		d.refuse(1, "the file has %s, one is allowed", kafka.Count(len(docs), "document"))
		return nil
	}
	return docs[0].Body
}

// isNothing says whether a node is only a remark.
func isNothing(node ast.Node) bool {
	_, remark := node.(*ast.CommentGroupNode)
	return remark
}

// firstAlias gives the line of the first node of a kind that a scenario may not have; 0: there is none.
func firstAlias(root ast.Node) int {
	finder := &aliasFinder{}
	ast.Walk(finder, root)
	return finder.line
}

type aliasFinder struct{ line int }

// Visit looks at one node.
func (f *aliasFinder) Visit(node ast.Node) ast.Visitor {
	switch node.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode, *ast.DirectiveNode:
		if f.line == 0 {
			f.line = lineOf(node)
		}
		return nil
	}
	return f
}

func lineOf(node ast.Node) int {
	if t := node.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}

// value reads a node into a field. The name says which one, and tag what is allowed.
func (d *decoder) value(node ast.Node, into reflect.Value, name string, tag reflect.StructTag) {
	switch target := into.Addr().Interface().(type) {
	case *Scalar:
		*target = Scalar{d.text(node, name, tag), lineOf(node)}
		return
	case *Text:
		*target = d.sentences(node, name, tag)
		return
	case **Expression:
		*target = d.expression(d.text(node, name, ""), textLine(node), wantOf(tag))
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.value(node, into.Elem(), name, tag)
	case reflect.Struct:
		d.fields(node, into, name)
	case reflect.Slice:
		d.list(node, into, name, tag)
	case reflect.Map:
		d.pairs(node, into, name, tag)
	case reflect.Int:
		d.number(node, into, name, tag)
	case reflect.String:
		text := d.text(node, name, tag)
		if options := strings.Split(tag.Get("oneof"), "|"); tag.Get("oneof") != "" && !slices.Contains(options, text) {
			d.refuse(lineOf(node), "%s is %s: allowed are %s", name, shown(text), strings.Join(options, ", "))
		}
		into.SetString(text)
	}
}

func wantOf(tag reflect.StructTag) wanted {
	if tag.Get("gives") == "bool" {
		return wantBool
	}
	return wantPlain
}

// entries gives the pairs of a mapping; ok is false where it is none.
func entries(node ast.Node) (list []*ast.MappingValueNode, ok bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// fields reads a mapping into a struct.
func (d *decoder) fields(node ast.Node, into reflect.Value, name string) {
	pairs, ok := entries(node)
	if !ok {
		d.refuse(lineOf(node), "%s is %s: fields are allowed, each a line with its name", name, kindOf(node))
		return
	}
	line := lineOf(node)
	if len(pairs) > 0 {
		line = lineOf(pairs[0].Key)
	}
	into.FieldByName("Line").SetInt(int64(line))
	known := fieldsOf(into.Type())
	seen := map[string]bool{}
	for _, pair := range pairs {
		key := pair.Key.String()
		at := slices.IndexFunc(known, func(f reflect.StructField) bool { return f.Tag.Get("yaml") == key })
		switch {
		case at < 0:
			d.refuse(lineOf(pair.Key), "%s has a field %s: allowed are %s", name, shown(key), strings.Join(namesOf(known), ", "))
		case seen[key]:
			d.refuse(lineOf(pair.Key), "%s has the field %s twice: once is allowed", name, key)
		default:
			d.value(pair.Value, into.FieldByIndex(known[at].Index), key, known[at].Tag)
		}
		seen[key] = true
	}
	for _, f := range known {
		if key := f.Tag.Get("yaml"); f.Tag.Get("need") != "" && !seen[key] {
			d.refuse(line, "%s has no field %s, which is needed: %s", name, key, f.Tag.Get("doc"))
		}
	}
}

// fieldsOf lists the fields of a form that an author can write.
func fieldsOf(t reflect.Type) (list []reflect.StructField) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") != "-" {
			list = append(list, f)
		}
	}
	return list
}

func namesOf(fields []reflect.StructField) (names []string) {
	for _, f := range fields {
		names = append(names, f.Tag.Get("yaml"))
	}
	return names
}

// list reads a sequence.
func (d *decoder) list(node ast.Node, into reflect.Value, name string, tag reflect.StructTag) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		d.refuse(lineOf(node), "%s is %s: a list is allowed, each item behind a hyphen", name, kindOf(node))
		return
	}
	if most, _ := strconv.Atoi(tag.Get("max")); len(sequence.Values) > most {
		d.refuse(lineOf(node), "%s has %d items: at most %d are allowed", name, len(sequence.Values), most)
		return
	}
	for _, item := range sequence.Values {
		one := reflect.New(into.Type().Elem()).Elem()
		d.value(item, one, "an item of "+name, `max:"80"`)
		into.Set(reflect.Append(into, one))
	}
}

// pairs reads a mapping of names and values.
func (d *decoder) pairs(node ast.Node, into reflect.Value, name string, tag reflect.StructTag) {
	list, ok := entries(node)
	if !ok {
		d.refuse(lineOf(node), "%s is %s: names with their values are allowed, as in acks: 1", name, kindOf(node))
		return
	}
	if most, err := strconv.Atoi(tag.Get("max")); err == nil && len(list) > most {
		d.refuse(lineOf(node), "%s has %d pairs: at most %d is allowed", name, len(list), most)
	}
	into.Set(reflect.MakeMap(into.Type()))
	for _, pair := range list {
		key := pair.Key.String()
		var one Scalar
		d.value(pair.Value, reflect.ValueOf(&one).Elem(), key, `max:"4000"`)
		into.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(one))
	}
}

// number reads a whole number within the bounds of its field.
func (d *decoder) number(node ast.Node, into reflect.Value, name string, tag reflect.StructTag) {
	least, _ := strconv.Atoi(tag.Get("min"))
	most, _ := strconv.Atoi(tag.Get("max"))
	allowed := fmt.Sprintf("a whole number from %d to %d is allowed", least, most)
	whole, ok := node.(*ast.IntegerNode)
	if !ok {
		d.refuse(lineOf(node), "%s is %s: %s", name, kindOf(node), allowed)
		return
	}
	n, err := strconv.Atoi(whole.GetToken().Value)
	if err != nil || n < least || n > most {
		d.refuse(lineOf(node), "%s is %s: %s", name, shown(whole.GetToken().Value), allowed)
		return
	}
	into.SetInt(int64(n))
}

// text reads a text, or a number or true or false as it is written.
func (d *decoder) text(node ast.Node, name string, tag reflect.StructTag) string {
	var text string
	switch n := node.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = strings.TrimRight(n.Value.Value, "\n")
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		text = node.GetToken().Value
	default:
		d.refuse(lineOf(node), "%s is %s: a text is allowed", name, kindOf(node))
		return ""
	}
	most, err := strconv.Atoi(tag.Get("max"))
	switch {
	case err == nil && utf8.RuneCountInString(text) > most:
		d.refuse(lineOf(node), "%s has %d letters: at most %d are allowed", name, utf8.RuneCountInString(text), most)
	case strings.TrimSpace(text) == "":
		d.refuse(lineOf(node), "%s is empty: leave the field out, or write something", name)
	case strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }):
		d.refuse(lineOf(node), "%s has a letter that cannot be printed", name)
	}
	return text
}

// textLine gives the line of the first letter of a text.
func textLine(node ast.Node) int {
	if _, block := node.(*ast.LiteralNode); block {
		return lineOf(node) + 1
	}
	return lineOf(node)
}

// expression compiles what stands in a field.
func (d *decoder) expression(text string, line int, want wanted) *Expression {
	program, err := compile(text, want)
	if err != nil {
		d.refuse(line, "%v: %s", err, shown(text))
	}
	return &Expression{Text: text, Line: line, program: program}
}

// sentences reads a text with ${EXPRESSION} in it.
func (d *decoder) sentences(node ast.Node, name string, tag reflect.StructTag) Text {
	rest := d.text(node, name, tag)
	t := Text{Line: lineOf(node)}
	for rest != "" {
		words, after, found := strings.Cut(rest, "${")
		if words != "" {
			t.Parts = append(t.Parts, TextPart{Words: words})
		}
		if !found {
			break
		}
		inside, behind, closed := strings.Cut(after, "}")
		if !closed {
			d.refuse(t.Line, "%s has a ${ without its }", name)
			break
		}
		t.Parts = append(t.Parts, TextPart{Ask: d.expression(inside, t.Line, wantPlain)})
		rest = behind
	}
	return t
}

// kindOf says what a node is, for a message.
func kindOf(node ast.Node) string {
	switch n := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a set of fields"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "empty"
	case *ast.StringNode:
		return "the text " + shown(n.Value)
	case *ast.LiteralNode:
		return "a text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return node.GetToken().Value
	}
	return "something else"
}

// shown quotes what was found, shortened.
func shown(text string) string {
	const most = 60
	if letters := []rune(text); len(letters) > most {
		text = string(letters[:most]) + "…"
	}
	return strconv.Quote(text)
}
