// Command fetchassets puts the pinned third-party browser files in place. Nothing third-party is
// committed; `make generate` and `make test` run this instead.
//
//	go run ./tools/fetchassets datastar   the browser bundle, out of a Go module
//	go run ./tools/fetchassets axe        the accessibility checker of the browser tests, out of an npm package
//
// Every pin stands in the table of assets.go: version, checksum of the package, SHA-256 of each file
// taken from it. A file that is there with the right content costs no network and no other program.
// A file with any other content is never written. To move to a new version, change the table.
package main
