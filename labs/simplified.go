package labs

import "slices"

// Simplified is one thing that Kafka does and the engine does not, as the comment in the engine says it.
// The lab page lists them under Assumptions and limits.
type Simplified struct {
	Package string // "engine/broker"
	Symbol  string // the identifier the comment documents, "Broker.Tick"; empty for the package itself
	Text    string // plain text on one line
	Source  string // where Kafka does it: KIP, protocol section or class; may be empty
	At      string // file and line, "engine/broker/fetch.go:33"
}

// SimplifiedOf returns what the named packages of the engine leave out, ordered by package, file and line.
// A package is named by its path in the module, "engine/broker"; packages below it are not meant. A package
// that leaves nothing out adds nothing. The caller owns the returned slice.
//
// The lines are collected from the comments by `make generate`.
func SimplifiedOf(packages ...string) []Simplified {
	var lines []Simplified
	for _, line := range simplifiedLines {
		if slices.Contains(packages, line.Package) {
			lines = append(lines, line)
		}
	}
	return lines
}
