package uploads

import (
	"fmt"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/files"
	"loglab/labs/view"
)

// Paths of the site.
const (
	FormPath = "/file"              // the form, and where it is sent
	Path     = "/file/segment"      // the page
	CopyPath = "/file/segment/copy" // one file; the parameter "file" says which
	ZipPath  = "/file/segment/zip"  // all files
)

// maxQuery is how long a query may be: the longest canonical one has some 350 bytes.
const maxQuery = 2048

// Part is one of the files of an upload; its value is the name of its parameter and of the form's field.
type Part string

// The parts.
const (
	Log       Part = "log"
	Index     Part = "index"
	TimeIndex Part = "timeindex"
)

// Parts are all of them, in the order of addresses.
var Parts = []Part{Log, Index, TimeIndex}

// suffix ends the name of the part's file.
func (p Part) suffix() string {
	switch p {
	case Index:
		return storage.OffsetIndexSuffix
	case TimeIndex:
		return storage.TimeIndexSuffix
	}
	return storage.LogSuffix
}

// Address says everything about a page. It is a value. Make one with [Parse] or [New].
type Address struct {
	Hashes [3]string // by place in Parts; empty: there is no such file
	Base   kafka.Offset
	Shown  files.Shown
}

// New is the address of what is shown first of an upload.
func New(hashes [3]string, base kafka.Offset) Address {
	a := Address{Hashes: hashes, Base: base, Shown: files.NoTarget}
	a.Shown.Segment = base
	return a
}

// Parse reads a query. The error is a [*labs.AddressError].
func Parse(query string) (Address, error) {
	a := New([3]string{}, 0)
	if len(query) > maxQuery {
		return a, refuse("address", fmt.Sprintf("%d bytes", len(query)), "at most %d are allowed", maxQuery)
	}
	params, err := labs.QueryParams(query)
	if err != nil {
		return a, err
	}
	seen := map[string]bool{}
	r := reading{address: a, part: Log, inside: -1}
	for _, p := range params {
		if seen[p.Name] {
			return a, refuse(p.Name, "there twice", "once is allowed")
		}
		seen[p.Name] = true
		if err := r.take(p); err != nil {
			return a, err
		}
	}
	return r.whole()
}

// reading is an address while its parameters are read.
type reading struct {
	address Address
	part    Part  // the file shown
	inside  int64 // the batch whose records are shown decompressed, -1 for none
}

// take reads one parameter.
func (r *reading) take(p view.Param) error {
	switch p.Name {
	case "log", "index", "timeindex":
		if !labs.IsHash(p.Value) {
			return refuse(p.Name, p.Value, "the hash of a file that was sent here is allowed, 43 letters, digits, - and _")
		}
		r.address.Hashes[place(Part(p.Name))] = p.Value
	case "view":
		switch files.View(p.Value) {
		case files.Batches, files.Bytes, files.Lookup, files.Compared:
		default:
			return refuse(p.Name, p.Value, "%s, %s, %s and %s are allowed", files.Batches, files.Bytes, files.Lookup, files.Compared)
		}
		r.address.Shown.View = files.View(p.Value)
	case "file":
		if place(Part(p.Value)) < 0 {
			return refuse(p.Name, p.Value, "log, index and timeindex are allowed")
		}
		r.part = Part(p.Value)
	default:
		return r.takeNumber(p)
	}
	return nil
}

// takeNumber reads a parameter that is a number.
func (r *reading) takeNumber(p view.Param) error {
	n, err := strconv.ParseInt(p.Value, 10, 64)
	switch shown := &r.address.Shown; p.Name {
	case "base":
		r.address.Base = kafka.Offset(n)
	case "batch":
		shown.Batch = int(n)
	case "record":
		shown.Record = int(n)
	case "byte":
		shown.Byte = int(n)
	case "inside":
		r.inside = n
	case "offset":
		shown.Offset = kafka.Offset(n)
	case "time":
		shown.Time = kafka.Timestamp(n)
	case "finding":
		shown.Finding = int(n)
	default:
		return refuse(p.Name, p.Value, "log, index, timeindex, base, view, batch, record, file, inside, byte, offset, time and finding are allowed")
	}
	if err != nil || n < 0 {
		return refuse(p.Name, p.Value, "a whole number from 0 on is allowed")
	}
	return nil
}

