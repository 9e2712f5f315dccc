// Package files shows the files of a partition's directory: every byte with its field, the batches and records of a .log,
// how a read finds an offset or a time, and all of it as a zip. It serves a reader's own files from a real broker and the
// files of a simulated broker alike: a [Directory] is a name and an ordered list of names and bytes, whatever they come
// from.
//
// A view builder fills a [view.Inspector], which a page draws. What is shown is a [Shown], a plain value that an address
// can hold; [Ways] make the links and forms from one Shown to the next, so the package knows nothing of a page's
// addresses.
//
//   - [Directory.FileTable]: the files, with the way to the bytes of each.
//   - [Directory.ShowBatches]: the batches of a .log around one, and the records of that one.
//   - [Directory.ShowBytes]: a window of a file by the address of its first byte, or of the decompressed records of a batch:
//     hex and text beside the fields, what a CRC covers underlined, each varint with its steps.
//   - [Directory.ShowComparison]: what stands beside a .log held against it, as [storage.Comparison] does: each file agrees,
//     with how many entries, or each disagreement with its byte, what was found and what is expected.
//   - [Directory.ShowLookup]: an offset or a time found step by step, with the bytes read counted, beside what a scan without
//     index would read.
//   - [Directory.Zip]: the directory as a zip.
//
// Known are .log, .index, .timeindex, .txnindex, .snapshot and leader-epoch-checkpoint, also while they wait for deletion
// or are written by the cleaner; any other file is shown as bytes without fields.
//
// Invariants:
//   - The bytes may be anything. What is not as a broker writes it ends the reading of that file there: what lies before is
//     shown, with the reason and the byte ([Fault]), and compared. A lookup goes only through index entries that lead to
//     what is there, up to the first that does not; such a one may disagree with the log still, as older brokers' do.
//   - Work and memory are bounded by the bytes given: a batch may have [MaxBatch] bytes as it is and decompressed, the records
//     of a file [MaxDecompressed]. A count or length that the bytes declare makes no room by itself.
//   - A view has few enough elements for a page, however large the file: windows of bytes, and 12 rows of a table.
//   - The same directory gives the same views and the same zip.
//
// Simplified: only record batch v2 is read; message formats 0 and 1, of brokers before 0.11, are a fault.
//
// Example:
//
//	d := files.Directory{Name: "orders-0", Files: []files.File{
//		{Name: "00000000000000000000.index", Bytes: index},
//		{Name: "00000000000000000000.log", Bytes: log},
//	}}
//	shown := files.NoTarget
//	shown.View, shown.File, shown.Byte = files.Bytes, "00000000000000000000.log", 4096
//	var in view.Inspector
//	ok := d.ShowBytes(&in, shown, ways)
package files
