package offsets

import (
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
