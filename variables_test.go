package loglab

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
)

// tableMakers are functions of other packages whose result never changes, so a variable that holds it is a
// table.
var tableMakers = []string{
	"crc32.MakeTable", "regexp.MustCompile", "strings.NewReplacer",
}

// packageVariables reports what is wrong with the variables of p: the engine has none but tables and errors.
//
// A variable is in order when its name is blank; or it is an error made where it is declared; or it is a
// table, which means that it is made where it is declared by a composite literal, a conversion, a function of
// the same package or one of tableMakers, and that no code assigns to it or to a part of it, or takes its
// address.
func (p pkg) packageVariables() []string {
	var problems []string
	for _, f := range p.code() {
		for _, decl := range f.syntax.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					if name.Name != "_" && (len(v.Values) != len(v.Names) || !isTableOrError(v.Values[i])) {
						problems = append(problems, fmt.Sprintf("%s: package variable %s is neither a table nor an error made here", f.at(name), name.Name))
					}
				}
			}
		}
	}
	return append(problems, p.changedVariables()...)
}

func isTableOrError(value ast.Expr) bool {
	switch v := value.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		switch fun := v.Fun.(type) {
		case *ast.Ident, *ast.ArrayType, *ast.MapType:
			return true
		case *ast.IndexExpr: // a generic function of the same package
			return true
		case *ast.SelectorExpr:
			name := types.ExprString(fun)
			return name == "errors.New" || name == "fmt.Errorf" || slices.Contains(tableMakers, name)
		}
	}
	return false
}

// changedVariables reports each place where p's code changes one of its package variables.
func (p pkg) changedVariables() []string {
	var problems []string
	uses, scope := p.resolve()
	for _, f := range p.code() {
		report := func(node ast.Node, changed ast.Expr) {
			if name := rootIdent(changed); name != nil {
				if v, ok := uses[name].(*types.Var); ok && v.Parent() == scope {
					problems = append(problems, fmt.Sprintf("%s: package variable %s is changed here", f.at(node), name.Name))
				}
			}
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					report(n, left)
				}
			case *ast.RangeStmt:
				report(n, n.Key)
				report(n, n.Value)
			case *ast.IncDecStmt:
				report(n, n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					report(n, n.X)
				}
			case *ast.CallExpr:
				if fun, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && slices.Contains([]string{"delete", "clear", "copy"}, fun.Name) {
					report(n, n.Args[0])
				}
			}
			return true
		})
	}
	return problems
}

// rootIdent finds x in x, x[i], x[i:j], x.f, *x and (x), or nothing.
func rootIdent(expr ast.Expr) *ast.Ident {
	for {
		switch e := expr.(type) {
		case *ast.Ident:
			return e
		case *ast.IndexExpr:
			expr = e.X
		case *ast.SliceExpr:
			expr = e.X
		case *ast.SelectorExpr:
			expr = e.X
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		default:
			return nil
		}
	}
}

// resolve tells for each identifier in p's code what it means, as far as p itself declares it: imported
// packages look empty. The scope is that of p's package-level names.
func (p pkg) resolve() (map[*ast.Ident]types.Object, *types.Scope) {
	var files []*ast.File
	for _, f := range p.code() {
		files = append(files, f.syntax)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: emptyImporter{}, Error: func(error) {}}
	checked, _ := config.Check(p.path, positions, files, &info)
	return info.Uses, checked.Scope()
}

type emptyImporter struct{}

func (emptyImporter) Import(name string) (*types.Package, error) {
	imported := types.NewPackage(name, path.Base(name))
	imported.MarkComplete()
	return imported, nil
}

func TestPackageVariables(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"errors", `var ErrA = errors.New("a"); var errB = fmt.Errorf("b: %w", ErrA)`, ""},
		{"tables", `var a = [...]int{1}; var b = map[string]int{"x": 1}; var c = []byte("x"); var d = crc32.MakeTable(1); var e = build()`, ""},
		{"assertion", `var _ I = (*T)(nil)`, ""},
		{"reading", `var a = []int{1}; func f() int { for i := range a { return a[i] }; return len(a) }`, ""},
		{"shadow", `var a = []int{1}; func f(a []int) { a[0] = 2; a = nil }`, ""},
		{"field of the same name", `var a = []int{1}; func (t *T) f() { t.a = nil }; type T struct { a []int }`, ""},
		{"no value", `var a int`, "neither"},
		{"number", `var a = 1`, "neither"},
		{"pointer", `var a = &T{}; type T struct{}`, "neither"},
		{"stateful", `var a = prng.New(1)`, "neither"},
		{"function", `var a = func() {}`, "neither"},
		{"assigned", `var a = []int{1}; func f() { a = nil }`, "changed"},
		{"appended", `var a = []int{1}; func f() { a = append(a, 1) }`, "changed"},
		{"element", `var a = []int{1}; func f() { a[0] = 2 }`, "changed"},
		{"deep element", `var a = []T{{}}; func f() { (a)[0].x++ }; type T struct { x int }`, "changed"},
		{"map element", `var a = map[int]int{}; func init() { a[1] = 2 }`, "changed"},
		{"deleted", `var a = map[int]int{}; func f() { delete(a, 1) }`, "changed"},
		{"address", `var a = []int{1}; func f() *int { return &a[0] }`, "changed"},
		{"range", `var a = [1]int{1}; func f() { for a[0] = range 3 { } }`, "changed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := parseFile("engine/x/x.go", []byte("package x; "+test.source))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(pkg{path: "engine/x", files: []*goFile{f}}.packageVariables(), "\n")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("problems %q, want one with %q", got, test.want)
			}
		})
	}
}
