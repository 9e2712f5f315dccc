// Package enginetest tests the whole engine: the public cases, each by its id with the numbers that a
// faithful engine shows; stories of several brokers as transcripts; and the rules that hold for every run (the
// same journal from zero and from any clone, bounds, commands that cannot apply).
//
// TestSimulator draws clusters, clients and faults from seeds and looks at the invariants of package ledger after every
// command and tick. Then it heals everything, and all has to come together again. A failure prints the run as drawn, what
// does not hold, the last events, and the command that runs the seed again:
//
//	go test ./engine/enginetest -run TestSimulator -seed=N [-journal]
package enginetest
