package inspect

import (
	"loglab/labs/view"
)

// Bounds of a window of a file.
const (
	WindowBytes  = 256 // at most
	windowFields = 56  // that it may have; it has fewer lines then
)

// Part is a run of bytes of a file and what they are.
type Part struct {
	At      int // of the first byte in the file
	Raw     []byte
	Field   view.ByteField // its At is written by Window
	Covered bool           // by a CRC
}

// end is the position behind the last byte.
func (p Part) end() int { return p.At + len(p.Raw) }

// Window shows a part of a file of that many bytes: lines of 16 bytes from the one that holds byte from, as many as have
// room with their fields. Parts lie in the order of the file, one behind the other; those outside may be left out. It
// ends before byte to.
func Window(id, caption string, from, size int, parts []Part) (a view.Anatomy, to int) {
	from = max(0, from) / hexWidth * hexWidth
	to = min(from+WindowBytes, size)
	var inside []Part
	for _, p := range parts {
		if p.end() <= from || p.At >= to {
			continue
		}
		if len(inside) == windowFields { // the line in which this one begins has no room
			to = p.At / hexWidth * hexWidth
			break
		}
		inside = append(inside, p)
	}
	d := newDissector(id, caption)
	for _, p := range inside {
		if p.At < to {
			d.part(p, from, to)
		}
	}
	return d.done(), to
}

// part adds the bytes of a part that lie in from..to, and its field.
func (d *dissector) part(p Part, from, to int) {
	f, raw, at := p.Field, p.Raw, p.At
	f.At = positions(at, len(raw))
	d.Fields = append(d.Fields, f)
	if cut := from - at; cut > 0 {
		raw, at = raw[cut:], from
	}
	raw = raw[:min(len(raw), to-at)]
	d.covered = p.Covered
	d.bytes(at, raw, len(d.Fields)-1, true)
}
