package record

import (
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
	switch {
	case p == nil:
		return append(dst, "null"...)
	case !isText(p):
		return append(hex.AppendEncode(dst, shown), more...)
	}
	for len(shown) < len(p) && !utf8.RuneStart(p[len(shown)]) {
		shown = shown[:len(shown)-1]
	}
	return append(strconv.AppendQuote(dst, string(shown)), more...)
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
	for len(p) > 0 && ' ' <= p[0] && p[0] <= '~' {
		p = p[1:]
	}
	for rest := p; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			return false
		}
		rest = rest[n:]
	}
	return true
}
