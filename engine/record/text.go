package record

import (
	"bytes"
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
	shown, more := p[:min(len(p), maxShownBytes)], ""
	if len(p) > maxShownBytes {
		more = "…"
	}
	plain := plainPrefix(p)
	switch {
	case p == nil:
		return append(dst, "null"...)
	case plain < len(p) && !isText(p[plain:]):
		return append(hex.AppendEncode(dst, shown), more...)
	case plain >= len(shown) && bytes.IndexByte(shown, '"') < 0 && bytes.IndexByte(shown, '\\') < 0: // as nearly always
		dst = append(append(dst, '"'), shown...)
		return append(append(dst, '"'), more...)
	}
	for len(shown) < len(p) && !utf8.RuneStart(p[len(shown)]) {
		shown = shown[:len(shown)-1]
	}
	return append(strconv.AppendQuote(dst, string(shown)), more...)
}

// plainPrefix counts the printable ASCII characters that p begins with.
func plainPrefix(p []byte) int {
	n := 0
	for len(p)-n >= 32 {
		b := p[n : n+32]
		le := binary.LittleEndian
		if notPlain(le.Uint64(b))|notPlain(le.Uint64(b[8:]))|notPlain(le.Uint64(b[16:]))|notPlain(le.Uint64(b[24:])) != 0 {
			break
		}
		n += 32
	}
	for n < len(p) && ' ' <= p[n] && p[n] <= '~' {
		n++
	}
	return n
}

// notPlain is 0 if all eight bytes of x are printable ASCII: none is 0x80 or more; none gets there if 1 is added, as
// 0x7f does; all do if 0x60 is, as the space and what is above it.
func notPlain(x uint64) uint64 {
	const each, tops = 0x0101010101010101, 0x8080808080808080
	return (x | x + each | ^(x + 0x60*each)) & tops
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
