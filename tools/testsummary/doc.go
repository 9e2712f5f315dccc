// Command testsummary reads `go test -json` from standard input and prints what a person needs: the result
// line of each package, the whole output of what failed, what was skipped and why, and last the count
//
//	412 passed, 0 failed
//
// in which a test and each of its subtests count as one, and so does a package that fails outside its
// tests (it does not build, it panics, it runs out of time). The exit status is 1 if anything failed or
// nothing ran.
package main
