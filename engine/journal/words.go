package journal

import (
	"fmt"
	"strconv"
	"strings"
)

// were gives the verb that goes with a count.
func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// byCount gives the word that goes with a count.
func byCount(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// keyText names a record's key in a sentence.
func keyText(key string, keyless bool) string {
	if keyless {
		return "no key"
	}
	return "key " + strconv.Quote(key)
}

// named joins names.
func named[S ~string](names []S, separator string) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = string(name)
	}
	return strings.Join(words, separator)
}

// texts joins the texts of values.
func texts[S fmt.Stringer](values []S, separator string) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = v.String()
	}
	return strings.Join(words, separator)
}
