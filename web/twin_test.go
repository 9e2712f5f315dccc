package web

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Whatever a page of two runs shows: each id is there once, and each link leads to a canonical address that
// answers; those of the page itself keep both runs, but for the ready-made runs and the way back to one.
func TestAPageOfTwoRuns(t *testing.T) {
	s := newSite(t)
	for _, target := range []string{
		"/lab/partitions?v=1&vs=partitioner:crc32",
		"/lab/partitions?v=1&partitions=8&rate=6&do=8:pause+c1&t=14&vs=work:20&at=vs:record:orders-1:2&theme=dark",
		"/lab/partitions?v=1&t=14&vs=partitions:12&at=segment:orders-1:0",
		"/lab/partitions?v=1&do=3:pause+c9&t=14&vs=keys:a%0Ab&why=vs:40",
		"/embed/lab/partitions?v=1&t=14&vs=second:murmur2&at=vs:find:orders-1:2",
		"/embed/lab/partitions?v=1&t=14&vs=rate:9&chrome=minimal",
		"/embed/lab/partitions?v=1&t=14&vs=rate:9&still=1",
	} {
		w := ask(s, http.MethodGet, target)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: status %d", target, w.Code)
		}
		seen := map[string]bool{}
		for _, n := range elements(t, w.Body.String()) {
			if id := attribute(n, "id"); id != "" && seen[id] {
				t.Errorf("%s: id %q is there twice", target, id)
			} else {
				seen[id] = true
			}
			if n.Data == "a" && strings.Contains(attribute(n, "href"), "/lab/partitions?") {
				checkPairLink(t, s, target, n)
			}
			if name := attribute(n, "form"); name != "" && elementByID(t, w.Body.String(), name).Data != "form" {
				t.Errorf("%s: the control %q has no form", target, attribute(n, "value"))
			}
		}
		for _, id := range []string{"lab", "picture-title", "vs-picture-title", "clock"} {
			if !seen[id] {
				t.Errorf("%s: there is no element %q", target, id)
			}
		}
	}
}

func checkPairLink(t *testing.T, s *Site, target string, link *html.Node) {
	t.Helper()
	href, id := attribute(link, "href"), attribute(link, "id")
	if strings.HasPrefix(href, "/file/") {
		return
	}
	one := id == "one-run" || strings.HasPrefix(id, "ready-")
	if strings.Contains(href, "vs=") == one {
		t.Errorf("%s: the link %q leads to %s", target, id, href)
	}
	want := http.StatusOK
	if id == "next" && strings.HasSuffix(href, "&next=1") {
		want = http.StatusTemporaryRedirect
	}
	if code := ask(s, http.MethodGet, strings.TrimSuffix(href, "#inspector")).Code; code != want {
		t.Errorf("%s: the link %q leads to %s, status %d", target, id, href, code)
	}
}

// Without JavaScript the form sends the values of the run shown along, and the answer leads to the one address.
func TestTheFormOfTwoRunsLeadsToThem(t *testing.T) {
	w := ask(newSite(t), http.MethodGet, "/lab/partitions?v=1&t=3&partitioner=crc32&rate=3&beside=partitioner%3Dmurmur2%26rate%3D3")
	if got, want := w.Header().Get("Location"), "/lab/partitions?v=1&t=3&vs=partitioner:crc32"; w.Code != http.StatusTemporaryRedirect || got != want {
		t.Errorf("status %d, Location %q, want %q", w.Code, got, want)
	}
}

// A twin that meets a bound is told of as any run that does, and says which run it is.
func TestTheTwinHasBoundsToo(t *testing.T) {
	s := newSite(t)
	alone := ask(s, http.MethodGet, "/lab/partitions?v=1&partitions=64&consumers=64&rate=100&t=5000")
	both := ask(s, http.MethodGet, "/lab/partitions?v=1&partitions=64&consumers=64&rate=0&t=5000&vs=rate:100")
	if alone.Code != http.StatusUnprocessableEntity || both.Code != alone.Code {
		t.Fatalf("alone status %d, as a twin %d", alone.Code, both.Code)
	}
	if facts := factsOf(t, both.Body.String()); facts["Where"] != "vs" || facts["Found"] != "rate = 100" {
		t.Errorf("the page says %v", facts)
	}
}
