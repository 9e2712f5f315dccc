package labs

import (
	"strconv"
	"strings"
)

// Thousands writes a number with commas: 45,000.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes a number with its noun: "1 record", "2 records".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if noun == "batch" {
		noun = "batche"
	}
	return Thousands(int64(n)) + " " + noun + "s"
}

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
