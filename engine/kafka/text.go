package kafka

import "strconv"

// Thousands writes a number as the lab's sentences do, with commas: "45,000", "-1,563,381,124".
func Thousands[N ~int | ~int32 | ~int64 | ~uint32](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// Count writes a number with its noun: "1 record", "2,000 records", "3 batches", "2 entries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + Plural(noun)
}

// Plural gives the noun of several.
func Plural(noun string) string {
	switch noun {
	case "batch":
		return "batches"
	case "entry":
		return "entries"
	}
	return noun + "s"
}
