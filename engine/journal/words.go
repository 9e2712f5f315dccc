package journal

import "strconv"

// thousands writes n with commas: 45,000.
func thousands(n int64) string {
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

// count writes a number with its noun: "1 record", "2 records".
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "batch":
		return thousands(int64(n)) + " batches"
	}
	return thousands(int64(n)) + " " + noun + "s"
}

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
