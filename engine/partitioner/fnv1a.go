package partitioner

// fnv1a is FNV-1a with 32 bits, without the allocation of hash/fnv.
//
// Source: G. Fowler, L. C. Noll, K.-P. Vo, The FNV Non-Cryptographic Hash Algorithm.
func fnv1a(key []byte) uint32 {
	hash := uint32(0x811c9dc5)
	for _, b := range key {
		hash ^= uint32(b)
		hash *= 0x01000193
	}
	return hash
}
