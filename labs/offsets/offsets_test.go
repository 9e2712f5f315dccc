package offsets

import (
	"strings"
	"testing"

	"loglab/labs"
	"loglab/labs/view"
)

// frame replays a query and draws its page.
func frame(t testing.TB, query string) (*layout, *view.Page) {
	t.Helper()
	f, p := replayed(t, query), &view.Page{}
	build(f, p)
	return newLayout(f), p
}

// replayed gives a run of the lab at its tick.
func replayed(t testing.TB, query string) labs.Frame {
	t.Helper()
	a, err := labs.Parse(Lab(), labs.Pages, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	c, err := labs.Replay(a)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return labs.Frame{Address: a, Cluster: c, View: c.View()}
}

// text gives a paragraph's words.
func text(p view.Paragraph) string {
	var b strings.Builder
	for _, span := range p {
		b.WriteString(span.Text)
	}
	return b.String()
}

// said gives the reading as one text.
func said(p *view.Page) string {
	var b strings.Builder
	for _, paragraph := range p.Reading {
		b.WriteString(text(paragraph) + "\n")
	}
	return b.String()
}

// A seek or a commit by hand can name any place, also far beyond the log: the page says so and is drawn at once.
func TestPlacesBeyondTheLog(t *testing.T) {
	for _, query := range []string{
		"do=3:commit+billing-1+orders-0+@1000000000000000&t=8", "do=3:seek+billing-1+orders-0+@1000000000000000&t=4",
		"do=3:commit+billing-1+orders-0+@1000000000000000&do=4:crash+billing-1&t=16",
	} {
		_, page := frame(t, query)
		for _, s := range page.Picture.Strips {
			for _, gap := range s.Gaps {
				if gap.To > s.Columns {
					t.Errorf("%s: a bracket from %d to %d of %d columns", query, gap.From, gap.To, s.Columns)
				}
			}
		}
	}
}
