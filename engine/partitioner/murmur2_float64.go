package partitioner

// murmur2Float64 is the murmur2 of kafkajs 1.x. It departs from Java's in two ways: a product is a
// JavaScript number, so of its up to 62 bits only the upper 53 survive until a bitwise operator cuts
// it to 32; and the loop runs once more over the tail, with missing bytes as 0, before the tail is
// mixed in as it should be.
//
// Source: kafkajs, class LegacyPartitioner.
func murmur2Float64(key []byte) uint32 {
	h := int32(murmur2Seed-1<<32) ^ int32(len(key))
	for i := 0; i < len(key); i += 4 {
		k := toInt32(product(littleEndianWord(key[i:])))
		k ^= int32(uint32(k) >> 24)
		h = toInt32(product(h)) ^ toInt32(product(k))
	}

	mixed := float64(h)
	if tail := key[len(key)&^3:]; len(tail) > 0 {
		mixed = product(h ^ littleEndianWord(tail))
	}
	h = shiftMix(mixed, 13)
	return uint32(shiftMix(product(h), 15))
}

// littleEndianWord reads up to four bytes; those that the key lacks are 0.
func littleEndianWord(bytes []byte) int32 {
	var word uint32
	for i := range min(len(bytes), 4) {
		word |= uint32(bytes[i]) << (8 * i)
	}
	return int32(word)
}

// product multiplies by the constant of murmur2 as JavaScript does, rounding to 53 bits.
func product(x int32) float64 {
	return float64(x) * murmur2Multiplier
}

// shiftMix is JavaScript's x ^ x >>> shift.
func shiftMix(x float64, shift uint) int32 {
	word := toInt32(x)
	return word ^ int32(uint32(word)>>shift)
}

// toInt32 is the ToInt32 of ECMAScript: the number modulo 2^32 as a signed word. x is an integer of
// at most 62 bits, which an int64 holds exactly.
func toInt32(x float64) int32 {
	return int32(int64(x))
}
