package rebalance

import (
	"strings"
	"testing"

	"loglab/labs/labtest"
	"loglab/labs/view"
)

// frame replays a query and draws its page.
func frame(t testing.TB, query string) (*layout, *view.Page) {
	t.Helper()
	f, p := labtest.Replay(t, Lab(), query), &view.Page{}
	build(f, p)
	return newLayout(f), p
}

// rowOf gives a row of the timeline as words and its note.
func rowOf(p *view.Page, name string) (label, note string) {
	for _, part := range p.Picture.Timeline.Parts {
		for _, r := range part.Rows {
			if r.Name == name {
				return r.Label, r.Note
			}
		}
	}
	return "", ""
}

// Who reads what has one spelling.
func TestSubscriptions(t *testing.T) {
	for raw, want := range map[string]string{
		"": all, "all": all, "opsr": "opsr", "telvcirspo": all, "all,all": all, "o": "o", "po": "op", "o, p": "o,p", "o\r\np\n": "o,p", "all,o": "all,o", "o,all": "o", "rspo,rs": "opsr,sr",
	} {
		got, err := canonicalSubscriptions(raw)
		if err != nil || got != want {
			t.Errorf("%q is %q, %v, want %q", raw, got, err, want)
		}
		if again, err := canonicalSubscriptions(got); err != nil || again != got {
			t.Errorf("%q is not canonical: %q, %v", got, again, err)
		}
	}
	for _, raw := range []string{"x", "oo", "orders", strings.Repeat("o,", 17)} {
		if got, err := canonicalSubscriptions(raw); err == nil {
			t.Errorf("%q is taken as %q", raw, got)
		}
	}
}

// What cannot be is refused, with what is allowed.
func TestRefusedSettings(t *testing.T) {
	labtest.CheckRefused(t, Lab(), map[string]string{
		"protocol=cooperative&assignor=range": "default, cooperative-sticky",
		"assignor=cooperative-sticky":         "default, range, roundrobin, sticky",
		"subscribe=p":                         "billing-01 has to read at least one of the topics that there are: orders",
		"heartbeat=6000":                      "less than session.timeout.ms = 6000",
		"topics=2&subscribe=o,,p":             "write all for one that reads all topics",
		"topics=10&partitions=26":             "with topics = 10: at most 25, 256 in all",
		"topics=10&rate=11":                   "with topics = 10: at most 10, 100 in all",
		"subscribe=x":                         "as in o,op,all",
		"members=17":                          "from 0 to 16",
		"topics=2&subscribe=o,p,s&members=2":  "billing-03 has to read at least one",
		"protocol=consumer&assignor=range":    "default, uniform, server-range",

		"protocol=consumer&later=cooperative-sticky": "with that protocol: same",
	})
}

// Range over several topics: the facts' third example.
func TestRangeSkew(t *testing.T) {
	for query, want := range map[string][2]string{
		"topics=10&partitions=3&members=2&assignor=range":      {"20", "10"},
		"topics=10&partitions=3&members=2&assignor=roundrobin": {"15", "15"},
		"topics=4&partitions=3&members=2&assignor=range":       {"8", "4"},
		"topics=4&partitions=3&members=2&assignor=roundrobin":  {"6", "6"},
		"topics=2&partitions=3&members=2&assignor=range":       {"4", "2"},
		"topics=2&partitions=4&subscribe=o&members=3":          {"2", "3"},
	} {
		_, p := frame(t, query+"&t=3")
		_, first := rowOf(p, "billing-01")
		_, second := rowOf(p, "billing-02")
		if got := [2]string{first, second}; got != want {
			t.Errorf("%s: billing-01 and -02 have %v, want %v", query, got, want)
		}
	}
}
