package ui

import (
	"loglab/labs/view"

	"github.com/a-h/templ"
)

// differs marks what the other of two runs has otherwise.
func differs(so bool) templ.OrderedAttributes {
	if !so {
		return nil
	}
	return templ.OrderedAttributes{{Key: "class", Value: "differs"}}
}

// differsAt says whether a row's cell differs.
func differsAt(r view.Row, i int) bool { return i < len(r.Differs) && r.Differs[i] }

func numberClass(class string, differs bool) string {
	c := classes{class}
	c.add("differs", differs)
	return c.String()
}

// differMarkClass is the class of the mark at which two runs begin to differ. Where there is no room to its
// right, its words stand left of it.
func differMarkClass(m view.Mark) string {
	c := classes{placedMark{m, true}.class(), "differ-mark"}
	c.add("left", m.Position > 75)
	return c.String()
}
