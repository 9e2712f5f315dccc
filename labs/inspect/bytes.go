package inspect

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs/view"
)

// Bounds of an anatomy, so that a page stays small.
const (
	fieldsShown = 23 // lines of fields
	hexWidth    = 16 // bytes in a line
	longField   = 96 // bytes of a field that are shown whole
	fieldHead   = 48 // of a longer one this many from its start
	fieldTail   = 16 // and this many from its end
)

// dissector builds an anatomy from left to right.
type dissector struct {
	view.Anatomy
	column  int  // bytes in the line that is being filled
	left    int  // fields that had no room
	covered bool // by a CRC are the bytes that come next
	inside  bool // the bytes stand inside others, decompressed or by themselves: no CRC is over them as they are
}

func newDissector(id, caption string) *dissector {
	return &dissector{Anatomy: view.Anatomy{ID: id, Caption: caption}}
}

// field adds a field and its bytes.
func (d *dissector) field(at int, raw []byte, f view.ByteField) {
	if len(d.Fields) == fieldsShown {
		d.left++
		return
	}
	f.At = positions(at, len(raw))
	d.Fields = append(d.Fields, f)
	field := len(d.Fields) - 1
	if len(raw) <= longField {
		d.bytes(at, raw, field, true)
		return
	}
	d.bytes(at, raw[:fieldHead], field, true)
	d.gap(field, fmt.Sprintf("… %s more of %s …", kafka.Count(len(raw)-fieldHead-fieldTail, "byte"), f.Name))
	d.bytes(at+len(raw)-fieldTail, raw[len(raw)-fieldTail:], field, false)
}

// positions writes where n bytes stand: "57–60".
func positions(at, n int) string {
	if n == 1 {
		return fmt.Sprint(at)
	}
	return fmt.Sprintf("%d–%d", at, at+n-1)
}

// bytes adds bytes of a field, -1 for none.
func (d *dissector) bytes(at int, raw []byte, field int, first bool) {
	for len(raw) > 0 {
		if d.column == 0 {
			d.Lines = append(d.Lines, view.HexLine{At: fmt.Sprintf("%04x", at)})
		}
		line := &d.Lines[len(d.Lines)-1]
		n := min(hexWidth-d.column, len(raw))
		line.Parts = append(line.Parts, view.HexPart{Field: field, Text: fmt.Sprintf("% x", raw[:n]), First: first, Covered: d.covered})
		line.Text += Seen(raw[:n])
		d.column = (d.column + n) % hexWidth
		raw, at, first = raw[n:], at+n, false
	}
}

// gap begins a new line that says in words what is left out; the next bytes begin a new line too.
func (d *dissector) gap(field int, words string) {
	d.Lines = append(d.Lines, view.HexLine{Parts: []view.HexPart{{Field: field, Text: words, Gap: true}}})
	d.column = 0
}

// fields adds fields of a batch; origin is the position of the byte that their offsets count from.
func (d *dissector) fields(list []record.Field, origin int) {
	for _, f := range list {
		d.covered = !d.inside && InCRC(f)
		d.field(origin+f.Offset, f.Raw, FieldOf(f))
	}
	d.covered = false
}

// FieldOf writes a field of a batch as a line, a varint with its steps.
func FieldOf(f record.Field) view.ByteField {
	line := view.ByteField{Name: f.Name, Value: f.Value, Meaning: f.Meaning}
	if isVarint(f) {
		line.Steps = VarintSteps(f.Raw)
	}
	return line
}

// InCRC says whether the CRC of a batch covers a field: it does from the attributes on.
func InCRC(f record.Field) bool { return f.Record >= 0 || f.Offset >= record.CRCStart }

// coveredNote says what the line under bytes means.
const coveredNote = "Underlined: what the CRC covers; in a batch, from its attributes to its end."

// done gives the anatomy.
func (d *dissector) done() view.Anatomy {
	var notes []string
	if slices.ContainsFunc(d.Lines, func(l view.HexLine) bool {
		return slices.ContainsFunc(l.Parts, func(p view.HexPart) bool { return p.Covered })
	}) {
		notes = append(notes, coveredNote)
	}
	if slices.ContainsFunc(d.Fields, func(f view.ByteField) bool { return f.Steps != "" }) {
		notes = append(notes, varintNote)
	}
	d.Note = strings.Join(notes, " ")
	if d.left > 0 {
		d.gap(-1, "…")
		d.More = fmt.Sprintf("%s more, not shown.", kafka.Count(d.left, "field"))
	}
	return d.Anatomy
}

// Seen writes bytes as characters; what is not printable ASCII is a dot.
func Seen(raw []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '·'
		}
		return r
	}, string(latin1(raw)))
}

// latin1 makes one rune of each byte.
func latin1(raw []byte) []rune {
	runes := make([]rune, len(raw))
	for i, b := range raw {
		runes[i] = rune(b)
	}
	return runes
}

// ofRecord picks the fields of the record with that index; -1: those of the batch.
func ofRecord(fields []record.Field, index int) []record.Field {
	var list []record.Field
	for _, f := range fields {
		if f.Record == index {
			list = append(list, f)
		}
	}
	return list
}
