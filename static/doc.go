// Package static is what a page loads beside its HTML: our stylesheet, scripts and icons and, in dist, the
// browser bundle that `make generate` fetches. All of it is embedded in the binary. The stylesheet is written in parts, in
// lab, and served as one file, lab.css: the parts follow each other in the order of their names.
//
// Each file is served under a name that holds a hash of its content, so a browser keeps it for ever and a
// new version has a new address. The names have no directory: dist/datastar.js is
// /static/datastar.2837d87a.js. A script of ours imports only from dist and writes the plain path; the hashed
// name is put there when it is served. The stylesheet names no other file.
//
//	files, err := static.New()                       // once, at start
//	files.Path("lab.css")                            // "/static/lab.3f2a91c0.css", for a page
//	router.Handle(static.Prefix+"*", files)          // serves them, compressed
//
// The package imports nothing of ours.
package static
