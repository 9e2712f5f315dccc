package labs

import "math/bits"

// deflate compresses a text into one DEFLATE block with the fixed codes (RFC 1951, 3.2.6). An address must
// have one spelling wherever it is written and whoever writes it, and no library promises that its next
// release gives the same bytes; so the compressor is here, and only the decompressor is the library's.
// It looks at a few of the nearest earlier places where a match may begin, takes the longest match, of
// equally long ones the nearest, and never waits for a better one.
func deflate(text string) []byte {
	const (
		shortest, longest = 3, 258
		window            = 32 << 10
		tries             = 32 // earlier places looked at for a match
	)
	var w bitWriter
	w.bits(0b011, 3)                 // the last block, fixed codes
	var last [1 << 12]int            // by a mix of three bytes, one more than the last place with it; 0: none
	before := make([]int, len(text)) // the same for the place before each place
	next := 0                        // the first place that is not in last yet
	for at := 0; at < len(text); {
		for ; next <= at && next+shortest <= len(text); next++ {
			mix := (int(text[next])<<8 ^ int(text[next+1])<<4 ^ int(text[next+2])) % len(last)
			before[next], last[mix] = last[mix], next+1
		}
		length, distance := 0, 0
		if at < next {
			most := min(longest, len(text)-at)
			for place, n := before[at]-1, 0; place >= 0 && at-place <= window && n < tries && length < most; place, n = before[place]-1, n+1 {
				if text[place+length] != text[at+length] {
					continue // no longer than the one that is found
				}
				if m := commonLength(text[place:], text[at:], most); m > length {
					length, distance = m, at-place
				}
			}
		}
		if length < shortest {
			w.symbol(int(text[at]))
			at++
			continue
		}
		w.length(length)
		w.distance(distance)
		at += length
	}
	w.symbol(256) // the end
	return w.end()
}

// commonLength is how many bytes two texts begin with alike, at most most; both have as many.
func commonLength(a, b string, most int) int {
	n := 0
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// bitWriter puts bits into bytes, the lowest bit first.
type bitWriter struct {
	out  []byte
	held uint64
	n    uint
}

func (w *bitWriter) bits(value, n uint) {
	w.held |= uint64(value) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.held))
		w.held >>= 8
	}
}

// code puts a Huffman code, whose highest bit comes first.
func (w *bitWriter) code(value, n uint) { w.bits(uint(bits.Reverse64(uint64(value))>>(64-n)), n) }

func (w *bitWriter) end() []byte {
	if w.n > 0 {
		w.out = append(w.out, byte(w.held))
	}
	return w.out
}

// symbol puts a byte, the end or a class of lengths in the fixed code.
func (w *bitWriter) symbol(s int) {
	switch {
	case s < 144:
		w.code(uint(0b00110000+s), 8)
	case s < 256:
		w.code(uint(0b110010000+s-144), 9)
	case s < 280:
		w.code(uint(s-256), 7)
	default:
		w.code(uint(0b11000000+s-280), 8)
	}
}

// length puts the length of a match, 3 to 258: four classes for each number of extra bits, the first
// eight without, and 258 alone.
func (w *bitWriter) length(length int) {
	if length == 258 {
		w.symbol(285)
		return
	}
	class, extra, n := classOf(uint(length-3), 4)
	w.symbol(257 + class)
	w.bits(extra, n)
}

// distance puts the distance of a match, 1 to 32768: two classes for each number of extra bits, the first
// four without.
func (w *bitWriter) distance(distance int) {
	class, extra, n := classOf(uint(distance-1), 2)
	w.code(uint(class), 5)
	w.bits(extra, n)
}

// classOf splits a value into its class and the extra bits that tell it from the others of that class,
// where each number of extra bits has the same number of classes and the first twice as many.
func classOf(value, classes uint) (class int, extra, n uint) {
	if value < 2*classes {
		return int(value), 0, 0
	}
	n = uint(bits.Len(value/classes)) - 1
	return int(n*classes + value>>n), value & (1<<n - 1), n
}
