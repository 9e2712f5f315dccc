package labs

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"loglab/labs/view"
)

// QueryParams splits a query, or the body of a form, into its parameters. The error is an [*AddressError].
func QueryParams(rawQuery string) ([]view.Param, error) {
	var params []view.Param
	for pair := range strings.SplitSeq(rawQuery, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil || !utf8.ValidString(name) {
			return nil, refuse("a parameter's name", rawName, "valid percent-encoded UTF-8 is allowed")
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil || !utf8.ValidString(value) {
			return nil, refuse(cmp.Or(name, "a parameter"), rawValue, "valid percent-encoded UTF-8 is allowed")
		}
		params = append(params, view.Param{Name: name, Value: value})
	}
	return params, nil
}

// escape writes a value in the one way that a canonical address has it: a space as "+", letters, digits
// and a few signs as they are, every other byte as %XX.
func escape(s string) string {
	var b strings.Builder
	escapeInto(&b, s, isPlain)
	return b.String()
}

// isPlain says that a byte of a value stands in an address as it is.
func isPlain(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-_.~:,/@!*", c) >= 0
}

func escapeInto(b *strings.Builder, s string, plain func(byte) bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case plain(c):
			b.WriteByte(c)
		default:
			fmt.Fprintf(b, "%%%02X", c)
		}
	}
}
