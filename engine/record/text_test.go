package record

import (
	"encoding/hex"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Printable, which looks at eight bytes at once, gives what a look at each character gives.
func TestPrintableOfAnything(t *testing.T) {
	slow := func(p []byte) string {
		if p == nil {
			return "null"
		}
		more := ""
		if len(p) > maxShownBytes {
			more = "…"
		}
		isPrint := func(r rune) bool { return unicode.IsPrint(r) }
		if !utf8.Valid(p) || strings.ContainsFunc(string(p), func(r rune) bool { return !isPrint(r) }) {
			return hex.EncodeToString(p[:min(len(p), maxShownBytes)]) + more
		}
		shown := ""
		for _, r := range string(p) {
			if len(shown)+utf8.RuneLen(r) > maxShownBytes {
				break
			}
			shown += string(r)
		}
		return strconv.Quote(shown) + more
	}
	rng := rand.New(rand.NewSource(8))
	odd := []string{"\x00", "\x1f", "\x20", "\x7e", "\x7f", "\x80", "\xff", "\"", "\\", "é", "日", "\u00a0", "\n", "\xa0\xa0", "🙂"}
	check := func(p []byte) {
		t.Helper()
		if got, want := Printable(p), slow(p); got != want {
			t.Fatalf("%x: %s, want %s", p, got, want)
		}
	}
	check(nil)
	for c := range 256 {
		for length := range 100 {
			for _, at := range []int{0, length / 2, length - 1, rng.Intn(length + 1)} {
				p := []byte(strings.Repeat("~", length))
				if 0 <= at && at < length {
					p[at] = byte(c)
				}
				check(p)
			}
		}
	}
	for range 20_000 {
		text := strings.Repeat("a", rng.Intn(90))
		for range rng.Intn(9) {
			at := rng.Intn(len(text) + 1)
			for at < len(text) && !utf8.RuneStart(text[at]) {
				at++
			}
			text = text[:at] + odd[rng.Intn(len(odd))] + text[at:]
		}
		check([]byte(text))
	}
}
