// Package loglab holds no code: its tests check the tree as a whole. They enforce who may import whom, what
// the engine may not do, the size of files and functions, and that every package says what it is.
//
// The binary is cmd/loglab, the cluster is engine. To see what the tests hold:
//
//	go test -v .
package loglab
