// Package preview draws the picture that other sites show beside a link to a lab: a PNG of 1200 by 630 pixels,
// the size that most of them take. They do not show SVG, and they load it without our stylesheet.
//
// What stands in it is a page of a lab or a scenario: title, goal, the clock, and the first strips with their
// records, or the first rows of its timeline, in the colours of static/lab/01-page.css. Left out are flags,
// messages and what does not fit.
//
// Invariants: the same page gives the same bytes; text that is too long is cut with an ellipsis and never runs
// over an edge.
//
//	png, err := preview.Draw(p)
package preview
