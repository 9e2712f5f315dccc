package offsets

import (
	"strings"
	"testing"

	"loglab/labs/labtest"
)

// What the reading says of runs in which it is easily wrong.
func TestReadingIsTrue(t *testing.T) {
	for _, run := range []struct{ query, says string }{
		{"process=1&consumers=3&partitions=3&records=6&do=7:rebalance+billing-1&do=9:crash+billing-1&t=20&horizon=40", "billing-2 began at 0 in tick 17: 6 records are processed again"},
		{"partitions=2&records=6&poll-records=3&commit=before&do=2:crash+billing-1&do=12:crash+billing-2&do=13:start+billing-1&t=26&horizon=40", "it had processed up to offset 3 and had committed 6. billing-1 began at 6 in tick 17: 2 records were never processed."},
		{"partitions=2&records=8&commit=after-record&threads=3&slow-every=4&do=3:crash+billing-1&t=13", "billing-2 began at 0 in tick 11: 3 records were processed twice."},
		{"do=2:commit+billing-1+orders-0+@50&t=8", "If billing-1 crashed now, 6 records"},
		{"rate=1&commit=after-batch&second=new&audit-reset=latest&do=6:start+audit-1&t=9", "auto.offset.reset = latest begins at the end of the log then"},
		{"sink=offsets&threads=3&slow-every=4&partitions=2&records=8&do=3:crash+billing-1&t=16", "4 records are lost to billing: orders-0 @0, orders-0 @4, orders-1 @0, orders-1 @4. The sink has stored a later offset"},
		{"handler=retry&threads=3&commit=after-record&partitions=2&records=6&t=8", "It keeps one thread busy"},
		{"do=1:power-loss+b1&t=15", "The log of 4 partitions cannot be read now"},
		{"consumers=0&second=new&t=5", "Nobody coordinates audit yet"},
		{"static=on&commit=after-batch&do=2:crash+billing-1&do=4:start+billing-1&t=4", "It was restarted in tick 4: its group.instance.id"},
		{"static=on&do=3:replay+billing+from+earliest&t=6", "Under way since tick 3: replay billing from earliest."},
	} {
		if _, p := frame(t, run.query); !strings.Contains(labtest.Reading(p), run.says) {
			t.Errorf("%s: the reading lacks %q:\n%s", run.query, run.says, labtest.Reading(p))
		}
	}
}
