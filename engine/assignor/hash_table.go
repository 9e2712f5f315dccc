package assignor

import "slices"

// hashTable holds values in the order in which Java's HashMap is walked: bucket by bucket, inside a bucket
// in the order of arrival. Some choices of the sticky and uniform rules are made in that order. The zero value is
// empty.
//
//	hash of a value, its upper half folded into the lower one, modulo the number of buckets = its bucket
//	16 buckets at first; twice as many when the values exceed three quarters of them, and when a ninth
//	value comes into one of less than 64
//
// Source: class java.util.HashMap (OpenJDK 17).
//
// Simplified: a bucket of the hash table keeps the order of arrival. Java turns one of nine or more values
// into a tree when there are 64 buckets or more, and then another of them may come first.
type hashTable[T comparable] struct {
	buckets [][]hashed[T]
	size    int
}

type hashed[T comparable] struct {
	hash  uint32
	value T
}

const (
	firstBuckets    = 16
	treeifyValues   = 8  // so many values of a bucket stay a list
	treeifyCapacity = 64 // so many buckets are tried before a bucket becomes a tree
)

// newHashTable returns an empty table as Java makes it for the values of a collection of that size.
//
// Source: class java.util.HashSet, its constructor from a collection.
func newHashTable[T comparable](size int) *hashTable[T] {
	return &hashTable[T]{buckets: make([][]hashed[T], bucketsFor(size))}
}

// bucketsFor returns how many buckets Java's HashSet has when it is made from so many values.
func bucketsFor(size int) int {
	buckets := firstBuckets
	for buckets < int(float32(size)/0.75)+1 {
		buckets *= 2
	}
	return buckets
}

// insert adds a value that the table does not hold.
func (t *hashTable[T]) insert(hash uint32, value T) {
	if len(t.buckets) == 0 {
		t.buckets = make([][]hashed[T], firstBuckets)
	}
	hash ^= hash >> 16
	bucket := t.bucket(hash)
	*bucket = append(*bucket, hashed[T]{hash, value})
	t.size++
	if len(*bucket) > treeifyValues && len(t.buckets) < treeifyCapacity {
		t.double()
	}
	if t.size > len(t.buckets)/4*3 {
		t.double()
	}
}

// remove takes a value out that the table holds. The number of buckets stays.
func (t *hashTable[T]) remove(hash uint32, value T) {
	bucket := t.bucket(hash ^ hash>>16)
	*bucket = slices.DeleteFunc(*bucket, func(e hashed[T]) bool { return e.value == value })
	t.size--
}

// first returns the first value of a table that is not empty.
func (t *hashTable[T]) first() T {
	i := slices.IndexFunc(t.buckets, func(bucket []hashed[T]) bool { return len(bucket) > 0 })
	return t.buckets[i][0].value
}

// values returns all values in order.
func (t *hashTable[T]) values() []T {
	all := make([]T, 0, t.size)
	for _, bucket := range t.buckets {
		for _, e := range bucket {
			all = append(all, e.value)
		}
	}
	return all
}

func (t *hashTable[T]) bucket(folded uint32) *[]hashed[T] {
	return &t.buckets[folded&uint32(len(t.buckets)-1)]
}

// double doubles the number of buckets. Each bucket is split in two, whose values keep their order.
func (t *hashTable[T]) double() {
	old := t.buckets
	t.buckets = make([][]hashed[T], 2*len(old))
	for _, bucket := range old {
		for _, e := range bucket {
			into := t.bucket(e.hash)
			*into = append(*into, e)
		}
	}
}

// hashOfString is Java's hash of a text, over its UTF-16 units.
//
// Source: class java.lang.String, method hashCode.
func hashOfString(text string) uint32 {
	hash := uint32(0)
	for _, r := range text {
		if r < 0x10000 {
			hash = 31*hash + uint32(r)
			continue
		}
		r -= 0x10000
		hash = 31*hash + uint32(0xd800+r>>10)
		hash = 31*hash + uint32(0xdc00+r&0x3ff)
	}
	return hash
}

// hashOfPartition is Kafka's hash of a topic's partition.
//
// Source: class TopicPartition, method hashCode.
func hashOfPartition(topicHash uint32, partition int32) uint32 {
	return 31*(31+uint32(partition)) + topicHash
}
