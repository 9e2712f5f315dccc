package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// state is a page that is worth looking at in every look and size.
type state struct{ name, address, complaint string }

var states = []state{
	{name: "home", address: "/"},
	{name: "lab-start", address: explorer},
	{name: "lab-record", address: explorer + "&partitions=6&do=3:pause+c1&do=30:resume+c1&t=12&at=record:orders-2:1"},
	{name: "lab-batch", address: explorer + "&t=12&at=batch:orders-1:2"},
	{name: "lab-find", address: explorer + "&rate=8&t=30&at=find:orders-1:33"},
	{name: "lab-message", address: explorer + "&t=6&at=message:48"},
	{name: "lab-rejected", address: explorer + "&do=3:pause+c9&do=4:produce+p0+zebra&t=9&why=200"},
	{name: "lab-embed", address: "/embed" + explorer + "&t=12&at=record:orders-2:1"},
	{name: "lab-range", address: "/embed" + explorer + "&t=12&range=12..18&chrome=minimal"},
	{name: "lab-still", address: "/embed" + explorer + "&t=12&still=1"},
	{name: "lab-two", address: explorer + "&do=3:pause+c1&t=14&vs=work:20&at=vs:record:orders-2:1"},
	{name: "lab-two-alike", address: explorer + "&partitions=12&t=3&vs=hot:60"},
	{name: "lab-two-minimal", address: "/embed" + explorer + "&t=14&vs=partitions:6&chrome=minimal"},
	{name: "lab-two-still", address: "/embed" + explorer + "&t=14&vs=consumers:2&still=1"},
	{name: "lab-replication", address: replication + "&t=17"},
	{name: "lab-replication-crash", address: replication + leaderDies + "&t=11&at=replica:orders-0:2"},
	{name: "lab-replication-lost", address: replication + leaderDies + "&t=40&at=record:orders-0:2@b1"},
	{name: "lab-replication-metadata", address: replication + leaderDies + "&t=26&at=partition:orders-0"},
	{name: "lab-replication-nine", address: largestCluster + "&at=node:controller"},
	{name: "lab-replication-cut", address: replication + "&do=3:cut+b1+b2&do=3:pause+b3&t=14&at=node:p0"},
	{name: "lab-replication-two", address: replication + leaderAlone + "&t=44&vs=min-isr:2"},
	{name: "lab-replication-minimal", address: "/embed" + replication + leaderDies + "&t=40&chrome=minimal"},
	{name: "lab-replication-still", address: "/embed" + replication + leaderDies + "&t=40&still=1"},
	{name: "lab-offsets", address: offsets + "&t=3"},
	{name: "lab-offsets-crash", address: offsets + beforeCommit + "&t=8&at=node:billing-1"},
	{name: "lab-offsets-lost", address: offsets + committedFirst + "&t=13&at=record:orders-0:1"},
	{name: "lab-offsets-commit", address: offsets + beforeCommit + "&t=18&at=record:__consumer_offsets-9:3"},
	{name: "lab-offsets-group", address: offsets + beforeCommit + "&t=13&at=group:billing"},
	{name: "lab-offsets-groups", address: offsets + twoGroups + "&t=9&at=partition:orders-0"},
	{name: "lab-offsets-largest", address: largestGroup},
	{name: "lab-offsets-two", address: offsets + beforeCommit + "&t=13&vs=commit:before"},
	{name: "lab-offsets-minimal", address: "/embed" + offsets + committedFirst + "&t=4&chrome=minimal"},
	{name: "lab-offsets-still", address: "/embed" + offsets + committedFirst + "&t=4&still=1"},
	{name: "make-embed", address: "/make-embed?url=" + url.QueryEscape(explorer+"&t=12&chrome=minimal")},
	{name: "glossary", address: "/glossary"},
	{name: "term", address: "/glossary/leader-epoch"},
	{name: "error", address: explorer + "&t=9999", complaint: "400 (Bad Request)"},
	{name: "missing", address: explorer + "&from=" + strings.Repeat("A", 43), complaint: "404 (Not Found)"},
	{name: "too-long", address: explorer + "&keys=" + strings.ReplaceAll(customers()[:4000], "\n", "%0A"), complaint: "414 ("},
}

// look is a way a page can look.
type look struct {
	scheme    string // what is seen: light or dark
	projector bool
	system    string // what the reader's system asks for
	query     string // what the address of a lab asks for; "" follows the system
}

