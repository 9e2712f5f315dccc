// Package journal holds what happened in a run: one struct for each kind of event, the envelope
// around it, its one line of text, and the list itself.
//
// An [Event] says at which tick it became visible, its place in the journal (Seq, from 1, no gaps), the
// event that led to it (Cause; 0 is a timer) and the node it happened on. Why something happened is a
// walk along causes. One line of text serves golden files, the command line, failure dumps and the
// page's log:
//
//	t=0004 #00187 b1 HighWatermarkAdvanced orders-0 4→5 leo=5 <#00186
//
// A [Journal] is appended to and never changed. Clones share what both have seen; the original goes on
// in its own memory behind the clone's end, and only the clone copies. A clone that is kept and never
// written may be cloned by many at once.
//
// Bodies hold values only. Every body has a sentence for a learner that names the rule and the
// setting with the numbers of the case.
package journal
