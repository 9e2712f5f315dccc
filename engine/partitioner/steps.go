package partitioner

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Step is one line of the computation of a hash by hand: what was mixed in, and the hash after it.
type Step struct {
	Name  string // "start", "word 1", "tail", "byte 3", "finish"
	Bytes []byte // the part of the key that the step reads, shared with it; nil: none
	Rule  string // how the hash comes out of the one before, in the words of the source
	Word  uint32 // what was mixed in, k in both murmur hashes; 0 if HasWord is false
	Hash  uint32 // h after the step
	// HasWord says that the step has a k of its own.
	HasWord bool
}

// Steps walks through the computation of a key's hash. The Hash of the last step is the bits of
// [Partitioner.Hash]; there is always one. A long key has many steps, about one a byte or one for four.
func (p Partitioner) Steps(key []byte) iter.Seq[Step] { return p.steps(key) }

// steps makes a sequence of what compute emits; nothing is handed on once the reader has had enough.
func steps(compute func(emit func(Step))) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		more := true
		compute(func(s Step) { more = more && yield(s) })
	}
}

// murmur2Steps are the steps of murmur2.
func murmur2Steps(key []byte) iter.Seq[Step] {
	return steps(func(emit func(Step)) {
		const m = murmur2Multiplier
		h := murmur2Seed ^ uint32(len(key))
		emit(Step{Name: "start", Rule: fmt.Sprintf("h = seed 0x%08x ^ length %d", uint32(murmur2Seed), len(key)), Hash: h})
		full := len(key) / 4
		for i := range full {
			word := key[4*i : 4*i+4]
			k := binary.LittleEndian.Uint32(word) * m
			k ^= k >> 24
			k *= m
			h = h*m ^ k
			emit(Step{Name: fmt.Sprintf("word %d", i+1), Bytes: word, Rule: "k·m, k ^ k>>>24, k·m; h = h·m ^ k", Word: k, HasWord: true, Hash: h})
		}
		if tail := key[4*full:]; len(tail) > 0 {
			k := uint32(littleEndianWord(tail))
			h = (h ^ k) * m
			emit(Step{Name: "tail", Bytes: tail, Rule: "h = (h ^ k)·m", Word: k, HasWord: true, Hash: h})
		}
		h ^= h >> 13
		emit(Step{Name: "finish 1", Rule: "h = h ^ h>>>13", Hash: h})
		h *= m
		emit(Step{Name: "finish 2", Rule: "h = h·m", Hash: h})
		emit(Step{Name: "finish 3", Rule: "h = h ^ h>>>15", Hash: h ^ h>>15})
	})
}

// murmur2Float64Steps are the steps of murmur2Float64; a product of more than 53 bits is already cut.
func murmur2Float64Steps(key []byte) iter.Seq[Step] {
	return steps(func(emit func(Step)) {
		h := int32(murmur2Seed-1<<32) ^ int32(len(key))
		emit(Step{Name: "start", Rule: fmt.Sprintf("h = seed 0x%08x ^ length %d", uint32(murmur2Seed), len(key)), Hash: uint32(h)})
		for i := 0; i < len(key); i += 4 {
			word := key[i:min(i+4, len(key))]
			k := toInt32(product(littleEndianWord(word)))
			k ^= int32(uint32(k) >> 24)
			k = toInt32(product(k))
			h = toInt32(product(h)) ^ k
			rule := "k·m, k ^ k>>>24, k·m; h = h·m ^ k, each product rounded to 53 bits"
			if len(word) < 4 {
				rule = "the same over the tail, missing bytes as 0"
			}
			emit(Step{Name: fmt.Sprintf("word %d", i/4+1), Bytes: word, Rule: rule, Word: uint32(k), HasWord: true, Hash: uint32(h)})
		}
		mixed := float64(h)
		if tail := key[len(key)&^3:]; len(tail) > 0 {
			k := littleEndianWord(tail)
			mixed = product(h ^ k)
			emit(Step{Name: "tail", Bytes: tail, Rule: "h = (h ^ k)·m, rounded", Word: uint32(k), HasWord: true, Hash: uint32(toInt32(mixed))})
		}
		h = shiftMix(mixed, 13)
		emit(Step{Name: "finish 1", Rule: "h = h ^ h>>>13", Hash: uint32(h)})
		mixed = product(h)
		emit(Step{Name: "finish 2", Rule: "h = h·m, rounded", Hash: uint32(toInt32(mixed))})
		emit(Step{Name: "finish 3", Rule: "h = h ^ h>>>15", Hash: uint32(shiftMix(mixed, 15))})
	})
}

