package files

import (
	"cmp"
	"strconv"

	"loglab/engine/kafka"
	"loglab/labs/view"
)

// Shown says what of a directory is shown. The zero value with NoTarget is the batches from the first on.
type Shown struct {
	View    View
	Segment kafka.Offset    // base offset of the segment whose batches are listed
	Batch   int             // position in its .log of the batch whose records are listed
	Record  int             // place in that batch of the first record listed
	File    string          // name of the file whose bytes are shown
	Byte    int             // the first byte shown; the window begins with its line
	Inside  bool            // the bytes are the decompressed records of Batch, not the file's
	Offset  kafka.Offset    // to be found; NoOffset: none
	Time    kafka.Timestamp // to be found; NoTimestamp: none
	Finding int             // place of the first listed of what the files of Segment disagree in
}

// View is one way to look at a directory.
type View string

// The views.
const (
	Batches  View = "batches" // the batches of a .log, and the records of one
	Bytes    View = "bytes"   // a window of a file
	Lookup   View = "find"    // how a read finds an offset or a time
	Compared View = "check"   // the files of a segment held against its .log
)

// NoTarget is what is shown first: the batches from the first on, and nothing to be found.
var NoTarget = Shown{View: Batches, Offset: kafka.NoOffset, Time: kafka.NoTimestamp}

// Ways lead from one view to another. Who has a page makes them: its address holds what is shown.
type Ways struct {
	// To is the address that shows that.
	To func(Shown) string
	// Ask is the action and the hidden fields of a GET form whose answer shows that, but for the parameter asked for: "byte",
	// "offset" or "time", which is the name of the form's one visible field.
	Ask func(s Shown, param string) (action string, hidden []view.Param)
	// Field is the name that the one visible field of a form has on the page; empty: that of the parameter.
	Field string
	// Go is how links and forms change a lab's page ("replace"); empty: they are ordinary ones.
	Go string
}

func (w Ways) link(id, text, label string, s Shown) view.Link {
	return view.Link{ID: id, Text: text, Label: label, Href: w.To(s), Go: w.Go}
}

func (w Ways) item(id, text, label string, s Shown) []view.Item {
	link := w.link(id, text, label, s)
	return []view.Item{{Text: text, Link: &link}}
}

// ask is a form for one number.
func (w Ways) ask(id, param, label, submit string, s Shown, value, most int64) view.Form {
	f := view.Form{ID: id, Submit: submit, Go: w.Go, Fields: []view.Field{{ID: id + "-" + param, Name: cmp.Or(w.Field, param), Label: label, Kind: view.Number, Max: int(most), Value: strconv.FormatInt(value, 10)}}}
	f.Action, f.Hidden = w.Ask(s, param)
	return f
}
