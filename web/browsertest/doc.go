// Package browsertest holds journeys through the site in a real Chromium: what a learner does with mouse
// and keyboard, and what the page then shows. It has no code but its tests.
//
// The server is the real handler of package web on a port of this machine, or the real binary as a process
// of its own. One browser serves the whole package; every test has a context of its own in it, with its own
// cache and history. A test waits for a condition, with a deadline, and never for a time.
//
// What is left out: other browsers, a real network with loss, screen readers; axe-core finds only those
// faults of accessibility that a program can find.
//
// Invariants, of every journey:
//   - No error or warning in the console, no exception that nobody caught, no breach of the site's content
//     policy. A journey that provokes one says so with expect, and then it must come.
//   - A press goes to the place where the control is drawn. Where something covers it, the test fails.
//   - A failed test leaves a picture of its page and says where.
//
// Chromium is $CHROMIUM, else chromium, chromium-browser or google-chrome. The variable LOGLAB_SHOTS names
// a directory into which pictures of the main states are written.
//
// Example:
//
//	site := serve(t)
//	b := newTab(t, site.url)
//	b.open("/lab/partitions?v=1&t=5")
//	b.click("#step")
//	b.waitTick(6)
package browsertest
