// Package capacity reckons what a topic takes of a cluster, and how fast a group that was away catches up: from a few
// numbers, by formulas that the page shows with every result. It runs no cluster.
//
// Invariants: the address says everything, and has one spelling; every number has its unit; a result never claims more
// than its formula, so storage is a lower bound and says what comes on top.
//
//	in, err := capacity.Parse("rate=5000&retention=24")
//	for _, r := range in.Results() { r.Value; r.Formula }
package capacity
