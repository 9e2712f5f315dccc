package loglab

import (
	"bytes"
	"go/ast"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// foreignWords belong to one machine or one service and never into the tree. They are joined here so that
// this file passes its own test.
var foreignWords = []string{
	strings.Join([]string{"proxy", "golang", "org"}, "."),
	strings.Join([]string{"sum", "golang", "org"}, "."),
	strings.Join([]string{"registry", "npmjs", "org"}, "."),
	strings.Join([]string{"deb", "debian", "org"}, "."),
	strings.Join([]string{"pypi", "org"}, "."),
	strings.Join([]string{"", "root", ""}, "/"),
	strings.Join([]string{"", "work", "main"}, "/"),
	strings.Join([]string{"", "work", "shared"}, "/"),
}

// TestForeignWords reads every text of ours; go.sum and generated Go are not ours.
func TestForeignWords(t *testing.T) {
	err := eachFile(func(name string) error {
		ours := []string{".go", ".templ", ".css", ".js", ".html", ".md", ".yaml", ".yml", ".txt", ".json", ".mod", ".svg", ""}
		if !slices.Contains(ours, path.Ext(name)) || strings.HasSuffix(name, "_templ.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, word := range foreignWords {
			if before, _, found := bytes.Cut(text, []byte(word)); found {
				t.Errorf("%s:%d: %q does not belong here", name, bytes.Count(before, []byte("\n"))+1, word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGlossaryCoversVocabulary wants a glossary entry for each exported type of engine/kafka: LeaderEpoch is
// explained in leader-epoch.md. GenerationID may be explained as generation.
func TestGlossaryCoversVocabulary(t *testing.T) {
	for _, p := range loadTree(t) {
		if p.path != "engine/kafka" {
			continue
		}
		for _, f := range p.code() {
			for _, decl := range f.syntax.Decls {
				group, ok := decl.(*ast.GenDecl)
				if !ok || group.Tok != token.TYPE {
					continue
				}
				for _, spec := range group.Specs {
					name := spec.(*ast.TypeSpec).Name
					slug := slugOf(name.Name)
					if name.IsExported() && !hasEntry(slug) && !hasEntry(strings.TrimSuffix(slug, "-id")) {
						t.Errorf("%s: %s has no entry content/glossary/%s.md", f.at(name), name.Name, slug)
					}
				}
			}
		}
	}
}

func hasEntry(slug string) bool {
	_, err := os.Stat("content/glossary/" + slug + ".md")
	return err == nil
}

// slugOf joins the words of a Go name with hyphens; a run of capitals is one word.
func slugOf(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) {
			nextIsLower := i+1 < len(letters) && unicode.IsLower(letters[i+1])
			if unicode.IsLower(letters[i-1]) || nextIsLower {
				b.WriteByte('-')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func TestSlugOf(t *testing.T) {
	for name, want := range map[string]string{
		"Offset": "offset", "LeaderEpoch": "leader-epoch", "BrokerID": "broker-id", "GroupInstanceID": "group-instance-id",
		"ISRChange": "isr-change",
	} {
		if got := slugOf(name); got != want {
			t.Errorf("slugOf(%q) is %q, want %q", name, got, want)
		}
	}
}
