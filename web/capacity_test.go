package web

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// The page has a field for each number and the results of it, in its one address.
func TestCapacity(t *testing.T) {
	s := newSite(t)
	for address, want := range map[string][]string{
		"/capacity":                                {"9.07 TB", "40 MB/s", "42 min 52 s", "10,000 records/s × 1,000 B × 50 % = 5 MB/s"},
		"/capacity?rate=50000&rf=2":                {"rate", "50000", "never", "the backlog only grows"},
		"/capacity?retention=1&consumers=13":       {"36,000,000 records", "1 is idle", "As it began"},
		"/capacity?rf=1&partitions=4001&brokers=1": {"4,001 replicas", "above 4,000"},
	} {
		w := ask(s, "GET", address)
		if w.Code != 200 {
			t.Errorf("%s: status %d", address, w.Code)
		}
		for _, words := range want {
			if !strings.Contains(w.Body.String(), words) {
				t.Errorf("%s: %q is not there", address, words)
			}
		}
	}
}

func TestCapacityHasOneAddress(t *testing.T) {
	s := newSite(t)
	for address, want := range map[string]string{
		"/capacity?rate=10000&rf=3":    "/capacity",
		"/capacity?rf=2&rate=007":      "/capacity?rate=7&rf=2",
		"/capacity?groups=%31&":        "/capacity?groups=1",
		"/capacity?peak=150&brokers=4": "",
	} {
		w := ask(s, "GET", address)
		if to := w.Header().Get("Location"); to != want || (w.Code == 307) != (want != "") {
			t.Errorf("%s: status %d, Location %q, want %q", address, w.Code, to, want)
		}
	}
}

// What is wrong with a field stands at it, with what was typed; what belongs to no field has a page of its own.
func TestCapacityRefuses(t *testing.T) {
	s := newSite(t)
	for _, test := range []struct{ query, field, value, says string }{
		{"rate=0", "rate", "0", `rate is "0": a whole number from 1 to 10,000,000 is allowed.`},
		{"size=1&peak=%3Cb%3E", "peak", "<b>", `peak is "<b>": a whole number from 100 to 10,000 is allowed.`},
		{"groups=1001", "groups", "1001", `groups is "1001": a whole number from 0 to 1,000 is allowed.`},
		{"rf=4", "rf", "4", `rf is "4": at most as many as brokers are allowed, here 3: a broker holds one copy of a partition.`},
		{"speed=5&speed=6", "speed", "6", `speed is "6": it is there twice; once is allowed.`},
		{"downtime=" + strings.Repeat("9", 1500), "downtime", strings.Repeat("9", 1500), "…"},
	} {
		w := ask(s, "GET", "/capacity?"+test.query)
		if w.Code != 400 {
			t.Errorf("%s: status %d", test.query, w.Code)
		}
		doc, err := html.Parse(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		wrong := map[string]string{}
		for n := range doc.Descendants() {
			if attribute(n, "aria-invalid") == "true" {
				wrong[attribute(n, "name")] = attribute(n, "value")
				if by, id := attribute(n, "aria-describedby"), attribute(n, "id")+"-wrong"; !strings.HasPrefix(by, id+" ") {
					t.Errorf("%s: the field is described by %q, want %q first", test.query, by, id)
				}
			}
			if attribute(n, "id") == "set-"+test.field+"-wrong" && !strings.Contains(n.FirstChild.Data, test.says) {
				t.Errorf("%s: it says %q, want %q", test.query, n.FirstChild.Data, test.says)
			}
		}
		if value, ok := wrong[test.field]; !ok || value != test.value || len(wrong) != 1 {
			t.Errorf("%s: wrong are %v", test.query, wrong)
		}
	}
	for query, says := range map[string]string{"x=1": "rate, size, compressed", "rate=%ff": "valid percent-encoded UTF-8", strings.Repeat("&", 3000): "3000 bytes"} {
		if w := ask(s, "GET", "/capacity?"+query); w.Code != 400 || !strings.Contains(w.Body.String(), says) || !strings.Contains(w.Body.String(), "The capacity calculator, from its start") {
			t.Errorf("%.40s: status %d, want %q", query, w.Code, says)
		}
	}
}
