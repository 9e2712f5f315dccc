package uploads

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs/files"
	"loglab/labs/view"
)

// directory is the name of the directory of a reader's files: of the topic nothing is known.
const directory = "uploaded"

// Directory is the files of an address, given in the order of Parts; nil: there is none.
func (a Address) Directory(contents [3][]byte) files.Directory {
	d := files.Directory{Name: directory}
	for _, i := range []int{1, 0, 2} { // .index, .log, .timeindex: sorted by name
		if a.Hashes[i] != "" {
			d.Files = append(d.Files, files.File{Name: a.name(Parts[i]), Bytes: contents[i]})
		}
	}
	return d
}

// Page shows what the address says of its files, which are kept until then. The error is a [*labs.AddressError]: a place
// that the files do not have.
func (a Address) Page(contents [3][]byte, until time.Time) (*view.FilePage, error) {
	d := a.Directory(contents)
	p := &view.FilePage{
		Title:   a.name(Log),
		Address: a.String(),
		Kept: fmt.Sprintf("This server keeps the files until %s, and not so long if others need the room. Then they are forgotten, and this link leads nowhere.",
			until.UTC().Format("15:04 UTC on 2 January 2006")),
		Tabs:  a.tabs(),
		Again: Form(),
		Files: d.FileTable(a.Shown, a.ways(), func(name string) string { return a.Copy(a.part(name)) }),
		Zip:   view.Link{ID: "zip", Text: "Download all as a zip", Href: a.Zip()},
		Shown: &view.Inspector{},
	}
	in := p.Shown
	switch a.Shown.View {
	case files.Bytes:
		in.Title = "Bytes of " + a.Shown.File
		if size := len(contents[place(a.part(a.Shown.File))]); !a.Shown.Inside && a.Shown.Byte > 0 && a.Shown.Byte >= size {
			return nil, refuse("byte", fmt.Sprint(a.Shown.Byte), "the file has the bytes 0 to %d", size-1)
		}
		if !d.ShowBytes(in, a.Shown, a.ways()) {
			return nil, refuse("inside", fmt.Sprint(a.Shown.Batch), "the first byte of a compressed batch is allowed")
		}
		if a.Shown.Inside {
			in.Title = "Decompressed records of " + a.Shown.File
		}
	case files.Lookup:
		in.Title = "How a broker finds an offset or a time"
		switch {
		case a.Shown.Time >= 0:
			in.Title = fmt.Sprintf("Find time %d", a.Shown.Time)
		case a.Shown.Offset >= 0:
			in.Title = fmt.Sprintf("Find offset %d", a.Shown.Offset)
		}
		d.ShowLookup(in, a.Shown, a.ways())
	case files.Compared:
		in.Title = "Held against the log"
		d.ShowComparison(in, a.Shown, a.ways())
	default:
		in.Title = "Batches and records"
		d.ShowBatches(in, a.Shown, a.ways())
	}
	p.Asks, in.Forms = in.Forms, nil // above what they lead to
	return p, nil
}

// tabs lead to the four views.
func (a Address) tabs() []view.Link {
	var tabs []view.Link
	for _, tab := range []struct {
		view files.View
		text string
	}{{files.Batches, "Batches and records"}, {files.Bytes, "Bytes"}, {files.Lookup, "Find an offset or a time"}, {files.Compared, "Held against the log"}} {
		to := files.NoTarget
		to.View, to.File = tab.view, a.name(Log)
		tabs = append(tabs, view.Link{ID: "tab-" + string(tab.view), Text: tab.text, Href: a.to(to), Current: tab.view == a.Shown.View})
	}
	return tabs
}

// fragment is where a page shows what its address asks for.
const fragment = "#shown"

// to is the address that shows something else of the same files.
func (a Address) to(s files.Shown) string {
	a.Shown = s
	return a.String() + fragment
}

// ways lead from one view to the next.
func (a Address) ways() files.Ways {
	return files.Ways{
		To: a.to,
		Ask: func(s files.Shown, param string) (string, []view.Param) {
			other := a
			other.Shown = s
			var hidden []view.Param
			for _, p := range other.params() {
				if p.Name != param {
					hidden = append(hidden, p)
				}
			}
			return Path + fragment, hidden
		},
	}
}

// Form is where a reader chooses files.
func Form() view.Form {
	return view.Form{
		ID: "upload", Title: "Your own file", Post: true, Action: FormPath, Submit: "Show it",
		Fields: []view.Field{
			{ID: "upload-log", Name: string(Log), Label: ".log file", Kind: view.File, Help: "A segment from a broker’s log directory, up to 16 MiB. Needed."},
			{ID: "upload-index", Name: string(Index), Label: ".index of it", Kind: view.File, Help: "Its offset index, if you want to see how an offset is found."},
			{ID: "upload-timeindex", Name: string(TimeIndex), Label: ".timeindex of it", Kind: view.File, Help: "Its time index."},
		},
		Note: "The base offset is read from the name, 20 digits. Who has the link can see the files; this server keeps them for an hour, then forgets them.",
	}
}

// ErrNotALog says why a file is no log at all, so that nothing of it is worth to be kept.
type ErrNotALog struct{ Found, Allowed string }

// Error names what was found and what is allowed.
func (e *ErrNotALog) Error() string { return e.Found + ": " + e.Allowed }

// Base gives the base offset of a .log: that in its name, or else the first batch's. The error is an [*ErrNotALog]. A
// file whose first batch is damaged is a log still.
func Base(name string, log []byte) (kafka.Offset, error) {
	const allowed = "a .log file of Kafka: record batches v2, one after another"
	if len(log) < record.HeaderSize {
		return 0, &ErrNotALog{fmt.Sprintf("%s, not even the header of one batch", kafka.Count(len(log), "byte")), allowed}
	}
	_, err := record.Parse(log)
	if errors.Is(err, record.ErrCorrupt) {
		return 0, &ErrNotALog{err.Error(), allowed}
	}
	if base, ok := files.BaseOffset(name); ok {
		return base, nil
	}
	return max(kafka.Offset(binary.BigEndian.Uint64(log)), 0), nil // also of a batch that is torn
}
