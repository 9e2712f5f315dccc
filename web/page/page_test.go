package page

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"loglab/labs/lesson"
	"loglab/labs/view"
	"loglab/web/ui"
)

var update = flag.Bool("update", false, "write testdata instead of comparing with it")

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	out, err := Render(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// One golden file a region: a change of markup shows as the lines that changed.
func TestEachRegionIsDrawnAsItsGoldenFileSays(t *testing.T) {
	p := fixture()
	for name, component := range map[string]templ.Component{
		"transport":    ui.Transport(p.Transport, false),
		"playing":      ui.Transport(view.Playing(*p, "/play"+p.Address).Transport, true),
		"notices":      ui.Notices(p.Notices),
		"setting":      ui.Setting(p.Settings[0]),
		"actions":      ui.Actions(p.Actions),
		"picture":      ui.Picture(p.Picture),
		"cluster":      ui.Cluster(fixtureCluster()),
		"ledger":       ui.Ledger(fixtureLedger(), "", ""),
		"timeline":     ui.Timeline(fixtureTimeline()),
		"machine":      ui.Machine(fixtureMachine()),
		"brackets":     ui.Lane(fixtureBrackets()),
		"groups":       ui.Actions(fixtureGroups()),
		"pair":         ui.Pair(fixtureOfTwo()),
		"pair-reading": ui.PairReading(fixtureOfTwo()),
		"reading":      ui.Reading(p.Reading),
		"events":       ui.Events(p.Events),
		"inspector":    ui.Inspector(p.Inspector),
		"nothing":      ui.Inspector(nil),
		"limits":       ui.Limits(p.Limits),
		"story":        ui.Story(fixtureStory(), "polite"),
		"story-number": ui.Story(fixtureNumber(), "polite"),
		"story-answer": ui.Story(fixtureAnswer(), "off"),
		"error":        Error(fixtureAssets, Problem{Status: 400, Title: "T", Text: "S.", Facts: []Fact{{"Found", "x"}}, Links: []Way{{"/", "All labs"}}}),
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.ReplaceAll(render(t, component), "><", ">\n<") + "\n"
			file := filepath.Join("testdata", name+".html")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got (-update writes it):\n%s", diff)
			}
		})
	}
}

func TestAPageHoldsItsFrameUnchanged(t *testing.T) {
	p := fixture()
	if frame := render(t, Frame(p, "")); !strings.Contains(render(t, Lab(fixtureAssets, p, fixtureOrigin)), frame) {
		t.Error("the element #lab of the page is not the frame")
	}
}

