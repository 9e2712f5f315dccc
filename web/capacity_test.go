package web

import (
	"net/http"
	"strings"
	"testing"
)

// The page has one address for the same numbers, and says what follows from them; what is wrong is named.
func TestCapacity(t *testing.T) {
	s := newSite(t)
	w := ask(s, "GET", "/capacity?rate=5000&retention=24")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "1.30 TB") { // 5 MB/s for a day, three times
		t.Errorf("%d", w.Code)
	}
	if got := attribute(elementByID(t, w.Body.String(), "capacity-rate"), "value"); got != "5000" {
		t.Errorf("the form has a rate of %s", got)
	}
	for target, want := range map[string]string{
		"/capacity?retention=24&rate=5000&rf=3": "/capacity?rate=5000&retention=24", "/capacity?rate=01000": "/capacity",
	} {
		if w := ask(s, "GET", target); w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != want {
			t.Errorf("%s: %d to %s, want %s", target, w.Code, w.Header().Get("Location"), want)
		}
	}
	for target, words := range map[string]string{
		"/capacity?rate=many": "a whole number from 1 to 10000000 is allowed", "/capacity?rf=5": "at most the number of brokers is allowed, 3", "/capacity?x=<b>": "parameter &#34;x&#34;",
	} {
		if w := ask(s, "GET", target); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), words) {
			t.Errorf("%s: %d without %q", target, w.Code, words)
		}
	}
}
