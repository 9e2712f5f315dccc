package labtest

import (
	"strings"
	"testing"

	"loglab/engine/journal"
	"loglab/labs"
	"loglab/labs/view"
)

// answerTicks is how long a request to the controller takes to be answered, at most.
const answerTicks = 6

// CheckOffered fails where a run's page offers a command that is rejected then, or whose request to the controller is
// refused. An order to commit alone may find nothing to commit, and the notice says so.
func CheckOffered(t *testing.T, lab *labs.Lab, query string) {
	t.Helper()
	f, p := Replay(t, lab, query), &view.Page{}
	lab.Build(f, p)
	given := 0 // so far; what comes later goes with a command that is given now
	for _, do := range f.Address.Do {
		if do.Tick <= f.Address.T {
			given++
		}
	}
	for _, g := range append(p.Actions.Groups, view.ActionGroup{Links: p.Actions.Links}) {
		for _, link := range g.Links {
			_, raw, _ := strings.Cut(link.Href, "?")
			a, err := labs.Parse(lab, labs.Pages, raw)
			if err != nil {
				t.Fatalf("%s: %s: %v", query, link.Text, err)
			}
			c := f.Cluster.Clone()
			before, waited := c.Journal().Len(), 0
			for _, do := range a.Do[given:] {
				for range do.Tick - f.Address.T - waited {
					c.Tick()
					waited++
				}
				if err := c.Apply(do.Command); err != nil {
					t.Fatalf("%s: %s: %v", query, link.Text, err)
				}
			}
			for range answerTicks {
				c.Tick()
			}
			for e := range c.Journal().Backward() {
				if int(e.Seq) <= before {
					break
				}
				switch b := e.Body.(type) {
				case journal.CommandRejected:
					if !strings.HasPrefix(b.Command, "commit ") {
						t.Errorf("%s: %s is offered and rejected: %s", query, link.Text, b.Sentence())
					}
				case journal.RequestRefused:
					if b.API == "ElectLeaders" || b.API == "IncrementalAlterConfigs" {
						t.Errorf("%s: %s is offered and refused: %s", query, link.Text, b.Sentence())
					}
				}
			}
		}
	}
}
