package labtest

import (
	"testing"

	"loglab/labs"
	"loglab/labs/view"
)

// CheckStrips fails where a strip of a page's picture draws something outside its places.
func CheckStrips(t *testing.T, a labs.Address, p *view.Page) {
	t.Helper()
	for _, s := range p.Picture.Strips {
		if len(s.Cells) > s.Columns {
			t.Errorf("%s: %s has %d cells in %d places", a, s.ID, len(s.Cells), s.Columns)
		}
		for _, g := range s.Gaps {
			if g.From < 0 || g.From >= g.To || g.To > s.Columns {
				t.Errorf("%s: %s has a bracket from %d to %d", a, s.ID, g.From, g.To)
			}
		}
		for _, b := range s.Batches {
			if b.From < 0 || b.From >= b.To {
				t.Errorf("%s: %s has a batch from %d to %d", a, s.ID, b.From, b.To)
			}
		}
		for _, f := range s.Flags {
			if f.Column < 0 || f.Column > s.Columns {
				t.Errorf("%s: %s has %q at %d", a, s.ID, f.Text, f.Column)
			}
		}
	}
}
