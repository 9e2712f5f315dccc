package all

import (
	"strings"
	"testing"

	"loglab/labs/labtest"
	"loglab/labs/view"
)

// What a lab offers where one of its ready-made runs stands can be done there.
func TestOfferedCommandsApply(t *testing.T) {
	for _, lab := range Labs() {
		t.Run(lab.Name, func(t *testing.T) {
			t.Parallel()
			for _, r := range lab.Ready {
				labtest.CheckOffered(t, lab, r.Query)
			}
		})
	}
}

// What keeps later commands names whom it is about: no two controls in that list say the same, and each goes with one above.
func TestKeepingControlsSayWhom(t *testing.T) {
	for _, lab := range Labs() {
		f, p := labtest.Replay(t, lab, "do=6:wait+1s&t=5"), &view.Page{}
		lab.Build(f, p)
		offered := len(p.Actions.Links)
		for _, g := range p.Actions.Groups {
			offered += len(g.Links)
		}
		seen := map[string]bool{}
		for _, link := range p.Actions.Keep {
			if seen[link.Text] || !strings.HasPrefix(link.Label, link.Text) {
				t.Errorf("%s: %q says not whom, or its name %q not what it shows", lab.Name, link.Text, link.Label)
			}
			seen[link.Text] = true
		}
		if len(p.Actions.Keep) == 0 || len(p.Actions.Keep) > offered {
			t.Errorf("%s: %d controls keep what is later, of %d", lab.Name, len(p.Actions.Keep), offered)
		}
	}
}
