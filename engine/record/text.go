package record

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"

	"loglab/engine/kafka"
)

// maxShownBytes is how many bytes of a key or value Field.Value shows.
const maxShownBytes = 64

// distance writes "base + 5 ms" or "base - 3 ms".
func distance(from string, ms int64) string {
	if ms < 0 {
		return fmt.Sprintf("%s - %s ms", from, kafka.Thousands(ms)[1:])
	}
	return fmt.Sprintf("%s + %s ms", from, kafka.Thousands(ms))
}

// Printable shows the bytes of a key or value in one line: as quoted text if all of them are printable
// UTF-8, else in hex, nil as null. What is longer than 64 bytes is cut and ends in "…".
func Printable(p []byte) string { return string(AppendPrintable(nil, p)) }

// AppendPrintable appends what Printable gives to dst.
func AppendPrintable(dst, p []byte) []byte {
	if p == nil {
		return append(dst, "null"...)
	}
	shown, more := p[:min(len(p), maxShownBytes)], ""
	if len(p) > maxShownBytes {
		more = "…"
	}
	// Nearly all keys and values are of the first two kinds.
	switch {
	case more == "" && needNoEscape(shown):
		return append(append(append(dst, '"'), shown...), '"')
	case needNoEscape(shown) && isText(p[len(shown):]):
		return append(append(append(dst, '"'), shown...), "\"…"...)
	case !isText(p):
		return append(hex.AppendEncode(dst, shown), more...)
	case plainPrefix(shown) == len(shown): // as JSON
		dst = append(dst, '"')
		for _, c := range shown {
			if c == '"' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
		return append(append(dst, '"'), more...)
	}
	for len(shown) < len(p) && !utf8.RuneStart(p[len(shown)]) {
		shown = shown[:len(shown)-1]
	}
	return append(strconv.AppendQuote(dst, string(shown)), more...)
}

// needNoEscape reports whether all of p is printable ASCII other than quotation marks and backslashes. Eight bytes are
// looked at at once, the last eight first.
func needNoEscape(p []byte) bool {
	if len(p) < 8 {
		for _, c := range p {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				return false
			}
		}
		return true
	}
	le := binary.LittleEndian
	found := needsEscape(le.Uint64(p[len(p)-8:]))
	for ; len(p) > 8; p = p[8:] {
		found |= needsEscape(le.Uint64(p))
	}
	return found&topBits == 0
}

// plainPrefix counts the printable ASCII characters that p begins with.
func plainPrefix(p []byte) int {
	n := 0
	le := binary.LittleEndian
	for len(p)-n >= 32 {
		b := p[n : n+32]
		if (notPlain(le.Uint64(b))|notPlain(le.Uint64(b[8:]))|notPlain(le.Uint64(b[16:]))|notPlain(le.Uint64(b[24:])))&topBits != 0 {
			break
		}
		n += 32
	}
	for len(p)-n >= 8 && notPlain(le.Uint64(p[n:]))&topBits == 0 {
		n += 8
	}
	for n < len(p) && ' ' <= p[n] && p[n] <= '~' {
		n++
	}
	return n
}

const (
	eachByte = 0x0101010101010101
	topBits  = 0x80 * eachByte
)

// notPlain has none of the topBits if all eight bytes of x are printable ASCII, else one at least. The lowest byte that
// is not sets its own, as those below carry nothing into it: from 0x7f to 0xfe if 1 is added, 0xff and what is
// less than a space if a space is taken away.
func notPlain(x uint64) uint64 {
	return (x + eachByte) | (x - ' '*eachByte)
}

// needsEscape is like notPlain, and has one of the topBits also for a quotation mark and for a backslash. One of them
// turned by itself is 0, which is less than 1.
func needsEscape(x uint64) uint64 {
	return notPlain(x) | ((x ^ '"'*eachByte) - eachByte) | ((x ^ '\\'*eachByte) - eachByte)
}

// hexText shows bytes in hex, cut like Printable.
func hexText(p []byte) string {
	if len(p) > maxShownBytes {
		return hex.EncodeToString(p[:maxShownBytes]) + "…"
	}
	return hex.EncodeToString(p)
}

// describeBytes says what kind of bytes a key or value holds.
func describeBytes(p []byte) string {
	if isText(p) {
		return "text"
	}
	return "bytes that are not text"
}

func isText(p []byte) bool {
	for rest := p[plainPrefix(p):]; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			return false
		}
		rest = rest[n:]
	}
	return true
}
