// Package inspect opens one thing to the byte, as the inspector of every lab does: a batch with every field, a segment
// with its indexes, the way of a read to an offset, a record's bytes, a message as it would stand on a connection, and
// what a node waits for. A lab adds what only it knows. [Search] looks offsets and times up in segments step by step, [Window]
// shows a part of any file; both serve files that no lab made, too (labs/files).
//
//	in := &view.Inspector{Title: "Batch orders-0 5", Close: labs.CloseInspector(f.Address)}
//	if at, ok := log.Locate(5); ok {
//		log.Batch(in, at)
//	}
package inspect
