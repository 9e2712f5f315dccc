// Package export writes a scenario as plain files: one page a tick, the stylesheet, the icon. The pages are linked to each
// other by their names and hold no script, so they work from a disk and inside a learning platform.
//
// Invariants:
//   - The same scenario gives the same bytes, the zip included: its times are fixed.
//   - No page names a host or a file that is not among them.
//
// What is left out: the inspector, whose links lead to other runs; a guess is not kept.
//
//	files, err := export.Files(ctx, told)
//	err = export.Zip(w, files)
package export
