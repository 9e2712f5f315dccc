// Package page draws whole pages: the home page, a lab, the glossary, an error, and the frame of a lab
// that is sent alone.
//
// A frame is the element #lab of the lab's page, drawn by the same component, so that a page and the
// frames that follow it are the same thing. What stands outside #lab
// (the site's head, the fields with link and code to copy, the help) never changes with the tick. In another
// site's page stands the same frame without the site around it.
//
// [Render] writes a component to bytes and lets no carriage return through: an HTML parser would turn it
// into a line feed, and in a stream of events it would end a line.
//
// Example: the frame of a lab.
//
//	html, err := page.Render(ctx, page.Frame(p, ""))
package page
