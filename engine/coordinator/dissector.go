package coordinator

import (
	"encoding/binary"
	"errors"
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// ErrUnreadable says that bytes are no key or value that a coordinator can read.
var ErrUnreadable = errors.New("unreadable record")

// Dissector reads the bytes of a coordinator's key or value from front to back, and keeps the fields if they are wanted.
// After the first mistake it reads nothing more, and all that it gives is zero.
type Dissector struct {
	Flexible bool   // the version is a flexible one: compact lengths and tagged fields
	Prefix   string // of the names of fields that come next
	Err      error  // the first mistake, an ErrUnreadable

	bytes  []byte
	at     int
	keep   bool
	fields []record.Field
}

// NewDissector reads bytes. Whoever wants the fields says so by keep.
func NewDissector(bytes []byte, keep bool) Dissector { return Dissector{bytes: bytes, keep: keep} }

// Fail notes a mistake at the place that was come to.
func (d *Dissector) Fail(format string, args ...any) {
	if d.Err == nil {
		d.Err = fmt.Errorf("byte %d: %s: %w", d.at, fmt.Sprintf(format, args...), ErrUnreadable)
	}
}

// Finish gives the fields that were kept and the error. It makes what was not read one field, "unreadable".
func (d *Dissector) Finish() ([]record.Field, error) {
	if rest := d.bytes[d.at:]; len(rest) > 0 {
		d.Fail("%s follow the last field", kafka.Count(len(rest), "byte"))
		if d.keep {
			d.fields = append(d.fields, record.Field{
				Name: "unreadable", Offset: d.at, Width: len(rest), Raw: rest, Value: record.Printable(rest), Meaning: d.Err.Error(), Record: -1,
			})
		}
	}
	return d.fields, d.Err
}

// Left is how many bytes are not read yet.
func (d *Dissector) Left() int { return len(d.bytes) - d.at }

// Take gives the next width bytes as one field, or nil if they are not there.
func (d *Dissector) Take(name string, width int, value func(raw []byte) (text, meaning string)) []byte {
	if d.Err != nil {
		return nil
	}
	if width < 0 || width > d.Left() {
		d.Fail("%s of %s: %s are left", name, kafka.Count(width, "byte"), kafka.Count(d.Left(), "byte"))
		return nil
	}
	raw := d.bytes[d.at : d.at+width : d.at+width]
	if d.keep && width > 0 {
		text, meaning := value(raw)
		d.fields = append(d.fields, record.Field{Name: d.Prefix + name, Offset: d.at, Width: width, Raw: raw, Value: text, Meaning: meaning, Record: -1})
	}
	d.at += width
	return raw
}

// Number reads a signed number of that many bytes.
func (d *Dissector) Number(name string, width int, meaning func(int64) string) int64 {
	read := func(raw []byte) int64 {
		v := int64(int8(raw[0]))
		for _, b := range raw[1:] {
			v = v<<8 | int64(b)
		}
		return v
	}
	raw := d.Take(name, width, func(raw []byte) (string, string) {
		v := read(raw)
		return fmt.Sprint(v), meaning(v)
	})
	if raw == nil {
		return 0
	}
	return read(raw)
}

// Uvarint reads an unsigned varint of at most 5 bytes.
func (d *Dissector) Uvarint(name string, meaning func(int64) string) int64 {
	if d.Err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.bytes[d.at:])
	if n <= 0 || n > 5 || v > 1<<32-1 {
		d.Fail("%s is no unsigned varint of 32 bits", name)
		return 0
	}
	d.Take(name, n, func([]byte) (string, string) { return fmt.Sprint(v), meaning(int64(v)) })
	return int64(v)
}

// Length reads the length of a string or an array, which takes that many bytes in a version that is not flexible; -1: null.
func (d *Dissector) Length(name string, width int, noun string) int {
	describe := func(n int64) string {
		if n < 0 {
			return "null"
		}
		return kafka.Count(int(n), noun)
	}
	if d.Flexible {
		return int(d.Uvarint(name, func(v int64) string { return describe(v-1) + "; a compact length is one more, 0 is null" })) - 1
	}
	return int(d.Number(name, width, describe))
}

// Text reads a string; null reads as the empty one and is a mistake unless it is allowed.
func (d *Dissector) Text(name, meaning string, nullable bool) string {
	n := d.Length(name+"Length", 2, "byte")
	if d.Err != nil || n < 0 {
		if n < -1 || !nullable {
			d.Fail("%s has the length %d", name, n)
		}
		return ""
	}
	return string(d.Take(name, n, printable(meaning)))
}

// Blob reads bytes that are not null.
func (d *Dissector) Blob(name, meaning string) []byte {
	n := d.Length(name+"Length", 4, "byte")
	if d.Err == nil && n < 0 {
		d.Fail("%s has the length %d", name, n)
	}
	return d.Take(name, n, printable(meaning))
}

func printable(meaning string) func([]byte) (string, string) {
	return func(raw []byte) (string, string) { return record.Printable(raw), meaning }
}

// Count reads the number of elements of an array, which are at least that many bytes long; -1: null.
func (d *Dissector) Count(name, noun string, bytes int, nullable bool) int {
	n := d.Length(name, 4, noun)
	if d.Err == nil && (n < -1 || n < 0 && !nullable || n > d.Left()/bytes) {
		d.Fail("%s has %d elements in %s", name, n, kafka.Count(d.Left(), "byte"))
	}
	if d.Err != nil {
		return 0
	}
	return n
}

// Tags reads the tagged fields that end a flexible struct. Known reads those that it knows, of the given size, and says
// whether it did; nil: none are known.
func (d *Dissector) Tags(known func(tag int64, size int) bool) {
	if !d.Flexible {
		return
	}
	n := d.Uvarint("taggedFields", func(v int64) string { return kafka.Count(int(v), "tagged field") })
	last := int64(-1)
	for range n {
		tag := d.Uvarint("tag", Says("which field follows"))
		size := d.Uvarint("tagSize", func(v int64) string { return kafka.Count(int(v), "byte") })
		if d.Err == nil && tag <= last {
			d.Fail("tag %d after tag %d", tag, last)
		}
		last = tag
		if d.Err != nil {
			return
		}
		if known != nil && known(tag, int(size)) {
			continue
		}
		d.Take("taggedField", int(size), printable("not known here"))
	}
}

// Says gives the same meaning to any number.
func Says(meaning string) func(int64) string { return func(int64) string { return meaning } }

// WallClock says what a timestamp means; none is what a negative one is.
func WallClock(what, none string) func(int64) string {
	return func(v int64) string {
		if v < 0 {
			return none
		}
		return fmt.Sprintf("%s, %s ms since 1970-01-01 UTC", what, kafka.Thousands(v))
	}
}
