package labs

import (
	"strings"
	"unicode"
)

// sentenceCase gives a sentence a capital, unless it begins with the name of a setting.
func sentenceCase(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if strings.ContainsAny(first, "._-") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// joinOr writes a list with a semicolon between its parts and "or" before the last.
func joinOr(parts []string) string {
	last := len(parts) - 1
	return strings.Join(parts[:last], "; ") + "; or " + parts[last]
}

// Narrow cuts a name to that many letters of normal width; Chinese, Japanese and Korean ones and emoji
// count twice.
func Narrow(name string, most int) string {
	width := 0
	for i, r := range name {
		if width += runeWidth(r); width > most {
			kept := []rune(name[:i])
			for width -= runeWidth(r); width > most-1; { // room for the sign that something is cut
				width -= runeWidth(kept[len(kept)-1])
				kept = kept[:len(kept)-1]
			}
			return string(kept) + "…"
		}
	}
	return name
}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x1f000 {
		return 2
	}
	return 1
}

// Verb gives the form of a word that goes with a count.
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
