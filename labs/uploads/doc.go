// Package uploads shows a reader's own segment, a .log from a real broker with or without its indexes, through the views of
// labs/files. The files are in a store under the hashes of their content; an [Address] names them and says all that is
// shown, so it is the whole state of a page.
//
//	/file/segment?log=HASH&index=HASH&timeindex=HASH&base=4200&view=bytes&file=index&byte=256
//
// log, index, timeindex are hashes, base the base offset of the segment, 0 where it is left out. view is batches (left out),
// bytes, find or check. Batches has batch, a position in the .log, and record; bytes has file (log where it is left out), byte, and
// inside=POSITION for the decompressed records of the batch there; find has offset or time; check has finding, the place of the
// first disagreement listed. The canonical address has them
// in this order, and leaves out what is 0 or does not belong to the view.
//
// The names that files had where they came from are read for the base offset and then forgotten: no page and no copy bears
// them.
//
// Example:
//
//	base, err := uploads.Base("00000000000000004200.log", log) // 4200, if it is a log at all
//	a, err := uploads.Parse("log=" + hash + "&base=4200")
//	p, err := a.Page(contents, until)
package uploads
