package partitioner

import (
	"unicode/utf16"
	"unicode/utf8"
)

// JavaStringHashCode is String.hashCode() of a text, as Java gives it: a signed number.
func JavaStringHashCode(text string) int32 { return int32(javaStringHashCode([]byte(text))) }

// javaStringHashCode is String.hashCode() of the key's bytes decoded as UTF-8 by Java: the sum of
// s[i]·31^(n−1−i) over the UTF-16 units of the text. Bytes that are not UTF-8 become U+FFFD, one for
// each malformed sequence as Java's new String(bytes, UTF_8) delimits it.
//
// Source: classes String and JavaStringHash (Pulsar).
//
// Simplified: Pulsar hashes a key as text, so java-hashcode reads the key's bytes as UTF-8 and
// replaces what is not UTF-8 by U+FFFD, as Java does. Pulsar itself would turn a key given as bytes
// into Base64 text first.
func javaStringHashCode(key []byte) uint32 {
	var hash uint32
	for len(key) > 0 {
		r, size := nextJavaRune(key)
		key = key[size:]
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			hash = (hash*31+uint32(high))*31 + uint32(low)
			continue
		}
		hash = hash*31 + uint32(r)
	}
	return hash
}

// nextJavaRune decodes the first character of key, which is not empty, and says how many bytes it takes.
func nextJavaRune(key []byte) (r rune, size int) {
	r, size = utf8.DecodeRune(key)
	if r == utf8.RuneError && size == 1 {
		size = malformedLength(key)
	}
	return r, size
}

// malformedLength returns how many bytes Java replaces by one U+FFFD at the start of bytes, which is
// not empty and does not start with a valid character: the part that could have begun one. Unlike
// Unicode's recommendation Java counts a whole encoded surrogate (ED A0 80) as one sequence.
func malformedLength(bytes []byte) int {
	continues := func(i int) bool { return i < len(bytes) && bytes[i]&0xc0 == 0x80 }
	lead := bytes[0]
	if lead < 0xe0 || lead > 0xf4 || !continues(1) {
		return 1
	}
	second := bytes[1]
	overlong := lead == 0xe0 && second < 0xa0 || lead == 0xf0 && second < 0x90
	aboveUnicode := lead == 0xf4 && second > 0x8f
	if overlong || aboveUnicode {
		return 1
	}
	if !continues(2) {
		return 2
	}
	return 3
}