func (l look) name() string {
	if l.projector {
		return "projector-" + l.scheme
	}
	return l.scheme
}

// looks gives those of a window's width: in a wide one the page follows the system, in a narrow one the address asks for the
// opposite and wins. Light has the structure of dark, so that all of it is looked at in the wide one alone.
var looks = map[int][]look{
	1280: {{"light", false, "light", ""}, {"dark", false, "dark", ""}, {"light", true, "light", "&size=projector"}},
	320:  {{"dark", false, "light", "&theme=dark"}, {"dark", true, "dark", "&size=projector"}},
}

// show brings a state into a look, after another one. Only labs have looks of their own; ok is false where this is none.
func (s state) show(b *tab, l, before look) (ok bool) {
	b.t.Helper()
	system, query := l.system, l.query
	if !strings.HasPrefix(s.name, "lab-") {
		if l.projector {
			return false
		}
		system, query, before.query = l.scheme, "", ""
	}
	b.media("prefers-color-scheme", system, "prefers-reduced-motion", "reduce")
	if before.scheme != "" && query == before.query {
		eval[bool](b, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`) // the other colours are drawn
		return true
	}
	b.open(s.address + query)
	if s.complaint != "" {
		b.expect(s.complaint)
	}
	return true
}

// TestAccessibility runs axe-core on every state, in every look, on a wide and a narrow window.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	checkAccessible(t, states)
}

// checkAccessible runs axe-core on states, in every look, on a wide and a narrow window.
func checkAccessible(t *testing.T, states []state) {
	t.Helper()
	checkAccessibleOn(t, serve(t), states)
}

// checkAccessibleOn does so on a server that has what the states need.
func checkAccessibleOn(t *testing.T, site *server, states []state) {
	axe, err := os.ReadFile(filepath.Join("..", "..", "third_party", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("the accessibility checker is missing: run `make test`, or `go run ./tools/fetchassets axe` (%v)", err)
	}
	for _, width := range []int{320, 1280} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			b := newTab(t, site.url)
			b.size(width, 800)
			// The browser's protocol adds a script to each page; the page's policy does not bind it.
			b.call(func(ctx context.Context) error {
				_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: string(axe)})
				return err
			})
			for _, s := range states {
				var before look
				for _, l := range looks[width] {
					if !s.show(b, l, before) {
						continue
					}
					rules := lookRules // all others were asked in the first look, which has the same structure
					if before.scheme == "" {
						rules = nil
					}
					for _, violation := range violations(b, rules...) {
						t.Errorf("%s, %s: %s", s.name, l.name(), violation)
					}
					b.shot(fmt.Sprintf("%s-%s-%d", s.name, l.name(), width))
					before = l
				}
			}
			eval[bool](b, `document.querySelector('main').insertAdjacentHTML('beforeend', '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">') ?? true`)
			if found := violations(b); len(found) != 1 || !strings.HasPrefix(found[0], "image-alt") {
				t.Errorf("an image without a text should be found, and nothing else; found are %q", found)
			}
		})
	}
}

// lookRules are the rules that depend on colours.
var lookRules = []string{"color-contrast", "link-in-text-block"}

// violations are what axe-core finds wrong with the page by rules, or by all if none is named, sorted. The size of what can
// be pressed, off by default in axe-core, is looked at but for pictures, the scrubber and dumps of bytes: their parts are as
// large as what they show, and a list or a field leads where they do.
func violations(b *tab, rules ...string) []string {
	b.t.Helper()
	only := "rules: { 'target-size': { enabled: true } }"
	if len(rules) > 0 {
		only = "runOnly: ['" + strings.Join(rules, "', '") + "']"
	}
	eval[bool](b, `axe.configure({ rules: [{ id: 'target-size', selector: ':is(a, button, input, select, summary):not(:is(.stage, .scrubber, .hex) *)' }] }) ?? true`)
	found := eval[[]string](b, `axe.run({ resultTypes: ['violations'], `+only+` }).then(result => result.violations.map(v =>
		v.id + ', ' + v.impact + ': ' + v.help + '\n' + v.nodes.slice(0, 3).map(n => '  ' + n.html.slice(0, 200) + '\n    ' + n.any.concat(n.all, n.none).map(c => c.message).join('; ')).join('\n')))`)
	slices.Sort(found)
	return found
}
