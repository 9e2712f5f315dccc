// Package labtest holds what the tests of several labs share: a run at its tick from a query, the words of a page's
// reading, whether strips are drawn within their places, whether what is offered can be done, and whether what cannot be is
// refused. Only tests import it.
//
//	f, p := labtest.Replay(t, Lab(), "t=3"), &view.Page{}
//	build(f, p)
//	labtest.Reading(p)
package labtest
