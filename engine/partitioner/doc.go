// Package partitioner chooses the partition of a record, as each family of clients does it.
//
// What it models: the hash and the mapping of every widely used keyed partitioner ([Names]), and three
// ways to place records without a key ([KeylessNames]): round robin, the sticky partitioner of Java
// clients from 2.4 to 3.2 (KIP-480) and the one since 3.3 (KIP-794). Two producers that disagree about a
// key send it to two partitions, and its order is gone; this package is where a learner sees why.
//
// What it leaves out: a partition that the application names itself, custom partitioner classes, and
// partitioner.ignore.keys (the producer that has it set asks [Sticky] and never a [Partitioner]).
//
// Words: a null key is a nil slice and means that the record has no key. An empty key is a slice of
// length 0 that is not nil; most clients hash it like any other.
//
// Invariants:
//
//   - A keyed partitioner is a pure function of the key's bytes and the number of partitions. All
//     partitions count, with or without a leader.
//   - The keyless ones choose among partitions with a leader as long as there is one.
//   - Sticky, Sticky480 and RoundRobin are plain values: copying one clones it.
//
// Example:
//
//	murmur2, _ := partitioner.ByName("murmur2")
//	partition, ok := murmur2.Partition([]byte("user-1"), 3) // 2, true
//	fmt.Println(murmur2.Hash([]byte("user-1")).Formula(3))
//	// murmur2 = 0x53b136cc (1404122828) & 0x7fffffff = 1404122828; mod 3 = 2
//	for step := range murmur2.Steps([]byte("user-1")) {
//		fmt.Printf("%s %x %08x\n", step.Name, step.Bytes, step.Hash) // start, word 1, tail, finish 1 to 3
//	}
package partitioner
