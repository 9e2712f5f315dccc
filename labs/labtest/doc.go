// Package labtest holds what the tests of several labs share: a run at its tick from a query, and the words of a page's
// reading. It judges nothing, and only tests import it.
//
//	f, p := labtest.Replay(t, Lab(), "t=3"), &view.Page{}
//	build(f, p)
//	labtest.Reading(p)
package labtest
