package scenario_test

import (
	"errors"
	"strings"
	"testing"

	"loglab/labs"
	"loglab/labs/all"
	"loglab/labs/scenario"
)

// Every ready-made run of every lab can be saved as a scenario, which is right as it is and has the same run.
func TestSaveReadyRuns(t *testing.T) {
	t.Parallel()
	for _, lab := range all.Labs() {
		for i, ready := range lab.Ready {
			if i%3 != 0 { // each takes a replay or three
				continue
			}
			a, err := labs.Parse(lab, labs.Pages, ready.Query)
			if err != nil {
				t.Fatal(err)
			}
			text, err := scenario.Save(a, known(t))
			if err != nil {
				t.Errorf("%s, %s: %v", lab.Name, ready.Title, err)
				continue
			}
			s, err := scenario.Parse(scenario.SavedName(a), text, known(t))
			if err != nil {
				t.Fatalf("%s, %s: %v\n%s", lab.Name, ready.Title, err, text)
			}
			story := labs.StartStory(s.Story, labs.Pages).WithTick(a.T)
			if got, want := story.Fork().Query(), a.Query(); withoutFrame(got) != withoutFrame(want) {
				t.Errorf("%s, %s: saved is\n%s, want\n%s", lab.Name, ready.Title, got, want)
			}
		}
	}
}

// withoutFrame leaves out of a query what only chooses a frame.
func withoutFrame(query string) string {
	var kept []string
	for p := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(p, "="); name != "horizon" && name != "at" && name != "why" && name != "t" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "&")
}

func TestSaveIsBounded(t *testing.T) {
	lab, _ := all.ByName("replication")
	a, err := labs.Parse(lab, labs.Pages, "rate=0&do=4:kill+b1&t=1001")
	if err != nil {
		t.Fatal(err)
	}
	var problems scenario.Problems
	if _, err := scenario.Save(a, known(t)); !errors.As(err, &problems) || !strings.Contains(err.Error(), "1 to 1000") {
		t.Errorf("a run of 1,001 ticks: %v", err)
	}
	if p := page(t, a); p.Actions.Save != nil {
		t.Error("a run of 1,001 ticks is offered as a scenario")
	}
	if p := page(t, a.WithTick(1000)); p.Actions.Save == nil {
		t.Error("a run of 1,000 ticks is not offered as a scenario")
	}
}
