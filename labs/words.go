package labs

import (
	"strings"
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
