package delivery

import (
	"fmt"
	"strings"
	"testing"

	"loglab/labs/labtest"
	"loglab/labs/view"
)

// frame replays a query and draws its page.
func frame(t testing.TB, query string) (*layout, *view.Page) {
	t.Helper()
	f, p := labtest.Replay(t, Lab(), query), &view.Page{}
	build(f, p)
	return newLayout(f), p
}

// stripOf writes what stands in a strip, place by place: "a1 C b1".
func stripOf(p *view.Page, name string) string {
	for _, s := range p.Picture.Strips {
		if s.Name != name {
			continue
		}
		var cells []string
		for _, c := range s.Cells {
			cells = append(cells, c.Text)
		}
		return strings.Join(cells, " ")
	}
	return "no strip"
}

// seenBy writes the records that a reader's strip has as seen.
func seenBy(p *view.Page, level string) string {
	var cells []string
	for _, s := range p.Picture.Strips {
		for _, c := range s.Cells {
			if s.Name == level && strings.HasPrefix(c.Stage, isSeen) {
				cells = append(cells, c.Text)
			}
		}
	}
	return strings.Join(cells, " ")
}

// flagsOf writes the marks under a strip.
func flagsOf(p *view.Page, name string) string {
	var list []string
	for _, s := range p.Picture.Strips {
		for _, f := range s.Flags {
			if s.Name == name {
				list = append(list, f.Text)
			}
		}
	}
	return strings.Join(list, ", ")
}

// bracketsOf writes the transactions drawn over a strip: "1–2 tx-0 open".
func bracketsOf(p *view.Page, name string) string {
	var list []string
	for _, s := range p.Picture.Strips {
		for _, g := range s.Gaps {
			if s.Name == name {
				list = append(list, fmt.Sprintf("%d–%d %s", int(s.First)+g.From, int(s.First)+g.To, g.Text))
			}
		}
	}
	return strings.Join(list, ", ")
}

// countOf gives a number of the ledger with its words: "3 once".
func countOf(p *view.Page, name string) string {
	for _, c := range p.Picture.Ledger {
		if c.Name == name {
			return c.Number + " " + c.Text
		}
	}
	return "no number"
}

// stateOf gives the state in which the coordinator has a transactional id.
func stateOf(p *view.Page, id string) string {
	if p.Picture.Machine == nil {
		return "no machine"
	}
	states := p.Picture.Machine.States
	for _, end := range p.Picture.Machine.Ends {
		states = append(states, end...)
	}
	for _, s := range states {
		for _, in := range s.In {
			if in == id {
				return s.Name
			}
		}
	}
	return "in no state"
}
