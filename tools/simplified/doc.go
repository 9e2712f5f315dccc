// Command simplified collects what the engine and the labs leave out. A comment says so in a paragraph:
//
//	// Simplified: write-back happens after a fixed time. A real kernel also writes back
//	// when memory is short.
//	//
//	// Source: log.flush.interval.ms
//
// The command reads every non-test Go file below the directories it is given and writes the paragraphs, each with the
// identifier it documents and the Source paragraphs of the same comment, as a table of package labs, where
// a lab's page shows those of the packages it uses. No paragraph is lost: one that documents no identifier
// belongs to the declaration around it, else to the package.
//
// `make generate` runs it from the root of the checkout:
//
//	go run ./tools/simplified labs/simplified_gen.go engine labs
package main
