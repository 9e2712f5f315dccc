package partitioner

// Constants of the 32-bit FNV-1a.
const (
	fnvOffsetBasis = 0x811c9dc5
	fnvPrime       = 0x01000193
)

// fnv1a is FNV-1a with 32 bits, without the allocation of hash/fnv.
//
// Source: G. Fowler, L. C. Noll, K.-P. Vo, The FNV Non-Cryptographic Hash Algorithm.
func fnv1a(key []byte) uint32 {
	hash := uint32(fnvOffsetBasis)
	for _, b := range key {
		hash ^= uint32(b)
		hash *= fnvPrime
	}
	return hash
}
