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
