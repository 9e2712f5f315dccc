package prng

import (
	"fmt"
	"math/bits"
)

// Rand is one stream of pseudo-random numbers. It is a value of three words, and copying it is
// allowed and meant: after r2 := r both give the same numbers, and a draw from one does not move the
// other. The zero value is a stream without a seed; take one from [New] or [Rand.Split].
//
// Source: M. E. O'Neill, PCG, the variant DXSM with a 128-bit state (pcg-cpp, pcg_random.hpp).
type Rand struct {
	seed   uint64 // what Split derives from; draws never change it
	hi, lo uint64 // state of the generator, 128 bits
}

// New returns the stream of a seed. Every seed is as good as another, 0 too.
func New(seed uint64) *Rand {
	r := fromSeed(seed)
	return &r
}

// Split returns the stream called name of this stream's seed. It depends on the seed and on the
// names on the way here, not on what has been drawn, so New(s).Split("simnet") is the same stream
// before and after any draw. The same name gives the same stream again; no name gives the stream
// itself.
func (r *Rand) Split(name string) Rand {
	mixed := splitMix64{state: r.seed}
	derived := splitMix64{state: mixed.next() ^ fnv1a64(name)}
	return fromSeed(derived.next())
}

// Uint64 returns a number uniform over all 64-bit values.
func (r *Rand) Uint64() uint64 {
	const (
		multiplierHi = 2549297995355413924
		multiplierLo = 4865540595714422341
		incrementHi  = 6364136223846793005
		incrementLo  = 1442695040888963407
		cheapMul     = 0xda942042e4dd58b5
	)
	// state = state*multiplier + increment, modulo 2^128
	hi, lo := bits.Mul64(r.lo, multiplierLo)
	hi += r.hi*multiplierLo + r.lo*multiplierHi
	lo, carry := bits.Add64(lo, incrementLo, 0)
	hi, _ = bits.Add64(hi, incrementHi, carry)
	r.hi, r.lo = hi, lo

	// double xorshift multiply
	hi ^= hi >> 32
	hi *= cheapMul
	hi ^= hi >> 48
	hi *= lo | 1
	return hi
}

// Uint32 returns a number uniform over all 32-bit values: the upper half of one Uint64.
func (r *Rand) Uint32() uint32 {
	return uint32(r.Uint64() >> 32)
}

// IntN returns a number uniform over [0, n), without bias for any n. It panics if n is not positive.
//
// Source: D. Lemire, Fast Random Integer Generation in an Interval (2019). It may use more than one
// draw, with a chance below n/2^64.
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		panic(fmt.Sprintf("prng: IntN(%d): n must be positive", n))
	}
	bound := uint64(n)
	hi, lo := bits.Mul64(r.Uint64(), bound)
	if lo < bound {
		// 2^64 mod bound products fall short of a full share; draw again on those.
		threshold := -bound % bound
		for lo < threshold {
			hi, lo = bits.Mul64(r.Uint64(), bound)
		}
	}
	return int(hi)
}

// Float64 returns a number uniform over [0, 1), a multiple of 2^-53.
func (r *Rand) Float64() float64 {
	return float64(r.Uint64()>>11) / (1 << 53)
}

// fromSeed fills the state from a seed, so that neighbouring seeds share nothing visible.
func fromSeed(seed uint64) Rand {
	mixer := splitMix64{state: seed}
	hi := mixer.next()
	return Rand{seed: seed, hi: hi, lo: mixer.next()}
}

// splitMix64 spreads a seed over as many words as wanted.
//
// Source: S. Vigna, splitmix64.c (prng.di.unimi.it), after G. Steele, D. Lea and C. Flood, Fast
// Splittable Pseudorandom Number Generators (2014).
type splitMix64 struct{ state uint64 }

func (s *splitMix64) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// fnv1a64 is FNV-1a with 64 bits over the bytes of a name.
func fnv1a64(name string) uint64 {
	hash := uint64(0xcbf29ce484222325)
	for i := 0; i < len(name); i++ {
		hash ^= uint64(name[i])
		hash *= 0x100000001b3
	}
	return hash
}