// whole is the address once all is read.
func (r *reading) whole() (Address, error) {
	a := r.address
	if a.Hashes[0] == "" {
		return a, refuse("log", "nothing", "the hash of a .log file that was sent here is needed")
	}
	a.Shown.Segment = a.Base
	if r.inside >= 0 {
		a.Shown.Inside, a.Shown.Batch, r.part = true, int(r.inside), Log
	}
	if a.Hashes[place(r.part)] == "" {
		return a, refuse("file", string(r.part), "the address has no such file")
	}
	a.Shown.File = a.name(r.part)
	return a.canonical(), nil
}

// ParseCopy reads the query of a copy or of a zip: the files, and which one.
func ParseCopy(query string) (Address, error) { return Parse(query + "&view=" + string(files.Bytes)) }

// canonical leaves out what does not belong to the view.
func (a Address) canonical() Address {
	s := a.Shown
	kept := files.NoTarget
	kept.View, kept.Segment = s.View, a.Base
	switch s.View {
	case files.Bytes:
		kept.File, kept.Byte, kept.Inside = s.File, s.Byte, s.Inside
		if s.Inside {
			kept.Batch = s.Batch
		}
	case files.Lookup:
		kept.Offset = s.Offset
		if kept.Time = s.Time; s.Time >= 0 {
			kept.Offset = kafka.NoOffset
		}
	case files.Compared:
		kept.Finding = s.Finding
	default:
		kept.Batch, kept.Record = s.Batch, s.Record
	}
	a.Shown = kept
	return a
}

// params are the parameters of the canonical address.
func (a Address) params() []view.Param {
	a = a.canonical()
	var list []view.Param
	number := func(name string, n, left int64) {
		if n != left {
			list = append(list, view.Param{Name: name, Value: strconv.FormatInt(n, 10)})
		}
	}
	for i, part := range Parts {
		if a.Hashes[i] != "" {
			list = append(list, view.Param{Name: string(part), Value: a.Hashes[i]})
		}
	}
	number("base", int64(a.Base), 0)
	s := a.Shown
	if s.View != files.Batches {
		list = append(list, view.Param{Name: "view", Value: string(s.View)})
	}
	switch part := a.part(s.File); {
	case s.Inside:
		list = append(list, view.Param{Name: "inside", Value: strconv.Itoa(s.Batch)})
	case part != Log:
		list = append(list, view.Param{Name: "file", Value: string(part)})
	}
	if !s.Inside {
		number("batch", int64(s.Batch), 0)
	}
	number("record", int64(s.Record), 0)
	number("byte", int64(s.Byte), 0)
	number("offset", int64(s.Offset), -1)
	number("time", int64(s.Time), -1)
	number("finding", int64(s.Finding), 0)
	return list
}

// query writes parameters; none of their values needs an escape.
func query(params []view.Param) string {
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(p.Name + "=" + p.Value)
	}
	return b.String()
}

// String is the canonical address, path and query.
func (a Address) String() string { return Path + "?" + query(a.params()) }

// contents is the part of a query that names the files.
func (a Address) contents() string { return "?" + query(New(a.Hashes, a.Base).params()) }

// Zip is where the files are one zip.
func (a Address) Zip() string { return ZipPath + a.contents() }

// Copy is where one of the files is.
func (a Address) Copy(part Part) string { return CopyPath + a.contents() + "&file=" + string(part) }

// name is the name of a part's file.
func (a Address) name(p Part) string { return storage.SegmentFileName(a.Base, p.suffix()) }

// part is the part whose file has that name; the log where none has.
func (a Address) part(name string) Part {
	for _, p := range Parts {
		if a.name(p) == name {
			return p
		}
	}
	return Log
}

// place is the place of a part in Parts, -1 for none.
func place(p Part) int {
	for i, part := range Parts {
		if part == p {
			return i
		}
	}
	return -1
}

// refuse is an error in an address.
func refuse(param, found, allowed string, args ...any) error {
	return &labs.AddressError{Param: param, Found: labs.Shortened(found), Allowed: fmt.Sprintf(allowed, args...)}
}
