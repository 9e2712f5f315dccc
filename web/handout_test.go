package web

import (
	"net/http"
	"strings"
	"testing"
)

// A handout has a picture of each tick, what is said of it, and its address, and nothing on it stands there twice.
func TestHandout(t *testing.T) {
	s := newSite(t)
	if w := ask(s, "GET", "/handout/lab/partitions?ticks=8,3,+8"); w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != "/handout"+start+"&ticks=3,8" {
		t.Errorf("%d to %s", w.Code, w.Header().Get("Location"))
	}
	body := askAt(s, "lab.example", "/handout"+start+"&ticks=3,8")
	if got := plainText(t, body); !strings.Contains(got, "Tick 3: 3 records written") || !strings.Contains(got, "http://lab.example"+start+"&t=8") || !strings.Contains(got, "2 consumers are idle") {
		t.Errorf("the sheet says\n%s", got)
	}
	ids, figures := map[string]int{}, 0
	for _, n := range elements(t, body) {
		if id := attribute(n, "id"); id != "" {
			if ids[id]++; ids[id] > 1 {
				t.Errorf("%s is there twice", id)
			}
		}
		if n.Data == "figure" {
			figures++
		}
		if n.Data == "script" || n.Data == "form" || n.Data == "button" {
			t.Errorf("the sheet has a %s", n.Data)
		}
	}
	for _, n := range elements(t, body) {
		if of := attribute(n, "aria-labelledby"); of != "" && ids[of] == 0 {
			t.Errorf("%s names something, and is not there", of)
		}
	}
	if figures != 2 {
		t.Errorf("%d figures, want 2", figures)
	}
	story := ask(s, "GET", "/handout/scenario/crash-before-commit?v=1").Body.String()
	told, err := s.scenarios.ByName("crash-before-commit")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(story, "<figure"), told.Stops(); got != want {
		t.Errorf("%d figures of the story, want one a stop, %d", got, want)
	}
	for _, words := range []string{"One partition with ten records", "Predict:", "What happened:"} {
		if !strings.Contains(story, words) {
			t.Errorf("the story does not say %s", words)
		}
	}
	for _, ticks := range []string{"x", "-1", "5001", "1,,2", "1,2,3,4,5,6,7,8,9,10,11,12,13", "%zz"} {
		if w := ask(s, "GET", "/handout"+start+"&ticks="+ticks); w.Code != http.StatusBadRequest {
			t.Errorf("ticks=%s: %d", ticks, w.Code)
		}
	}
	if w := ask(s, "GET", "/handout"+start+"&range=5..8&ticks=9"); w.Code != http.StatusBadRequest {
		t.Errorf("a tick outside of the range: %d", w.Code)
	}
}
