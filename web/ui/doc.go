// Package ui draws the pieces of labs/view as HTML: links, forms, the transport, strips of cells with
// flags under them, tables, the event log, the inspector.
//
// A component takes one value of labs/view and computes nothing: which class a cell has, in which row a
// flag stands and which marks have room for their words is decided by the small functions in the Go
// files of this package, which the templates call.
//
// Rules that hold for all of them:
//   - No inline style, no script and no Datastar expression: the policy of the site forbids them. What
//     depends on a number is a class, "at-3" for the fourth place of a strip and "p-36" for 36 % of the
//     scrubber; static/lab/13-numbers.css has them all.
//   - A control is a link or a button of a GET form and works alone. The attributes data-go, data-step,
//     data-play and data-key are for static/lab.js.
//   - A record is one element, a button, so that a page of 64 partitions stays small.
//   - Whatever must survive the change to the next frame has an id.
//
// Example: the picture of a page.
//
//	ui.Picture(page.Picture)
package ui
