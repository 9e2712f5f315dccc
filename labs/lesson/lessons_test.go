package lesson_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"loglab/content"
	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/lesson"
	"loglab/labs/scenario"
)

// known is what the shipped lessons can refer to.
func known(t *testing.T) lesson.Known {
	t.Helper()
	terms, err := lesson.LoadGlossary(content.FS)
	if err != nil {
		t.Fatal(err)
	}
	told, err := scenario.Load(content.FS, "scenarios", scenario.Known{Labs: all.Labs()})
	if err != nil {
		t.Fatal(err)
	}
	return lesson.Known{Labs: all.Labs(), Terms: terms, Scenario: func(name string) *labs.Story {
		if i := slices.IndexFunc(told, func(s *scenario.Scenario) bool { return s.Name == name }); i >= 0 {
			return told[i].Story
		}
		return nil
	}}
}

// Every number that names a lab and a tick is the engine's: the engine answers it, and what is said holds.
func TestShippedLessons(t *testing.T) {
	lessons, err := lesson.LoadLessons(content.FS, known(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lessons {
		t.Run(l.Slug, func(t *testing.T) {
			t.Parallel()
			if err := l.Check(); err != nil {
				t.Fatal(err)
			}
			parts, err := l.Filled()
			if err != nil {
				t.Fatal(err)
			}
			placed, words := 0, 0
			for _, p := range parts {
				if p.Lab != nil {
					placed++
				}
				if strings.ContainsAny(p.HTML+p.Tool, "\uE000\uE001") {
					t.Errorf("a place is not filled in: %s", p.HTML)
				}
				if strings.Contains(p.HTML, "style=") {
					t.Errorf("a style stands in the text: the site's policy forbids it")
				}
				words += len(strings.Fields(regexp.MustCompile(`<pre>(?s:.*?)</pre>|<[^>]*>`).ReplaceAllString(p.HTML, " ")))
			}
			t.Logf("%d words, %d labs", words, placed)
			if l.Order > 0 && (placed < 2 || placed > 5 || words < 900 || words > 1800) {
				t.Errorf("%d words and %d labs: 900 to 1,800 and 2 to 5 are a lesson", words, placed)
			}
		})
	}
}

const top = "---\ntitle: A\nsummary: S.\norder: 1\nterms: lag\n---\n"

func TestLoadLessonsErrors(t *testing.T) {
	k := known(t)
	lab := func(lines string) string {
		return top + "The lag.\n\n```lab\n/lab/offsets?v=1&t=3\n" + lines + "```\n"
	}
	for _, test := range []struct{ name, file, text, want string }{
		{"no top", "a.md", "# A\n", "lessons/a.md:1: the file must begin with"},
		{"unknown field", "a.md", "---\ntitle: A\nsummary: S\norder: 1\nterms: lag\nauthor: me\n---\nThe lag.\n", `lessons/a.md:6: "author" is not known`},
		{"no summary", "a.md", "---\ntitle: A\norder: 1\nterms: lag\n---\nThe lag.\n", `lessons/a.md:1: there is no line "summary: …"`},
		{"order", "a.md", strings.Replace(top, "order: 1", "order: x", 1) + "The lag.\n", `lessons/a.md:4: order is "x"`},
		{"unknown term", "a.md", strings.Replace(top, "lag", "lagg", 1) + "Text.\n", `there is no term "lagg"`},
		{"term not used", "a.md", top + "Text.\n", "the term lag is not used"},
		{"raw HTML", "a.md", top + "The lag.\n\n<b>x</b> y\n", "lessons/a.md:9: raw HTML is not allowed"},
		{"HTML block", "a.md", top + "The lag.\n\n<div>x</div>\n", "lessons/a.md:9: HTMLBlock is not allowed"},
		{"picture", "a.md", top + "The lag ![x](y.png).\n", "lessons/a.md:7: pictures are not allowed"},
		{"title of the page", "a.md", top + "# Lag\n\nThe lag.\n", "lessons/a.md:7: a heading of level 1"},
		{"link to nothing", "a.md", top + "The lag [x](/labs).\n", `lessons/a.md:7: a link leads to "/labs"`},
		{"script", "a.md", top + "The lag [x](javascript:alert).\n", "lessons/a.md:7: a link leads to"},
		{"no such lesson", "a.md", top + "The lag [x](/lesson/b).\n", `lessons/a.md:7: there is no lesson "b"`},
		{"no such scenario", "a.md", top + "The lag [x](/scenario/b).\n", `lessons/a.md:7: there is no scenario "b"`},
		{"no such lab", "a.md", top + "The lag [x](/lab/b?v=1).\n", `lessons/a.md:7: there is no lab "b"`},
		{"not canonical", "a.md", top + "The lag [x](/lab/offsets?t=3).\n", "write /lab/offsets?v=1&t=3"},
		{"unknown parameter", "a.md", top + "The lag [x](/lab/offsets?v=1&speed=3).\n", "lessons/a.md:7: /lab/offsets?v=1&speed=3: "},
		{"beyond the end", "a.md", top + "The lag [x](/lab/offsets?v=1&t=4000).\n", "t is 4000, at most"},
		{"tick in words", "a.md", top + "The lag at tick 3.\n", `lessons/a.md:7: "tick 3" is a number of your own`},
		{"another tick", "a.md", top + "The lag [at tick 4](/lab/offsets?v=1&t=3).\n", `a link is called "at tick 4" and leads to tick 3`},
		{"title of a link", "a.md", top + "The lag [x](/lab/offsets?v=1&t=3 \"Hello\").\n", `a link to a lab has the title "Hello"`},
		{"check of a link", "a.md", top + "The lag [x](/lab/offsets?v=1&t=3 \"check: nobody > 3\").\n", "lessons/a.md:7: the expression does not compile"},
		{"expression", "a.md", lab("caption: ${nobody}\n"), "lessons/a.md:11: the expression does not compile"},
		{"before any lab", "a.md", top + "The lag ${tick}.\n", "lessons/a.md:7: ${tick} stands before any lab"},
		{"no caption", "a.md", lab(""), "lessons/a.md:9: a lab has no line"},
		{"number in a caption", "a.md", lab("caption: The lag is 5.\n"), `a caption has a number of its own, "5"`},
		{"height", "a.md", lab("caption: x\nheight: 5\n"), `lessons/a.md:12: height is "5"`},
		{"field of a lab", "a.md", lab("caption: x\nwidth: 5\n"), `lessons/a.md:12: "width" is not known`},
		{"tool before any lab", "a.md", top + "The lag.\n\n```describe\nbilling\n```\n", "there is no lab above"},
		{"file name", "A b.md", top + "The lag.\n", "lessons/A b.md:1: the file's name must be"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lessons, err := lesson.LoadLessons(fstest.MapFS{"lessons/" + test.file: {Data: []byte(test.text)}}, k)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if lessons != nil {
				t.Errorf("there are lessons: %v", lessons)
			}
		})
	}
}

// What only a run can tell is told by Check, with its line.
func TestCheck(t *testing.T) {
	k := known(t)
	const begin = top + "The lag.\n\n```lab\n/lab/offsets?v=1&partitions=1&records=12&t=3\n"
	for _, test := range []struct{ name, text, want string }{
		{"holds", begin + "caption: x\ncheck: ledger.sent == 12\n```\n", ""},
		{"does not hold", begin + "caption: x\ncheck: ledger.sent == 13\n```\n", "lessons/a.md:12: this does not hold at /lab/offsets?v=1&partitions=1&records=12&t=3: ledger.sent == 13"},
		{"cannot be answered", begin + "caption: ${group('nobody').lag}\n```\n", `lessons/a.md:11: `},
		{"link", top + "The lag [x](/lab/offsets?v=1&t=3 \"check: tick == 4\").\n", "lessons/a.md:7: this does not hold"},
		{"no such group", begin + "caption: x\n```\n\n```describe\nnobody\n```\n", `there is no group "nobody"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			lessons, err := lesson.LoadLessons(fstest.MapFS{"lessons/a.md": {Data: []byte(test.text)}}, k)
			if err != nil {
				t.Fatal(err)
			}
			err = lessons[0].Check()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestFilled(t *testing.T) {
	const text = top + "First the lag, [again](/lab/offsets?v=1&t=3 \"check: tick == 3\").\n\n" +
		"```lab\n/lab/offsets?v=1&partitions=1&records=12&t=3\nheight: 640\ncaption: All ${ledger.sent} of `a < b`.\n```\n\n" +
		"At tick ${tick}.\n\n```describe\nbilling\n```\n\n```lag\nbilling\n```\n"
	lessons, err := lesson.LoadLessons(fstest.MapFS{"lessons/a.md": {Data: []byte(text)}}, known(t))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := lessons[0].Filled()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`<p>First the <a href="/glossary/lag">lag</a>, <a href="/lab/offsets?v=1&amp;t=3">again</a>.</p>` + "\n",
		`All 12 of <code>a &lt; b</code>.`,
		"<p>At tick 3.</p>\n",
		"GROUP    TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CLIENT-ID\nbilling  orders  0          -               12              -    billing-1\n",
		"",
	}
	for i, p := range parts {
		if got := p.HTML + p.Tool; i < len(want) && got != want[i] {
			t.Errorf("part %d is %q, want %q", i, got, want[i])
		}
	}
	if len(parts) != len(want) || parts[1].Lab == nil || parts[1].Lab.Height != 640 {
		t.Errorf("there are %d parts: %+v", len(parts), parts)
	}
}
