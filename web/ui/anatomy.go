package ui

import (
	"slices"
	"strconv"

	"loglab/labs/view"
)

// fieldID is the id of a field's line, byteID that of its first bytes.
func fieldID(a view.Anatomy, field int) string { return a.ID + "-field-" + strconv.Itoa(field) }
func byteID(a view.Anatomy, field int) string  { return a.ID + "-byte-" + strconv.Itoa(field) }

// hexClass tints every other field, so that one can be told from the next.
func hexClass(p view.HexPart) string {
	c := classes{"b"}
	c.add("odd", p.Field%2 == 1)
	c.add("gap", p.Gap)
	c.add("covered", p.Covered)
	return c.String()
}

func inspectorClass(i *view.Inspector) string {
	c := classes{"card", "inspector"}
	c.add("open", i != nil)
	return c.String()
}

// hexBoxClass makes room for positions of more than four digits.
func hexBoxClass(a view.Anatomy) string {
	c := classes{"hex"}
	c.add("far", slices.ContainsFunc(a.Lines, func(l view.HexLine) bool { return len(l.At) > 4 }))
	return c.String()
}
