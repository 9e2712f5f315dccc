package partitioner

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"loglab/engine/kafka"
)

// Partitioner is one rule from key to partition. It is a value without state; [ByName] gives one.
type Partitioner struct {
	Name    string // its name on the command line, in an address and in a scenario
	Clients string // who places records by this rule, most used first
	Rule    string // the rule, one sentence
	NullKey string // what becomes of a record whose key is null or empty, one or two sentences

	function string // name of the hash function in a formula
	hash     func(key []byte) uint32
	steps    func(key []byte) iter.Seq[Step] // the same, step by step
	mapping  mapping
	keyless  keyless
}

// keyless says which records a rule leaves to the keyless partitioner.
type keyless uint8

const (
	nullKeyless        keyless = iota // only those with a null key
	nullOrEmptyKeyless                // those with a null or an empty key
	neverKeyless                      // none: a null key is hashed as an empty one
)

// Hash returns the hash of a key and what it was mapped to. A null key gives the hash of the empty
// key; whether a client would hash it at all is the ok of [Partitioner.Partition].
func (p Partitioner) Hash(key []byte) Hash {
	return Hash{function: p.function, raw: p.hash(key), mapping: p.mapping}
}

// Partition returns the partition of a key in a topic with n partitions, in [0, n). ok is false if
// this rule treats the record as one without a key (see NullKey); the partition is then 0 and means
// nothing. It panics if n is below 1.
func (p Partitioner) Partition(key []byte, n int32) (partition kafka.Partition, ok bool) {
	switch p.keyless {
	case nullKeyless:
		if key == nil {
			return 0, false
		}
	case nullOrEmptyKeyless:
		if len(key) == 0 {
			return 0, false
		}
	}
	return p.Hash(key).Partition(n), true
}

// Names returns the names of all keyed partitioners, sorted. The slice is the caller's.
func Names() []string {
	names := make([]string, len(table))
	for i, p := range table {
		names[i] = p.Name
	}
	return names
}

// KeylessNames returns the names of the partitioners for records without a key: round-robin, sticky
// (KIP-794) and sticky-480 (KIP-480). The slice is the caller's.
func KeylessNames() []string {
	return []string{"round-robin", "sticky", "sticky-480"}
}

// ByName returns the keyed partitioner of that name. The error names those that exist.
func ByName(name string) (Partitioner, error) {
	i := slices.IndexFunc(table, func(p Partitioner) bool { return p.Name == name })
	if i < 0 {
		return Partitioner{}, fmt.Errorf("partitioner %q is unknown: allowed are %s", name, strings.Join(Names(), ", "))
	}
	return table[i], nil
}