func TestAFrameSaysWhereItIs(t *testing.T) {
	playing := view.Playing(*fixture(), "/play/lab/partitions?v=1&t=6")
	for name, test := range map[string]struct {
		page *view.Page
		want map[string]string
	}{
		"at rest": {fixture(), map[string]string{"id": "lab", "data-address": "/lab/partitions?v=1&consumers=5&t=6", "data-last": "5000", "data-stream": ""}},
		"playing": {&playing, map[string]string{"data-stream": "/play/lab/partitions?v=1&t=6"}},
	} {
		t.Run(name, func(t *testing.T) {
			main := find(parse(t, render(t, Frame(test.page, ""))), func(n *html.Node) bool { return n.Data == "main" })[0]
			for key, want := range test.want {
				if got := attribute(main, key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
		})
	}
}

func TestAPlayingFrameIsNotAnnounced(t *testing.T) {
	playing := view.Playing(*fixture(), "/play/lab/partitions?v=1&t=6")
	say := func(p *view.Page) string {
		return attribute(find(parse(t, render(t, Frame(p, ""))), func(n *html.Node) bool { return attribute(n, "id") == "say" })[0], "aria-live")
	}
	if got := say(fixture()); got != "polite" {
		t.Errorf("at rest: aria-live is %q", got)
	}
	if got := say(&playing); got != "off" {
		t.Errorf("playing: aria-live is %q", got)
	}
}

func TestEveryIDIsThereOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range find(parse(t, render(t, Lab(fixtureAssets, fixture(), fixtureOrigin))), func(n *html.Node) bool { return attribute(n, "id") != "" }) {
		id := attribute(n, "id")
		if seen[id] {
			t.Errorf("id %q is there twice", id)
		}
		seen[id] = true
	}
	for _, id := range []string{"lab", "start", "back", "step", "play", "end", "jump", "net", "say", "clock", "picture", "inspector", "copy", "help", "r-orders-0-3"} {
		if !seen[id] {
			t.Errorf("there is no id %q", id)
		}
	}
}

// The policy of the site lets none of this run; a page that holds it is broken.
func TestNoPageHoldsInlineCode(t *testing.T) {
	term := lesson.Term{Slug: "offset", Title: "Offset", HTML: "<p>A number.</p>", See: []string{"none"}, Source: "KIP"}
	for name, component := range map[string]templ.Component{
		"lab":      Lab(fixtureAssets, fixture(), fixtureOrigin),
		"home":     Home(fixtureAssets, []Card{{Href: "/lab/x", Title: "X", Goal: "G", Summary: "S"}}, []LessonLine{{Href: "/lesson/x", Title: "X", Summary: "S"}}, []StoryGroup{{Title: "groups", Stories: []StoryLine{{Href: "/scenario/x", Title: "X", Goal: "/scenario/x?goal=1"}}}}, "wrong"),
		"scenario": Lab(fixtureAssets, fixtureTold(), fixtureOrigin),
		"glossary": Glossary(fixtureAssets, lesson.Glossary{term}),
		"term":     Term(fixtureAssets, term, lesson.Glossary{term}),
		"error":    Error(fixtureAssets, Problem{Title: "T", Text: "S"}),
	} {
		for _, n := range find(parse(t, render(t, component)), func(*html.Node) bool { return true }) {
			if n.Data == "style" || n.Data == "script" && (n.FirstChild != nil || attribute(n, "src") == "") {
				t.Errorf("%s: inline <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "data-on") {
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
			}
		}
	}
}

// hostile is text that would be something else than text if it could.
const hostile = "\"'><script>alert(1)</script>&amp;\r\ndata: x\r\r\u202Eevil\u2066\x00\x1b[31m</main></textarea><!--"

// The same page is drawn once with hostile and once with harmless text, as long, in every string. An HTML
// parser must see the same elements with the same attributes in both.
func TestHostileTextIsOnlyText(t *testing.T) {
	calm := strings.Repeat("x", len(hostile))
	want, got := shape(parse(t, render(t, Lab(fixtureAssets, filled(calm), fixtureOrigin)))), shape(parse(t, render(t, Lab(fixtureAssets, filled(hostile), fixtureOrigin))))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-harmless +hostile:\n%s", diff)
	}
	out := render(t, Lab(fixtureAssets, filled(hostile), fixtureOrigin))
	if strings.Contains(out, "\r") {
		t.Error("a carriage return reached the page")
	}
	// What a parser gives back is what was put in, but for NUL, which no HTML can hold.
	label := find(parse(t, out), func(n *html.Node) bool {
		return strings.Contains(attribute(n, "class"), "cell") && attribute(n, "aria-label") != ""
	})[0]
	if got, want := strings.ReplaceAll(attribute(label, "aria-label"), "\uFFFD", "\x00"), hostile; got != want {
		t.Errorf("aria-label is %q, want %q", got, want)
	}
}

func TestALinkRunsNoScript(t *testing.T) {
	for _, n := range find(parse(t, render(t, Lab(fixtureAssets, filled("javascript:alert(1)"), fixtureOrigin))), func(n *html.Node) bool { return n.Data == "a" }) {
		if href := attribute(n, "href"); strings.HasPrefix(href, "javascript:") {
			t.Errorf("link to %s", href)
		}
	}
}

// filled is the fixture with text in every string.
func filled(text string) *view.Page {
	p := fixture()
	fill(reflect.ValueOf(p).Elem(), text)
	return p
}

func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() { // the named kinds are ours
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	}
}

// shape lists the elements of a document with the names of their attributes.
func shape(doc *html.Node) []string {
	var lines []string
	for _, n := range find(doc, func(*html.Node) bool { return true }) {
		line := n.Data
		for _, a := range n.Attr {
			line += " " + a.Key
		}
		lines = append(lines, line)
	}
	return lines
}

func parse(t *testing.T, text string) *html.Node {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// find returns the elements that match, in the order of the document.
func find(n *html.Node, match func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && match(d) {
			found = append(found, d)
		}
	}
	return found
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
