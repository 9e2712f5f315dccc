package main

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// quoteField returns a field of a line of text as given, or quoted with Go's escapes where that
// would be ambiguous: if it starts with a quotation mark, is not UTF-8, or holds a tab, a line end
// or another character that does not print. An empty field stays empty.
func quoteField(field string) string {
	if field == "" || field[0] != '"' && prints(field) {
		return field
	}
	return strconv.Quote(field)
}

// prints reports whether text is UTF-8 and each of its characters shows as itself.
func prints(text string) bool {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return false
			}
		}
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
