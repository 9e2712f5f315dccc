// Package enginetest tests the whole engine: the public cases, each by its id with the numbers that a
// faithful engine shows, and the rules that hold for every run (the same journal from zero and from any
// clone, bounds, commands that cannot apply).
package enginetest
