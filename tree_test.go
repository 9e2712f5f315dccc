package loglab

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// pkg is one directory with Go files.
type pkg struct {
	path  string // below the module, "engine/broker"; "." for the root
	files []*goFile
}

// goFile is one parsed file.
type goFile struct {
	name   string // "engine/broker/fetch.go"
	text   []byte
	syntax *ast.File
}

// positions holds the places of all parsed files.
var positions = token.NewFileSet()

// loadTree parses the module once, sorted by path.
func loadTree(t *testing.T) []pkg {
	t.Helper()
	packages, err := parseTree()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

var parseTree = sync.OnceValues(func() ([]pkg, error) {
	var packages []pkg
	err := eachFile(func(name string) error {
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parseFile(name, text)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		i := slices.IndexFunc(packages, func(p pkg) bool { return p.path == dir })
		if i < 0 {
			i = len(packages)
			packages = append(packages, pkg{path: dir})
		}
		packages[i].files = append(packages[i].files, file)
		return nil
	})
	return packages, err
})

func parseFile(name string, text []byte) (*goFile, error) {
	syntax, err := parser.ParseFile(positions, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return &goFile{name: name, text: text, syntax: syntax}, err
}

// eachFile calls visit with the path of every file of the checkout that is not fetched, built or hidden, in
// lexical order. Test data is not visited.
func eachFile(visit func(name string) error) error {
	return filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if !entry.IsDir() {
			return visit(name)
		}
		if slices.Contains([]string{".git", "bin", "third_party", "static/dist"}, name) || path.Base(name) == "testdata" {
			return filepath.SkipDir
		}
		return nil
	})
}

// code lists the files that are not tests.
func (p pkg) code() []*goFile {
	var code []*goFile
	for _, f := range p.files {
		if !strings.HasSuffix(f.name, "_test.go") {
			code = append(code, f)
		}
	}
	return code
}

// file returns the file with this base name, or nil.
func (p pkg) file(base string) *goFile {
	for _, f := range p.files {
		if path.Base(f.name) == base {
			return f
		}
	}
	return nil
}

// at is the place of a node as "file:line".
func (f *goFile) at(node ast.Node) string {
	return f.name + ":" + strconv.Itoa(positions.Position(node.Pos()).Line)
}

func (f *goFile) isGenerated() bool { return ast.IsGenerated(f.syntax) }

func (f *goFile) lines() int { return bytes.Count(f.text, []byte("\n")) }

type importSpec struct{ path, at string }

func (f *goFile) imports() []importSpec {
	var imports []importSpec
	for _, spec := range f.syntax.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser accepted it
		}
		imports = append(imports, importSpec{path: path, at: f.at(spec)})
	}
	return imports
}

func (f *goFile) goStatements() []string {
	var found []string
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		if statement, ok := node.(*ast.GoStmt); ok {
			found = append(found, f.at(statement))
		}
		return true
	})
	return found
}

type function struct {
	name, at string
	lines    int
}

func (f *goFile) functions() []function {
	var functions []function
	for _, decl := range f.syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			lines := positions.Position(fn.End()).Line - positions.Position(fn.Pos()).Line + 1
			functions = append(functions, function{name: fn.Name.Name, at: f.at(fn), lines: lines})
		}
	}
	return functions
}
