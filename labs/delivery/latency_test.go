package delivery

import (
	"fmt"
	"strings"
	"testing"
)

// The times of a record count from its own call of send: not from that of another which was acknowledged with its place, as
// the leader took it for a copy or had lost the first. Of what no producer was told the call is not known.
func TestWaitsAreTheRecordsOwn(t *testing.T) {
	for query, want := range map[string]string{
		givenUp + "&t=30": "a @0 sent 1 written +6",
		strings.Replace(givenUp, "version=1", "version=2", 1) + "&t=34":                                                         "a @0 sent 1 written +4, c @3 sent 19 written +4",
		alone + "do=1:produce+p0+a+a&do=10:power-loss+b1&do=12:start+b1&do=13:wait+20s&do=14:produce+p0+b+b&t=15":               "",
		alone + "do=1:produce+p0+a+a&do=10:power-loss+b1&do=12:start+b1&do=13:wait+20s&do=14:produce+p0+b+b&do=14:wait+5s&t=24": "b @0 sent 14",
		alone + "idempotence=false&request-timeout=500&do=1:drop-next+b1+p0&do=1:produce+p0+a+a&t=14":                           "a @0 sent 1 written +2, a @1 sent 1 written +5",
	} {
		l, _ := frame(t, query)
		var rows []string
		for _, w := range l.waits() {
			rows = append(rows, fmt.Sprintf("%s @%d sent %d written %s", nameOf(w.Record), w.Offset, w.handed.tick, l.past.after(w.handed, l.past.appended[w.Offset])))
		}
		if got := strings.Join(rows, ", "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