// crc32Steps are the steps of CRC-32 byte by byte, with the table of the polynomial.
func crc32Steps(key []byte) iter.Seq[Step] {
	return steps(func(emit func(Step)) {
		register := ^uint32(0)
		emit(Step{Name: "start", Rule: "h = 0xffffffff", Hash: register})
		for i, b := range key {
			register = crc32.IEEETable[byte(register)^b] ^ register>>8
			emit(Step{Name: fmt.Sprintf("byte %d", i+1), Bytes: key[i : i+1], Rule: "h = table[(h ^ byte) & 0xff] ^ h>>>8", Hash: register})
		}
		emit(Step{Name: "finish", Rule: "h = h ^ 0xffffffff", Hash: ^register})
	})
}

// fnv1aSteps are the steps of fnv1a.
func fnv1aSteps(key []byte) iter.Seq[Step] {
	return steps(func(emit func(Step)) {
		h := uint32(fnvOffsetBasis)
		emit(Step{Name: "start", Rule: "h = offset basis", Hash: h})
		for i, b := range key {
			h = (h ^ uint32(b)) * fnvPrime
			emit(Step{Name: fmt.Sprintf("byte %d", i+1), Bytes: key[i : i+1], Rule: fmt.Sprintf("h = (h ^ byte)·0x%08x", fnvPrime), Hash: h})
		}
	})
}

// javaStringSteps are the steps of javaStringHashCode.
func javaStringSteps(key []byte) iter.Seq[Step] {
	return steps(func(emit func(Step)) {
		var h uint32
		emit(Step{Name: "start", Rule: "h = 0", Hash: h})
		n := 0
		for len(key) > 0 {
			r, size := nextJavaRune(key)
			bytes := key[:size]
			key = key[size:]
			units := utf16.AppendRune(nil, r)
			for _, unit := range units {
				n++
				h = h*31 + uint32(unit)
				rule := "h = 31·h + k"
				if r == utf8.RuneError {
					rule += ", U+FFFD for what is not UTF-8"
				}
				emit(Step{Name: fmt.Sprintf("char %d", n), Bytes: bytes, Rule: rule, Word: uint32(unit), HasWord: true, Hash: h})
			}
		}
	})
}

// murmur3Steps are the steps of the 32-bit murmur3 with seed 0.
func murmur3Steps(key []byte) iter.Seq[Step] {
	return steps(func(emit func(Step)) {
		mix := func(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }
		var h uint32
		emit(Step{Name: "start", Rule: "h = seed 0", Hash: h})
		full := len(key) / 4
		for i := range full {
			word := key[4*i : 4*i+4]
			k := mix(binary.LittleEndian.Uint32(word))
			h = bits.RotateLeft32(h^k, 13)*5 + 0xe6546b64
			emit(Step{Name: fmt.Sprintf("word %d", i+1), Bytes: word, Rule: "k·c1, k<<<15, k·c2; h = ((h ^ k)<<<13)·5 + 0xe6546b64", Word: k, HasWord: true, Hash: h})
		}
		if tail := key[4*full:]; len(tail) > 0 {
			k := mix(uint32(littleEndianWord(tail)))
			h ^= k
			emit(Step{Name: "tail", Bytes: tail, Rule: "k·c1, k<<<15, k·c2; h = h ^ k", Word: k, HasWord: true, Hash: h})
		}
		h ^= uint32(len(key))
		emit(Step{Name: "length", Rule: fmt.Sprintf("h = h ^ length %d", len(key)), Hash: h})
		h = (h ^ h>>16) * 0x85ebca6b
		emit(Step{Name: "finish 1", Rule: "h = (h ^ h>>>16)·0x85ebca6b", Hash: h})
		h = (h ^ h>>13) * 0xc2b2ae35
		emit(Step{Name: "finish 2", Rule: "h = (h ^ h>>>13)·0xc2b2ae35", Hash: h})
		emit(Step{Name: "finish 3", Rule: "h = h ^ h>>>16", Hash: h ^ h>>16})
	})
}
