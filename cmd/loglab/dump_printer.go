package main

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
)

// printer gathers output and hands it on in large pieces. After an error it writes no more.
type printer struct {
	w   io.Writer
	b   []byte // append to it, then call wrote
	err error

	offsets, timestamps counter   // of records
	pairs               *hexPairs // made when the first bytes come that are shown in hex
}

// printerSize is how much is handed on at once, and about how much is gathered at most.
const printerSize = 64 << 10

// wrote hands the output on if enough has been gathered.
func (p *printer) wrote() {
	if len(p.b) >= printerSize {
		p.flush()
	}
}

func (p *printer) flush() {
	if p.err == nil && len(p.b) > 0 {
		_, p.err = p.w.Write(p.b)
	}
	p.b = p.b[:0]
}

func (p *printer) Write(b []byte) (int, error) {
	p.b = append(p.b, b...)
	p.wrote()
	return len(b), nil
}

func (p *printer) text(s string) { p.b = append(p.b, s...) }

// int, bool and hexOrNull write a name with its colon as it is, then the value.

func (p *printer) int(name string, v int64) { p.b = strconv.AppendInt(append(p.b, name...), v, 10) }

func (p *printer) bool(name string, v bool) { p.b = strconv.AppendBool(append(p.b, name...), v) }

// hexOrNull writes null for a nil slice, and a long value a part at a time: it may have megabytes.
func (p *printer) hexOrNull(name string, b []byte) {
	out := append(p.b, name...)
	if b == nil {
		p.b = append(out, "null"...)
		return
	}
	if p.pairs == nil {
		p.pairs = newHexPairs()
	}
	out = append(out, '"')
	for len(b) > printerSize {
		p.b = p.pairs.append(out, b[:printerSize])
		p.wrote()
		out, b = p.b, b[printerSize:]
	}
	p.b = append(p.pairs.append(out, b), '"')
}

// hexPairs has the four hex digits of any two bytes, both read as little-endian numbers.
type hexPairs [1 << 16]uint32

func newHexPairs() *hexPairs {
	pairs := new(hexPairs)
	var digits [4]byte
	for i := range pairs {
		hex.Encode(digits[:], []byte{byte(i), byte(i >> 8)})
		pairs[i] = binary.LittleEndian.Uint32(digits[:])
	}
	return pairs
}

// append appends b in hex digits, eight bytes at a time.
func (pairs *hexPairs) append(dst, b []byte) []byte {
	at := len(dst)
	dst = slices.Grow(dst, 2*len(b))[:at+2*len(b)]
	out := dst[at:]
	le := binary.LittleEndian
	for len(b) >= 8 && len(out) >= 16 {
		x := le.Uint64(b)
		le.PutUint64(out, uint64(pairs[uint16(x)])|uint64(pairs[uint16(x>>16)])<<32)
		le.PutUint64(out[8:], uint64(pairs[uint16(x>>32)])|uint64(pairs[x>>48])<<32)
		b, out = b[8:], out[16:]
	}
	for len(b) >= 2 && len(out) >= 4 {
		le.PutUint32(out, pairs[le.Uint16(b)])
		b, out = b[2:], out[4:]
	}
	hex.Encode(out, b)
	return dst
}

// counter appends numbers of which one is close to the one before, as offsets and timestamps are: it keeps the text of
// all but the last four digits.
type counter struct {
	high int64 // the number without them; 0 if no text is kept
	text []byte
}

func (c *counter) append(dst []byte, n int64) []byte {
	const digits = 10_000
	if n < digits {
		return strconv.AppendInt(dst, n, 10)
	}
	high, low := n/digits, uint32(n%digits)
	if high != c.high {
		c.high, c.text = high, strconv.AppendInt(c.text[:0], high, 10)
	}
	dst = append(dst, c.text...)
	return append(dst, byte('0'+low/1000), byte('0'+low/100%10), byte('0'+low/10%10), byte('0'+low%10))
}
