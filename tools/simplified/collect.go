package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// line is one thing the engine leaves out.
type line struct {
	pkg    string // "engine/broker"
	symbol string // "Broker.Tick", "Config.SegmentBytes"; empty for the package itself
	text   string // one line, without "Simplified:"
	source string // one line, without "Source:"; may be empty
	file   string // "engine/broker/fetch.go"
	number int    // line in file, from 1
}

// collect returns the lines of all non-test Go files below dir, ordered by file and line.
func collect(dir string) ([]line, error) {
	var lines []line
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		found, err := linesOf(filepath.ToSlash(name), nil)
		lines = append(lines, found...)
		return err
	})
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.file, b.file), cmp.Compare(a.number, b.number))
	})
	return lines, err
}

// linesOf returns the lines of one file. src is as for [parser.ParseFile].
func linesOf(name string, src any) ([]line, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	owners := ownersOf(file)
	var lines []line
	for _, group := range file.Comments {
		symbol, ok := owners[group]
		if !ok {
			symbol = symbolAround(file, group)
		}
		paragraphs := paragraphsOf(set, group)
		source := sourceOf(paragraphs)
		for _, p := range paragraphs {
			if text, ok := strings.CutPrefix(p.text, simplifiedMark); ok {
				lines = append(lines, line{
					pkg: path.Dir(name), symbol: symbol, text: strings.TrimSpace(text), source: source,
					file: name, number: p.number,
				})
			}
		}
	}
	return lines, nil
}

// ownersOf maps each doc comment of file to the identifier it documents.
func ownersOf(file *ast.File) map[*ast.CommentGroup]string {
	owners := map[*ast.CommentGroup]string{}
	own := func(symbol string, groups ...*ast.CommentGroup) {
		for _, group := range groups {
			if group != nil {
				owners[group] = symbol
			}
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			own(funcSymbol(d), d.Doc)
		case *ast.GenDecl:
			own(specSymbol(d.Specs), d.Doc)
			for _, spec := range d.Specs {
				symbol := specSymbol([]ast.Spec{spec})
				switch s := spec.(type) {
				case *ast.ValueSpec:
					own(symbol, s.Doc, s.Comment)
				case *ast.TypeSpec:
					own(symbol, s.Doc, s.Comment)
					ast.Inspect(s.Type, func(n ast.Node) bool {
						if f, ok := n.(*ast.Field); ok && len(f.Names) > 0 {
							own(symbol+"."+f.Names[0].Name, f.Doc, f.Comment)
						}
						return true
					})
				}
			}
		}
	}
	return owners
}

// symbolAround names the declaration that group stands in, or nothing.
func symbolAround(file *ast.File, group *ast.CommentGroup) string {
	for _, decl := range file.Decls {
		if group.Pos() < decl.Pos() || group.End() > decl.End() {
			continue
		}
		switch d := decl.(type) {
		case *ast.FuncDecl:
			return funcSymbol(d)
		case *ast.GenDecl:
			return specSymbol(d.Specs)
		}
	}
	return ""
}

func funcSymbol(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

// specSymbol names the first identifier of specs.
func specSymbol(specs []ast.Spec) string {
	if len(specs) > 0 {
		switch s := specs[0].(type) {
		case *ast.TypeSpec:
			return s.Name.Name
		case *ast.ValueSpec:
			return s.Names[0].Name
		}
	}
	return ""
}
