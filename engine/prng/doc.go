// Package prng is the only source of randomness in the engine: a seeded generator that is split by
// name, so that the same seed gives the same run on every machine.
//
// What it models: nothing of Kafka's. Where Kafka draws from ThreadLocalRandom (the next sticky
// partition, the jitter of a back-off, a random election timeout), the lab draws from here, so that
// a draw can be repeated.
//
// What it leaves out: secrecy. Whoever knows the seed knows every draw.
//
// Invariants:
//
//   - The numbers depend on the seed, the names given to Split and the count of draws, on nothing else.
//   - A stream split off by name does not move when another stream draws more or fewer numbers.
//   - Rand is a plain value: copying it clones the stream, and the two then run on independently.
//
// The algorithm is PCG-DXSM with 128 bits of state, as in Go's math/rand/v2, seeded by SplitMix64.
// It is part of the engine's behaviour: to change one number here is a new behaviour version.
//
// Example:
//
//	network := prng.New(42).Split("simnet")
//	latency := 1 + network.IntN(5)
//	fork := network // draws the same numbers as network from here on
package prng
