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
func Printable(p []byte) string {
	if p == nil {
		return "null"
	}
	if !isText(p) {
		return hexText(p)
	}
	if len(p) <= maxShownBytes {
		return strconv.Quote(string(p))
	}
	cut := maxShownBytes
	for !utf8.RuneStart(p[cut]) {
		cut--
	}
	return strconv.Quote(string(p[:cut])) + "…"
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
	for rest := p; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			return false
		}
		rest = rest[n:]
	}
	return true
}
