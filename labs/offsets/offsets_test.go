package offsets

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

// A handler that seeks back and gives up after three attempts: what stands behind the record is delivered three times,
// too, the record is in a topic of its own, and the partition goes on.
func TestSeekBackThenDeadLetter(t *testing.T) {
	const query = "partitions=1&records=5&consumers=1&commit=after-batch&process=5&handler=seek-dead-letter&fails-at=2"
	_, p := frame(t, query+"&t=1")
	if got := labtest.Reading(p); !strings.Contains(got, "seeks back to it and polls again") {
		t.Errorf("after the first attempt it reads:\n%s", got)
	}
	_, p = frame(t, query+"&t=8")
	if got := labtest.Reading(p); !strings.Contains(got, "it has failed 3 times. The record stands in the topic orders-dead now") {
		t.Errorf("after the last attempt it reads:\n%s", got)
	}
}

// The committed offset of a group without members goes after offsets.retention.minutes.
func TestOffsetsRetention(t *testing.T) {
	const query = "partitions=1&consumers=1&commit=after-batch&do=5:leave+billing-1&do=6:wait+12m&t=7"
	for setting, want := range map[string]string{"": "committed 3", "offsets-retention=2&": "nothing committed"} {
		_, p := frame(t, setting+query)
		var flags []string
		for _, f := range p.Picture.Strips[0].Flags {
			flags = append(flags, f.Text)
		}
		if !strings.Contains(strings.Join(flags, ", "), want) {
			t.Errorf("%q: the flags are %q, want %q", setting, flags, want)
		}
	}
}

// What cannot be is refused, with what is allowed.
func TestRefusedSettings(t *testing.T) {
	labtest.CheckRefused(t, Lab(), map[string]string{
		"records=501":              "from 0 to 500",
		"records=251":              "with partitions = 4: at most 250, 1,000 in all",
		"process=0&threads=1":      "process has to be at least 1",
		"session-timeout=5999":     "from 6000 to 1800000",
		"partitions=12&records=84": "with partitions = 12: at most 83, 1,000 in all",
	})
}
