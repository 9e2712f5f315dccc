package journal

import "strconv"

// were gives the verb that goes with a count.
func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// keyText names a record's key in a sentence.
func keyText(key string, keyless bool) string {
	if keyless {
		return "no key"
	}
	return "key " + strconv.Quote(key)
}
