package rebalance

import (
	"strings"
	"testing"

	"loglab/labs/labtest"
)

// Members that start later can list another assignor: where the others list range alone, they are refused, and where
// those list both, they join.
func TestLaterMembersListAnother(t *testing.T) {
	const restart = "later=cooperative-sticky&do=2:leave+billing-01&do=14:start+billing-04&t=40"
	for assignor, says := range map[string]string{
		"assignor=range&":      "billing-04 has ended with INCONSISTENT_GROUP_PROTOCOL.",
		"":                     "Every partition is read. 6 partitions, read by 3 members.",
		"assignor=roundrobin&": "billing-04 has ended with INCONSISTENT_GROUP_PROTOCOL.",
	} {
		_, p := frame(t, "v=1&"+assignor+restart)
		if text := labtest.Reading(p); !strings.Contains(text, says) {
			t.Errorf("%s: the reading lacks %q:\n%s", assignor, says, text)
		}
	}
}

// Two bounces lead from range to cooperative-sticky: after the first the assignor is that, and members are eager still.
func TestTwoBounces(t *testing.T) {
	const first = "assignor=range&later=both-first&do=2:leave+billing-01&do=2:leave+billing-02&do=2:leave+billing-03&do=4:start+billing-04"
	const second = "&do=40:start+billing-07&do=60:leave+billing-04"
	for query, want := range map[string]string{
		"assignor=range&later=both-first&t=30": "eager, range",
		first + "&t=38":                        "eager, cooperative-sticky",
		first + second + "&t=55":               "eager, cooperative-sticky",
		first + second + "&t=90":               "cooperative, cooperative-sticky",
	} {
		if _, p := frame(t, query+"&horizon=100"); !strings.HasSuffix(p.Picture.Title, want) {
			t.Errorf("%s: %q, want %s", query, p.Picture.Title, want)
		}
	}
}
