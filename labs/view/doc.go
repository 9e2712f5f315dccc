// Package view holds the pieces that a lab page draws, as plain values: a page, its transport, its
// controls, strips of cells with marks under them, members, messages, tables, the reading, the event
// log, the inspector and the limits.
//
// A lab builds one [Page] from the state of its run; a template draws it and computes nothing. All
// text is decided here: numbers are formatted, links are complete addresses, booleans are settled.
// Nothing in a view is HTML: every string is user-visible text or an address, and the template
// escapes it. A Page is immutable once built: it is cached and shared by all who look at one address.
//
// The package knows nothing of the engine, of HTTP or of any one lab.
//
// Example: a strip of two records with the log end under the third place.
//
//	view.Strip{
//		ID: "orders-0", Name: "orders-0", Owner: "c0", First: 0, Columns: 3,
//		Cells: []view.Cell{
//			{ID: "r-orders-0-0", Text: "7", Offset: "0", Color: 1, At: "record:orders-0:0", Label: "offset 0, key order-7"},
//			{ID: "r-orders-0-1", Text: "9", Offset: "1", Color: 3, At: "record:orders-0:1", Label: "offset 1, key order-9", New: true},
//		},
//		Flags: []view.Flag{{Column: 2, Kind: view.LogEnd, Text: "end 2"}},
//	}
package view
