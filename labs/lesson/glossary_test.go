package lesson

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"loglab/content"
)

func TestLoadGlossary(t *testing.T) {
	got, err := LoadGlossary(fstest.MapFS{
		"glossary/offset.md": {Data: []byte("# Offset\n\nA record's *number*, as\n`baseOffset` says. It is " +
			"the [lag](/glossary/lag)'s unit & never < 0.\n\nSee: lag\nSource: UnifiedLog\n")},
		"glossary/lag.md": {Data: []byte("# Lag\n\nHow far behind?\n\nSource: KIP-1, \"a\"\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Glossary{
		{Slug: "lag", Title: "Lag", HTML: "<p>How far behind?</p>\n", Short: "How far behind?", Source: `KIP-1, "a"`},
		{
			Slug:  "offset",
			Title: "Offset",
			HTML: "<p>A record's <em>number</em>, as\n<code>baseOffset</code> says. It is " +
				"the <a href=\"/glossary/lag\">lag</a>'s unit &amp; never &lt; 0.</p>\n",
			Short:  "A record's number, as baseOffset says.",
			See:    []string{"lag"},
			Source: "UnifiedLog",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if term, ok := got.Term("offset"); !ok || term.Title != "Offset" {
		t.Errorf("Term(offset) is %v, %v", term, ok)
	}
	if term, ok := got.Term("offse"); ok {
		t.Errorf("Term(offse) is %v", term)
	}
}

func TestLoadGlossaryErrors(t *testing.T) {
	const file = "glossary/a.md"
	for _, test := range []struct{ name, file, text, want string }{
		{"no title", file, "A\n\nText.\n\nSource: s\n", `glossary/a.md:1: the first line must be "# " and the term`},
		{"empty file", file, "", `glossary/a.md:1: there is no line "Source: …"`},
		{"no source", file, "# A\n\nText.\n", `glossary/a.md:3: there is no line "Source: …"`},
		{"empty source", file, "# A\n\nText.\n\nSource:\n", "glossary/a.md:5: Source is empty"},
		{"source twice", file, "# A\n\nText.\n\nSource: s\nSource: s\n", "glossary/a.md:6: Source stands twice"},
		{"text after source", file, "# A\n\nText.\n\nSource: s\nMore.\n", `glossary/a.md:6: after See or Source only these may stand, found "More."`},
		{"no explanation", file, "# A\n\nSource: s\n", "glossary/a.md:2: there is no explanation"},
		{"five sentences", file, "# A\n\nA. B? C! D.\nE\n\nSource: s\n", "glossary/a.md:2: the explanation has 5 sentences, allowed are 4"},
		{"list", file, "# A\n\nText.\n\n- one\n\nSource: s\n", "only paragraphs are allowed, found List"},
		{"HTML block", file, "# A\n\n<div>x</div>\n\nSource: s\n", "glossary/a.md:3: only paragraphs are allowed, found HTMLBlock"},
		{"HTML in a line", file, "# A\n\nText.\n\nSome <b>x</b>.\n\nSource: s\n", "glossary/a.md:5: raw HTML is not allowed"},
		{"see nothing", file, "# A\n\nText.\n\nSee: b\nSource: s\n", `glossary/a.md:5: there is no term "b"`},
		{"see itself", file, "# A\n\nText.\n\nSee: a\nSource: s\n", `glossary/a.md:5: See names "a"`},
		{"see empty item", file, "# A\n\nText.\n\nSee: ,\nSource: s\n", `glossary/a.md:5: there is no term ""`},
		{"link to nothing", file, "# A\n\nText.\n\nThe [b](/glossary/b).\n\nSource: s\n", `glossary/a.md:5: there is no term "b"`},
		{"file name", "glossary/A b.md", "# A\n\nText.\n\nSource: s\n", "glossary/A b.md:1: the file's name must be"},
		{"file type", "glossary/a.txt", "# A\n\nText.\n\nSource: s\n", "glossary/a.txt:1: the file's name must be"},
	} {
		t.Run(test.name, func(t *testing.T) {
			glossary, err := LoadGlossary(fstest.MapFS{test.file: {Data: []byte(test.text)}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if glossary != nil {
				t.Errorf("there is a glossary: %v", glossary)
			}
		})
	}
}

func TestLoadGlossaryListsAllProblems(t *testing.T) {
	_, err := LoadGlossary(fstest.MapFS{
		"glossary/a.md": {Data: []byte("# A\n\nText.\n\nSee: c\nSource: s\n")},
		"glossary/b.md": {Data: []byte("# B\n\nText.\n")},
	})
	if err == nil || len(strings.Split(err.Error(), "\n")) != 2 {
		t.Errorf("error %v, want two lines", err)
	}
}

func TestDangerousLinkIsNotRendered(t *testing.T) {
	got, err := LoadGlossary(fstest.MapFS{
		"glossary/a.md": {Data: []byte("# A\n\nThe [b](javascript:alert).\n\nSource: s\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got[0].HTML, "javascript:") {
		t.Errorf("HTML is %s", got[0].HTML)
	}
}

func TestShippedGlossary(t *testing.T) {
	glossary, err := LoadGlossary(content.FS)
	if err != nil {
		t.Fatal(err)
	}
	// Where the picture and the event log link to.
	for _, slug := range []string{
		"log-start-offset", "log-end-offset", "high-watermark", "last-stable-offset", "position",
		"committed-offset", "lag", "idle-consumer", "moved-key", "baseline", "tick", "leader-epoch",
	} {
		if _, ok := glossary.Term(slug); !ok {
			t.Errorf("there is no term %q", slug)
		}
	}
}
